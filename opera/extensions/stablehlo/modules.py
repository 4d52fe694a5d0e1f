"""Modules in MLIR's generic form as statements, which can be left out or put elsewhere, and as plain programs. Needs no MLIR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from opera.extensions.stablehlo.interpreter.element import NotDefined
from opera.extensions.stablehlo.interpreter.machine import ELEMENTS, RULES, Machine, Scope, Stopped, Unsupported
from opera.extensions.stablehlo.interpreter.tensor import Tensor
from opera.extensions.stablehlo.program import Attribute, Block, Function, Operation, Program, read_attribute
from opera.extensions.stablehlo.scanner import Cursor, TextError, tokens
from opera.extensions.stablehlo.statements import attributes_in
from opera.extensions.stablehlo.types import Value, tensor_type

MAIN = "main"
_RETURN = "func.return"
_ENDINGS = (_RETURN, "stablehlo.return")
_UNKNOWN = (RecursionError, ValueError, LookupError, TypeError, AttributeError)
"""What a rule raises where a foreign text gives an operation other operands or parameters than it takes."""
_DIGITS = 4
"""Digits of the number of results that an operation may have."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Statement:
    """One operation of a function, with its regions.

    Attributes:
        text: As MLIR writes it.
        name: The operation, with its dialect.
        results: The names of its results, e.g. `%2` or `%2#1`.
        types: Their types.
        operands: The names of what it takes itself.
        operand_types: Their types.
        attributes: Texts by name.
        regions: Each a block: the names of its arguments, and its statements.
    """

    text: str
    name: str
    results: tuple[str, ...]
    types: tuple[str, ...]
    operands: tuple[str, ...]
    operand_types: tuple[str, ...]
    attributes: Mapping[str, str]
    regions: tuple[tuple[tuple[str, ...], tuple[Statement, ...]], ...]

    @cached_property
    def reads(self) -> frozenset[str]:
        """All names in it but those of its own results, those in regions included."""
        found = frozenset(token.text for token in tokens(self.text) if token.text.startswith("%"))
        return found - {self.results[0].partition("#")[0]} if self.results else found

    def within(self) -> Iterator[Statement]:
        """The statements of its regions, and of theirs."""
        for _, statements in self.regions:
            for each in statements:
                yield each
                yield from each.within()

    @property
    def called(self) -> frozenset[str]:
        """The functions that it, or what is within it, calls."""
        every = [self, *self.within()]
        return frozenset(
            text.strip('@" ') for each in every for name, text in each.attributes.items() if name in ("callee", "decomposition")
        )

    def renamed(self, names: Mapping[str, str]) -> Statement:
        """This statement with other names of values."""
        return _read(Cursor(renamed(self.text, names), 0))


