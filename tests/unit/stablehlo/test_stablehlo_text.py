"""StableHLO's text without a compiler: programs of a file, checks, constants, comparisons and printed forms."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.errors import NothingSelected, UserError
from opera.extensions.stablehlo.checks import Check, Closeness, holds
from opera.extensions.stablehlo.conformance.files import Unreadable, find_sources, read_arrays, read_source, read_sources
from opera.extensions.stablehlo.conformance.known import OFFICIAL, Known, read_known
from opera.extensions.stablehlo.conformance.runner import Outcome, State
from opera.extensions.stablehlo.conformance.verdicts import judge
from opera.extensions.stablehlo.literals import constants_of, read_constant
from opera.extensions.stablehlo.printing import printed, printed_dense
from opera.extensions.stablehlo.scanner import Program, TextError, first_function, programs_of
from opera.extensions.stablehlo.statements import generic
from opera.extensions.stablehlo.types import Value, element_type, of_dtype, tensor_type

ALMOST = Check("check.expect_almost_eq", Closeness.ABSOLUTE)


def test_a_line_of_dashes_separates_programs_and_empty_ones_are_left_out() -> None:
    text = "// only a comment\n// -----\nfunc.func @a() {\n}\n// -----\n\n// -----\n// x\nfunc.func private @main() {}\n// ------ none\n"
    programs = programs_of(text)
    assert [first_function(each.text) for each in programs] == ["a", "main"]
    assert [each.line for each in programs] == [2, 7]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("check.expect_eq %0, %1 : tensor<3xi64>", '"check.expect_eq"(%0, %1) {} : (tensor<3xi64>, tensor<3xi64>) -> ()'),
        (
            "check.expect_almost_eq %a#1, %b, tolerance = 1e-5 : f64 : tensor<f32>",
            '"check.expect_almost_eq"(%a#1, %b) {tolerance = 1.0e-5 : f64} : (tensor<f32>, tensor<f32>) -> ()',
        ),
        (
            "check.expect_close %0, %1, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<i1>, tensor<i1>",
            '"check.expect_close"(%0, %1) {max_ulp_difference = 3 : ui64, min_ulp_difference = 1 : ui64} : (tensor<i1>, tensor<i1>) -> ()',
        ),
        (
            'check.expect_serialized_eq %3, probe_id = "a b", iter = 1 : tensor<i64>',
            '"check.expect_serialized_eq"(%3) {probe_id = "a b", iteration = 1 : ui32} : (tensor<i64>) -> ()',
        ),
    ],
)
def test_a_check_is_written_in_generic_form(statement: str, expected: str) -> None:
    assert generic(f"  {statement} loc(unknown)\n") == f"  {expected} loc(unknown)\n"


def test_a_check_over_several_lines_keeps_the_lines_of_what_follows() -> None:
    text = 'check.expect_eq_const %0, dense<[\n  1, // one\n  "2"\n]> : tensor<2xi32>\nreturn'
    assert generic(text).splitlines()[4] == "return"


@pytest.mark.parametrize(
    "text", ["// check.expect_eq nothing", '"check.expect_eq"(%0, %1) : () -> ()', 'a = "check.expect_eq x"', "@check.expect_eq"]
)
def test_what_only_looks_like_a_check_stays(text: str) -> None:
    assert generic(text) == text


@pytest.mark.parametrize(
    "statement",
    [
        "check.expect_eq_const %2, [15, 5] : tensor<2xui4>",
        "check.expect_equal %0, %1 : tensor<f32>",
        "check.expect_eq %0 : tensor<f32>",
        "check.expect_eq %0, %1",
        "check.expect_eq_const 3, dense<3> : tensor<i32>",
        "check.expect_close %0, %1 : tensor<f32>, tensor<f32>",
        "check.expect_almost_eq %0, %1, tolerance = small : tensor<f32>",
        "check.expect_eq_const %0, dense<[1, 2> : tensor<2xi32>",
        "check.expect_serialized_eq %0, probe_id = 3 : tensor<f32>",
    ],
)
def test_a_check_outside_the_grammar_is_an_error_with_its_line(statement: str) -> None:
    with pytest.raises(TextError) as caught:
        generic(f"func.func @a() {{\n\n  {statement}\n}}\n")
    assert caught.value.line in (3, 4)


@given(st.text(alphabet='check.expt_q%01, ="<>[]{}():\n/@#-denso', max_size=80))
def test_no_text_breaks_the_scanner(text: str) -> None:
    for program in programs_of(text):
        with suppress(TextError):
            generic(f"check.expect_eq_const {program.text}")


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("dense<[[1, -2], [0x7F, 3]]> : tensor<2x2xi8>", [1, -2, 127, 3]),
        ("dense<255> : tensor<2xi8>", [-1, -1]),
        ("dense<[true, false]> : tensor<2xi1>", [True, False]),
        ('dense<"0x010E"> : tensor<2xi4>', [1, -2]),
        ('dense<"0x0000803F"> : tensor<2xf32>', [1.0, 1.0]),
        ("dense<[(1.0, -2.5), (0x7FC00000, 0.0)]> : tensor<2xcomplex<f32>>", [1 - 2.5j, complex(math.nan, 0)]),
        ("dense<> : tensor<0x3xf64>", []),
        ("dense<[0.0, 3.1415]> : tensor<2xf8E8M0FNU>", [2.0**-127, 4.0]),
        ("dense<18446744073709551615> : tensor<ui64>", [2**64 - 1]),
    ],
)
def test_constants_are_read(text: str, elements: list[complex]) -> None:
    value = read_constant(text)
    wide = complex if value.array.dtype.kind == "c" else float if value.type.element.is_float else object
    assert np.array_equal(value.array.reshape(-1).astype(wide), np.array(elements, wide), equal_nan=wide is not object)


@pytest.mark.parametrize(
    "text",
    [
        "dense<[1, 2]> : tensor<3xi8>",
        "dense<[[1], [2]]> : tensor<2xi8>",
        "dense<256> : tensor<i8>",
        "dense<-1> : tensor<ui8>",
        "dense<1.5> : tensor<i8>",
        'dense<"0x01"> : tensor<2xi16>',
        'dense<"xyz"> : tensor<2xi8>',
        "dense<1> : tensor<?xi8>",
        "dense<x> : tensor<i8>",
        "dense<1> : tensor<2x!quant.uniform<i8:f32, 1.0>>",
        "sparse<1> : tensor<i8>",
    ],
)
def test_what_is_no_constant_is_refused(text: str) -> None:
    with pytest.raises(TextError):
        read_constant(text)


def test_an_array_of_constants_is_split_at_its_commas() -> None:
    found = constants_of("[dense<[1, 2]> : tensor<2xi32>, dense<(1.0,2.0)> : tensor<complex<f32>>]")
    assert [each.type for each in found] == ["tensor<2xi32>", "tensor<complex<f32>>"]
    for wrong in ("not_array", "[4.0 : f32]", "[dense<1> : tensor<i32>", "[dense<1> : tensor<i32>] x", ""):
        with pytest.raises(TextError):
            constants_of(wrong)


def value(text: str) -> Value:
    return read_constant(text)


def test_equality_is_bitwise() -> None:
    exact = Check("check.expect_eq", Closeness.BITWISE)
    assert holds(exact, value("dense<0.0> : tensor<f32>"), value("dense<-0.0> : tensor<f32>")) is not None
    assert holds(exact, value("dense<0x7FC00000> : tensor<f32>"), value("dense<0x7FC00000> : tensor<f32>")) is None
    found = holds(exact, value("dense<[[1, 2], [3, 4]]> : tensor<2x2xui4>"), value("dense<[[1, 2], [5, 6]]> : tensor<2x2xui4>"))
    assert found is not None
    assert (found.index, found.actual, found.expected, found.count) == ((1, 0), "3", "5", 2)


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ("0.2", "0.20009", True),
        ("0.2", "0.2002", False),
        ("0x7FC00000", "0x7FC00001", True),
        ("0x7F800000", "0x7F800000", True),
        ("0x7F800000", "3.4e38", False),
        ("0x7F800000", "0xFF800000", False),
        ("0.0", "-0.0", True),
    ],
)
def test_almost_equal_is_absolute_and_treats_infinities_and_nan(actual: str, expected: str, same: bool) -> None:
    values = [value(f"dense<{each}> : tensor<f32>") for each in (actual, expected)]
    assert (holds(ALMOST, *values) is None) is same
    parts = [value(f"dense<(1.0, {each})> : tensor<complex<f32>>") for each in (actual, expected)]
    assert (holds(ALMOST, *parts) is None) is same


@pytest.mark.parametrize(
    ("type", "actual", "expected", "distance"),
    [
        ("f16", "0x0001", "0x8002", 3),
        ("f32", "0x3F800000", "0x3F800004", 4),
        ("bf16", "0x7F80", "0x7F7F", None),
        ("f64", "0x7FF8000000000000", "0x7FF8000000000001", 0),
        ("f8E5M2", "0x3C", "0x3D", 1),
        ("f6E2M3FN", "0x01", "0x21", 2),
    ],
)
def test_distances_in_ulp_are_those_of_magnitudes(type: str, actual: str, expected: str, distance: int | None) -> None:
    values = [value(f"dense<{each}> : tensor<{type}>") for each in (actual, expected)]
    most = 2**63 if distance is None else distance
    assert (holds(Check("check.expect_close", Closeness.ULPS, most=most), *values) is None) is (distance is not None)
    if distance:
        assert holds(Check("check.expect_close", Closeness.ULPS, most=distance - 1), *values) is not None
        assert holds(Check("check.expect_close", Closeness.ULPS, least=distance + 1, most=99), *values) is not None


def test_tensors_are_printed_in_both_forms() -> None:
    matrix = value("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>")
    assert printed(matrix) == "tensor<2x2xi8> {\n  [\n    [1, 2],\n    [3, 4]\n  ]\n}"
    assert printed_dense(matrix) == "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>"
    assert printed(value("dense<1> : tensor<ui8>")) == "tensor<ui8> {1}"
    assert printed(value("dense<> : tensor<0x2xi8>")) == "tensor<0x2xi8> {\n  []\n}"
    assert printed(value("dense<> : tensor<2x0xi8>")) == "tensor<2x0xi8> {\n  [\n    [],\n    []\n  ]\n}"
    pair = value("dense<(3.14, 1.0)> : tensor<2xcomplex<f64>>")
    assert printed(pair) == "tensor<2xcomplex<f64>> {\n  [[3.140000e+00, 1.000000e+00], [3.140000e+00, 1.000000e+00]]\n}"
    assert printed_dense(pair) == "dense<(3.140000e+00,1.000000e+00)> : tensor<2xcomplex<f64>>"


@pytest.mark.parametrize(
    ("type", "number", "text"),
    [
        ("f32", "3.14159274", "3.14159274"),
        ("f32", "16777217.0", "0x4B800000"),
        ("f32", "123456.789", "123456.789"),
        ("f32", "1.17549435e-38", "1.17549435E-38"),
        ("f32", "0.00123456789", "0.00123456784"),
        ("f32", "0x7FC00000", "0x7FC00000"),
        ("bf16", "3.14", "3.140630e+00"),
        ("f64", "2.718281828459045", "2.7182818284590451"),
        ("f8E4M3FN", "0.4375", "4.375000e-01"),
    ],
)
def test_floats_are_printed_as_mlir_does(type: str, number: str, text: str) -> None:
    assert printed(value(f"dense<{number}> : tensor<{type}>")) == f"tensor<{type}> {{{text}}}"


def test_every_element_type_has_a_dtype_and_back() -> None:
    names = [*(f"{sign}i{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)), "i1", "f16", "bf16", "f32", "f64", "complex<f32>"]
    names += ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"]
    for name in names:
        assert of_dtype(element_type(name).dtype).name == name
        assert str(tensor_type(f"tensor<2x3x{name}>")) == f"tensor<2x3x{name}>"


def outcome(function: str, state: State, file: str = "suite/a.mlir", program: int = 1) -> Outcome:
    return Outcome(file, 1, function, state, program)


def test_known_failures_are_excused_and_the_list_has_to_be_true() -> None:
    rows = [
        Known("a.mlir", "fails", "why"),
        Known("suite/a.mlir", "passes", "why"),
        Known("a.mlir", "gone", "why"),
        Known("b.mlir", "elsewhere", "why"),
        Known("a.mlir", "other", "why", state="aborted"),
        Known("a.mlir", "second", "why", program=2),
    ]
    outcomes = [
        outcome("fails", State.FAILED),
        outcome("passes", State.PASSED),
        outcome("other", State.FAILED),
        outcome("second", State.FAILED),
        outcome("second", State.FAILED, program=2),
        outcome("declined", State.UNSUPPORTED),
    ]
    verdicts = judge(outcomes, rows)
    assert [(each.outcome.function, each.outcome.program) for each in verdicts.failures] == [("other", 1), ("second", 1)]
    assert [each.outcome.function for each in verdicts.passes] == ["passes"]
    assert [(each.row.function, each.missing) for each in verdicts.stale] == [("gone", "function")]
    assert [row.function for row in verdicts.unread] == ["elsewhere"]
    assert not verdicts.clean
    assert judge([outcome("fails", State.FAILED)], rows[:1]).clean


@pytest.mark.parametrize(
    ("file", "folders", "missing"),
    [
        ("gone.mlir", ["x/suite"], "file"),
        ("suite/gone.mlir", ["x/suite"], "file"),
        ("x/suite/gone.mlir", ["x/suite"], "file"),
        ("suite/inner/gone.mlir", ["x/suite"], "file"),
        ("suite/gone.mlir", ["x"], "file"),
        ("suite/gone.mlir", ["x/suite/deep"], None),
        ("other/gone.mlir", ["x/suite"], None),
        ("gone.mlir", [], None),
        ("suite/gone.mlir", [], None),
        ("suite/a.mlir", ["x/suite"], "function"),
        ("a.mlir", [], "function"),
    ],
)
def test_a_row_about_a_file_that_is_gone_is_noticed_where_its_folder_was_read(file: str, folders: list[str], missing: str | None) -> None:
    read = ["x/suite/a.mlir", "x/suite/deep/b.mlir"]
    found = judge([outcome("here", State.PASSED, each) for each in read], [Known(file, "f", "why")], read, folders)
    assert [each.missing for each in found.stale] == ([] if missing is None else [missing])
    assert len(found.unread) == (missing is None)


def test_rows_have_places(tmp_path: Path) -> None:
    row = '{file = "a", function = "%s", reason = "r"}'
    for text, places in (
        (
            '# [[known]]\n\n[[known]]\nfile = "a"\nfunction = "f"\nreason = "r"\n [[known]]#\nfile = "a"\nfunction = "g"\nreason = "r"',
            [":3", ":7"],
        ),
        (f"known = [{row % 'f'}, {row % 'g'}]", [": row 1", ": row 2"]),
    ):
        (tmp_path / "known.toml").write_text(text)
        assert [each.place for each in read_known(str(tmp_path / "known.toml"), [])] == [f"{tmp_path}/known.toml{each}" for each in places]


@pytest.mark.parametrize(
    "text",
    [
        '[[known]]\nfile = "a"\nfunction = "f"',
        '[[known]]\nfile = "a"\nfunction = "f"\nreason = ""',
        '[[known]]\nfile = "a"\nfunction = "f"\nreason = "r"\nstate = "broken"',
        '[[known]]\nfile = "a"\nfunction = "f"\nreason = "r"\n' * 2,
        "not = [toml",
        '[[unknown]]\nfile = "a"',
    ],
)
def test_a_list_of_known_failures_with_a_mistake_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(text)
    with pytest.raises(UserError, match=r"known\.toml"):
        read_known(str(tmp_path / "known.toml"), [each.value for each in State])


def test_the_official_list_is_true_in_form() -> None:
    rows = read_known(OFFICIAL, [each.value for each in State])
    assert rows
    assert all(row.reason and row.state for row in rows)


def test_a_byte_order_mark_is_no_part_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_bytes(b"\xef\xbb\xbffunc.func @a() {}")
    (found,) = read_source(str(tmp_path / "a.mlir")).programs
    assert isinstance(found, Program)
    assert found.text == "func.func @a() {}"


def test_files_that_cannot_be_programs_are_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "binary.mlir").write_bytes(b"func\n\xff\xfe")
    with pytest.raises(UserError, match=r"binary\.mlir:2: no UTF-8"):
        read_source(str(tmp_path / "binary.mlir"))
    with pytest.raises(UserError, match="does not exist"):
        find_sources([str(tmp_path / "absent.mlir")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingSelected):
        find_sources([str(tmp_path / "empty")])
    assert find_sources([str(tmp_path)]) == [str(tmp_path / "binary.mlir")]


def test_a_file_of_a_folder_that_is_no_text_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "binary.mlir").write_bytes(b"func\n\xff\xfe")
    (tmp_path / "text.mlir").write_text("func.func @a() {}")
    (tmp_path / "broken.mlir").symlink_to(tmp_path / "text.mlir" / "inside")
    binary, text = read_sources([str(tmp_path)])
    assert binary.programs == (Unreadable(2, "", "no UTF-8 text"),)
    assert isinstance(text.programs[0], Program)
    with pytest.raises(UserError, match=r"binary\.mlir:2: no UTF-8 text; write"):
        read_sources([str(tmp_path), str(tmp_path / "binary.mlir")])


def test_arrays_of_a_file_are_ordered_by_their_numbers_and_never_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", arg10=np.zeros(2), arg2=np.ones(3, ">i4"))
    found = read_arrays(str(tmp_path / "a.npz"))
    assert [(each.name, each.dtype, each.shape) for each in found] == [("arg2", "i4", [3]), ("arg10", "f8", [2])]
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    (tmp_path / "text.npz").write_text("PK no archive")
    for name in ("objects.npy", "text.npz", "absent.npz"):
        with pytest.raises(UserError, match=name):
            read_arrays(str(tmp_path / name))
