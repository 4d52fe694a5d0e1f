"""What is foreign ends within a known number of steps, whatever it asks for."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import numpy as np
import pytest

from opera.extensions.programs import check as checking
from opera.extensions.programs.check import MOST_STEPS, MOST_VISIBLE, MOST_WORK, Evaluation, TooMuchWork, check, evaluate
from opera.extensions.programs.document import BadProgram, decode
from opera.extensions.programs.faults import type_fault
from opera.extensions.programs.languages import registry
from opera.extensions.programs.policy import BadPolicy, policy_from
from opera.extensions.programs.program import MAIN, Binding, Block, Call, Function, If, Invoke, Parameter, Program, Symbol, Tuple
from opera.extensions.programs.symbols import MOST_RETYPED, dynamic_result
from opera.extensions.programs.types import IllTyped, TensorType, TupleType
from opera.extensions.stablehlo.bounded_work import Work
from opera.extensions.stablehlo.interpreter.machine import Machine, PastLimit
from opera.extensions.stablehlo.interpreter.tensor import number_tensor
from opera.extensions.stablehlo.program import Block as HloBlock
from opera.extensions.stablehlo.program import Function as HloFunction
from opera.extensions.stablehlo.program import Operation, read_attribute
from opera.extensions.stablehlo.program import Program as HloProgram
from opera.extensions.stablehlo.scanner import TextError, programs_of
from opera.extensions.stablehlo.statements import generic
from opera.extensions.stablehlo.types import element_type

F2 = TensorType((2,), "float32")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """All budgets that are made from now on."""
    made: list[Work] = []
    start = Work.__init__

    def begin(self: Work, most: float, steps: str, error: type[Exception]) -> None:
        start(self, most, steps, error)
        made.append(self)

    monkeypatch.setattr(Work, "__init__", begin)
    return made


def chain(length: int, times: int = 2) -> Program:
    """Functions of which each calls the one before *times* times."""

    def function(place: int) -> Function:
        name = MAIN if place == length - 1 else f"f{place}"
        names = ["x", *(f"v{number}" for number in range(times))]
        value = (lambda given: Call("add", (given, given), {})) if place == 0 else (lambda given: Invoke(f"f{place - 1}", (given,)))
        bindings = tuple(Binding(new, F2, value(old)) for old, new in itertools.pairwise(names))
        return Function(name, (Parameter("x", F2),), Block(bindings, names[-1]), F2)

    return Program(tuple(map(function, range(length))))


@pytest.mark.parametrize(("length", "times"), [(40, 2), (5, 1000)])
def test_functions_that_call_each_other_often_end_with_their_place(length: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = chain(length, times)
    check(program, registry())
    made = counted(monkeypatch)
    with pytest.raises(TooMuchWork, match=r"v\d+ in function '\w+': more than 50,000 expressions"):
        evaluate(program, [np.ones(2, np.float32)], registry())
    assert MOST_STEPS + 1 in [each.spent for each in made]


def test_functions_that_wait_for_each_other_end_before_the_stack_of_python() -> None:
    with pytest.raises(TooMuchWork, match=r"function 'f\d+': more than 200 functions and branches wait for each other"):
        evaluate(chain(500, 1), [np.ones(2, np.float32)], registry())


def test_a_program_within_the_limit_is_evaluated_and_a_budget_begins_with_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    program = chain(10)
    evaluation = Evaluation(program, registry())
    monkeypatch.setattr(checking, "MOST_STEPS", 2**11)
    for _ in range(3):
        evaluation.applied(program.main, [np.zeros(2, np.float32)])
        assert 2**10 - 2 < evaluation.steps.spent < 2**11


def test_a_product_of_matrices_is_counted_by_its_operations() -> None:
    large = TensorType((8000, 8000), "float32")
    body = Block((Binding("v", large, Call("matmul", ("x", "x"), {})),), "v")
    program = Program((Function(MAIN, (Parameter("x", large),), body, large),))
    with pytest.raises(TooMuchWork, match=f"matmul in function 'main': more than {MOST_WORK:,.0f} floating-point operations"):
        evaluate(program, [np.zeros((8000, 8000), np.float32)], registry())


def test_blocks_that_see_many_variables_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MOST_VISIBLE", 10_000)
    assert MOST_VISIBLE > 10_000
    condition, inner = TensorType((), "bool"), Block((), "x")
    bindings = tuple(Binding(f"v{index}", F2, If("c", inner, inner)) for index in range(200))
    main = Function(MAIN, (Parameter("c", condition), Parameter("x", F2)), Block(bindings, "x"), F2)
    made = counted(monkeypatch)
    with pytest.raises(IllTyped, match="function 'main': more than 10,000 variables"):
        check(Program((main,)), registry())
    assert max(each.spent for each in made) <= 10_000 + len(bindings) + 2


def test_tuples_of_tuples_are_not_spelled_out() -> None:
    bindings = [Binding(f"v{index + 1}", F2, Tuple((f"v{index}", f"v{index}"))) for index in range(60)]
    body = Block((*bindings, Binding("end", F2, Call("add", ("v60", "v60"), {}))), "end")
    with pytest.raises(IllTyped, match="a tuple of more than 10,000 tensors"):
        type_fault(Program((Function(MAIN, (Parameter("v0", F2),), body, TupleType((F2,))),)), registry())


def test_symbols_times_bindings_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = tuple(Parameter(f"x{index}", F2) for index in range(1000))
    bindings = tuple(Binding(f"v{index}", F2, Call("add", ("x0", "x0"), {})) for index in range(100))
    symbols = tuple(Symbol(f"n{index}", ((f"x{index}", 0),)) for index in range(1, 1000))
    program = Program((Function(MAIN, parameters, Block(bindings, "v0"), F2, symbols),))
    monkeypatch.setattr("opera.extensions.programs.symbols.MOST_RETYPED", 2000)
    assert MOST_RETYPED > 2000
    made = counted(monkeypatch)
    with pytest.raises(IllTyped, match="symbol n21: more than 2,000 bindings"):
        dynamic_result(program, registry())
    assert made[0].spent == 2100


def nested(depth: int, inner: object, wrap: Callable[[object], object]) -> object:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


def test_documents_that_nest_too_deep_are_refused_with_their_place() -> None:
    kind = {"shape": [2], "dtype": "float32"}
    block = nested(
        100,
        {"bindings": [], "result": "x"},
        lambda inner: {"bindings": [{"name": "v", "type": kind, "value": {"if": "c", "then": inner, "else": inner}}], "result": "v"},
    )
    tuples = nested(100, kind, lambda inner: {"tuple": [inner]})
    for body, result in ((block, kind), ({"bindings": [], "result": "x"}, tuples)):
        document = {"schema": "program/1", "functions": [{"name": "main", "parameters": [], "body": body, "result": result}], "inputs": []}
        with pytest.raises(BadProgram, match=r"the document\.functions\[0\]\..*nested deeper than 64 levels"):
            decode(document)


@pytest.mark.parametrize("key", ["operators", "rank", "most_elements", "most_work", "most_memory", "reuse", "literal", "inserted"])
@pytest.mark.parametrize("number", [10**12, 10**400, -1])
def test_absurd_numbers_of_a_policy_are_refused_by_name(key: str, number: int) -> None:
    for value in (number, *([float(number)] if abs(number) < 10**300 else [])):
        with pytest.raises(BadPolicy, match=f"'{key}'"):
            policy_from({key: value}, ["add"], ["onnx"])


def calling(name: str, called: str, times: int) -> HloFunction:
    type = "tensor<f32>"
    calls = tuple(Operation("func.call", (index,), (index + 1,), (type,), {"callee": called}) for index in range(times))
    return HloFunction(name, (type,), (type,), HloBlock((0,), (*calls, Operation("func.return", (times,)))))


def test_functions_of_stablehlo_that_call_each_other_often_end() -> None:
    identity = HloFunction("f0", ("tensor<f32>",), ("tensor<f32>",), HloBlock((0,), (Operation("func.return", (0,)),)))
    functions = [identity, *(calling(f"f{index}", f"f{index - 1}", 2) for index in range(1, 41))]
    machine = Machine(HloProgram({each.name: each for each in functions}), lambda _operation, _values: None, steps=5000)
    with pytest.raises(PastLimit, match="more than 5,000 operations"):
        machine.call("f40", [number_tensor(element_type("f32"), 1.0)])
    assert machine.steps.spent == 5001


def test_elements_and_products_of_stablehlo_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.extensions.stablehlo.interpreter.machine.WORK", 10_000)
    type = "tensor<25x25xf32>"
    attributes = {"dot_dimension_numbers": {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]}}
    operations = (
        Operation("stablehlo.iota", (), (0,), (type,), {"iota_dimension": 0}),
        Operation("stablehlo.dot_general", (0, 0), (1,), (type,), attributes),
        Operation("func.return", (1,)),
    )
    machine = Machine(HloProgram({"main": HloFunction("main", (), (type,), HloBlock((), operations))}), lambda _operation, _values: None)
    with pytest.raises(PastLimit, match=r"stablehlo\.dot_general: more than 10,000 elements"):
        machine.call("main", [])


def test_regions_nest_without_the_stack_of_python() -> None:
    block = HloBlock((), (Operation("stablehlo.return"),))
    for _ in range(10 * sys.getrecursionlimit()):
        block = HloBlock((), (Operation("stablehlo.case", regions=(block,)), Operation("stablehlo.return")))
    program = HloProgram({"main": HloFunction("main", (), (), block)})
    assert sum(1 for _ in program.reached("main")) == 20 * sys.getrecursionlimit() + 1
    while block.operations[0].regions:  # or Python would free them one inside the other
        block = block.operations[0].regions[0]


def test_texts_that_nest_too_deep_are_no_programs() -> None:
    for opening, closing in (("[", "]"), ("{a = ", "}")):
        with pytest.raises(TextError, match="nests too deep"):
            read_attribute(opening * 50_000 + "1" + closing * 50_000)


def test_lines_are_counted_once_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of many checks, or of many programs, takes time in proportion to its length."""
    counts: list[int] = []

    class Text(str):
        __slots__ = ()

        def count(self, sub: str, start: int = 0, end: int = sys.maxsize, /) -> int:
            counts.append(min(end, len(self)) - start)
            return super().count(sub, start, end)

    check_text = "check.expect_eq %0, %0 : tensor<1xi32>\n"
    for text, read in ((Text("func.func @a() {\n" + check_text * 500 + "}"), generic), (Text("x\n// -----\n" * 500), programs_of)):
        counts.clear()
        read(text)
        assert sum(counts) <= len(text)
