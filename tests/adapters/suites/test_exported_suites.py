"""Suites of real compilers: those in data/suites run as they are, and a new one gives the verdicts of its campaign."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import numpy as np
import onnx
import pytest
from instances import counting, tensor, torch_call
from onnx import numpy_helper
from onnx.backend.base import Backend, BackendRep
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.reference import ReferenceEvaluator
from real_campaigns import filled

from opera.arrays import numpy_dtype
from opera.extensions.suites.tensors import NoTensor, tensor_proto, value_proto
from opera.instance import Outcome

ROOT = Path(__file__).parents[3]
SUITES = ROOT / "data" / "suites"
SLOW = ("inductor", "iree", "tvm")
SAMPLE = ROOT / "corpora" / "samples" / "onnx.jsonl"
KEYWORD = "spacetodepth or bitshift or topk or dft or maxpool or averagepool or celu or castlike or pad"


def outcomes(folder: Path, *options: str) -> Counter[str]:
    """How many tests of a suite end how, in a folder without a configuration."""
    junit = folder.parent / f"{folder.name}-{time.monotonic_ns()}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={junit}", *options, str(folder)]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False, timeout=600)
    found: Counter[str] = Counter()
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        child = next(iter(case), None)
        found["passed" if child is None else str(child.get("type") or child.tag)] += 1
    assert sum(found.values()) > 0, done.stdout[-2000:]
    return found


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "opera-suite.json").read_text())


@pytest.mark.parametrize(
    "compiler",
    [pytest.param(each.name, marks=[pytest.mark.slow] * (each.name in SLOW)) for each in sorted(SUITES.iterdir()) if each.is_dir()],
)
def test_a_kept_suite_gives_what_it_says(compiler: str, tmp_path: Path) -> None:
    place = tmp_path / compiler
    subprocess.run(["cp", "-r", str(SUITES / compiler), str(place)], check=True)
    found = outcomes(place)
    assert set(found) == {"passed", "pytest.xfail"}
    assert sum(found.values()) == len(manifest(place)["names"])


def opera(*arguments: str, workspace: Path) -> commands.Outcome:
    return commands.run(*arguments, "--workspace", str(workspace), folder=workspace.parent)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of OpenVINO with failing and passing tests."""
    folder = tmp_path_factory.mktemp("suites") / "ws"
    assert opera("import", str(SAMPLE), workspace=folder).returncode == 0
    run = opera("run", "--compiler", "openvino", "--frontend", "onnx", "-k", KEYWORD, "--exit-zero", "-q", "-j", "1", workspace=folder)
    assert run.returncode == 0, run.stderr
    return folder


