"""Files of a suite run in copies of one process that has imported the library; where that cannot be, each file has a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from opera.extract.copies import WarmProcess
from opera.extract.description import INSTRUMENTATION
from opera.extract.host import Host
from opera.workers.supervision import supervised

HOST = [sys.executable, str(INSTRUMENTATION / "__main__.py"), "suite", "--library", "onnx"]
ONCE = """
import os, pathlib
with open(os.environ["IMPORTED"], "a") as file: file.write("imported\\n")
"""
THREAD = ONCE + "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
FILE = """
import os, pathlib, once
told = pathlib.Path(os.environ["IMPORTED"]).with_name(f"{os.path.basename(__file__)}.ran")
told.write_text(f"{os.getsid(0)} {os.getpid()} {os.getcwd()}")
os.environ["LEFT"] = "yes" if "LEFT" not in os.environ else exit(3)
print("said")
"""


class Suite:
    """Two files that import one module, and say when that happens."""

    def __init__(self, folder: Path, module: str) -> None:
        self.folder = folder
        self.imported = folder / "imported"
        self._environment = {"PYTHONPATH": str(folder), "IMPORTED": str(self.imported)}
        (folder / "once.py").write_text(module)
        for name in ("a.py", "b.py", "dies.py"):
            (folder / name).write_text(FILE + ("import os; os.kill(os.getpid(), 11)" if name == "dies.py" else ""))
        self.warm = WarmProcess([*HOST, "--import=once"], folder, self._environment)

    def run(self, name: str) -> tuple[str, str]:
        """How the host of a file ends, and what it printed."""
        recording = self.folder / f"{name}.jsonl"
        command = [*HOST, "--recording", str(recording), "--root", str(self.folder), "--file", name, "--runner", "script"]
        host = Host(command, recording, 60, 60, self._environment, launch=self.warm.launch)
        while (ended := host.poll()) is None:
            time.sleep(0.02)
        return ended, host.log_tail()

    @property
    def imports(self) -> int:
        """How often the module was imported."""
        return len(self.imported.read_text().splitlines())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with supervised():
        yield tmp_path


def run_both(suite: Suite) -> None:
    for name in ("a.py", "b.py"):
        assert suite.run(name) == ("", "said\n")
        session, process, work = (suite.folder / f"{name}.ran").read_text().split()
        assert session == process
        assert not Path(work).exists()


def test_what_files_import_is_imported_once(folder: Path) -> None:
    suite = Suite(folder, ONCE)
    suite.warm.prepare()
    run_both(suite)
    assert suite.imports == 1
    suite.warm.close()


def test_a_process_with_threads_is_not_copied(folder: Path) -> None:
    suite = Suite(folder, THREAD)
    suite.warm.prepare()
    run_both(suite)
    assert suite.imports == 3


def test_a_file_that_dies_ends_its_own_copy_only(folder: Path) -> None:
    suite = Suite(folder, ONCE)
    suite.warm.prepare()
    assert suite.run("dies.py")[0] == "killed by SIGSEGV"
    run_both(suite)
    assert suite.imports == 1
    suite.warm.close()


def test_files_run_though_the_warm_process_was_killed(folder: Path) -> None:
    suite = Suite(folder, ONCE)
    suite.warm.prepare()
    os.kill(suite.warm.pid, signal.SIGKILL)
    run_both(suite)
    assert suite.imports == 3
    suite.warm.close()
