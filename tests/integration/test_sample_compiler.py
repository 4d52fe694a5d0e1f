"""A third party's compiler: one file, installed as its readers are told, and found, checked and driven like OPERA's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "sample_compiler"
GUIDE = ROOT / "docs" / "how-to" / "add-a-compiler.md"


@dataclass(frozen=True)
class Installed:
    """A folder with the sample installed in it, and a workspace."""

    folder: Path

    def opera(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "site")}
        command = [sys.executable, "-m", "opera", *arguments, "--json"]
        run = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert run.returncode == code, run.stderr[-3000:]
        return json.loads(run.stdout)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("third-party")
    source = shutil.copytree(SAMPLE, folder / "source", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", folder / "site"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, source], check=True, capture_output=True)
    found = Installed(folder)
    found.opera("import", str(ROOT / "corpora" / "samples" / "onnx.jsonl"))
    return found


def test_doctor_checks_it(installed: Installed) -> None:
    entries = installed.opera("doctor", "--compiler", "onnx-reference")["adapters"]
    assert [(entry["frontend"], entry["route"], entry["ok"]) for entry in entries] == [("onnx", "onnx", True), ("pytorch", "onnx", True)]


def test_a_campaign_runs_on_it_and_what_it_declines_is_counted(installed: Installed) -> None:
    summary = installed.opera("run", "--compiler", "onnx-reference", "--frontend", "onnx", "-j", "2", "--exit-zero", "--quiet")
    assert summary["complete"]
    assert summary["verdicts"]["pass"] > 0.9 * summary["executed"] > 180
    report = installed.opera("report", "--compiler", "onnx-reference")
    assert "unsupported: not-implemented" in report["filtered"]
    assert all(finding["converter"] for finding in report["findings"])


def test_a_campaign_runs_on_another_librarys_models(installed: Installed) -> None:
    installed.opera("import", str(ROOT / "corpora" / "samples" / "pytorch.jsonl"))
    summary = installed.opera(
        "run", "--compiler", "onnx-reference", "--frontend", "pytorch", "-k", "torch.nn.functional.softmax or torch.nan_to_num", "--quiet",
        "--exit-zero",
    )  # fmt: skip
    assert summary["complete"]
    assert summary["verdicts"] == {"pass": summary["executed"]}


def test_an_environment_of_its_own_can_be_made_for_it(installed: Installed) -> None:
    rows = {row["name"]: row for row in installed.opera("env", "list")["environments"]}
    assert rows["onnx-reference"]["serves"] == ["compiler.onnx-reference"]


def test_the_guide_shows_the_sample_as_it_is() -> None:
    sources = {"toml": SAMPLE / "pyproject.toml", "python": SAMPLE / "opera_onnx_reference.py"}
    blocks = re.findall(r"^```(toml|python)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == set(sources)
    for kind, block in blocks:
        source = sources[kind].read_text(encoding="utf-8")
        assert any(textwrap.indent(block.rstrip(), " " * depth) in source for depth in (0, 4, 8)), block
    whole = [block for _, block in blocks]
    assert all(path.read_text(encoding="utf-8") in whole for path in sources.values())
