"""StableHLO programs as instances, and what XLA, IREE and the interpreter make of both input forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opera.arrays import Array
from opera.compilers.adapter import Adapter, Subject
from opera.compilers.iree import IreeAdapter
from opera.compilers.registry import plugins
from opera.compilers.stablehlo_format import input_types
from opera.compilers.xla import XlaAdapter
from opera.extensions.stablehlo.canary import STABLEHLO
from opera.extensions.stablehlo.compilers.reference import StableHloReference
from opera.extensions.stablehlo.compilers.tvm import TvmStableHloAdapter
from opera.extensions.stablehlo.templates import recorder as stablehlo_recorder
from opera.extensions.stablehlo.templates.model import StableHloModel, StableHloTemplate
from opera.instance import Argument, Graph, Instance, Kind, Tensor, decode_instance
from opera.instrumentation.filters import Filters
from opera.models.template import Invalid
from opera.oracles.verdict import Failure

PROGRAMS = """func.func @add_booleans() {
  %0 = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %1 = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %2 = stablehlo.add %0, %1 : tensor<4xi1>
  check.expect_eq_const %2, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}
// -----
func.func private @inputs() -> tensor<2xf64> {
  %c = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf64>
  return %c : tensor<2xf64>
}
func.func private @expected() -> tensor<2xf64> {
  %c = stablehlo.constant dense<[0.4794, 0.9093]> : tensor<2xf64>
  return %c : tensor<2xf64>
}
func.func @main() -> tensor<2xf64> {
  %0 = call @inputs() : () -> tensor<2xf64>
  %1 = call @expected() : () -> tensor<2xf64>
  %2 = stablehlo.sine %0 : tensor<2xf64>
  stablehlo.custom_call @check.expect_almost_eq(%2, %1) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
  return %2 : tensor<2xf64>
}
// -----
func.func @takes(%arg0: tensor<f32>) {
  return
}
// -----
func.func @sums_from_the_end() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = chlo.scan(%0) inits(%1) dimension=0 attributes {is_reverse = true} {
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
    %3 = stablehlo.add %arg0, %arg1 : tensor<i32>
    stablehlo.return %3, %3 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  check.expect_eq_const %2#0, dense<[10, 9, 7, 4]> : tensor<4xi32>
  func.return
}
// -----
func.func @squares() {
  %i = stablehlo.iota dim = 0 : tensor<32769xf32>
  %column = stablehlo.reshape %i : (tensor<32769xf32>) -> tensor<32769x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.pad %column, %zero, low = [0, 0], high = [0, 2], interior = [0, 0]
    : (tensor<32769x1xf32>, tensor<f32>) -> tensor<32769x3xf32>
  %matrix = stablehlo.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>
  %product = stablehlo.dot_general %matrix, %x, contracting_dims = [1] x [1]
    : (tensor<3x3xf32>, tensor<32769x3xf32>) -> tensor<3x32769xf32>
  %square = stablehlo.multiply %product, %product : tensor<3x32769xf32>
  %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3x32769xf32>, tensor<f32>) -> tensor<32769xf32>
  %last = stablehlo.slice %sum [32768:32769] : (tensor<32769xf32>) -> tensor<1xf32>
  check.expect_eq_const %last, dense<1073741824.0> : tensor<1xf32>
  func.return
}
"""


class Options:
    """What the host tells the recorder."""

    def __init__(self, recording: Path) -> None:
        self.recording = recording
        self.source, self.inputs = "official", ""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "programs.mlir").write_text(PROGRAMS)
    options: Any = Options(folder / "recording.jsonl")
    entries = stablehlo_recorder.find(folder)
    stablehlo_recorder.record(options, list(enumerate(entries.names)), entries.root, Filters([], [], []))
    return [json.loads(line) for line in options.recording.read_text().splitlines()]


@pytest.fixture(scope="module")
def instances(recorded: list[dict[str, Any]]) -> dict[str, Instance]:
    """By API."""
    documents = [line["instance"] for line in recorded if "instance" in line]
    return {each["api"]: decode_instance(each) for each in documents}


def test_each_checked_function_is_one_instance_named_after_the_operation_under_check(
    recorded: list[dict[str, Any]], instances: dict[str, Instance]
) -> None:
    assert set(instances) == {"stablehlo.add", "stablehlo.sine", "chlo.scan", "stablehlo.slice"}
    assert [line["dropped"] for line in recorded if "dropped" in line] == ["no-result"]
    assert [line["test"] for line in recorded if "instance" in line] == [
        "official::programs.mlir::1::add_booleans",
        "official::programs.mlir::2::main",
        "official::programs.mlir::4::sums_from_the_end",
        "official::programs.mlir::5::squares",
    ]


def test_constants_and_declared_results_of_a_program_stay_under_every_seed(instances: dict[str, Instance]) -> None:
    for instance in instances.values():
        built = [StableHloTemplate().build(instance, key, seed) for key, seed in (("a", 0), ("b", 1), ("c", 7))]
        assert len({tuple(np.asarray(value).tobytes() for _, value in each.inputs) for each in built}) == 1
        assert [each.reference().origin for each in built] == ["declared"] * 3


def test_where_a_program_allows_a_tolerance_the_interpreters_digits_are_kept(instances: dict[str, Instance]) -> None:
    model = made(instances["stablehlo.sine"])
    [output] = model.reference().outputs
    assert np.array_equal(output, np.sin([0.5, 2.0])) or np.allclose(output, np.sin([0.5, 2.0]), rtol=1e-15)
    assert model.reference().origin == "declared"


def test_the_readable_interpreter_computes_without_rounding_and_with_changed_inputs() -> None:
    program = """func.func @main(%a: tensor<1xf32>, %b: tensor<1xi8>) -> (tensor<1xf32>, tensor<1xi8>) {
  %0 = stablehlo.multiply %a, %a : tensor<1xf32>
  %1 = stablehlo.add %b, %b : tensor<1xi8>
  return %0, %1 : tensor<1xf32>, tensor<1xi8>
}
"""
    inputs = (Tensor((1,), "float32", np.float32(0.1).tobytes()), Tensor((1,), "int8", np.int8(100).tobytes()))
    call = tuple(Argument(f"arg{index}", each) for index, each in enumerate(inputs))
    graph = Graph("mlir.stablehlo", program.encode())
    model = made(Instance("stablehlo", "stablehlo.add", Kind.GRAPH, call=call, context=(("graph", graph),)))
    assert [each.tolist() for each in model.run_once()] == [[np.float32(0.1) * np.float32(0.1)], [-56]]
    wide, whole = model.exact("float64"), model.exact("int64")
    assert wide is not None
    assert wide[0].tolist() == [float(np.float32(0.1)) ** 2]
    assert whole is not None
    assert whole[1].tolist() == [200]
    near = model.nearby(1e-3, 1)
    assert near is not None
    assert near[0].dtype == np.float64
    assert 1e-4 < abs(near[0][0] / float(np.float32(0.1)) ** 2 - 1) < 3e-3


def made(instance: Instance) -> StableHloModel:
    return StableHloTemplate().build(instance, "key", 0)


def outputs(adapter: Adapter, instance: Instance, form: str) -> list[Array]:
    """What a compiler computes, in this process."""
    model = made(instance)
    route = next(each for each in adapter.routes if (each.frontend, each.name) == ("stablehlo", "text"))
    subject = Subject(route, model.artefact("stablehlo", form).data, dict(model.inputs), 1, lambda: instance)
    loaded = adapter.load(subject, str)
    return [np.asarray(each) for each in adapter.run(adapter.compile(loaded, subject, str), subject, str)]


@pytest.fixture(scope="module")
def xla() -> XlaAdapter:
    adapter = XlaAdapter({})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}.items():
            patch.setenv(name, value)
        adapter.start()
    return adapter


def test_both_forms_declare_what_they_take(instances: dict[str, Instance]) -> None:
    model = made(instances["stablehlo.add"])
    assert input_types(model.artefact("stablehlo", "runtime").data.decode()) == ["tensor<4xi1>", "tensor<4xi1>"]
    assert input_types(model.artefact("stablehlo", "baked").data.decode()) == []


def test_xla_adds_booleans_as_xor_only_where_they_are_constants(xla: XlaAdapter, instances: dict[str, Instance]) -> None:
    """openxla/stablehlo#2630. The specification says OR."""
    assert outputs(xla, instances["stablehlo.add"], "runtime")[0].tolist() == [False, True, True, True]
    assert outputs(xla, instances["stablehlo.add"], "baked")[0].tolist() == [False, True, True, False]


