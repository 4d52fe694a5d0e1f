"""StableHLO programs as plain values: functions, blocks and operations, without MLIR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from opera.extensions.stablehlo.literals import Constant, read_constant, take_constant
from opera.extensions.stablehlo.scanner import Cursor, TextError
from opera.extensions.stablehlo.types import Value

Attribute: TypeAlias = "bool | int | float | str | Value | list[Attribute] | dict[str, Attribute]"
"""An attribute of an operation: a flag, a number, a word, a name without its sign, a constant, or several of them."""


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: With its dialect, e.g. `stablehlo.add`.
        operands: The numbers of the values that it takes.
        results: The numbers of the values that it gives.
        types: Types of the results, as MLIR writes them.
        attributes: By name.
        regions: A block each.
        line: Line of the text, counted from 1; 0 where that is not known.
    """

    name: str
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: tuple[Block, ...] = ()
    line: int = 0

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is one integer."""
        found = self.attributes.get(name, default)
        return found if isinstance(found, int) else self._refuse(name, "an integer")

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute that is one number."""
        found = self.attributes.get(name, default)
        return float(found) if isinstance(found, int | float) else self._refuse(name, "a number")

    def flag(self, name: str) -> bool:
        """An attribute that is true or false; false where it is not given."""
        return self.attributes.get(name, False) is True

    def word(self, name: str, default: str = "") -> str:
        """An attribute that is a word: a value of an enumeration, a string, or the name of a function."""
        found = self.attributes.get(name, default)
        return found if isinstance(found, str) else self._refuse(name, "a word")

    def integers(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """An attribute that is a list of integers, or a constant of them, in C order."""
        found = self.attributes.get(name, list(default))
        if isinstance(found, Value):
            return tuple(int(each) for each in found.array.reshape(-1))
        return _integers(found) if isinstance(found, list) else self._refuse(name, "a list of integers")

    def dimensions(self, name: str) -> Dimensions:
        """An attribute that numbers dimensions, e.g. `#stablehlo.gather<offset_dims = [1]>`."""
        found = self.attributes.get(name, {})
        return Dimensions(found if isinstance(found, dict) else self._refuse(name, "numbers of dimensions"))

    @property
    def called(self) -> str | None:
        """The function that it calls, if it calls one."""
        found = self.attributes.get("callee") or self.attributes.get("decomposition")
        return found if isinstance(found, str) else None

    def value(self, name: str) -> Value:
        """An attribute that is a constant."""
        found = self.attributes.get(name)
        return found if isinstance(found, Value) else self._refuse(name, "a constant")

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise ValueError(f"{self.name} has no attribute {name}, {wanted}")


@dataclass(frozen=True)
class Dimensions:
    """Numbers of dimensions by role."""

    numbers: Mapping[str, Attribute]

    def several(self, role: str) -> tuple[int, ...]:
        """The dimensions of *role*; none where it is not given."""
        found = self.numbers.get(role, [])
        return _integers(found) if isinstance(found, list) else ()

    def one(self, role: str) -> int:
        """The dimension of *role*; 0 where it is not given."""
        found = self.numbers.get(role, 0)
        return found if isinstance(found, int) else 0


def _integers(found: Sequence[Attribute]) -> tuple[int, ...]:
    return tuple(int(each) for each in found if isinstance(each, int))


@dataclass(frozen=True)
class Block:
    """Operations in the order in which they are evaluated; the last one ends the block and names its results."""

    arguments: tuple[int, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Function:
    """A function of a program; *inputs* and *results* are types as MLIR writes them."""

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    body: Block
    line: int = 0


@dataclass(frozen=True)
class Program:
    """A module: its functions by name."""

    functions: Mapping[str, Function]

    def reached(self, name: str) -> Iterator[Operation]:
        """The operations that an evaluation of the function called *name* may come to, with those in regions and in called functions."""
        waiting, seen = [name], {name}
        while waiting:
            for operation in _within(self.functions[waiting.pop()].body):
                yield operation
                called = operation.called
                if called is not None and called in self.functions and called not in seen:
                    seen.add(called)
                    waiting.append(called)


def _within(block: Block) -> Iterator[Operation]:
    """All operations of *block*, with those in regions, in the order of the text."""
    waiting = list(reversed(block.operations))
    while waiting:
        operation = waiting.pop()
        yield operation
        waiting += [each for region in reversed(operation.regions) for each in reversed(region.operations)]


def read_attribute(text: str) -> Attribute:
    """The attribute that *text* is, as MLIR prints it; a text of another grammar stays text.

    Raises:
        TextError: it begins as an attribute that is known, and goes on as none.
    """
    cursor = Cursor(text, 0)
    try:
        found = _attribute(cursor)
    except RecursionError:
        raise TextError("an attribute nests too deep", 1) from None
    return text if found is None or cursor.peek() else found


def _attribute(cursor: Cursor) -> Attribute | None:
    head = cursor.peek()
    if head == "dense":
        return _constant(take_constant(cursor))
    if head == "array":
        cursor.take()
        return _array(cursor)
    if head == "[":
        return _list(cursor)
    if head == "{":
        return _fields(cursor, "{", "}")
    if head in ("true", "false", "unit"):
        return cursor.take() != "false"
    if cursor.kind() == "string" and not head.startswith("@"):
        return _unquoted(cursor.take())
    if head.startswith("@"):
        return _unquoted(cursor.take()[1:])
    if head.startswith("#stablehlo"):
        return _of_stablehlo(cursor)
    return _number(cursor)


def _constant(found: Constant) -> Value:
    return read_constant(found.text)


def _unquoted(text: str) -> str:
    return text[1:-1] if text.startswith('"') else text


def _number(cursor: Cursor) -> int | float | None:
    sign = -1 if cursor.accept("-") else 1
    if cursor.kind() != "number":
        return None
    text = cursor.take()
    if cursor.accept(":"):
        cursor.type()
    if text[:2].lower() == "0x":
        return None  # the bits of an infinity or a NaN, which no operation takes as an attribute
    return sign * (int(text) if text.isdecimal() else float(text))


def _array(cursor: Cursor) -> list[Attribute]:
    """The elements of an attribute such as `array<i64: 1, 2>`."""
    cursor.expect("<")
    cursor.type()
    cursor.accept(":")
    return _items(cursor, ">")


def _list(cursor: Cursor) -> list[Attribute]:
    cursor.expect("[")
    return _items(cursor, "]")


def _items(cursor: Cursor, end: str) -> list[Attribute]:
    found: list[Attribute] = []
    while not cursor.accept(end):
        item = _attribute(cursor)
        if item is None:
            item = cursor.take()
        found.append(item)
        cursor.accept(",")
    return found


def _fields(cursor: Cursor, start: str, end: str) -> dict[str, Attribute]:
    cursor.expect(start)
    found: dict[str, Attribute] = {}
    while not cursor.accept(end):
        name = cursor.take()
        value: Attribute | None = True
        if cursor.accept("="):
            value = _attribute(cursor)
        found[_unquoted(name)] = cursor.take() if value is None else value
        cursor.accept(",")
    return found


def _of_stablehlo(cursor: Cursor) -> Attribute:
    """`#stablehlo<comparison_direction EQ>`, `#stablehlo.gather<offset_dims = [1]>`, `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`."""
    head = cursor.take()
    if head == "#stablehlo.conv":
        return _convolution(cursor)
    if head != "#stablehlo":
        return _fields(cursor, "<", ">")
    cursor.expect("<")
    cursor.take()
    word = cursor.take()
    cursor.expect(">")
    return word


_ROLES = (
    ("input", "b", "batch", "f", "feature"),
    ("kernel", "i", "input_feature", "o", "output_feature"),
    ("output", "b", "batch", "f", "feature"),
)


def _convolution(cursor: Cursor) -> dict[str, Attribute]:
    """The dimensions of a convolution: `input_batch`, `input_spatial` ..., `kernel_input_feature` ..., `output_feature`."""
    text = "".join(cursor.group().split())[1:-1]
    parts = text.replace("->", "x").split("x")
    found: dict[str, Attribute] = {}
    for part, (name, *letters) in zip(parts, _ROLES, strict=True):
        places = part.strip("[]").split(",")
        for letter, role in (letters[:2], letters[2:]):
            found[f"{name}_{role}"] = places.index(letter)
        spatial = {int(each): index for index, each in enumerate(places) if each.isdecimal()}
        found[f"{name}_spatial"] = [spatial[number] for number in sorted(spatial)]
    return found
