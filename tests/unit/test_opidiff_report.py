"""Distances between outputs, and the tables of a suite's results."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np
import pytest

from opera.opidiff.suite import load_suite
from opera.oracles.metrics import metrics
from opera.oracles.verdict import Verdict
from opera.report.suite import SuiteReport
from opera.run.latency import Latency, Seconds
from opera.run.suite import SuiteRow


def test_metrics_are_over_all_elements_of_all_outputs() -> None:
    expected = [np.array([1.0, 2.0], np.float32), np.array([[3]], np.int64)]
    actual = [np.array([1.0, 2.5], np.float32), np.array([[1]], np.int64)]
    assert metrics(expected, actual) == {"max_abs": 2.0, "mean_abs": pytest.approx(2.5 / 3), "mse": pytest.approx(4.25 / 3)}


def test_equal_infinities_and_nans_are_no_difference() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0], np.float16)
    assert metrics([values], [values.copy()]) == {"max_abs": 0.0, "mean_abs": 0.0, "mse": 0.0}
    assert metrics([values], [np.zeros(4, np.float16)])["max_abs"] == "nan"


def test_complex_numbers_compare_with_pairs() -> None:
    assert metrics([np.array([1 + 2j], np.complex64)], [np.array([[1, 5]], np.float32)])["max_abs"] == 3.0


@pytest.mark.parametrize("actual", [[], [np.zeros(3)], [None], [np.array(["a", "b"], object)]])
def test_outputs_that_cannot_be_subtracted_have_no_metrics(actual: list[object]) -> None:
    assert metrics([np.zeros(2)], actual) == {"max_abs": None, "mean_abs": None, "mse": None}  # pyright: ignore[reportArgumentType]


def test_bools_and_large_integers_are_subtracted_as_numbers() -> None:
    assert metrics([np.array([True, False])], [np.array([False, False])])["max_abs"] == 1.0
    assert metrics([np.array([2**63], np.uint64)], [np.array([0], np.uint64)])["max_abs"] == float(2**63)


def test_spread_is_the_distance_of_the_quartiles() -> None:
    assert Seconds.of([1.0, 2.0, 3.0, 4.0, 5.0]) == Seconds(3.0, 2.0, 2.0)
    assert Seconds.of([7.0]) == Seconds(7.0, 0.0, 7.0)


def report(folder: Path, *rows: tuple[str, str, Verdict | None, str]) -> SuiteReport:
    path = folder / "s.yaml"
    names = list(dict.fromkeys(each[0] for each in rows))
    path.write_text("tests:\n" + "".join(f"  - {{id: '{name}', op: aten::relu, in: []}}\n" for name in names))
    suite = load_suite([path])
    by_id = {each.id: each for each in suite.tests}
    found = [SuiteRow(by_id[name], name, 0, backend, verdict, summary=summary) for name, backend, verdict, summary in rows]
    return SuiteReport(suite, found, "pytorch", {("a", 0, "one"): Latency(Seconds(2.0, 0.1, 1.6), Seconds(1.0, 0.2, 0.4), False)})


ROWS = (
    ("a", "one", Verdict.PASS, ""),
    ("a", "two", Verdict.CRASH, "Error: \x1b[2J</failure>"),
    ("=b", "one", Verdict.UNSUPPORTED, "no"),
    ("=b", "two", None, ""),
)


def test_the_table_has_a_line_for_each_test_and_a_column_for_each_backend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(tmp_path, *ROWS)
    found.print()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["test", "one", "two"]
    assert lines[2].split() == ["a", "pass", "0.25x", "crash"]
    assert lines[3].split() == ["=b", "unsupported", "not", "run"]
    assert found.totals() == ["one: 1 pass, 1 unsupported", "two: 1 crash, 1 not run"]
    assert found.failures() == ["a on two: crash: Error: </failure>", "=b on one: unsupported: no"]


def test_a_large_suite_lists_only_what_does_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"t{n}", "one", Verdict.PASS if n else Verdict.HANG, "") for n in range(150)]
    report(tmp_path, *rows).print()
    out = capsys.readouterr().out
    assert "t0 " in out
    assert "t1 " not in out
    assert "149" in out


def test_csv_has_no_formulas_and_junit_is_sound(tmp_path: Path) -> None:
    found = report(tmp_path, *ROWS)
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert [each["id"] for each in rows] == ["a", "a", "'=b", "'=b"]
    assert (rows[0]["ratio"], rows[0]["line"]) == ("0.25", "2")
    root = xml.fromstring(found.junit())
    assert [(each.get("name"), each.get("failures"), each.get("skipped")) for each in root] == [("one", "0", "1"), ("two", "1", "1")]
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "crash: Error: </failure>"
