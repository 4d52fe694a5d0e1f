"""Each command in a process of its own says what it says in the process of the tests, and ends with the same exit code.

The other tests may then run commands without processes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from fake.harness import Lab, instance

from opera.cli import SECTIONS
from opera.plugins import loaded

SUBJECT = ("--compiler", "fake", "--frontend", "fake")
CASES = {
    "baseline": ("baseline", "check", "known.toml"),
    "bisect": ("bisect", "nothing"),
    "combine": ("combine", "ws"),
    "compare": ("compare", "nothing", "nowhere"),
    "config": ("config", "show"),
    "diff": ("diff", "fake.jsonl", "fake.jsonl"),
    "check": ("check", "nothing.onnx"),
    "doctor": ("doctor", "--compiler", "fake", "-j", "1"),
    "env": ("env", "list", "--json"),
    "equipped": ("equipped", "--lib", "nothing"),
    "evaluate": ("evaluate", "--json", "--seeds", "2"),
    "export": ("export", "jsonl", "-"),
    "extract": ("extract", "--lib", "nothing"),
    "fuzz": ("fuzz", "run", "--policy", "nothing"),
    "import": ("import", "fake.jsonl", "--json"),
    "issue": ("issue", "nothing"),
    "upstream": ("upstream", "fake.jsonl"),
    "verify": ("verify", "nothing"),
    "ls": ("ls", "--json"),
    "localize": ("localize", "nothing.onnx", "--compiler", "nothing"),
    "matrix": ("matrix",),
    "opidiff": ("opidiff", "check", "nothing.yaml"),
    "prioritize": ("prioritize", *SUBJECT, "--strategy", "opera", "--json"),
    "replay": ("replay", "--lib", "fake", "-j", "1", "-q"),
    "repairs": ("repairs", "nothing"),
    "report": ("report",),
    "reproduce": ("reproduce", "nothing"),
    "run": ("run", *SUBJECT, "-q", "-j", "1"),
    "show": ("show", "fake.raises"),
    "stablehlo": ("stablehlo", "run", "nothing.mlir"),
    "top": ("top", "--once", "--json"),
    "triage": ("triage", "--join", "a", "b"),
}
"""A call of each command that starts little."""
VARIES = re.compile(r"\d+(\.\d+)?(?= s\b)|[\d,.]+(?= a second)|(?<=\"seconds\": )[\d.e-]+|^.*\(\d+ s\)\n", re.MULTILINE)
"""How long it took, and the lines that say what a command is doing where it takes long."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace that has results, and files of it."""
    lab = Lab(tmp_path_factory.mktemp("commands"))
    lab.add(instance("raises", "raise"), instance("passes"))
    assert lab.run(jobs=1).code == 1
    assert lab.opera("baseline", "update", "known.toml").code == 0
    assert lab.opera("export", "jsonl", "fake.jsonl").code == 0
    return lab.folder


def test_every_command_has_a_case() -> None:
    known = {name for section in SECTIONS.values() for name in section}
    known |= {name.partition(" ")[0] for each in loaded("opera.commands").values() for name in each.commands}
    assert known == CASES.keys()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ("run", "report", "ls"))) for name in CASES])
def test_a_process_of_its_own_changes_nothing(made: Path, tmp_path: Path, fake_site: Path, name: str) -> None:
    arguments = CASES[name]
    own, ours = (shutil.copytree(made, tmp_path / place) for place in ("own", "ours"))
    command = [sys.executable, "-m", "opera", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(fake_site), "OPERA_WORKSPACE": "ws"}
    done = subprocess.run(command, cwd=own, env=variables, capture_output=True, text=True, check=False)
    expected = commands.Outcome(done.returncode, done.stdout, done.stderr)
    said = [
        (outcome.code, *(VARIES.sub("", each.replace(str(folder), "")) for each in (outcome.stdout, outcome.stderr)))
        for folder, outcome in ((own, expected), (ours, commands.run(*arguments, folder=ours, variables={"OPERA_WORKSPACE": "ws"})))
    ]
    assert said[0] == said[1]
    assert "Traceback" not in said[0][2]
