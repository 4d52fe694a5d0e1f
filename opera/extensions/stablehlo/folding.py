"""Which operations of a program may be replaced by their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from opera.arrays import Array
from opera.extensions.stablehlo.interpreter import RULES
from opera.extensions.stablehlo.messages import Which
from opera.extensions.stablehlo.program import Operation
from opera.extensions.stablehlo.types import ElementType, TensorType, Value, parts_of, tensor_type

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


WRONG = "the packaged interpreter is known to have it wrong"
"""Why an operation stays that only the readable interpreter evaluates rightly."""
_PROMISES = ("indices_are_sorted", "unique_indices", "unit_diagonal")


@dataclass(frozen=True)
class Inner:
    """An operation in a region of another one.

    Attributes:
        operation: The operation, without its operands and regions.
        operands: The types of its operands, as MLIR writes them.
    """

    operation: Operation
    operands: tuple[str, ...]


def reason_to_keep(
    operation: Operation, operands: Sequence[Value], most: int = MOST_ELEMENTS, which: Which = "readable", inside: Sequence[Inner] = ()
) -> str | None:
    """Why an operation with constant operands stays as it is; None where it may be replaced by its results.

    Args:
        operation: The operation.
        operands: The values of its operands.
        most: Elements that a result may have.
        which: The interpreter that is to evaluate it.
        inside: The operations in its regions, at all depths.
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
    if _is_undefined(operation, operands, types) or any(_may_be_undefined(each) for each in inside):
        return "its result is undefined"
    own = _is_known_wrong(operation, [each.type.element for each in operands], [each.element for each in types])
    if which == "reference" and (own or any(_is_known_wrong(each.operation, *_elements_of(each)) for each in inside)):
        return WRONG
    return None


def _is_known_wrong(operation: Operation, operands: Sequence[ElementType], results: Sequence[ElementType]) -> bool:
    """Whether jaxlib's interpreter has an operation wrong: each failure in data/facts/stablehlo_known.toml has a row.

    Args:
        operation: The operation, without what is in its regions.
        operands: The types of its operands' elements.
        results: Those of its results.
    """
    name, types = operation.name.removeprefix("stablehlo."), {each.name for each in (*operands, *results)}
    return (
        "f8E8M0FNU" in types  # constants: NaN and zero are other numbers
        or (name in ("convolution", "dot_general", "dynamic_conv") and len(types) > 1)  # adds up in the type of the operands
        or (name == "compare" and operation.word("compare_type") == "TOTALORDER")  # compares as usual
        or (name == "fft" and operation.word("fft_type") == "IRFFT" and operation.integers("fft_length", (0,))[-1] % 2 == 1)
        or (name == "fft" and len(operation.integers("fft_length", (0,))) > 1)  # inexact in several dimensions
        or name == "scatter"  # overwrites its operand
        or (name in ("power", "sine") and results[0].is_complex)  # inexact
    )


def _elements_of(inner: Inner) -> tuple[list[ElementType], list[ElementType]]:
    """The types of the elements of operands and results that are tensors."""
    found: list[list[ElementType]] = [[], []]
    for index, texts in enumerate((inner.operands, inner.operation.types)):
        for each in texts:
            try:
                found[index].append(tensor_type(each).element)
            except ValueError:
                continue
    return found[0], found[1]


def _may_be_undefined(inner: Inner) -> bool:
    """Whether the specification leaves the result open for some operands, which are not known inside a region."""
    operation = inner.operation
    name = operation.name.removeprefix("stablehlo.")
    operands, results = _elements_of(inner)
    if name in ("divide", "remainder"):
        return any(not each.is_float and not each.is_complex for each in results)
    if name == "convert":
        return any(map(_counts, results)) and not all(_counts(each) or each.is_boolean for each in operands)
    return name == "cholesky" or _is_promise(operation)


def _counts(type: ElementType) -> bool:
    """Whether elements are integers, other than booleans."""
    return not (type.is_float or type.is_complex or type.is_boolean)


def _is_promise(operation: Operation) -> bool:
    """Whether an operation's result is open where a promise of its attributes does not hold, or where elements are equal."""
    is_unstable = operation.name == "stablehlo.sort" and not operation.flag("is_stable")
    return is_unstable or any(map(operation.flag, _PROMISES))


def _is_undefined(operation: Operation, operands: Sequence[Value], types: Sequence[TensorType]) -> bool:
    """Whether the specification leaves the result open for these operands."""
    name = operation.name.removeprefix("stablehlo.")
    if name in ("divide", "remainder") and not (types[0].element.is_float or types[0].element.is_complex):
        return _divides_badly(*(each.array.astype(object) for each in operands), type=types[0])
    if name == "convert":
        return _leaves_range(operands[0], types[0])
    if name == "cholesky":
        return not _is_positive_definite(operands[0])
    return _is_promise(operation)


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
