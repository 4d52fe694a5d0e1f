"""Suites on real backends: results per id, pairs, baselines, latency, and what resumes."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from opera.cli.options import guarded
from opera.extensions.opidiff.cli.opidiff import command

SUITE = """
dims: {B: 2, N: 4}
presets:
  x: {type: tensor, shape: [B, N], kind: float, init: normal}
tests:
  - {id: add, op: aten::add, in: [{ref: x}, {ref: x}]}
  - {id: same, op: aten::add, in: [{ref: x}, {ref: x}]}
  - {id: gpu, op: aten::add, device: gpu, in: [{ref: x}, {ref: x}]}
  - {id: mine, op: {type: module, path: "file:mine.py::Mine"}, in: [{ref: x}]}
  - {id: scalar, op: aten::sum.dim_IntList, in: [{ref: x}, {type: scalar, kind: int, value: 1}]}
  - {id: product, op: aten::mul, in: [{ref: x}, {type: scalar, kind: float, value: 2}]}
  - {id: complex, op: aten::fft_irfft, cast_input0_to_complex: true, in: [{type: tensor, dtype: complex64, shape: [2, 4]}]}
  - id: pair
    op:
      type: template_compare_pair
      vars: {n: [8]}
      common: {args: [N1, {var: n}]}
      a: {impl: one, path: torch.nn.Linear}
      b: {impl: two, path: torch.nn.Linear, kwargs: {bias: true}}
    in: [{ref: x}]
  - {id: net, op: {type: module, path: "file:own/net.py::Net", args: [4, 3]}, in: [{ref: x}]}
  - id: mixed
    op:
      type: template_compare_pair
      vars: {}
      common: {args: [4, 3]}
      a: {impl: one, path: torch.nn.Linear}
      b: {impl: two, path: own.net.Net}
    in: [{ref: x}]
  - id: apart
    op:
      type: template_compare_pair
      vars: {}
      a: {impl: one, path: torch.nn.Linear, args: [4, 3]}
      b: {impl: two, path: torch.nn.Linear, args: [4, 5]}
    in: [{ref: x}]
  - id: normed
    op:
      type: template_compare_pair
      vars: {}
      a: {impl: one, path: torch.nn.LayerNorm, args: [4]}
      b: {impl: two, path: torch.nn.RMSNorm, args: [4]}
    in: [{ref: x}]
  - id: other
    op: {type: template_compare_pair, vars: {}, a: {impl: one, path: torch.nn.ReLU}, b: {impl: two, path: torch.nn.GELU}}
    in: [{ref: x}]
""".replace("N1", "4")


NET = """
import torch

class Net(torch.nn.Module):
    def __init__(self, size, out):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(out, size))
        self.bias = torch.nn.Parameter(torch.ones(out))

    def forward(self, x):
        return x @ self.weight.T + self.bias
