"""Runs commands of OPERA in this process: no interpreter starts, and nothing is imported again.

A command has a folder, variables and a module search path of its own, as a process would. What a process alone shows (signals, exit by a
signal, what it leaves behind, the start itself) is tested with processes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
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


@contextlib.contextmanager
def _as_process(folder: Path, variables: Mapping[str, str]) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
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
