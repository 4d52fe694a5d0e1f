"""The JSON form of argument values: what recorders write and the driver reads.

Scalars keep their JSON form. Everything that JSON cannot say is an object with exactly one key, its tag:

    {"float": "nan" | "inf" | "-inf"}     {"complex": [re, im]}        {"bytes": base64}
    {"tuple": [...]}   {"dict": [[k, v], ...]}   {"slice": [start, stop, step]}   {"range": [start, stop, step]}
    {"ellipsis": true}

A list is a JSON array. Any other type is the business of the caller's *foreign* function: recorders pass one that knows the
library's tensors, the driver one that knows the value classes of `opera.instance`. The format is specified in
docs/reference/instance-format.md.
"""

from __future__ import annotations

import base64
import math
from typing import Any, Callable, Dict, List, Union, cast

Json = Union[None, bool, int, float, str, List["Json"], Dict[str, "Json"]]
Foreign = Callable[[Any], Json]
Build = Callable[[str, Any], Any]

MAX_DEPTH = 32


class Unrecordable(Exception):
    """A value that cannot be written down. The message is the reason code under which the call is dropped."""


def encode(value: object, foreign: Foreign, depth: int = 0) -> Json:
    """Returns the JSON form of *value*; raises `Unrecordable` when neither this module nor *foreign* knows its type."""
    if depth > MAX_DEPTH:
        raise Unrecordable("nested-too-deep")
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return cast(Json, value)
    if kind is float:
        return encode_float(cast(float, value))
    if kind is list:
        return [encode(item, foreign, depth + 1) for item in cast("list[object]", value)]
    if kind is tuple:
        return {"tuple": [encode(item, foreign, depth + 1) for item in cast("tuple[object, ...]", value)]}
    if kind is complex:
        number = cast(complex, value)
        return {"complex": [encode_float(number.real), encode_float(number.imag)]}
    if kind is dict:
        pairs = cast("dict[object, object]", value).items()
        return {"dict": [[encode(k, foreign, depth + 1), encode(v, foreign, depth + 1)] for k, v in pairs]}
    if kind is slice:
        part = cast(slice, value)
        return {"slice": [encode(end, foreign, depth + 1) for end in (part.start, part.stop, part.step)]}
    if kind is range:
        span = cast(range, value)
        return {"range": [span.start, span.stop, span.step]}
    if kind is bytes:
        return {"bytes": base64.b64encode(cast(bytes, value)).decode("ascii")}
    if value is Ellipsis:
        return {"ellipsis": True}
    return foreign(value)


def encode_float(value: float) -> Json:
    """A float as JSON. Every NaN becomes the same one: payloads do not survive an argument list."""
    if math.isfinite(value):
        return value
    return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def decode(tree: Any, build: Build) -> Any:
    """Inverse of `encode`; *build(tag, content)* makes the values of the tags that this module does not know.

    Raises:
        ValueError: the tree is not of the specified form.
    """
    if tree is None or isinstance(tree, (bool, int, float, str)):
        return tree
    if isinstance(tree, list):
        return [decode(item, build) for item in cast("list[Any]", tree)]
    if not isinstance(tree, dict) or len(cast("dict[str, Any]", tree)) != 1:
        raise ValueError(f"a value is a scalar, a list or an object with one tag, not {str(cast(object, tree))[:80]}")
    ((tag, content),) = cast("dict[str, Any]", tree).items()
    try:
        return _decode_tagged(tag, content, build)
    except (TypeError, KeyError, IndexError) as error:
        raise ValueError(f"malformed {tag!r} value: {error}") from error


def _decode_tagged(tag: str, content: Any, build: Build) -> Any:
    if tag == "float":
        return float(content)
    if tag == "complex":
        real, imag = (decode(part, build) for part in content)
        return complex(real, imag)
    if tag == "tuple":
        return tuple(decode(item, build) for item in content)
    if tag == "dict":
        return {decode(k, build): decode(v, build) for k, v in content}
    if tag == "slice":
        start, stop, step = (decode(end, build) for end in content)
        return slice(start, stop, step)
    if tag == "range":
        return range(*content)
    if tag == "bytes":
        return base64.b64decode(content)
    if tag == "ellipsis":
        return Ellipsis
    return build(tag, content)
