"""The recorded findings: their titles, the fixes and issues that they are counted by, and an issue for each."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from opera.extensions.findings.families import counts, families
from opera.extensions.findings.recorded import tables, title_of
from opera.extensions.findings.recorded_issue import recorded, recorded_text

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "data" / "findings"
ROWS = [(table, each) for table in tables(FOLDER) for each in table.finding]


def test_titles_are_short_and_no_two_of_a_table_are_the_same() -> None:
    titles = {(table.subject, each.name): title_of(FOLDER / table.subject / f"{each.name}.py") for table, each in ROWS}
    assert {place: title for place, title in titles.items() if not 0 < len(title) <= 90} == {}
    assert [
        place for (place, title), count in Counter((subject, title) for (subject, _), title in titles.items()).items() if count > 1
    ] == []


def test_families_name_causes_of_findings_and_pages_quote_their_number() -> None:
    known = families(FOLDER)
    found = counts([each for _, each in ROWS], known)
    assert {*known.fixes, *known.issues} <= {each.cause for _, each in ROWS}
    assert all(len(each.causes) > 1 for each in known.fixes.values())
    titles = [each.title for each in {*known.fixes.values(), *known.issues.values()}]
    assert [each for each in titles if not 0 < len(each) <= 90] == []
    for page, words in (
        ("README.md", r"(\d+) changes would mend them, and a maintainer would file (\d+)"),
        ("data/findings/README.md", r"need (\d+) fixes, and make (\d+)"),
    ):
        [numbers] = re.findall(words, (ROOT / page).read_text(encoding="utf-8"))
        assert tuple(map(int, numbers)) == (found.fixes, found.issues)


def test_the_page_says_how_many_were_met_by_campaigns() -> None:
    met: set[str | None] = set()
    for name in ("causes", "failures"):
        for line in (ROOT / "data" / "labelled" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            judged = json.loads(line)
            if judged["tests"] and (name == "causes" or judged["label"] in ("bug", "duplicate")):
                met |= {judged.get("cause"), *judged.get("also", ())}
    found = counts([each for _, each in ROWS if each.cause in met], families(FOLDER))
    words = r"(\d+) were met by campaigns \((\d+) fixes, (\d+) issues\)"
    assert [tuple(map(int, each)) for each in re.findall(words, (FOLDER / "README.md").read_text(encoding="utf-8"))] == [
        (found.findings, found.fixes, found.issues)
    ]


@pytest.mark.parametrize("place", [f"{table.subject}/{each.name}" for table, each in ROWS[::40]])
def test_a_finding_has_an_issue_that_is_ready_to_paste(place: str) -> None:
    found = recorded(str(FOLDER / f"{place}.py"))
    assert found is not None
    text = recorded_text(found, None)
    assert len(text.partition("\n")[0]) <= 110
    assert re.search(r"Do not report this yet\.\*\* The (script below did not run|project has an issue about it)", text)
    script = found.script.read_text(encoding="utf-8").strip()
    assert re.sub(r"\n{3,}", "\n\n", script) in text
    assert re.search(r"(?<![\w`/.])/(home|root|work|tmp)/", text) is None
