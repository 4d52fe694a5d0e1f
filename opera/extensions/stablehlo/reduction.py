"""Smaller versions of a module of StableHLO: fewer operations, fewer results, plainer values.

What an operation gave that is left out becomes an argument of `main`, with the value that it had. The readable interpreter says which
value; an operation whose value it does not know stays, unless nobody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from opera.arrays import to_bytes
from opera.extensions.stablehlo.kind import FORMAT, text_of
from opera.extensions.stablehlo.modules import FunctionText, ModuleText, Statement, read_module, values_of
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.types import Value, tensor_type, value_of
from opera.instance import Argument, Graph, Instance, Tensor
from opera.instance.kinds import Steps
from opera.instrumentation.tensors import DTYPE_BITS
from opera.triage.reduction.candidates import chunks, simpler_values

_CONSTANT = "stablehlo.constant"
_OPERATION, _INNER, _LITERAL = 600.0, 20.0, 40.0


@dataclass(frozen=True)
class _Opened:
    """A module, and what is known of the values of its `main`."""

    instance: Instance
    module: ModuleText
    values: dict[str, Value]

    def closed(self, statements: Sequence[Statement], results: Sequence[tuple[str, str]]) -> Iterator[Instance]:
        """The instance whose `main` has these statements, as far as *results* need them; none where a value is not known."""
        needed, kept = {name for name, _ in results}, list[Statement]()
        for each in reversed(statements):
            if needed & {*each.results}:
                kept.insert(0, each)
                needed |= each.reads
        made = {name for each in kept for name in (*each.results, *(one for inner in each.within() for one in inner.results))}
        made |= {name for each in kept for one in (each, *each.within()) for names, _ in one.regions for name in names}
        types = dict(self.module.main.arguments) | {name: type for each in self.module.main.statements for name, type in _typed(each)}
        given = [name for name in types if name in needed - made]
        values = {name: tensor for name in given if (tensor := self._tensor(name)) is not None}
        if not results or len(values) < len(given):
            return
        names = {name: f"%arg{index}" for index, name in enumerate(given)}
        names |= {name: f"%own_{name[1:]}" for name in made & {*names.values()}}
        main = FunctionText(
            "main",
            tuple((names[name], types[name]) for name in given),
            tuple(each.renamed(names) for each in kept),
            tuple((names.get(name, name), type) for name, type in results),
        )
        call = tuple(Argument(f"arg{index}", values[name]) for index, name in enumerate(given))
        graph = Graph(FORMAT, str(self.module.with_main(main)).encode())
        context = tuple((name, graph if name == "graph" else value) for name, value in self.instance.context)
        yield replace(self.instance, call=call, context=context, expected=None)

    def _tensor(self, name: str) -> Tensor | None:
        """The value of *name* as an input."""
        value = self.values.get(name)
        if value is None or value.type.element.dtype not in DTYPE_BITS:
            return None
        return Tensor(value.type.shape, value.type.element.dtype, to_bytes(value.array))


def _typed(statement: Statement) -> Iterator[tuple[str, str]]:
    yield from zip(statement.results, statement.types, strict=True)


def _opened(instance: Instance) -> _Opened | None:
    """The module of *instance*; None if it cannot be read, or an input has no values."""
    try:
        module, values = _read(text_of(instance)), [_value(each.value, type) for each, (_, type) in _inputs(instance)]
        return _Opened(instance, module, values_of(module, values))
    except (TextError, ValueError):
        return None


def _inputs(instance: Instance) -> Iterator[tuple[Argument, tuple[str, str]]]:
    yield from zip(instance.call, _read(text_of(instance)).main.arguments, strict=True)


def _value(tensor: object, type: str) -> Value:
    if not isinstance(tensor, Tensor) or tensor.data is None:
        raise ValueError(f"an input of type {type} without values")
    return value_of(tensor_type(type), tensor.data)


@lru_cache(maxsize=64)
def _read(text: str) -> ModuleText:
    return read_module(text)


# What it is made of.


def operations_of(instance: Instance) -> list[str]:
    """The distinct operations of the module, in order, without constants."""
    try:
        module = _read(text_of(instance))
    except TextError:
        return []
    every = [one for function in module.functions.values() for each in function.statements for one in (each, *each.within())]
    return list(dict.fromkeys(each.name for each in every if not each.name.endswith(("return", ".constant", ".call"))))


def lines_of(instance: Instance) -> Iterator[str]:
    """What a person reads: a line for each operation, those of regions behind the one that has them.

    Raises:
        TextError: the instance holds no module.
    """
    for function in _read(text_of(instance)).functions.values():
        yield f"@{function.name}({', '.join(f'{name}: {type}' for name, type in function.arguments)})"
        for statement in function.statements:
            yield _line(statement)
            for arguments, inner in statement.regions:
                yield f"| ({', '.join(arguments)}):"
                yield from (f"| {_line(each)}" for each in inner)
        yield f"return {', '.join(name for name, _ in function.results)}"


def _line(statement: Statement) -> str:
    results = ", ".join(statement.results)
    attributes = ", ".join(f"{name} = {text}" for name, text in statement.attributes.items())
    given = ", ".join((*statement.operands, *([attributes] if attributes else [])))
    return f"{results} = {statement.name}({given}) : {', '.join(statement.types)}" if results else f"{statement.name}({given})"


def features_of(instance: Instance) -> list[str]:
    """The operations of `main`, with the types of the elements that each takes: `stablehlo.add(f32, f32)`."""
    try:
        main = _read(text_of(instance)).main
    except TextError:
        return []
    return sorted({f"{each.name}({', '.join(map(_element, each.operand_types))})" for each in main.statements if each.name != _CONSTANT})


def _element(type: str) -> str:
    return type.removeprefix("tensor<").removesuffix(">").rpartition("x")[2].partition(",")[0]


def cost_of(instance: Instance) -> float:
    """The complexity of the module."""
    try:
        module = _read(text_of(instance))
    except TextError:
        return 0.0
    every = [each for function in module.functions.values() for each in function.statements]
    inner = sum(1 for each in every for _ in each.within())
    literals = sum(each.name == _CONSTANT for each in every)
    return (
        _OPERATION * (len(every) - literals + len(module.functions) - 1) + _INNER * inner + _LITERAL * literals + len(module.main.results)
    )


# Steps.


def fewer_operations(instance: Instance) -> Iterator[Instance]:
    """Halves, quarters, ..., single operations of `main`, and the rest without each."""
    opened = _opened(instance)
    if opened is None:
        return
    main = opened.module.main
    for chunk in list(chunks(main.statements))[1:]:
        read = {name for each in chunk for name in each.reads}
        results = [(name, type) for each in chunk for name, type in _typed(each) if name not in read]
        yield from opened.closed(chunk, results)
        left_out = {name for each in chunk for name in each.results}
        rest = [each for each in main.statements if not left_out & {*each.results}]
        if len(rest) + len(chunk) == len(main.statements):
            yield from opened.closed(rest, [each for each in main.results if each[0] not in left_out] or _last(rest))


def _last(statements: Sequence[Statement]) -> list[tuple[str, str]]:
    return list(_typed(statements[-1])) if statements else []


def fewer_results(instance: Instance) -> Iterator[Instance]:
    """Halves, ..., single results of `main`."""
    opened = _opened(instance)
    if opened is not None:
        for chunk in list(chunks(opened.module.main.results))[1:]:
            yield from opened.closed(opened.module.main.statements, chunk)


def inlined(instance: Instance) -> Iterator[Instance]:
    """The statements of a function in place of its call."""
    opened = _opened(instance)
    if opened is None:
        return
    main = opened.module.main
    for index, call in enumerate(main.statements):
        callee = opened.module.functions.get(call.attributes.get("callee", "").removeprefix("@").strip('"'))
        if callee is None or call.name != "func.call" or _signature(callee) != (call.operand_types, call.types):
            continue
        own = {name: f"%c{index}_{name[1:]}" for name in _defined(callee)}
        own |= {name: given for (name, _), given in zip(callee.arguments, call.operands, strict=True)}
        own |= {name: _placed(name, own) for name in _places(callee)}
        body = [each.renamed(own) for each in callee.statements]
        outer = {name: own[result] for name, (result, _) in zip(call.results, callee.results, strict=True)}
        after = [each.renamed(outer) for each in main.statements[index + 1 :]]
        results = tuple((outer.get(name, name), type) for name, type in main.results)
        changed = FunctionText(main.name, main.arguments, (*main.statements[:index], *body, *after), results)
        yield from _Opened(instance, opened.module.with_main(changed), opened.values).closed(changed.statements, results)


def _signature(function: FunctionText) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of its arguments and results."""
    arguments, results = (tuple(type for _, type in each) for each in (function.arguments, function.results))
    return arguments, results


