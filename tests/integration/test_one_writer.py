"""One process at a time writes to a workspace, whatever is done to its files meanwhile."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from opera.cli.options import explain
from opera.errors import EnvironmentBroken, UserError
from opera.store.database import open_workspace

HOLD = (
    "import sys; from pathlib import Path; from opera.store.database import open_workspace\n"
    "with open_workspace(Path(sys.argv[1]), write=True): print('open', flush=True); sys.stdin.read()"
)


@contextmanager
def writer(folder: Path) -> Iterator[int]:
    """Another process that has the workspace open for writing."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"open\n"
        yield process.pid
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def test_a_lock_file_that_is_removed_or_replaced_lets_no_second_writer_in(tmp_path: Path) -> None:
    with writer(tmp_path) as pid:
        with pytest.raises(EnvironmentBroken, match=f"process {pid} is writing"):
            open_workspace(tmp_path, write=True)
        (tmp_path / "lock").unlink()
        with pytest.raises(EnvironmentBroken, match="is writing"):
            open_workspace(tmp_path, write=True)
        (tmp_path / "lock").mkdir()
        with pytest.raises(EnvironmentBroken, match="is writing"):
            open_workspace(tmp_path, write=True)
    open_workspace(tmp_path, write=True).close()


def test_a_folder_whose_database_is_a_link_to_another_ones_has_the_same_writer(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    open_workspace(first, write=True).close()
    second.mkdir()
    (second / "opera.db").symlink_to(first / "opera.db")
    with writer(first) as pid, pytest.raises(EnvironmentBroken, match=f"process {pid} is writing"):
        open_workspace(second, write=True)
    with writer(second) as pid, pytest.raises(EnvironmentBroken, match=f"process {pid} is writing"):
        open_workspace(first, write=True)
    with writer(first):
        first.rename(tmp_path / "third")
        with pytest.raises(EnvironmentBroken, match="is writing"):
            open_workspace(tmp_path / "third", write=True)


def test_a_database_with_two_names_is_not_written_to(tmp_path: Path) -> None:
    open_workspace(tmp_path / "first", write=True).close()
    (tmp_path / "second").mkdir()
    os.link(tmp_path / "first" / "opera.db", tmp_path / "second" / "opera.db")
    for name in ("first", "second"):
        with pytest.raises(UserError, match="hard link"):
            open_workspace(tmp_path / name, write=True)
        open_workspace(tmp_path / name, write=False).close()


def test_locks_of_the_database_outlive_the_end_of_another_connection_of_the_process(tmp_path: Path) -> None:
    """A reader in this process keeps what SQLite has locked for it when a writer in this process closes."""
    open_workspace(tmp_path, write=True).close()
    reader = open_workspace(tmp_path, write=False)
    reader.database.execute("BEGIN")
    reader.database.execute("SELECT count(*) FROM instances").fetchone()
    with open_workspace(tmp_path, write=True) as space, space.transaction() as database:
        database.execute("CREATE TABLE more (x)")
    assert list(tmp_path.glob("opera.db-wal")), "the reader still needs it"
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM more').fetchone(); c.close()"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "opera.db")], check=True)
    assert list(tmp_path.glob("opera.db-wal")), "another process thinks itself the last, and removes the log below the reader"
    with pytest.raises(sqlite3.OperationalError):
        reader.database.execute("SELECT count(*) FROM more")
    reader.close()


def test_a_workspace_that_takes_no_files_is_named_as_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_workspace(tmp_path, write=True).close()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(EnvironmentBroken, match="read-only"):
        open_workspace(tmp_path, write=True)
    monkeypatch.undo()
    open_workspace(tmp_path, write=True).close()


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("attempt to write a readonly database"), OSError(errno.EROFS, "Read-only file system", "/x/y")]
)
def test_a_disk_that_becomes_read_only_is_no_bug_of_ours(error: Exception) -> None:
    assert isinstance(found := explain(error), EnvironmentBroken)
    assert "read-only" in str(found)


def test_the_lock_of_a_killed_writer_is_gone_with_it(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from opera.store.database import open_workspace\n"
        "space = open_workspace(Path(sys.argv[1]), write=True); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)]).returncode == -9
    open_workspace(tmp_path, write=True).close()
