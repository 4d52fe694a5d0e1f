"""Runs commands of OPERA without starting an interpreter: in this process, or in a copy of it, so that nothing is imported again.

A command has a folder, variables and a module search path of its own. What a process alone shows (signals, exit by a signal, what it leaves
behind) is tested with `Copied`; the start itself, and what depends on the interpreter, with real ones.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import click

from opera.cli import command as opera
from opera.cli.options import guarded


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def returncode(self) -> int:
        """The exit code, as `subprocess.CompletedProcess` calls it."""
        return self.code

    @property
    def json(self) -> dict[str, Any]:
        """The one document on standard output; fails where anything else is there."""
        return json.loads(self.stdout)


def run(*arguments: str, folder: Path, module: str = "opera", variables: Mapping[str, str] | None = None) -> Outcome:
    """Runs `python -m MODULE ARGUMENTS` in *folder*, as `main` of that module would.

    Args:
        arguments: Of the command line.
        folder: The working folder.
        module: `opera`, or the module of one stage.
        variables: Added to the environment; folders of `PYTHONPATH` come first on the module search path.
    """
    given = dict(variables or {})
    command: click.Command = opera if module == "opera" else importlib.import_module(f"{module}.__main__").command
    with _as_process(folder, given) as (stdout, stderr):
        code = guarded(command, list(arguments), name=module)
    return Outcome(int(code), _text(stdout), _text(stderr))


class Copied(subprocess.Popen[str]):
    """Runs `python -m MODULE ARGUMENTS` in a copy of this process, in a session of its own, with pipes as standard streams.

    Args:
        arguments: Of the command line.
        folder: The working folder.
        module: `opera`, or the module of one stage.
        variables: Added to the environment; folders of `PYTHONPATH` come first on the module search path.
    """

    def __init__(self, *arguments: str, folder: Path, module: str = "opera", variables: Mapping[str, str] | None = None) -> None:
        self._given = arguments, folder, module, dict(variables or {})
        super().__init__([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def _execute_child(self, *given: Any) -> None:
        """Copies this process; of what `subprocess` gives, only the ends of two pipes are for the copy."""
        stdout, stderr = given[13], given[15]
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _become(stdout, stderr, *self._given)
        self._child_created = True
        os.close(stdout)
        os.close(stderr)


def _become(output: int, errors: int, arguments: tuple[str, ...], folder: Path, module: str, variables: dict[str, str]) -> NoReturn:
    """Ends as a command ends that was started alone; nothing of the tests is run on the way."""
    code = 70
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.closerange(3, 1024)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        os.chdir(folder)
        os.environ.update(variables)
        sys.path[:0] = [each for each in variables.get("PYTHONPATH", "").split(os.pathsep) if each]
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 (they live as long as the process)
        command: click.Command = opera if module == "opera" else importlib.import_module(f"{module}.__main__").command
        code = int(guarded(command, list(arguments), name=module))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


@contextlib.contextmanager
def _as_process(folder: Path, variables: Mapping[str, str]) -> Generator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Gives the streams of a block that has its own folder, variables and module search path."""
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True)
    stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    first = [each for each in variables.get("PYTHONPATH", "").split(os.pathsep) if each]
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, variables),
        mock.patch.object(sys, "path", [*first, *sys.path]),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        yield stdout, stderr


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")
