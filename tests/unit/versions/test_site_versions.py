"""What the site says of versions is what data/versions holds."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from mkdocs.config import load_config

from opera.extensions.versions.support import Case, Support, Version

ROOT = Path(__file__).parents[3]
SITE = load_config(str(ROOT / "mkdocs.yml")).hooks["scripts/site_pages.py"]
ANSWERS, DATA, RECORDED = sys.modules["site_answers"], sys.modules["site_data"], sys.modules["recorded_versions"]


def test_every_test_is_counted_once_on_each_version_that_ran_it() -> None:
    assert DATA.versions()
    for recorded in DATA.versions():
        support = recorded.support
        for place, column in enumerate(DATA.columns(support.subject)):
            expected = support.counts(place)
            expected.pop("-", None)
            states = {"pass": "p", "wrong": "w", "crash": "c", "exporter": "e", "declined": "d", "unclear": "u"}
            assert Counter({states[state]: count for state, count in column.counts().items()}) == expected
            assert any(expected[letter] for letter in "pwc"), "a version on which nothing ran is no column"


def test_what_is_recorded_is_small_and_reads_back(tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in RECORDED.FOLDER.glob("*")) < 4_000_000
    case = Case("ai.onnx.Relu", "0123456789abcdef", "runtime")
    support = Support("tvm", "onnx", (Version("0.25.0", "abc", "2026-11-29"), Version("0.26.0", "def", "2026-11-29")), {case: "pw"})
    recorded = RECORDED.Recorded(support, {case.instance: RECORDED.Facts("float32", 14, 2)})
    RECORDED.write(recorded, tmp_path)
    (path,) = tmp_path.iterdir()
    first = path.read_bytes()
    assert RECORDED.read(path) == recorded
    RECORDED.write(recorded, tmp_path)
    assert path.read_bytes() == first


def test_the_document_has_each_version_with_its_changes() -> None:
    for subject, recorded in zip(DATA.versions_document()["subjects"], DATA.versions(), strict=True):
        assert [each["version"] for each in subject["versions"]] == [each.name for each in recorded.support.versions]
        assert subject["versions"][0]["changes"] == {}
        for place, row in enumerate(subject["versions"][1:], 1):
            changes = recorded.support.changes(place - 1, place)
            assert row["changes"] == {kind.value: dict(sorted(counts.items())) for kind, counts in changes.items() if counts}


@pytest.mark.parametrize(("ran", "is_stale"), [("2026-11-28", False), ("2026-09-01", False), ("2026-08-01", True)])
def test_a_column_that_ran_long_before_the_newest_is_grey_and_says_when(ran: str, is_stale: bool) -> None:
    column = DATA.Support("tvm", "onnx", "onnx", {"ran": ran}, {}, "0.25.0")
    assert ANSWERS._stale(column, "2026-11-29") == (f' class="stale" title="ran on {ran}"' if is_stale else "")


def test_a_strip_shows_an_operator_whose_state_changes_and_no_other() -> None:
    recorded = DATA.versions()[0].support
    column = DATA.columns(recorded.subject)[-1]
    apis = {case.api for case in recorded.tests}
    strips = {api: ANSWERS._strip(column, api) for api in apis}
    operators = [each.operators() for each in DATA.columns(recorded.subject)]
    for api, strip in strips.items():
        states = [DATA.state_of(each.get(api, {})) for each in operators]
        assert strip.count("<i class=") == (len(states) if len(set(states)) > 1 else 0), api
    assert any(strips.values())