"""


@dataclass(frozen=True)
class Ran:
    code: int
    results: dict[str, dict[str, Any]]
    folder: Path


def run(folder: Path, *arguments: str) -> Ran:
    (folder / "s.yaml").write_text(SUITE)
    (folder / "own").mkdir()
    (folder / "own" / "net.py").write_text(NET)
    outputs = ["--csv", str(folder / "r.csv"), "--junit", str(folder / "r.xml")]
    code = guarded(command, ["run", str(folder / "s.yaml"), "--workspace", str(folder / "ws"), "-j", "1", "-q", *outputs, *arguments])
    with (folder / "r.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    return Ran(code, rows, folder)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("suite")
    return run(folder, "--backend", "onnxruntime", "--repeats", "5", "--trust", str(folder / "own"))


def test_each_id_has_its_result_also_where_ids_share_an_instance(ran: Ran) -> None:
    assert ran.code == 0
    assert ran.results["add"]["verdict"] == ran.results["same"]["verdict"] == "pass"
    assert ran.results["add"]["instance"] == ran.results["same"]["instance"]
    assert len(ran.results) == 23


def test_a_passing_test_has_metrics_and_latency(ran: Ran) -> None:
    row = ran.results["add"]
    assert float(row["max_abs"]) == float(row["mean_abs"]) == float(row["mse"]) == 0.0
    assert float(row["median"]) > 0
    assert float(row["ratio"]) > 0
    assert row["with_feeding"] == "False"


def test_an_absent_device_is_unsupported(ran: Ran) -> None:
    assert (ran.results["gpu"]["verdict"], ran.results["gpu"]["reason"]) == ("unsupported", "no-device")


def test_a_class_of_a_file_is_unsupported_with_its_path(ran: Ran) -> None:
    assert (ran.results["mine"]["verdict"], ran.results["mine"]["reason"]) == ("unsupported", "foreign-class")
    assert "file:mine.py::Mine is not found" in ran.results["mine"]["summary"]


def test_a_scalar_is_an_input_of_rank_1_where_models_are_exported(ran: Ran) -> None:
    assert ran.results["product"]["verdict"] == "pass"
    assert (ran.results["scalar"]["verdict"], ran.results["scalar"]["reason"]) == ("invalid", "scalar-as-tensor")
    assert "--scalars python" in ran.results["scalar"]["summary"]


def test_a_packed_complex_input_is_joined_in_the_model(ran: Ran) -> None:
    assert ran.results["complex"]["verdict"] == "pass"


def test_the_sides_of_a_pair_are_compared_and_a_difference_of_the_library_blames_nobody(ran: Ran) -> None:
    assert ran.results["pair__n=8"]["verdict"] == "pass"
    assert float(ran.results["pair__n=8"]["max_abs"]) == 0.0
    assert (ran.results["other"]["verdict"], ran.results["other"]["reason"]) == ("undefined", "sides-differ")
    assert float(ran.results["other"]["max_abs"]) > 0


def test_a_class_of_a_trusted_folder_runs(ran: Ran) -> None:
    assert ran.results["net"]["verdict"] == "pass"


def test_the_sides_of_a_pair_have_the_same_weights(ran: Ran) -> None:
    assert ran.results["mixed"]["verdict"] == "pass"
    assert float(ran.results["mixed"]["max_abs"]) < 1e-5


def test_a_side_with_other_parameters_is_a_test_of_its_own(ran: Ran) -> None:
    assert ran.results["apart__b"]["verdict"] == ran.results["normed__b"]["verdict"] == "pass"
    for name in ("apart", "normed"):
        assert (ran.results[name]["verdict"], ran.results[name]["reason"]) == ("undefined", "sides-differ")
        assert ran.results[name]["summary"].endswith("they share only parameters of the same name and shape")


def test_junit_has_a_case_for_each_id(ran: Ran) -> None:
    [suite] = xml.parse(ran.folder / "r.xml").getroot()
    assert {case.get("name") for case in suite} == set(ran.results)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("23", "0", "6")


@pytest.mark.slow
def test_a_second_run_continues_and_selects_ids(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(ran.folder / "s.yaml"), "--workspace", str(ran.folder / "ws"), "--backend", "onnxruntime", "-q", "--json"]
    code = guarded(command, [*arguments, "--id", "sca*", "--id", "pair*", "--scalars", "python"])
    document = json.loads(capsys.readouterr().out)
    assert (code, document["schema"]) == (0, "opidiff-run/1")
    assert {each["id"]: each["verdict"] for each in document["results"]} == dict.fromkeys(
        ["scalar", "pair__n=8__a", "pair__n=8__b", "pair__n=8"], "pass"
    )
    assert guarded(command, [*arguments, "--id", "nothing"]) == 4


@pytest.mark.slow
def test_a_backend_can_be_the_baseline(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "run",
        str(ran.folder / "s.yaml"),
        "--workspace",
        str(ran.folder / "ws"),
        "--backend",
        "onnxruntime,openvino",
        "-q",
        "--json",
    ]
    code = guarded(command, [*arguments, "--id", "add", "--baseline", "onnxruntime"])
    document = json.loads(capsys.readouterr().out)
    assert (code, document["baseline"]) == (0, "onnxruntime")
    assert [(each["backend"], each["verdict"], each["max_abs"]) for each in document["results"]] == [
        ("onnxruntime", "pass", 0.0),
        ("openvino", "pass", 0.0),
    ]


ONLY = {
    "foreign": ("  - {id: mine, op: {type: module, path: 'file:mine.py::Mine'}, in: []}\n", 4, "--trust DIR"),
    "invalid": ("  - {id: bad, op: aten::mm, in: [{type: tensor, shape: [2], kind: float}]}\n", 4, "1 invalid"),
    "nan": ("  - {id: log, op: aten::log, in: [{type: const_tensor, shape: [2], kind: float, value: [-1.0, -2.0]}]}\n", 0, ""),
}


@pytest.mark.parametrize("name", ["foreign", *(pytest.param(each, marks=pytest.mark.slow) for each in ("invalid", "nan"))])
def test_a_run_that_compares_nothing_is_no_success(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests, code, reason = ONLY[name]
    suite = tmp_path / "s.yaml"
    suite.write_text(f"tests:\n{tests}")
    arguments = ["run", str(suite), "--workspace", str(tmp_path / "ws"), "--backend", "onnxruntime", "-j", "1", "-q", "--json"]
    for more in ([], ["--exit-zero"]):
        assert guarded(command, [*arguments, *more]) == code
        out, err = capsys.readouterr()
        document = json.loads(out)
        assert document["compared"] == {"onnxruntime": int(code == 0)}
        assert ("nothing was compared on onnxruntime" in err) == (code == 4)
        assert reason in err
    if name == "nan":
        (result,) = document["results"]
        assert (result["verdict"], result["max_abs"], result["code"]) == ("pass", None, "NAN_IN_BASELINE")
        assert result["nan_baseline"] == result["nan_output"] == result["elements"] == 2
        assert "NaN on both sides" in result["summary"]
        assert result["seconds"] > 0


def test_absent_backends_are_named_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(SUITE)
    arguments = ["run", str(tmp_path / "s.yaml"), "--workspace", str(tmp_path / "ws"), "--backend", "tensorrt,onnxruntime"]
    assert guarded(command, arguments) == 3
    assert "not installed: tensorrt (" in capsys.readouterr().err
    assert not (tmp_path / "ws").exists()


@pytest.mark.slow
def test_a_killed_run_continues_with_what_it_has(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(30)]
    shapes = "\n".join(
        f"  - {{id: {name}, op: 'aten::relu', in: [{{type: tensor, shape: [{number}], kind: float}}]}}"
        for number, name in enumerate(names, 1)
    )
    (tmp_path / "s.yaml").write_text(f"tests:\n{shapes}\n")
    command = [sys.executable, "-m", "opera", "opidiff", "run", "s.yaml", "--backend", "onnxruntime", "--workspace", "ws", "-q", "--json"]

    def results() -> dict[str, str]:
        """When each test that has a result got it."""
        if not (tmp_path / "ws" / "opera.db").exists():
            return {}
        with closing(sqlite3.connect(f"file:{tmp_path}/ws/opera.db?mode=ro", uri=True)) as database:
            try:
                return dict(database.execute("SELECT instance, seconds FROM results"))
            except sqlite3.OperationalError:
                return {}

    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        while not results() and killed.poll() is None:
            time.sleep(0.05)
        killed.kill()
    before = results()
    assert 0 < len(before) < len(names)
    again = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert {each["id"]: each["verdict"] for each in json.loads(again.stdout)["results"]} == dict.fromkeys(names, "pass")
    after = results()
    assert {key: after[key] for key in before} == before
    assert len(after) == len(names)


FLOORS = """
import torch


