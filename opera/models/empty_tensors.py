"""Calls on empty tensors: a library that looks at no element may take dtypes that it refuses as soon as there is one."""

from __future__ import annotations

import re
from dataclasses import replace

from opera.instance import Instance, Tensor
from opera.instance.values import Value

ONLY_WHEN_EMPTY = "only-when-empty"
"""Reason code of a call whose dtypes the library takes only because its tensors are empty."""
_OF_DTYPES = re.compile(r"not implemented for '\w+'|[Ee]xpected (scalar type|dtype)")


def with_elements(instance: Instance) -> Instance:
    """*instance* with one element along each dimension of size 0; its values are drawn anew."""
    init, call = (tuple(replace(each, value=_filled(each.value)) for each in side) for side in (instance.init, instance.call))
    return replace(instance, init=init, call=call)


def _filled(value: Value) -> Value:
    if isinstance(value, Tensor) and value.size == 0:
        return replace(value, shape=tuple(length or 1 for length in value.shape), data=None, strides=None)
    if isinstance(value, (list, tuple)):
        items = [_filled(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def is_refused_dtype(error: BaseException) -> bool:
    """Whether a library says in *error* that an operator does not take a dtype."""
    return _OF_DTYPES.search(str(error)) is not None
