"""What the HTML page promises in a real browser: search, chips, addresses, links, copies; no errors and no network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from string import ascii_lowercase

import pytest
from browser import MISSING, Browser, chromium
from reporting import failure, fill, relu, result

from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, encode_instance
from opera.oracles.verdict import Stage, Verdict
from opera.report.html import render
from opera.report.overview import overview
from opera.report.scripts import WrittenScript
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.store.reductions import Reductions, StoredReduction

PROGRAM = chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
SCRIPT = "import numpy as np\n\nassert 'a < b' & \"c\"\n"
POOL = Instance(
    "onnx", "ai.onnx.MaxPool", Kind.NODE, init=(Argument("ceil_mode", 1), Argument("kernel_shape", [1])),
    call=(Argument("X", Tensor((1, 1, 2), "float32")),),
)  # fmt: skip
SHAPE = {"difference": {"kind": "shape", "output": 0, "expected": "[1, 1, 1]", "actual": "[1, 1, 2]"}}
FAILED = result("c1", POOL, "tvm", Verdict.INCONSISTENT, Stage.COMPARE, converter="MaxPool", detail=SHAPE)
FOUND = str(FAILED.fingerprint)
"""The finding of the pool: it keeps its first id when it is reduced."""
FINDINGS = 31
SHOWN = "[...document.querySelectorAll('#list > details')].filter(e => !e.hidden).map(e => e.querySelector('b').textContent)"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    with open_workspace(folder / "ws", write=True) as space:
        fill(space)
        Corpus(space).add([(POOL, Occurrence("node-tests", "test_maxpool"))])
        abort = {"lost": {"cause": "signal", "detail": "SIGSEGV"}}
        gone = result("c2", relu(2), "openvino", Verdict.ABORT, Stage.RUN, converter="Relu", detail=abort)
        many = [
            result(f"d{index:03}", relu(1), "tvm", Verdict.CRASH, Stage.LOAD, converter=f"Op{letter}", detail=failure(f"no {letter}"))
            for index, letter in enumerate(ascii_lowercase)
        ]
        Campaigns(space).write("aaaaaaaaaaaa", [(50 + index, each) for index, each in enumerate([FAILED, gone, *many])])
        trigger = {"properties": [["value", "ceil_mode", ">", 0]], "api": "ai.onnx.MaxPool", "tensors": ["X"]}
        reduction = StoredReduction(FOUND, FAILED.test, "abcdef0123456789", None, encode_instance(POOL), None, {"form": "runtime"})
        Reductions(space).keep(replace(reduction, trigger=trigger))
        Reductions(space).assign([FAILED.test], "abcdef0123456789")
        text = render(space, "ws", overview(space, Scope()), lambda finding, campaign: WrittenScript(SCRIPT, "not run"))
    (folder / "page.html").write_text(text, encoding="utf-8")
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(opened: Browser, address: str) -> Iterator[Browser]:
    opened.complaints.clear()
    opened.requests.clear()
    opened.resize(1200, 800)
    opened.go(address)
    yield opened
    opened.run("1")  # what was said until now
    assert opened.complaints == []
    assert all(each.partition("#")[0] in (address, "about:blank") for each in opened.requests)


def hash_of(browser: Browser) -> str:
    return browser.run("location.hash")


def test_findings_stand_in_the_order_of_their_severity(browser: Browser) -> None:
    titles = browser.run(SHOWN)
    assert len(titles) == FINDINGS
    assert titles[:3] == ["MaxPool: wrong shape with ceil_mode>0", "Reshape: wrong shape", "Relu: abort at run"]
    kinds = browser.run("[...document.querySelectorAll('#list > details')].map(e => e.dataset.verdict)")
    assert list(dict.fromkeys(kinds)) == ["inconsistent", "abort", "crash"]


def test_search_looks_into_triggers_and_calls_and_stands_in_the_address(browser: Browser, address: str) -> None:
    browser.press("/")
    browser.type("kernel_shape")  # only in the call
    assert browser.run(SHOWN) == ["MaxPool: wrong shape with ceil_mode>0"]
    assert browser.run("document.getElementById('matching').textContent") == f"1 of {FINDINGS} findings"
    assert hash_of(browser) == "#findings?q=kernel_shape"
    browser.go(address + "#findings?q=ceil_mode")
    assert browser.run(SHOWN) == ["MaxPool: wrong shape with ceil_mode>0"]
    assert browser.run("document.getElementById('search').value") == "ceil_mode"
    browser.click("#reset")
    assert len(browser.run(SHOWN)) == FINDINGS


def test_chips_filter_and_their_counts_follow_the_other_filters(browser: Browser, address: str) -> None:
    browser.click(".chip[data-value='openvino/onnx']")
    assert browser.run(SHOWN) == ["Relu: abort at run"]
    counts = (
        "Object.fromEntries([...document.querySelectorAll('.chip[data-key]')].map(e => [e.dataset.value, e.lastElementChild.textContent]))"
    )
    assert {"abort": "1", "crash": "0", "tvm/onnx": str(FINDINGS - 2)}.items() <= browser.run(counts).items()
    browser.click(".chip[data-value='tvm/onnx']")
    browser.click(".chip[data-value='inconsistent']")
    assert len(browser.run(SHOWN)) == 2
    found = browser.run(SHOWN)
    browser.go(address + hash_of(browser))
    assert browser.run(SHOWN) == found
    assert browser.run("document.querySelectorAll('.chip[aria-pressed=true]').length") == 3


def test_an_open_finding_and_the_order_stand_in_the_address(browser: Browser, address: str) -> None:
    browser.run(f"document.querySelector('#f-{FOUND} > summary').focus()")
    browser.press("Enter")
    browser.wait(f"location.hash.includes('finding={FOUND}')")
    browser.run("const s = document.getElementById('sort'); s.value = 'operator'; s.dispatchEvent(new Event('change', {bubbles: true}))")
    found = hash_of(browser)
    browser.go(address + found)
    assert browser.run(f"document.getElementById('f-{FOUND}').open")
    assert browser.run(f"document.getElementById('f-{FOUND}').getBoundingClientRect().top < innerHeight")
    operators = browser.run("[...document.querySelectorAll('#list > details')].map(e => JSON.parse(e.dataset.operators)[0])")
    assert operators == sorted(operators)
    browser.go(address + f"#f-{FOUND}")
    assert browser.run("document.querySelectorAll('#list > details[open]').length") == 1


def test_a_cell_leads_to_its_findings(browser: Browser) -> None:
    browser.click("nav a[href='#operators']")
    browser.wait("!document.getElementById('operators').hidden")
    assert browser.run("document.getElementById('findings').hidden")
    browser.run("[...document.querySelectorAll('.matrix a')].find(a => a.hash.includes('MaxPool')).click()")
    browser.wait("!document.getElementById('findings').hidden")
    assert browser.run(SHOWN) == ["MaxPool: wrong shape with ceil_mode>0"]
    assert browser.run("document.getElementById('cell').textContent").startswith("ai.onnx.MaxPool on tvm/onnx")
    browser.click("#cell")
    assert len(browser.run(SHOWN)) == FINDINGS
    browser.run("history.back()")
    browser.wait("!document.getElementById('operators').hidden")


def test_the_table_of_operators_can_be_searched(browser: Browser, address: str) -> None:
    rows = "[...document.querySelectorAll('#operators tbody tr')].filter(e => !e.hidden).map(e => e.cells[0].textContent)"
    browser.go(address + "#operators?failing=yes")
    assert "ai.onnx.Big" not in browser.run(rows)
    browser.run("document.getElementById('matrix-search').focus()")
    browser.type("pool")
    assert browser.run(rows) == ["ai.onnx.MaxPool"]
    assert hash_of(browser) == "#operators?failing=yes&q=pool"


def test_scripts_and_commands_are_copied_as_they_are(browser: Browser, address: str) -> None:
    browser.go(address + f"#findings?finding={FOUND}")
    for block, text in (("div.code", SCRIPT), (".command .code", f"opera issue {FOUND} --workspace ws")):
        browser.click(f"#f-{FOUND} {block} .copy")
        browser.wait("document.getElementById('said').textContent === 'Copied'")
        assert browser.run("navigator.clipboard.readText()") == text


@pytest.mark.parametrize("tab", [f"findings?finding={FOUND}", "operators", "tests", "campaigns"])
def test_nothing_is_wider_than_a_phone(browser: Browser, address: str, tab: str) -> None:
    browser.resize(360, 740, phone=True)
    browser.go(f"{address}#{tab}")
    assert browser.run("document.documentElement.scrollWidth") <= 360
    browser.run("window.scrollTo(0, 10000)")
    if tab.startswith("findings"):
        assert browser.run("document.getElementById('filters').getBoundingClientRect().top") == 0
    if tab == "operators":
        first = "document.querySelector('.matrix tbody th').getBoundingClientRect().left"
        before = browser.run(first)
        browser.run("document.querySelector('.matrix').scrollLeft = 80")
        assert browser.run(first) == before


def test_every_control_has_a_name(browser: Browser) -> None:
    unnamed = browser.run(
        "[...document.querySelectorAll('button, input, select')].filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length))"
        ".map(e => e.outerHTML)"
    )
    assert [each for each in unnamed if 'id="cell"' not in each] == []
    tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
    assert {"navigation", "main", "search"} <= {each["role"]["value"] for each in tree if "role" in each}


def test_a_page_without_scripts_shows_everything(browser: Browser, address: str) -> None:
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.go(address)
        shown = browser.ask("DOM.getDocument", depth=-1)
        node = browser.ask("DOM.querySelectorAll", nodeId=shown["root"]["nodeId"], selector="main > section[hidden], details[hidden]")
        assert node["nodeIds"] == []
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
