"""What is found by entry points, and what where there are none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from opera.compilers.registry import plugins

ROOT = Path(__file__).parents[2]


def test_a_source_tree_that_is_not_installed_knows_its_own_compilers() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from opera.plugins import registered; print(*registered('opera.compilers'))"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(ROOT)], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {name for name, each in plugins().items() if each.target.startswith("opera.")}
