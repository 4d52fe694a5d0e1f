"""A workspace from elsewhere may hold scripts: none of them runs, and none is shown as one that OPERA has run."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from reporting import fill

from opera.cli import command, reproduce
from opera.cli.options import guarded
from opera.store.database import open_workspace

TEXT = "import numpy\nimport colorsys\nprint(numpy.__name__)\nraise SystemExit('shown')\n"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose findings have the script TEXT."""
    monkeypatch.chdir(tmp_path)
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
    monkeypatch.setattr(reproduce, "render", lambda *_: TEXT)
    return Path("ws")


def finding() -> str:
    with closing(sqlite3.connect("ws/opera.db")) as database:
        return str(database.execute("SELECT fingerprint FROM results WHERE fingerprint IS NOT NULL ORDER BY fingerprint").fetchone()[0])


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert guarded(command, [*arguments, "--json", "--workspace", "ws"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("arguments", [(), ("-o", "there/mine.py")])
def test_no_module_beside_a_script_runs(workspace: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (workspace / "reproducers", Path("there")):
        folder.mkdir(exist_ok=True)
        for name in ("numpy.py", "colorsys.py", "sitecustomize.py"):
            (folder / name).write_text("open('/'.join([__file__.rpartition('/')[0], 'ran']), 'w').close()\n")
    told = document(capsys, "reproduce", finding(), *arguments)
    assert "script" in told
    assert not list(Path().rglob("ran"))
    script = Path("there/mine.py") if arguments else workspace / "reproducers" / f"{finding()}.py"
    assert script.read_text() == TEXT


@pytest.mark.parametrize("plant", ["text", "row", "pipe"])
def test_a_planted_script_is_not_shown_as_one_that_was_run(workspace: Path, plant: str, capsys: pytest.CaptureFixture[str]) -> None:
    document(capsys, "reproduce", finding())
    shown = document(capsys, "show", finding())
    assert shown["script"] == TEXT
    script = workspace / "reproducers" / f"{finding()}.py"
    if plant == "text":
        script.write_text("print('evil')\n")
    elif plant == "pipe":
        script.unlink()
        os.mkfifo(script)
    else:
        with closing(sqlite3.connect(workspace / "opera.db")) as database, database:
            database.execute("UPDATE reproductions SET reproduced = 1 - reproduced")
    after = document(capsys, "show", finding())
    assert after["script"] is None
    if plant == "row":
        assert after["verified"] is False
        assert after["reproducer"] is None
    again = document(capsys, "reproduce", finding())
    assert "script" in again
    assert script.read_text() == TEXT


def test_a_folder_of_scripts_that_is_a_link_is_refused(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for each in (workspace / "reproducers").iterdir():
        each.unlink()
    (workspace / "reproducers").rmdir()
    (tmp_path / "victim").mkdir()
    (workspace / "reproducers").symlink_to(tmp_path / "victim")
    assert guarded(command, ["reproduce", finding(), "--workspace", "ws"]) == 2
    assert "is a link" in capsys.readouterr().err
    assert list((tmp_path / "victim").iterdir()) == []
