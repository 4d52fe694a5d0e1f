"""A suite that is interrupted goes on where it was, and comes to what an undisturbed run gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake.harness import marked

from opera.extract import Again, ExtractOptions, FileEnded, Item, Recorded, SourceSummary, extract
from opera.store import Corpus
from opera.store.database import open_workspace

TEST = """
import os, subprocess, time
import torch
with open(LOG, "a") as log: log.write(os.path.basename(__file__) + "\\n")

def test_common():
    for _ in range(3): torch.sin(torch.ones(2))

def test_own():
    torch.full((2, NUMBER), 1.5)
    torch.add(torch.ones(2), NUMBER)

def test_waits():
    if NUMBER == 2 and os.path.exists(GATE):
        subprocess.Popen(["sleep", "600"])
        open(GATE + ".reached", "w").close()
        time.sleep(600)
"""


class Suite:
    """Three files that log their runs; the second hangs for as long as the gate is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.gate = folder / "gate"
        (folder / "suite").mkdir()
        for number in (1, 2, 3):
            text = TEST.replace("LOG", repr(str(self.log))).replace("GATE", repr(str(self.gate))).replace("NUMBER", str(number))
            self.file(number).write_text(text)

    def file(self, number: int) -> Path:
        return self.folder / "suite" / f"test_{number}.py"

    def runs(self) -> list[str]:
        """The files that were run since the last call."""
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return [line.removeprefix("test_").removesuffix(".py") for line in text.splitlines()]

    def start(self, workspace: str, *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "opera.extract", "--lib", "pytorch", "--suite", "suite", "--workspace", workspace, "--json", "-q"]
        return subprocess.Popen([*command, "-j", "1", *more], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def extract(self, workspace: str, *more: str) -> dict[str, Any]:
        process = self.start(workspace, *more)
        output, said = process.communicate()
        assert process.returncode == 0, said
        document = json.loads(output)["sources"]["suite"]
        del document["seconds"]
        return document

    def stored(self, workspace: str) -> dict[str, list[tuple[str, int]]]:
        """Every instance with the tests that called it, and how often."""
        with open_workspace(self.folder / workspace, write=False) as space:
            corpus = Corpus(space)
            keys = [key for key, _ in corpus.instances("pytorch")]
            return {key: [(each.test, each.calls) for each in corpus.provenance(key)] for key in keys}


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, list[tuple[str, int]]]]:
    """What an extraction without interruption says and stores."""
    suite = Suite(tmp_path_factory.mktemp("undisturbed"))
    said = suite.extract("w")
    assert suite.runs() == ["1", "2", "3"]
    assert said.pop("files") == {"all": 3, "kept": 0}
    return said, suite.stored("w")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def interrupt(suite: Suite, how: signal.Signals) -> None:
    """Ends an extraction in the middle of the second file; it takes everything with it that it had started."""
    suite.gate.touch()
    process = suite.start("w")
    wait_for(Path(f"{suite.gate}.reached").exists)
    wait_for(lambda: len(suite.stored("w")) > 0)
    os.kill(process.pid, how)
    process.communicate()
    wait_for(lambda: not marked(process.pid))
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    assert suite.runs() == ["1", "2"]
    suite.gate.unlink()


@pytest.mark.slow
def test_a_killed_suite_goes_on_after_the_files_that_it_has_behind_it_and_comes_to_the_same(
    suite: Suite, undisturbed: tuple[dict[str, Any], dict[str, list[tuple[str, int]]]]
) -> None:
    interrupt(suite, signal.SIGKILL)
    continued = suite.extract("w")
    assert suite.runs() == ["2", "3"]
    assert continued.pop("files") == {"all": 3, "kept": 1}
    assert (continued, suite.stored("w")) == undisturbed

    suite.extract("w", "--only", "test_1.py")
    assert suite.runs() == ["1"], "a complete suite starts from the beginning"
    assert suite.stored("w") == undisturbed[1], "and counts nothing twice"


@pytest.mark.slow
def test_a_suite_stopped_by_hand_keeps_the_files_that_it_has_behind_it(suite: Suite) -> None:
    interrupt(suite, signal.SIGINT)
    assert {test for tests in suite.stored("w").values() for test, _ in tests} >= {
        "suite::test_1.py::test_common",
        "suite::test_1.py::test_own",
    }


def items(suite: Suite, scratch: str, ended: dict[str, FileEnded], **how: Any) -> list[Item]:
    folder = suite.folder / scratch
    folder.mkdir()
    options = ExtractOptions(suite=suite.folder / "suite", ended=lambda source: ended if source == "suite" else {}, **how)
    return list(extract("pytorch", scratch=folder, sources=["suite"], how=options))


@pytest.mark.slow
def test_what_was_changed_since_is_run_again_and_nothing_else(suite: Suite) -> None:
    first = items(suite, "a", {}, only=("test_[12].py",))
    ended = {item.entry: item for item in first if isinstance(item, FileEnded)}
    assert suite.runs() == ["1", "2"]
    suite.file(2).write_text(suite.file(2).read_text().replace("torch.sin", "torch.cos"))
    second = items(suite, "b", ended, only=("test_[12].py",))
    assert suite.runs() == ["2"]
    assert "torch.cos" in {item.instance.api for item in second if isinstance(item, Recorded)}
    assert Counter(type(item) for item in second)[FileEnded] == 1
    before, after = (next(item for item in part if isinstance(item, SourceSummary)) for part in (first, second))
    assert (after.calls, after.distinct, after.operators) == (before.calls, before.distinct + 1, before.operators + 1)
    assert (after.files, after.kept, after.tests) == (2, 1, before.tests)
    known = {digest.hex() for digest in ended["test_1.py"].digests}
    assert not [item for item in second if isinstance(item, Recorded) and item.digest in known], "nothing is new twice"
    assert [item for item in second if isinstance(item, Again) and item.digest in known]

    items(suite, "c", ended, arguments=("-k", "own"), only=("test_1.py",))
    assert suite.runs() == ["1"], "other arguments are another run"
