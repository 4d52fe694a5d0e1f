"""The workspace folder: `opera.db`, `blobs/` and `cache/`, a lock for the one writer, and errors that say what to do."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Generator
from pathlib import Path

from opera.errors import EnvironmentBroken, UserError
from opera.models import bundle
from opera.store.migrations import STEPS

VERSION = 5
_APPLICATION_ID = 0x4F504552


class Workspace:
    """An open workspace. Use `open_workspace`; close it, or use it as a context manager."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.folder = folder
        self.database = connection
        self._lock = lock

    @property
    def blobs(self) -> Path:
        """Tensors and graphs too large for their document, by hash."""
        return self.folder / "blobs"

    @property
    def cache(self) -> Path:
        """Materialised models and references, by hash; can be deleted at any time."""
        return self.folder / "cache"

    @property
    def scratch(self) -> Path:
        """Working folders of child processes; emptied when the last of them ends."""
        path = self.folder / "scratch"
        path.mkdir(exist_ok=True)
        return path

    def put_blob(self, data: bytes) -> str:
        """Stores *data*; returns its name."""
        return bundle.store(self.blobs, data, durable=True)

    def get_blob(self, name: str) -> bytes:
        """The data stored under *name*; raises ValueError when it is gone or damaged."""
        try:
            return bundle.fetch(self.blobs, name)
        except bundle.DamagedArtefact as error:
            raise ValueError(str(error)) from error

    @contextlib.contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Everything inside is written, or nothing."""
        with self.database:
            yield self.database

    def close(self) -> None:
        """Writes what is pending and lets other writers in."""
        self.database.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_workspace(folder: Path, *, write: bool) -> Workspace:
    """Opens the workspace in *folder*; makes it when *write* is set.

    Raises:
        UserError: there is none, it is of a newer version, or its database is damaged.
        EnvironmentBroken: another process is writing to it, or the disk refuses.
    """
    path = folder / "opera.db"
    if not write and not path.exists():
        raise UserError(f"there is no workspace at {folder}; make one with `opera extract --lib onnx --workspace {folder}`")
    lock = _take_lock(folder) if write else None
    try:
        connection = _connect(path, write)
        if 0 < _version(connection) < VERSION:
            _upgrade(connection, folder, locked=write)
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise
    return Workspace(folder.resolve(), connection, lock)


def _take_lock(folder: Path) -> int:
    """Locks the folder that the database really lies in, so that neither a file removed nor a link lets a second writer in.

    Not the database itself: closing a second descriptor of it would drop the locks that SQLite has on it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        database = Path(os.path.realpath(folder / "opera.db"))
        lock = os.open(database.parent, os.O_RDONLY | os.O_DIRECTORY)
    except (NotADirectoryError, FileExistsError) as error:
        raise UserError(f"{folder} is not a folder; choose another with --workspace") from error
    except FileNotFoundError as error:  # below /proc, say
        raise EnvironmentBroken(f"{folder} cannot be made here; choose another with --workspace") from error
    if not os.access(database.parent, os.W_OK):
        os.close(lock)
        raise EnvironmentBroken(f"{folder} is read-only for this user; copy it, or use another --workspace")
    note = database.parent / "lock"
    try:
        _lock_alone(lock, database, folder, note)
    except BaseException:
        os.close(lock)
        raise
    with contextlib.suppress(OSError):
        note.write_text(f"{os.getpid()}\n", encoding="ascii")
    return lock


def _lock_alone(lock: int, database: Path, folder: Path, note: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = ""
        with contextlib.suppress(OSError, ValueError):
            owner = str(int(note.read_bytes()[:20]))
        raise EnvironmentBroken(f"process {owner or '?'} is writing to {folder}; wait for it, or use another --workspace") from error
    except OSError:  # a file system without locks of folders, as NFS is: two machines must not write at once there
        pass
    if database.exists() and database.stat().st_nlink > 1:
        raise UserError(f"{folder / 'opera.db'} has another name as well (a hard link); copy the folder with `cp -a` and use the copy")


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=30.0, isolation_level="DEFERRED")
        _prepare(connection, path, write)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise EnvironmentBroken(f"{path} is locked by another process; wait for it and try again") from error
        raise EnvironmentBroken(f"cannot open {path}: {error}; check permissions and free space, or use another --workspace") from error
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} is damaged or not a workspace ({error}); move it away or choose another --workspace") from error
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, write: bool) -> None:
    version = _version(connection)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if version > VERSION:
        raise UserError(f"{path} was written by a newer opera (schema {version}, this one knows {VERSION}); upgrade opera")
    if tables and application != _APPLICATION_ID:
        raise UserError(f"{path} is another program's database; choose another --workspace")
    if write:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if not tables:
        schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
        connection.executescript(f"BEGIN;\n{schema}\nPRAGMA application_id = {_APPLICATION_ID};\nPRAGMA user_version = {VERSION};\nCOMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _upgrade(connection: sqlite3.Connection, folder: Path, *, locked: bool) -> None:
    """Brings a workspace of an older version to this one, all of it or nothing; nobody else may write meanwhile."""
    lock = None if locked else _take_lock(folder)
    try:
        for version in range(_version(connection), VERSION):
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                STEPS[version](connection, folder / "blobs")
                connection.execute(f"PRAGMA user_version = {version + 1}")
    except sqlite3.OperationalError as error:
        raise EnvironmentBroken(f"cannot bring {folder} to schema {VERSION}: {error}; check permissions and free space") from error
    finally:
        if lock is not None:
            os.close(lock)
