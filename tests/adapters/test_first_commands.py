"""`opera` alone says what is here and what comes next; one command more finds a bug, without a library's tests."""

from __future__ import annotations

import re
from pathlib import Path

import commands
import pytest


def opera(folder: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=folder)


def test_without_a_workspace_the_next_command_takes_the_sample_corpus(tmp_path: Path) -> None:
    said = opera(tmp_path)
    assert said.code == 0
    assert "No workspace here" in said.stdout
    assert "opera run --samples --compiler openvino --frontend onnx" in said.stdout
    refused = opera(tmp_path, "run", "--compiler", "onnxruntime", "--frontend", "onnx")
    assert refused.code == 2
    assert "add --samples" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_sample_corpus_shows_a_bug_and_the_command_that_comes_next(tmp_path: Path) -> None:
    run = ("run", "--samples", "--compiler", "openvino", "--frontend", "onnx", "-k", "maxpool or resize or bernoulli or abs")
    first = opera(tmp_path, *run, "--json")
    assert first.code == 1
    assert first.json["new_findings"] > 0
    said = opera(tmp_path).stdout
    assert re.search(r"instances of onnx\.\n1 campaign, the newest openvino/onnx \(complete\)", said)
    listed = re.findall(r"^  (opera \S+)", said, re.MULTILINE)
    assert listed == ["opera triage", "opera report", "opera reproduce", "opera --help"]
    assert opera(tmp_path, *run[:1], *run[2:], "--json").json["executed"] == first.json["executed"], "the same campaign, complete"
    shown = opera(tmp_path, "show", "--json", opera(tmp_path, "report", "--json").json["findings"][0]["id"]).json
    assert shown["versions"]["products"] == "float32", "the precision is kept with the campaign"


@pytest.mark.slow
def test_a_campaign_that_was_stopped_is_continued_by_the_command_that_began_it(tmp_path: Path) -> None:
    run = ("run", "--compiler", "onnxruntime", "--frontend", "onnx", "--cap", "1", "-k", "not pool", "--budget", "1s")
    opera(tmp_path, *run, "--samples", "--exit-zero")
    said = opera(tmp_path).stdout
    assert "(not complete)" in said
    assert "  opera run --compiler onnxruntime --frontend onnx --cap 1 -k 'not pool'  continue this campaign" in said


@pytest.mark.slow
def test_a_campaign_without_a_finding_has_a_next_command_too(tmp_path: Path) -> None:
    run = ("run", "--samples", "--compiler", "onnxruntime", "--frontend", "onnx", "-k", "transpose or gather")
    ran = opera(tmp_path, *run)
    assert ran.code == 0
    assert re.search(r"^campaign \w+: onnxruntime/onnx, \d+ tests, products in float32$", ran.stderr, re.MULTILINE)
    said = opera(tmp_path)
    assert said.code == 0
    assert re.findall(r"^  (opera \S+)", said.stdout, re.MULTILINE) == ["opera matrix", "opera --help"]


def test_a_library_without_a_sample_corpus_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.cli.run.sample_of", lambda library: None)
    refused = opera(tmp_path, "run", "--samples", "--compiler", "onnxruntime", "--frontend", "onnx")
    assert refused.code == 2
    assert "ships no sample" in refused.stderr