def _defined(function: FunctionText) -> Iterator[str]:
    """The names that *function* defines, without the places of several results."""
    for each in function.statements:
        for one in (each, *each.within()):
            yield from dict.fromkeys(name.partition("#")[0] for name in one.results)
            yield from (name for names, _ in one.regions for name in names)


def _places(function: FunctionText) -> Iterator[str]:
    """The names of single ones of several results, e.g. `%2#1`."""
    for each in function.statements:
        yield from (name for one in (each, *each.within()) for name in one.results if "#" in name)


def _placed(name: str, names: dict[str, str]) -> str:
    base, _, place = name.partition("#")
    return f"{names[base]}#{place}"


def bypassed(instance: Instance) -> Iterator[Instance]:
    """An operation replaced by the first of its operands that has its type."""
    opened = _opened(instance)
    if opened is None:
        return
    main = opened.module.main
    for index, each in enumerate(main.statements):
        same = [name for name, type in zip(each.operands, each.operand_types, strict=True) if (type,) == each.types]
        if same:
            names = {each.results[0]: same[0]}
            rest = [*main.statements[:index], *(one.renamed(names) for one in main.statements[index + 1 :])]
            yield from opened.closed(rest, [(names.get(name, name), type) for name, type in main.results])


STEPS: Steps = (fewer_operations, fewer_results, inlined, bypassed, simpler_values)