def test_compilers_get_a_program_as_it_is_written(xla: XlaAdapter, instances: dict[str, Instance]) -> None:
    """jaxlib's pass that writes CHLO as StableHLO forgets that a scan is reversed, and compilers would be blamed for its text."""
    scan = instances["chlo.scan"]
    for form in ("runtime", "baked"):
        assert b"chlo.scan" in made(scan).artefact("stablehlo", form).data
        assert outputs(xla, scan, form)[0].tolist() == [10, 9, 7, 4]


def test_iree_adds_booleans_as_xor_in_both_forms(instances: dict[str, Instance]) -> None:
    adapter = IreeAdapter({})
    adapter.start()
    for form in ("runtime", "baked"):
        assert outputs(adapter, instances["stablehlo.add"], form)[0].tolist() == [False, True, True, False]


def test_the_interpreter_follows_the_specification(instances: dict[str, Instance]) -> None:
    adapter = StableHloReference({})
    adapter.start()
    for form in ("runtime", "baked"):
        assert outputs(adapter, instances["stablehlo.add"], form)[0].tolist() == [False, True, True, True]
        assert outputs(adapter, instances["stablehlo.slice"], form)[0].tolist() == [1073741824.0]
    [canary] = outputs(adapter, STABLEHLO, "runtime")
    assert canary.tolist() == [[1.0, 0.0, 2.5], [5.0, 12.0, 2.0]]


def test_inputs_that_do_not_fit_are_no_instance(instances: dict[str, Instance]) -> None:
    add = instances["stablehlo.add"]
    with pytest.raises(Invalid, match="inputs-do-not-fit"):
        made(Instance(add.library, add.api, add.kind, call=add.call[:1], context=add.context))


@pytest.mark.parametrize(
    ("adapter", "stage", "type"),
    [
        (TvmStableHloAdapter, "load", "jaxlib.mlir._mlir_libs._site_initialize.<locals>.MLIRError"),
        (IreeAdapter, "codegen", "iree.compiler.tools.binaries.CompilerToolError"),
        (XlaAdapter, "codegen", "jax.errors.JaxRuntimeError"),
    ],
)
def test_an_operation_newer_than_a_compilers_stablehlo_is_declined(adapter: type[Adapter], stage: str, type: str) -> None:
    failure: Failure = {
        "type": type, "bases": [], "message": "error: \"-\":3:12: custom op 'chlo.scan' is unknown", "frames": [],
    }  # fmt: skip
    assert [rule.reason for rule in adapter.unsupported if rule.applies(failure, stage)] == ["no-converter"]


def test_tvm_says_that_its_importer_needs_an_older_jaxlib() -> None:
    packages = plugins()["tvm-stablehlo"].load().packages
    assert "jaxlib>=0.6,<0.8" in packages
