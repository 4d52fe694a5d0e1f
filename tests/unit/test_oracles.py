"""The oracles: comparison of outputs, tolerances, and verdicts."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.difftest.judge import Judgement, judge_compilation
from opera.difftest.test import Test
from opera.models.forms import InputForm, ModelForm
from opera.oracles.compare import Difference, Policy, compare, disagreement
from opera.oracles.tolerance import tolerance_of
from opera.oracles.verdict import Verdict
from opera.workers.failure import raised_by
from opera.workers.process import Done, Lost

STRICT = Policy({})
NAN, INF = float("nan"), float("inf")


def f32(*values: Any) -> Any:
    return np.array(values, dtype=np.float32)


def i64(*values: Any) -> Any:
    return np.array(values, dtype=np.int64)


def difference(expected: Any, actual: Any, precise: Any = None, policy: Policy = STRICT) -> Difference | None:
    return compare([expected], None if precise is None else [precise], [actual], policy)


def kind(expected: Any, actual: Any, precise: Any = None, policy: Policy = STRICT) -> tuple[str, str | None] | None:
    found = difference(expected, actual, precise, policy)
    return None if found is None else (found.kind, found.explained)


# The order of comparison.


def test_the_first_difference_in_the_order_of_comparison_is_reported() -> None:
    wrong = np.full((3, 1), NAN, dtype=np.float64)
    assert kind(f32(1, 2), [wrong]) == ("structure", None)
    assert kind(f32(1, 2), wrong) == ("shape", None)
    assert kind(f32(1, 2), np.array([NAN, INF])) == ("dtype", None)
    assert kind(f32(1, 2, 3), f32(NAN, INF, 9)) == ("nan", None)
    assert kind(f32(1, 2, 3), f32(1, INF, 9)) == ("inf", None)
    assert kind(f32(1, 2, 3), f32(1, 2, 9)) == ("values", None)
    assert kind(f32(1, 2, 3), f32(1, 2, 3)) is None


def test_the_number_of_outputs_comes_first() -> None:
    found = compare([f32(1)], None, [f32(2), f32(3)], STRICT)
    assert found is not None
    assert (found.kind, found.expected, found.actual) == ("count", "1 outputs", "2 outputs")
    assert compare([], None, [], STRICT) is None


@pytest.mark.parametrize(
    ("expected", "actual", "says"),
    [
        (f32(1), None, ("tensor", "nothing")),
        (None, f32(1), ("nothing", "tensor")),
        (f32(1), [f32(1)], ("tensor", "list")),
        (f32(1), 1.0, ("tensor", "float")),
        ([f32(1)], f32(1), ("sequence of 1", "tensor")),
        ([f32(1)], [], ("sequence of 1", "sequence of 0")),
        ([f32(1)], (f32(1), f32(2)), ("sequence of 1", "sequence of 2")),
    ],
)
def test_structures_that_differ_are_named(expected: Any, actual: Any, says: tuple[str, str]) -> None:
    found = difference(expected, actual)
    assert found is not None
    assert (found.kind, found.expected, found.actual) == ("structure", *says)


def test_sequences_are_compared_item_by_item_and_absent_outputs_are_equal() -> None:
    assert difference([f32(1), None, [f32(2)]], (f32(1), None, (f32(2),))) is None
    assert kind([f32(1), [f32(2)]], [f32(1), [f32(3)]]) == ("values", None)
    assert difference(None, None) is None


def test_a_difference_says_which_output_which_values_and_what_share() -> None:
    found = compare([f32(0), f32(1, 2, 3, 4)], None, [f32(0), f32(1, 2, 30, 5)], STRICT)
    assert found is not None
    assert (found.output, found.expected, found.actual, found.distance, found.share) == (1, "3.0", "30.0", 27.0, 0.5)
    assert found.allowed is not None
    assert 0 < found.allowed < 1


def test_an_unexplained_difference_goes_before_an_explained_one() -> None:
    policy = Policy({"float64": "float32"})
    explained = np.array([1.0 + 1e-6]), np.array([1.0], np.float32)
    found = compare([explained[0], f32(1)], None, [explained[1], f32(2)], policy)
    assert found is not None
    assert (found.output, found.explained) == (1, None)
    found = compare([explained[0], f32(1)], None, [explained[1], f32(1)], policy)
    assert found is not None
    assert (found.output, found.explained) == (0, "precision-policy")


def test_a_difference_is_plain_json_whatever_the_values() -> None:
    for expected, actual in ((f32(NAN), f32(1)), (f32(1), f32(INF)), (f32(1), f32(3e38)), (i64(1), i64(2))):
        found = difference(expected, actual)
        assert found is not None
        json.dumps(found.document(), allow_nan=False)


# Kinds of values.


def test_negative_zero_equals_zero_and_nan_equals_nan() -> None:
    assert difference(f32(0.0, -0.0), f32(-0.0, 0.0)) is None
    assert difference(f32(NAN, INF, -INF), f32(NAN, INF, -INF)) is None


def test_infinities_of_different_sign_differ() -> None:
    assert kind(f32(INF), f32(-INF)) == ("inf", None)


def test_integers_and_bools_are_compared_exactly() -> None:
    assert difference(i64(2**62, -(2**62)), i64(2**62, -(2**62))) is None
    found = difference(i64(2**62), i64(2**62 + 1))
    assert found is not None
    assert (found.expected, found.actual, found.distance) == (str(2**62), str(2**62 + 1), 1.0)
    extremes = difference(i64(-(2**63)), i64(2**63 - 1))
    assert extremes is not None
    assert extremes.distance == float(2**64 - 1)
    assert kind(np.array([True, False]), np.array([True, True])) == ("values", None)
    assert kind(np.array([255], np.uint8), np.array([0], np.uint8)) == ("values", None)
    assert kind(np.array([1, 2], ml_dtypes.int4), np.array([1, 3], ml_dtypes.int4)) == ("values", None)
    assert difference(np.array([1, -8], ml_dtypes.int4), np.array([1, -8], ml_dtypes.int4)) is None


def test_float64_has_a_tolerance_of_its_own() -> None:
    one = np.array([1.0])
    assert difference(one, one + 1e-8) is None
    assert kind(one, one + 1e-5) == ("values", None)
    assert difference(f32(1.0), f32(1.0 + 1e-5)) is None


@pytest.mark.parametrize(
    ("dtype", "small", "large"),
    [
        (np.float16, 1e-3, 0.1), (ml_dtypes.bfloat16, 1e-2, 0.5), (np.float32, 1e-5, 1e-2), (np.float64, 1e-9, 1e-5),
        (ml_dtypes.float8_e4m3fn, 0.0, 1.0), (ml_dtypes.float8_e5m2, 0.0, 1.0), (np.complex64, 1e-5, 1e-2), (np.complex128, 1e-9, 1e-5),
    ],
)  # fmt: skip
def test_every_floating_dtype_allows_what_rounding_explains_and_no_more(dtype: Any, small: float, large: float) -> None:
    one = np.array([1.0, 2.0]).astype(dtype)
    assert difference(one, (one.astype(complex).real + small).astype(dtype)) is None
    assert kind(one, (one.astype(complex).real + large).astype(dtype)) == ("values", None)


def test_complex_numbers_differ_in_either_part() -> None:
    one = np.array([1 + 2j], np.complex64)
    assert kind(one, one + 1) == ("values", None)
    assert kind(one, one + 1j) == ("values", None)
    assert kind(one, np.array([complex(1, NAN)], np.complex64)) == ("nan", None)
    assert difference(np.array([complex(NAN, 1)]), np.array([complex(NAN, 1)])) is None


def test_strings_are_compared_as_text_whatever_holds_them() -> None:
    text = np.array(["a", "ü"], dtype=object)
    assert difference(text, np.array(["a", "ü"])) is None
    assert difference(text, np.array(["a", "ü"], dtype=object)) is None
    assert difference(text, np.array([b"a", "ü".encode()], dtype=object)) is None
    assert difference(text, np.array([b"a", "ü".encode()])) is None
    assert kind(text, np.array(["a", "u"], dtype=object)) == ("values", None)
    assert kind(text, i64(1, 2)) == ("dtype", None)
    assert difference(np.array("a", dtype=object), np.array("a", dtype=object)) is None


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex64", "str"])
def test_empty_arrays_and_scalars_compare_like_any_other(dtype: str) -> None:
    empty = np.zeros((0, 3), dtype)
    assert difference(empty, empty.copy()) is None
    assert kind(empty, np.zeros((3, 0), dtype)) == ("shape", None)
    scalar = np.ones((), dtype)
    assert difference(scalar, scalar.copy()) is None
    assert kind(scalar, np.zeros((), dtype)) == ("values", None)
    assert kind(scalar, np.ones((1,), dtype)) == ("shape", None)
    assert difference(scalar, scalar[()]) is None


def test_a_dtype_that_no_library_has_is_a_difference_and_no_error() -> None:
    found = difference(f32(1), np.array([1], dtype=np.longdouble))
    assert found is not None
    assert (found.kind, found.expected, found.actual) == ("dtype", "float32", str(np.dtype(np.longdouble)))
    assert kind(f32(1), np.array([1], dtype="datetime64[s]")) == ("dtype", None)


# References and policies.


def test_a_result_nearer_to_the_truth_than_the_librarys_is_no_difference() -> None:
    library, truth = f32(1.001), np.array([1.0])
    assert difference(library, f32(1.0), truth) is None
    assert difference(library, f32(1.001), truth) is None


def test_where_the_library_is_far_from_the_truth_a_difference_is_ill_conditioned() -> None:
    assert kind(f32(100.0), f32(5000.0), np.array([1.0])) == ("values", "ill-conditioned")
    assert kind(f32(NAN), f32(1.0), np.array([1.0])) == ("nan", "ill-conditioned")
    assert kind(f32(INF), f32(1e30), np.array([1e39])) == ("inf", "ill-conditioned")
    assert kind(f32(1.0), f32(NAN), np.array([1.0])) == ("nan", None)


def test_a_wrong_result_is_wrong_whatever_the_precision_of_the_reference() -> None:
    assert kind(f32(1.0, 2.0), f32(1.0, 2.5), np.array([1.0, 2.0])) == ("values", None)


def test_what_the_compiler_declares_to_compute_as_explains_dtype_and_rounding_and_nothing_else() -> None:
    policy = Policy({"float64": "float32", "int64": "int32"})
    double = np.array([1.0, 2.0])
    assert kind(double, double.astype(np.float32), policy=policy) == ("dtype", "precision-policy")
    assert kind(double, double + 1e-6, policy=policy) == ("values", "precision-policy")
    assert kind(double, double + 1, policy=policy) == ("values", None)
    assert kind(double, double.astype(np.float32) + 1, policy=policy) == ("values", None)
    assert kind(double, double.astype(np.float16), policy=policy) == ("dtype", None)
    assert kind(i64(2**40 + 7), np.array([7], np.int32), policy=policy) == ("values", "precision-policy")
    assert kind(i64(5), i64(6), policy=policy) == ("values", None)
    assert difference(double, double.copy(), policy=policy) is None
    assert kind(double, double + 1e-6) == ("values", None)


def test_the_papers_policy_is_one_absolute_threshold() -> None:
    paper = Policy({}, chebyshev=0.1)
    assert difference(f32(1e6), f32(1e6 + 0.0625), policy=paper) is None
    assert kind(f32(1e6), f32(1e6 + 1), policy=paper) == ("values", None)
    assert difference(f32(1e6), f32(1e6 + 1)) is None
    assert kind(i64(1), i64(2), policy=paper) == ("values", None)
    assert kind(f32(1), f32(NAN), policy=paper) == ("nan", None)


@given(st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_equal_outputs_never_differ(values: list[float]) -> None:
    for dtype in (np.float32, np.float64, np.float16, np.complex64):
        with np.errstate(all="ignore"):
            array = np.array(values, np.float32).astype(dtype)
        for policy in (STRICT, Policy({}, 1e-9), Policy({"float64": "float32"})):
            assert difference(array, array.copy(), policy=policy) is None


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6), st.integers(0, 5))
def test_a_single_gross_error_is_always_found(values: list[float], place: int) -> None:
    expected = np.array(values, np.float32)
    actual = expected.copy()
    actual[place % len(values)] += np.float32(10 + 0.01 * np.abs(expected).max())
    assert kind(expected, actual) == ("values", None)


def test_tolerances_grow_with_coarser_dtypes_and_integers_have_none() -> None:
    order = ["float64", "float32", "float16", "bfloat16"]
    found = [tolerance_of(name) for name in order]
    assert all(each is not None for each in found)
    relative = [each.relative for each in found if each is not None]
    assert relative == sorted(relative)
    assert tolerance_of("complex64") == tolerance_of("float32")
    for name in ("int64", "bool", "string", "uint4", "qint8"):
        assert tolerance_of(name) is None
        assert tolerance_of(name, 0.5) is None


def test_every_verdict_has_a_meaning_and_five_are_failures() -> None:
    assert all(verdict.meaning for verdict in Verdict)
    assert {verdict.value for verdict in Verdict if verdict.is_failure} == {"crash", "abort", "hang", "oom", "inconsistent"}


# What explains a difference, and what is next to it and does not.


def test_an_error_of_the_library_at_one_element_excuses_no_other() -> None:
    """The first element overflows in half precision, the second is plainly wrong."""
    library, precise = np.array([INF, 2.0], np.float16), np.array([70000.0, 2.0])
    assert kind(library, np.array([65000.0, 2.0], np.float16), precise) == ("inf", "ill-conditioned")
    assert kind(library, np.array([INF, 3.0], np.float16), precise) == ("values", None)
    assert kind(f32(100.0, 2.0), f32(5000.0, 3.0), np.array([1.0, 2.0])) == ("values", None)


def test_where_the_library_is_astray_nearly_everywhere_nothing_is_a_reference() -> None:
    """An operator that draws other numbers in double precision."""
    assert kind(f32(1, 2, 3), f32(7, 8, 5), np.array([10.0, 20.0, 3.0])) == ("values", "ill-conditioned")


def test_the_parts_of_a_complex_number_are_held_against_its_size() -> None:
    """1000 + 0j: an imaginary part of 0.1 is a rounding error of float32, one of 10 is not."""
    one = np.array([1000 + 0j], np.complex64)
    assert difference(one, np.array([1000 + 0.1j], np.complex64)) is None
    assert kind(one, np.array([1000 + 10j], np.complex64)) == ("values", None)


def test_complex_numbers_may_come_as_pairs_of_real_ones() -> None:
    one = np.array([1 + 2j, 3 - 1j], np.complex64)
    assert kind(one, f32([1, 2], [3, -1])) == ("shape", "complex-as-pairs")
    assert kind(one, f32([1, 2], [3, 1])) == ("values", None)
    assert kind(one.real, f32([1, 2], [3, -1])) == ("shape", None)


def test_integers_that_the_compiler_cannot_hold_excuse_what_it_makes_of_them() -> None:
    """A compiler that declares to compute int64 as int32 may find another minimum among numbers beyond it, and among no others."""
    policy = Policy({"int64": "int32"})
    for data, explained in ((i64(2**40, 5), "precision-policy"), (i64(9, 5), None)):
        found = compare([i64(1)], None, [i64(0)], policy, [data], ordered=True)
        assert found is not None
        assert found.explained == explained
    assert compare([i64(1)], None, [i64(0)], STRICT, [i64(2**40, 5)], ordered=True) is not None


# References that are none.


@pytest.mark.parametrize(
    ("kind", "undefined", "verdict"),
    [
        ("values", "library-disagrees-with-itself", Verdict.UNDEFINED),
        ("nan", "library-disagrees-with-itself", Verdict.UNDEFINED),
        ("shape", "library-disagrees-with-itself", Verdict.INCONSISTENT),
        ("shape", "shape-varies", Verdict.UNDEFINED),
        ("dtype", "shape-varies", Verdict.INCONSISTENT),
        ("shape", None, Verdict.INCONSISTENT),
    ],
)
def test_random_values_say_nothing_of_the_shape_that_they_have(kind: str, undefined: str | None, verdict: Verdict) -> None:
    answer = {"is": "compared", "difference": {"kind": kind, "expected": "1", "actual": "2"}, "converter": "dropout"}
    assert judge_compilation(Done(answer, {}), JOB, undefined).verdict is verdict


def test_the_library_disagrees_with_itself_in_values_or_in_shapes() -> None:
    one = f32([1, 2])
    assert disagreement([one], [[one], [one]]) is None
    assert disagreement([one], [[one], [one + 1]]) == "library-disagrees-with-itself"
    assert disagreement([one], [[f32([1])]]) == "shape-varies"


# Whose fault an exception is.

JOB = Test(0, "t", "i", "torch.relu", ModelForm(InputForm.RUNTIME), "r", "a", 0)


def raised(kind: str, *frames: tuple[str, str], suspect: str | None = None, stage: str = "load", is_ours: bool = False) -> Judgement:
    failure = {"type": kind, "message": "no", "frames": [[module, "file.py", 1, function] for module, function in frames]}
    answer = {"is": "raised", "stage": stage, "failure": failure, "unsupported": None, "converter": "relu", "is_ours": is_ours}
    return judge_compilation(Done(answer, {}), JOB, None, suspect)


def test_what_the_library_cannot_read_back_no_compiler_has_seen() -> None:
    judged = raised("RuntimeError", ("opera.compilers.tvm", "TvmAdapter.load"), ("torch.export", "load"))
    assert (judged.verdict, judged.reason) == (Verdict.INVALID, "capture-failed:torch.export")
    assert raised("RuntimeError", ("opera.compilers.tvm", "TvmAdapter.load"), ("tvm.relax", "load")).verdict is Verdict.CRASH


def test_an_error_of_an_adapter_is_no_crash_of_its_compiler() -> None:
    judged = raised("TypeError", ("opera.compilers.tvm", "TvmAdapter._output"), stage="run", is_ours=True)
    assert (judged.verdict, judged.reason) == (Verdict.UNDEFINED, "harness-error")
    assert raised("TypeError", ("opera.compilers.tvm", "TvmAdapter._output"), stage="run").verdict is Verdict.CRASH


ADAPTER = """
class Rejected(Exception): pass
def slips(): return {}["input"]
def asserts(): assert False, "no such type"
def raises(): raise ValueError("no such type")
def raises_from():
    try: {}["input"]
    except KeyError as error: raise RuntimeError("no such input") from error
