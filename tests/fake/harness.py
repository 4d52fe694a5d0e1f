"""A workspace with instances of the fake library, and the real commands on it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.instance import Instance, Occurrence
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace

SITE = Path(__file__).with_name("site")
sys.path.append(str(SITE))
instance: Callable[..., Instance] = importlib.import_module("opera_fake.canary").instance
sys.path.remove(str(SITE))  # what is registered there shall be seen only by those who ask for it
PATIENCE = 60.0
"""Seconds after which a test gives up on something that should have happened."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """The one document on standard output; fails where anything else is there."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Event:
    """A line of the journal that the fake library and the fake compilers write."""

    seconds: float
    pid: int
    what: str
    api: str
    edge: str


class Lab:
    """A folder with a workspace; commands run in processes of their own, with the fake package on their path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "ws"
        self.state = folder / "state"
        self.state.mkdir(parents=True)
        self.drivers: list[int] = []

    def add(self, *instances: Instance) -> None:
        """Puts instances into the workspace."""
        with open_workspace(self.workspace, write=True) as space:
            Corpus(space).add((each, Occurrence("fake", "test")) for each in instances)

    def start(self, *arguments: str, module: str = "opera.run", extra_path: Path | None = None) -> subprocess.Popen[str]:
        """Starts `python -m MODULE ... --workspace ...`."""
        path = str(SITE) if extra_path is None else f"{extra_path}{os.pathsep}{SITE}"
        environment = {**os.environ, "PYTHONPATH": path, "OPERA_FAKE_STATE": str(self.state)}
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments, "--workspace", str(self.workspace)], cwd=self.folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.drivers.append(process.pid)
        return process

    def finish(self, process: subprocess.Popen[str]) -> Outcome:
        """Waits for a command."""
        try:
            stdout, stderr = process.communicate(timeout=2 * PATIENCE)
        finally:
            process.kill()
        return Outcome(process.returncode, stdout, stderr)

    def run(self, *arguments: str, compiler: str = "fake", jobs: int = 2, timeout: str = "5s", extra_path: Path | None = None) -> Outcome:
        """Runs a campaign, with a JSON document."""
        given = ("--compiler", compiler, "--frontend", "fake", "-j", str(jobs), "--timeout", timeout, "--json", *arguments)
        return self.finish(self.start(*given, extra_path=extra_path))

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
        """Command lines of living processes that belong to any campaign of this lab."""
        return [line for driver in self.drivers for line in marked(driver)]

    def scratch(self) -> list[Path]:
        """What lies in the folder for working files."""
        folder = self.workspace / "scratch"
        return list(folder.iterdir()) if folder.exists() else []


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
