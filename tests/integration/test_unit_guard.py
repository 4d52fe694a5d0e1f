"""No unit test starts a process or imports a library: what keeps this so notices each way to do it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUARD = Path(__file__).parents[1] / "unit" / "conftest.py"
BAD = {
    "popen": "import subprocess, sys\ndef test_it(): subprocess.run([sys.executable, '-c', ''])",
    "swallowed": "import os\ndef test_it():\n    try: os.system('true')\n    except Exception: pass",
    "fork": "import os\ndef test_it():\n    if os.fork() == 0: os._exit(0)",
    "multiprocessing": "import multiprocessing\ndef test_it(): multiprocessing.get_context('spawn').Process(target=print).start()",
    "fixture": "import os, pytest\n@pytest.fixture(scope='module')\ndef made(): os.system('true')\ndef test_it(made): pass",
    "import": "def test_it(): import onnx",
    "by-name": "import importlib\ndef test_it(): importlib.import_module('onnx')",
    "import-of-the-file": "import onnx\ndef test_it(): pass",
}


def outcome(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """How pytest ends on a unit test of this *text*."""
    shutil.copy(GUARD, folder)
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_unit_test_that_starts_a_process_or_imports_a_library_fails(tmp_path: Path, text: str) -> None:
    done = outcome(tmp_path, text)
    assert done.returncode in (1, 2)
    assert "a unit test " in done.stdout
    assert "move it to tests/integration or tests/adapters" in done.stdout


def test_any_other_test_passes(tmp_path: Path) -> None:
    assert outcome(tmp_path, "import importlib.util\ndef test_it(): assert importlib.util.find_spec('onnx')").returncode == 0
