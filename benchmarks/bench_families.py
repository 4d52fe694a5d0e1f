"""How well repairs group findings: holds what `opera repairs` said of recorded findings against the issues that readers made of them.

python benchmarks/bench_families.py [FILE]

FILE has what `opera repairs data/findings --json` printed; by default data/findings/families/repairs.json. Precision: of the pairs of
findings of one subject that one repair mends, how many are one issue. Recall: of the pairs of one issue, how many one repair mends; pairs
count only where both scripts were tried.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from opera.console import print_table
from opera.extensions.findings.families import families
from opera.extensions.findings.recorded import tables

FOLDER = Path(__file__).parents[1] / "data" / "findings"


def main() -> None:
    """Prints a line for each subject, and the pairs that are wrong."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "families" / "repairs.json"
    known = families(FOLDER)
    issues = {(table.subject, row.name): known.issue(row) for table in tables(FOLDER) for row in table.finding}
    tried: dict[str, dict[str, str]] = defaultdict(dict)
    for each in json.loads(file.read_text(encoding="utf-8"))["findings"]:
        if not each["problem"] and (each["subject"], each["name"]) in issues:
            tried[each["subject"]][each["name"]] = f"{each['mended'][0]} {each['ends']}" if each["mended"] else ""
    rows, wrong = [], Counter[str]()
    for subject, repairs in [*tried.items(), ("all", {})]:
        of = tried if subject == "all" else {subject: repairs}
        pairs = [pair for name, each in of.items() for pair in _pairs(name, each, issues)]
        together, alike = sum(one for one, _ in pairs), sum(same for _, same in pairs)
        both = sum(one and same for one, same in pairs)
        count, mended = sum(map(len, of.values())), sum(bool(repair) for each in of.values() for repair in each.values())
        kinds = sum(len({repair for repair in each.values() if repair}) for each in of.values())
        rows.append([subject, f"{count}", f"{mended}", f"{kinds}", f"{both} of {together}", f"{both} of {alike}"])
    print_table(["subject", "findings", "mended", "families", "pairs of one issue, together", "together, of one issue"], rows)
    for subject, repairs in tried.items():
        for one, other in combinations(repairs, 2):
            if repairs[one] and repairs[one] == repairs[other] and issues[subject, one] != issues[subject, other]:
                wrong[f"{subject}, {repairs[one]}: {issues[subject, one]} and {issues[subject, other]}"] += 1
    for line, number in wrong.most_common():
        print(f"{number:4} {line}")


def _pairs(subject: str, repairs: Mapping[str, str], issues: Mapping[tuple[str, str], str]) -> Iterable[tuple[bool, bool]]:
    """For each pair: whether one repair mends both, and whether they are one issue."""
    for one, other in combinations(repairs, 2):
        yield bool(repairs[one]) and repairs[one] == repairs[other], issues[subject, one] == issues[subject, other]


if __name__ == "__main__":
    main()
