"""Folding constants, and exporting instances as self-checking programs, through the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parameters import quick

from opera.cli import command
from opera.cli.options import guarded

Capture = pytest.CaptureFixture[str]

PROGRAM = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.add %a, %a : tensor<2xf32>
  %i = stablehlo.constant dense<0> : tensor<2xi32>
  %j = stablehlo.divide %i, %i : tensor<2xi32>
  %k = stablehlo.convert %j : (tensor<2xi32>) -> tensor<2xf32>
  %c = stablehlo.multiply %x, %b : tensor<2xf32>
  %d = stablehlo.multiply %c, %k : tensor<2xf32>
  check.expect_eq_const %b, dense<[2.0, 4.0]> : tensor<2xf32>
  return %d : tensor<2xf32>
}
"""
CHECKED = """func.func @wraps() {
  %lhs = stablehlo.constant dense<[0, 2]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[15, 3]> : tensor<2xui4>
  %result = stablehlo.add %lhs, %rhs : tensor<2xui4>
  check.expect_eq_const %result, dense<[15, 5]> : tensor<2xui4>
  func.return
}

// -----

func.func @large() {
  %operand = stablehlo.iota dim = 0 : tensor<200xf32>
  %result = stablehlo.sine %operand : tensor<200xf32>
  check.expect_almost_eq %result, %result : tensor<200xf32>
  func.return
}
"""


