"""What the HTML page says: head, titles, scripts and tables of operators. tests/integration/test_page_in_browser.py opens it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reporting import RESHAPE, Tags, failure, fill, relu, result

from opera.compilers.adapter import Route
from opera.config import Config
from opera.difftest.messages import ModelSource, to_json
from opera.errors import EnvironmentBroken
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, encode_instance
from opera.oracles.verdict import Stage, Verdict
from opera.report import details, scripts
from opera.report import html as page_of
from opera.report.html import render
from opera.report.overview import Finding, overview
from opera.report.reproducer import ScriptCase
from opera.report.scripts import ModelSources, WrittenScript, write_script
from opera.report.words import without_signatures
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.store.reductions import Reductions, StoredReduction
from opera.workers.process import Done, Lost, Ready

PYTORCH = Instance("pytorch", "torch.abs", Kind.FUNCTION, call=(Argument("input", Tensor((2,), "float32")),))


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "ws", write=True) as opened:
        fill(opened)
        yield opened


def findings(space: Workspace) -> dict[str, Finding]:
    return {each.converter or "": each for each in overview(space, Scope()).findings}


def page(space: Workspace, **options: Any) -> str:
    text = render(space, "ws", overview(space, Scope()), **options)
    Tags(text)
    return text


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def reduce(
    space: Workspace,
    finding: Finding,
    *properties: list[Any],
    reason: str | None = None,
    instance: Instance = RESHAPE,
    proof: Mapping[str, Any] | None = None,
) -> None:
    first = finding.representative
    assert first.fingerprint is not None
    trigger: Any = None if reason else {"properties": list(properties), "api": instance.api, "tensors": ["data", "shape"]}
    document = None if reason else encode_instance(instance)
    detail: Any = {"form": "runtime", "probes": 66, "seconds": 1.0, **(proof or {})}
    Reductions(space).keep(StoredReduction(first.fingerprint, first.test, first.fingerprint, reason, document, trigger, detail))


def test_the_head_says_what_is_broken_and_each_version_once(space: Workspace) -> None:
    versions = {"library": {"torch": "2.13.0"}, "compiler": {"torch": "2.13.0", "backend": "inductor"}, "route": "dynamo"}
    Corpus(space).add([(PYTORCH, Occurrence("opinfo", "abs"))])
    Campaigns(space).begin("c" * 12, "inductor", "pytorch", {}, versions)
    Campaigns(space).write("c" * 12, [(0, replace(result("c1", PYTORCH, "inductor", Verdict.PASS), frontend="pytorch", route="dynamo"))])
    Campaigns(space).keep_machine("m", {"processor": "Some CPU", "cores": 1, "system": "Linux", "architecture": "x86_64"})
    head = text_of(page(space).partition("</header>")[0])
    assert "3 subjects, 3 findings: 1 silent wrong result, 2 crashes" in head
    assert "Some CPU, 1 core, Linux x86_64" in head
    assert head.count("torch 2.13.0") == 1
    assert "backend" not in head
    assert "torch 2.13.0, torch 2.13.0" not in text_of(page(space))


def test_the_page_says_whether_its_counts_are_before_triage(space: Workspace) -> None:
    assert "Counted before triage: one finding for each fingerprint." in page(space)
    found = list(findings(space).values())
    reduce(space, found[0], reason="too slow")
    assert "Triage has looked at 1 of the 3 findings. The others are counted before triage" in page(space)
    for each in found[1:]:
        reduce(space, each, reason="too slow")
    assert "Each finding is one root cause, as far as triage can tell." in page(space)
    assert "Fingerprints over tests, before triage" in page(space)
    assert "fingerprints, before triage</th>" in page(space)


def test_findings_come_by_severity(space: Workspace) -> None:
    lost = {"lost": {"cause": "signal", "detail": "SIGSEGV"}}
    abort = result("e1", relu(1), "tvm", Verdict.ABORT, Stage.RUN, converter="Relu", detail=lost)
    Campaigns(space).write("aaaaaaaaaaaa", [(90, abort)])
    kinds = re.findall(r'<details class="finding"[^>]* data-verdict="(\w+)"', page(space))
    assert kinds == ["inconsistent", "abort", "crash", "crash"]
    assert "1 silent wrong result" in text_of(page(space))


def test_a_title_has_the_operator_and_the_condition(space: Workspace) -> None:
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape"
    assert details.title(findings(space)["Relu"]) == "Relu: crash at load"
    seeing = ["size", "data", ">", 1]
    reduce(space, findings(space)["Reshape"], ["value", "allowzero", ">", 0], seeing, ["rank", "data", "=", 2])
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape with allowzero>0 when data has rank 2"
    proof = {"fails": [], "against": 0, "passes": {"allowzero>0": "Reshape(...)"}}
    reduce(space, findings(space)["Reshape"], ["value", "allowzero", ">", 0], ["rank", "data", "=", 2], proof=proof)
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape with allowzero>0", "no call shows the rank to be necessary"
    reduce(space, findings(space)["Reshape"], seeing)
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape when data has several elements"
    reduce(space, findings(space)["Reshape"])
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape"
    reduce(space, findings(space)["Reshape"], proof={"fails": ["c" * 64], "against": 1})
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape"
    reduce(space, findings(space)["Reshape"], proof={"fails": ["c" * 64], "against": 0})
    assert details.title(findings(space)["Reshape"]) == "Reshape: wrong shape on any call"
    reduce(space, findings(space)["Reshape"], *(["value", letter * 40, ">", 0] for letter in "abc"))
    assert details.title(findings(space)["Reshape"]) == f"Reshape: wrong shape with {'a' * 40}>0 and {'b' * 40}>0, …"


def test_a_title_counts_further_operators(space: Workspace) -> None:
    finding = replace(findings(space)["Relu"], operators=("ai.onnx.Relu", "ai.onnx.Selu", "ai.onnx.Tanh"))
    assert details.title(finding) == "Relu and 2 more: crash at load"


def test_the_second_line_has_four_digits_and_no_signature(space: Workspace) -> None:
    def seen(detail: dict[str, Any], verdict: Verdict) -> str:
        finding = findings(space)["Relu"]
        return details.seen(replace(finding, representative=replace(finding.representative, verdict=verdict, detail=detail)))

    values = {"kind": "values", "output": 0, "expected": "0.349518358707428", "actual": "-3.4028234663852886e+38", "share": 0.25}
    assert seen({"difference": values}, Verdict.INCONSISTENT) == "expected 0.3495, got -3.403e+38 (25% of the elements)"
    shape = {"kind": "shape", "output": 0, "expected": "[1, 2]", "actual": "[2]"}
    assert seen({"difference": shape}, Verdict.INCONSISTENT) == "expected [1, 2], got [2]"
    message = "ns::Status ns::helper::Compute(const ns::Tensor*, int, ns::Shape&) const [with T = float] mask == nullptr was false"
    assert seen(failure(message), Verdict.CRASH) == "InternalError: Compute(…) mask == nullptr was false"


def test_text_without_a_signature_stays_as_it_is() -> None:
    for text in ("Check failed: shape.size() == indices.size() (1 vs. 0)", "std::bad_alloc", "f(x)", "a::b", "torch.nn::Linear"):
        assert without_signatures(text) == text
    assert without_signatures("a::" * 3_000 + "b(") != ""


def test_every_finding_has_a_script(space: Workspace) -> None:
    asked: list[str | None] = []

    def script_of(finding: Finding, campaign: object) -> WrittenScript:
        asked.append(finding.converter)
        return WrittenScript(f"print('{finding.converter} <&>')", "not run")

    text = page(space, script_of=script_of)
    assert set(asked) == set(findings(space)) - {"Relu"}  # the workspace has that of Relu
    for converter in asked:
        assert f"print(&#39;{converter} &lt;&amp;&gt;&#39;)" in text
    assert "print(&#39;&lt;i&gt;reproduced" in text
    assert text.count('<button type="button" class="copy" hidden>Copy</button><pre') == 3


def test_a_missing_script_has_its_reason(space: Workspace) -> None:
    text = page(space, script_of=lambda finding, campaign: WrittenScript("", "the library <is> broken"))
    assert "No script here: the library &lt;is&gt; broken" in text


def test_scripts_that_do_not_fit_give_their_command(space: Workspace) -> None:
    text = page(space, script_of=lambda finding, campaign: WrittenScript("#" * 20_000, ""))
    assert "the page is full" not in text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_of, "_SCRIPT_BYTES", 30_000)
        text = page(space, script_of=lambda finding, campaign: WrittenScript("#" * 20_000, ""))
    assert re.search(r"Script not shown, because the page is full: <code>opera reproduce \w{16} --no-run --workspace ws</code>", text)
    assert text.count("#" * 20_000) == 1


def test_details_have_the_reduced_call_and_no_internals(space: Workspace) -> None:
    smaller = replace(RESHAPE, init=(Argument("allowzero", 7),))
    reduce(space, findings(space)["Reshape"], ["value", "allowzero", ">", 0], instance=smaller)
    text = text_of(page(space))
    assert "Reduced call ai.onnx.Reshape(" in text
    assert "allowzero=7)" in text
    assert "Expected [3, 2] Got [2, 3]" in text
    assert "opera issue " in text
    for internal in ("probes", "symptom"):
        assert internal not in text.lower()


def test_operators_of_each_library_have_a_table_of_their_own(space: Workspace) -> None:
    never = Instance("onnx", "ai.onnx.Never<b>", Kind.NODE)
    Corpus(space).add([(PYTORCH, Occurrence("opinfo", "abs")), (never, Occurrence("node-tests", "test"))])
    section = page(space).partition('<section id="operators"')[2].partition("</section>")[0]
    onnx, pytorch = section.split("<h3>")[1:]
    assert "ai.onnx.Never&lt;b&gt;" in onnx
    assert onnx.count('<td class="untested">') == 2
    assert 'href="#findings?operator=ai.onnx.Reshape&amp;on=tvm/onnx" title="inconsistent">0/1</a>' in onnx
    assert '<td class="unsupported" title="unsupported">0/1</td>' in onnx
    assert "torch.abs" not in onnx
    assert "Never tested." in pytorch


def test_the_table_of_operators_is_cut_and_says_so(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_of, "_CELLS", 4)
    section = page(space).partition('<section id="operators"')[2].partition("</section>")[0]
    assert "ai.onnx.Relu" in section
    assert "1 more operator not shown, because the page is full: <code>opera matrix --csv FILE --workspace ws</code>" in section


def test_names_for_filters_are_whole_whatever_they_are(space: Workspace) -> None:
    names = [f'ai.onnx.{index:03}\u202e"<\x1b[31m{"é" * 150}' for index in range(250)]
    foreign = [Instance("onnx", name, Kind.NODE) for name in (*names, "x" * 900)]
    Corpus(space).add((each, Occurrence("node-tests", "test")) for each in foreign)
    failed = [
        result(f"e{index:03}", each, "tvm", Verdict.CRASH, Stage.LOAD, converter="X", detail=failure("m"))
        for index, each in enumerate(foreign)
    ]
    Campaigns(space).write("aaaaaaaaaaaa", [(100 + index, each) for index, each in enumerate(failed)])
    rows = [attributes for tag, attributes in Tags(page(space)).found if "data-operators" in attributes]
    known = [json.loads(each["data-operators"] or "") for each in rows]
    assert names[:200] in known


class Session:
    """A worker that dies of its first task, and answers from then on."""

    started: list[Session] = []

    def __init__(self, *_: object) -> None:
        self.closed = False
        Session.started.append(self)

    def start(self) -> Ready:
        return Ready({})

    def ask(self, _: object) -> Done | Lost:
        if len(Session.started) == 1:
            return Lost("signal", "SIGSEGV", "", "", {})
        return Done(to_json(ModelSource(["import onnx"], "model = 1", "")), {})

    def close(self) -> None:
        self.closed = True


def test_a_worker_that_dies_of_a_script_is_replaced(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "started", [])
    monkeypatch.setattr(scripts, "WorkerSession", Session)
    monkeypatch.setattr(scripts, "working_folder", lambda *_: nullcontext(space.folder))
    case = ScriptCase(findings(space)["Relu"].representative, {}, "key")
    with ModelSources(space, Config({})) as sources:
        with pytest.raises(EnvironmentBroken):
            sources(case, Route("onnx", "onnx", "onnx"))
        for _ in range(2):
            assert sources(case, Route("onnx", "onnx", "onnx")).text == "model = 1"
    assert [each.closed for each in Session.started] == [True, True]


def test_a_script_that_cannot_be_written_says_why(space: Workspace) -> None:
    def refuse(*_: object) -> ModelSource:
        raise EnvironmentBroken("onnx cannot be used here: no module; `opera doctor` shows more")

    refusing: Any = refuse
    assert write_script(space, refusing, findings(space)["Relu"], None) == WrittenScript("", "onnx cannot be used here: no module")
    gone: StoredResult = replace(findings(space)["Relu"].representative, instance="0" * 64)
    assert "no longer in the workspace" in write_script(space, refusing, replace(findings(space)["Relu"], representative=gone), None).note