class Divides(torch.nn.Module):
    def forward(self, x):
        return torch.div(x, 2, rounding_mode="floor")


class Rounds(torch.nn.Module):
    def forward(self, x):
        return torch.floor(x.float() / 2).to(torch.int64)
"""
HALVES = """
tests:
  - id: halves
    op:
      type: template_compare_pair
      vars: {}
      a: {impl: one, path: own.floors.Divides}
      b: {impl: two, path: own.floors.Rounds}
    in: [{type: tensor, dtype: int64, shape: [4], init: randint, low: -7, high: -1}]
"""


@pytest.mark.slow
def test_a_pair_that_a_backend_tells_apart_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenVINO divides negative integers towards zero where PyTorch says floor. The package is named, not its folder."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "floors.py").write_text(FLOORS)
    (tmp_path / "s.yaml").write_text(HALVES)
    given = ["--backend", "openvino", "--trust", "own", "--root", str(tmp_path), "--workspace", str(tmp_path / "ws"), "--json", "-q"]
    assert guarded(command, ["run", str(tmp_path / "s.yaml"), *given]) == 1
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["results"]}
    assert (rows["halves__a"]["verdict"], rows["halves__b"]["verdict"]) == ("inconsistent", "pass")
    assert rows["halves"]["verdict"] == "inconsistent"
    assert rows["halves"]["finding"]
    assert "in pytorch they agree" in rows["halves"]["summary"]
