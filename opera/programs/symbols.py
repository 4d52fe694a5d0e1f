"""Symbolic dimensions: those of `main` that may have another size, found by typing the program again with other sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from opera.programs.operators import Registry
from opera.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    Expression,
    Function,
    If,
    Invoke,
    Parameter,
    Program,
    Projection,
    Symbol,
    Tuple,
)
from opera.programs.types import IllTyped, TensorType, TupleType, Type

Place = tuple[str, int]
"""A dimension of a parameter: its name, and the axis."""
OPEN = -1
"""Stands for a size that depends on a symbol."""
_OTHERS = (1, 4)
"""By how much a symbolic dimension is changed, to see whether the program still has types."""


def with_symbols(program: Program, registry: Registry) -> Program:
    """*program* with as many symbolic dimensions in the parameters of `main` as its operators allow.

    Dimensions of one size are one symbol where they have to be equal, e.g. those of two operands of an addition.
    """
    by_size: dict[int, list[Place]] = defaultdict(list)
    for parameter in program.main.parameters:
        if isinstance(parameter.type, TensorType):
            for axis, size in enumerate(parameter.type.shape):
                if size > 1:
                    by_size[size].append((parameter.name, axis))
    symbols: list[Symbol] = []
    for size, places in by_size.items():
        for group in _groups(program, size, places, registry):
            symbols.append(Symbol(f"n{len(symbols) + 1}", tuple(group)))
    main = replace(program.main, symbols=tuple(symbols))
    return Program((*program.functions[:-1], main))


def _groups(program: Program, size: int, places: list[Place], registry: Registry) -> Iterable[list[Place]]:
    """Disjoint groups of *places* that may change together: each place alone, then the rest as one, or without one of them."""
    left: list[Place] = []
    for place in places:
        if _may_change(program, size, [place], registry):
            yield [place]
        else:
            left.append(place)
    for group in (left, *([each for each in left if each != place] for place in left if len(left) > 2)):
        if len(group) > 1 and _may_change(program, size, group, registry):
            yield group
            return


def _may_change(program: Program, size: int, group: list[Place], registry: Registry) -> bool:
    try:
        for more in _OTHERS:
            resized(program, dict.fromkeys(group, size + more), registry)
    except IllTyped:
        return False
    return True


def check_symbols(function: Function) -> None:
    """Checks that symbols name dimensions of parameters, each once, and that those of one symbol have one size.

    Raises:
        IllTyped: they do not.
    """
    types = {each.name: each.type for each in function.parameters}
    seen: set[Place] = set()
    for symbol in function.symbols:
        sizes: set[int] = set()
        for name, axis in symbol.places:
            kind = types.get(name)
            if not isinstance(kind, TensorType) or not 0 <= axis < len(kind.shape) or (name, axis) in seen:
                raise IllTyped(f"symbol {symbol.name[:40]!r}: {name[:40]!r} has no dimension {axis} of its own")
            seen.add((name, axis))
            sizes.add(kind.shape[axis])
        if len(sizes) != 1:
            raise IllTyped(f"symbol {symbol.name[:40]!r} has {len(sizes)} sizes")


def dynamic_result(program: Program, registry: Registry) -> Type:
    """The type of the result with `OPEN` in place of each size that depends on a symbol."""
    found = program.main.result
    for symbol in program.main.symbols:
        name, axis = symbol.places[0]
        kind = next(each.type for each in program.main.parameters if each.name == name)
        assert isinstance(kind, TensorType)
        other = resized(program, dict.fromkeys(symbol.places, kind.shape[axis] + _OTHERS[0]), registry).main.result
        found = _differing(found, program.main.result, other)
    return found


def _differing(found: Type, one: Type, other: Type) -> Type:
    if isinstance(found, TupleType):
        assert isinstance(one, TupleType)
        assert isinstance(other, TupleType)
        return TupleType(tuple(map(_differing, found.fields, one.fields, other.fields)))
    assert isinstance(one, TensorType)
    assert isinstance(other, TensorType)
    sizes = tuple(own if a == b else OPEN for own, a, b in zip(found.shape, one.shape, other.shape, strict=True))
    return TensorType(sizes, found.dtype)


def resized(program: Program, sizes: Mapping[Place, int], registry: Registry) -> Program:
    """*program* with other sizes of some dimensions of `main`'s parameters, and the types that follow.

    Raises:
        IllTyped: an operator does not take these sizes.
    """
    main = program.main
    parameters = tuple(Parameter(each.name, _resized(each, sizes)) for each in main.parameters)
    typing = _Typing(registry, {each.name: each for each in program.functions[:-1]})
    body, result = typing.block(main.body, {each.name: each.type for each in parameters})
    return Program((*program.functions[:-1], replace(main, parameters=parameters, body=body, result=result)))


def _resized(parameter: Parameter, sizes: Mapping[Place, int]) -> Type:
    if not isinstance(parameter.type, TensorType):
        return parameter.type
    shape = tuple(sizes.get((parameter.name, axis), size) for axis, size in enumerate(parameter.type.shape))
    return TensorType(shape, parameter.type.dtype)


class _Typing:
    """Gives bindings the types that follow from their arguments."""

    def __init__(self, registry: Registry, known: Mapping[str, Function]) -> None:
        self._registry = registry
        self._known = known

    def block(self, block: Block, outer: Mapping[str, Type]) -> tuple[Block, Type]:
        visible = dict(outer)
        found: list[Binding] = []
        for each in block.bindings:
            value, kind = self._expression(each.value, visible)
            found.append(Binding(each.name, kind, value))
            visible[each.name] = kind
        return replace(block, bindings=tuple(found)), visible[block.result]

    def _expression(self, value: Expression, visible: Mapping[str, Type]) -> tuple[Expression, Type]:
        match value:
            case Call(operator, arguments, attributes):
                if operator not in self._registry:
                    raise IllTyped(f"there is no operator {operator[:40]!r}")
                return value, self._registry.get(operator).infer([visible[each] for each in arguments], attributes)
            case Constant(literal):
                return value, TensorType(literal.shape, literal.dtype)
            case Tuple(parts):
                return value, TupleType(tuple(visible[each] for each in parts))
            case Projection(source, index):
                whole = visible[source]
                assert isinstance(whole, TupleType)
                return value, whole.fields[index]
            case If(condition, then, otherwise):
                (one, kind), (other, same) = self.block(then, visible), self.block(otherwise, visible)
                if kind != same:
                    raise IllTyped(f"the branches give {kind} and {same}")
                return If(condition, one, other), kind
            case Invoke(name, arguments):
                function = self._known[name]
                if tuple(visible[each] for each in arguments) != tuple(each.type for each in function.parameters):
                    raise IllTyped(f"function {name!r} takes other sizes")
                return value, function.result
