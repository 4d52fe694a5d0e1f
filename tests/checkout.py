"""A copy of the sources, so that nothing is built in the checkout, and nothing that was built there is found."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def container_context() -> tuple[str, ...]:
    """The paths that `.dockerignore` keeps: what the wheel is made of."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return tuple(line[1:] for line in lines if line.startswith("!"))


def copy_of_sources(target: Path) -> Path:
    """Copies what the wheel is made of, links as links, to *target*: files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *container_context()]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        if os.path.lexists(ROOT / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    return target
