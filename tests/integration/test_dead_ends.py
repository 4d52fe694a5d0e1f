"""What a person is told who has come to a dead end, and that nothing is made or lost on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import commands
import pytest
from fake.harness import Lab, instance

from opera.extract import SourceSummary


def opera(folder: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=folder)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("extract", "--lib", "onnx", "--only", "none", "--workspace", "/proc/absent"), 3, "choose another folder with --workspace"),
        (("triage",), 2, "opera extract"),
        (("run", "--compiler", "tvm", "--frontend", "onnx", "--baseline", "known.toml"), 2, "opera baseline update known.toml"),
    ],
)
def test_a_message_says_what_to_do_and_nothing_is_made(tmp_path: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    outcome = opera(tmp_path, *arguments)
    assert (outcome.returncode, says in outcome.stderr, "Traceback" in outcome.stderr) == (code, True, False), outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_compiler_in_the_settings_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "opera.toml").write_text('[compiler.tmv]\npython = "bin/python"\n[compiler.tvm]\npython = "bin/python"\n')
    outcome = opera(tmp_path, "config", "show")
    assert outcome.returncode == 0
    assert outcome.stderr.count("opera.toml names") == 1
    assert "did you mean 'tvm'" in outcome.stderr


@pytest.mark.slow
def test_an_extraction_that_recorded_nothing_says_why_and_leaves_the_figures_of_the_last_one(tmp_path: Path) -> None:
    narrow = ("extract", "--lib", "onnx", "--only", "test_abs", "-q")
    assert opera(tmp_path, *narrow, "--option", "inner=no").returncode == 0
    before = json.loads(opera(tmp_path, "ls", "--json").stdout)
    failed = opera(tmp_path, *narrow, "--option", "inner=maybe")
    assert failed.returncode == 4
    assert "invalid choice: 'maybe'" in failed.stdout + failed.stderr
    assert "--option" in failed.stderr
    assert json.loads(opera(tmp_path, "ls", "--json").stdout) == before


def test_a_recorder_that_fails_on_most_calls_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch 2.11 lacks a method of tensors that the recorder called: of 360,720 calls 177,027 were lost, and the command said nothing."""
    lost = {"recorder-error:AttributeError": 9, "noise:attribute": 2}
    summary = SourceSummary("opinfo", 12, 1, 1, lost, (), 1.0, "2.11.0")
    monkeypatch.setattr("opera.cli.extract.record", lambda *_, **__: [summary])
    done = opera(tmp_path, "extract", "--lib", "onnx")
    assert done.code == 3
    assert "recorder fails on most calls of onnx 2.11.0" in done.stderr
    few = replace(summary, dropped={"recorder-error:AttributeError": 2, "noise:attribute": 9})
    monkeypatch.setattr("opera.cli.extract.record", lambda *_, **__: [few])
    assert opera(tmp_path, "extract", "--lib", "onnx").code == 0


def test_a_campaign_that_never_began_is_not_shown_as_an_empty_one(lab: Lab) -> None:
    lab.add(instance("pass"))
    assert lab.run_in_processes(compiler="fake-absent").code == 3
    shown = lab.opera("top", "--once")
    assert shown.code == 2
    assert "opera top CAMPAIGN" in shown.stderr


def test_a_finished_campaign_typed_again_says_that_nothing_was_left(lab: Lab) -> None:
    lab.add(instance("pass"))
    lab.run()
    assert "nothing was left to do" in lab.run().stderr


def test_findings_of_two_compilers_are_not_put_together(lab: Lab) -> None:
    lab.add(instance("raise", "raise"))
    for compiler in ("fake", "fake-levelled"):
        lab.run("--exit-zero", compiler=compiler)
    found = lab.opera("report", "--json").json["findings"]
    assert len(found) == 2
    joined = lab.opera("triage", "--join", *(each["id"] for each in found))
    assert joined.code == 2
    assert "fake/fake" in joined.stderr
    assert "fake-levelled/fake" in joined.stderr
    assert len(lab.opera("report", "--json").json["findings"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lib", "torch"), "unknown library 'torch' (did you mean 'pytorch'?)"),
        (("--lib", "onnx", "--source", "nothing"), "onnx has no source 'nothing'"),
        (("--lib", "onnx", "--option", "nothing=1"), "has no option 'nothing'"),
    ],
)
def test_an_extraction_of_a_wrong_name_leaves_no_workspace(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = commands.run("extract", *arguments, folder=tmp_path)
    assert (outcome.code, message in outcome.stderr) == (2, True), outcome.stderr
    assert list(tmp_path.iterdir()) == []
