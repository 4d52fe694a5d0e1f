"""Paths of values in an instance, and instances with values replaced. An instance itself never changes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from opera.instance import Argument, Call, Instance, Kind, Tensor
from opera.instance.values import Value


class Part(enum.Enum):
    """Which arguments: the constructor's (or ONNX attributes), or the call's."""

    INIT = "init"
    CALL = "call"


@dataclass(frozen=True)
class Place:
    """Where a value stands: the part, the argument's index in it, and the way into nested values."""

    part: Part
    index: int
    way: tuple[int, ...] = ()


def arguments(instance: Instance, part: Part) -> tuple[Argument, ...]:
    """The arguments of one part."""
    return instance.init if part is Part.INIT else instance.call


def with_arguments(instance: Instance, part: Part, changed: tuple[Argument, ...]) -> Instance:
    """*instance* with other arguments in one part."""
    return replace(instance, init=changed) if part is Part.INIT else replace(instance, call=changed)


def places(instance: Instance) -> Iterator[tuple[Place, Value]]:
    """Every value of the arguments with its place, containers before what they contain."""
    for part in Part:
        for index, argument in enumerate(arguments(instance, part)):
            for way, value in _inside(argument.value):
                yield Place(part, index, way), value


def get(instance: Instance, place: Place) -> Value:
    """The value at *place*."""
    value = arguments(instance, place.part)[place.index].value
    for step in place.way:
        value = _items(value)[step]
    return value


def put(instance: Instance, place: Place, value: Value) -> Instance:
    """*instance* with *value* at *place*."""
    group = list(arguments(instance, place.part))
    group[place.index] = replace(group[place.index], value=_put(group[place.index].value, place.way, value))
    return with_arguments(instance, place.part, tuple(group))


def edited(instance: Instance, edit: Callable[[Place, Value], Value]) -> Instance:
    """*instance* with *edit* applied to every value that contains no other; the same object where that changes nothing."""
    changed = instance
    for place, value in places(instance):
        if _items(value):
            continue
        new = edit(place, value)
        if new is not value:
            changed = put(changed, place, new)
    return changed


def tensors_of(instance: Instance) -> list[tuple[Place, Tensor]]:
    """Every tensor with its place."""
    return [(place, value) for place, value in places(instance) if isinstance(value, Tensor)]


def on_tensors(instance: Instance, change: Callable[[Tensor], Tensor]) -> Instance:
    """*instance* with *change* applied to every tensor."""
    return edited(instance, lambda _, value: change(value) if isinstance(value, Tensor) else value)


def names(instance: Instance) -> dict[Place, str]:
    """A name for every value: its argument's, with `[k]` where several arguments share one or the value is nested."""
    found: dict[Place, str] = {}
    for part in Part:
        group = arguments(instance, part)
        totals = [argument.name for argument in group]
        seen: dict[str, int] = {}
        for index, argument in enumerate(group):
            number = seen[argument.name] = seen.get(argument.name, -1) + 1
            name = argument.name if totals.count(argument.name) == 1 else f"{argument.name}[{number}]"
            for way, _ in _inside(argument.value):
                found[Place(part, index, way)] = name + "".join(f"[{step}]" for step in way)
    return found


def without(instance: Instance, dropped: set[tuple[Part, int]], *, by_keyword: bool = False) -> Instance | None:
    """*instance* without the arguments *dropped*; those that others follow by position are set to their defaults.

    Args:
        instance: The instance.
        dropped: Which arguments, by part and index.
        by_keyword: Whether arguments that follow a dropped one are passed by keyword, so that it can be left out.

    Returns:
        None where an argument can neither be left out nor has a known default.
    """
    defaults = dict(instance.defaults)
    changed = instance
    for part in Part:
        kept: list[Argument] = []
        group = arguments(instance, part)
        following = False
        for index in reversed(range(len(group))):
            argument = group[index]
            if (part, index) not in dropped:
                kept.append(argument)
                following = following or not argument.keyword
            elif not following or argument.keyword or not _is_single(group, argument.name):
                continue
            elif instance.kind is Kind.NODE:
                if part is Part.CALL:
                    kept.append(replace(argument, value=None))
            elif by_keyword:
                kept = [replace(each, keyword=True) for each in kept]
            elif argument.name in defaults:
                kept.append(replace(argument, value=defaults[argument.name]))
            else:
                return None
        changed = with_arguments(changed, part, tuple(reversed(kept)))
    return changed


def _is_single(group: tuple[Argument, ...], name: str) -> bool:
    return sum(argument.name == name for argument in group) == 1


def _inside(value: Value, way: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Value]]:
    yield way, value
    for step, item in enumerate(_items(value)):
        yield from _inside(item, (*way, step))


def _items(value: Value) -> list[Value]:
    """The values that *value* directly contains; keys of dictionaries and names of arguments do not count."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, slice):
        return cast("list[Value]", [value.start, value.stop, value.step])
    if isinstance(value, Call):
        return [item for _, item in value.arguments]
    return []


def _put(value: Value, way: tuple[int, ...], new: Value) -> Value:
    if not way:
        return new
    items = _items(value)
    items[way[0]] = _put(items[way[0]], way[1:], new)
    if isinstance(value, tuple):
        return tuple(items)
    if isinstance(value, dict):
        return dict(zip(value, items, strict=True))
    if isinstance(value, slice):
        return slice(*items)
    if isinstance(value, Call):
        return replace(value, arguments=tuple((name, item) for (name, _), item in zip(value.arguments, items, strict=True)))
    return items
