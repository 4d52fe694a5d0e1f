"""Variants of an instance, in which some of its arguments have other values: the library runs them as well as the instance itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.models.template import Invalid, Template

ONLY_WHEN_EMPTY = "only-when-empty"
"""Reason code of a call whose dtypes or indices the library takes only because its tensors are empty: it looks at no element."""
_OF_DTYPES = re.compile(r"not implemented for '\w+'|[Ee]xpected (scalar type|dtype)|result type \w+ can't be cast")
_OF_INDICES = re.compile(
    r"\b(index|indices|target)\b.*\bout of (data )?(bounds|range)|out of range: tried to access index|\] = -?\d+ is not in \[0, ",
    re.IGNORECASE,
)


def with_single_parameters(instance: Instance) -> Instance:
    """*instance* with every floating-point parameter rounded to float32, as which formats keep them."""
    return _changed(instance, _single)


def with_elements(instance: Instance) -> Instance:
    """*instance* with size 1 in place of size 0. Tensors that were empty have no recorded values any more.

    Integers are zeros, which are indices of every dimension: so an index that is out of bounds is one that was recorded.
    """
    return _changed(instance, _filled)


def refused_with_elements(template: Template, instance: Instance, key: str, seed: int) -> BaseException | None:
    """The library's refusal of a dtype or an index of *instance* once its empty tensors have elements; None where it refuses none."""
    try:
        template.build(with_elements(instance), key, seed).run_once()
    except Invalid as error:
        if error.__cause__ is not None and is_refused_element(error.__cause__):
            return error.__cause__
    return None


def is_refused_element(error: BaseException) -> bool:
    """Whether a library says in *error* that it does not take a dtype, or an index: it says so once it looks at an element."""
    return is_refused_dtype(error) or _OF_INDICES.search(str(error)) is not None


def is_refused_dtype(error: BaseException) -> bool:
    """Whether a library says in *error* that an operator does not take a dtype."""
    return _OF_DTYPES.search(str(error)) is not None


def _changed(instance: Instance, change: Callable[[Value], Value]) -> Instance:
    """*instance* with *change* made to each argument, and to each item of one that is a list or a tuple."""

    def all_of(value: Value) -> Value:
        if isinstance(value, (list, tuple)):
            items = [all_of(item) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        return change(value)

    init, call = (tuple(replace(each, value=all_of(each.value)) for each in side) for side in (instance.init, instance.call))
    return replace(instance, init=init, call=call)


def _single(value: Value) -> Value:
    if not isinstance(value, float):
        return value
    with np.errstate(all="ignore"):
        return float(np.float32(value))


def _filled(value: Value) -> Value:
    if not isinstance(value, Tensor) or value.size:
        return value
    filled = replace(value, shape=tuple(length or 1 for length in value.shape), data=None, strides=None)
    return replace(filled, data=bytes(filled.size * filled.itemsize)) if value.dtype.startswith(("int", "uint")) else filled
