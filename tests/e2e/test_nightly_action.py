"""The action and the reusable workflow: their shell steps, run here as GitHub runs them, with pip replaced and without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from fake.harness import SITE, Lab, instance
from sarif import objections

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS: list[Path] = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NIGHTLY: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))

PYTHON = """#!/bin/bash
if [ "$1" = -m ] && [ "$2" = pip ]; then
  printf '%s\\n' "${@:3}" >> "$PIP_SAW"
  exit 0
fi
exec "$REAL_PYTHON" "$@"
"""
"""A `python` that notes what pip is asked for, one argument a line."""


def steps_in(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job.get("steps", ())]


@pytest.mark.parametrize("file", [ROOT / "action.yml", *WORKFLOWS], ids=lambda file: file.name)
def test_no_expression_is_put_into_shell_code(file: Path) -> None:
    for step in steps_in(yaml.safe_load(file.read_text(encoding="utf-8"))):
        assert "${{" not in step.get("run", ""), step


def test_the_workflow_passes_inputs_that_the_action_has() -> None:
    (step,) = [each for each in steps_in(NIGHTLY) if each.get("uses") == "./.opera-source"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    given = NIGHTLY[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true
    named = re.findall(r"inputs\.([\w-]+)", (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    assert set(named) == given.keys()
    for name in ("compiler", "frontend"):
        assert given[name]["required"]
        assert ACTION["inputs"][name]["required"]


PAGE = (ROOT / "docs" / "how-to" / "nightly.md").read_text(encoding="utf-8")


def test_the_workflows_of_the_page_give_inputs_that_are_there_and_may_upload() -> None:
    calling, action = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
    job = calling["jobs"]["opera"]
    assert job["uses"].endswith("/.github/workflows/nightly.yml@main")
    assert job["with"].keys() <= NIGHTLY[True]["workflow_call"]["inputs"].keys()
    assert job["with"]["upload-sarif"] is True
    assert calling["permissions"]["security-events"] == "write"
    assert action[1]["with"].keys() <= ACTION["inputs"].keys()
    (upload,) = [step for step in ACTION["runs"]["steps"] if "upload-sarif" in str(step.get("uses"))]
    (reports,) = [step["run"] for step in ACTION["runs"]["steps"] if "--sarif" in step.get("run", "")]
    assert upload["with"]["sarif_file"] == "${{ inputs.reports }}/opera.sarif"
    assert '--sarif="$REPORTS/opera.sarif"' in reports
    table = set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE.partition("## The first night")[0], re.MULTILINE))))
    assert table == NIGHTLY[True]["workflow_call"]["inputs"].keys() - {"opera-repository", "opera-ref", "timeout-minutes", "python-version"}


@pytest.mark.slow
def test_the_commands_elsewhere_run_as_the_page_has_them(lab: Lab) -> None:
    """On the fake compiler, whose instances no host records: the corpus of a file stands for `opera extract`."""
    first, other = (re.findall(r"^\$ (.*)$", block, re.MULTILINE) for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL))
    here = {"opera extract --lib onnx": "opera import corpus.jsonl", "--compiler tvm --frontend onnx": "--compiler fake --frontend fake"}

    def typed(lines: list[str], commit: str) -> list[int]:
        codes: list[int] = []
        for line in lines:
            for printed, ours in here.items():
                line = line.replace(printed, ours)
            shell = {**os.environ, "PYTHONPATH": str(SITE), "OPERA_FAKE_STATE": str(lab.state), "COMMIT": commit, "PY": sys.executable}
            command = f'opera() {{ "$PY" -m opera "$@"; }}\n{line}'
            codes.append(subprocess.run(["bash", "-c", command], cwd=lab.folder, env=shell, capture_output=True, check=False).returncode)
        return codes

    assert typed(first, "monday") == [0, 0, 0]
    assert typed(other, "tuesday") == [0, 0, 0, 0, 0], "nothing is new"
    lab.add(instance("dies", "abort"))
    assert lab.finish(lab.start("export", "jsonl", str(lab.folder / "corpus.jsonl"), module="opera")).code == 0
    assert typed(first[:1] + other, "wednesday") == [0, 1, 0, 0, 1, 0], "a new failure, which is accepted at the end"
    document = json.loads((lab.folder / "opera.sarif").read_text(encoding="utf-8"))
    assert list(objections(document)) == []
    assert sorted(len(each["suppressions"]) for each in document["runs"][0]["results"]) == [0, 1]


@dataclass
class Night:
    """One run of the action in *folder*: the exit code of its last step, and what the steps printed and wrote."""

    folder: Path
    code: int = 0
    failed: str = ""
    printed: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")

    @property
    def pip(self) -> list[str]:
        return (self.folder / "pip.log").read_text(encoding="utf-8").splitlines()

    def report(self, name: str) -> str:
        return (self.folder / "opera-reports" / name).read_text(encoding="utf-8")

    def start(self, inputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Runs the shell steps of the action one by one, as far as they succeed."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "python").write_text(PYTHON, encoding="utf-8")
        (tools / "opera").write_text('#!/bin/bash\nexec "$REAL_PYTHON" -m opera "$@"\n', encoding="utf-8")
        for each in tools.iterdir():
            each.chmod(0o755)
        values = {f"inputs.{name}": str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        values |= {f"inputs.{name}": value for name, value in inputs.items()} | {"github.action_path": str(ROOT)}
        for step in ACTION["runs"]["steps"]:
            if "run" not in step:
                continue
            assert step["shell"] == "bash"
            output = self.folder / "output"
            output.write_text("", encoding="utf-8")
            own = {name: self._filled(text, values) for name, text in step["env"].items()}
            shell = {
                **os.environ, **environment, **own, "PATH": f"{tools}:{os.environ['PATH']}", "REAL_PYTHON": sys.executable,
                "PIP_SAW": str(self.folder / "pip.log"), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            }  # fmt: skip
            script = self.folder / "step.sh"
            script.write_text(step["run"], encoding="utf-8")
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=self.folder, env=shell, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False,
            )  # fmt: skip
            self.code, self.printed = done.returncode, self.printed + done.stdout
            pairs = (line.partition("=") for line in output.read_text(encoding="utf-8").splitlines())
            values |= {f"steps.{step.get('id')}.outputs.{name}": value for name, _, value in pairs}
            if self.code:
                self.failed = step["name"]
                return

    @staticmethod
    def _filled(text: str, values: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            return next((found for name in match[1].split("||") if (found := values.get(name.strip(), ""))), "")

        return re.sub(r"\$\{\{\s*(.+?)\s*\}\}", value, text)


def laboratory(folder: Path) -> Lab:
    """A corpus of the fake library: one instance that passes, one that the fake compiler refuses."""
    made = Lab(folder)
    made.add(instance("works"), instance("crashes", "raise"))
    assert made.opera("export", "jsonl", str(folder / "corpus.jsonl")).code == 0
    return made


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return laboratory(tmp_path)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A night without a baseline."""
    return night(laboratory(tmp_path_factory.mktemp("first")))


