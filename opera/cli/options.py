"""The parts that all commands share: common options, units, and the exit codes of errors."""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import io
import math
import os
import re
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from opera.atomic import check_output, forget_reads
from opera.bounded_json import Malformed
from opera.cli.help import COMMON, heading
from opera.console import STDOUT, LiveLine, complain, cut, one_line, print_text, say
from opera.errors import EnvironmentBroken, Exit, OperaError, UserError
from opera.interruption import interruptible
from opera.models.opsets import NEWEST, OLDEST

F = TypeVar("F", bound=Callable[..., Any])

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 366 * _SECONDS["d"]
_LARGEST = 2**50
_LONGEST_PATTERN = 1_000
_BYTES = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Duration(click.ParamType[float]):
    """A duration as `500ms`, `30s`, `10m`, `2h`; a bare number means seconds. Its value is in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a duration; write 30s, 10m or 2h", param, ctx)
        seconds = float(match[1]) * _SECONDS[match[2] or "s"]
        if not seconds:
            self.fail(f"{value!r} is no time at all; write e.g. 30s", param, ctx)
        if seconds > _LONGEST:
            self.fail(f"{one_line(str(value), 40)!r} is longer than a year; write a shorter duration", param, ctx)
        return seconds


class Size(click.ParamType[int]):
    """A size in bytes as `500M`, `4G`; a bare number means bytes. Its value is in bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", str(value).strip(), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size; write 500M or 4G", param, ctx)
        size = float(match[1]) * _BYTES[match[2].upper()]
        if size < 1:
            self.fail(f"{value!r} is no memory at all; write e.g. 4G", param, ctx)
        if size > _LARGEST:
            self.fail(f"{one_line(str(value), 40)!r} is more than 1024T; write a smaller size", param, ctx)
        return int(size)


class OutputFile(click.Path):
    """A file that the command writes; `-` is standard output. `common` refuses one that is an input of the command too."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if isinstance(path, Path) and not path.parent.exists():
            say(f"the folder {one_line(str(path.parent))} does not exist, and is made")
        return path


class Pattern(click.ParamType[str]):
    """A shell pattern, short enough to be a name's."""

    name = "pattern"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if len(value) > _LONGEST_PATTERN:
            self.fail(f"the pattern has {len(value):,} characters; write at most {_LONGEST_PATTERN:,}", param, ctx)
        return value


class Distance(click.ParamType[float]):
    """A number that is not negative, and finite."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        distance = float(click.FLOAT.convert(value, param, ctx))
        if not 0 <= distance < math.inf:
            self.fail(f"{value!r} is not a distance; write 0 or a positive number", param, ctx)
        return distance


class Opsets(click.ParamType[tuple[int, ...]]):
    """Opsets of ONNX as `13,17,21`, in their order."""

    name = "opsets"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        texts = str(value).split(",")
        if not all(re.fullmatch(r"\s*\d{1,2}\s*", each, re.ASCII) and OLDEST <= int(each) <= NEWEST for each in texts):
            self.fail(f"{one_line(str(value), 40)!r} is not a list of opsets from {OLDEST} to {NEWEST}; write e.g. 13,17,21,25", param, ctx)
        return tuple(sorted({int(each) for each in texts}))


class Count(click.IntRange):
    """A number from *least* to *most*; a larger number is a typing error."""

    def __init__(self, least: int = 1, most: int = 2**31 - 1) -> None:
        super().__init__(least)
        self._most = most

    def _describe_range(self) -> str:
        """Nothing: help need not say that a number of tests is at least 1."""
        return ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(click.INT.convert(value, param, ctx))
        if self.min is not None and number < self.min:
            self.fail(f"{one_line(str(value), 40)} is too small; write at least {self.min:,}", param, ctx)
        if number > self._most:
            self.fail(f"{one_line(str(value), 40)} is too large; write at most {self._most:,}", param, ctx)
        return number


JOBS = Count(most=4096)
"""The type of a number of processes."""
SEEDS = Count(most=10_000)
"""The type of a number of seeds."""
SEED = Count(0, 2**32 - 1)
"""The type of a seed: what every library's own generator takes."""


_option = heading(COMMON)
_HERE = Path(".opera")
_DATABASE = "opera.db"
_NO_PLACE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)
"""Errors that mean that a given name is wrong."""


def found_workspace() -> Path:
    """The nearest workspace, from the current folder upwards; without one, `.opera` in the current folder.

    OPERA uses a workspace of the current folder in any case, and one above only if no other user could have written it.
    """
    from opera.config import nearest

    if (_HERE / _DATABASE).exists():
        return _HERE
    found = nearest(str(_HERE / _DATABASE))
    return _HERE if found is None else Path(os.path.relpath(found.parent))


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "workspace": _option(
        "--workspace",
        type=click.Path(path_type=Path, file_okay=False),
        default=found_workspace,
        show_default="the nearest .opera",
        metavar="DIR",
        envvar="OPERA_WORKSPACE",
        help="Folder with the recorded instances, results and findings.",
    ),
    "seed": _option(
        "--seed", type=SEED, metavar="N", default=0, show_default=True, envvar="OPERA_SEED", help="Seed of all random choices."
    ),
    "as_json": _option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output."),
}


