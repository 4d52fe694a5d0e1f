"""StableHLO programs without checks: `main` and its inputs are an instance, which any compiler of StableHLO runs."""

from __future__ import annotations

from pathlib import Path

import commands
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from opera.extensions.stablehlo.kind import text_of
from opera.extensions.stablehlo.reduction import STEPS
from opera.extensions.stablehlo.templates.model import StableHloModel, StableHloTemplate
from opera.instance import Instance, Tensor
from opera.store import Corpus
from opera.store.database import open_workspace

PROGRAM = """
module {
  func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func @main(%x: tensor<3xf32>, %n: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xi32>) {
    %0 = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.sine %0 : tensor<3xf32>
    return %1, %n : tensor<3xf32>, tensor<2xi32>
  }
}
"""
OPEN = "module { func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> } }\n"


def extracted(folder: Path, *options: str) -> list[Instance]:
    commands.run("extract", "--lib", "stablehlo", "--programs", "prog.mlir", *options, folder=folder)
    with open_workspace(folder / ".opera", write=False) as space:
        return [each for _, each in Corpus(space).instances("stablehlo")]


def test_inputs_come_from_a_file_or_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "prog.mlir").write_text(PROGRAM)
    np.savez(tmp_path / "x.npz", arg0=np.array([1, 2, 3], np.float32))
    (found,) = extracted(tmp_path, "--option", "inputs=x.npz")
    first, second = (each.value for each in found.call)
    assert found.kind.behaviour.operators(found) == ("stablehlo.multiply", "stablehlo.sine")
    assert isinstance(first, Tensor)
    assert first.data == np.array([1, 2, 3], np.float32).tobytes()
    assert second == Tensor((2,), "int32")
    ran = commands.run("run", "--compiler", "stablehlo-readable", "--frontend", "stablehlo", "--json", folder=tmp_path)
    assert ran.json["verdicts"] == {"pass": 2}, "with inputs at run time, and in the program"


@pytest.mark.parametrize(
    ("text", "inputs", "message"),
    [
        (PROGRAM, {"arg0": np.ones((2, 2), np.float32)}, "arg0 of the inputs is float32[2, 2], and main takes tensor<3xf32>"),
        (PROGRAM, None, "name a file of numpy.savez"),
        (OPEN, {}, "no stablehlo instance was recorded"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, text: str, inputs: dict[str, np.ndarray] | None, message: str) -> None:
    (tmp_path / "prog.mlir").write_text(text)
    if inputs is not None:
        np.savez(tmp_path / "x.npz", **inputs)
    ran = commands.run("extract", "--lib", "stablehlo", "--programs", "prog.mlir", "--option", "inputs=x.npz", folder=tmp_path)
    assert ran.code != 0
    assert message in ran.stdout + ran.stderr


BOOLEANS = """
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>, %p: tensor<4xi1>, %q: tensor<4xi1>) -> (tensor<3xf32>, tensor<4xi1>) {
  %0 = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.sine %0 : tensor<3xf32>
  %2 = stablehlo.add %p, %q : tensor<4xi1>
  %3 = stablehlo.and %2, %q : tensor<4xi1>
  return %1, %3 : tensor<3xf32>, tensor<4xi1>
}
"""


@pytest.mark.slow
def test_a_program_is_reduced_to_the_operation_that_fails(tmp_path: Path) -> None:
    """XLA adds constants of i1 as XOR, where StableHLO says OR."""
    (tmp_path / "prog.mlir").write_text(BOOLEANS)
    np.savez(tmp_path / "x.npz", arg1=np.array([0, 0, 1, 1], np.bool), arg2=np.array([0, 1, 0, 1], np.bool))
    extracted(tmp_path, "--option", "inputs=x.npz")
    ran = commands.run("run", "--compiler", "xla", "--frontend", "stablehlo", "--json", folder=tmp_path)
    assert ran.json["verdicts"].get("inconsistent") == 1
    commands.run("triage", folder=tmp_path)
    (finding,) = commands.run("report", "--json", folder=tmp_path).json["findings"]
    assert "calls stablehlo.add(i1, i1)" in finding["trigger"]
    shown = commands.run("show", finding["id"], folder=tmp_path).stdout
    reduced = shown[shown.index("\nreduced\n") :].splitlines()[3:6]
    assert [each.strip() for each in reduced] == [
        "@main(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>)",
        "%2 = stablehlo.add(%arg0, %arg1) : tensor<4xi1>",
        "return %2",
    ]


def test_every_step_from_what_jax_lowers_is_a_module_that_mlir_verifies(tmp_path: Path) -> None:
    """Loops, branches, sorts, gathers and functions that are called, each with regions or several results."""
    functions = (
        lambda x: jax.lax.scan(lambda carry, each: (carry + each, carry * each), jnp.zeros(3), x),
        lambda x: jax.lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, jnp.sort(x, axis=0)[::-1]),
        lambda x: jax.nn.softmax(jnp.tanh(x @ x.T)) + jnp.take(x, jnp.array([0, 1]), axis=1).sum(),
        lambda x: jax.random.uniform(jax.random.key(0), (4, 3)) * jnp.argmax(x),
    )
    for index, each in enumerate(functions):
        text = jax.jit(each).lower(jax.ShapeDtypeStruct((4, 3), jnp.float32)).as_text()
        (tmp_path / f"program{index}.mlir").write_text(text)
    np.savez(tmp_path / "x.npz", arg0=np.linspace(-1, 2, 12, dtype=np.float32).reshape(4, 3))
    commands.run("extract", "--lib", "stablehlo", "--programs", ".", "--option", "inputs=x.npz", folder=tmp_path)
    with open_workspace(tmp_path / ".opera", write=False) as space:
        instances = [each for _, each in Corpus(space).instances("stablehlo")]
    assert len(instances) == len(functions)
    StableHloTemplate()
    for instance in instances:
        smaller = [each for step in STEPS[:-1] for each in step(instance)]
        assert len(smaller) > 10
        for each in smaller:
            StableHloModel(each, text_of(each).encode(), "key", 0)
