"""What two triggers may have in common where their texts differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from opera.triage.reduction.properties import WHOLE
from opera.triage.reduction.trigger import Trigger

DTYPE = "some dtype"
"""In place of whose dtype it is, and which."""
_DTYPES = frozenset({"dtype", "dtype-class", "dtype-not", "type", "type-class"})
_PROMOTED = frozenset({"integer", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))})
"""Dtypes, and classes of them, that libraries promote."""
_SAME = {
    "rank-differs": "shape-differs", "item-above-one": "above-one", "item-positive": "positive", "item-negative": "negative",
}  # fmt: skip
"""Kinds that count as others: a rank that differs is a shape that does; a number may stand for a list of it."""
_FORM = "form"
_LONG = 2
"""Characters of a part of a name that says little."""


def outline(trigger: Trigger) -> tuple[str, ...]:
    """The core of *trigger* without the dtypes and values of parameters that properties are compared with."""
    return tuple(sorted({_part(each.kind, each.name, each.value) for each in trigger.core()}))


def _part(kind: str, name: str, value: Any) -> str:
    if kind in _DTYPES:
        return DTYPE
    return f"{_SAME.get(kind, kind)} {name} {'' if kind == 'is' else json.dumps(value)}"


def settings(trigger: Trigger) -> tuple[str, ...]:
    """The part of the core that is about no tensor: parameters, input form, outputs."""
    return tuple(each.text() for each in trigger.core() if each.name not in trigger.tensors)


def has_parameters(trigger: Trigger) -> bool:
    """Whether a parameter matters that is no tensor."""
    return any(each.name != WHOLE and each.name not in trigger.tensors for each in trigger.properties)


def is_particular(trigger: Trigger) -> bool:
    """Whether a parameter or one certain dtype matters: what few operators have in common."""
    return has_parameters(trigger) or any(each.kind in ("dtype", "type") for each in trigger.core())


def is_of_integers(trigger: Trigger) -> bool:
    """Whether nothing but the dtype of tensors matters, and all are integers or truth values of the usual widths."""
    dtypes = [each for each in trigger.core() if each.kind != "dtype-not"]
    return bool(dtypes) and all(each.kind in _DTYPES and str(each.value) in _PROMOTED for each in dtypes)


def input_forms(trigger: Trigger) -> tuple[str, ...]:
    """The input forms that the core speaks of."""
    return tuple(each.text() for each in trigger.core() if each.kind == _FORM)


def anonymous_settings(trigger: Trigger) -> tuple[str, ...]:
    """The settings without the names of parameters: two operators may call one thing differently."""
    return tuple(sorted(f"{each.kind} {_number(each.value)}" for each in trigger.core() if each.name not in trigger.tensors))


def _number(value: Any) -> str:
    plain = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return json.dumps(plain)


def families(trigger: Trigger) -> Iterator[tuple[str, str]]:
    """Where one parameter matters: each word of its name that others may share, and what is said of it.

    `left_window_size` and `right_window_size` share two words.
    """
    about = [each for each in trigger.core() if each.name not in trigger.tensors]
    if len(about) == 1:
        for word in about[0].name.split("_"):
            if len(word) > _LONG:
                yield word, f"{about[0].kind} {_number(about[0].value)}"