@dataclass(frozen=True)
class FunctionText:
    """A function: names and types of its arguments, its statements, and the names and types of what it returns."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    statements: tuple[Statement, ...]
    results: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        inputs, outputs = (", ".join(type for _, type in each) for each in (self.arguments, self.results))
        head = f"  ^bb0({', '.join(f'{name}: {type}' for name, type in self.arguments)}):\n" if self.arguments else ""
        body = "".join(f"    {each.text}\n" for each in self.statements)
        ending = f'    "{_RETURN}"({", ".join(name for name, _ in self.results)}) : ({outputs}) -> ()\n'
        kind = f'<{{function_type = ({inputs}) -> ({outputs}), sym_name = "{self.name}"}}>'
        return f'  "func.func"() {kind} ({{\n{head}{body}{ending}  }}) : () -> ()\n'


@dataclass(frozen=True)
class ModuleText:
    """A module of functions; `main` is the entry."""

    functions: Mapping[str, FunctionText]

    @property
    def main(self) -> FunctionText:
        return self.functions[MAIN]

    def with_main(self, main: FunctionText) -> ModuleText:
        """This module with another entry; functions that it does not come to go."""
        waiting, reached = list(main.statements), {MAIN}
        while waiting:
            for name in waiting.pop().called - reached:
                reached.add(name)
                waiting += self.functions[name].statements if name in self.functions else ()
        return ModuleText({name: main if name == MAIN else each for name, each in self.functions.items() if name in reached})

    def __str__(self) -> str:
        return f'"builtin.module"() ({{\n{"".join(map(str, self.functions.values()))}}}) : () -> ()\n'


def read_module(text: str) -> ModuleText:
    """The module that *text* is in generic form.

    Raises:
        TextError: it is in another form, nests too deep, has no `main`, or other things than functions of one block.
    """
    try:
        module = _read(Cursor(text, 0))
    except RecursionError:
        raise TextError("the module nests too deep", 1) from None
    if module.name != "builtin.module" or len(module.regions) != 1:
        raise TextError("this is no module", 1)
    found = {each.name: each for each in map(_function, module.regions[0][1])}
    if MAIN not in found:
        raise TextError("the module has no function main", 1)
    return ModuleText(found)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """*text* with other names of values."""
    parts: list[str] = []
    done = 0
    for token in tokens(text):
        if token.text in names:
            parts += [text[done : token.start], names[token.text]]
            done = token.end
    return "".join((*parts, text[done:]))


def _function(statement: Statement) -> FunctionText:
    if statement.name != "func.func" or len(statement.regions) != 1 or not statement.regions[0][1]:
        raise TextError("the module holds something else than functions with a body", 1)
    inputs, _ = _signature(Cursor(statement.attributes.get("function_type", ""), 0))
    names, (*body, ending) = statement.regions[0]
    if ending.name != _RETURN or len(names) != len(inputs):
        raise TextError("a function has no block, or several", 1)
    name = statement.attributes.get("sym_name", "").strip('"')
    results = tuple(zip(ending.operands, ending.operand_types, strict=True))
    return FunctionText(name, tuple(zip(names, inputs, strict=True)), tuple(body), results)


def _read(cursor: Cursor) -> Statement:
    """The operation that begins with the next token."""
    start = cursor.start()
    results: tuple[str, ...] = ()
    if cursor.peek().startswith("%"):
        name, count = cursor.take(), 1
        if cursor.accept(":"):
            count = _count(cursor.take(), cursor)
        results = (name,) if count == 1 else tuple(f"{name}#{index}" for index in range(count))
        cursor.expect("=")
    if cursor.kind() != "string":
        raise cursor.error("this is not the generic form of MLIR")
    operation = cursor.take().strip('"')
    cursor.expect("(")
    operands = _listed(cursor, cursor.take)
    attributes: dict[str, str] = {}
    if cursor.accept("<"):
        attributes = attributes_in(cursor)
        cursor.expect(">")
    regions: list[tuple[tuple[str, ...], tuple[Statement, ...]]] = []
    if cursor.accept("("):
        regions = _listed(cursor, lambda: _region(cursor))
    attributes |= attributes_in(cursor)
    cursor.expect(":")
    inputs, types = _signature(cursor)
    if len(inputs) != len(operands) or len(types) != len(results):
        raise cursor.error(f"{operation} has another number of types than of values")
    text = cursor.text[start : cursor.end]
    return Statement(text, operation, results, types, tuple(operands), inputs, attributes, tuple(regions))


def _count(text: str, cursor: Cursor) -> int:
    """A number of results; MLIR writes none for one."""
    if not text.isdecimal() or len(text) > _DIGITS:
        raise cursor.error(f"expected a number of results, found {text[:40]!r}")
    return int(text)


def _region(cursor: Cursor) -> tuple[tuple[str, ...], tuple[Statement, ...]]:
    cursor.expect("{")
    names: list[str] = []
    if cursor.peek().startswith("^"):
        cursor.take()
        if cursor.accept("("):
            names = _listed(cursor, lambda: _argument(cursor))
        cursor.expect(":")
    statements: list[Statement] = []
    while not cursor.accept("}"):
        statements.append(_read(cursor))
    return tuple(names), tuple(statements)


def _argument(cursor: Cursor) -> str:
    name = cursor.take()
    cursor.expect(":")
    cursor.type()
    return name


def _signature(cursor: Cursor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of operands and of results: `(A, B) -> C`, or `(A, B) -> (C, D)`."""
    cursor.expect("(")
    inputs = _listed(cursor, cursor.type)
    cursor.expect("->")
    return tuple(inputs), tuple(_listed(cursor, cursor.type)) if cursor.accept("(") else (cursor.type(),)


