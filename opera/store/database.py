"""The workspace folder: `opera.db`, `blobs/` and `cache/`, a lock for the one writer, and errors that say what to do."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

from opera import bundle
from opera.atomic import replacing
from opera.console import one_line, option, quoted, say
from opera.errors import EnvironmentBroken, UserError
from opera.store.rows import TABLES, check_schema, checked_rows, copy_sound
from opera.untrusted import MOST_BYTES, Malformed, read_file
from opera.workers.folders import own_folder

VERSION = 1
DATABASE = "opera.db"
_CHECKED = "checked"
"""A file with number, size and time of the database that was made or checked here."""
_APPLICATION_ID = 0x4F504552
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a rollback journal ends that belongs to several files."""


class Workspace:
    """An open workspace. Use `open_workspace`; close it, or use it as a context manager."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: int | None, mark: Path | None = None) -> None:
        self.folder = folder
        self.database = connection
        self._lock = lock
        self._mark = mark

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
        return own_folder(self.folder / "scratch")

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
        _keep_mark(self._mark)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_workspace(folder: Path, *, write: bool, make: bool = True, foreign: bool = False, checked: bool = True) -> Workspace:
    """Opens the workspace in *folder*.

    A database that was not made here is checked row by row, once.

    Args:
        folder: The workspace.
        write: Whether this process will write to it; then no other may.
        make: Whether *write* makes a missing workspace.
        foreign: Whether it is another one than the command works on: nothing in it is changed.
        checked: Whether rows that are not sound are left out, and named on standard error; otherwise the caller reads the database by
            `opera.store.rows.checked_rows`. A database that is written to must not have such rows.

    Raises:
        UserError: the folder has no workspace, a newer version wrote it, or its database is damaged.
        EnvironmentBroken: another process is writing to it, or the disk refuses.
    """
    path = folder / DATABASE
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file; choose another --workspace")
    if path.is_symlink() and not (path.exists() and path.stat().st_size):
        raise UserError(f"{path} is a link without a workspace behind it; choose another --workspace")
    _refuse_journal(path)
    if not (write and make) and not path.exists():
        raise UserError(f"no workspace at {folder}; make one with `opera extract --lib onnx{option(folder)}`")
    lock = _take_lock(folder) if write else _shared_lock(folder) if foreign else None
    try:
        is_new = not path.exists()
        connection = _connect(path, write, foreign=foreign)
        sound = _is_marked(folder, write=write)
        if not (is_new or sound):
            _check_pages(connection, folder)
            connection, sound = _with_sound_rows(connection, folder, write=write) if checked else (connection, False)
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise
    mark = None if foreign or not (is_new or sound) else folder / _CHECKED
    _keep_mark(mark)
    return Workspace(folder.resolve(), connection, lock, mark)


def _refuse_journal(path: Path) -> None:
    """Refuses a rollback journal that names another file: SQLite would remove that file. OPERA's own never does."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        names_another = read_file(journal)[-len(_JOURNAL) :] == _JOURNAL
    except OSError:
        return
    except Malformed:
        names_another = True
    if names_another:
        raise UserError(f"{journal} was not made by OPERA, and could damage other files; remove it, or choose another --workspace")


def _is_marked(folder: Path, *, write: bool) -> bool:
    """Whether this very database was made or checked here. While another process writes to it, its size and time mean nothing."""
    try:
        marked = read_file(folder / _CHECKED, 200).decode("ascii").split()
        now = _identity(folder / DATABASE)
    except (OSError, ValueError):
        return False
    return marked == now or (not write and marked[:1] == now[:1] and _is_written(folder))


def _identity(path: Path) -> list[str]:
    """What changes when a file is replaced or written to: its number on this disk, its size, and when it was changed."""
    found = path.stat()
    return [f"{found.st_dev}:{found.st_ino}", str(found.st_size), str(found.st_mtime_ns)]


def _keep_mark(mark: Path | None) -> None:
    """Writes number, size and time of the sound database into the file *mark*; does nothing for None."""
    with contextlib.suppress(OSError):
        if mark is not None:
            text = " ".join(_identity(mark.with_name(DATABASE))).encode("ascii") + b"\n"
            if not mark.is_file() or read_file(mark, 200) != text:
                with replacing(mark) as file:
                    file.write(text)


