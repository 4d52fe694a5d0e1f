"""What follows a rounded number inside a program may be another number; what follows an exact one may not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from opera.arrays import Array
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, Parameter, Program
from opera.extensions.programs.templates.model import ProgramModel
from opera.extensions.programs.types import Attributes, TensorType, TupleType
from opera.extensions.programs.values import to_tensor
from opera.models.template import Artefact, PythonSource
from opera.oracles.review import Case, Excuse, review

F = TensorType((2,), "float32")


class Evaluated(ProgramModel):
    """A program that no compiler loads."""

    def printed(self, kind: str) -> Artefact:
        raise NotImplementedError

    def source(self, form: str) -> PythonSource:
        raise NotImplementedError


def chain(operators: Sequence[str]) -> Program:
    """The program that applies operators, one after the other."""
    names = [f"v{index}" for index in range(len(operators) + 1)]
    bindings = tuple(
        Binding(names[index + 1], F, Call(each, (names[index],) * (2 if each in ("add", "divide", "multiply") else 1), {}))
        for index, each in enumerate(operators)
    )
    return Program((Function("main", (Parameter(names[0], F),), Block(bindings, names[-1]), F),))


def reason(operators: Sequence[str], x: Sequence[float], actual: Sequence[float]) -> str | None:
    """Why a compiler is excused that gives *actual* for the operators, one after the other, on *x*."""
    instance = instance_of(Generated(chain(operators), (np.array(x, np.float32),)), "onnx")
    model = Evaluated(instance, "key", 0)
    expected: list[Array] = model.run_once()
    outputs = [np.array(actual, np.float32)]
    excuse = review(Case(instance, [value for _, value in model.inputs], expected, outputs, model.nearby, model.exact))
    return None if excuse is None else excuse.reason


def test_the_step_behind_a_rounded_number_is_excused() -> None:
    """tanh(9) is 0.99999997, for which float32 has 1 or the number before."""
    other = 1.0 - float(np.floor(np.tanh(np.float32(9))))
    assert reason(["tanh", "floor"], [9, 0.3], [other, 0.0]) == "ill-conditioned"
    assert reason(["tanh", "floor"], [9, 0.3], [other, 1.0]) is None, "0.29 is not next to 1"


def test_the_step_behind_several_rounded_numbers_is_excused() -> None:
    """asin(sin(-1)) is -1 within rounding; numpy gives -1 exactly, and others the number next to it."""
    steps = ["floor", "sin", "asin", "negative", "floor"]
    assert reason(steps, [-0.5, 0.3], [0.0, 0.0]) == "ill-conditioned"
    assert reason(steps, [-0.5, 0.3], [0.0, 1.0]) is None, "nothing rounds floor(0.3)"


def test_the_step_behind_a_formula_that_cancels_is_excused() -> None:
    """gelu_tanh(-7) is -1e-11, and 0 where 1 + tanh(...) is."""
    assert reason(["gelu_tanh", "floor"], [-7, 0.3], [0.0, 0.0]) == "ill-conditioned"
    assert reason(["gelu_tanh", "floor"], [-7, 0.3], [0.0, 1.0]) is None, "0.19 does not vanish"
    assert reason(["gelu_tanh", "floor"], [-1, 0.3], [0.0, 0.0]) is None, "nor does -0.16"
    assert reason(["gelu_tanh", "reciprocal"], [-4.159431, 0.3], [-31267.7, 5.39515]) == "ill-conditioned"
    assert reason(["exp", "log"], [-20, 0.3], [-14, 0.3]) is None, "exp cancels nothing"


def test_infinity_is_not_rounded() -> None:
    """sigmoid(inf) is 1, and exp(inf) infinite: a compiler that gives NaN is wrong."""
    assert reason(["sigmoid", "add"], [np.inf, 0.3], [np.nan, 1.148885]) is None
    assert reason(["exp", "add"], [np.inf, 0.3], [np.nan, 2.699718]) is None
    assert reason(["sigmoid", "add"], [np.nan, 0.3], [2.0, 1.148885]) is None


def test_infinity_lies_between_very_large_numbers_of_both_signs() -> None:
    """gelu_tanh(-7) is -1e-11 or 0, and its reciprocal -1e11 or infinite."""
    assert reason(["gelu_tanh", "reciprocal"], [-7, 0.3], [np.inf, 5.39515]) == "ill-conditioned"
    assert reason(["gelu_tanh", "reciprocal"], [-1, 0.3], [np.inf, 5.39515]) is None


def test_the_step_behind_an_operator_that_compilers_approximate_is_excused() -> None:
    """x / x is 1, and 0.99999994 by the reciprocal of x."""
    assert reason(["divide", "floor"], [3, 0.3], [0.0, 1.0]) == "ill-conditioned"
    assert reason(["divide", "floor"], [3, 0.3], [9.0, 1.0]) is None
    assert reason(["divide", "add"], [3, 0.3], [2.0, 1.9]) is None


def test_any_of_many_numbers_that_are_nearly_equal_may_come_first() -> None:
    """All of x / x are 1: a compiler that computes the reciprocal of x sorts them by their errors."""
    x, whole, three = np.linspace(0.2, 1.7, 8), TensorType((8,), "float64"), (TensorType((3,), "float64"), TensorType((3,), "int64"))
    bindings = (
        Binding("v1", whole, Call("divide", ("x", "x"), {})),
        Binding("v2", TupleType(three), Call("topk", ("v1",), {"axis": 0, "k": 3, "largest": True})),
    )
    program = Program((Function("main", (Parameter("x", whole),), Block(bindings, "v2"), TupleType(three)),))
    instance = instance_of(Generated(program, (x,)), "onnx")
    model = Evaluated(instance, "key", 0)

    def excuse(places: Sequence[int]) -> Excuse | None:
        outputs = [np.ones(3), np.array(places, np.int64)]
        policy = {"float64": "float32"}
        case = Case(instance, [x], model.run_once(), outputs, model.nearby, model.exact, computes_as=policy)
        return review(case)

    assert all(excuse([first, second, third]) is not None for first, second, third in ((7, 2, 5), (3, 6, 1), (5, 0, 4)))
    assert excuse([7, 2, 9]) is None, "there is no such number"


def test_the_step_behind_exact_numbers_is_specified() -> None:
    assert reason(["add", "floor"], [1, 0.3], [1.0, 0.0]) is None
    assert reason(["add", "relu", "floor"], [0.5, 0.3], [0.0, 0.0]) is None


def test_the_result_in_double_precision_is_excused_where_rounding_moves_it() -> None:
    """sin(x) > x for x below zero, but not where float16 rounds sin(x) to x."""
    instance = instance_of(Generated(chain([]), (np.zeros(2, np.float32),)), "onnx")
    x, never, always = np.array([-0.01], np.float16), [np.array([False])], [np.array([True])]

    def reviewed(near: list[Array]) -> str | None:
        excuse = review(Case(instance, [x], never, always, lambda scale, draw, computes_as=None: near if scale > 1e-6 else always))
        return None if excuse is None else excuse.reason

    assert reviewed(never) == "ill-conditioned"
    assert reviewed(always) is None, "the library rounds what no rounding error explains"


def mixed(names: Sequence[str], kinds: Sequence[TensorType], attributes: Sequence[Attributes]) -> Program:
    """The program that applies operators, one after the other, to the type before it; the first kind is that of the parameter."""
    steps = [Binding(f"v{index + 1}", kinds[index + 1], Call(name, (f"v{index}",) * (2 if name == "multiply" else 1), attributes[index]))
             for index, name in enumerate(names)]  # fmt: skip
    return Program((Function("main", (Parameter("v0", kinds[0]),), Block(tuple(steps), steps[-1].name), kinds[-1]),))


def reviewed(program: Program, x: Array, actual: Array) -> str | None:
    """Why a compiler is excused that gives *actual* for *program* on *x*."""
    instance = instance_of(Generated(program, (x,)), "onnx")
    model = Evaluated(instance, "key", 0)
    inputs = [value for _, value in model.inputs]
    excuse = review(Case(instance, inputs, model.run_once(), [actual], model.nearby, model.exact, inner=model.dtypes))
    return None if excuse is None else excuse.reason


def test_a_signed_integer_that_overflows_on_the_way_is_excused() -> None:
    """Nothing says what 16 * 16 is as int8; as uint8 it is 0 in C."""
    kinds = [TensorType((2,), "int8"), TensorType((2,), "int8"), TensorType((2,), "bool")]
    saturated = mixed(["multiply", "astype"], kinds, [{}, {"dtype": "bool"}])
    assert reviewed(saturated, np.array([16, 0], np.int8), np.array([True, False])) == "integer-overflow"
    assert reviewed(saturated, np.array([16, 0], np.int8), np.array([True, True])) is None
    unsigned = mixed(
        ["multiply", "astype"], [each._replace(dtype=each.dtype.replace("int8", "uint8")) for each in kinds], [{}, {"dtype": "bool"}]
    )
    assert reviewed(unsigned, np.array([16, 0], np.uint8), np.array([True, False])) is None


def test_floating_point_numbers_on_the_way_between_integers_are_rounded() -> None:
    """erf(e) is 0.99988, and 1 in half precision."""
    kinds = [TensorType((1,), "bool"), *[TensorType((1,), "float16")] * 4, TensorType((1,), "int64")]
    program = mixed(["astype", "exp", "exp", "erf", "astype"], kinds, [{"dtype": "float16"}, {}, {}, {}, {"dtype": "int64"}])
    assert reviewed(program, np.array([False]), np.array([0])) == "ill-conditioned"
    assert reviewed(program, np.array([False]), np.array([9])) is None


def test_a_literal_is_rounded_as_an_input_is() -> None:
    """0.1 is no number of float32: 0.1 * 10 may be below 1."""
    kind = TensorType((1,), "float32")
    literal = Constant(to_tensor(np.array([0.1], np.float32)))
    product, floor = Call("multiply", ("x1", "v1"), {}), Call("floor", ("v2",), {})
    steps = (Binding("v1", kind, literal), Binding("v2", kind, product), Binding("v3", kind, floor))
    program = Program((Function("main", (Parameter("x1", kind),), Block(steps, "v3"), kind),))
    assert reviewed(program, np.array([10.0], np.float32), np.array([0.0], np.float32)) == "ill-conditioned"
    assert reviewed(program, np.array([12.0], np.float32), np.array([0.0], np.float32)) is None


def test_a_number_too_small_for_a_normal_one_may_be_zero_inside_a_program() -> None:
    """Processors take 1e-40 for 0 in float32, and what they add up to a deviation is the square of a number."""
    assert reason(["multiply", "sign"], [1e-20, 1.0], [0.0, 1.0]) == "ill-conditioned"
    assert reason(["multiply", "sign"], [1e-8, 1.0], [0.0, 1.0]) is None, "1e-16 is a normal number, and so is its square"
    assert reason(["identity", "sign"], [1e-19, 1.0], [0.0, 1.0]) == "ill-conditioned", "its square is no normal number"
    assert reason(["identity", "sign"], [1e-18, 1.0], [0.0, 1.0]) is None


@pytest.mark.parametrize(("language", "undefined"), [("onnx", "order-of-nan"), ("pytorch", "order-of-nan"), ("stablehlo", None)])
def test_what_a_language_does_not_say_of_a_nan_is_no_reference(language: str, undefined: str | None) -> None:
    """The sign of NaN is specified by StableHLO only; an operator that gets no NaN is as any other."""
    for value, reason in ((-1.0, undefined), (1.0, None)):
        instance = instance_of(Generated(chain(["sqrt", "sign"]), (np.array([value, 2], np.float32),)), language)
        assert Evaluated(instance, "key", 0).reference().undefined == reason
