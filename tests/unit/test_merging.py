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
from opera.triage.causes import Causes
from opera.triage.merge import RULES, candidates_of, merges
from opera.triage.reduction.aspects import aspects
from opera.triage.reduction.properties import Property, View, dtype_meant
from opera.triage.reduction.trigger import Trigger

PART = [each for each in RULES if each.name == "part-fails-alone"]
CAST, ATTENTION = "ai.onnx.Cast", "ai.onnx.Attention"


def wrong(number: int, kind: str, *properties: Property, api: str = CAST, converter: str = "convert", **shown: str | int) -> Candidate:
    detail = {"difference": {"kind": kind, "expected": "[2, 1]", "actual": "[1, 2]", **shown}}
    return _candidate(number, Verdict.INCONSISTENT, Stage.COMPARE, detail, Trigger(properties, api, ("x", "y")), converter)


def crash(
    number: int,
    message: str,
    *properties: Property,
    api: str = CAST,
    stage: Stage = Stage.LOAD,
    converter: str = "convert",
    line: int = 0,
    importer: str = "",
) -> Candidate:
    frames = [["tvm.passes", "tvm/passes.cc", line, "run"]] if line else []
    frames = [["tvm.importer.onnx", "onnx.py", 6642, importer], *frames] if importer else frames
    detail = {"failure": {"type": "ValueError", "message": message, "frames": frames}}
    return _candidate(number, Verdict.CRASH, stage, detail, Trigger(properties, api, ("x", "y")), converter)


def _candidate(
    number: int, verdict: Verdict, stage: Stage, detail: dict[str, object], trigger: Trigger, converter: str = "convert"
) -> Candidate:
    fingerprint = symptom_of("tvm/onnx", verdict, stage, converter, detail, noise_of("tvm")).fingerprint
    test, finding = f"{number:064x}", f"{number:016x}"
    result = StoredResult(test, "i" * 64, "tvm", "onnx", "onnx", "baked", 0, verdict, stage, None, converter, fingerprint, detail, {})
    reduction = StoredReduction(fingerprint, test, finding, None, {"schema": "none"}, trigger.document())
    return Candidate(finding, fingerprint, result, reduction)


def setting(name: str, value: object) -> Property:
    return Property("value", name, "=", value)


SEEN = Property("element", "x", "≠", 0)
FROM_FLOAT8, TO_FLOAT8 = Property("dtype", "x", "=", "float8_e5m2"), Property("type", "to", "=", "float8_e5m2")
FROM_SINGLE, FROM_DOUBLE = Property("dtype", "x", "=", "float32"), Property("dtype", "x", "=", "float64")
EMPTY = Property("size", "x", "=", 0)
NARROW, INTEGER = Property("dtype", "x", "=", "int2"), Property("dtype", "x", "is", "integer")
MOMENTUM = "the valid momentum range is [0, 1]."
BROADCAST = "the shapes cannot be broadcast"