def night(lab: Lab, **inputs: str) -> Night:
    made = Night(lab.folder)
    given = {"compiler": "fake", "frontend": "fake", "corpus": "corpus.jsonl", "budget": "5m", **inputs}
    made.start(given, {"PYTHONPATH": str(SITE), "OPERA_FAKE_STATE": str(lab.state)})
    return made


def test_the_first_night_reports_all_failures_and_proposes_a_baseline(first: Night) -> None:
    assert (first.code, first.failed) == (1, "Fail for new failures"), first.printed
    assert "### 1 finding" in first.summary
    assert "<html" in first.report("report.html")
    document = json.loads(first.report("opera.sarif"))
    assert document["runs"][0]["results"][0]["suppressions"] == []
    assert list(objections(document)) == []
    assert "| fake.crashes: crash at load |" in first.summary
    assert ElementTree.fromstring(first.report("junit.xml"))[0].get("failures") == "1"
    assert first.report("known.toml").count("[[failure]]") == 1


@pytest.mark.slow
def test_with_the_baseline_the_job_passes_until_something_new_fails(lab: Lab, first: Night) -> None:
    (lab.folder / "known.toml").write_text(first.report("known.toml"), encoding="utf-8")
    second = night(lab, baseline="known.toml", build="tuesday's; $(touch broken)")
    assert second.code == 0, second.printed
    assert not (lab.folder / "broken").exists()
    assert "1 known finding" in second.summary
    assert ElementTree.fromstring(second.report("junit.xml"))[0].get("skipped") == "1"
    assert json.loads(second.report("opera.sarif"))["runs"][0]["results"][0]["suppressions"][0]["justification"] == "in known.toml"
    lab.add(instance("dies", "abort"))
    assert lab.opera("export", "jsonl", str(lab.folder / "corpus.jsonl")).code == 0
    third = night(lab, baseline="known.toml", build="wednesday")
    assert (third.code, third.failed) == (1, "Fail for new failures"), third.printed
    assert "new" in third.printed


