"""The checks in a module: which operations are checks, what they compare, and how close it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opera.extensions.stablehlo.checks import CALL_TOLERANCE, CALL_ULPS, TOLERANCE, ULPS, Check, Closeness
from opera.extensions.stablehlo.literals import read_constant
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.templates.module import Rejected, ir, line_of

_CALL = "stablehlo.custom_call"
_DEFAULTS = {
    "check.expect_eq": Check("check.expect_eq", Closeness.BITWISE),
    "check.expect_eq_const": Check("check.expect_eq_const", Closeness.BITWISE),
    "check.expect_almost_eq": Check("check.expect_almost_eq", Closeness.ABSOLUTE),
    "check.expect_almost_eq_const": Check("check.expect_almost_eq_const", Closeness.ABSOLUTE),
    "check.expect_close": Check("check.expect_close", Closeness.ULPS, most=ULPS),
    "check.expect_serialized_eq": Check("check.expect_serialized_eq", Closeness.BITWISE),
}
_SERIALIZED = "check.expect_serialized_eq"


@dataclass(frozen=True)
class Compared:
    """What a check compares.

    Attributes:
        check: What it demands.
        line: Line of the text; 0 where that is not known.
        actual: The value under check.
        expected: The value, or the constant, to compare with; None where that is what a probe wrote.
        probe, iteration: Which probe, and which of the values that it wrote.
    """

    check: Check
    line: int
    actual: Any
    expected: Any
    probe: str = ""
    iteration: int = 0


def is_check(operation: Any) -> bool:
    """Whether *operation* is a check, of the dialect or as a call."""
    name = str(operation.name)
    return name in _DEFAULTS or (name == _CALL and _target(operation).startswith("check."))


def _target(call: Any) -> str:
    return str(ir.StringAttr(call.attributes["call_target_name"]).value)


def remove(operation: Any) -> None:
    """Removes a check. The result that `@check.eq` has becomes true: a check that fails fails the whole function."""
    for result in operation.results:
        true = ir.Attribute.parse(f"dense<true> : {result.type}")
        place = ir.InsertionPoint(operation)
        made = ir.Operation.create("stablehlo.constant", results=[result.type], attributes={"value": true}, ip=place)
        result.replace_all_uses_with(made.results[0])
    operation.erase()


def read_check(operation: Any) -> Compared:
    """What a check compares; raises Rejected where it has other operands or attributes than it takes."""
    called = str(operation.name) == _CALL
    name = _target(operation) if called else str(operation.name)
    line = line_of(operation)
    operands = list(operation.operands)
    wanted = 1 if name == _SERIALIZED or (name.endswith("_const") and not called) else 2
    if len(operands) != wanted:
        raise Rejected(f"{name} takes {wanted} operand{'s' * (wanted > 1)}, not {len(operands)}", line)
    check = _called(name, operands, line) if called else _declared(name, operation, line)
    if check.closeness is not Closeness.BITWISE and _is_exact(operands[0]):
        raise Rejected(f"{name} compares floating-point and complex numbers, not {operands[0].type}; write check.expect_eq", line)
    if name == _SERIALIZED:
        probe = _string(operation, "probe_id", line)
        return Compared(check, line, operands[0], None, probe, int(_number(operation, "iteration", 0, line)))
    if wanted == 1:
        try:
            value = read_constant(_string(operation, "value", line))
        except TextError as error:
            raise Rejected(f"{name} compares with no constant: {error}", line) from error
        if str(value.type) != str(operands[0].type):
            raise Rejected(f"{name} compares {operands[0].type} with {value.type}", line)
        return Compared(check, line, operands[0], value)
    if operands[0].type != operands[1].type:
        raise Rejected(f"{name} compares {operands[0].type} with {operands[1].type}", line)
    return Compared(check, line, operands[0], operands[1])


def _string(operation: Any, name: str, line: int) -> str:
    value = operation.attributes.get(name)
    if not isinstance(value, ir.StringAttr):
        raise Rejected(f"{operation.name} has no attribute {name}, a string", line)
    return str(value.value)


def _called(name: str, operands: Sequence[Any], line: int) -> Check:
    """The limits of a `custom_call`, which are others than those of the dialect."""
    if name == "check.eq":
        return Check(name, Closeness.BITWISE) if _is_exact(operands[1]) else Check(name, Closeness.ABSOLUTE, TOLERANCE)
    if name == "check.expect_eq":
        return Check(name, Closeness.BITWISE)
    if name == "check.expect_almost_eq":
        return Check(name, Closeness.ABSOLUTE, CALL_TOLERANCE)
    if name == "check.expect_close":
        return Check(name, Closeness.ULPS, most=CALL_ULPS)
    raise Rejected(f"there is no check {name[:60]!r} to call", line)


def _is_exact(value: Any) -> bool:
    """Whether *value* is a tensor of integers or booleans."""
    return isinstance(getattr(value.type, "element_type", None), ir.IntegerType)


def _declared(name: str, operation: Any, line: int) -> Check:
    default = _DEFAULTS[name]
    if default.closeness is Closeness.ABSOLUTE:
        return Check(name, default.closeness, float(_number(operation, "tolerance", default.tolerance, line)))
    if default.closeness is Closeness.ULPS:
        least, most = (int(_number(operation, f"{which}_ulp_difference", value, line)) for which, value in (("min", 0), ("max", ULPS)))
        return Check(name, default.closeness, least=least, most=most)
    return default


def _number(operation: Any, name: str, default: float, line: int) -> float:
    if name not in operation.attributes:
        return default
    value = operation.attributes[name]
    if not isinstance(value, ir.FloatAttr | ir.IntegerAttr):
        raise Rejected(f"{operation.name} has an attribute {name} that is no number", line)
    return value.value
