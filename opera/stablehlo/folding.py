"""Which operations of a program may be replaced by their results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opera.arrays import Array
from opera.stablehlo.interpreter import RULES
from opera.stablehlo.program import Operation
from opera.stablehlo.types import TensorType, Value, parts_of, tensor_type

MOST_ELEMENTS = 65_536
"""Elements that a folded result has at most, unless the caller says otherwise."""
_NEVER = frozenset(
    f"stablehlo.{name}"
    for name in (
        "after_all",
        "composite",
        "constant",
        "create_token",
        "optimization_barrier",
        "partition_id",
        "replica_id",
        "tuple",
        "get_tuple_element",
    )
)
"""Operations that the interpreter evaluates, and that have an effect, an order, or results that are no tensors."""


def reason_to_keep(operation: Operation, operands: Sequence[Value], most: int = MOST_ELEMENTS) -> str | None:
    """Why an operation with constant operands stays as it is; None where it may be replaced by its results.

    Args:
        operation: The operation.
        operands: The values of its operands.
        most: Elements that a result may have.
    """
    if operation.name in _NEVER or operation.name not in RULES or not operation.name.startswith("stablehlo."):
        return "it has effects, or no rule"
    try:
        types = [tensor_type(each) for each in operation.types]
    except ValueError:
        return "a result has no known shape"
    if not types:
        return "it has effects, or no rule"
    if any(each.size > most for each in types):
        return f"a result has more than {most:,} elements"
    return "its result is undefined" if _is_undefined(operation, operands, types) else None


def _is_undefined(operation: Operation, operands: Sequence[Value], types: Sequence[TensorType]) -> bool:
    """Whether the specification leaves the result open for these operands."""
    name = operation.name.removeprefix("stablehlo.")
    if name in ("divide", "remainder") and not (types[0].element.is_float or types[0].element.is_complex):
        return _divides_badly(*(each.array.astype(object) for each in operands), type=types[0])
    if name == "convert":
        return _leaves_range(operands[0], types[0])
    if name == "cholesky":
        return not _is_positive_definite(operands[0])
    is_promised = operation.flag("indices_are_sorted") or operation.flag("unique_indices") or operation.flag("unit_diagonal")
    return is_promised or (name == "sort" and not operation.flag("is_stable"))


def _divides_badly(left: Array, right: Array, type: TensorType) -> bool:
    least = -(1 << (type.element.bits - 1))
    return bool(np.any(right == 0) or np.any((left == least) & (right == -1)))


def _leaves_range(operand: Value, type: TensorType) -> bool:
    """Whether a conversion of floating-point numbers to integers finds one outside of the range, or NaN."""
    source, target = operand.type.element, type.element
    if not (source.is_float or source.is_complex) or target.is_float or target.is_complex or target.is_boolean:
        return False
    numbers = (parts_of(operand.array)[0] if source.is_complex else operand.array).astype(np.float64)
    unsigned = target.name.startswith("u")
    least, most = (0.0, 2.0**target.bits) if unsigned else (-(2.0 ** (target.bits - 1)), 2.0 ** (target.bits - 1))
    whole = np.trunc(numbers)
    return not bool(np.all(np.isfinite(numbers) & (whole >= least) & (whole < most)))


def _is_positive_definite(operand: Value) -> bool:
    wide = operand.array.astype(np.complex128)
    if not np.allclose(wide, np.conj(np.swapaxes(wide, -1, -2))):
        return False
    return bool(np.all(np.linalg.eigvalsh(wide) > 0))
