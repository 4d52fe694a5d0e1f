"""The results of a suite, a row for each test and backend: as a table, CSV, JUnit XML and JSON."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as xml

from opera.console import one_line, plural, print_table, terminal_width
from opera.extensions.opidiff.latency import Latency
from opera.extensions.opidiff.metrics import NAN_IN_BASELINE, NAN_IN_OUTPUT, all_nan
from opera.extensions.opidiff.running import FOREIGN_CLASS, NO_BASELINE, NO_DEVICE, SCALAR_AS_TENSOR, SuiteRow
from opera.extensions.opidiff.suite import Suite
from opera.oracles.verdict import Verdict
from opera.untrusted import JsonObject

MOST_SHOWN = 100
"""Tests that the table lists before it leaves out those that pass everywhere."""
_METRICS = ("max_abs", "mean_abs", "mse", "code", "elements", "nan_baseline", "nan_output")
_REMEDIES = {
    FOREIGN_CLASS: "trust the code of the suite with --trust DIR",
    NO_DEVICE: "choose a machine or a backend with the device",
    SCALAR_AS_TENSOR: "try --scalars python",
    NO_BASELINE: "choose a --baseline that runs these tests",
}
_REMEDY_OF = {
    Verdict.INVALID: "correct the tests that PyTorch rejects",
    Verdict.UNSUPPORTED: "choose a backend or a route that takes these models",
    None: "type the command again",
}
_FIELDS = (
    "id", "seed", "backend", "verdict", "stage", "reason", "summary", *_METRICS, "baseline", "baseline_median", "baseline_spread",
    "median", "spread", "ratio", "with_feeding", "doubtful", "instance", "finding", "pair", "impl", "operator", "seconds", "file", "line",
)  # fmt: skip


@dataclass(frozen=True)
class SuiteReport:
    """The results of a suite.

    Attributes:
        suite: The suite.
        rows: By backend, seed and test.
        baseline: What the outputs are compared with.
        latency: By id, seed and backend, where measured.
    """

    suite: Suite
    rows: Sequence[SuiteRow]
    baseline: str
    latency: dict[tuple[str, int, str], Latency]

    def documents(self) -> list[JsonObject]:
        """A document for each row."""
        return [self._document(each) for each in self.rows]

    def _document(self, row: SuiteRow) -> JsonObject:
        file, line = self.suite.line(row.test)
        time = self.latency.get((row.id, row.seed, row.backend))
        measured: JsonObject = {name: None if row.metrics is None else row.metrics[name] for name in _METRICS}
        return {
            "id": row.id,
            "seed": row.seed,
            "backend": row.backend,
            "verdict": row.state,
            "stage": None if row.stage is None else row.stage.value,
            "reason": row.reason,
            "summary": one_line(row.summary) or None,
            **measured,
            "baseline": self.baseline,
            "baseline_median": None if time is None else time.baseline.median,
            "baseline_spread": None if time is None else time.baseline.spread,
            "median": None if time is None else time.backend.median,
            "spread": None if time is None else time.backend.spread,
            "ratio": None if time is None else time.ratio,
            "with_feeding": None if time is None else time.with_feeding,
            "doubtful": None if time is None else time.is_doubtful,
            "instance": row.instance,
            "finding": row.fingerprint,
            "pair": row.test.pair,
            "impl": None if row.is_pair else row.test.impl,
            "operator": row.test.operator,
            "seconds": round(row.seconds, 6),
            "file": file,
            "line": line,
        }

    def csv(self) -> str:
        """One line for each row, with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_FIELDS)
        writer.writerows([_cell(each[name]) for name in _FIELDS] for each in self.documents())
        return text.getvalue()

    def compared(self) -> dict[str, int]:
        """How many rows of each backend were compared with others, or failed."""
        counts = dict.fromkeys((each.backend for each in self.rows), 0)
        for each in self.rows:
            counts[each.backend] += each.compared
        return counts

    def not_compared(self) -> dict[str, str]:
        """For each backend of which nothing was compared, why, and what to do."""
        return {backend: self._why_nothing(backend) for backend, count in self.compared().items() if not count}

    def _why_nothing(self, backend: str) -> str:
        rows = [each for each in self.rows if each.backend == backend]
        states = Counter(each.state if each.reason is None else f"{each.state} ({one_line(each.reason, 60)})" for each in rows)
        what = ", ".join(f"{count:,} {state}" for state, count in states.most_common(5))
        found = (_REMEDIES.get(each.reason or "") or _REMEDY_OF.get(each.verdict) for each in rows)
        remedies = "; ".join(dict.fromkeys(each for each in found if each is not None))
        return f"nothing was compared on {backend}: {what}{f'; {remedies}' if remedies else ''}"

    def junit(self) -> str:
        """JUnit XML: a suite for each backend, a case for each test and seed, and an error where nothing was compared."""
        root = xml.Element("testsuites", name="opera opidiff", time=f"{sum(each.seconds for each in self.rows):.3f}")
        nothing = self.not_compared()
        for backend in dict.fromkeys(each.backend for each in self.rows):
            rows = [each for each in self.rows if each.backend == backend]
            failed = sum(each.verdict is not None and each.verdict.is_failure for each in rows)
            skipped = sum(each.verdict is None or not (each.verdict.is_failure or each.verdict is Verdict.PASS) for each in rows)
            errors = int(backend in nothing)
            counts = {"tests": str(len(rows) + errors), "failures": str(failed), "errors": str(errors), "skipped": str(skipped)}
            time = f"{sum(each.seconds for each in rows):.3f}"
            part = xml.SubElement(root, "testsuite", {"name": one_line(backend), **counts, "time": time})
            for each in rows:
                _case(part, each, several=len({row.seed for row in rows}) > 1)
            if errors:
                case = xml.SubElement(part, "testcase", classname=one_line(backend), name="nothing was compared", time="0.000")
                xml.SubElement(case, "error", type="nothing-compared", message=one_line(nothing[backend], 600))
        xml.indent(root)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"

    def print(self) -> None:
        """The support table: a line for each test, a column for each backend."""
        backends = list(dict.fromkeys(each.backend for each in self.rows))
        lines: dict[tuple[str, int], dict[str, SuiteRow]] = {}
        for row in self.rows:
            lines.setdefault((row.id, row.seed), {})[row.backend] = row
        several = len({seed for _, seed in lines}) > 1
        shown = {
            key: found
            for key, found in lines.items()
            if len(lines) <= MOST_SHOWN or any(row.verdict is not Verdict.PASS or row.summary for row in found.values())
        }
        cells = [
            [
                f"{name} (seed {seed})" if several else name,
                *(self._word(found[each]) if each in found else "-" for each in backends),
            ]
            for (name, seed), found in shown.items()
        ]
        if 22 + sum(2 + max(len(each), 12) for each in backends) <= terminal_width():
            print_table(["test", *backends], cells, elastic=0)
        else:
            flat = [[name, backend, word] for name, *words in cells for backend, word in zip(backends, words, strict=True)]
            print_table(["test", "backend", "verdict"], flat, elastic=0)
        if len(shown) < len(lines):
            print_table(["other tests", "verdict"], [[f"{len(lines) - len(shown):,}", "pass on every backend"]])

    def _word(self, row: SuiteRow) -> str:
        time = self.latency.get((row.id, row.seed, row.backend))
        state = row.state
        if row.verdict is Verdict.PASS and row.metrics is not None and row.metrics["code"] in (NAN_IN_BASELINE, NAN_IN_OUTPUT):
            state = f"{state} (all NaN)" if all_nan(row.metrics) else f"{state} (NaN)"
        return state if time is None else f"{state} {'about ' if time.is_doubtful else ''}{time.ratio:.2f}x"

    def totals(self) -> list[str]:
        """A line for each backend."""
        made: list[str] = []
        for backend in dict.fromkeys(each.backend for each in self.rows):
            counts = Counter(each.state for each in self.rows if each.backend == backend)
            made.append(f"{backend}: {', '.join(f'{count:,} {state}' for state, count in counts.most_common())}")
        return made

    def remarks(self) -> list[str]:
        """A line for each row that has something to say."""
        rows = [each for each in self.rows if each.summary]
        lines = [f"{each.id} on {each.backend}: {each.state}: {one_line(each.summary, 160)}" for each in rows[:MOST_SHOWN]]
        return [*lines, f"… {plural(len(rows) - MOST_SHOWN, 'more line')} in --json"] if len(rows) > MOST_SHOWN else lines


def _cell(value: object) -> object:
    """A cell of a CSV file; a text that a spreadsheet would take for a formula gets a quotation mark."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return "" if value is None else value


def _case(part: xml.Element, row: SuiteRow, *, several: bool) -> None:
    name = f"{row.id}[seed {row.seed}]" if several else row.id
    case = xml.SubElement(part, "testcase", classname=one_line(row.backend), name=one_line(name, 600), time=f"{row.seconds:.3f}")
    message = one_line(": ".join(each for each in (row.state, row.reason, row.summary) if each))
    if row.verdict is not None and row.verdict.is_failure:
        xml.SubElement(case, "failure", type=row.verdict.value, message=message)
    elif row.verdict is not Verdict.PASS:
        xml.SubElement(case, "skipped", message=message)
    elif row.summary:
        xml.SubElement(case, "system-out").text = message
