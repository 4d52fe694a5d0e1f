"""Makes and removes virtual environments. An unfinished environment has a mark, and OPERA does not use it."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from opera import __version__
from opera.atomic import lock_file, read_file
from opera.bounded_json import parsed_json
from opera.config import INCOMPLETE, config_file
from opera.environments.pinned import RECORD, made_as
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.environments.recipes import Recipe
from opera.interruption import undisturbed
from opera.workers.program import Program
from opera.workers.supervision import supervised

FOLDER = ".opera-envs"
SHARED = "zz-shared.pth"
"""The file in an environment that names the folders of packages which it shares."""
_LOG = "install.log"
_SPARE = 2.0
"""The required free space, in multiples of the environment's size: pip also unpacks archives there."""
_LAST = 10
"""Lines of pip that are shown when it fails."""
_LOOK_SECONDS = 0.2
_TOLD = re.compile(r"^(Collecting|Installing collected) ")
_NO_NETWORK = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Connection refused",
    "Network is unreachable",
    "ProxyError",
    "ConnectionResetError",
    "SSLError",
    "No route to host",
)
_NO_SPACE = ("No space left on device", "Errno 28", "Disk quota exceeded")


@dataclass(frozen=True)
class EnvironmentFolder:
    """An environment on the disk.

    Attributes:
        name: What it was made as.
        folder: Where it is.
    """

    name: str
    folder: Path

    @property
    def python(self) -> Path:
        """Path of the environment's interpreter."""
        return self.folder / "bin" / "python"

    @property
    def is_ours(self) -> bool:
        """Whether `opera env create` has made this folder."""
        return (self.folder / RECORD).is_file()

    @property
    def is_complete(self) -> bool:
        """Whether its creation came to an end."""
        return self.is_ours and self.python.exists() and not (self.folder / INCOMPLETE).exists()


def home() -> Path:
    """The folder of environments: next to the nearest opera.toml, otherwise in the current folder."""
    file = config_file()
    return (Path.cwd() if file is None else file.parent) / FOLDER


def place(name: str, path: Path | None) -> EnvironmentFolder:
    """Where the environment *name* is or will be: *path*, or its usual place."""
    return EnvironmentFolder(name, (home() / name) if path is None else path.absolute())


def record_of(folder: Path) -> EnvironmentFolder | None:
    """The environment in *folder*, if `opera env create` has made it."""
    name = made_as(folder)
    return None if name is None else EnvironmentFolder(name, folder)


