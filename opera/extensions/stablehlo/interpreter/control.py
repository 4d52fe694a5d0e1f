"""Operations that decide what is evaluated, and those that only order or group values."""

from __future__ import annotations

from opera.extensions.stablehlo.interpreter.machine import RULES, Invocation, Results, RuntimeValue, Stopped, Token, evaluates
from opera.extensions.stablehlo.interpreter.tensor import Tensor, number_tensor
from opera.extensions.stablehlo.types import element_type


def _number(value: RuntimeValue) -> int:
    if not isinstance(value, Tensor):
        raise Stopped("a condition is no tensor")
    return int(value.get().number)


@evaluates("if")
def if_(it: Invocation) -> Results:
    """`if`: the results of `true_branch` where the predicate holds, else of `false_branch`."""
    return it.region(0 if _number(it.operands[0]) else 1)


@evaluates("case")
def case(it: Invocation) -> Results:
    """`case`: the results of the branch with the index; of the last branch, if there is none with it."""
    index, last = _number(it.operands[0]), len(it.operation.regions) - 1
    return it.region(index if 0 <= index <= last else last)


@evaluates("while")
def while_(it: Invocation) -> Results:
    """`while`: the body again and again, as long as the condition holds."""
    values = list(it.operands)
    while _number(it.region(0, values)[0]):
        values = it.region(1, values)
    return values


def call(it: Invocation) -> Results:
    """`func.call`: the results of a function."""
    return it.machine.call(it.operation.word("callee"), it.operands)


RULES["func.call"] = call


@evaluates("composite")
def composite(it: Invocation) -> Results:
    """`composite`: the results of its decomposition, which is a function."""
    return it.machine.call(it.operation.word("decomposition"), it.operands)


@evaluates("tuple")
def tuple_(it: Invocation) -> Results:
    """`tuple`: the operands as one value."""
    return tuple(it.operands)


@evaluates("get_tuple_element")
def get_tuple_element(it: Invocation) -> Results:
    """`get_tuple_element`: one value of a tuple."""
    (values,) = it.operands
    if not isinstance(values, tuple):
        raise Stopped("get_tuple_element takes a tuple")
    return values[it.operation.integer("index")]


@evaluates("after_all", "create_token")
def after_all(it: Invocation) -> Results:
    """`after_all`: a token that comes after its operands, which are evaluated in order anyway."""
    return Token()


@evaluates("optimization_barrier")
def optimization_barrier(it: Invocation) -> Results:
    """`optimization_barrier`: its operands, as they are."""
    return list(it.operands)


@evaluates("partition_id", "replica_id")
def process_id(it: Invocation) -> Results:
    """`partition_id`, `replica_id`: 0, since one process evaluates the program."""
    return number_tensor(element_type("ui32"), 0)
