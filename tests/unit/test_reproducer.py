"""Running a script that shows a finding: what it leaves behind is ended with it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from opera.oracles.verdict import Verdict
from opera.report import reproducer
from opera.store import StoredResult

HUNG = StoredResult("t", "i", "fake", "fake", "file", "runtime", 0, Verdict.HANG)


@pytest.mark.parametrize(("rest", "reproduced"), [("", False), ("child.wait()", True)])
def test_a_compiler_that_a_script_has_started_ends_with_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str, reproduced: bool
) -> None:
    monkeypatch.setattr(reproducer, "_TIMEOUT", 1.0)
    note, script = tmp_path / "pid", tmp_path / "script.py"
    started = "child = subprocess.Popen(['sleep', '300'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"
    script.write_text(f"import subprocess\n{started}\nopen({str(note)!r}, 'w').write(str(child.pid))\n{rest}\n")
    assert reproducer.attempt(script, sys.executable, HUNG).reproduced == reproduced
    assert ends(int(note.read_text()))


def ends(pid: int) -> bool:
    """Whether a process is gone, or is about to be."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False
