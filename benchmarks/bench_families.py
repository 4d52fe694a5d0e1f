"""How well repairs group findings: holds what `opera repairs` said of recorded findings against the issues that readers made of them.

python benchmarks/bench_families.py [FILE]

FILE has what `opera repairs data/findings --json` printed; by default data/findings/families/repairs.json. Precision: of the pairs of
findings of one subject that one repair mends, how many are one issue. Recall: of the pairs of one issue, how many one repair mends; pairs
count only where both scripts were tried.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import msgspec

from opera.console import print_table
from opera.extensions.findings.families import families
from opera.extensions.findings.mending.trying import Tried, proposed
from opera.extensions.findings.recorded import tables

FOLDER = Path(__file__).parents[1] / "data" / "findings"


def main() -> None:
    """Prints a line for each subject, and the pairs that are wrong."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "families" / "repairs.json"
    known = families(FOLDER)
    issues = {(table.subject, row.name): known.issue(row) for table in tables(FOLDER) for row in table.finding}
    found = msgspec.convert(json.loads(file.read_text(encoding="utf-8"))["findings"], list[Tried])
    found = [each for each in found if not each.problem and (each.subject, each.name) in issues]
    groups = [(each, list(combinations(each.findings, 2))) for each in proposed(found)]
    rows, wrong = [], Counter[str]()
    for subject in (*dict.fromkeys(each.subject for each in found), ""):
        tried = [(each.subject, each.name) for each in found if subject in ("", each.subject)]
        of = [(each, pairs) for each, pairs in groups if subject in ("", each.subject)]
        together = [((each.subject, one), (each.subject, other)) for each, pairs in of for one, other in pairs]
        right = sum(issues[one] == issues[other] for one, other in together)
        alike = sum(one[0] == other[0] and issues[one] == issues[other] for one, other in combinations(tried, 2))
        count = sum(len(each.findings) for each, _ in of)
        rows.append([subject or "all", str(len(tried)), str(count), str(len(of)), f"{right} of {len(together)}", f"{right} of {alike}"])
    print_table(
        ["subject", "tried", "in a family", "families", "one issue, of pairs in a family", "in a family, of pairs of one issue"], rows
    )
    for each, pairs in groups:
        for pair in pairs:
            names = sorted({issues[each.subject, name] for name in pair})
            wrong[f"{each.subject}, {each.repair}: {' and '.join(names)}"] += len(names) > 1
    for line, number in wrong.most_common():
        if number:
            print(f"{number:4} {line}")


if __name__ == "__main__":
    main()
