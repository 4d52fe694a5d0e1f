"""The how-to for OpiDiff suites: what a reader copies from it runs, in the page's order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "opidiff.md"
BLOCK = re.compile(r"```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)
SLOW = "opera extract"
NOT_HERE = "pip install"


def blocks() -> list[tuple[str, str]]:
    """Language and text of each block of the page."""
    return [(each["language"], each["text"]) for each in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


def entered(folder: Path, commands: str) -> None:
    """Runs the lines of a block; each has to end with 0."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = f'set -e\nopera() {{ "{sys.executable}" -m opera "$@"; }}\npytest() {{ "{sys.executable}" -m pytest "$@"; }}\n{commands}'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False)
    assert done.returncode == 0, f"{commands}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_the_page_has_every_kind_of_command() -> None:
    commands = "".join(text for language, text in blocks() if language == "sh")
    for each in (
        "opidiff schema",
        "opidiff run",
        "export opidiff",
        "export pytest",
        "opera import",
        "pytest -p opera.extensions.opidiff.pytest_plugin",
    ):
        assert each in commands


@pytest.mark.slow
def test_what_the_page_shows_runs(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "models").mkdir()
    suite = tmp_path / "suite.yaml"
    for language, text in blocks():
        if language == "yaml":
            suite.write_text((suite.read_text() if suite.exists() else "") + text)
        elif language == "python":
            (tmp_path / "models" / "mine.py").write_text(text)
        elif language == "sh" and SLOW not in text and NOT_HERE not in text:
            entered(tmp_path, text)
    assert (tmp_path / "support.csv").read_text().count("pass") == 6
    assert "id: linear_vs_mine" in suite.read_text()
    assert list((tmp_path / "opera-tests").rglob("test_*.py"))
    assert "linear__out=3__size=N" in (tmp_path / "again.yaml").read_text()


@pytest.mark.slow
def test_a_suite_of_pytorchs_own_tests_is_written_and_runs(tmp_path: Path) -> None:
    (commands,) = [text for language, text in blocks() if language == "sh" and SLOW in text]
    *made, run = commands.strip().split("\n")
    entered(tmp_path, "\n".join(made))
    entered(tmp_path, f"{run} --exit-zero --id 'a*'")
