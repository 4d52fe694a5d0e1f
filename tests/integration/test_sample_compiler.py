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

import numpy as np
import pytest
from parameters import quick

from opera.instance import Argument, Instance, Kind, Occurrence, Tensor
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "sample_compiler"
GUIDE = ROOT / "docs" / "how-to" / "add-a-compiler.md"


LRN = Instance(
    "onnx", "ai.onnx.LRN", Kind.NODE, init=(Argument("size", 3),), context=(("opset", 13), ("outputs", [True])),
    call=(Argument("X", Tensor((1, 2, 3), "float32", np.ones(6, np.float32).tobytes())),),
    expected=(Tensor((1, 2, 3), "float32", np.full(6, (1 + 1e-4 / 3 * 2) ** -0.75, np.float32).tobytes()),),
)  # fmt: skip
"""Three dimensions, which the standard allows; the evaluator asks for four."""
NORM = Instance(
    "onnx", "ai.onnx.LpNormalization", Kind.NODE, init=(Argument("axis", 0), Argument("p", 1)),
    context=(("opset", 22), ("outputs", [True])),
    call=(Argument("input", Tensor((2,), "float32", np.array([-1, 3], np.float32).tobytes())),),
    expected=(Tensor((2,), "float32", np.array([-0.25, 0.75], np.float32).tobytes()),),
)  # fmt: skip
"""The sum of absolute values is 4; the evaluator divides by the sum of the values."""


