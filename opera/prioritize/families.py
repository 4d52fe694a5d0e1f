"""Which operators are alike: those that take the same parameters usually share a conversion function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from opera.instance import Instance, Kind


def defaults_of(instances: Sequence[Instance]) -> list[tuple[str, Any]]:
    """The known defaults of an operator; those of the instance met first where they disagree."""
    found: dict[str, Any] = {}
    last: tuple[tuple[str, Any], ...] = ()
    for instance in instances:
        if instance.defaults is not last:
            last = instance.defaults
            for name, value in last:
                found.setdefault(name, value)
    return list(found.items())


def signature(instances: Sequence[Instance], defaults: Sequence[tuple[str, Any]]) -> Hashable:
    """What the operator of *instances* takes: parameters by name, whether each can be left out and whether it repeats; outputs.

    The input slots of a node of a graph count by place: their names are documentation, only attributes are read by name.
    """
    given = Counter(tuple(argument.name for argument in instance.arguments()) for instance in instances)
    omitted = {argument.name for instance in instances for argument in instance.call if argument.value is None}
    present: Counter[str] = Counter()
    repeated: set[str] = set()
    for names, count in given.items():
        for name, times in Counter(names).items():
            present[name] += count
            if times > 1:
                repeated.add(name)
    known = {name for name, _ in defaults}
    slots: tuple[str, ...] = ()
    if instances[0].kind is Kind.NODE:
        attributes = {argument.name for instance in instances for argument in instance.init} | known
        slots = tuple(
            dict.fromkeys(argument.name for instance in instances for argument in instance.call if argument.name not in attributes)
        )

    def flags(name: str) -> tuple[bool, bool]:
        return name in known or name in omitted or present[name] < len(instances), name in repeated

    parameters = tuple((name, *flags(name)) for name in sorted({*present, *known} - set(slots)))
    outputs = max(len(instance.expected or ()) for instance in instances)
    return instances[0].library, instances[0].kind, parameters, tuple(flags(name) for name in slots), outputs
