"""Whatever ends a command, no process and no folder that it has made stays."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake.harness import Lab, instance, marked
from parameters import quick

from opera.workers import processes, supervision
from opera.workers.supervision import clear, working_folder

DAEMON = """
import os, subprocess, sys, time

def daemon(sleeps):
    "A process in a session of its own, with an empty environment, whose parent is gone."
    subprocess.run(["/usr/bin/setsid", "--fork", "/bin/sleep", sleeps], env={}, check=True)
"""
TEST = (
    DAEMON
    + """
import torch

def test_leaves():
    daemon(SLEEPS)
    torch.sin(torch.ones(2))
    stays = os.path.exists(GATE)
    open(REACHED, "w").close()
    if stays: time.sleep(600)
"""
)


def sleeping(seconds: str) -> list[int]:
    """The processes that sleep for that many seconds: a number that nothing else sleeps for."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"/bin/sleep\0" + seconds.encode() + b"\0":
                found.append(int(entry.name))
    return found


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


class Extraction:
    """A suite with one test that leaves a daemon, and waits as long as a file is there."""

    def __init__(self, folder: Path, sleeps: str) -> None:
        self.folder, self.sleeps = folder, sleeps
        self.gate, self.reached = folder / "gate", folder / "reached"
        (folder / "suite").mkdir()
        text = TEST.replace("SLEEPS", repr(sleeps)).replace("GATE", repr(str(self.gate))).replace("REACHED", repr(str(self.reached)))
        (folder / "suite" / "test_one.py").write_text(text)

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "opera.extract", "--lib", "pytorch", "--suite", "suite", "--workspace", "w", "-q"]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def scratch(self) -> list[str]:
        return [each.name for each in (self.folder / "w" / "scratch").iterdir()]

    def under_way(self) -> subprocess.Popen[bytes]:
        """An extraction whose test has left its daemon, which has lived for a while."""
        self.gate.touch()
        process = self.start()
        wait_for(self.reached.exists)
        time.sleep(2.5)
        assert sleeping(self.sleeps)
        return process


@pytest.fixture
def extraction(tmp_path: Path) -> Iterator[Extraction]:
    made = Extraction(tmp_path, f"{600 + os.getpid() % 1000}.{time.monotonic_ns() % 10**6}")
    yield made
    for pid in sleeping(made.sleeps):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_daemon_without_any_environment_is_gone_when_an_extraction_ends(extraction: Extraction) -> None:
    process = extraction.start()
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert extraction.reached.exists()
    assert sleeping(extraction.sleeps) == []
    assert extraction.scratch() == []


@pytest.mark.parametrize("how", quick([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]))
def test_an_extraction_that_is_ended_leaves_no_process_and_no_folder(extraction: Extraction, how: signal.Signals) -> None:
    process = extraction.under_way()
    process.send_signal(how)
    _, said = process.communicate()
    assert process.returncode == (-9 if how is signal.SIGKILL else 130), said
    wait_for(lambda: not marked(process.pid) and not sleeping(extraction.sleeps) and not extraction.scratch())


@pytest.mark.slow
def test_what_a_killed_extraction_and_its_killed_guardian_leave_the_next_one_clears(extraction: Extraction) -> None:
    process = extraction.under_way()
    (guardian,) = [pid for pid in processes.descendants(process.pid) if b"guardian.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    for pid in (guardian, process.pid):
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert extraction.scratch(), "no process was left to clear"
    extraction.gate.unlink()
    assert extraction.start().wait() == 0
    assert extraction.scratch() == []
    assert marked(process.pid) == []


def test_the_folder_of_a_command_at_work_is_left_alone_and_that_of_a_dead_one_is_not(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from opera.workers.supervision import working_folder\n"
    code += "with working_folder('replay', Path(sys.argv[1])) as folder: print(folder, flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().decode().strip())
    assert theirs.name.startswith(f"replay-{other.pid}-")
    mine, file, link = tmp_path / "my-notes", tmp_path / "replay-1-notes", tmp_path / "crew-1-link"
    mine.mkdir()
    file.write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    link.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "extract-1-dead" / "deep").mkdir(parents=True)
    with working_folder("replay", tmp_path):
        assert theirs.exists()
    assert not (tmp_path / "extract-1-dead").exists()
    assert mine.exists()
    assert file.exists()
    assert (tmp_path / "elsewhere" / "file").exists()
    other.communicate(b"")
    assert not theirs.exists()


def test_a_folder_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crew-1-theirs").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(tmp_path).st_uid + 1)
    clear(tmp_path)
    assert (tmp_path / "crew-1-theirs").exists()


def test_a_working_folder_is_made_among_temporary_files_where_the_workspace_takes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision.tempfile, "tempdir", str(tmp_path))
    with working_folder("replay", Path("/proc/none")) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith(f"opera-replay-{os.getpid()}-")


def test_a_second_interruption_while_the_first_is_obeyed_leaves_nothing(extraction: Extraction) -> None:
    process = extraction.under_way()
    for _ in range(20):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    process.communicate()
    wait_for(lambda: not marked(process.pid) and not sleeping(extraction.sleeps) and not extraction.scratch())


@pytest.mark.parametrize("how", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_a_campaign_ends_by_sigterm_and_sighup_as_by_ctrl_c(lab: Lab, how: signal.Signals) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(60)))
    process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json")
    lab.wait_for(lambda: len(lab.stored()) >= 3)
    process.send_signal(how)
    outcome = lab.finish(process)
    assert outcome.code == 130
    assert outcome.json["stopped_by"] == "interrupt"
    assert outcome.json["executed"] == len(lab.stored())
    assert (lab.left_behind(), lab.scratch()) == ([], [])


@pytest.mark.slow
def test_a_campaign_under_nohup_outlives_its_terminal(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(10)))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json")
    finally:
        signal.signal(signal.SIGHUP, before)
    lab.wait_for(lambda: len(lab.stored()) >= 3)
    process.send_signal(signal.SIGHUP)
    outcome = lab.finish(process)
    assert outcome.code == 0
    assert outcome.json["complete"]


@pytest.mark.slow
def test_a_stopped_driver_that_goes_on_has_lost_nothing_to_deadlines(extraction: Extraction) -> None:
    """The test's own process is stopped as well, for longer than it may take; a busy machine has time left before and after."""
    command = [sys.executable, "-m", "opera.extract", "--lib", "pytorch", "--suite", "suite", "--workspace", "w", "-q", "--timeout", "60s"]
    extraction.gate.touch()
    process = subprocess.Popen(command, cwd=extraction.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(extraction.reached.exists)
    tree = [process.pid, *processes.descendants(process.pid)]
    for pid in tree:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(61)
    for pid in tree:
        os.kill(pid, signal.SIGCONT)
    time.sleep(1)
    assert process.poll() is None, "the 61 seconds do not count"
    process.terminate()
    process.communicate()
    assert process.returncode == 130


@pytest.mark.slow
def test_a_workspace_that_is_moved_while_a_campaign_runs_keeps_what_was_finished_and_none_is_made_in_its_place(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(60)))
    process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json")
    lab.wait_for(lambda: len(lab.stored()) >= 3)
    moved, old = lab.folder / "moved", lab.workspace
    old.rename(moved)
    outcome = lab.finish(process)
    assert outcome.code == 3
    assert "was moved or removed" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (old / "status.json").exists()
    assert lab.left_behind() == []
    lab.workspace = moved
    before = len(lab.stored())
    assert before >= 3
    again = lab.run_in_processes()
    assert again.json["complete"]
    assert lab.scratch() == []
