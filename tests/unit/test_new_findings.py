"""What `opera report --new` and `--baseline` promise in every form: known findings fail no job, and none is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from reporting import RESHAPE, failure, fill, relu, result
from test_finding_ids import document, opera

from opera.instance import Instance
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.reductions import BY_HAND, Merge, Reductions


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Two findings of TVM, one of both compilers' exporter; the baseline knows the crash of Relu."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
        opera("baseline", "update", "known.toml")
        text = Path("known.toml").read_text(encoding="utf-8")
        relu_table = next(each for each in text.split("[[failure]]") if 'converter = "Relu"' in each)
        Path("known.toml").write_text(f'[[failure]]{relu_table}note = "reported | upstream"\n', encoding="utf-8")
        yield space


def crash(name: str, instance: Instance, message: str) -> StoredResult:
    return result(name, instance, "tvm", Verdict.CRASH, Stage.LOAD, converter="Relu", detail=failure(message))


def by_converter(*arguments: str) -> dict[str, Any]:
    return {each["converter"]: each for each in document("report", *arguments)["findings"]}


def test_a_finding_of_the_baseline_is_known_with_the_note_of_its_table(workspace: Workspace) -> None:
    found = by_converter("--baseline", "known.toml")
    assert {name: each["known"] for name, each in found.items()} == {"Relu": "reported | upstream", "Reshape": None, "torch.onnx": None}
    out, _ = opera("report", "--baseline", "known.toml")
    before, _, after = out.partition("known findings: 1\n")
    assert "new findings of tvm/onnx: 1\n" in before
    assert found["Relu"]["id"][:8] not in before
    assert f"{found['Relu']['id'][:8]}  tvm/onnx: Relu: crash at load\n          known: reported | upstream\n" in after


def test_new_lists_only_what_the_baseline_does_not_have(workspace: Workspace) -> None:
    shown = document("report", "--new", "--baseline", "known.toml")
    assert {each["converter"] for each in shown["findings"]} == {"Reshape", "torch.onnx"}
    assert shown["known_left_out"] == 1
    assert "known findings: 1, not listed" in opera("report", "--new", "--baseline", "known.toml")[0]


def test_new_without_a_baseline_lists_what_the_workspace_did_not_have_before_the_newest_campaign(workspace: Workspace) -> None:
    campaigns = Campaigns(workspace)
    campaigns.begin("cccccccccccc", "tvm", "onnx", {}, {})
    campaigns.write(
        "cccccccccccc", enumerate([crash("c1", relu(1), "another message"), crash("c2", relu(2), "cannot convert value 17 of Relu")])
    )
    workspace.database.execute("UPDATE campaigns SET started = '2999-01-01' WHERE id = 'cccccccccccc'")
    workspace.database.commit()
    shown = document("report", "--new", "--compiler", "tvm")
    assert [each["id"] for each in shown["campaigns"]] == ["cccccccccccc"]
    assert [each["summary"] for each in shown["findings"]] == ["InternalError: another message"]
    assert shown["known_left_out"] == 1


def test_a_finding_with_one_unknown_fingerprint_is_new_as_the_exit_code_of_check_says(workspace: Workspace) -> None:
    other = crash("a7", RESHAPE, "another message")
    Campaigns(workspace).write("aaaaaaaaaaaa", [(7, other)])
    old = by_converter("--baseline", "known.toml")["Relu"]["fingerprints"][0]
    Reductions(workspace).keep_merges([Merge(old, str(other.fingerprint), BY_HAND)])
    assert by_converter("--baseline", "known.toml")["Relu"]["known"] is None


def test_junit_skips_known_findings_and_has_one_outcome_per_case(workspace: Workspace) -> None:
    Campaigns(workspace).write("aaaaaaaaaaaa", [(7, crash("a7", relu(3), "another message"))])
    text = opera("report", "--baseline", "known.toml", "--junit", "-")[0]
    root = ElementTree.fromstring(text)
    cases = [case for case in root.iter("testcase") if case.get("classname") == "tvm/onnx"]
    assert all(len(case) <= 1 for case in cases)
    assert len({case.get("name") for case in cases}) == len(cases)
    (skipped,) = root.iter("skipped")
    assert str(skipped.get("message")).startswith("known: reported | upstream; Relu: crash at load: InternalError: cannot convert")
    for suite in root:
        counts = {"tests": len(suite), "failures": len(suite.findall("*/failure")), "skipped": len(suite.findall("*/skipped"))}
        assert {name: suite.get(name) for name in counts} == {name: str(count) for name, count in counts.items()}


def test_sarif_suppresses_known_findings_with_the_reason(workspace: Workspace) -> None:
    text = opera("report", "--baseline", "known.toml", "--sarif", "-")[0]
    results = json.loads(text)["runs"][0]["results"]
    suppressed = [each["suppressions"] for each in results]
    assert sorted(map(len, suppressed)) == [0, 0, 1]
    (only,) = next(each for each in suppressed if each)
    assert (only["kind"], only["status"], only["justification"]) == ("external", "accepted", "reported | upstream")


def test_markdown_lists_known_findings_apart(workspace: Workspace) -> None:
    text = opera("report", "--baseline", "known.toml", "--markdown", "-")[0]
    new, _, known = text.partition("<summary>1 known finding</summary>")
    assert "### 2 new findings" in new
    assert "| Relu: crash at load |" not in new
    assert "| Relu: crash at load | InternalError: cannot convert value 17 of Relu |" in known.replace("`", "")
    assert "`reported \\| upstream` |" in known


def test_the_page_marks_known_findings(workspace: Workspace) -> None:
    opera("report", "--baseline", "known.toml", "--html", "page.html", "--no-scripts")
    assert Path("page.html").read_text(encoding="utf-8").count("known: reported | upstream") == 1


@pytest.mark.parametrize("form", ["html", "junit", "sarif", "markdown"])
def test_a_dash_is_standard_output(workspace: Workspace, form: str) -> None:
    out, err = opera("report", f"--{form}", "-", "--no-scripts")
    assert out.startswith({"html": "<!DOCTYPE", "junit": "<?xml", "sarif": "{", "markdown": "## OPERA"}[form])
    assert err == "wrote -: 3 findings from 10 tests\n"
    assert not Path("-").exists()


def test_an_adapter_without_a_script_is_not_sent_to_reproduce(workspace: Workspace) -> None:
    lost = result("d1", relu(1), "elsewhere", Verdict.CRASH, Stage.LOAD, converter="Relu", detail=failure("no"))
    Campaigns(workspace).begin("dddddddddddd", "elsewhere", "onnx", {}, {})
    Campaigns(workspace).write("dddddddddddd", [(0, lost)])
    selected = ["--compiler", "elsewhere"]
    for arguments in (["report", *selected], ["show", str(lost.fingerprint)], ["show", "d1000000"]):
        assert "opera reproduce" not in opera(*arguments)[0]
    for form in ("junit", "sarif", "html"):
        text = opera("report", *selected, f"--{form}", "-", "--no-scripts")[0]
        assert "opera show" in text
        assert "opera reproduce" not in text
    assert "opera reproduce" in opera("report", "--compiler", "tvm")[0]
