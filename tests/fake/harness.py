"""A workspace with instances of the fake library, and commands on it: in this process, or the real ones."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import commands
from commands import Outcome
from fake.pool import LocalPool

from opera.instance import Instance, Occurrence
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace

SITE = Path(__file__).with_name("site")
sys.path.append(str(SITE))
instance: Callable[..., Instance] = importlib.import_module("opera_fake.canary").instance
sys.path.remove(str(SITE))  # what is registered there shall be seen only by those who ask for it
POOLED = ["opera.difftest.session", *(["opera.extensions.replay.calls"] if importlib.util.find_spec("opera.extensions.replay") else [])]
"""Modules whose commands start workers."""
PATIENCE = 60.0
"""Seconds after which a test gives up on something that should have happened."""
GENTLE = frozenset({
    "pass", "raise", "decline", "panic", "megabyte", "unicode", "mute", "abort", "exit-0", "exit-3", "sys-exit", "flaky", "abort-once",
    "library-abort-once", "moody", "no-space", "no-array", "slow", "lie-value", "lie-shape", "lie-dtype", "lie-odd-dtype", "lie-nan",
    "lie-count", "lie-structure", "lie-nothing", "lie-float32", "lie-optimised", "lie-otherwise", "rejects", "undefined", "imprecise",
    "on-the-edge", "captured-wrong", "capture-fails", "export-fails", "export-flaky", "export-aborts",
})  # fmt: skip
"""Behaviours that do nothing to the process of a worker but to end it."""


@dataclass(frozen=True)
class Event:
    """A line of the journal that the fake library and the fake compilers write."""

    seconds: float
    pid: int
    what: str
    api: str
    edge: str


class Lab:
    """A folder with a workspace; commands on it have the fake package on their path.

    `run` and `opera` run a command in this process, with workers that have no processes; `start` and `run_in_processes` run the real one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "ws"
        self.state = folder / "state"
        self.state.mkdir(parents=True)
        self.drivers: list[int] = []
        self._behaviours: set[str] = set()

    def add(self, *instances: Instance) -> None:
        """Puts instances into the workspace."""
        self._behaviours |= {str(each.value) for one in instances for each in one.init if each.name in ("compiler", "library")}
        with open_workspace(self.workspace, write=True) as space:
            Corpus(space).add((each, Occurrence("fake", "test")) for each in instances)

    def start(self, *arguments: str, module: str = "opera.run", extra_path: Path | None = None) -> subprocess.Popen[str]:
        """Starts `python -m MODULE` on the workspace; modules of *extra_path* are seen by an interpreter that starts."""
        variables = self._variables()
        if extra_path is None:
            process: subprocess.Popen[str] = commands.Copied(*arguments, folder=self.folder, module=module, variables=variables)
        else:
            variables["PYTHONPATH"] = f"{extra_path}{os.pathsep}{SITE}"
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments], cwd=self.folder, env={**os.environ, **variables}, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        self.drivers.append(process.pid)
        return process

    def _variables(self) -> dict[str, str]:
        """The environment of a command: the workspace is a variable, because some commands have no such option."""
        return {"PYTHONPATH": str(SITE), "OPERA_FAKE_STATE": str(self.state), "OPERA_WORKSPACE": str(self.workspace)}

    def finish(self, process: subprocess.Popen[str]) -> Outcome:
        """Waits for a command."""
        try:
            stdout, stderr = process.communicate(timeout=2 * PATIENCE)
        finally:
            process.kill()
        return Outcome(process.returncode, stdout, stderr)

    def opera(self, *arguments: str, module: str = "opera", variables: Mapping[str, str] | None = None) -> Outcome:
        """Runs `python -m MODULE` on the workspace, in this process; campaigns and replays have workers that have no processes."""
        assert self._behaviours <= GENTLE, f"only processes survive {sorted(self._behaviours - GENTLE)}: use run_in_processes"
        with contextlib.ExitStack() as patches:
            for each in POOLED:
                patches.enter_context(mock.patch(f"{each}.WorkerPool", LocalPool))
            return commands.run(*arguments, folder=self.folder, module=module, variables={**self._variables(), **(variables or {})})

    def run(self, *arguments: str, compiler: str = "fake", jobs: int = 2) -> Outcome:
        """Runs a campaign with a JSON document, without any process; what only processes do, `run_in_processes` shows."""
        return self.opera("run", *_campaign(compiler, jobs), *arguments)

    def run_in_processes(
        self, *arguments: str, compiler: str = "fake", jobs: int = 2, timeout: str = "5s", extra_path: Path | None = None
    ) -> Outcome:
        """Runs the real command, with real workers, and a JSON document."""
        return self.finish(self.start(*_campaign(compiler, jobs), "--timeout", timeout, *arguments, extra_path=extra_path))

    def stored(self) -> list[StoredResult]:
        """Every result in the workspace."""
        with open_workspace(self.workspace, write=False) as space:
            return list(Campaigns(space).results())

    def results(self) -> dict[str, StoredResult]:
        """The results by name of the operator; one instance per operator."""
        with open_workspace(self.workspace, write=False) as space:
            corpus = Corpus(space)
            pairs = [(corpus.get(each.instance).operator, each) for each in Campaigns(space).results()]
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    def journal(self) -> list[Event]:
        """What the fake library and compilers have noted so far, in the order of time."""
        try:
            lines = (self.state / "journal").read_text().splitlines()
        except FileNotFoundError:
            return []
        rows = (line.split() for line in lines)
        return sorted((Event(float(row[0]), int(row[1]), *[*row[2:], ""][:3]) for row in rows), key=lambda event: event.seconds)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until *condition* holds."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, "it did not happen"
            time.sleep(0.01)

    def left_behind(self) -> list[str]:
        """Command lines of living processes that belong to any command of this lab that had a process."""
        assert self.drivers, "no command had a process, so nothing can be left"
        return [line for driver in self.drivers for line in marked(driver)]

    def scratch(self) -> list[Path]:
        """What lies in the folder for working files."""
        folder = self.workspace / "scratch"
        return list(folder.iterdir()) if folder.exists() else []


def _campaign(compiler: str, jobs: int) -> tuple[str, ...]:
    return ("--compiler", compiler, "--frontend", "fake", "-j", str(jobs), "--json")


def marked(driver: int) -> list[str]:
    """Command lines of living processes that carry the mark of *driver*."""
    mark = f"OPERA_DRIVER={driver}".encode()
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found


def essence(results: Iterable[StoredResult]) -> list[tuple[Any, ...]]:
    """What must not depend on how a campaign went: everything but texts and times."""
    return sorted(
        (each.test, each.instance, each.verdict.value, each.stage and each.stage.value, each.reason, each.converter, each.fingerprint)
        for each in results
    )
