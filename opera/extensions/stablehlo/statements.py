"""Rewrites the statements of the `check` dialect, which no released wheel can parse, in MLIR's generic form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from opera.extensions.stablehlo.checks import ULPS
from opera.extensions.stablehlo.literals import take_constant
from opera.extensions.stablehlo.scanner import Cursor, TextError, Token, line_at, tokens

_CHECK = "check."
_NUMBER = re.compile(r"\s*([-+]?(?:0[xX][0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))")
_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2}|.)")


def generic(text: str) -> str:
    """*text* with each check in generic form, on the line on which it stands; the constants to compare with become strings.

    Raises:
        TextError: a check is outside the grammar of the `check` dialect.
    """
    if _CHECK not in text:
        return text
    parts: list[str] = []
    done = 0
    for token in tokens(text):
        if token.start < done or not token.text.strip('"').startswith(_CHECK):
            continue
        if token.kind == "word" or (token.kind == "string" and token.text.endswith('_const"')):
            parts.append(text[done : token.start])
            statement, done = _statement(text, token) if token.kind == "word" else _with_string(text, token)
            parts.append(statement + "\n" * text.count("\n", token.start, done))
    return "".join((*parts, text[done:]))


def pretty(text: str) -> str:
    """*text* with each check as the `check` dialect writes it, where `generic` has written it in generic form."""
    parts: list[str] = []
    done = 0
    for token in tokens(text):
        name = token.text.strip('"')
        if token.start < done or token.kind != "string" or name not in _RULES:
            continue
        cursor = Cursor(text, token.end)
        operands = cursor.group()[1:-1]
        attributes = attributes_in(cursor)
        cursor.expect(":")
        inputs = Cursor(cursor.group(), 1)
        cursor.expect("->", "(", ")")
        kind = inputs.type()
        parts += [text[done : token.start], f"{name} {operands}{_PRETTY[name](attributes, kind)}"]
        done = cursor.end
    return "".join((*parts, text[done:]))


def _with_constant(attributes: Mapping[str, str], kind: str) -> str:
    value = _ESCAPED.sub(
        lambda match: bytes.fromhex(match[1]).decode("latin-1") if len(match[1]) == 2 else match[1], attributes["value"][1:-1]
    )
    tolerance = attributes.get("tolerance", "")
    return f", {value}" + (f", tolerance = {tolerance}" if tolerance else "")


def _with_operand(attributes: Mapping[str, str], kind: str) -> str:
    tolerance = attributes.get("tolerance", "").partition(":")[0].strip()
    return (f", tolerance = {tolerance}" if tolerance else "") + f" : {kind}"


def _with_limits(attributes: Mapping[str, str], kind: str) -> str:
    most, least = (attributes.get(f"{which}_ulp_difference", "").partition(":")[0].strip() for which in ("max", "min"))
    return f", max_ulp_difference = {most or ULPS}" + (f", min_ulp_difference = {least}" if least else "") + f" : {kind}, {kind}"


def _with_probe(attributes: Mapping[str, str], kind: str) -> str:
    iteration = attributes.get("iteration", "").partition(":")[0].strip()
    return f", probe_id = {attributes.get('probe_id', '')}" + (f", iter = {iteration}" if iteration else "") + f" : {kind}"


_PRETTY: Mapping[str, Callable[[Mapping[str, str], str], str]] = {
    "check.expect_eq": _with_operand,
    "check.expect_eq_const": _with_constant,
    "check.expect_almost_eq": _with_operand,
    "check.expect_almost_eq_const": _with_constant,
    "check.expect_close": _with_limits,
    "check.expect_serialized_eq": _with_probe,
}
"""What stands behind the operands, by check."""


def _statement(text: str, token: Token) -> tuple[str, int]:
    """The check that begins with *token* in generic form, and where it ends in *text*."""
    name = token.text
    rule = _RULES.get(name)
    if rule is None:
        raise TextError(f"there is no check {name[:60]!r}; there are: {', '.join(_RULES)}", line_at(text, token.start))
    cursor = Cursor(text, token.end)
    try:
        operands, attributes, types = rule(cursor)
    except TextError as error:
        raise TextError(f"{name} is outside the grammar: {error}", error.line) from None
    return f'"{name}"({", ".join(operands)}) {_written(attributes)} : ({", ".join(types)}) -> ()', cursor.end


def _with_string(text: str, token: Token) -> tuple[str, int]:
    """A check that is in generic form, with its constant as a string, and where that part of it ends in *text*."""
    cursor = Cursor(text, token.end)
    if cursor.peek() != "(":
        return token.text, token.end
    try:
        operands = cursor.group()
        attributes: dict[str, str] = {}
        if cursor.accept("<"):
            attributes = attributes_in(cursor)
            cursor.expect(">")
        attributes |= attributes_in(cursor)
        value = attributes.get("value", "")
        if value.startswith("dense"):
            attributes["value"] = _constant(Cursor(value, 0))[0]
    except TextError as error:
        raise TextError(f"{token.text} is outside the grammar: {error}", error.line) from None
    return f"{token.text}{operands} {_written(attributes)}", cursor.end


def _written(attributes: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key} = {value}' for key, value in attributes.items())}}}"


_Parts = tuple[list[str], dict[str, str], list[str]]
"""Operands, attributes, and the types of the operands."""


def _equal(cursor: Cursor) -> _Parts:
    operands = _two(cursor)
    attributes = attributes_in(cursor)
    cursor.expect(":")
    return operands, attributes, [cursor.type()] * 2


def _equal_constant(cursor: Cursor) -> _Parts:
    operand = _operand(cursor)
    cursor.expect(",")
    value, kind = _constant(cursor)
    return [operand], {"value": value, **attributes_in(cursor)}, [kind]


def _almost_equal(cursor: Cursor) -> _Parts:
    operands = _two(cursor)
    attributes = {**_tolerance(cursor), **attributes_in(cursor)}
    cursor.expect(":")
    kind = cursor.type()
    if kind == "f64" and cursor.accept(":"):  # `tolerance = 0.1 : f64 : tensor<2xf32>`, as the description of the operation writes it
        kind = cursor.type()
    return operands, attributes, [kind] * 2


def _almost_equal_constant(cursor: Cursor) -> _Parts:
    operand = _operand(cursor)
    cursor.expect(",")
    value, kind = _constant(cursor)
    tolerance = _tolerance(cursor)
    if tolerance and cursor.accept(":"):
        cursor.expect("f64")
    return [operand], {"value": value, **tolerance, **attributes_in(cursor)}, [kind]


def _close(cursor: Cursor) -> _Parts:
    operands = _two(cursor)
    cursor.expect(",", "max_ulp_difference", "=")
    attributes = {"max_ulp_difference": f"{_count(cursor)} : ui64"}
    if cursor.accept(","):
        cursor.expect("min_ulp_difference", "=")
        attributes["min_ulp_difference"] = f"{_count(cursor)} : ui64"
    cursor.expect(":")
    attributes |= attributes_in(cursor)
    first = cursor.type()
    cursor.expect(",")
    return operands, attributes, [first, cursor.type()]


def _serialized(cursor: Cursor) -> _Parts:
    operand = _operand(cursor)
    cursor.expect(",", "probe_id", "=")
    if cursor.kind() != "string":
        raise cursor.error(f"expected a string, found {cursor.peek()[:40]!r}")
    attributes = {"probe_id": cursor.take()}
    if cursor.accept(","):
        cursor.expect("iter", "=")
        attributes["iteration"] = f"{_count(cursor)} : ui32"
    attributes |= attributes_in(cursor)
    cursor.expect(":")
    return [operand], attributes, [cursor.type()]


_RULES: Mapping[str, Callable[[Cursor], _Parts]] = {
    "check.expect_eq": _equal,
    "check.expect_eq_const": _equal_constant,
    "check.expect_almost_eq": _almost_equal,
    "check.expect_almost_eq_const": _almost_equal_constant,
    "check.expect_close": _close,
    "check.expect_serialized_eq": _serialized,
}


def _operand(cursor: Cursor) -> str:
    if not cursor.peek().startswith("%"):
        raise cursor.error(f"expected a value such as %0, found {cursor.peek()[:40]!r}")
    return cursor.take()


def _two(cursor: Cursor) -> list[str]:
    first = _operand(cursor)
    cursor.expect(",")
    return [first, _operand(cursor)]


def _constant(cursor: Cursor) -> tuple[str, str]:
    """A dense constant as a string of MLIR, and its type. It is not for the interpreter to read, which is under test."""
    found = take_constant(cursor)
    pieces = (token.text for token in tokens(found.text)) if "//" in found.text else found.text.split()
    plain = " ".join(pieces)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"', found.type


def _tolerance(cursor: Cursor) -> dict[str, str]:
    if not cursor.accept(","):
        return {}
    cursor.expect("tolerance", "=")
    match = _NUMBER.match(cursor.text, cursor.end)
    if match is None:
        raise cursor.error(f"expected a number, found {cursor.peek()[:40]!r}")
    while cursor.end < match.end():
        cursor.take()
    value = match[1]
    return {"tolerance": f"{_with_point(value)} : f64"}


def _count(cursor: Cursor) -> str:
    if not cursor.peek().isdecimal():
        raise cursor.error(f"expected a count, found {cursor.peek()[:40]!r}")
    return cursor.take()


def attributes_in(cursor: Cursor) -> dict[str, str]:
    """The attributes in braces, if there are any; one without a value is `unit`."""
    if cursor.peek() != "{":
        return {}
    group = cursor.group()
    inner = Cursor(group, 1)
    found: dict[str, str] = {}
    while inner.peek() != "}":
        name = inner.take()
        if not inner.accept("="):
            found[name] = "unit"
            inner.accept(",")
            continue
        start = inner.end
        while inner.peek() not in (",", "}"):
            if inner.peek() in ("(", "[", "{", "<"):
                inner.group()
            else:
                inner.take()
        found[name] = group[start : inner.end].strip()
        if not inner.accept(","):
            break
    inner.expect("}")
    return found


def _with_point(number: str) -> str:
    """A number as MLIR writes a float: with a point, and without a plus in front."""
    plain = number.removeprefix("+")
    if plain[:2].lower() == "0x" or "." in plain:
        return plain
    digits, e, exponent = plain.lower().partition("e")
    return f"{digits}.0{e}{exponent}"
