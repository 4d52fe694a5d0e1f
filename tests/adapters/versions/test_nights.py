"""Nights of TVM on local builds: two planted regressions, a build that cannot be imported, and one whose canary is wrong."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import commands
import pytest

pytestmark = pytest.mark.slow

_IMPORTER = "relax/frontend/onnx/onnx_frontend.py"
_TANH = ("return relax.op.tanh(inputs[0])", "return relax.op.abs(inputs[0])")
_SOFTMAX = ("return relax.op.nn.softmax(inputs[0], axis=axis)\n\n\nclass LogSoftmax", "return planted\n\n\nclass LogSoftmax")
_MATMUL = ("return relax.op.matmul(inputs[0], inputs[1])", "return relax.op.negative(relax.op.matmul(inputs[0], inputs[1]))")
BUILDS = {
    "n1": (),
    "n2": (_TANH,),
    "n3": (_TANH, ("import math", "import no_such_module_at_all")),
    "n4": (_TANH, _MATMUL),
    "n5": (_TANH, _SOFTMAX),
    "n6": (),
}
"""Names of builds, the oldest first, with what is planted in the importer of each."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the builds and the sample instances of ONNX."""
    spec = find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    folder, installed = tmp_path_factory.mktemp("nights"), Path(spec.origin).parent
    lines = ["[compiler.tvm.versions]"]
    for name, edits in BUILDS.items():
        build = folder / "builds" / name / "tvm"
        build.mkdir(parents=True)
        for each in installed.iterdir():
            if each.name == "relax":
                shutil.copytree(each, build / "relax", ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (build / each.name).symlink_to(each)
        text = (build / _IMPORTER).read_text(encoding="utf-8")
        for old, new in edits:
            assert old in text, old
            text = text.replace(old, new, 1)
        (build / _IMPORTER).write_text(text, encoding="utf-8")
        lines.append(f'{name} = {{path = ["builds/{name}"]}}')
    (folder / "opera.toml").write_text("\n".join(lines))
    assert commands.run("import", str(Path(__file__).parents[3] / "corpora" / "samples" / "onnx.jsonl"), folder=folder).code == 0
    return folder


def opera(project: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=project)


def night(project: Path, name: str) -> commands.Outcome:
    options = ("--frontend", "onnx", "--nightly", "--exit-zero", "-k", "tanh or softmax", "--json")
    return opera(project, "run", "--compiler", f"tvm=={name}", *options)


def test_a_week_of_builds(project: Path) -> None:
    first = night(project, "n1")
    assert first.code == 0, first.stderr
    known = json.loads(first.stdout)["findings"]

    second = json.loads(night(project, "n2").stdout)
    assert second["new_findings"] >= 1
    told = opera(project, "bisect", "--new", "--versions", "n1,n2", "--json")
    assert told.code == 0, told.stderr
    assert {each["answer"] for each in json.loads(told.stdout)["findings"]} == {"since n2 (last good n1)"}

    third, fourth = night(project, "n3"), night(project, "n4")
    assert (third.code, fourth.code) == (3, 3)
    assert "no_such_module_at_all" in third.stderr
    assert "canary" in fourth.stderr

    fifth = json.loads(night(project, "n5").stdout)
    assert fifth["findings"] > known + second["new_findings"] - 1
    told = opera(project, "bisect", "--new", "--versions", "n1,n2,n3,n4,n5", "--every", "--json", "--markdown", "bisected.md")
    assert told.code == 0, told.stderr
    (found,) = json.loads(told.stdout)["findings"]
    assert found["answer"] == "since n5 (last good n2)"
    states = {each["version"]: each["state"] for each in found["outcomes"]}
    assert states == {"n1": "good", "n2": "good", "n3": "unrunnable", "n4": "unrunnable", "n5": "bad"}
    assert "since n5 (last good n2)" in (project / "bisected.md").read_text()
    notes = opera(project, "compare", "--versions", "--markdown", "-", "--exit-zero").stdout
    assert notes.startswith("# tvm n5 on onnx: changes since n2\n"), "builds that did not work are no versions"
    assert "## Broken" in notes
    assert "Softmax" in notes

    assert night(project, "n6").code == 0
    changes = json.loads(opera(project, "compare", "--versions", "n5", "n6", "--json").stdout)["subjects"][0]["changes"][0]
    assert {api.rpartition(".")[2] for api in changes["fixed"]} >= {"Tanh", "Softmax"}
    assert changes["broken"] == {}
