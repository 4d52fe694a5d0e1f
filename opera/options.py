"""What all commands share on the command line: common options, units, and the way errors become exit codes."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import re
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from opera.errors import EnvironmentBroken, Exit, OperaError, UserError
from opera.interruption import interruptible

F = TypeVar("F", bound=Callable[..., Any])

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Duration(click.ParamType[float]):
    """A duration as `500ms`, `30s`, `10m`, `2h`; a bare number means seconds. Its value is in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a duration; write 30s, 10m or 2h", param, ctx)
        return float(match[1]) * _SECONDS[match[2] or "s"]


class Size(click.ParamType[int]):
    """A size in bytes as `500M`, `4G`; a bare number means bytes. Its value is in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", str(value).strip(), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size; write 500M or 4G", param, ctx)
        return int(float(match[1]) * _BYTES[match[2].upper()])


def common(function: F) -> F:
    """Adds `--workspace`, `--seed` and `--json`, which every command takes."""
    for option in reversed(
        [
            click.option(
                "--workspace", type=click.Path(path_type=Path, file_okay=False), default=Path(".opera"), show_default=True,
                envvar="OPERA_WORKSPACE", help="Folder that holds everything this tool knows.",
            ),
            click.option("--seed", type=int, default=0, show_default=True, envvar="OPERA_SEED", help="Seed of everything random."),
            click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, everything else on stderr."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def print_json(document: dict[str, Any]) -> None:
    """Writes the one JSON document of a command that was called with `--json`."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=False) + "\n")
    sys.stdout.flush()


def say(message: str = "", *, quiet: bool = False) -> None:
    """Prints a line for a person: to standard error, where it never disturbs a JSON document."""
    if not quiet:
        click.echo(message, err=True)


def guarded(command: click.Command, arguments: list[str] | None = None, name: str = "opera") -> int:
    """Runs *command* and turns whatever happens into the documented exit code."""
    try:
        with interruptible():
            outcome = command.main(args=arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message())
        return Exit.USER_ERROR
    except click.UsageError as error:
        error.show()
        return Exit.USER_ERROR
    except click.ClickException as error:
        return _complain(error.format_message(), Exit.USER_ERROR)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted; what was finished is saved, and the same command continues", Exit.INTERRUPTED)
    except BrokenPipeError:
        return _quiet_pipe()
    except Exception as error:
        known = explain(error)
        if known is not None:
            return _complain(str(known), known.exit_code)
        traceback.print_exc()
        return _complain("this is a bug in opera; the traceback above belongs into the report", Exit.INTERNAL_ERROR)
    return int(outcome) if isinstance(outcome, int) else Exit.CLEAN


def explain(error: BaseException) -> OperaError | None:
    """The message that a person should see instead of *error*; None when it is a bug of ours."""
    if isinstance(error, OperaError):
        return error
    if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
        return EnvironmentBroken("no space left where the workspace lies; free some and run the same command again")
    if isinstance(error, sqlite3.OperationalError) and "readonly" in str(error):
        return EnvironmentBroken("the workspace is read-only; make it writable, or use a copy with --workspace")
    if isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error):
        way = "move it away or choose another --workspace; `sqlite3 opera.db .recover` prints what can be read of it"
        return UserError(f"the workspace's opera.db is damaged ({error}); {way}")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f" while writing {error.filename}" if error.filename else ""
        return EnvironmentBroken(f"no space left on the device{where}; free some and run the same command again")
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        return EnvironmentBroken(
            f"{error.filename or 'the disk'} is read-only; make it writable, or choose another folder with --workspace"
        )
    if isinstance(error, PermissionError):
        return EnvironmentBroken(f"no permission for {error.filename}; choose another folder with --workspace")
    return None


def _complain(message: str, code: Exit) -> int:
    with contextlib.suppress(OSError):  # the terminal may be gone
        click.echo(f"opera: {message}", err=True)
    return code


def _quiet_pipe() -> int:
    """The reader of our output went away (`opera report | head`): no reason for noise."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.CLEAN


def stage(command: click.Command, name: str) -> Callable[[], None]:
    """The `main` of a stage module (`python -m opera.extract`)."""

    @functools.wraps(guarded)
    def main() -> None:
        sys.exit(guarded(command, name=name))

    return main
