"""The tutorial's transcript: its commands run in the page's order, and print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import recordings
from real_campaigns import filled

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = [block.splitlines() for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)]
SHOWN = [(lines[0].removeprefix("$ "), lines[1:]) for lines in BLOCKS if lines[0].startswith(("$ opera", "$ python"))]
LEFT_OUT = "..."
_TIMES = re.compile(r"\d+(?:\.\d+)?(?=/s\b| s\b)| +\d+\.\d$")
"""Seconds and rates, also in the last column of a table."""


def compared(line: str, folder: Path) -> str:
    """A line without what differs from machine to machine."""
    return re.sub(r"\s+", " ", _TIMES.sub(" T", line.replace(str(folder), "/path/to"))).strip()


def entered(command: str, folder: Path) -> list[str]:
    """What a terminal of 140 columns shows of a command."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = f'opera() {{ "{sys.executable}" -m opera "$@"; }}\n{command} 2>&1'
    environment = {**os.environ, "PATH": path, "COLUMNS": "140"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env=environment, check=False, timeout=600)
    return done.stdout.splitlines()


def missing(shown: list[str], printed: list[str], folder: Path) -> list[str]:
    """The lines of *shown* that *printed* does not have, in this order and without other lines between them than `...` stands for."""
    there = [compared(line, folder) for line in printed]
    place, loose = 0, False
    lost: list[str] = []
    for line in shown:
        if line == LEFT_OUT:
            loose = True
            continue
        wanted = compared(line, folder)
        found = there.index(wanted, place) if wanted in there[place:] else None
        if found is None or (found != place and not loose):
            lost.append(line)
        else:
            place, loose = found + 1, loose and line.startswith("installed")
    return lost


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, node_tests: list[Any]) -> Path:
    """A folder with the workspace that the tutorial's reader has after the extraction."""
    made = tmp_path_factory.mktemp("tutorial")
    whole = [line for line in node_tests if not str(line.get("test", "")).endswith("::nodes")]
    filled(made / ".opera", recordings.instances(whole, "*"))
    return made


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=command, marks=[pytest.mark.slow] if "doctor --compiler" in command or "extract" in command else [])
        for number, (command, _) in enumerate(SHOWN)
    ],
)
def test_a_command_of_the_tutorial_prints_what_the_page_shows(folder: Path, tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    command, shown = SHOWN[number]
    if "extract" in command:
        folder = tmp_path_factory.mktemp("recorded")
    printed = [line for line in entered(command, folder) if not re.match(r"node-tests: \d+ of", line)]  # a slow machine's progress
    assert missing(shown, printed, folder) == [], "\n".join(printed)


def test_the_tutorial_has_its_commands() -> None:
    names = [command.split()[1] for command, _ in SHOWN if command.startswith("opera")]
    assert names == ["doctor", "doctor", "extract", "prioritize", "run", "show", "reproduce", "report"]


def test_a_line_that_is_not_printed_is_missing(tmp_path: Path) -> None:
    printed = ["a  1.5", "b", "c"]
    assert missing(["a  2.5", "..."], printed, tmp_path) == []
    assert missing(["a  2.5", "c"], printed, tmp_path) == ["c"]
    assert missing(["...", "d"], printed, tmp_path) == ["d"]