def exported(workspace: Path, folder: Path, *options: str) -> dict[str, Any]:
    done = opera("export", "pytest", str(folder), "--json", *options, workspace=workspace)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_new_suite_gives_the_verdicts_of_its_campaign(workspace: Path, tmp_path: Path) -> None:
    said = exported(workspace, tmp_path / "suite", "--passing", "8")
    assert said["burn_down"] > 0
    assert said["green"] == 8
    assert outcomes(tmp_path / "suite") == {"passed": 8, "pytest.xfail": said["burn_down"]}
    before = {path: path.read_bytes() for path in (tmp_path / "suite").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    exported(workspace, tmp_path / "suite", "--passing", "8")
    assert {path: path.read_bytes() for path in before} == before
    recomputed = exported(workspace, tmp_path / "recomputed", "--recompute", "--passing", "4")
    assert outcomes(tmp_path / "recomputed") == {"passed": 4, "pytest.xfail": recomputed["burn_down"]}


class EvaluatorBackend(Backend):
    """ONNX's own evaluator."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        evaluator = ReferenceEvaluator(model)
        names = [each.name for each in model.graph.input]

        class Rep(BackendRep):
            def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
                return tuple(evaluator.run(None, dict(zip(names, inputs, strict=True))))

        return Rep()

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


def bare_runner() -> Any:
    """A runner without ONNX's own thousands of cases, which it would make first."""
    runner = Runner.__new__(Runner)
    runner.backend = EvaluatorBackend
    runner._parent_module = __name__
    runner._include_patterns, runner._exclude_patterns, runner._xfail_patterns = set(), set(), set()
    runner._test_kwargs = {}
    runner._test_items = defaultdict(dict)
    return runner


@pytest.mark.slow
def test_the_backend_runner_loads_each_tier(workspace: Path, tmp_path: Path) -> None:
    said = exported(workspace, tmp_path / "suite", "--style", "onnx-backend", "--passing", "6")
    for kind, number in (("green", 6), ("burn_down", said["burn_down"])):
        cases = load_model_tests(str(tmp_path / "suite"), kind)
        assert len(cases) == number
        runner = bare_runner()
        for case in cases:
            runner._add_model_test(case, "Opera")
        result = unittest.TestResult()
        runner.test_suite.run(result)
        assert result.testsRun == 2 * number
        assert (result.failures, result.errors, len(result.skipped)) == ([], [], number), kind
    listed = [line.partition(" ")[0] for line in (tmp_path / "suite" / "exclude.txt").read_text().splitlines()]
    assert sorted(listed) == sorted(each.name for each in (tmp_path / "suite" / "burn_down").iterdir())


@pytest.mark.parametrize(
    "dtype", ["float32", "bool", "int64", "uint8", "float16", "bfloat16", "int4", "uint4", "complex64", "string", "float8_e5m2"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_a_tensor_is_what_onnx_reads(dtype: str, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    values = [f"\u00e9{index}" for index in range(count)] if dtype == "string" else [index % 2 for index in range(count)]
    array = np.array(values, numpy_dtype(dtype)).reshape(shape)
    read = numpy_helper.to_array(onnx.TensorProto.FromString(tensor_proto(array, "x")))
    assert read.shape == shape
    assert [str(each) for each in read.reshape(-1).tolist()] == [str(each) for each in array.reshape(-1).tolist()]


def test_sequences_and_absent_values() -> None:
    sequence = onnx.SequenceProto.FromString(value_proto([np.ones(2, "float32"), np.zeros(1, "float32")], "s"))
    assert [each.tolist() for each in numpy_helper.to_list(sequence)] == [[1.0, 1.0], [0.0]]
    for value in (None, [], [None]):
        with pytest.raises(NoTensor):
            value_proto(value, "x")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--compiler", "openvinoo"), 2, "did you mean 'openvino'?"),
        (("--finding", "ffffffffffff"), 2, "no finding, test or instance begins with"),
        (("-k", "maxpol"), 4, "did you mean 'maxpool'?"),
        (("--campaign", "nope"), 2, "no campaign begins with 'nope'"),
        (("--marks", "a b"), 2, "is no mark"),
        (("--header", "/dev/null/x"), 2, "cannot be read as a header"),
        (("--refresh",), 2, "belong together"),
        (("--style", "iree", "--passing", "1"), 2, "the form iree is for tests of iree"),
        (("--no-failures",), 4, "no test is selected"),
        (("--no-failures", "--finding", "0"), 2, "exclude each other"),
    ],
)
def test_bad_input_is_one_message(workspace: Path, tmp_path: Path, options: tuple[str, ...], code: int, message: str) -> None:
    done = opera("export", "pytest", str(tmp_path / "suite"), *options, workspace=workspace)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "suite").exists()


@pytest.mark.slow  # Inductor's first compilation alone takes half a minute
def test_a_refused_call_becomes_no_test_and_the_reason_is_said(tmp_path: Path) -> None:
    bad = torch_call("torch.index_add", counting(3, 2), dim=0, index=tensor([0, 2], "int64"), source=counting(2))
    folder = filled(tmp_path / "ws", [replace(bad, outcome=Outcome.RAISED)])
    done = opera("run", "--compiler", "inductor", "--frontend", "pytorch", "--input-form", "refused", "--exit-zero", "-q", workspace=folder)
    assert done.returncode == 0, done.stderr
    done = opera("export", "pytest", str(tmp_path / "suite"), "--compiler", "inductor", workspace=folder)
    assert "it fails in the form refused" in done.stdout + done.stderr
    assert not list((tmp_path / "suite").glob("burn_down/*.py"))
