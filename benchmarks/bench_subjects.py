"""Every subject that runs here, in one table: verdicts, tests per second, and the share of the wall time inside the compiler.

python benchmarks/bench_subjects.py [--limit 60] [--compiler tvm] [--markdown]

The instances are those of `corpora/samples`. Each campaign runs twice with one busy process: the first fills the cache of models and
references, the second is timed from its plan to its last result, without confirmation of failures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import HARNESS_STAGES, Silent, Stopwatch

from opera.compilers.adapter import Adapter, Route
from opera.compilers.registry import plugins
from opera.config import load_config
from opera.corpus.files import Entry, read_corpus
from opera.difftest.settings import Settings
from opera.errors import OperaError
from opera.instance import Instance
from opera.models.forms import InputForm
from opera.oracles.verdict import Verdict
from opera.prioritize.ranking import rank
from opera.run.campaign import run_campaign
from opera.store import Campaigns, Corpus, Workspace
from opera.store.database import open_workspace

SAMPLES = Path(__file__).parent.parent / "corpora" / "samples"
HEADER = ("compiler", "frontend", "route", "version", "tests", "pass", "unsupported", "failing", "other", "tests/s", "in compiler")


@dataclass(frozen=True)
class Row:
    """One line of the table; *why* says what keeps a subject from running."""

    cells: tuple[str, ...]
    why: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=60, help="tests per subject, the first in ranked order")
    parser.add_argument("--compiler", action="append", help="only this compiler (repeatable)")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, open_workspace(Path(folder), write=True) as space:
        corpus = Corpus(space)
        for sample in sorted(SAMPLES.glob("*.jsonl")):
            entries = [entry for entry in read_corpus(sample) if isinstance(entry, Entry)]
            corpus.add((entry.instance, occurrence) for entry in entries for occurrence in entry.provenance)
        for name, plugin in plugins().items():
            if arguments.compiler is None or name in arguments.compiler:
                rows += [measure(space, plugin.load(), route, arguments.limit) for route in plugin.load().routes]
    print_rows(rows, markdown=arguments.markdown)


def measure(space: Workspace, adapter: type[Adapter], route: Route, limit: int) -> Row:
    """Runs a subject twice; the second time counts."""
    print(f"{adapter.name}/{route.frontend} by {route.name} ...", file=sys.stderr)
    settings = Settings(adapter.name, route.frontend, route.name, (InputForm.RUNTIME,), limit=limit, jobs=1, confirm=False)
    corpus = Corpus(space)
    keys = corpus.ranked(rank(corpus, adapter.name, route, "round-robin", 0).id)

    def order() -> Iterator[tuple[str, Instance]]:
        return ((key, corpus.get(key)) for key in keys)

    subject = (adapter.name, route.frontend, route.name)
    try:
        run_campaign(space, load_config(), settings, order, Silent())
        with space.transaction() as database:
            database.execute("DELETE FROM campaign_tests")
            database.execute("DELETE FROM results")
        watch = Stopwatch()
        summary = run_campaign(space, load_config(), settings, order, watch)
    except OperaError as error:
        return Row((*subject, *["-"] * (len(HEADER) - 3)), str(error))
    wall = watch.stopped - watch.started
    results = list(Campaigns(space).results(summary.campaign))
    inside = sum(seconds for result in results for stage, seconds in result.seconds.items() if stage not in HARNESS_STAGES)
    failing = sum(count for name, count in summary.verdicts.items() if Verdict(name).is_failure)
    passed, declined = (summary.verdicts.get(verdict.value, 0) for verdict in (Verdict.PASS, Verdict.UNSUPPORTED))
    counts = (summary.executed, passed, declined, failing, summary.executed - passed - declined - failing)
    version = next(iter(summary.versions["compiler"].values()))
    return Row((*subject, str(version), *map(str, counts), f"{summary.executed / wall:.1f}", f"{inside / wall:.0%}"))


def print_rows(rows: list[Row], *, markdown: bool) -> None:
    """Prints the table, then why subjects do not run."""
    table = [HEADER, *(row.cells for row in rows)]
    widths = [max(len(cells[index]) for cells in table) for index in range(len(HEADER))]
    for number, cells in enumerate(table):
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        print(f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip())
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|" if markdown else "  ".join("-" * width for width in widths))
    for row in rows:
        if row.why:
            print(f"\n{'/'.join(row.cells[:2])} by {row.cells[2]}: {row.why}")


if __name__ == "__main__":
    main()
