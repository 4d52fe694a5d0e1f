"""A shell completes the names that a command takes; completion never fails and makes nothing."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from reporting import fill

from opera.cli import command
from opera.cli.options import found_workspace, guarded
from opera.store import Campaigns
from opera.store.database import open_workspace


def complete(*words: str) -> list[str]:
    """What a shell offers for the last of *words*."""
    *before, last = words
    return [each.value for each in ShellComplete(command, {}, "opera", "_OPERA_COMPLETE").get_completions(before, last)]


def test_commands_and_options_are_completed() -> None:
    assert complete("pri") == ["prioritize"]
    assert complete("run", "--max") == ["--maxfail"]


def test_names_depend_on_what_stands_before() -> None:
    assert {"tvm", "openvino", "onnxruntime"} <= set(complete("run", "--compiler", ""))
    with_t = ["tensorrt", "tinygrad", "tvm", "tvm-stablehlo"]
    assert complete("check", "--compilers", "openvino,t") == [f"openvino,{each}" for each in with_t]
    assert complete("run", "--compiler", "t") == with_t
    assert complete("run", "--compiler", "inductor", "--frontend", "") == ["pytorch"]
    assert complete("run", "--compiler", "openvino", "--frontend", "pytorch", "--route", "t") == ["torchscript"]
    assert "opinfo" in complete("extract", "--lib", "pytorch", "--source", "")
    assert "opinfo" not in complete("extract", "--lib", "onnx", "--source", "")
    assert complete("prioritize", "--strategy", "opera-a") == ["opera-adaptive", "opera-artifact"]
    assert complete("extract", "--lib", "") == ["keras", "onnx", "pytorch", "stablehlo", "tensorflow"]


def test_ids_come_from_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_workspace(Path(".opera"), write=True) as space:
        fill(space)
        findings = sorted({str(each.fingerprint) for each in Campaigns(space).results(failures=True)})
        campaigns = {each.id for each in Campaigns(space).all()}
    assert sorted(complete("show", "")) == findings
    assert complete("reproduce", findings[0][:6]) == [findings[0]]
    assert set(complete("report", "--campaign", "")) == campaigns
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert sorted(complete("show", "")) == findings


def test_without_a_workspace_nothing_is_offered_and_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert complete("show", "") == []
    assert complete("report", "--campaign", "") == []
    assert complete("run", "--compiler", "nothing", "--frontend", "") == []
    (tmp_path / ".opera").mkdir()
    (tmp_path / ".opera" / "opera.db").write_text("this is not a database")
    assert complete("show", "") == []
    assert list((tmp_path / ".opera").iterdir()) == [tmp_path / ".opera" / "opera.db"]


def test_the_workspace_is_found_from_a_sub_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert found_workspace() == Path(".opera")
    with open_workspace(tmp_path / ".opera", write=True):
        pass
    assert found_workspace() == Path("../../.opera")
    with open_workspace(below / ".opera", write=True):
        pass
    assert found_workspace() == Path(".opera")


def test_a_workspace_above_that_another_user_could_have_written_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    below = tmp_path / "a"
    below.mkdir()
    monkeypatch.chdir(below)
    with open_workspace(tmp_path / ".opera", write=True):
        pass
    (tmp_path / ".opera" / "opera.db").chmod(0o666)
    assert found_workspace() == Path(".opera")
    assert "another user could have written it" in capsys.readouterr().err


def test_every_option_with_a_name_of_ours_is_completed() -> None:
    """Options that take the name of a compiler, a frontend, a library or a strategy share one type each."""
    group = click.Context(command, info_name="opera")
    for name in command.list_commands(group):
        found = command.get_command(group, name)
        assert found is not None
        inner = [found]
        if isinstance(found, click.Group):
            inner = [each for below in found.list_commands(group) if (each := found.get_command(group, below)) is not None]
        for each in (option for one in inner for option in one.params):
            if {"--compiler", "--frontend", "--lib", "--strategy", "--campaign"} & set(each.opts):
                assert each.type.name in ("name", "names"), (name, each.opts)


def test_a_name_that_is_missing_is_asked_for_with_those_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(command, ["run", "--samples"]) == 2
    assert "Missing option '--compiler'. Choose one of " in capsys.readouterr().err
    assert guarded(command, ["run", "--samples", "--compiler", "inductor"]) == 2
    assert "Missing option '--frontend'. Choose one of pytorch." in capsys.readouterr().err
