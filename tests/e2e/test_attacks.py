"""Every attack of scripts/attack.py is held."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "attack.py"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["files", "code", "documents", "processes", "text"])
def test_every_attack_is_held(kind: str) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--only", kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
