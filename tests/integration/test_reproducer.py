"""Running a script that shows a finding: it is kept to limits, told no secrets, and what it leaves behind is ended with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fake.harness import marked

from opera.config import Config
from opera.errors import EnvironmentBroken
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
    assert reproducer.attempt(script, Config({}), HUNG).reproduced == reproduced
    assert ends(int(note.read_text()))


CRASHED = StoredResult(
    "t", "i", "fake", "fake", "file", "runtime", 0, Verdict.CRASH, detail={"failure": {"type": "ValueError", "message": "no"}}
)
LEAKED = StoredResult("t", "i", "fake", "fake", "file", "runtime", 0, Verdict.OOM)


def ran(tmp_path: Path, text: str, result: StoredResult = CRASHED) -> reproducer.Attempt:
    script = tmp_path / "script.py"
    script.write_text(text)
    return reproducer.attempt(script, Config({}), result, tmp_path / "scratch")


def test_a_script_that_lacks_a_package_says_where_to_install_it_and_not_that_the_bug_is_gone(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentBroken, match=r"the script needs absent_library, .* -m pip install absent_library$"):
        ran(tmp_path, "import absent_library\n")
    detail = {"failure": {"type": "ModuleNotFoundError", "message": "No module named 'absent_library'"}}
    assert ran(tmp_path, "import absent_library\n", replace(CRASHED, detail=detail)).reproduced, "the finding itself says so"


@pytest.mark.parametrize("result", [HUNG, CRASHED])
def test_a_daemon_that_holds_the_output_of_a_script_does_not_hide_its_end(tmp_path: Path, result: StoredResult) -> None:
    tried = ran(tmp_path, "import subprocess\nsubprocess.Popen(['sleep', '301'], start_new_session=True)\nraise ValueError('no')\n", result)
    assert tried.reproduced == (result is CRASHED)
    assert "no end" not in tried.message


@pytest.mark.parametrize("last", ["raise ValueError('no')", "try: raise ValueError('no')\nfinally: time.sleep(0.5)"])
def test_the_end_of_a_flood_is_what_a_script_is_judged_by(tmp_path: Path, last: str) -> None:
    flood = "import os, time\nfor _ in range(64):\n    os.write(1, b'x' * 2**20)\n"
    tried = ran(tmp_path, f"{flood}{last}\n")
    assert tried.reproduced
    assert len(tried.output) <= 4000


def test_a_script_that_takes_more_memory_than_a_worker_may_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproducer, "_MEMORY", 200 * 2**20)
    text = "import time\nkept = bytearray(b'x') * (400 * 2**20)\ntime.sleep(100)\n"
    tried = ran(tmp_path, text, LEAKED)
    assert tried.reproduced
    assert "GiB of memory" in tried.message
    assert not ran(tmp_path, text, HUNG).reproduced


def test_a_script_is_told_no_secrets_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    seen = tmp_path / "seen"
    ran(tmp_path, f"import os\nopen({str(seen)!r}, 'w').write(repr(dict(os.environ)))\n")
    environment = seen.read_text()
    assert "secret" not in environment
    assert "'OMP_WAIT_POLICY': 'passive'" in environment
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_script_gets_the_variables_that_its_own_compiler_declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another test of this process may have imported Inductor, which sets its variable for the whole process.
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.delenv("TF_BUILD", raising=False)
    seen = tmp_path / "seen"
    text = f"import json, os\nopen({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))\n"
    ran(tmp_path, text, replace(CRASHED, compiler="inductor"))
    variables = json.loads(seen.read_text())
    assert variables["TORCHINDUCTOR_CACHE_DIR"].startswith(variables["TMPDIR"])
    ran(tmp_path, text, replace(CRASHED, compiler="openvino"))
    variables = json.loads(seen.read_text())
    assert variables["TF_BUILD"] == "opera"
    assert "TORCHINDUCTOR_CACHE_DIR" not in variables


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_script_dies_with_the_command_that_runs_it(tmp_path: Path, how: signal.Signals) -> None:
    note, script = tmp_path / "pid", tmp_path / "script.py"
    script.write_text(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '302'], start_new_session=True)\n"
        f"open({str(note)!r} + '-', 'w').write(f'{{os.getpid()}} {{child.pid}}')\nos.rename({str(note)!r} + '-', {str(note)!r})\n"
        "time.sleep(300)\n"
    )
    code = (
        "import sys; from pathlib import Path; from opera.report import reproducer; from opera.interruption import interruptible;"
        "from opera.config import Config; from opera.oracles.verdict import Verdict; from opera.store import StoredResult\n"
        "with interruptible(): reproducer.attempt(Path(sys.argv[1]), Config({}),"
        " StoredResult('t', 'i', 'fake', 'fake', 'file', 'runtime', 0, Verdict.HANG), Path(sys.argv[2]))"
    )
    command = subprocess.Popen([sys.executable, "-c", code, str(script), str(tmp_path / "scratch")], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not note.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    command.send_signal(how)
    command.wait()
    assert all(ends(int(pid)) for pid in note.read_text().split())
    while marked(command.pid) or list((tmp_path / "scratch").iterdir()):
        assert time.monotonic() < until
        time.sleep(0.02)


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
