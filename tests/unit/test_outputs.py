"""An output never replaces an input, a file of a workspace, or what a link leads to, whatever the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from reporting import fill

from opera import atomic
from opera.atomic import WORKSPACE_FILES, check_output, lock_file, output
from opera.cli import command as opera
from opera.cli.options import OutputFile, guarded
from opera.errors import UserError
from opera.store.database import open_workspace
from opera.untrusted import read_file


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    atomic.forget_reads()
    return tmp_path


@pytest.fixture
def workspace() -> Path:
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
    return Path("ws")


def commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, with its words."""
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            yield from commands(found, (*words, name))
    else:
        yield words, group


def test_every_option_that_writes_a_file_is_checked() -> None:
    unchecked = [
        (*words, parameter.name)
        for words, each in commands(opera)
        for parameter in each.params
        if isinstance(parameter, click.Option)
        and (parameter.help or "").startswith(("Write", "Also write"))
        and isinstance(parameter.type, click.Path)
        and not isinstance(parameter.type, OutputFile)
    ]
    assert unchecked == []


WRITING = [
    ("report", "--html"), ("report", "--junit"), ("report", "--sarif"), ("report", "--markdown"), ("matrix", "--csv"), ("export", "jsonl"),
]  # fmt: skip


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
@pytest.mark.parametrize("name", sorted(WORKSPACE_FILES))
def test_no_command_writes_over_a_workspace(words: tuple[str, ...], name: str, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = workspace / name
    target = place / "aa" / "file" if name in ("blobs", "cache", "logs") else place
    before = (workspace / "opera.db").read_bytes()
    assert guarded(opera, [*words, str(target), "--workspace", "ws"]) == 2
    assert "belongs to the workspace" in capsys.readouterr().err
    assert (workspace / "opera.db").read_bytes() == before


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_no_command_follows_or_replaces_a_link(words: tuple[str, ...], workspace: Path) -> None:
    Path("victim").write_text("mine")
    Path("link").symlink_to("victim")
    assert guarded(opera, [*words, "link", "--workspace", "ws"]) == 2
    assert (Path("link").is_symlink(), Path("victim").read_text()) == (True, "mine")


def test_no_output_of_a_report_replaces_the_baseline(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(opera, ["baseline", "update", "known.toml", "--workspace", "ws"]) == 0
    before = Path("known.toml").read_bytes()
    os.link("known.toml", "same.toml")
    for name in ("known.toml", "./known.toml", "same.toml"):
        for form in ("--html", "--junit", "--sarif", "--markdown"):
            assert guarded(opera, ["report", "--baseline", "known.toml", form, name, "--workspace", "ws"]) == 2
            assert "is an input of this command" in capsys.readouterr().err
    assert Path("known.toml").read_bytes() == before
    assert guarded(opera, ["baseline", "update", "known.toml", "--workspace", "ws"]) == 0, "this command is there to change it"


def test_two_outputs_do_not_replace_each_other(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(opera, ["report", "--junit", "x", "--sarif", "./x", "--workspace", "ws"]) == 2
    assert "named for two outputs" in capsys.readouterr().err
    assert not Path("x").exists()


def test_what_a_command_has_read_anywhere_is_an_input() -> None:
    Path("included.yaml").write_text("a")
    read_file(Path("included.yaml"))
    with pytest.raises(UserError, match="is an input"), output(Path("included.yaml")) as file:
        file.write(b"b")
    assert Path("included.yaml").read_text() == "a"
    atomic.forget_reads()
    with output(Path("included.yaml")) as file:
        file.write(b"b")
    assert Path("included.yaml").read_text() == "b"


def test_devices_and_new_files_are_no_inputs(workspace: Path) -> None:
    for name in ("/dev/null", "/dev/stdout", "new", "ws/report.html", "elsewhere/checked"):
        check_output(Path(name))
    assert guarded(opera, ["report", "--html", "ws/report.html", "--no-scripts", "--workspace", "ws"]) == 0


@pytest.mark.parametrize("thing", ["link", "folder", "pipe"])
def test_a_file_for_locks_is_a_regular_file(thing: str) -> None:
    Path("victim").write_text("mine")
    lock = Path("lock")
    {"link": lambda: lock.symlink_to("victim"), "folder": lock.mkdir, "pipe": lambda: os.mkfifo(lock)}[thing]()
    with pytest.raises(UserError, match=r"lock cannot be locked \(.+\); remove this file"):
        lock_file(lock)
    assert Path("victim").read_text() == "mine"