def reports(): raise Rejected("the parser refused the model")
def calls_c(): int("one")
def calls_on(): compiler.convert()
"""


def stopped(function: str, module: str) -> BaseException:
    """The exception of a function of an adapter in *module*, that drives a compiler of its own."""
    compiler, adapter = {"__name__": "compiler"}, {"__name__": module}
    exec("class Compiler:\n def convert(self): raise TypeError('no layout')\nit = Compiler()", compiler)
    exec(ADAPTER, adapter)
    adapter["compiler"] = compiler["it"]
    try:
        adapter[function]()
    except Exception as error:
        return error
    raise AssertionError(f"{function} does not raise")


@pytest.mark.parametrize("module", ["opera.compilers.some", "their_plugin.adapter"])
@pytest.mark.parametrize(
    ("function", "ours"),
    [
        ("slips", True), ("asserts", True), ("raises", True), ("raises_from", True), ("reports", False), ("calls_c", False),
        ("calls_on", False),
    ],
)  # fmt: skip
def test_what_an_adapters_own_statement_raises_is_the_adapters(module: str, function: str, ours: bool) -> None:
    """The adapter of a plug-in is an adapter too. What the compiler says in its own class, or raises in C or Python, is its own."""
    assert raised_by(stopped(function, module), module) is ours
    assert not raised_by(stopped(function, "compiler.frontend"), "opera.compilers.some")


def test_a_model_that_the_exporter_spoiled_and_that_is_refused_is_the_exporters() -> None:
    assert raised("onnxruntime.Fail", suspect="torch.onnx").exporter == "torch.onnx"
    assert raised("onnxruntime.Fail").exporter is None
    assert raised("onnxruntime.Fail", suspect="torch.onnx", stage="run").exporter == "torch.onnx"
    assert raised("RuntimeError", suspect="torch.onnx", stage="codegen").exporter == "torch.onnx"


def test_a_process_that_died_of_what_is_no_model_is_the_exporters() -> None:
    died, slow = Lost("signal", "SIGSEGV", "load", "", {}), Lost("deadline", "60 s", "load", "", {})
    assert judge_compilation(died, JOB, None, "torch.onnx").exporter == "torch.onnx"
    assert judge_compilation(died, JOB, None).exporter is None
    assert judge_compilation(slow, JOB, None, "torch.onnx").exporter is None
