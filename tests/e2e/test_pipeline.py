"""The newcomer's path, whole: extract, prioritise, run, report, reproduce, as separate commands over one workspace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
"""The demo and the tutorial run the same commands."""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace in which the three stages ran, each by its own `python -m`."""
    folder = tmp_path_factory.mktemp("newcomer")
    extracted = run("-m", "opera.extract", "--lib", "onnx", "--json", cwd=folder)
    assert extracted.returncode == 0, extracted.stderr
    figures = json.loads(extracted.stdout)
    assert figures["instances"] >= 1550
    assert figures["operators"] >= 200
    assert figures["sources"]["node-tests"]["calls"] > 1884, "the tests, and the nodes inside those of several"
    ranked = run("-m", "opera.prioritize", "--compiler", "onnxruntime", "--frontend", "onnx", "--json", cwd=folder)
    assert ranked.returncode == 0, ranked.stderr
    assert json.loads(ranked.stdout)["ranked"] == figures["instances"]
    return folder


def test_a_campaign_finds_bugs_and_the_same_command_continues_it(place: Path) -> None:
    command = [
        "-m",
        "opera.run",
        "--compiler",
        "onnxruntime",
        "--frontend",
        "onnx",
        "-k",
        "reducemax or reducemin or softmax",
        "--json",
        "--quiet",
    ]
    partial = run(*command, "--budget", "2s", cwd=place)
    first = json.loads(partial.stdout)
    finished = run(*command, cwd=place)
    summary = json.loads(finished.stdout)
    assert finished.returncode == 1, "new findings are exit code 1"
    assert summary["complete"] is True
    assert summary["campaign"] == first["campaign"]
    assert summary["executed"] == summary["planned"] >= first["executed"]
    assert sum(summary["verdicts"].values()) == summary["executed"]
    assert summary["verdicts"]["pass"] > 80
    assert 0 < summary["findings"] < 30
    assert summary["findings"] == summary["new_findings"]


def test_the_report_lists_what_was_found_and_the_page_stands_alone(place: Path) -> None:
    report = run("-m", "opera", "report", "--json", cwd=place)
    document = json.loads(report.stdout)
    assert document["schema"] == "report/1"
    assert document["findings"]
    keys = {
        "id",
        "compiler",
        "frontend",
        "route",
        "operators",
        "verdict",
        "stage",
        "converter",
        "summary",
        "tests",
        "verified",
        "reproducer",
    }
    assert all(keys <= finding.keys() for finding in document["findings"])
    assert any(reason.startswith("unsupported") for reason in document["filtered"])
    page = run("-m", "opera", "report", "--html", "report.html", cwd=place)
    assert page.returncode == 0, page.stderr
    text = (place / "report.html").read_text(encoding="utf-8")
    assert "<script src" not in text
    assert "http-equiv" in text or "http://" not in text


def test_a_reproducer_needs_nothing_of_ours(place: Path) -> None:
    document = json.loads(run("-m", "opera", "report", "--json", cwd=place).stdout)
    finding = document["findings"][0]
    made = run("-m", "opera", "reproduce", finding["id"], "--json", cwd=place)
    outcome = json.loads(made.stdout)
    assert made.returncode == 0, outcome
    assert outcome["reproduced"] is True
    script = Path(place, outcome["script"])
    assert "opera" not in script.read_text(encoding="utf-8").replace("single_operator", "").replace("operator", "")
    alone = subprocess.run([sys.executable, "-I", str(script)], cwd=place, capture_output=True, text=True, check=False, timeout=120)
    assert alone.returncode == 1
    assert "Traceback" in alone.stderr
    assert "onnxruntime" in alone.stderr


def test_the_driver_is_fast_to_help_and_imports_no_library(place: Path) -> None:
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    shown = subprocess.run(
        [sys.executable, "-m", "opera", "--help"], cwd=place, capture_output=True, text=True, check=True, env=environment
    )
    assert "extract" in shown.stdout
    heavy = ("numpy", "torch", "onnx", "tvm", "openvino", "onnxruntime", "jinja2")
    imported = {line.rsplit("|", 1)[-1].strip() for line in shown.stderr.splitlines() if "import time" in line}
    assert not imported & set(heavy)
