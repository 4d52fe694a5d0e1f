"""Verdicts of the same tests on several versions, and what changes."""

from __future__ import annotations

import itertools

import pytest

from opera.extensions.environments.releases import in_order
from opera.extensions.versions.support import Case, Kind, Support, Version, kind_of, named, notes, with_results


def support(*letters: str, names: str = "12") -> Support:
    """A subject whose tests come to these letters on versions 1, 2 ..."""
    versions = tuple(Version(name, "abc", "2026-11-01") for name in names)
    tests = {Case(f"ai.onnx.Op{number % 2}", f"{number:016x}", "runtime"): each for number, each in enumerate(letters)}
    return Support("onnxruntime", "onnx", versions, tests)


@pytest.mark.parametrize(
    ("letters", "kind"),
    [
        ("pw", Kind.BROKEN), ("pc", Kind.BROKEN), ("pd", Kind.NEWLY_DECLINED), ("wp", Kind.FIXED), ("cp", Kind.FIXED),
        ("dp", Kind.NEWLY_TAKEN), ("wc", Kind.STILL), ("cd", Kind.STILL), ("dw", Kind.STILL), ("pp", None), ("pu", None),
        ("-p", None), ("ep", None), ("ue", None),
    ],
)  # fmt: skip
def test_each_pair_of_outcomes_is_one_kind_of_change(letters: str, kind: Kind | None) -> None:
    assert kind_of(*letters) is kind


def test_a_change_and_its_reverse_are_never_of_one_kind_but_both_not_right() -> None:
    for one, other in itertools.permutations("pwcd", 2):
        kinds = {kind_of(one, other), kind_of(other, one)}
        assert None not in kinds
        assert len(kinds) == (2 if "p" in (one, other) else 1)


def test_changes_are_counted_by_operator_and_only_for_tests_that_ran_on_both() -> None:
    found = support("pw", "pd", "pp", "-w", "wp", "pc").changes(0, 1)
    assert {kind: dict(counts) for kind, counts in found.items() if counts} == {
        Kind.BROKEN: {"ai.onnx.Op0": 1, "ai.onnx.Op1": 1},
        Kind.NEWLY_DECLINED: {"ai.onnx.Op1": 1},
        Kind.FIXED: {"ai.onnx.Op0": 1},
    }


def test_a_version_on_which_nothing_ran_is_left_out() -> None:
    found = with_results(support("p-w", "u-p", names="123"))
    assert [each.name for each in found.versions] == ["1", "3"]
    assert sorted(found.tests.values()) == ["pw", "up"]


def test_builds_come_after_releases_by_their_times_and_without_times_as_they_are_listed() -> None:
    made = {"late": "2026-11-02", "early": "2026-11-01"}
    assert in_order(["late", "tuesday", "1.10", "monday", "1.9", "early"], made) == ["1.9", "1.10", "tuesday", "monday", "early", "late"]


def test_versions_are_named_or_the_last_two() -> None:
    found = support("ppw", names="123")
    assert named(found, ()) == (1, 2)
    assert named(found, ("3", "1")) == (2, 0)
    with pytest.raises(KeyError):
        named(found, ("1", "9"))


def test_notes_say_what_changed_in_numbers_that_agree() -> None:
    text = notes(support("pw", "pp", "dp", "dp"), 0, 1)
    assert "4 tests of 2 operators, in 1 input form." in text
    assert "| right | 2 | 3 |" in text
    assert "## Broken: 1 test of 1 operator\n\nOp0 (1)" in text
    assert "## Newly taken: 2 tests of 2 operators\n\nOp0 (1), Op1 (1)" in text
    assert "Fixed" not in text
