"""Which results no specification fixes, so that library and compiler may both be right.

Each condition stands below the rows that name it: the operators, the reason, and why. A row with a false alarm and its twin that is a bug
are tests of `test_review*.py`.
"""

from __future__ import annotations

from functools import cache

from opera.instance import Instance
from opera.oracles.filters import integers, interpolation, precision, reference, rounding, undefined, unordered
from opera.oracles.filters.rows import ROWS, Filter, FilterScope

_MODULES = (undefined, integers, unordered, rounding, precision, interpolation, reference)
_COMPUTED_LENGTHS = (
    FilterScope(
        r"a?range|_?(resiz|upsampl|interpolate)\w*",
        "no documentation says in which precision a length is computed before it is rounded to a whole number",
    ),
)
"""Operators whose output has lengths that are computed from floating-point numbers, not counted."""
_FIRST_OF_EQUALS = (
    FilterScope(
        r"top_?k|arg_?max|arg_?min",
        "TopK breaks ties by the lower index; ArgMax and ArgMin name the first one, or the last one if `select_last_index` says so",
        libraries=("onnx",),
    ),
    FilterScope(
        r"arg_?max|arg_?min|max|min",
        "the documentation says that the index of the first maximal or minimal value is returned",
        libraries=("pytorch",),
    ),
    FilterScope(
        r"sort|argsort",
        "a stable sort keeps the order of equal elements",
        libraries=("pytorch", "tensorflow"),
        parameter="stable",
        equals=True,
    ),
    FilterScope(
        r"top_?k",
        "the documentation says that the lower index of two equal elements comes first",
        libraries=("tensorflow",),
    ),
)
"""Operators whose documentation says which of several equal elements an index names. For all others, each one is right."""


@cache
def filters() -> tuple[Filter, ...]:
    """The filters that come with OPERA; of several that cover an element, the first gives the reason."""
    place = {each.__name__: number for number, each in enumerate(_MODULES)}
    return tuple(sorted(ROWS, key=lambda each: place.get(each.mask.__module__, len(place))))


def may_fail(operator: str) -> bool:
    """Whether there are operands with which *operator*, the last part of an API's name, may do anything at all."""
    return any(each.is_of_inputs and each.scope.matches(operator) for each in ROWS)


def lengths_are_computed(instance: Instance) -> bool:
    """Whether the lengths of the output are computed from floating-point numbers: a rounding error may make another whole number."""
    return any(scope.applies(instance) for scope in _COMPUTED_LENGTHS)


def order_is_specified(instance: Instance) -> bool:
    """Whether the library says which of several equal elements its indices name, so that there are no ties."""
    return any(scope.applies(instance) for scope in _FIRST_OF_EQUALS)
