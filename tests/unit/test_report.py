"""What `opera report`, `opera show` and `opera ls` promise, on small workspaces that no compiler made.

Golden files are rewritten by `python tests/unit/test_report.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reporting import failure, fill, relu, result, stands_alone

from opera import bundle
from opera.calls import call_text
from opera.cli import command
from opera.cli.options import guarded
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace

GOLDEN = Path(__file__).parent.parent / "golden"
EVIL = '<script>alert(1)</script> & "quotes" \x1b[31mred\x1b[0m \x00 \ud800 \u202e end'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
        yield space


def opera(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = guarded(command, [*arguments, "--workspace", "ws"])
    return code, out.getvalue(), err.getvalue()


def document(*arguments: str) -> dict[str, Any]:
    code, out, err = opera(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def page(*arguments: str) -> str:
    code, out, err = opera("report", "--html", "page.html", "--no-scripts", *arguments)
    assert code == 0, err
    assert out == ""
    return Path("page.html").read_text(encoding="utf-8")


def add(space: Workspace, *results: StoredResult) -> None:
    Campaigns(space).write("aaaaaaaaaaaa", ((100 + index, each) for index, each in enumerate(results)))


SNAPSHOTS = {
    "report.txt": ["report"],
    "report.json": ["report", "--json"],
    "show-finding.txt": ["show", "a1000"],
    "ls.txt": ["ls"],
}


def snapshot(name: str) -> str:
    arguments = SNAPSHOTS[name]
    if arguments == ["show", "a1000"]:
        arguments = ["show", document("show", "a1000")["finding"]]
    return opera(*arguments)[1]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_output_is_what_it_was(workspace: Workspace, name: str) -> None:
    assert snapshot(name) == (GOLDEN / name).read_text(encoding="utf-8")


def test_document_counts_each_exporter_failure_once(workspace: Workspace) -> None:
    report = document("report")
    assert report["schema"] == "report/1"
    exported = [each for each in report["findings"] if each["compiler"] == "torch.onnx"]
    assert [(each["tests"], each["met_by"]) for each in exported] == [(2, ["openvino/onnx", "tvm/onnx"])]
    assert report["filtered"] == {"flaky": 1, "invalid: checker": 1, "undefined: precision-policy": 1, "unsupported: no-kernel": 1}
    verified = {each["converter"]: (each["verified"], each["reproducer"]) for each in report["findings"]}
    assert verified["Relu"] == (True, "reproducers/relu.py")
    assert verified["Reshape"] == (False, None)


def test_smallest_instance_represents_a_finding(workspace: Workspace) -> None:
    relu_finding = next(each for each in document("report")["findings"] if each["converter"] == "Relu")
    assert document("show", relu_finding["id"])["call"] in ("ai.onnx.Relu(X=float32[1,2])", "ai.onnx.Relu(X=float32[2,2])")
    assert relu_finding["operators"] == ["ai.onnx.Relu"]


@pytest.mark.parametrize(
    ("options", "compilers"),
    [
        (["--compiler", "tvm"], {"tvm", "torch.onnx"}),
        (["--campaign", "b"], {"torch.onnx"}),
        (["--frontend", "onnx"], {"tvm", "torch.onnx"}),
    ],
)
def test_scope_restricts_the_report(workspace: Workspace, options: list[str], compilers: set[str]) -> None:
    assert {each["compiler"] for each in document("report", *options)["findings"]} == compilers


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["report", "--compiler", "iree"], 4, "openvino/onnx, tvm/onnx"),
        (["report", "--campaign", "c"], 2, "no campaign begins with 'c'"),
        (["show", "a"], 2, "give more digits"),
        (["show", "xyz"], 2, "hexadecimal"),
        (["show", "00000000"], 2, "opera report"),
        (["ls", "--lib", "keras"], 2, "the workspace has onnx"),
    ],
)
def test_wrong_selections_say_what_to_do(workspace: Workspace, arguments: list[str], code: int, says: str) -> None:
    got, out, err = opera(*arguments)
    assert (got, out) == (code, "")
    assert says in err


@pytest.mark.parametrize("name", ["report", "ls"])
def test_an_empty_workspace_is_nothing_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    open_workspace(Path("ws"), write=True).close()
    assert opera(name)[0] == 4


def test_show_knows_findings_tests_and_instances(workspace: Workspace) -> None:
    test = document("show", "a3000")
    assert (test["schema"], test["kind"], test["verdict"]) == ("show/1", "test", "inconsistent")
    assert test["call"] == "ai.onnx.Reshape(data=float32[2,3], shape=int64([3, 2]), allowzero=1)"
    assert document("show", test["finding"])["failing"] == [test["id"]]
    instance = document("show", digest(relu(1))[:12])
    assert (instance["kind"], instance["provenance"]) == ("instance", [{"source": "node-tests", "test": "test_relu", "calls": 2}])
    assert {each["verdict"] for each in instance["tests"]} == {"crash", "unsupported"}


def test_ls_counts_what_is_there(workspace: Workspace) -> None:
    held = document("ls", "--limit", "1")
    (library,) = held["libraries"]
    assert (library["instances"], library["operators"], library["skew"]["top 1"]) == (4, 3, 0.5)
    assert library["largest"] == [{"api": "ai.onnx.Relu", "instances": 2, "up_to_dtype": 2}]
    assert held["sources"][0]["dropped"] == 4
    assert [(each["id"], each["tests"], each["complete"]) for each in held["campaigns"]] == [
        ("aaaaaaaaaaaa", 5, True),
        ("bbbbbbbbbbbb", 5, False),
    ]


def test_page_needs_nothing_else(workspace: Workspace) -> None:
    text = page()
    stands_alone(text)
    assert "@import" not in text
    assert "url(" not in text
    assert "opera reproduce" in text
    assert "print(&#39;&lt;i&gt;reproduced" in text


def test_foreign_text_is_escaped_everywhere(workspace: Workspace) -> None:
    short = EVIL.replace("\ud800", "")
    evil = {"converter": short, "detail": {**failure(EVIL, EVIL), "log": EVIL}}
    name = "ai.onnx." + EVIL.split(" ")[0]
    foreign = Instance("onnx", name, Kind.NODE, call=(Argument("<x>", "</pre><script>alert(2)</script>"),))
    Corpus(workspace).add([(foreign, Occurrence("<b>", "</code><script>alert(3)</script>"))])
    add(
        workspace,
        result("e1", foreign, "tvm", Verdict.CRASH, Stage.LOAD, **evil),
        result("e2", foreign, "tvm", Verdict.INVALID, reason=short),
    )
    text = page()
    stands_alone(text)
    for character in ("\x1b", "\x00", "\u202e", "\ud800"):
        assert character not in text
    assert "&lt;script&gt;alert(1)" in text
    for arguments in (["report"], ["show", "e1000"], ["show", "e1000", "--json"], ["report", "--json"], ["ls"]):
        code, out, _ = opera(*arguments)
        assert code == 0
        assert not re.search("[\x00\x1b\u202e\ud800]", out)


def test_a_megabyte_of_message_is_cut(workspace: Workspace) -> None:
    before = len(page())
    huge = {"converter": "Relu", "detail": {**failure("<&\xff\x07" * 500_000), "log": "&" * 2_000_000}}
    add(workspace, result("d1", relu(1), "tvm", Verdict.CRASH, Stage.RUN, **huge))
    text = page()
    assert "characters left out" in text
    assert len(text) - before < 100_000
    for arguments in (["report"], ["show", "d1000"], ["show", "d1000", "--json"]):
        code, out, _ = opera(*arguments)
        assert code == 0
        assert len(out) < 200_000


def test_what_is_gone_is_said_in_place(workspace: Workspace) -> None:
    blob = bundle.path_of(workspace.blobs, workspace.put_blob(bytes(8192)))
    assert blob.exists()
    blob.unlink()
    gone = Instance("onnx", "ai.onnx.Gone", Kind.NODE)
    shape = {"difference": {"kind": "shape", "output": 0, "expected": "[1]", "actual": "[2]"}}
    add(workspace, result("c1", gone, "tvm", Verdict.INCONSISTENT, Stage.COMPARE, converter="Gone", detail=shape))
    (workspace.folder / "reproducers" / "relu.py").unlink()
    text = page()
    assert "is no longer in the workspace; extract again" in text
    assert "is not in the corpus of this workspace" in text
    assert "reproducers/relu.py is no longer" in text
    assert opera("show", "c1000")[0] == 0
    assert "is no longer in the workspace" in opera("show", "a4000")[1]


def test_same_results_give_the_same_bytes(workspace: Workspace) -> None:
    assert page() == page()


def test_calls_read_like_python() -> None:
    module = Instance(
        "pytorch", "torch.nn.Conv2d", Kind.MODULE, init=(Argument("kernel_size", (3, 3)), Argument("bias", False, keyword=True)),
        call=(Argument("input", Tensor((1, 3, 8, 8), "float32")),),
    )  # fmt: skip
    assert call_text(module) == "torch.nn.Conv2d(kernel_size=(3, 3), bias=False)(input=float32[1,3,8,8])"
    assert call_text(Instance("pytorch", "f", Kind.FUNCTION, call=(Argument("x", [None, (1,), {"a": slice(1, None)}]),))) == (
        "f(x=[None, (1,), {'a': slice(1, None, None)}])"
    )
    assert "… 976 more" in call_text(Instance("pytorch", "f", Kind.FUNCTION, call=(Argument("x", list(range(1000))),)))


def _rewrite() -> None:
    os.environ["COLUMNS"] = "110"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with open_workspace(Path("ws"), write=True) as space:
            fill(space)
        for name in SNAPSHOTS:
            (GOLDEN / name).write_text(snapshot(name), encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    _rewrite()
