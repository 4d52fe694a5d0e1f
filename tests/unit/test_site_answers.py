"""What the site says of compilers is what the recorded campaigns and findings hold, and each link of its grids leads somewhere."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from mkdocs.config import load_config

from opera.extensions.research.recording import read_recorded
from opera.models.forms import form_parts
from opera.oracles.verdict import Verdict

ROOT = Path(__file__).parents[2]
SITE = load_config(str(ROOT / "mkdocs.yml")).hooks["scripts/site_pages.py"]
ANSWERS, SUPPORT = sys.modules["site_answers"], sys.modules["site_data"]
FOUND = SUPPORT.campaigns()
ENTRIES = SUPPORT.findings_document(SITE.findings())["findings"]
DOCUMENT = SUPPORT.support_document(FOUND)


@pytest.mark.slow
def test_the_counts_are_those_of_the_campaigns() -> None:
    assert FOUND
    for index, each in enumerate(FOUND):
        recorded = read_recorded(SUPPORT.CAMPAIGNS / f"{each.name}.jsonl.gz")
        expected = Counter(
            (test.instance.api, form_parts(form)[0], SUPPORT.state(verdict))
            for test in recorded.tests
            for form, verdict in test.verdicts.items()
        )
        counted = Counter[tuple[str, str, str]]()
        for operator, subject, _, _, _, form, state, tests in DOCUMENT["rows"]:
            if subject == index:
                counted[DOCUMENT["operators"][operator], DOCUMENT["forms"][form], DOCUMENT["states"][state]] += tests
        assert counted == expected
        assert sum(counted.values()) == sum(len(test.verdicts) for test in recorded.tests) == sum(each.counts().values())


def test_dtype_rank_and_opset_are_those_of_the_instance() -> None:
    recorded = read_recorded(SUPPORT.CAMPAIGNS / f"{FOUND[0].name}.jsonl.gz")
    matmul = [test for test in recorded.tests if test.instance.api == "ai.onnx.MatMul"]
    expected = Counter(
        (argument.value.dtype, max(len(each.value.shape) for each in test.instance.call), dict(test.instance.context)["opset"])
        for test in matmul
        for argument in test.instance.call[:1]
        for _ in test.verdicts
    )
    counted = Counter[tuple[str, int, int]]()
    for key, count in FOUND[0].tests.items():
        if key.operator == "ai.onnx.MatMul":
            counted[key.dtype, key.rank, key.opset] += count
    assert counted == expected


def test_every_verdict_has_a_state() -> None:
    assert {SUPPORT.state(each.value) for each in Verdict} | {SUPPORT.state("exporter")} == set(SUPPORT.STATES)


@pytest.mark.parametrize(
    ("counts", "state", "shares"),
    [
        ({}, "untested", (0, 0, 0)),
        ({"declined": 22, "pass": 6}, "partly", (6, 6, 28)),
        ({"declined": 22}, "declined", (0, 0, 22)),
        ({"wrong": 1, "crash": 2, "pass": 3, "declined": 4, "unclear": 5, "exporter": 6}, "wrong", (3, 6, 10)),
        ({"pass": 3, "unclear": 5}, "pass", (3, 3, 3)),
    ],
)
def test_a_cell_has_its_worst_state_and_two_denominators(counts: dict[str, int], state: str, shares: tuple[int, int, int]) -> None:
    assert SUPPORT.state_of(counts) == state
    assert SUPPORT.shares(counts) == shares


def test_a_share_of_a_hundred_per_cent_means_all() -> None:
    assert [SUPPORT.percent(*each) for each in ((9_999, 10_000), (10, 10), (0, 3), (0, 0))] == ["99.9 %", "100.0 %", "0.0 %", "—"]


@pytest.mark.parametrize("library", SITE.libraries(FOUND))
def test_each_cell_says_what_was_counted_and_links_to_findings_that_are_there(library: str) -> None:
    found = [each for each in FOUND if each.library == library]
    text, grid = ANSWERS.support_page(library, found, ENTRIES)
    assert all(f"{each.compiler} x {each.frontend} | {ANSWERS.share_cells(each)}" in text for each in found)
    places = {(api, each["compiler"]) for each in ENTRIES for api in each["operators"]}
    columns = [each.operators() for each in found]
    rows = re.findall(r'<tr data-name="(.*?)" data-models="\d+"><th.*?</th>(.*?)</tr>', grid)
    assert {name for name, _ in rows} == {api for each in columns for api in each}
    for name, cells in rows:
        for column, cell in zip(columns, re.findall("<td.*?</td>", cells), strict=True):
            counts = column.get(name, {})
            passed, taken, _ = SUPPORT.shares(counts)
            assert re.sub("<.*?>", " ", cell).split() == [
                SUPPORT.state_of(counts),
                *([f"{passed}/{taken}"] if taken else []),
                *([f"+{counts['declined']}"] if counts.get("declined") else []),
            ]
            for operator, compiler in re.findall(r'#q=(.*?)&amp;compiler=(.*?)"', cell):
                assert (operator, compiler) in places


def test_the_list_has_each_finding_with_its_place() -> None:
    page = ANSWERS.findings_list(ENTRIES)
    assert page.count("<tr data-") == len(ENTRIES) == sum(len(table.findings) for table in SITE.findings())
    texts = {table.subject: SITE.findings_page(table) for table in SITE.findings()}
    for each in ENTRIES:
        subject, name = re.fullmatch(r"findings/(.*)\.html#(.*)", each["page"]).groups()
        assert f"{{ #{name} " in texts[subject]
        assert (ROOT / each["script"]).is_file()
        assert each["layer"] in ("exporter", "frontend", "common transformation", "code generation", "run time", "not shown")
    assert len(re.findall(r"<option>[^<]*</option>", page)) > 20


def test_the_page_of_the_data_names_each_key() -> None:
    page = (ROOT / "docs" / "reference" / "site-data.md").read_text(encoding="utf-8")
    rows = (ROOT / "data" / "findings" / "README.md").read_text(encoding="utf-8")
    keys = {key for each in ENTRIES for key in each}
    assert {key for key in keys if f'"{key}"' not in page and f"`{key}`" not in rows} == set()
    assert all(f'"{key}"' in page for key in DOCUMENT)
    assert json.loads(SUPPORT.as_json(DOCUMENT)) == DOCUMENT


def test_the_grid_and_the_list_stay_light() -> None:
    weights = [
        len("".join(ANSWERS.support_page(library, [e for e in FOUND if e.library == library], ENTRIES)))
        for library in SITE.libraries(FOUND)
    ]
    assert max([*weights, len(ANSWERS.findings_list(ENTRIES))]) < SITE._HEAVY - 100_000


def test_a_page_that_is_too_heavy_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    (tmp_path / "a.html").write_text("x" * 11, encoding="utf-8")
    SITE.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    monkeypatch.setattr(SITE, "_HEAVY", 10)
    with pytest.raises(SITE.PluginError, match="more than 10 bytes"):
        SITE.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))


def test_a_badge_has_both_shares() -> None:
    from xml.etree import ElementTree

    for each in FOUND:
        root = ElementTree.fromstring(SUPPORT.badge(each))
        passed, taken, every = SUPPORT.shares(each.counts())
        assert root[-1][-1].text == f"{SUPPORT.percent(passed, taken)} of what it takes, {SUPPORT.percent(passed, every)} of all"
