"""Findings counted by fix and by issue, and what is kept of a tracker."""

from __future__ import annotations

from pathlib import Path

import pytest

from opera.errors import UserError
from opera.extensions.findings.families import FIXES, UPSTREAM, Counts, Known, Link, counts, families, remember
from opera.extensions.findings.recorded import Row
from opera.oracles.verdict import Verdict

TEXT = """
[[fix]]
name = "promotion"
title = "operands are not promoted"
causes = ["add-mixed", "mul-mixed"]
issue = "mixed"

[[issue]]
name = "mixed"
title = "operands of two dtypes"
causes = ["where-mixed"]
"""


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / FIXES).parent.mkdir(parents=True)
    (tmp_path / FIXES).write_text(text, encoding="utf-8")
    return tmp_path


def row(name: str, cause: str = "") -> Row:
    return Row(name, Verdict.CRASH, "it raises", ("torch.add",), cause=cause)


ROWS = [row(each, each) for each in ("add-mixed", "mul-mixed", "where-mixed", "pow-rank")] + [row("no-cause")]


def test_a_change_that_mends_several_causes_counts_once_and_an_issue_asks_for_several_changes(tmp_path: Path) -> None:
    known = families(folder(tmp_path, TEXT))
    assert [known.fix(each) for each in ROWS] == ["promotion", "promotion", "where-mixed", "pow-rank", "no-cause"]
    assert [known.issue(each) for each in ROWS] == ["mixed", "mixed", "mixed", "pow-rank", "no-cause"]
    assert counts(ROWS, known) == Counts(findings=5, fixes=4, issues=3)
    assert [known.title(each) for each in ROWS] == ["operands of two dtypes"] * 3 + ["", ""]
    assert [each.name for each in map(known.repair, ROWS) if each is not None] == ["promotion", "promotion"]


def test_without_families_each_cause_is_a_fix_and_an_issue(tmp_path: Path) -> None:
    assert counts(ROWS, families(tmp_path)) == Counts(5, 5, 5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fix = 3", "of another form"),
        ("[[fix]\n", "of another form"),
        ('[[fix]]\nname = "a"\ntitle = "b"\ncauses = ["c"]\nissue = "d"\n', "no issue is called 'd'"),
        ('[[fix]]\nname = "a"\ntitle = "b"\ncauses = ["c"]\n[[fix]]\nname = "e"\ntitle = "f"\ncauses = ["c"]\n', "twice"),
        (TEXT.replace("where-mixed", "add-mixed"), "twice"),
        ('[[family]]\nname = "of an older form"\n', "of another form"),
    ],
)
def test_a_file_of_another_form_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        families(folder(tmp_path, text))


def test_what_a_person_confirms_is_kept_for_the_whole_issue(tmp_path: Path) -> None:
    place = folder(tmp_path, TEXT)
    first = Link("mixed", Known.FAMILY, "https://github.com/o/r/issues/1", "open", "2026-11-30")
    other = Link("pow-rank", Known.NOT_FOUND, date="2026-11-30")
    for each in (first, other, Link("mixed", Known.FIXED, "https://github.com/o/r/pull/2", "closed", "2026-12-01")):
        remember(place, each)
    known = families(place)
    assert str(known.link(row("a", "mul-mixed"))) == "fixed, https://github.com/o/r/pull/2 (closed), 2026-12-01"
    assert known.link(row("a", "pow-rank")) == other
    assert known.link(row("a", "else")) is None
    assert (place / UPSTREAM).read_text().count("[[link]]") == 2


def test_a_link_with_odd_characters_comes_back(tmp_path: Path) -> None:
    odd = Link('a "b"\\', Known.KNOWN, "https://x/y", "op\nen\x1b[3m\u2028", "2026-11-30")
    remember(tmp_path, odd)
    assert families(tmp_path).links == {odd.issue: odd}