def _is_written(folder: Path) -> bool:
    """Whether a process holds the lock of writers."""
    try:
        lock = os.open(Path(os.path.realpath(folder / DATABASE)).parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def _with_sound_rows(connection: sqlite3.Connection, folder: Path, *, write: bool) -> tuple[sqlite3.Connection, bool]:
    """*connection* if each row is what this version writes; else one to a copy in memory of the rows that are. And whether all are.

    Raises:
        UserError: a row is not, and the database is opened for writing.
    """
    bad = [row for table in TABLES for _, row in checked_rows(connection, table) if row is not None]
    if not bad:
        return connection, True
    others = f" and {len(bad) - 1:,} more rows" if len(bad) > 1 else ""
    what = f"{folder / DATABASE} has rows that OPERA did not write ({one_line(bad[0].text, 300)}{others})"
    way = f"`opera combine {quoted(str(folder))} --workspace NEW` takes over the valid rows"
    if write:
        raise UserError(f"{what}; {way}")
    say(f"{what}; they are left out; {way}")
    with contextlib.closing(connection):
        copy = new_database(":memory:")
        list(copy_sound(connection, copy, TABLES))
    return copy, False


def _check_pages(connection: sqlite3.Connection, folder: Path) -> None:
    """Refuses a file whose pages are not a tree: reading it might never end."""
    (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if told != "ok":
        what = str(told).strip().splitlines()[-1][:200]
        raise UserError(f"{folder / DATABASE} is damaged ({what}); `sqlite3 opera.db .recover` prints the readable rows")


def _take_lock(folder: Path) -> int:
    """Locks the folder that the database really lies in, so that neither a file removed nor a link lets a second writer in.

    Not the database itself: closing a second descriptor of it would drop the locks that SQLite has on it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        database = Path(os.path.realpath(folder / "opera.db"))
        lock = os.open(database.parent, os.O_RDONLY | os.O_DIRECTORY)
    except (NotADirectoryError, FileExistsError) as error:
        raise UserError(f"{folder} is not a folder; choose another folder with --workspace") from error
    except FileNotFoundError as error:  # below /proc, say
        raise EnvironmentBroken(f"{folder} cannot be made here; choose another folder with --workspace") from error
    if not os.access(database.parent, os.W_OK):
        os.close(lock)
        raise EnvironmentBroken(f"{folder} is read-only for this user; copy it, or use another --workspace")
    note = database.parent / "lock"
    try:
        _lock_alone(lock, database, folder, note)
    except BaseException:
        os.close(lock)
        raise
    with contextlib.suppress(OSError), replacing(note) as file:
        file.write(f"{os.getpid()}\n".encode("ascii"))
    return lock


def _shared_lock(folder: Path) -> int | None:
    """Keeps writers out of another workspace while it is read, as far as its file system can do that."""
    try:
        lock = os.open(Path(os.path.realpath(folder / DATABASE)).parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return lock


def _lock_alone(lock: int, database: Path, folder: Path, note: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = ""
        with contextlib.suppress(OSError, ValueError):
            owner = str(int(read_file(note, 20)))
        raise EnvironmentBroken(f"process {owner or '?'} is writing to {folder}; wait for it, or use another --workspace") from error
    except OSError:  # a file system without locks of folders, as NFS is: two machines must not write at once there
        pass
    if database.exists() and database.stat().st_nlink > 1:
        raise UserError(f"{folder / 'opera.db'} has a second name (a hard link); copy the folder with `cp -a`, and use the copy")


def _connect(path: Path, write: bool, *, foreign: bool = False) -> sqlite3.Connection:
    try:
        connection = _opened(path, write, foreign)
        _prepare(connection, path, write)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise EnvironmentBroken(f"{path} is locked by another process; wait until it ends, and try again") from error
        raise EnvironmentBroken(f"cannot open {path}: {error}; check permissions and free space, or use another --workspace") from error
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} is damaged, or not a workspace ({error}); move it away, or choose another --workspace") from error
    return connection


def _opened(path: Path, write: bool, foreign: bool) -> sqlite3.Connection:
    """A connection with SQLite's settings for files that may come from a stranger. Without *write*, it cannot change anything.

    SQLite removes its own files `-wal` and `-shm` only where it may write. So they are not made in a folder that is another's, or that
    cannot be written, as long as no writer has made them.
    """
    how = "mode=rwc" if write else "mode=rw"
    if not write and (foreign or not os.access(path.parent, os.W_OK) or not os.access(path, os.W_OK)):
        how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, timeout=30.0, isolation_level="DEFERRED")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", *([] if write else ["query_only = ON"])):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, write: bool) -> None:
    version = _version(connection)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application == _APPLICATION_ID and version != VERSION:
        way = "move it away and extract again, or read it with the OPERA that wrote it"
        raise UserError(f"{path} was written by another version of OPERA (schema {version}, this OPERA reads {VERSION}); {way}")
    if (tables and application != _APPLICATION_ID) or not (tables or write):
        raise UserError(f"{path} is another program's database; choose another --workspace")
    if write:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if not tables:
        _make_tables(connection)
    else:
        try:
            check_schema(connection)
        except Malformed as error:
            raise UserError(f"{path} is damaged, or was not written by OPERA ({error}); choose another --workspace") from error


def new_database(path: Path | str) -> sqlite3.Connection:
    """A connection to a new database with the tables of a workspace; `:memory:` lies in no file."""
    connection = sqlite3.connect(path)
    _make_tables(connection)
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    connection.executescript(f"BEGIN;\n{schema}\nPRAGMA application_id = {_APPLICATION_ID};\nPRAGMA user_version = {VERSION};\nCOMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