def run(capfd: Capture, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `opera`."""
    code = guarded(command, list(arguments))
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("interpreter", ["reference", pytest.param("readable", marks=pytest.mark.slow)])
def test_what_is_constant_and_specified_is_folded(interpreter: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "a.mlir").write_text(PROGRAM)
    code, out, err = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"), "--interpreter", interpreter)
    assert code == 0
    assert "1 operation folded; 1 left: its result is undefined" in err
    assert "stablehlo.add" not in out
    assert out.count("stablehlo.divide") == 1
    assert "check.expect_eq_const %cst, dense<[2.0, 4.0]> : tensor<2xf32>" in out
    (tmp_path / "b.mlir").write_text(out)
    assert run(capfd, "stablehlo", "fold", str(tmp_path / "b.mlir"))[1] == out
    arguments = ("--args", "[dense<[1.0, 3.0]> : tensor<2xf32>]")
    before = run(capfd, "stablehlo", "interpret", str(tmp_path / "a.mlir"), *arguments, "--interpreter", "readable")
    assert before == run(capfd, "stablehlo", "interpret", str(tmp_path / "b.mlir"), *arguments, "--interpreter", "readable")


WRONG_IN_JAXLIB = {
    "convolution": (
        """  %0 = stablehlo.constant dense<100> : tensor<1x1x1x1xi8>
  %1 = stablehlo.convolution(%0, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>) -> tensor<1x1x1x1xi32>
""",
        "dense<10000> : tensor<1x1x1x1xi32>",
    ),
    "compare": (
        """  %0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %1 = stablehlo.compare EQ, %0, %0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
""",
        "dense<true> : tensor<i1>",
    ),
    "convert": (
        """  %0 = stablehlo.constant dense<0xFF> : tensor<f8E8M0FNU>
  %1 = stablehlo.convert %0 : (tensor<f8E8M0FNU>) -> tensor<f32>
""",
        "dense<0x7FC00000> : tensor<f32>",
    ),
    "map": (
        """  %0 = stablehlo.constant dense<0x7FC00000> : tensor<1xf32>
  %1 = "stablehlo.map"(%0) ({
    ^bb0(%a: tensor<f32>):
      %2 = stablehlo.compare EQ, %a, %a, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
  }) {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<1xi1>
""",
        "dense<true> : tensor<1xi1>",
    ),
}


@pytest.mark.parametrize("name", quick(WRONG_IN_JAXLIB))
def test_what_jaxlib_has_wrong_is_folded_by_the_readable_interpreter_alone(name: str, tmp_path: Path, capfd: Capture) -> None:
    body, right = WRONG_IN_JAXLIB[name]
    type = right.rpartition(" ")[2]
    (tmp_path / "a.mlir").write_text(f"func.func @a() -> {type} {{\n{body}  func.return %1 : {type}\n}}\n")
    code, out, _ = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"))
    assert (code, right in out, f"stablehlo.{name}" in out) == (0, True, False)
    code, out, err = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"), "--interpreter", "reference")
    assert (code, f"stablehlo.{name}" in out) == (0, True)
    assert "1 left: the packaged interpreter is known to have it wrong" in err


def test_an_operation_whose_region_may_have_an_open_result_stays(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "a.mlir").write_text("""func.func @a() -> tensor<1xi32> {
  %0 = stablehlo.constant dense<0> : tensor<1xi32>
  %1 = "stablehlo.map"(%0, %0) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %2 = stablehlo.divide %a, %b : tensor<i32>
      stablehlo.return %2 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  func.return %1 : tensor<1xi32>
}
""")
    _, out, err = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"))
    assert "stablehlo.map" in out
    assert "1 left: its result is undefined" in err


RESOURCE = """func.func @main() -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.constant dense_resource<blob1> : tensor<2xf32>
  %1 = stablehlo.add %0, %zero : tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
{-#
  dialect_resources: { builtin: { blob1: "0x040000000000803F0000803F" } }
#-}
"""


@pytest.mark.parametrize("interpreter", quick(["reference", "readable"]))
def test_constants_whose_values_are_not_read_are_refused_with_their_line(interpreter: str, tmp_path: Path, capfd: Capture) -> None:
    """jaxlib's interpreter gives memory that nothing was written to as the result."""
    (tmp_path / "a.mlir").write_text(RESOURCE)
    code, out, err = run(capfd, "stablehlo", "interpret", str(tmp_path / "a.mlir"), "--interpreter", interpreter)
    assert (code, out) == (4, "")
    assert "a.mlir:1: unsupported: line 3: the values of a dense_resource are not read; write the constant as dense<...>" in err
    code, out, _ = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"), "--interpreter", interpreter)
    assert (code, "stablehlo.add" in out) == (0, True)


def test_large_results_are_not_folded(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "a.mlir").write_text(CHECKED.partition("// -----")[2])
    code, out, err = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"), "--most", "100")
    assert (code, "iota" in out) == (0, True)
    assert "1 left: a result has more than 100 elements" in err


CONSTANT = "func.func @a() {\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n"


@pytest.mark.parametrize(
    "text",
    [
        "junk",
        "",
        "func.func @a() {\n  check.expect_eq_const 3\n}",
        CONSTANT + "  check.expect_eq_const %0, dense<1.5> : tensor<i32>\n  return\n}",
        CONSTANT + "  check.expect_almost_eq %0, %0 : tensor<i32>\n  return\n}",
    ],
)
def test_no_program_is_refused_with_its_place(text: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "a.mlir").write_text(text)
    code, out, err = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"))
    assert (code, out) == (2, "")
    assert "a.mlir" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_an_endless_loop_and_unknown_operations_have_a_reason(tmp_path: Path, capfd: Capture) -> None:
    loop = """func.func @loop() -> tensor<i1> {
  %a = stablehlo.constant dense<true> : tensor<i1>
  %b = stablehlo.while(%c = %a) : tensor<i1>
    cond { stablehlo.return %c : tensor<i1> }
    do { stablehlo.return %c : tensor<i1> }
  return %b : tensor<i1>
}

// -----

func.func @unknown() -> tensor<i1> {
  %a = stablehlo.constant dense<true> : tensor<i1>
  %b = stablehlo.custom_call @foreign(%a) : (tensor<i1>) -> tensor<i1>
  return %b : tensor<i1>
}
"""
    (tmp_path / "a.mlir").write_text(loop)
    code, out, _ = run(capfd, "stablehlo", "interpret", str(tmp_path / "a.mlir"), "--interpreter", "readable", "--json")
    assert code == 4
    found = {each["function"]: (each["state"], each["reason"]) for each in json.loads(out)["functions"]}
    assert found["loop"][0] == "unsupported"
    assert "more than 500,000 operations" in found["loop"][1]
    assert found["unknown"] == ("unsupported", "the interpreter does not know stablehlo.custom_call @foreign")


def nested(depth: int) -> str:
    """A function whose branches nest."""
    start = '%r{0} = "stablehlo.if"(%p) ({{\n'
    end = "  stablehlo.return {1} : tensor<i1>\n}}, {{\n  stablehlo.return %p : tensor<i1>\n}}) : (tensor<i1>) -> tensor<i1>\n"
    starts = "".join(start.format(place) for place in range(depth))
    ends = "".join(end.format(place, f"%r{place + 1}" if place + 1 < depth else "%p") for place in reversed(range(depth)))
    return (
        "func.func @main() -> tensor<i1> {\n  %p = stablehlo.constant dense<true> : tensor<i1>\n"
        f"{starts}{ends}  return %r0 : tensor<i1>\n}}\n"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "func.func private @g() -> tensor<i32>\n"
            "func.func @main() -> tensor<i32> {\n  %0 = call @g() : () -> tensor<i32>\n  return %0 : tensor<i32>\n}\n",
            "the interpreter does not know @g, which has no body",
        ),
        (
            "func.func @main() -> tensor<9000x9000xf32> {\n"
            "  %0 = stablehlo.constant dense<1.0> : tensor<9000x9000xf32>\n  return %0 : tensor<9000x9000xf32>\n}\n",
            "tensor<9000x9000xf32> has 81,000,000 elements, and at most 4,000,000 are allowed",
        ),
        (nested(1_000), "@main nests too deep"),
    ],
    ids=["no-body", "large-constant", "nested"],
)
def test_what_the_readable_interpreter_declines_is_named(text: str, reason: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "a.mlir").write_text(text)
    code, out, _ = run(capfd, "stablehlo", "interpret", str(tmp_path / "a.mlir"), "--interpreter", "readable", "--json")
    (found,) = json.loads(out)["functions"]
    assert (code, found["state"], found["reason"]) == (4, "unsupported", reason)


def test_a_large_constant_is_not_folded(tmp_path: Path, capfd: Capture) -> None:
    """Nor is it read: a constant of one value may have more elements than fit into memory."""
    (tmp_path / "a.mlir").write_text(
        "func.func @main() -> tensor<1000000x1000000xf32> {\n  %0 = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>\n"
        "  %1 = stablehlo.negate %0 : tensor<1000000x1000000xf32>\n  return %1 : tensor<1000000x1000000xf32>\n}\n"
    )
    code, out, _ = run(capfd, "stablehlo", "fold", str(tmp_path / "a.mlir"))
    assert (code, "stablehlo.negate" in out) == (0, True)


MANY = "".join(
    f"func.func @f{place}() {{\n  call @g{place}() : () -> ()\n  return\n}}\nfunc.func private @g{place}() {{\n  return\n}}\n"
    for place in range(3)
)


def test_each_function_is_evaluated_with_what_it_reaches_alone() -> None:
    """So a file of many functions takes time in proportion to their number."""
    from opera.extensions.stablehlo.templates.module import Parts, functions_of, ir, new_context, parse

    with new_context(), ir.Location.unknown():
        parts = Parts(parse(MANY))
        alone = parts.alone("f1")
        assert [(each.name, each.line) for each in functions_of(alone)] == [("f1", 8), ("g1", 12)]
        assert [each.name for each in functions_of(parts.alone("g2"))] == ["g2"]


@pytest.mark.slow
def test_an_instance_is_exported_as_a_program_that_checks_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "a.mlir").write_text(CHECKED)
    assert run(capfd, "extract", "--lib", "stablehlo", "--programs", "given", "-q")[0] == 0
    assert run(capfd, "run", "--compiler", "stablehlo-readable", "--frontend", "stablehlo", "-q", "--input-form", "folded")[0] == 0
    code, _, err = run(capfd, "export", "stablehlo", "programs", "--no-failures", "--passing", "9")
    assert (code, "2 programs written" in err) == (0, True)
    texts = [each.read_text() for each in sorted((tmp_path / "programs").iterdir())]
    assert (
        "  %result = stablehlo.add %lhs, %rhs : tensor<2xui4>\n  check.expect_eq_const %result, dense<[15, 5]> : tensor<2xui4>" in texts[0]
    )
    assert "tolerance = " in texts[1]
    for interpreter in ("reference", "readable"):
        code, out, _ = run(capfd, "stablehlo", "test", "programs", "--interpreter", interpreter)
        assert (code, "2 passed" in out) == (0, True)