ONE: dict[str, tuple[str, Candidate, Candidate]] = {
    "one line raises one message, whatever call it quotes": (
        "same-exception",
        crash(1, "the operands of R.add(x, y) differ", line=5),
        crash(2, "the operands of R.mul(x) differ", line=5),
    ),
    "one line of a converter raises two messages": (
        "same-exception",
        crash(1, "axis is missing", line=5),
        crash(2, "rank is zero", line=5),
    ),
    "an operator becomes several, and one of them gives a wrong dtype by itself too": (
        "part-fails-alone",
        wrong(1, "dtype", Property("rank", "x", "=", 0), converter="matmul", expected="float16", actual="float32"),
        wrong(2, "dtype", setting("beta", 2), converter="matmul+add", expected="float16", actual="float32"),
    ),
    "one setting matters, whatever else does": (
        "same-condition",
        wrong(1, "values", setting("mode", "up"), Property("rank", "x", "=", 0)),
        wrong(2, "values", setting("mode", "up"), Property("element", "x", "<", 0)),
    ),
    "no setting matters": (
        "same-condition",
        wrong(1, "values", Property("rank", "x", "=", 0)),
        wrong(2, "values", Property("size", "x", ">", 1)),
    ),
    "wrong elements show as infinities or as values": ("same-condition", wrong(1, "inf", TO_FLOAT8), wrong(2, "values", FROM_FLOAT8)),
    "the dtype is an input's or a parameter's": (
        "same-condition",
        crash(1, "no such type", FROM_FLOAT8),
        crash(2, "no such type", TO_FLOAT8),
    ),
    "a rank differs, or a size": (
        "same-condition",
        crash(1, BROADCAST, Property("rank", "x", "differs from", "y")),
        crash(2, "one dimension too many", Property("shape", "x", "differs from", "y")),
    ),
    "a number, or a list of it": (
        "same-condition",
        wrong(1, "values", Property("value", "kernel_size", ">", 1)),
        wrong(2, "values", Property("entry", "kernel_size", ">", 1), SEEN),
    ),
    "whatever the call, the result is wrong": ("same-condition", wrong(1, "shape"), wrong(2, "values")),
    "whatever the call, a stage raises this type of exception": (
        "same-condition",
        crash(1, "too few inputs"),
        crash(2, "too many outputs"),
    ),
    "a further output is a placeholder": (
        "same-condition",
        wrong(1, "dtype", output=1),
        wrong(2, "values", Property("size", "x", ">", 1), Property("size", "y", "=", 0), output=1),
    ),
    "a setting is ignored, whatever its value": (
        "same-condition",
        wrong(1, "shape", setting("policy", "larger"), Property("rank", "x", "=", 0)),
        wrong(2, "shape", setting("policy", "smaller"), actual="[2, 2]"),
    ),
    "infinities of double precision are cut off, in any operator": (
        "end-of-range",
        wrong(1, "inf", SEEN, api="ai.onnx.Log", converter="log", expected="-inf", actual="-3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", api="ai.onnx.Abs", converter="abs", expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
    ),
    "one result keeps the wide dtype whose infinities are cut off, the other does not": (
        "end-of-range",
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
        wrong(
            2,
            "inf",
            Property("dtype", "x", "=", "float64"),
            converter="like",
            expected="-inf",
            actual="-3.4028234663852886e+38",
            dtype="float32",
        ),
    ),
    "two operators begin with the largest number instead of an infinity, on one condition": (
        "end-of-range",
        wrong(1, "inf", EMPTY, converter="max", expected="-inf", actual="-3.4028234663852886e+38", dtype="float32"),
        wrong(2, "inf", EMPTY, api="ai.onnx.Min", converter="min", expected="inf", actual="3.4028234663852886e+38", dtype="float32"),
    ),
    "two operators convert to narrow types and do not saturate": (
        "end-of-range",
        wrong(1, "inf", TO_FLOAT8, converter="cast", expected="-57344.0", actual="-inf", dtype="float8_e5m2"),
        wrong(2, "nan", SEEN, api="ai.onnx.CastLike", converter="like", expected="448.0", actual="nan", dtype="float8_e4m3fn"),
    ),
}
TWO = {
    "one converter is part of two operators, and right by itself": (
        wrong(1, "dtype", Property("rank", "x", "=", 0), converter="add+matmul", expected="float16", actual="float32"),
        wrong(2, "dtype", setting("beta", 2), converter="matmul+mul", expected="float16", actual="float32"),
    ),
    "one converter gives another wrong dtype in an operator that became several": (
        wrong(1, "dtype", Property("rank", "x", "=", 0), converter="matmul", expected="int8", actual="float32"),
        wrong(2, "dtype", setting("beta", 2), converter="matmul+add", expected="float16", actual="float32"),
    ),
    "two converters call the line that raises": (
        crash(1, "the operands of R.add(x, y) differ", line=5),
        crash(2, "the operands of R.mul(x) differ", line=5, converter="other"),
    ),
    "other parameters": (wrong(1, "values", setting("antialias", 1)), wrong(2, "values", setting("mode", "cubic"))),
    "parameters of the same value, and wrong results": (wrong(1, "values", setting("layout", 1)), wrong(2, "values", setting("causal", 1))),
    "dtypes that lead to other messages": (crash(1, "no such type", FROM_FLOAT8), crash(2, "eight bits a byte", TO_FLOAT8)),
    "any call raises in two stages": (crash(1, "too few inputs"), crash(2, "too many outputs", stage=Stage.CODEGEN)),
    "one exception needs a setting": (crash(1, "too few inputs"), crash(2, "too many outputs", setting("mode", "up"))),
    "another output is wrong in any call": (wrong(1, "shape", output=1), wrong(2, "values", output=0)),
    "a further output is wrong with certain settings only": (
        wrong(1, "shape", output=1),
        wrong(2, "values", setting("mode", "up"), output=1),
    ),
    "any call of another operator": (wrong(1, "shape"), wrong(2, "values", api=ATTENTION)),
    "a wrong shape and wrong values": (wrong(1, "shape", setting("group", 1)), wrong(2, "values", setting("mode", "up"))),
    "one converter cuts infinities off and does not saturate": (
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", SEEN, expected="57344.0", actual="inf", dtype="float8_e5m2"),
    ),
    "infinities of single precision are cut off in two operators": (
        wrong(1, "inf", SEEN, expected="inf", actual="3.4028234663852886e+38", dtype="float32"),
        wrong(
            2,
            "inf",
            Property("dtype", "x", "=", "float32"),
            converter="max",
            expected="-inf",
            actual="-3.4028234663852886e+38",
            dtype="float32",
        ),
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
    "two converters raise with one message": (
        crash(1, "dtype.bits is no multiple of eight", NARROW, converter="cast", line=3),
        crash(2, "dtype.bits is no multiple of eight", NARROW, converter="like", api="ai.onnx.CastLike", line=5),
    ),
    "infinities of two operators are wrong in different ways": (
        wrong(1, "inf", SEEN, api="ai.onnx.Log", converter="log", expected="-inf", actual="-3.4028234663852886e+38", dtype="float64"),
        wrong(2, "inf", api="ai.onnx.Abs", converter="abs", expected="inf", actual="1.0", dtype="float64"),
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_one_bug(name: str) -> None:
    rule, *pair = ONE[name]
    (merge,) = merges(pair)
    assert merge.reason.startswith(f"{rule}: ")


def test_every_rule_has_a_pair_that_it_joins() -> None:
    assert {rule for rule, *_ in ONE.values()} | {"same-fingerprint"} == {each.name for each in RULES}


def test_a_line_that_raises_many_messages_joins_none() -> None:
    said = ("axis is missing", "rank is zero", "shape is unknown", "dtype is opaque")
    assert merges([crash(number, message, setting(message, 1), line=5) for number, message in enumerate(said)]) == []


def test_converters_whose_failures_all_come_through_one_line_have_bugs_of_their_own() -> None:
    """A wrapper in Python of an importer that is binary: each message is raised there."""
    said = ("axis is missing", "rank is zero", "shape is unknown", "dtype is opaque", "the number of inputs is too small")
    others = [crash(number, message, line=5, importer="convert", converter=message) for number, message in enumerate(said)]
    one, alike, other = (
        replace(crash(number, said[-1], line=5, importer="convert", converter=name), fingerprint=f"{number:016x}", project=("tvm.",))
        for number, name in ((10, "cross"), (11, "cross"), (12, "norm"))
    )
    (merge,) = merges([*(replace(each, project=("tvm.",)) for each in others), one, alike, other])
    assert {merge.finding, merge.other} == {one.finding, alike.finding}


@pytest.mark.parametrize("name", TWO)
def test_two_bugs(name: str) -> None:
    assert merges(TWO[name]) == []


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


@pytest.mark.parametrize("operand", ["torch.constant.int", "torch.constant.bool", "torch.vtensor.literal", "torch.prim.ListConstruct"])
def test_an_operand_that_is_not_legal_says_nothing_of_other_converters(operand: str) -> None:
    form = Property("form", "", "=", "runtime")
    pad = crash(1, f"failed to legalize operation '{operand}'", form, stage=Stage.CODEGEN, converter="pad", line=3)
    alike = crash(2, "failed to legalize operation 'torch.constant.float'", form, stage=Stage.CODEGEN, converter="pad", line=3)
    other = crash(3, "failed to legalize operation 'torch.constant.float'", form, stage=Stage.CODEGEN, converter="conv", line=3)
    (merge,) = merges([pad, alike, other])
    assert {merge.finding, merge.other} == {pad.finding, alike.finding}


def test_tests_that_no_reduction_covers_stay_with_the_first_finding_of_their_fingerprint() -> None:
    reduced = crash(1, "the operands of R.add(x, y) differ", Property("rank", "x", "=", 0), line=5)
    others = replace(reduced, finding=reduced.fingerprint, reduction=None)
    elsewhere = replace(crash(2, "no such operator", converter="other"), finding="f" * 16, fingerprint="f" * 16, reduction=None)
    (merge,) = merges([reduced, others, elsewhere])
    assert (merge.finding, merge.other) == (reduced.finding, others.finding)
    assert "was not reduced" in merge.reason


def made_of(number: int, parts: str, *others: Property) -> Candidate:
    return wrong(number, "values", *others, Property("calls", "", "has", parts), api="opera.program", converter="program")


def test_programs_that_fail_with_one_operator_of_several_dtypes_are_one_finding() -> None:
    one, other, third = (made_of(number, f"{name}") for number, name in enumerate(("a(int64)", "a(bool)", "b(bool)"), 1))
    assert [(each.finding, each.other) for each in merges([one, other, third])] == [(one.finding, other.finding)]


def test_programs_that_need_other_operators_are_two_findings_though_the_importer_refuses_both_alike() -> None:
    """The importer's own function raises for each operator; no other frame names the converter."""

    def refused(number: int, call: str, parts: str) -> Candidate:
        message, calls = f"the operands of {call} differ", Property("calls", "", "has", parts)
        made = crash(number, message, calls, api="opera.program", converter="program", line=5, importer="from_onnx")
        return replace(made, project=("tvm.",))

    elu, selu = refused(1, "R.add(x, y)", "elu(float64)"), refused(2, "R.mul(x)", "selu(float64)")
    assert not merges([elu, selu])
    assert merges([elu, refused(3, "R.mul(x, z)", "elu(float16)")])


def test_programs_that_a_linker_misses_functions_for_are_one_finding_whatever_they_call() -> None:
    """The compiler names the linker; no operator stands in for that."""

    def unlinked(number: int, symbol: str, parts: str, converter: str = "lld") -> Candidate:
        calls = Property("calls", "", "has", parts)
        return crash(number, f"lld: error: undefined symbol: {symbol}", calls, api="opera.program", converter=converter, line=5)

    tanh, mish, sine = unlinked(1, "tanh", "tanh(float64)"), unlinked(2, "tanh", "mish(float64)"), unlinked(3, "sin", "sin(float64)")
    assert merges([tanh, mish])
    assert merges([tanh, sine])
    assert not merges([unlinked(1, "my_kernel", "tanh(float64)"), unlinked(2, "my_kernel", "mish(float64)")])


def test_a_program_is_explained_by_one_that_is_made_of_a_part_of_it() -> None:
    small, large = made_of(1, "if + any operator"), made_of(2, "if + add(float32, float32)")
    assert [(each.finding, each.other) for each in merges([large, small], PART)] == [(small.finding, large.finding)]
    for other in (made_of(3, "equal(bool, bool)"), made_of(4, "any operator"), made_of(5, "if", setting("form", "baked"))):
        assert merges([other, large], PART) == []
    assert merges([wrong(6, "values", SEEN), large], PART) == []


def failing(number: int, instance: str, verdict: Verdict = Verdict.INCONSISTENT) -> StoredResult:
    made = wrong(number, "values") if verdict is Verdict.INCONSISTENT else crash(number, "no such operator")
    return replace(made.representative, instance=instance)


NAMES = {"graph": ["case::0"], "node": ["other::0", "case::0::nodes"], "elsewhere": ["another::0::nodes"], "unknown": ["rest::0"]}
GRAPH, NODE = "g" * 16, "n" * 16


def joined_by_a_node(findings: dict[str, list[StoredResult]]) -> list[tuple[str, str]]:
    return [(each.finding, each.other) for each in merges(candidates_of(findings, Causes(), NAMES.__getitem__), PART)]


def test_a_graph_belongs_to_its_node_that_fails_alone() -> None:
    node, graph = [failing(1, "node")], [failing(2, "graph")]
    assert joined_by_a_node({NODE: node, GRAPH: graph}) == [(NODE, GRAPH)]
    assert joined_by_a_node({NODE: [failing(1, "elsewhere")], GRAPH: graph}) == []
    assert joined_by_a_node({NODE: [failing(1, "node", Verdict.CRASH)], GRAPH: graph}) == []
    assert joined_by_a_node({NODE: node, GRAPH: [*graph, failing(3, "unknown")]}) == [], "half of the graphs are explained"
    assert joined_by_a_node({NODE: node, GRAPH: [*graph, *graph, failing(3, "unknown")]}) == [(NODE, GRAPH)]
    assert joined_by_a_node({NODE: node, "m" * 16: [failing(4, "node")], GRAPH: graph}) == [], "two nodes may explain it"
