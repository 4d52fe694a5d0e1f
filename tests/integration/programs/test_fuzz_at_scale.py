"""10,000 programs: the driver's memory does not grow while they are tested."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

_MEGABYTE = 1024
"""KiB, as the system counts resident memory."""


def resident(process: int) -> int | None:
    """KiB of a process; None when it has ended."""
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1])


@pytest.mark.slow
def test_ten_thousand_programs_take_no_more_memory_than_their_plan(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("operators = 5\nconditional = 0.05\n")
    options = ("-n", "10000", "--subject", "onnxruntime", "--no-triage", "--json")
    command = [sys.executable, "-m", "opera", "fuzz", "run", "--policy", "policy.toml", *options]
    began: list[int] = []
    later: list[int] = []
    with (tmp_path / "out.json").open("wb") as output, (tmp_path / "said.txt").open("wb") as said:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=said)
        while process.poll() is None:
            memory = resident(process.pid)
            done = (tmp_path / "said.txt").read_text().count("in the workspace")
            if memory is not None:
                (later if done else began).append(memory)
            time.sleep(0.5)
    assert process.returncode in (0, 1), (tmp_path / "said.txt").read_text()
    (subject,) = json.loads((tmp_path / "out.json").read_text())["subjects"].values()
    assert subject["executed"] > 9_900
    assert max(began) < 150 * _MEGABYTE
    assert max(later) < 400 * _MEGABYTE
    half = later[len(later) // 2 :]
    assert max(half) - half[0] < 20 * _MEGABYTE