def made_at(where: EnvironmentFolder) -> str:
    """When the environment was made, as a text that sorts by time; empty for one that is not ours."""
    try:
        return str(cast("dict[str, object]", parsed_json(read_file(where.folder / RECORD)))["made"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def create(
    recipe: Recipe, where: EnvironmentFolder, python: str | None, *, again: bool, tell: Callable[[str], None], shared: Sequence[str] = ()
) -> None:
    """Makes the environment, or raises and leaves nothing of it.

    Args:
        recipe: What is installed.
        where: The folder; it must not exist, unless it is an environment of ours that is not finished.
        python: The interpreter that it is made from; None means the one that runs this.
        again: Whether to remove a finished environment and make it again.
        tell: Takes lines that say how it goes.
        shared: Folders of packages that the environment sees after its own.

    Raises:
        UserError: something else is there already.
        EnvironmentBroken: no network, no space, no such version, an installation older than its recipes, or another process is making it.
    """
    if recipe.unknown:
        raise EnvironmentBroken(
            f"this installation of OPERA is older than its sources, and lacks the requirements of {', '.join(map(repr, recipe.unknown))};"
            " install it again (`pip install -e .` for a clone), then run the same command"
        )
    with supervised(), _locked(where) as lock:
        _make_room(recipe, where, again, tell)
        with _all_or_nothing(where):
            _begin(recipe, where)
            tell(f"creating {where.folder}")
            _venv(where, python, lock, with_pip=not any((Path(folder) / "pip").is_dir() for folder in shared))
            if shared:
                _see(where, shared)
            size = f" ({recipe.download:,} MB to load)" if recipe.download else ""
            tell(f"installing {', '.join(each for each in recipe.requirements if not each.startswith('-'))}{size}")
            if shared:  # what is of the version is never shared, though the other environment may have the same today
                _install(recipe, where, lock, tell, "--no-deps", "--ignore-installed")
            _install(recipe, where, lock, tell)
            (where.folder / INCOMPLETE).unlink()


def remove(where: EnvironmentFolder) -> None:
    """Removes an environment of ours; raises UserError when the folder is something else."""
    if not where.is_ours:
        raise UserError(f"{where.folder} was not made by `opera env create`, so nothing was removed; remove the folder by hand")
    with _locked(where):
        (where.folder / INCOMPLETE).touch()
        shutil.rmtree(where.folder)
    with contextlib.suppress(OSError):
        where.folder.parent.joinpath(f".{where.folder.name}.lock").unlink()
        if not where.folder.parent.is_symlink():
            where.folder.parent.rmdir()


@contextmanager
def _locked(where: EnvironmentFolder) -> Generator[int]:
    """Holds the lock of an environment; yields its descriptor, so that a process that outlives this one can hold it as well."""
    if where.folder.is_symlink():
        raise UserError(f"{where.folder} is a link, and OPERA would remove the target's files; remove the link, or choose another --path")
    where.folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(where.folder.parent / f".{where.folder.name}.lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise EnvironmentBroken(f"another process is working on {where.folder}; wait until it ends") from error
        yield lock.fileno()


def _make_room(recipe: Recipe, where: EnvironmentFolder, again: bool, tell: Callable[[str], None]) -> None:
    if where.folder.exists():
        if not where.is_ours and (not where.folder.is_dir() or any(where.folder.iterdir())):
            raise UserError(f"{where.folder} exists and was not made by `opera env create`; choose another --path")
        if where.is_complete and not again:
            raise UserError(f"{where.folder} exists; `opera env create {recipe.name} --again` creates it again")
        if where.is_ours:
            tell(f"removing what is in {where.folder}")
            (where.folder / INCOMPLETE).touch()
        shutil.rmtree(where.folder)
    free = shutil.disk_usage(where.folder.parent).free
    if free < recipe.gigabytes * 1e9 * _SPARE:
        raise EnvironmentBroken(
            f"{recipe.name} takes about {recipe.gigabytes:g} GB, and twice as much during its creation; {where.folder.parent} has"
            f" {free / 1e9:.1f} GB free; free some space, or choose another disk with --path"
        )


@contextmanager
def _all_or_nothing(where: EnvironmentFolder) -> Generator[None]:
    try:
        yield
    except BaseException:
        with undisturbed():
            shutil.rmtree(where.folder, ignore_errors=True)
        raise


def _begin(recipe: Recipe, where: EnvironmentFolder) -> None:
    where.folder.mkdir(parents=True)
    (where.folder / INCOMPLETE).touch()
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    record = {"schema": "environment/1", "name": recipe.name, "opera": __version__, "made": made, "requirements": recipe.requirements}
    (where.folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _venv(where: EnvironmentFolder, python: str | None, lock: int, *, with_pip: bool) -> None:
    command = [python or sys.executable, "-m", "venv", *(() if with_pip else ("--without-pip",)), str(where.folder)]
    try:
        code, printed = _run(command, where, lock, os.environ, lambda line: None)
    except OSError as error:
        raise EnvironmentBroken(f"the interpreter {python} cannot run ({error.strerror}); name another one with --python") from error
    if code:
        raise _failure("the virtual environment cannot be made", printed)


def _see(where: EnvironmentFolder, folders: Sequence[str]) -> None:
    """Lets the environment see the packages of other folders: pip installs only what these lack."""
    for packages in (where.folder / "lib").glob("python3*/site-packages"):
        (packages / SHARED).write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")


def _install(recipe: Recipe, where: EnvironmentFolder, lock: int, tell: Callable[[str], None], *options: str) -> None:
    """Runs pip in the new environment; its output goes into a file of the environment."""
    pins = [] if recipe.pins is None else ["--constraint", str(recipe.pins)]
    command = [
        str(where.python),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
        *options,
        *pins,
        *recipe.requirements,
    ]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER")}

    def told(line: str) -> None:
        if _TOLD.match(line):
            tell("  " + line.strip()[:150])

    code, printed = _run(command, where, lock, environment, told)
    if code:
        for line in printed.splitlines()[-_LAST:]:
            tell("  " + line.rstrip())
        raise _failure(f"pip could not install {recipe.name}", printed)


def _run(
    command: Sequence[str], where: EnvironmentFolder, lock: int, environment: Mapping[str, str], tell: Callable[[str], None]
) -> tuple[int, str]:
    """Runs *command* to its end, which comes with ours at the latest; returns its exit code and what it has printed, line by line told."""
    printed: list[str] = []
    log = where.folder / _LOG
    with log.open("wb") as output, log.open(encoding="utf-8", errors="replace") as reader:
        program = Program(command, output, Path.cwd(), environment, (lock,))
        try:
            ended = False
            while not ended:
                ended = program.wait(_LOOK_SECONDS) is not None
                for line in reader:
                    printed.append(line)
                    tell(line)
            return program.poll() or 0, "".join(printed)
        finally:
            program.end()


def _failure(what: str, output: str) -> EnvironmentBroken:
    """The error for a failed tool, from its output."""
    errors = [line.strip() for line in output.splitlines() if line.startswith("ERROR:")] or output.strip().splitlines()[-1:]
    detail = (errors or ["it printed nothing"])[0][:400]
    if any(sign in output for sign in _NO_SPACE):
        return EnvironmentBroken(f"{what}: no space left on the device; free some space, or choose another disk with --path")
    if any(sign in output for sign in _NO_NETWORK):
        return EnvironmentBroken(f"{what}: the package index cannot be reached ({detail}); check the network, PIP_INDEX_URL and PIP_PROXY")
    if "No module named ensurepip" in output or "ensurepip is not" in output:
        return EnvironmentBroken(f"{what}: this Python lacks ensurepip; install it (Debian: `apt install python3-venv`)")
    return EnvironmentBroken(f"{what}: {detail}")
