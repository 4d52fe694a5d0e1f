"""What StableHLO's programs show of XLA, IREE and the interpreter itself, through the whole pipeline, and who is blamed for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest

pytestmark = pytest.mark.slow

BOOLEANS = """func.func @add_booleans() {
  %0 = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %1 = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %2 = stablehlo.add %0, %1 : tensor<4xi1>
  check.expect_eq_const %2, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}
"""
INTERPRETER = """func.func @convolution_of_int8() {
  %0 = stablehlo.constant dense<100> : tensor<1x2x2x1xi8>
  %1 = stablehlo.constant dense<1> : tensor<2x2x1x1xi8>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x2x2x1xi8>, tensor<2x2x1x1xi8>) -> tensor<1x1x1x1xi32>
  check.expect_eq_const %2, dense<400> : tensor<1x1x1x1xi32>
  func.return
}
// -----
func.func @scatter_into_an_operand_that_is_read_again() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %indices = stablehlo.constant dense<[[1]]> : tensor<1x1xi64>
  %updates = stablehlo.constant dense<[10]> : tensor<1xi64>
  %scattered = "stablehlo.scatter"(%operand, %indices, %updates) ({
    ^bb0(%old: tensor<i64>, %new: tensor<i64>):
      stablehlo.return %new : tensor<i64>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = true
  } : (tensor<3xi64>, tensor<1x1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %both = stablehlo.add %scattered, %operand : tensor<3xi64>
  check.expect_eq_const %both, dense<[2, 12, 6]> : tensor<3xi64>
  func.return
}
// -----
func.func @not_a_number_of_f8E8M0FNU() {
  %0 = stablehlo.constant dense<[1.0, 0xFF]> : tensor<2xf8E8M0FNU>
  %1 = stablehlo.convert %0 : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  func.return
}
"""
SQUARES = """func.func @squares() {
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
NEAR_ZERO = """func.func @near_zero() {{
  %x = stablehlo.constant dense<{x}> : tensor<64xf32>
  %y = stablehlo.constant dense<{y}> : tensor<64xf32>
  %e = stablehlo.exponential %x : tensor<64xf32>
  %d = stablehlo.subtract %e, %y : tensor<64xf32>
  check.expect_almost_eq_const %d, dense<0.0> : tensor<64xf32>
  func.return
}}
"""
"""What rounding leaves of exponentials: XLA rounds some of them to a neighbour of the nearest number."""


def opera(place: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=place)


def campaigns(place: Path, text: str, *compilers: str, declared: bool = True) -> dict[str, Any]:
    """The report of a campaign of each compiler on the programs of *text*, with the results that these declare or without any."""
    (place / "programs.mlir").write_text(text)
    own = () if declared else ("--workspace", "declared")
    done = opera(place, "extract", "--lib", "stablehlo", "--programs", str(place / "programs.mlir"), "-q", *own)
    assert done.returncode == 0, done.stderr
    if not declared:
        done = opera(place, "export", "jsonl", "all.jsonl", *own)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (place / "all.jsonl").read_text().splitlines()]
        for line in lines[1:]:
            del line["instance"]["expected"]
        (place / "open.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
        done = opera(place, "import", "open.jsonl")
        assert done.returncode == 0, done.stderr
    for compiler in compilers:
        done = opera(place, "run", "--compiler", compiler, "--frontend", "stablehlo", "-q", "--exit-zero")
        assert done.returncode == 0, done.stderr
    return json.loads(opera(place, "report", "--json").stdout)


def findings(place: Path, text: str, *compilers: str, declared: bool = True) -> list[dict[str, Any]]:
    """The findings of a campaign of each compiler on the programs of *text*, after triage."""
    campaigns(place, text, *compilers, declared=declared)
    done = opera(place, "triage")
    assert done.returncode == 0, done.stderr
    return json.loads(opera(place, "report", "--json").stdout)["findings"]


def blamed(found: list[dict[str, Any]]) -> dict[tuple[str, str], str | None]:
    """Who stands alone, by compiler and operator."""
    return {(each["compiler"], each["operators"][0]): each["stands_alone"] for each in found if each["verdict"] == "inconsistent"}


def test_faults_of_the_interpreter_are_the_interpreters(tmp_path: Path) -> None:
    """XLA has the last one, too, where the number is a constant: both convert constants by LLVM. IREE and the readable one decide."""
    found = blamed(findings(tmp_path, INTERPRETER, "stablehlo-reference", "xla"))
    assert found.pop(("xla", "stablehlo.convert")) == "compiler"
    assert found == {
        ("stablehlo-reference", "stablehlo.convolution"): "interpreter",
        ("stablehlo-reference", "stablehlo.add"): "interpreter",
        ("stablehlo-reference", "stablehlo.convert"): "interpreter",
    }


def test_booleans_that_are_added_as_xor_are_the_compilers(tmp_path: Path) -> None:
    """openxla/stablehlo#2630: XLA where they are constants, IREE always. The script of an issue shows it."""
    found = findings(tmp_path, BOOLEANS, "stablehlo-reference", "xla", "iree")
    assert blamed(found) == {("xla", "stablehlo.add"): "compiler", ("iree", "stablehlo.add"): "compiler"}
    assert {each["compiler"]: each["tests"] for each in found} == {"xla": 1, "iree": 2}
    for each in found:
        ran = opera(tmp_path, "reproduce", each["id"])
        assert "reproduced: Mismatched elements" in ran.stderr + ran.stdout
        issue = opera(tmp_path, "issue", each["id"])
        assert issue.returncode == 0, issue.stderr
        assert "Expected: `True`, as the program declares it" in issue.stdout
        assert "Do not report" not in issue.stdout
        assert "stablehlo-reference/stablehlo gives the library's result as well" in issue.stdout
    assert any("input form=baked" in str(each["trigger"]) for each in found if each["compiler"] == "xla")


def test_a_sum_of_squares_that_xla_gets_wrong_is_the_compilers(tmp_path: Path) -> None:
    """jax-ml/jax#39103, in jaxlib 0.10.2."""
    found = findings(tmp_path, SQUARES, "xla", "stablehlo-reference")
    assert {(compiler, alone) for (compiler, _), alone in blamed(found).items()} == {("xla", "compiler")}


def test_where_the_two_interpreters_disagree_is_a_finding_of_its_own(tmp_path: Path) -> None:
    """Without declared results, jaxlib's interpreter is the library. It is no witness for itself, so XLA and IREE decide."""
    found = blamed(findings(tmp_path, INTERPRETER.rpartition("// -----")[0], "stablehlo-readable", declared=False))
    assert found == {
        ("stablehlo", "stablehlo.convolution"): "library",
        ("stablehlo", "stablehlo.add"): "library",
    }


def test_double_precision_and_changed_inputs_excuse_what_rounding_alone_decides(tmp_path: Path) -> None:
    x = np.linspace(10, 16, 64).astype(np.float32)
    y = np.exp(x.astype(np.float64)).astype(np.float32)
    text = NEAR_ZERO.format(x=f'"0x{x.tobytes().hex()}"', y=f'"0x{y.tobytes().hex()}"')
    report = campaigns(tmp_path, text, "xla")
    assert report["subjects"][0]["verdicts"] == {"pass": 1, "undefined": 1}
    assert report["filtered"] == {"undefined: ill-conditioned": 1}
