"""What the pages of the site promise in a real browser: filters, addresses, details, phones, no scripts. `make docs` builds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import MISSING, Browser, chromium

ROOT = Path(__file__).parents[2]
PROGRAM = chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
SHOWN = (
    "[...document.querySelectorAll('.support tbody tr, .findings tbody tr')].filter(e => e.offsetParent)"
    ".map(e => e.dataset.name ?? e.cells[1].textContent)"
)
CELLS = "[...document.querySelectorAll('table.support tbody td')].map(e => e.className + ' ' + e.textContent)"


@pytest.fixture(scope="module")
def site() -> str:
    """The address of the built site."""
    folder = ROOT / ".site"
    if not (folder / "support.json").exists():
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    return folder.as_uri()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(opened: Browser, site: str) -> Iterator[Browser]:
    opened.complaints.clear()
    opened.requests.clear()
    opened.resize(1280, 900)
    yield opened
    opened.run("1")  # what was said until now
    assert [each for each in opened.complaints if "search_index.js" not in each] == []  # which a folder does not have
    assert [each for each in opened.requests if not each.startswith((site, "about:blank", "data:"))] == []


def choose(browser: Browser, name: str, value: str) -> None:
    field = f"document.querySelector('.filters').elements[{name!r}]"
    browser.run(f"{field}.value = {value!r}; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def test_cells_without_a_filter_are_those_that_the_page_is_made_with(browser: Browser, site: str) -> None:
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.go(f"{site}/can-i-use/onnx.html")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run("document.querySelector('.filters').hidden")
    made = browser.run(CELLS)
    browser.go(f"{site}/can-i-use/onnx.html")
    browser.wait("!document.querySelector('.filters').hidden")
    assert browser.run(CELLS) == made
    assert len(made) > 100


def test_filters_of_the_grid_count_a_part_of_the_tests_and_stand_in_the_address(browser: Browser, site: str) -> None:
    page = f"{site}/can-i-use/onnx.html"
    browser.go(page)
    choose(browser, "q", "maxpool")
    assert browser.run(SHOWN) == ["ai.onnx.GlobalMaxPool", "ai.onnx.MaxPool"]
    every = browser.run(CELLS)
    choose(browser, "dtype", "uint8")
    assert browser.run(CELLS) != every
    choose(browser, "state", "untested")
    assert browser.run("location.hash") == "#q=maxpool&dtype=uint8&state=untested"
    assert browser.run(SHOWN) == ["ai.onnx.GlobalMaxPool"]
    browser.go(page + "#q=maxpool&dtype=uint8&state=untested")
    assert browser.run(SHOWN) == ["ai.onnx.GlobalMaxPool"]


def test_another_version_of_a_compiler_fills_its_column_and_leaves_the_others(browser: Browser, site: str) -> None:
    browser.go(f"{site}/can-i-use/onnx.html")
    switch = "document.querySelector('th select[data-subject=onnxruntime-onnx]')"
    place = browser.run(f"{switch}.closest('th').cellIndex")
    rows = "[...document.querySelectorAll('table.support tbody tr')]"
    column = f"{rows}.map(e => e.cells[{place}].className)"
    others = f"{rows}.map(e => [...e.cells].map((c, i) => i === {place} ? '' : c.textContent).join())"
    usual, beside = browser.run(column), browser.run(others)
    browser.run(f"{switch}.selectedIndex = {switch}.options.length - 1; {switch}.dispatchEvent(new Event('change'))")
    browser.wait(f"JSON.stringify({column}) !== {json.dumps(json.dumps(usual, separators=(',', ':')))}")
    assert browser.run(column).count("declined") > usual.count("declined"), "the oldest version takes less"
    assert browser.run(others) == beside
    browser.run(f"[...document.querySelectorAll('.support tbody tr')].find(e => e.offsetParent).cells[{place}].firstChild.click()")
    assert "opera run --compiler onnxruntime==" in browser.run("document.querySelector('dialog').innerText")
    browser.run(f"document.querySelector('dialog').close(); {switch}.value = ''; {switch}.dispatchEvent(new Event('change'))")
    browser.wait(f"JSON.stringify({column}) === {json.dumps(json.dumps(usual, separators=(',', ':')))}")


def test_a_subject_over_time_has_a_column_for_each_version_and_a_page_for_each_change(browser: Browser, site: str) -> None:
    browser.go(f"{site}/can-i-use/onnxruntime-onnx.html")
    heads = browser.run("[...document.querySelectorAll('table.support thead th')].map(e => e.textContent)")
    assert len(heads) > 3
    choose(browser, "state", "wrong")
    assert 0 < len(browser.run(SHOWN)) < 50
    browser.go(browser.run("[...document.querySelectorAll('article table:not(.support) a')].at(-1).href"))
    assert f"onnxruntime {heads[-1]} on onnx: changes since {heads[-2]}" in browser.run("document.querySelector('h1').textContent")


def test_a_cell_opens_its_counts_and_the_command_that_makes_it_again(browser: Browser, site: str) -> None:
    browser.go(f"{site}/can-i-use/onnx.html")
    browser.run(
        "[...document.querySelectorAll('.support tr')].find(e => e.dataset.name === 'ai.onnx.AffineGrid').cells[1].firstChild.click()"
    )
    text = browser.run("document.querySelector('dialog').innerText")
    compiler = browser.run("document.querySelector('table.support thead').rows[0].cells[1].textContent")
    assert text.startswith(f"ai.onnx.AffineGrid on {compiler}")
    assert "right, of what it takes" in text
    assert f"opera extract --lib onnx &&\nopera run --compiler {compiler} --frontend onnx -k ai.onnx.AffineGrid" in text
    browser.click("dialog button")
    assert not browser.run("document.querySelector('dialog').open")


def test_a_link_of_a_cell_shows_its_findings(browser: Browser, site: str) -> None:
    browser.go(f"{site}/can-i-use/onnx.html")
    link = browser.run("[...document.querySelectorAll('td a')].find(e => e.hash.startsWith('#q')).href")
    browser.go(link)
    browser.wait("document.querySelector('.filters output').textContent.endsWith('findings')")
    shown = browser.run(SHOWN)
    assert 0 < len(shown) < 50
    first = browser.run("[...document.querySelectorAll('.findings tbody tr')].find(e => e.offsetParent).querySelector('a').href")
    browser.go(first)
    assert browser.run("document.querySelector(`[id='${location.hash.slice(1)}']`).tagName") == "H2"


def test_findings_are_searched_by_operator_compiler_symptom_layer_and_version(browser: Browser, site: str) -> None:
    browser.go(f"{site}/findings/index.html")
    every = len(browser.run(SHOWN))
    choose(browser, "q", "ai.onnx.maxpool shape")
    assert "MaxPool: wrong shape when ceil_mode=1 and a window begins beyond the input" in browser.run(SHOWN)
    choose(browser, "q", "")
    for name in ("compiler", "symptom", "layer", "version"):
        value = browser.run(f"document.querySelector('.filters').elements[{name!r}].options[1].value")
        choose(browser, name, value)
        assert 0 < len(browser.run(SHOWN)) < every
        choose(browser, name, "")
    assert len(browser.run(SHOWN)) == every


@pytest.mark.parametrize(
    "page", ["index.html", "can-i-use/index.html", "can-i-use/onnx.html", "findings/index.html", "findings/openvino-onnx.html"]
)
def test_nothing_is_wider_than_a_phone(browser: Browser, site: str, page: str) -> None:
    browser.resize(400, 800, phone=True)
    browser.go(f"{site}/{page}")
    assert browser.run("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("width", [400, 1280])
def test_no_code_of_the_first_page_is_cut_off(browser: Browser, site: str, width: int) -> None:
    browser.resize(width, 900, phone=width < 500)
    browser.go(f"{site}/index.html")
    cut = "[...document.querySelectorAll('article pre > code')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    assert browser.run("document.querySelectorAll('article pre > code').length") > 0
    assert browser.run(cut) == []


def test_every_field_has_a_name(browser: Browser, site: str) -> None:
    for page in ("can-i-use/onnx.html", "findings/index.html"):
        browser.go(f"{site}/{page}")
        assert browser.run("[...document.querySelectorAll('.filters :is(input, select)')].every(e => e.labels.length === 1)")


@pytest.mark.parametrize("page", ["can-i-use/pytorch.html", "findings/index.html"])
def test_rows_may_be_ordered_by_how_many_models_use_the_operator(browser: Browser, site: str, page: str) -> None:
    browser.go(f"{site}/{page}")
    users = "[...document.querySelectorAll('tr[data-models]')].map(e => Number(e.dataset.models))"
    usual = browser.run(users)
    choose(browser, "order", "models that use it")
    assert browser.run(users) == sorted(usual, reverse=True) != usual
    choose(browser, "order", "")
    assert browser.run(users) == usual
