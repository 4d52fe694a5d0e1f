"""Evaluates functions: a table of symbols, scopes that nest, and one function for each operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from opera.extensions.stablehlo.bounded_work import Work
from opera.extensions.stablehlo.interpreter.tensor import Tensor, number_tensor
from opera.extensions.stablehlo.program import Block, Operation, Program
from opera.extensions.stablehlo.types import ElementType, TensorType, element_type, tensor_type


@dataclass(frozen=True)
class Token:
    """The value of a token, which orders side effects and says nothing else."""


RuntimeValue: TypeAlias = "Tensor | Token | tuple[RuntimeValue, ...]"
"""A tensor, a token, or a tuple of them."""
Results: TypeAlias = "RuntimeValue | list[RuntimeValue] | list[Tensor]"
"""What an operation gives: its only result, or all of them."""
Observer = Callable[[Operation, Sequence[Tensor]], None]
"""Is told of each operation without a meaning of its own, such as a check, with the values that it takes."""

STEPS = 500_000
"""Operations that one evaluation may come to, unless the caller says otherwise."""
ELEMENTS = 4_000_000
"""Elements that a tensor may have, unless the caller says otherwise."""
WORK = 20_000_000
"""Elements, and products of them, that one evaluation computes at most."""


class Unsupported(Exception):
    """Operations or types that this interpreter does not know.

    Attributes:
        names: The operations.
    """

    def __init__(self, names: Sequence[str], reason: str = "") -> None:
        super().__init__(reason or f"the interpreter does not know {', '.join(names)}")
        self.names = tuple(names)


class Stopped(Exception):
    """A program has no meaning, e.g. because shapes do not fit."""


class PastLimit(Stopped):
    """An evaluation needs more operations, or larger tensors, than allowed."""


@dataclass
class Invocation:
    """One operation with the values that it takes."""

    operation: Operation
    operands: Sequence[RuntimeValue]
    machine: Machine
    scope: Scope

    @property
    def tensors(self) -> list[Tensor]:
        """The operands, which are tensors."""
        found = [each for each in self.operands if isinstance(each, Tensor)]
        if len(found) != len(self.operands):
            raise Stopped(f"{self.operation.name} takes tensors")
        return found

    @property
    def type(self) -> TensorType:
        """The type of the only result."""
        return self.types[0]

    @property
    def types(self) -> list[TensorType]:
        """The types of all results."""
        return [self.machine.type(each) for each in self.operation.types]

    def spend(self, amount: int) -> None:
        """Counts *amount* products that the operation computes."""
        self.machine.work.spend(amount, self.operation.name)

    @property
    def element(self) -> ElementType:
        """The type of the elements of the first result."""
        return _dimensions_and_element(self.operation.types[0])[1]

    def shaped(self, shape: Sequence[int], result: int = 0) -> TensorType:
        """The type of a result whose dimensions are known only now; raises Stopped where they are not those that the text has."""
        text = self.operation.types[result]
        sizes, element = _dimensions_and_element(text)
        if len(sizes) != len(shape) or any(size not in ("?", str(own)) for size, own in zip(sizes, shape, strict=True)):
            raise Stopped(f"{self.operation.name} gives {list(shape)}, and the text says {text}")
        return self.machine.limited(TensorType(tuple(shape), element))

    def region(self, number: int, arguments: Sequence[RuntimeValue] = ()) -> list[RuntimeValue]:
        """The results of a region, which sees the values around it."""
        return self.machine.block(self.operation.regions[number], arguments, self.scope)

    def body(self, *arguments: Tensor, number: int = 0) -> list[Tensor]:
        """The results of a region that takes and gives tensors."""
        return [each for each in self.region(number, arguments) if isinstance(each, Tensor)]


def _dimensions_and_element(text: str) -> tuple[list[str], ElementType]:
    """The dimensions, as text, and the type of the elements of a tensor's type, which may be dynamic."""
    match = _TENSOR.fullmatch(text)
    if match is None:
        raise Unsupported((), f"no tensor of a known type: {text[:80]}")
    return match[1].split("x")[:-1], element_type(match[2])


_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([A-Za-z]\w*(?:<\w+>)?)(?:,.*)?>")
Rule = Callable[[Invocation], "Results"]
"""The meaning of an operation."""
RULES: dict[str, Rule] = {}
"""By the operation's name, with its dialect."""


def evaluates(*names: str) -> Callable[[Rule], Rule]:
    """Makes a function the meaning of the operations of StableHLO called *names*."""

    def record(rule: Rule) -> Rule:
        for name in names:
            RULES[f"stablehlo.{name}"] = rule
        return rule

    return record