def common(function: F) -> F:
    """Adds those of `--workspace`, `--seed` and `--json` that *function* takes, and a live line; refuses names that are not UTF-8."""

    @functools.wraps(function)
    def checked(*arguments: object, **values: object) -> Any:
        for name, value in values.items():
            texts = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            if any(isinstance(text, str) and re.search("[\ud800-\udfff]", text) for text in texts):
                raise click.UsageError(f"{name.replace('_', '-')} is not UTF-8 text; write it in UTF-8")
        context = click.get_current_context()
        _check_outputs(context)
        with LiveLine(context.command_path, quiet=bool(values.get("quiet"))):
            return function(*arguments, **values)

    made = cast(F, checked)
    taken = inspect.signature(function).parameters
    for name in reversed([name for name in _OPTIONS if name in taken]):
        made = _OPTIONS[name](made)
    return made


def _check_outputs(context: click.Context) -> None:
    """Refuses an output that is named twice, or is another value of the command line; raises UserError."""
    outputs: list[Path] = []
    inputs: list[Path] = []
    for parameter in context.command.params:
        value: object = context.params.get(parameter.name or "")
        if isinstance(parameter.type, OutputFile):
            outputs += [value] if isinstance(value, Path) and value != STDOUT else []
        else:
            values = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            inputs += [Path(each) for each in values if isinstance(each, (str, Path))]
    for index, each in enumerate(outputs):
        if each.resolve() in (other.resolve() for other in outputs[:index]):
            raise UserError(f"{each} is named for two outputs; name a file for each")
        check_output(each, inputs)


def history_option(option: Callable[..., Callable[[F], F]] = click.option) -> Callable[[F], F]:
    """Adds `--history`, by *option*, which may put it under a heading of the help page."""
    return option(
        "--history",
        type=click.Path(dir_okay=False),
        multiple=True,
        is_flag=False,
        flag_value="workspace",
        metavar="[FILE|workspace]",
        help="Count what failed in a recorded campaign, or in campaigns of the workspace (repeatable); without a value, the workspace.",
    )


def guarded(command: click.Command, arguments: list[str] | None = None, name: str = "opera") -> int:
    """Runs *command* and turns its outcome into the documented exit code."""
    forget_reads()
    try:
        if any("\0" in argument for argument in (sys.argv[1:] if arguments is None else arguments)):
            raise click.UsageError("an argument has a NUL character; remove this character")
        with interruptible():
            outcome = command.main(args=arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_text:
        print_text(help_text.format_message() + "\n")
        return Exit.USER_ERROR
    except click.UsageError as error:
        shown = io.StringIO()
        error.show(shown)
        complain(cut(shown.getvalue(), 2_000))
        return Exit.USER_ERROR
    except click.ClickException as error:
        return _complain(error.format_message(), Exit.USER_ERROR)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted; finished work is saved, and the same command continues", Exit.INTERRUPTED)
    except BrokenPipeError:
        return _quiet_pipe()
    except Exception as error:
        known = explain(error)
        if known is not None:
            return _complain(str(known), known.exit_code)
        complain(traceback.format_exc())
        return _complain("this is a bug in OPERA; report it with the traceback above", Exit.INTERNAL_ERROR)
    return int(outcome) if isinstance(outcome, int) else Exit.CLEAN


def explain(error: BaseException) -> OperaError | None:
    """The message to show instead of *error*; None when the error is a bug in OPERA."""
    if isinstance(error, OperaError):
        return error
    if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
        return EnvironmentBroken("no space left on the disk of the workspace; free some space, and run the same command again")
    if isinstance(error, sqlite3.OperationalError) and "readonly" in str(error):
        return EnvironmentBroken("the workspace is read-only; make it writable, or use a copy with --workspace")
    if isinstance(error, Malformed):
        return UserError(f"data that OPERA did not write, or that were damaged: {error}; remove or restore them")
    if isinstance(error, sqlite3.IntegrityError) or (isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)):
        way = "move it away, or choose another --workspace; `sqlite3 opera.db .recover` prints the readable rows"
        return UserError(f"the workspace's opera.db is damaged ({error}); {way}")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f" while writing {error.filename}" if error.filename else ""
        return EnvironmentBroken(f"no space left on the device{where}; free some space, and run the same command again")
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        return EnvironmentBroken(
            f"{error.filename or 'the disk'} is read-only; make it writable, or choose another folder with --workspace"
        )
    if isinstance(error, PermissionError):
        return EnvironmentBroken(f"no permission for {error.filename}; choose another folder with --workspace")
    if isinstance(error, OSError) and error.errno in _NO_PLACE and error.filename:
        return UserError(f"{one_line(str(error.filename))}: {error.strerror}; choose another name")
    return None


def _complain(message: str, code: Exit) -> int:
    with contextlib.suppress(OSError):  # the terminal may be gone
        say(f"opera: {message}")
    return code


def _quiet_pipe() -> int:
    """Ends without a message when the reader of the output has gone (`opera report | head`)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.CLEAN


def stage(command: click.Command, name: str) -> Callable[[], None]:
    """The `main` of a stage module (`python -m opera.extract`)."""

    @functools.wraps(guarded)
    def main() -> None:
        sys.exit(guarded(command, name=name))

    return main
