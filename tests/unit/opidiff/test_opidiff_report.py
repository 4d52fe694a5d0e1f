"""Distances between outputs, and the tables of a suite's results."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np
import pytest

from opera.errors import NothingSelected
from opera.extensions.opidiff.latency import Latency, Seconds
from opera.extensions.opidiff.metrics import all_nan, metrics
from opera.extensions.opidiff.report import SuiteReport
from opera.extensions.opidiff.running import ALL_NAN, FOREIGN_CLASS, NO_DEVICE, SuiteRow, selected
from opera.extensions.opidiff.suite import load_suite
from opera.oracles.verdict import Verdict


def test_a_ratio_of_latencies_that_vary_by_half_is_doubtful() -> None:
    steady, shaky = Seconds(2.0, 0.1, 1.9), Seconds(2.0, 1.0, 1.2)
    assert [Latency(one, two, False).is_doubtful for one, two in ((steady, steady), (steady, shaky), (shaky, steady))] == [
        False,
        True,
        True,
    ]


def test_metrics_are_over_all_elements_of_all_outputs() -> None:
    expected = [np.array([1.0, 2.0], np.float32), np.array([[3]], np.int64)]
    actual = [np.array([1.0, 2.5], np.float32), np.array([[1]], np.int64)]
    found = metrics(expected, actual)
    assert [found[name] for name in ("max_abs", "mean_abs", "mse")] == [2.0, pytest.approx(2.5 / 3), pytest.approx(4.25 / 3)]
    assert [found[name] for name in ("code", "elements", "nan_baseline", "nan_output")] == ["NONE", 3, 0, 0]


def test_equal_infinities_are_no_difference_and_shared_nans_are_left_out_and_counted() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0], np.float16)
    found = metrics([values], [np.array([np.nan, np.inf, -np.inf, 4.0], np.float16)])
    assert [found[name] for name in ("max_abs", "mean_abs", "mse")] == [3.0, 1.0, 3.0]
    assert [found[name] for name in ("code", "elements", "nan_baseline", "nan_output")] == ["NAN_IN_BASELINE", 4, 1, 1]
    one = metrics([values], [np.zeros(4, np.float16)])
    assert [one[name] for name in ("max_abs", "nan_baseline", "nan_output")] == ["nan", 1, 0]
    other = metrics([np.zeros(4)], [values])
    assert [other[name] for name in ("max_abs", "code", "nan_baseline", "nan_output")] == ["nan", "NAN_IN_OUTPUT", 0, 1]


def test_outputs_that_are_nan_everywhere_have_no_distance() -> None:
    values = np.full(3, np.nan)
    found = metrics([values], [values.copy()])
    assert (found["max_abs"], found["mean_abs"], found["mse"]) == (None, None, None)
    assert all_nan(found)
    assert not all_nan(metrics([values], [np.zeros(3)]))
    assert not all_nan(metrics([np.zeros(0)], [np.zeros(0)]))
    assert metrics([np.zeros(0)], [np.zeros(0)])["code"] == "NOT_COMPARABLE_EMPTY"


def test_complex_numbers_compare_with_pairs() -> None:
    assert metrics([np.array([1 + 2j], np.complex64)], [np.array([[1, 5]], np.float32)])["max_abs"] == 3.0


@pytest.mark.parametrize("actual", [[], [np.zeros(3)], [None], [np.array(["a", "b"], object)]])
def test_outputs_that_cannot_be_subtracted_have_no_metrics(actual: list[object]) -> None:
    found = metrics([np.zeros(2)], actual)
    assert (found["max_abs"], found["mean_abs"], found["mse"], found["code"]) == (None, None, None, "NOT_COMPARABLE_SHAPE")


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
    zero = metrics([np.zeros(2)], [np.zeros(2)])
    found = [
        SuiteRow(by_id[name], name, 0, backend, verdict, summary=summary, metrics=zero if verdict is Verdict.PASS else None, seconds=0.25)
        for name, backend, verdict, summary in rows
    ]
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
    assert found.remarks() == ["a on two: crash: Error: </failure>", "=b on one: unsupported: no"]


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


def test_junit_has_the_seconds_of_each_case_and_suite(tmp_path: Path) -> None:
    root = xml.fromstring(report(tmp_path, *ROWS).junit())
    assert [float(each.get("time", "nan")) for each in (root, *root)] == [1.0, 0.5, 0.5]
    assert {each.get("time") for each in root.iter("testcase")} == {"0.250"}


def reasons(folder: Path, *rows: tuple[str, Verdict | None, str | None]) -> SuiteReport:
    made = report(folder, *((f"t{number}", backend, verdict, "") for number, (backend, verdict, _) in enumerate(rows)))
    given = [replace(row, reason=reason) for row, (_, _, reason) in zip(made.rows, rows, strict=True)]
    return replace(made, rows=given)


@pytest.mark.parametrize(
    ("verdict", "reason", "remedy"),
    [
        (Verdict.UNSUPPORTED, FOREIGN_CLASS, "--trust DIR"),
        (Verdict.UNSUPPORTED, NO_DEVICE, "the device"),
        (Verdict.UNSUPPORTED, "declined", "choose a backend"),
        (Verdict.INVALID, "scalar-as-tensor", "--scalars python"),
        (Verdict.INVALID, "rejected", "correct the tests"),
        (Verdict.UNDEFINED, "no-baseline", "choose a --baseline"),
        (Verdict.UNDEFINED, "random", "2 undefined (random)"),
        (Verdict.FLAKY, None, "2 flaky"),
        (None, None, "type the command again"),
    ],
)
def test_a_backend_of_which_nothing_was_compared_is_named_with_what_to_do(
    verdict: Verdict | None, reason: str | None, remedy: str, tmp_path: Path
) -> None:
    found = reasons(tmp_path, ("good", Verdict.PASS, None), ("bad", verdict, reason), ("bad", verdict, reason))
    assert found.compared() == {"good": 1, "bad": 0}
    assert list(found.not_compared()) == ["bad"]
    assert found.not_compared()["bad"].startswith("nothing was compared on bad: 2 ")
    assert remedy in found.not_compared()["bad"]
    root = xml.fromstring(found.junit())
    assert [(each.get("name"), each.get("errors"), each.get("tests")) for each in root] == [("good", "0", "1"), ("bad", "1", "3")]
    assert root.find(".//error") is not None


@pytest.mark.parametrize("verdict", [each for each in Verdict if each.is_failure])
def test_a_failure_is_a_result(verdict: Verdict, tmp_path: Path) -> None:
    assert not reasons(tmp_path, ("one", verdict, None), ("one", Verdict.INVALID, None)).not_compared()


def test_nans_are_said_in_the_table_the_lines_csv_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nan, mixed = np.full(2, np.nan), np.array([np.nan, 1.0])
    made = report(tmp_path, ("a", "two", Verdict.PASS, ALL_NAN), ("b", "two", Verdict.PASS, ""))
    rows = [replace(made.rows[0], metrics=metrics([nan], [nan])), replace(made.rows[1], metrics=metrics([mixed], [mixed]))]
    found = replace(made, rows=rows)
    found.print()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split("  ")[-1].strip() == "pass (all NaN)"
    assert lines[3].split("  ")[-1].strip() == "pass (NaN)"
    assert found.remarks() == [f"a on two: pass: {ALL_NAN}"]
    table = list(csv.DictReader(io.StringIO(found.csv())))
    assert [(each["code"], each["max_abs"], each["nan_baseline"], each["nan_output"]) for each in table] == [
        ("NAN_IN_BASELINE", "", "2", "2"),
        ("NAN_IN_BASELINE", "0.0", "1", "1"),
    ]
    assert [each["elements"] for each in found.documents()] == [2, 2]
    output = xml.fromstring(found.junit()).find(".//system-out")
    assert output is not None
    assert "NaN on both sides" in str(output.text)


def test_a_pattern_without_a_test_and_a_suite_without_tests_are_no_selection(tmp_path: Path) -> None:
    tests = report(tmp_path, *ROWS).suite.tests
    assert [each.id for each in selected(tests, ["a*"], [tmp_path])] == ["a"]
    with pytest.raises(NothingSelected, match="no id matches 'zzz'"):
        selected(tests, ["a*", "zzz"], [tmp_path])
    with pytest.raises(NothingSelected, match="has no tests"):
        selected([], [], [tmp_path])