@dataclass(frozen=True)
class Installed:
    """A folder with the sample installed in it, and a workspace."""

    folder: Path

    def opera(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        run = self.start(*arguments, "--json")
        assert run.returncode == code, run.stderr[-3000:]
        return json.loads(run.stdout)

    def start(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "site")}
        command = [sys.executable, "-m", "opera", *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=300)

    def tests(self) -> set[str]:
        """Identities of all tests that have a result."""
        with open_workspace(self.folder / ".opera", write=False) as space:
            return {result.test for result in Campaigns(space).results()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("third-party")
    source = shutil.copytree(SAMPLE, folder / "source", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", folder / "site"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, source], check=True, capture_output=True)
    found = Installed(folder)
    found.opera("import", str(ROOT / "corpora" / "samples" / "onnx.jsonl"))
    with open_workspace(folder / ".opera", write=True) as space:
        Corpus(space).add([(LRN, Occurrence("node-tests", "test_lrn_3d")), (NORM, Occurrence("node-tests", "test_l1_normalization"))])
    return found


@pytest.fixture(scope="module")
def findings(installed: Installed) -> dict[str, str]:
    """Identities of findings by converter, from a campaign on two operators that the evaluator gets wrong."""
    installed.opera("run", "--compiler", "onnx-reference", "--frontend", "onnx", "-k", "LRN or LpNormalization", "--quiet", "--exit-zero")
    report = installed.opera("report", "--compiler", "onnx-reference")
    return {finding["converter"]: finding["id"] for finding in report["findings"]}


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_campaign_runs_on_another_librarys_models(installed: Installed) -> None:
    installed.opera("import", str(ROOT / "corpora" / "samples" / "pytorch.jsonl"))
    summary = installed.opera(
        "run", "--compiler", "onnx-reference", "--frontend", "pytorch", "-k", "torch.nn.functional.softmax or torch.nan_to_num", "--quiet",
        "--exit-zero",
    )  # fmt: skip
    assert summary["complete"]
    assert summary["verdicts"] == {"pass": summary["executed"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("converter", "said"), [("LRN", "RuntimeError: LRN only applies on 4D"), ("LpNormalization", "Mismatched elements: 2 / 2")]
)
def test_a_script_shows_its_finding_and_needs_nothing_of_opera(
    installed: Installed, findings: dict[str, str], tmp_path: Path, converter: str, said: str
) -> None:
    reproduced = installed.opera("reproduce", findings[converter])
    assert reproduced["reproduced"]
    assert said in reproduced["message"]
    script = Path(shutil.copy(installed.folder / reproduced["script"], tmp_path))
    assert not re.search(r"^(import|from) opera", script.read_text(encoding="utf-8"), re.MULTILINE)
    ran = subprocess.run([sys.executable, "-I", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 1
    assert said in ran.stderr


@pytest.mark.slow
def test_an_issue_has_the_form_that_its_adapter_declares(installed: Installed, findings: dict[str, str]) -> None:
    issue = installed.opera("issue", findings["LRN"])
    assert (issue["form"], issue["reproduced"]) == ("onnx-reference", True)
    headings = re.findall(r"^### (.*)$", issue["text"], re.MULTILINE)
    assert headings == ["Describe the bug", "System information", "Reproduction instructions", "Expected behavior"]
    assert "ReferenceEvaluator(model).run(None, inputs)" in issue["text"]
    assert "Do not report" not in issue["text"]


@pytest.mark.slow
def test_without_a_reproducer_nothing_is_written_and_the_message_says_what_to_declare(
    installed: Installed, findings: dict[str, str]
) -> None:
    """Older adapters declare neither scripts nor a form. The tests that they ran stay the same, so that the finding is still there."""
    module = installed.folder / "site" / "opera_onnx_reference.py"
    source = module.read_text(encoding="utf-8")
    module.write_text(re.sub(r'(?s)    reproducer = \{.*?\n    \}\n    issue_form = """.*?"""\n', "", source), encoding="utf-8")
    try:
        refused = installed.start("reproduce", findings["LRN"], "--output", "none.py")
        issue = installed.opera("issue", findings["LRN"], code=1)
        before = installed.tests()
        installed.opera("run", "--compiler", "onnx-reference", "--frontend", "onnx", "-k", "LRN", "--quiet", "--exit-zero")
    finally:
        module.write_text(source, encoding="utf-8")
    assert refused.returncode == 2
    assert "`reproducer = {'onnx': ...}`" in refused.stderr
    assert not (installed.folder / "none.py").exists()
    assert issue["form"] == "general"
    assert installed.tests() == before


@pytest.mark.parametrize(
    ("attribute", "told"), quick([("message_noise = ('(',)", "message_noise"), ("reproducer = {'onnx': '{{ nothing }}'}", "reproducer")])
)
def test_a_declaration_that_cannot_be_used_is_named(installed: Installed, findings: dict[str, str], attribute: str, told: str) -> None:
    module = installed.folder / "site" / "opera_onnx_reference.py"
    source = module.read_text(encoding="utf-8")
    module.write_text(source.replace("    issue_form =", f"    {attribute}\n    issue_form ="), encoding="utf-8")
    try:
        refused = installed.start("reproduce", findings["LRN"])
    finally:
        module.write_text(source, encoding="utf-8")
    assert refused.returncode in (2, 3)
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_an_environment_of_its_own_can_be_made_for_it(installed: Installed) -> None:
    rows = {row["name"]: row for row in installed.opera("env", "list")["environments"]}
    assert rows["onnx-reference"]["serves"] == ["compiler.onnx-reference"]


def test_the_guide_shows_the_sample_as_it_is() -> None:
    sources = {"toml": SAMPLE / "pyproject.toml", "python": SAMPLE / "opera_onnx_reference.py"}
    sample, _, _ = GUIDE.read_text(encoding="utf-8").partition("## A plug-in provider")
    blocks = re.findall(r"^```(toml|python)\n(.*?)^```$", sample, re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == set(sources)
    for kind, block in blocks:
        source = sources[kind].read_text(encoding="utf-8")
        assert any(textwrap.indent(block.rstrip(), " " * depth) in source for depth in (0, 4, 8)), block
    whole = [block for _, block in blocks]
    assert all(path.read_text(encoding="utf-8") in whole for path in sources.values())
