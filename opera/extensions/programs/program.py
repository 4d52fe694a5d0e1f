"""Programs: functions of bindings, in which every intermediate value has a name and a type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Union

from opera.extensions.programs.types import Attributes, Type, tensors_in
from opera.instance import Tensor

MAIN = "main"
"""The function that a compiler is asked for."""


@dataclass(frozen=True, slots=True)
class Call:
    """An operator, applied to variables.

    Attributes:
        operator: Its name in the registry.
        arguments: Names of variables.
        attributes: Its parameters.
    """

    operator: str
    arguments: tuple[str, ...]
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor whose values the program gives."""

    value: Tensor


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of variables."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """Part *index* of a variable that holds a tuple."""

    source: str
    index: int


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks, chosen by a boolean scalar. Both see the variables outside."""

    condition: str
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class Invoke:
    """Another function of the program, applied to variables."""

    function: str
    arguments: tuple[str, ...]


Expression = Union[Call, Constant, Tuple, Projection, If, Invoke]


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable and its value."""

    name: str
    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class Block:
    """Bindings in order, and the variable that is the block's value.

    Attributes:
        bindings: Each sees the ones before it.
        result: The name of a variable.
        dataflow: Whether a compiler may order the bindings as it likes; then there is no `If` and no `Invoke` among them.
    """

    bindings: tuple[Binding, ...]
    result: str
    dataflow: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that a compiler does not know before the program runs.

    Attributes:
        name: Unique in the function.
        places: The dimensions that have it: name of the parameter, and axis. Their sizes in the types are those of the inputs.
    """

    name: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function.

    Attributes:
        name: Unique in the program.
        parameters: Tensors and tuples.
        body: Its bindings and its result.
        result: The type of the result.
        symbols: Its symbolic dimensions; only `main` has some.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Block
    result: Type
    symbols: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Functions, one of them `main`. A function may call those before it, so that no program runs forever."""

    functions: tuple[Function, ...]

    @property
    def main(self) -> Function:
        """The function that a compiler is asked for."""
        return self.functions[-1]


def blocks(block: Block) -> Iterator[Block]:
    """*block*, and all blocks inside it."""
    yield block
    for binding in block.bindings:
        if isinstance(binding.value, If):
            yield from blocks(binding.value.then)
            yield from blocks(binding.value.otherwise)


def bindings(program: Program) -> Iterator[Binding]:
    """All bindings of all functions."""
    for function in program.functions:
        for block in blocks(function.body):
            yield from block.bindings


def calls(program: Program) -> Iterator[Call]:
    """All calls of operators."""
    for binding in bindings(program):
        if isinstance(binding.value, Call):
            yield binding.value


def call_feature(operator: str, arguments: Iterable[Type]) -> str:
    """An operator with the dtypes of its arguments: `add(float32, float32)`."""
    return f"{operator}({', '.join(each.dtype for kind in arguments for each in tensors_in(kind))})"


def operators_of(program: Program) -> tuple[str, ...]:
    """The distinct operators of *program*, in order of first use."""
    return tuple(dict.fromkeys(call.operator for call in calls(program)))


def used(value: Expression) -> tuple[str, ...]:
    """The variables that *value* reads, those of inner blocks included."""
    match value:
        case Call(arguments=names) | Invoke(arguments=names) | Tuple(parts=names):
            return names
        case Projection(source=name):
            return (name,)
        case If():
            inner: list[str] = [value.condition]
            for block in (value.then, value.otherwise):
                inner += [name for binding in block.bindings for name in used(binding.value)]
                inner.append(block.result)
            return tuple(inner)
        case Constant():
            return ()


def without_dead_bindings(block: Block) -> Block:
    """*block* without the bindings that its result does not depend on."""
    needed = {block.result}
    kept: list[Binding] = []
    for binding in reversed(block.bindings):
        if binding.name in needed:
            needed.update(used(binding.value))
            kept.append(binding)
    return replace(block, bindings=tuple(reversed(kept)))


def without_dead_functions(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """*functions* without those that the last one does not call, directly or by others."""
    needed = {functions[-1].name}
    kept: list[Function] = []
    for function in reversed(functions):
        if function.name in needed:
            inner = (binding.value for block in blocks(function.body) for binding in block.bindings)
            needed.update(value.function for value in inner if isinstance(value, Invoke))
            kept.append(function)
    return tuple(reversed(kept))


def read_by(block: Block) -> set[str]:
    """The variables that *block* reads: its own, and those of the function around it."""
    return {block.result, *(name for binding in block.bindings for name in used(binding.value))}


def canonical(program: Program) -> Program:
    """*program* with names by place: `x` for parameters, `v` for bindings, `f` for functions; the same for programs equal up to names."""
    numbers: Counter[str] = Counter()
    functions: dict[str, str] = {}
    return Program(tuple(_Renamer(numbers, functions).function(each, main=each is program.main) for each in program.functions))


class _Renamer:
    """Renames what one function binds."""

    def __init__(self, numbers: Counter[str], functions: dict[str, str]) -> None:
        self._numbers = numbers
        self._functions = functions
        self._names: dict[str, str] = {}

    def function(self, function: Function, *, main: bool) -> Function:
        name = MAIN if main else self._fresh("f")
        parameters = tuple(Parameter(self._bound("x", each.name), each.type) for each in function.parameters)
        symbols = tuple(
            Symbol(f"n{number}", tuple(sorted((self._names[parameter], axis) for parameter, axis in each.places)))
            for number, each in enumerate(function.symbols, 1)
        )
        renamed = Function(name, parameters, self._block(function.body), function.result, symbols)
        self._functions[function.name] = name
        return renamed

    def _fresh(self, letter: str) -> str:
        self._numbers[letter] += 1
        return f"{letter}{self._numbers[letter]}"

    def _bound(self, letter: str, name: str) -> str:
        self._names[name] = self._fresh(letter)
        return self._names[name]

    def _block(self, block: Block) -> Block:
        found: list[Binding] = []
        for each in block.bindings:
            value = self._expression(each.value)
            found.append(Binding(self._bound("v", each.name), each.type, value))
        return Block(tuple(found), self._names[block.result], block.dataflow)

    def _expression(self, value: Expression) -> Expression:
        match value:
            case If(condition, then, otherwise):
                return If(self._names[condition], self._block(then), self._block(otherwise))
            case Invoke(function, arguments):
                return Invoke(self._functions[function], tuple(self._names[each] for each in arguments))
            case _:
                return renamed(value, self._names)


def renamed(value: Expression, names: Mapping[str, str]) -> Expression:
    """*value* with other variables; blocks inside it stay as they are."""

    def new(old: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names[each] for each in old)

    match value:
        case Call(operator, arguments, attributes):
            return Call(operator, new(arguments), attributes)
        case Tuple(parts):
            return Tuple(new(parts))
        case Projection(source, index):
            return Projection(names[source], index)
        case If(condition, then, otherwise):
            return If(names[condition], then, otherwise)
        case Invoke(function, arguments):
            return Invoke(function, new(arguments))
        case Constant():
            return value


def with_names(block: Block, names: Mapping[str, str]) -> Block:
    """*block* with other variables read in place of *names*; one may stand for another of them."""

    def final(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    def value(old: Expression) -> Expression:
        if isinstance(old, If):
            return If(final(old.condition), with_names(old.then, names), with_names(old.otherwise, names))
        return renamed(old, {each: final(each) for each in used(old)})

    return replace(block, bindings=tuple(replace(each, value=value(each.value)) for each in block.bindings), result=final(block.result))