def _listed(cursor: Cursor, item: Callable[[], _T]) -> list[_T]:
    """What *item* reads, up to the bracket that closes, with commas between."""
    found: list[_T] = []
    while not cursor.accept(")"):
        found.append(item())
        cursor.accept(",")
    return found


# What it computes.


def values_of(module: ModuleText, inputs: Sequence[Value]) -> dict[str, Value]:
    """The values of `main` by name, as far as the readable interpreter knows them; *inputs* are those of its arguments.

    Raises:
        TextError: a value is used that nothing defines.
    """
    numbers = {name: number for number, name in enumerate(_names(module))}
    try:
        program = Program({each.name: _plain_function(each, numbers) for each in module.functions.values()})
    except KeyError as error:
        raise TextError(f"nothing defines the value {str(error)[:40]}", 1) from None
    machine = Machine(program, lambda _operation, _values: None)
    given = [Tensor(each) for each in inputs]
    scope = Scope(None, {numbers[name]: value for (name, _), value in zip(module.main.arguments, given, strict=True)})
    for each in program.functions[MAIN].body.operations[:-1]:
        if not {each.name, *(one.name for one in _within(each, program))} <= {*RULES, *_ENDINGS}:
            continue
        try:
            results = machine.block(Block((), (each, Operation(_RETURN, each.results))), (), scope)
        except (*_UNKNOWN, NotDefined, Stopped, Unsupported):
            continue
        scope.values.update(zip(each.results, results, strict=True))
    return {name: value.value for name, number in numbers.items() if isinstance(value := scope.values.get(number), Tensor)}


def _within(operation: Operation, program: Program) -> Iterable[Operation]:
    """What an evaluation of *operation* may come to, with called functions."""
    found = [each for region in operation.regions for each in region.operations]
    called = program.reached(operation.called) if operation.called in program.functions else ()
    return [*found, *(one for each in found for one in _within(each, program)), *called]


def _names(module: ModuleText) -> Iterator[str]:
    for function in module.functions.values():
        yield from (name for name, _ in function.arguments)
        for statement in function.statements:
            for each in (statement, *statement.within()):
                yield from each.results
                yield from (name for names, _ in each.regions for name in names)


def _plain_function(function: FunctionText, numbers: Mapping[str, int]) -> Function:
    ending = Operation(_RETURN, tuple(numbers[name] for name, _ in function.results))
    body = Block(tuple(numbers[name] for name, _ in function.arguments), (*(_plain(each, numbers) for each in function.statements), ending))
    inputs, results = (tuple(type for _, type in each) for each in (function.arguments, function.results))
    return Function(function.name, inputs, results, body)


def _plain(statement: Statement, numbers: Mapping[str, int]) -> Operation:
    small = all(_elements(each) <= ELEMENTS for each in statement.types)
    attributes = {name: _attribute(text) if small else text for name, text in statement.attributes.items()}
    regions = tuple(
        Block(tuple(numbers[name] for name in names), tuple(_plain(each, numbers) for each in inner)) for names, inner in statement.regions
    )
    operands, results = (tuple(numbers[name] for name in each) for each in (statement.operands, statement.results))
    return Operation(statement.name, operands, results, statement.types, attributes, regions)


def _elements(type: str) -> int:
    """The elements of a tensor; a constant of too many is not read."""
    try:
        return tensor_type(type).size
    except (TextError, ValueError):
        return 0


def _attribute(text: str) -> Attribute:
    try:
        return read_attribute(text)
    except (TextError, ValueError):
        return text
