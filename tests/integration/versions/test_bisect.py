"""`opera bisect` on versions that are folders with one module each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest

SCRIPT = "import part\nassert part.RESULT == 1, 'Mismatched elements: expected 1'\n"
MODULES = {
    "1.0": "RESULT = 1",
    "1.1": "raise NotImplementedError('too old')",
    "1.2": "RESULT = 1",
    "1.10": "RESULT = 2",
    "2.0": "raise ValueError('another failure')",
    "nightly": "RESULT = 1",
}
"""Versions with what their module does, the oldest first."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with versions of TVM, and a folder of findings with one script."""
    lines = ["[compiler.tvm.versions]"]
    for name, text in MODULES.items():
        (tmp_path / "builds" / name).mkdir(parents=True)
        (tmp_path / "builds" / name / "part.py").write_text(text)
        lines.append(f'"{name}" = {{path = ["builds/{name}"]}}')
    (tmp_path / "opera.toml").write_text("\n".join(lines))
    folder = tmp_path / "findings" / "tvm-onnx"
    folder.mkdir(parents=True)
    (folder / "wrong.py").write_text(SCRIPT)
    row = 'name = "wrong"\nverdict = "inconsistent"\nsummary = "values: expected 1"\noperators = ["ai.onnx.Relu"]'
    (folder.parent / "tvm-onnx.toml").write_text(f'compiler = "tvm"\nfrontend = "onnx"\n[[finding]]\n{row}')
    return tmp_path


def bisect(project: Path, *arguments: str) -> commands.Outcome:
    return commands.run("bisect", *arguments, folder=project)


def test_each_version_has_its_outcome_and_builds_come_after_releases(project: Path) -> None:
    chosen = ",".join(MODULES)
    done = bisect(project, "findings/tvm-onnx/wrong.py", "--versions", chosen, "--json")
    assert done.code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    (found,) = document["findings"]
    states = {each["version"]: each["state"] for each in found["outcomes"]}
    assert states == {"1.0": "good", "1.1": "other", "1.2": "good", "1.10": "bad", "2.0": "other", "nightly": "good"}
    assert found["answer"] == "since 1.10 (last good 1.2), fixed in nightly (last bad 1.10)"
    assert found["name"] == "tvm-onnx/wrong"


def test_a_table_and_a_folder_are_taken_too_and_the_order_is_by_age(project: Path) -> None:
    for target in ("findings", "findings/tvm-onnx.toml"):
        done = bisect(project, target, "--json", "-k", "relu")
        assert done.code == 0, done.stderr
        versions = [each["version"] for each in json.loads(done.stdout)["findings"][0]["outcomes"]]
        assert [each for each in versions if each in MODULES] == list(MODULES)
    assert bisect(project, "findings", "-k", "nothing").code == 4


def test_a_script_without_a_row_fails_as_it_does_in_the_usual_environment(project: Path) -> None:
    (project / "own.py").write_text("import part\nassert part.RESULT == 2\n")
    done = bisect(project, "own.py", "--versions", "1.2,1.10")
    assert done.code == 2
    assert "name its compiler with --compiler" in done.stderr
    text = (
        "try:\n    import part\nexcept ImportError as error:\n    raise ValueError('nothing there') from error\nassert part.RESULT == 2\n"
    )
    (project / "own.py").write_text(text)
    done = bisect(project, "own.py", "--compiler", "tvm", "--versions", "1.2,1.10", "--json")
    assert done.code == 0, done.stderr
    assert [each["state"] for each in json.loads(done.stdout)["findings"][0]["outcomes"]] == ["other", "good"]


def test_a_version_that_contradicts_itself_is_neither_good_nor_bad(project: Path) -> None:
    (project / "builds" / "2.0" / "part.py").write_text(
        f"from pathlib import Path\nseen = Path({str(project / 'seen')!r})\nRESULT = 1 + seen.exists()\nseen.touch()\n"
    )
    done = bisect(project, "findings/tvm-onnx/wrong.py", "--versions", "1.2,1.10,2.0,nightly", "--json")
    assert done.code == 0, done.stderr
    (found,) = json.loads(done.stdout)["findings"]
    states = {each["version"]: (each["state"], each["said"]) for each in found["outcomes"]}
    assert states["2.0"] == ("unrunnable", "contradicts itself: good, then bad")
    assert found["answer"] == "since 1.10 (last good 1.2), fixed in nightly (last bad 1.10)"


def test_a_compiler_with_one_version_leaves_its_findings_out_of_a_folder(project: Path) -> None:
    row = 'name = "wrong"\nverdict = "inconsistent"\nsummary = "values: expected 1"\noperators = ["ai.onnx.Relu"]'
    (project / "findings" / "litert-onnx.toml").write_text(f'compiler = "litert"\nfrontend = "onnx"\n[[finding]]\n{row}')
    done = bisect(project, "findings", "--json")
    assert done.code == 0, done.stderr
    assert "findings of litert are left out" in done.stderr
    assert [each["compiler"] for each in json.loads(done.stdout)["findings"]] == ["tvm"]


def test_what_is_wrong_is_said_before_anything_runs(project: Path) -> None:
    for arguments, said in (
        (("findings", "--versions", "1.0,9.9"), "tvm has no version '9.9' here (there is 1.0, 1.1, 1.2, 1.10, 2.0, nightly)"),
        (("findings", "--versions", "1.0"), "`opera env create tvm==VERSION ...` makes more"),
        (("nothing-of-this-name",), "is neither a finding of the workspace nor a file"),
        (("abc",), "no workspace at"),
    ):
        done = bisect(project, *arguments)
        assert done.code == 2, done.stderr
        assert said in done.stderr


def test_versions_none_of_which_runs_are_a_broken_environment(project: Path) -> None:
    (project / "builds" / "broken").mkdir()
    text = (project / "opera.toml").read_text()
    (project / "opera.toml").write_text(f'{text}\na = "no/such/python"\nb = "no/such/python"\n')
    done = bisect(project, "findings", "--versions", "a,b")
    assert done.code == 3
    assert "no version shows it: 0 of 2 are good" in done.stdout
