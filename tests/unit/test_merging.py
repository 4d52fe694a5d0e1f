"""Which findings of one converter are said to be one bug, and which are not, by what their triggers have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opera.compilers.registry import noise_of
from opera.instance import Argument, Instance, Kind, Tensor
from opera.oracles.fingerprint import symptom_of
from opera.oracles.verdict import Stage, Verdict
from opera.store import StoredResult
from opera.store.reductions import StoredReduction
from opera.triage.candidate import Candidate
from opera.triage.merge import merges
from opera.triage.reduction.aspects import aspects
from opera.triage.reduction.properties import Property, View, dtype_meant
from opera.triage.reduction.trigger import Trigger

CAST, ATTENTION = "ai.onnx.Cast", "ai.onnx.Attention"


def wrong(number: int, kind: str, *properties: Property, api: str = CAST, converter: str = "convert", **shown: str | int) -> Candidate:
    detail = {"difference": {"kind": kind, "expected": "[2, 1]", "actual": "[1, 2]", **shown}}
    return _candidate(number, Verdict.INCONSISTENT, Stage.COMPARE, detail, Trigger(properties, api, ("x", "y")), converter)


def crash(
    number: int, message: str, *properties: Property, api: str = CAST, stage: Stage = Stage.LOAD, converter: str = "convert", line: int = 0
) -> Candidate:
    frames = [["tvm.passes", "tvm/passes.cc", line, "run"]] if line else []
    detail = {"failure": {"type": "ValueError", "message": message, "frames": frames}}
    return _candidate(number, Verdict.CRASH, stage, detail, Trigger(properties, api, ("x", "y")), converter)


def unreduced(number: int, kind: str, converter: str = "convert", **shown: str) -> Candidate:
    seen = wrong(number, kind, converter=converter, **shown)
    return replace(seen, reduction=StoredReduction(seen.fingerprint, seen.representative.test, seen.finding, "came to pass"))


def blamed(candidate: Candidate, exporter: str) -> Candidate:
    result = candidate.representative
    return replace(candidate, representative=replace(result, exporter=exporter))


def _candidate(
    number: int, verdict: Verdict, stage: Stage, detail: dict[str, object], trigger: Trigger, converter: str = "convert"
) -> Candidate:
    fingerprint = symptom_of("tvm/onnx", verdict, stage, converter, detail, noise_of("tvm")).fingerprint
    test, finding = f"{number:064x}", f"{number:016x}"
    result = StoredResult(test, "i" * 64, "tvm", "onnx", "onnx", "baked", 0, verdict, stage, None, converter, fingerprint, detail, {})
    reduction = StoredReduction(fingerprint, test, finding, None, {"schema": "none"}, trigger.document())
    return Candidate(finding, fingerprint, result, reduction)


def setting(name: str, value: object) -> Property:
    return Property("is", name, value)


SEEN = Property("element-nonzero", "x")
FROM_FLOAT8, TO_FLOAT8 = Property("dtype", "x", "float8_e5m2"), Property("type", "to", "float8_e5m2")
FROM_SINGLE, FROM_DOUBLE = Property("dtype", "x", "float32"), Property("dtype", "x", "float64")
NARROW, INTEGER = Property("dtype", "x", "int2"), Property("dtype-class", "x", "integer")
MOMENTUM = "the valid momentum range is [0, 1]."
BROADCAST = "the shapes cannot be broadcast"

ONE = {
    "wrong elements show as infinities or as values": (wrong(1, "inf", TO_FLOAT8), wrong(2, "values", FROM_FLOAT8)),
    "the dtype is an input's or a parameter's": (crash(1, "no such type", FROM_FLOAT8), crash(2, "no such type", TO_FLOAT8)),
    "a rank differs, or a size": (
        crash(1, BROADCAST, Property("rank-differs", "x", "y")),
        crash(2, "one dimension too many", Property("shape-differs", "x", "y")),
    ),
    "a number, or a list of it": (
        wrong(1, "values", Property("above-one", "kernel_size")),
        wrong(2, "values", Property("item-above-one", "kernel_size"), SEEN),
    ),
    "one exception of one operator": (crash(1, BROADCAST, setting("mode", "up")), crash(2, BROADCAST, Property("rank", "x", 0))),
    "two operators call a parameter differently": (
        crash(1, "division by zero", setting("ord", 0), api="torch.norm"),
        crash(2, "division by zero", setting("p", 0.0), api="torch.normalize"),
    ),
    "the shape of a result": (wrong(1, "shape", setting("group", 1)), wrong(2, "shape", Property("rank-at-least", "x", 3))),
    "sibling parameters": (
        wrong(1, "values", Property("is-not", "left_window_size", -1), api=ATTENTION),
        wrong(2, "values", Property("is-not", "right_window_size", -1), SEEN, api=ATTENTION),
    ),
    "whatever the call, the result is wrong": (wrong(1, "shape"), wrong(2, "values")),
    "infinities of double precision are cut off, in any operator": (
        wrong(1, "inf", SEEN, api="ai.onnx.Log", converter="log", expected="-inf", actual="-3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", api="ai.onnx.Abs", converter="abs", expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
    ),
    "one result keeps the wide dtype whose infinities are cut off, the other does not": (
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
        wrong(
            2,
            "inf",
            Property("dtype", "x", "float64"),
            converter="like",
            expected="-inf",
            actual="-3.4028234663852886e+38",
            dtype="float32",
        ),
    ),
    "what triggers one is part of what triggers the other": (
        wrong(1, "values", Property("is-not", "p", 2.0), SEEN),
        wrong(2, "nan", Property("is-not", "p", 2.0), Property("positive", "p")),
    ),
    "two operators convert to narrow types and do not saturate": (
        wrong(1, "inf", TO_FLOAT8, converter="cast", expected="-57344.0", actual="-inf", dtype="float8_e5m2"),
        wrong(2, "nan", SEEN, api="ai.onnx.CastLike", converter="like", expected="448.0", actual="nan", dtype="float8_e4m3fn"),
    ),
    "two operators make the same odd number of a NaN": (
        wrong(1, "nan", FROM_FLOAT8, converter="cast", expected="nan", actual="98304.0", dtype="float32"),
        wrong(2, "nan", SEEN, api="ai.onnx.CastLike", converter="like", expected="nan", actual="98304.0", dtype="float32"),
    ),
    "a further output is a placeholder": (
        wrong(1, "dtype", Property("dtype-class", "x", "floating-point"), output=1),
        wrong(2, "values", Property("several", "x"), output=1),
    ),
    "two operators take the mean of nothing": (
        wrong(1, "nan", Property("empty", "x"), converter="var", expected="nan", actual="-0.0", dtype="float32"),
        wrong(2, "nan", Property("empty", "x"), api="std", converter="std", expected="nan", actual="0.0", dtype="float32"),
    ),
    "one conversion function serves two operators": (
        wrong(1, "values", Property("is-not", "alpha", 1), converter="_binary(add)"),
        wrong(2, "values", Property("is-not", "alpha", 1), api="sub", converter="_binary(sub)"),
    ),
    "the exporter is at fault, or the compiler": (
        blamed(wrong(1, "values", Property("given", "divisor")), "torch.onnx"),
        wrong(2, "values", Property("given", "divisor"), Property("item-above-one", "kernel_size")),
    ),
    "the code generator knows no such dtype, whosever code it is": (
        crash(1, "dtype.bits is no multiple of eight", NARROW, stage=Stage.RUN, converter="cast"),
        crash(2, "dtype.bits is no multiple of eight", NARROW, stage=Stage.RUN, converter="like", api="ai.onnx.CastLike"),
    ),
    "what makes an operator raise is known of another": (
        crash(1, MOMENTUM, Property("is-not", "momentum", 0.1), stage=Stage.OPTIMIZE, line=7),
        crash(2, MOMENTUM, stage=Stage.OPTIMIZE, api="torch.native", line=7),
    ),
    "elements that come and go": (unreduced(1, "nan"), unreduced(2, "values")),
    "a dtype that is not promoted is wrong, or refused later": (
        wrong(1, "dtype", Property("dtype-class", "x", "bool"), expected="float32", actual="bool"),
        crash(2, "unknown intrinsic", INTEGER, stage=Stage.CODEGEN),
    ),
}
TWO = {
    "other parameters": (wrong(1, "values", setting("antialias", 1)), wrong(2, "values", setting("mode", "cubic"))),
    "parameters of the same value, and wrong results": (wrong(1, "values", setting("layout", 1)), wrong(2, "values", setting("causal", 1))),
    "dtypes that lead to other messages": (crash(1, "no such type", FROM_FLOAT8), crash(2, "eight bits a byte", TO_FLOAT8)),
    "one message and two operators": (
        crash(1, BROADCAST, Property("given", "dims"), api="torch.sum"),
        crash(2, BROADCAST, Property("rank-differs", "x", "y"), api="torch.matmul"),
    ),
    "a wrong shape where sizes come at run time": (
        wrong(1, "shape", setting("boxes", 1)),
        wrong(2, "shape", Property("form", "", "runtime"), setting("boxes", 1)),
    ),
    "a wrong shape and wrong values": (wrong(1, "shape", setting("group", 1)), wrong(2, "values", setting("mode", "up"))),
    "any call of another operator": (wrong(1, "shape"), wrong(2, "values", api=ATTENTION)),
    "one converter cuts infinities off and does not saturate": (
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", SEEN, expected="57344.0", actual="inf", dtype="float8_e5m2"),
    ),
    "infinities of single precision are cut off in two operators": (
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float32"),
        wrong(
            2, "inf", Property("dtype", "x", "float32"), converter="max", expected="-inf", actual="-3.4028234663852886e+38", dtype="float32"
        ),
    ),
    "what triggers one is part of what triggers the other, and no setting": (
        wrong(1, "values", Property("element-negative", "x")),
        wrong(2, "values", Property("element-negative", "x"), setting("layout", 1)),
    ),
    "the largest number of an ordinary dtype overflows in two operators": (
        wrong(1, "inf", SEEN, converter="softplus", expected="3.4028234663852886e+38", actual="inf", dtype="float32"),
        wrong(2, "nan", setting("alpha", 2.0), converter="clip", expected="3.4028234663852886e+38", actual="nan", dtype="float32"),
    ),
    "an infinity becomes a number that happens to be the largest of a tiny dtype": (
        wrong(1, "inf", SEEN, converter="div", expected="inf", actual="6.0", dtype="float32"),
        wrong(2, "inf", setting("axis", 2), converter="max", expected="inf", actual="6.0", dtype="float32"),
    ),
    "one converter cuts infinities off on the way from double precision, and computes something wrong": (
        wrong(1, "inf", FROM_DOUBLE, expected="inf", actual="3.4028234663852886e+38", dtype="float32"),
        wrong(2, "values", FROM_DOUBLE, expected="1.0", actual="2.0", dtype="float32"),
    ),
    "two operators make a small number of a NaN": (
        wrong(1, "nan", FROM_FLOAT8, converter="div", expected="nan", actual="2.0", dtype="float32"),
        wrong(2, "nan", setting("axis", 2), converter="max", expected="nan", actual="2.0", dtype="float32"),
    ),
    "two operators make nothing of a NaN": (
        wrong(1, "nan", FROM_FLOAT8, converter="cast", expected="nan", actual="0.0", dtype="float32"),
        wrong(2, "nan", SEEN, api="ai.onnx.Max", converter="max", expected="nan", actual="0.0", dtype="float32"),
    ),
    "the first output is wrong in two ways": (
        wrong(1, "dtype", Property("dtype-class", "x", "floating-point"), output=0),
        wrong(2, "values", Property("several", "x"), output=0),
    ),
    "a further output is wrong with certain settings only": (
        wrong(1, "shape", setting("group", 1), output=1),
        wrong(2, "values", setting("mode", "up"), output=1),
    ),
    "two operators make different things of nothing": (
        wrong(1, "nan", Property("empty", "x"), converter="var", expected="nan", actual="0.0", dtype="float32"),
        wrong(2, "inf", Property("empty", "x"), api="max", converter="max", expected="-inf", actual="0.0", dtype="float32"),
    ),
    "one conversion function is wrong for two reasons": (
        wrong(1, "values", Property("is-not", "alpha", 1), converter="_binary(add)"),
        wrong(2, "values", setting("rounding", "floor"), api="div", converter="_binary(div)"),
    ),
    "two converters raise with one message": (
        crash(1, "dtype.bits is no multiple of eight", NARROW, converter="cast", line=3),
        crash(2, "dtype.bits is no multiple of eight", NARROW, converter="like", api="ai.onnx.CastLike", line=5),
    ),
    "elements that come and go do so in two ways": (
        unreduced(1, "nan"),
        unreduced(2, "inf", expected="57344.0", actual="inf", dtype="float8_e5m2"),
    ),
    "two narrow dtypes are wrong, or refused later": (
        wrong(1, "dtype", Property("dtype-class", "x", "bool"), expected="float32", actual="bool"),
        crash(2, "cannot select float8", FROM_FLOAT8, stage=Stage.CODEGEN),
    ),
    "a dtype is refused in other converters as well": (
        wrong(1, "dtype", Property("dtype-class", "x", "bool"), expected="float32", actual="bool"),
        crash(2, "unknown intrinsic", INTEGER, stage=Stage.CODEGEN, line=4),
        crash(3, "unknown intrinsic", setting("axis", 1), stage=Stage.CODEGEN, line=4, converter="gelu"),
    ),
    "a further output is wrong for two reasons": (
        wrong(1, "values", Property("given", "x"), output=1),
        wrong(2, "shape", Property("empty", "y"), output=1),
    ),
    "two operators give a wrong shape for nothing": (
        wrong(1, "shape", Property("empty", "x"), converter="gather", expected="[0]", actual="[1]"),
        wrong(2, "shape", Property("empty", "x"), api="cat", converter="cat", expected="[0]", actual="[1]"),
    ),
    "two operators give an ordinary number for nothing": (
        wrong(1, "values", Property("empty", "x"), converter="prod", expected="1.0", actual="0.0", dtype="float32"),
        wrong(2, "values", Property("empty", "x"), api="resize", converter="resize", expected="1.0", actual="0.0", dtype="float32"),
    ),
    "what two models have of one conversion function": (
        wrong(1, "values", setting("dim", 1), converter="_unary(abs)+softmax"),
        wrong(2, "values", setting("dim", 1), api="norm", converter="_unary(exp)+layer_norm"),
    ),
    "one conversion function, and only the input form matters": (
        wrong(1, "values", Property("form", "", "runtime"), converter="_unary(round)"),
        wrong(2, "values", Property("form", "", "runtime"), api="tan", converter="_unary(tan)"),
    ),
    "the exporter is at fault, or the compiler, and only the input form matters to both": (
        blamed(wrong(1, "values", Property("form", "", "runtime")), "torch.onnx"),
        wrong(2, "values", Property("form", "", "runtime"), setting("mode", "edge")),
    ),
    "elements of two converters come and go": (unreduced(1, "nan", "sum"), unreduced(2, "values", "mean")),
    "a wrong dtype, and a converter that refuses a dtype": (
        wrong(1, "dtype", Property("dtype-class", "x", "bool"), expected="float32", actual="bool"),
        crash(2, "unknown intrinsic", INTEGER),
    ),
    "infinities of two operators are wrong in different ways": (
        wrong(1, "inf", SEEN, api="ai.onnx.Log", converter="log", expected="-inf", actual="-3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", api="ai.onnx.Abs", converter="abs", expected="inf", actual="1.0", dtype="float64"),
    ),
}


def test_what_parts_of_a_trigger_do_by_themselves_is_not_joined_by_the_whole() -> None:
    one, other = Property("is-not", "p", 2.0), setting("q", 3)
    alone = [wrong(1, "values", one), wrong(2, "nan", other)]
    assert merges(alone, lambda _: ()) == []
    assert merges([*alone, wrong(3, "inf", one, other)], lambda _: ()) == []


@pytest.mark.parametrize("name", ONE)
def test_one_bug(name: str) -> None:
    (merge,) = merges(ONE[name], lambda _: ())
    assert merge.reason


@pytest.mark.parametrize("name", TWO)
def test_two_bugs(name: str) -> None:
    assert merges(TWO[name], lambda _: ()) == []


def test_the_number_of_an_onnx_element_type_is_a_dtype() -> None:
    cast = Instance(
        "onnx",
        CAST,
        Kind.NODE,
        init=(Argument("to", 19, keyword=True),),
        call=(Argument("x", Tensor((1,), "float32", np.ones(1, "float32").tobytes())),),
    )
    assert TO_FLOAT8.holds(View(cast, "baked"))
    assert TO_FLOAT8.text() == "to=float8_e5m2"
    (about,) = [each for each in aspects(View(cast, "baked")) if TO_FLOAT8 in each.properties]
    assert {dtype_meant(other.instance, "to", other.values["to"]) for other in about.removals} >= {"float32", "int64", "bool"}


def test_what_is_not_known_of_one_operator_does_not_join_two_others() -> None:
    """Whatever the order in which they were found."""
    known = [
        crash(number, MOMENTUM, Property("is-not", name, value), stage=Stage.OPTIMIZE, api=name, line=7)
        for number, name, value in ((2, "momentum", 0.1), (3, "decay", 0.9))
    ]
    unknown = crash(1, MOMENTUM, stage=Stage.OPTIMIZE, api="torch.native", line=7)
    for candidates in ([unknown, *known], [*known, unknown]):
        assert merges(candidates, lambda _: ()) == []


def test_a_rest_that_no_reduction_covers_joins_no_two_bugs_that_were_reduced() -> None:
    cubic, antialias = wrong(1, "values", setting("mode", "cubic")), wrong(2, "nan", setting("antialias", 1))
    rests = [replace(each, finding=each.fingerprint) for each in (unreduced(3, "values"), unreduced(4, "nan"))]
    joined = merges([cubic, antialias, *rests], lambda _: ())
    assert {(each.finding, each.other) for each in joined} == {
        (cubic.finding, rests[0].finding),
        (antialias.finding, rests[1].finding),
    }


def test_an_exporters_finding_joins_no_two_of_the_compiler() -> None:
    ceil = setting("ceil_mode", 1)
    compilers = [wrong(1, "values", ceil, setting("divisor", 3)), wrong(2, "nan", ceil, setting("stride", 2))]
    assert merges([*compilers, blamed(wrong(3, "values", ceil), "torch.onnx")], lambda _: ()) == []


@pytest.mark.parametrize("operand", ["torch.constant.int", "torch.constant.bool", "torch.vtensor.literal", "torch.prim.ListConstruct"])
def test_an_operand_that_is_not_legal_says_nothing_of_other_converters(operand: str) -> None:
    form = Property("form", "", "runtime")
    pad = crash(1, f"failed to legalize operation '{operand}'", form, stage=Stage.CODEGEN, converter="pad", line=3)
    alike = crash(2, "failed to legalize operation 'torch.constant.float'", form, stage=Stage.CODEGEN, converter="pad", line=3)
    other = crash(3, "failed to legalize operation 'torch.constant.float'", form, stage=Stage.CODEGEN, converter="conv", line=3)
    (merge,) = merges([pad, alike, other], lambda _: ())
    assert {merge.finding, merge.other} == {pad.finding, alike.finding}
