"""What is undefined in C and LLVM: divisions, shifts, conversions, indices out of range, memory that nothing wrote."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from opera.arrays import Array, as_array, dtype_name, is_array
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses, of_inputs

_WIDTH = 8
_NO_FRACTIONS = ("int", "uint", "bool", "string")
"""How the names of dtypes begin whose numbers are whole, or none."""


@excuses(
    "integer-division-by-zero",
    r"_*i?(div|divide|floor_?div|floor_?divide|floordiv|true_divide|truediv|remainder|fmod|mod|truncatediv|truncatemod|"
    r"floormod)(_no_nan)?_*",
    input=1,
    why="dividing an integer by zero is undefined in C, LLVM and every library's own documentation",
)
@excuses(
    "integer-division-by-zero",
    r"divide|remainder",
    input=1,
    libraries=("stablehlo",),
    why="the specification of StableHLO does not say what the quotient and the remainder by an integer zero are",
)
@excuses(
    "integer-division-by-zero",
    r"__r(div|truediv|floordiv|mod|divmod)__",
    input=0,
    why=(
        "dividing an integer by zero is undefined in C, LLVM and every library's own documentation; the first input of a "
        "reflected operator is the divisor"
    ),
)
@of_inputs
def integer_zero(evidence: Evidence) -> Array:
    divisor = evidence.input
    return evidence.nowhere() if divisor is None or divisor.dtype.kind not in "iub" else evidence.spread(divisor == 0)


@excuses(
    "integer-overflow",
    r"_*i?(div|divide|floor_?div|floor_?divide|floordiv|remainder|fmod|mod|truncatediv|truncatemod|floormod)_*",
    input=1,
    why=(
        "the smallest number of a signed integer type divided by -1 is beyond the type's range: this is undefined in C and "
        "LLVM, and processors trap"
    ),
)
@of_inputs
def least_by_minus_one(evidence: Evidence) -> Array:
    """Where the input, of signed integers, is -1 and the first input the least number of their type."""
    divisor, dividend = evidence.input, evidence.inputs[0] if evidence.inputs else None
    if divisor is None or not is_array(dividend) or divisor.dtype.kind != "i" or as_array(dividend).dtype.kind != "i":
        return evidence.nowhere()
    least = as_array(dividend) == np.iinfo(as_array(dividend).dtype).min
    return evidence.spread(divisor == -1) & evidence.spread(least)


@excuses(
    "shift-past-width",
    r"_*i?(bit_?shift|bitwise_left_shift|bitwise_right_shift|left_shift|right_shift|lshift|rshift)_*",
    input=1,
    before_opset=28,
    why="shifting by a negative number of bits, or by the width of the type or more, is undefined in C and LLVM",
)
@excuses(
    "shift-past-width",
    r"__r[lr]shift__",
    input=0,
    why=(
        "shifting by a negative number of bits, or by the width of the type or more, is undefined in C and LLVM; the first "
        "input of a reflected operator is the number of bits"
    ),
)
@of_inputs
def shift_past_width(evidence: Evidence) -> Array:
    bits = evidence.input
    if bits is None or bits.dtype.kind not in "iu" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread((bits < 0) | (bits >= _WIDTH * evidence.expected.dtype.itemsize))


@excuses(
    "cast-out-of-range",
    r"convert",
    input=0,
    libraries=("stablehlo",),
    why="the specification of StableHLO does not yet say what becomes of a float that the integer type cannot hold",
)
@excuses(
    "cast-out-of-range",
    r"_*(to|type|type_as|cast|cast_like|castlike|astype|as_type|int|long|short|char|byte|saturate_cast|convert_to_tensor|"
    r"copy_|clone|full|full_like|fill_?)_*",
    input=0,
    why="converting a float that the integer type cannot hold, NaN and infinity included, is undefined in C and LLVM",
)
@of_inputs
def unrepresentable(evidence: Evidence) -> Array:
    source, target = evidence.input, evidence.expected.dtype
    if source is None or not dtype_name(target).startswith(("int", "uint")) or dtype_name(source.dtype).startswith(_NO_FRACTIONS):
        return evidence.nowhere()
    limits = ml_dtypes.iinfo(target)
    with np.errstate(all="ignore"):
        wide = np.real(source).astype(np.float64)
        whole = np.trunc(wide)
        return evidence.spread(~((whole >= float(limits.min)) & (whole < float(limits.max) + 1.0)))


@excuses(
    "cast-out-of-range",
    r"random_?posterization",
    input=0,
    libraries=("keras",),
    why=(
        "the layer converts pixels to uint8, which holds those of the range that its page asks for; what it cannot hold is "
        "undefined in C and LLVM"
    ),
)
def outside_value_range(evidence: Evidence) -> Array:
    """Where the input lies outside of the parameter `value_range`, 0 to 255 by default."""
    source = evidence.input
    ends = next((each.value for each in evidence.instance.arguments() if each.name == "value_range"), (0, 255))
    if source is None or source.dtype.kind not in "iuf" or not isinstance(ends, (tuple, list)):
        return evidence.nowhere()
    numbers = [float(end) for end in ends if isinstance(end, (int, float))]
    wide = source.astype(np.float64)
    return evidence.spread(~((wide >= min(numbers, default=-np.inf)) & (wide <= max(numbers, default=np.inf))))


@excuses(
    "cast-out-of-range",
    r"(dynamic_?)?quantize_?(linear|per_tensor|per_channel)?|fake_quant\w*|q_?linear_?\w+",
    input=0,
    why="no documentation says to which number NaN is quantised, and converting NaN to an integer is undefined in C and LLVM",
)
@excuses(
    "order-of-nan",
    r"histogram_fixed_width_bins|bucketize|digitize|discretization",
    input=0,
    why="the operator's documentation does not say into which bin NaN falls",
)
@excuses(
    "order-of-nan",
    r"search_?sorted",
    input=1,
    why="the operator's documentation does not say before which element NaN belongs",
)
def from_nan(evidence: Evidence) -> Array:
    source = evidence.input
    if source is None or source.dtype.kind in "iubOSU" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread(np.isnan(source.astype(np.complex128)))


@excuses(
    "index-out-of-range",
    r"gather(_?elements)?|take_along_(dim|axis)|index_select|embedding|scatter(_?elements|_add|_reduce)?",
    input=1,
    why="all documentation calls indices past the end an error, but a library need not check indices and raise",
)
@of_inputs
def index_out_of_range(evidence: Evidence) -> Array:
    """Everywhere, where an index is past either end of the axis of the first input that it counts along."""
    return _past_an_end(evidence, flat=False)


def _past_an_end(evidence: Evidence, *, flat: bool) -> Array:
    source, indices = evidence.inputs[0] if evidence.inputs else None, evidence.input
    if not is_array(source) or indices is None or indices.dtype.kind not in "iu" or not as_array(source).ndim:
        return evidence.nowhere()
    axis = next((each.value for each in evidence.instance.arguments() if each.name in ("axis", "dim") and type(each.value) is int), None)
    shape = (as_array(source).size,) if flat and axis is None else as_array(source).shape
    axis = axis or 0
    if not -len(shape) <= axis < len(shape):
        return evidence.nowhere()
    wide = indices.astype(np.float64)
    return evidence.everywhere(bool(((wide < -shape[axis]) | (wide >= shape[axis])).any()))


@excuses(
    "index-out-of-range",
    r"take",
    input=1,
    why="all documentation calls indices past the end an error, but a library need not check indices and raise",
)
def flat_index_out_of_range(evidence: Evidence) -> Array:
    """As `index_out_of_range`; without an axis, an index counts along all elements of the input."""
    return _past_an_end(evidence, flat=True)


@excuses(
    "uninitialised-memory",
    r"(new_)?empty(_like|_strided|_permuted|_quantized)?|resize_|resize_as_",
    why="the elements have the values that the memory had before",
)
@excuses(
    "disputed-reference",
    r"roi_?align",
    libraries=("onnx",),
    parameter="mode",
    equals="max",
    why=(
        "the reference evaluator takes the largest of the weighted corners, but the method is defined by the largest of the "
        "interpolated samples"
    ),
)
def always(evidence: Evidence) -> Array:
    return evidence.everywhere(True)


@excuses(
    "negative-integer-exponent",
    r"_*i?(pow|power)_*",
    input=1,
    why="an integer to a negative power is not an integer: numpy raises, others give zero",
)
@excuses(
    "negative-integer-exponent",
    r"__rpow__",
    input=0,
    why=(
        "an integer to a negative power is not an integer: numpy raises, others give zero; the first input of a reflected "
        "operator is the exponent"
    ),
)
@of_inputs
def negative_exponent(evidence: Evidence) -> Array:
    exponent = evidence.input
    if exponent is None or exponent.dtype.kind != "i" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread(exponent < 0)


@excuses(
    "no-such-code",
    r"cast|cast_?like|quantize_?linear|to|astype|type",
    why="the target format has no NaN, or no zero and no sign, and implementations replace them by different codes",
)
def no_code(evidence: Evidence) -> Array:
    """Where the target format has no encoding for the value: NaN in 4 bits, zero and negative numbers as a power of two."""
    source, target = evidence.input, evidence.expected.dtype.name
    if source is None or source.dtype.kind in "OSU" or target not in ("float4_e2m1fn", "float8_e8m0fnu"):
        return evidence.nowhere()
    wide = source.astype(np.float64)
    return evidence.spread(np.isnan(wide) if target == "float4_e2m1fn" else wide <= 0)