@dataclass
class Scope:
    """The values by number, and the scope around it, if it is that of a region."""

    outer: Scope | None = None
    values: dict[int, RuntimeValue] = field(default_factory=dict[int, RuntimeValue])

    def find(self, number: int) -> RuntimeValue:
        """The value with *number*, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if number in scope.values:
                return scope.values[number]
            scope = scope.outer
        raise Stopped(f"value {number} is used before it is there")


class Machine:
    """Evaluates the functions of one program.

    Args:
        program: The program.
        observe: Is told of each check that the program comes by.
        steps: Operations that it evaluates at most.
        elements: Elements that a tensor may have.
    """

    def __init__(self, program: Program, observe: Observer, *, steps: int = STEPS, elements: int = ELEMENTS) -> None:
        self._program = program
        self._observe = observe
        self.steps = Work(steps, "operations; does a loop end?", PastLimit)
        self.work = Work(WORK, "elements to compute", PastLimit)
        self._elements = elements
        self._depth = 0

    def call(self, name: str, arguments: Sequence[RuntimeValue]) -> list[RuntimeValue]:
        """The results of the function called *name*."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PastLimit(f"@{name} calls itself without end")
        try:
            return self.block(self._program.functions[name].body, arguments, None)
        finally:
            self._depth -= 1

    def block(self, block: Block, arguments: Sequence[RuntimeValue], outer: Scope | None) -> list[RuntimeValue]:
        """The values with which *block* ends."""
        self.steps.spend()
        scope = Scope(outer, dict(zip(block.arguments, arguments, strict=True)))
        for operation in block.operations:
            operands = [scope.find(each) for each in operation.operands]
            if operation.name in _ENDINGS:
                return operands
            self.steps.spend()
            results = self._results(Invocation(operation, operands, self, scope))
            scope.values.update(zip(operation.results, results, strict=True))
        return []

    def _results(self, invocation: Invocation) -> Sequence[RuntimeValue]:
        operation = invocation.operation
        if operation.name in _OBSERVED:
            self._observe(operation, invocation.tensors)
            return [_true() if operation.name == SITE else invocation.tensors[0] for _ in operation.results]
        results = RULES[operation.name](invocation)
        return results if isinstance(results, list) else [results]

    def type(self, text: str) -> TensorType:
        """The type of a tensor with known dimensions; raises PastLimit for more elements than allowed."""
        return self.limited(tensor_type(text))

    def limited(self, type: TensorType) -> TensorType:
        """*type*; raises PastLimit where it has more elements than allowed."""
        if type.size > self._elements:
            raise PastLimit(f"{type} has {type.size:,} elements, and at most {self._elements:,} are allowed")
        self.work.spend(type.size)
        return type


SITE = "check.site"
"""A check: the parser numbers them, and the observer knows what each demands."""
_OBSERVED = frozenset({SITE, "interpreter.probe", "interpreter.print"})
"""Operations without a meaning of their own."""
_ENDINGS = frozenset({"stablehlo.return", "func.return"})
_DEEPEST = 200


def _true() -> Tensor:
    """What a check gives that has a result: a check that fails fails the whole function."""
    return number_tensor(element_type("i1"), True)


def unknown_operations(program: Program, function: str) -> list[str]:
    """The operations that an evaluation may come to and that have no rule, and functions without a body, sorted."""
    known = {*RULES, *_ENDINGS, *_OBSERVED}
    reached = list(program.reached(function))
    bodiless = {f"@{each.called}, which has no body" for each in reached if each.called and each.called not in program.functions}
    return sorted({_named(each) for each in reached if each.name not in known} | bodiless)


def _named(operation: Operation) -> str:
    """The name of an operation, with the target of a custom call."""
    target = operation.word("call_target_name")
    return f"{operation.name} @{target}" if target else operation.name


def evaluate(
    program: Program,
    function: str,
    arguments: Sequence[Tensor],
    *,
    observe: Observer = lambda _operation, _values: None,
    steps: int = STEPS,
    elements: int = ELEMENTS,
) -> list[RuntimeValue]:
    """The results of a function: `eval` of the interpreter's design.

    Args:
        program: The program.
        function: The name of the function, without the sign.
        arguments: One for each of its inputs.
        observe: Is told of each check, probe and print that the program comes by.
        steps: Operations that are evaluated at most.
        elements: Elements that a tensor may have.

    Raises:
        Unsupported: the function may come to operations or types without a rule; all are named, and nothing was evaluated.
        PastLimit: it needs more operations, or larger tensors, than allowed.
        Stopped: values do not fit.
        NotDefined: an operation is not defined for its elements.
    """
    unknown = unknown_operations(program, function)
    if unknown:
        raise Unsupported(unknown)
    wanted = program.functions[function].inputs
    given = [str(each.type) for each in arguments]
    if len(given) != len(wanted) or any("?" not in one and one != other for one, other in zip(wanted, given, strict=True)):
        raise Stopped(f"@{function} takes ({', '.join(wanted)}), not ({', '.join(given)})")
    machine = Machine(program, observe, steps=steps, elements=elements)
    with np.errstate(all="ignore"):
        try:
            return machine.call(function, arguments)
        except RecursionError:
            raise PastLimit(f"@{function} nests too deep") from None