@pytest.mark.slow
def test_a_fixed_failure_fails_the_job_only_if_asked(lab: Lab, first: Night) -> None:
    known = first.report("known.toml")
    table = known.partition("[[failure]]")[2]
    fixed = re.sub('kind = ".*"', 'kind = "FixedError"', re.sub('fingerprint = ".*"', 'fingerprint = "00000000"', table))
    (lab.folder / "known.toml").write_text(f"{known}\n[[failure]]{fixed}", encoding="utf-8")
    assert night(lab, baseline="known.toml").code == 0
    strict = night(lab, baseline="known.toml", **{"allow-gone": "false"})
    assert (strict.code, strict.failed) == (1, "Fail for new failures"), strict.printed


def test_a_build_that_does_not_work_ends_the_job_and_the_summary_says_why(tmp_path: Path) -> None:
    wheel = tmp_path / "dist" / "fake 1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    made, given = Night(tmp_path), {"compiler": "fake", "frontend": "onnx", "library": "fake", "corpus": "gone.jsonl", "build": "0123abc"}
    made.start({**given, "wheel": "dist/*.whl"}, {"PYTHONPATH": str(SITE)})
    assert (made.code, made.failed) == (3, "Install the build"), made.printed
    assert made.pip == ["install", "--constraint", f"{ROOT}/constraints.txt", f"{ROOT}[fake,fake]"]
    assert made.summary.startswith("### The build build-0123abc does not work\n")
    assert "pip could not install fake==build-0123abc" in made.summary
    for inputs, said in (
        ({"wheel": "gone/*.whl"}, "names 0 files instead of one"),
        ({"requirement": "x", "build": "$(x)"}, "needs a name"),
    ):
        made.start({**given, **inputs}, {"PYTHONPATH": str(SITE)})
        assert (made.code, made.failed) == (2, "Install the build")
        assert said in made.printed


@pytest.mark.parametrize("name", ["x] @ http://example.invalid", "--help", "a/b", ""])
def test_a_name_that_is_none_ends_the_job_before_anything_is_installed(tmp_path: Path, name: str) -> None:
    made = Night(tmp_path)
    made.start({"compiler": name, "frontend": "onnx"}, {})
    assert (made.failed, (tmp_path / "pip.log").exists()) == ("Check the inputs", False)


@pytest.mark.slow
def test_a_real_compiler_has_a_night(tmp_path: Path) -> None:
    made = Night(tmp_path)
    corpus = str(ROOT / "corpora" / "samples" / "onnx.jsonl")
    made.start({"compiler": "onnxruntime", "frontend": "onnx", "corpus": corpus, "keyword": "relu or softmax", "budget": "5m"}, {})
    assert made.code == 0, made.printed
    assert re.search(r"\| onnxruntime/onnx \| [1-9]", made.summary)
    assert "### 0 findings" in made.summary
