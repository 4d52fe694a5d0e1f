"""Symbolic dimensions: those of `main` that may have another size, found by typing the program again with other sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from opera.extensions.programs.operators import Registry
from opera.extensions.programs.program import Function, Parameter, Program, Symbol
from opera.extensions.programs.retype import retyped
from opera.extensions.programs.types import IllTyped, TensorType, TupleType, Type
from opera.extensions.stablehlo.bounded_work import Work

Place = tuple[str, int]
"""A dimension of a parameter: its name, and the axis."""
MOST_RETYPED = 1_000_000
"""Bindings that are typed again to find the results that depend on symbols: all of `main` for each symbol."""
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
    work = Work(MOST_RETYPED, "bindings to type again for symbols", IllTyped)
    for symbol in program.main.symbols:
        work.spend(len(program.main.body.bindings), f"symbol {symbol.name[:40]}")
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
    known = {each.name: each for each in program.functions[:-1]}
    body, result = retyped(main.body, {each.name: each.type for each in parameters}, known, registry)
    return Program((*program.functions[:-1], replace(main, parameters=parameters, body=body, result=result)))


def _resized(parameter: Parameter, sizes: Mapping[Place, int]) -> Type:
    if not isinstance(parameter.type, TensorType):
        return parameter.type
    shape = tuple(sizes.get((parameter.name, axis), size) for axis, size in enumerate(parameter.type.shape))
    return TensorType(shape, parameter.type.dtype)
