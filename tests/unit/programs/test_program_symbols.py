"""Symbolic dimensions: which sizes may change together, and what follows from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opera.extensions.programs.check import check
from opera.extensions.programs.document import BadProgram, decode, decode_program, encode, encode_program
from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.languages import drawn_from, registry
from opera.extensions.programs.policy import SHIPPED
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program, Symbol, canonical
from opera.extensions.programs.symbols import OPEN, dynamic_result, resized, with_symbols
from opera.extensions.programs.types import IllTyped, TensorType, Type


def program(parameters: dict[str, tuple[int, ...]], *steps: tuple[str, str, tuple[str, ...], dict[str, object]]) -> Program:
    """`main` with float32 parameters and calls: name, operator, arguments, attributes."""
    types: dict[str, Type] = {name: TensorType(shape, "float32") for name, shape in parameters.items()}
    bindings: list[Binding] = []
    for name, operator, arguments, attributes in steps:
        types[name] = registry().get(operator).infer([types[each] for each in arguments], attributes)
        bindings.append(Binding(name, types[name], Call(operator, arguments, attributes)))
    result = bindings[-1].name
    body = Block(tuple(bindings), result, dataflow=True)
    main = Function("main", tuple(Parameter(name, types[name]) for name in parameters), body, types[result])
    made = Program((main,))
    check(made, registry())
    return made


def groups(made: Program) -> set[frozenset[tuple[str, int]]]:
    return {frozenset(each.places) for each in with_symbols(made, registry()).main.symbols}


def test_dimensions_that_have_to_be_equal_are_one_symbol() -> None:
    added = program({"a": (3, 4), "b": (3, 4)}, ("v", "add", ("a", "b"), {}))
    assert groups(added) == {frozenset({("a", 0), ("b", 0)}), frozenset({("a", 1), ("b", 1)})}
    multiplied = program({"a": (3, 4), "b": (4, 5)}, ("v", "matmul", ("a", "b"), {}))
    assert groups(multiplied) == {frozenset({("a", 0)}), frozenset({("b", 1)}), frozenset({("a", 1), ("b", 0)})}


def test_equal_sizes_without_a_relation_are_symbols_of_their_own() -> None:
    made = program({"a": (4, 4)}, ("v", "exp", ("a",), {}))
    assert groups(made) == {frozenset({("a", 0)}), frozenset({("a", 1)})}


def test_a_size_that_an_attribute_fixes_is_no_symbol() -> None:
    reshaped = program({"a": (3, 4)}, ("v", "reshape", ("a",), {"shape": (12,)}))
    assert groups(reshaped) == set()
    repeated = program({"a": (1, 4)}, ("v", "broadcast_to", ("a",), {"shape": (5, 4)}))
    assert groups(repeated) == set()


def test_what_depends_on_a_symbol_is_open_in_the_result() -> None:
    joined = with_symbols(program({"a": (3, 4), "b": (2, 4)}, ("v", "concat", ("a", "b"), {"axis": 0})), registry())
    assert len(joined.main.symbols) == 3
    assert dynamic_result(joined, registry()) == TensorType((OPEN, OPEN), "float32")
    summed = with_symbols(program({"a": (3, 4)}, ("v", "sum", ("a",), {"axes": (0,), "keepdims": True})), registry())
    assert dynamic_result(summed, registry()) == TensorType((1, OPEN), "float32")


def test_other_sizes_change_all_types_that_follow() -> None:
    made = program({"a": (3, 4)}, ("t", "permute_dims", ("a",), {"axes": (1, 0)}), ("v", "concat", ("t", "t"), {"axis": 1}))
    bigger = resized(made, {("a", 0): 7}, registry())
    check(bigger, registry())
    assert bigger.main.result == TensorType((4, 14), "float32")
    with pytest.raises(IllTyped):
        resized(program({"a": (3, 4), "b": (3, 4)}, ("v", "add", ("a", "b"), {})), {("a", 0): 7}, registry())


@pytest.mark.parametrize(
    "symbols",
    [
        (Symbol("n", (("a", 2),)),),
        (Symbol("n", (("c", 0),)),),
        (Symbol("n", (("a", 0), ("a", 1))),),
        (Symbol("n", (("a", 0),)), Symbol("m", (("a", 0),))),
    ],
)
def test_symbols_that_name_no_dimension_are_ill_typed(symbols: tuple[Symbol, ...]) -> None:
    made = program({"a": (3, 4)}, ("v", "exp", ("a",), {}))
    with pytest.raises(IllTyped, match="symbol"):
        check(Program((replace(made.main, symbols=symbols),)), registry())


def test_drawn_programs_keep_their_symbols_in_documents_and_under_other_names() -> None:
    policy = replace(SHIPPED["general"], symbolic=1.0)
    generator = ProgramGenerator(policy, drawn_from(policy))
    drawn = [generator.generate(seed) for seed in range(60)]
    assert sum(bool(each.program.main.symbols) for each in drawn) > 30
    for each in drawn:
        check(each.program, registry())
        assert decode(encode(each)).program == each.program
        other = canonical(each.program)
        check(other, registry())
        assert [len(symbol.places) for symbol in other.main.symbols] == [len(symbol.places) for symbol in each.program.main.symbols]


@pytest.mark.parametrize("symbol", [{"name": "n", "places": []}, {"name": "n", "places": [["a"]]}, {"name": "n", "places": [["a", "b"]]}])
def test_a_malformed_symbol_is_refused_with_its_place(symbol: dict[str, object]) -> None:
    document = encode_program(program({"a": (3, 4)}, ("v", "exp", ("a",), {})))
    functions: list[dict[str, object]] = document["functions"]
    functions[0]["symbols"] = [symbol]
    with pytest.raises(BadProgram, match=r"symbols\[0\]"):
        decode_program(document)
