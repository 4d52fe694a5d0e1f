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
from typing import Any, Callable, Dict, Iterable, List, Optional, Union, cast

Json = Union[None, bool, int, float, str, List["Json"], Dict[str, "Json"]]
Foreign = Callable[[Any], Json]
Build = Callable[[str, object, int], Any]

MAX_DEPTH = 32
MAX_BITS = 256
"""Most bits of an integer."""
MAX_TEXT = 1000
"""Characters of a name."""


class Unrecordable(ValueError):
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


def decode(tree: object, build: Build, depth: int = 0) -> Any:
    """Inverse of `encode`; *build(tag, content, depth)* makes the values of the tags that this module does not know.

    Raises:
        ValueError: the tree is not of the specified form, or is nested deeper than `MAX_DEPTH`.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    kind = type(tree)
    if tree is None or kind is bool or kind is str:
        return tree
    if kind is int:
        return bounded(cast(int, tree))
    if kind is float:
        return finite(tree)
    if kind is list:
        return [decode(item, build, depth + 1) for item in cast("List[object]", tree)]
    if kind is not dict or len(cast("Dict[str, object]", tree)) != 1:
        raise ValueError(f"a value is a scalar, a list or an object with one tag, not {str(tree)[:80]}")
    ((tag, content),) = cast("Dict[str, object]", tree).items()
    try:
        return _decode_tagged(tag, content, build, depth + 1)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"malformed {tag[:40]!r} value: {error}") from error


def _decode_tagged(tag: str, content: object, build: Build, depth: int) -> Any:
    if tag == "float":
        return _NOT_FINITE[cast(str, content)]
    if tag == "complex":
        real, imag = (decode(part, build, depth) for part in items_of(content, 2))
        return complex(number(real), number(imag))
    if tag == "tuple":
        return tuple([decode(item, build, depth) for item in items_of(content)])
    if tag == "dict":
        pairs = (items_of(pair, 2) for pair in items_of(content))
        return {decode(key, build, depth): decode(value, build, depth) for key, value in pairs}
    if tag == "slice":
        start, stop, step = (decode(end, build, depth) for end in items_of(content, 3))
        return slice(start, stop, step)
    if tag == "range":
        start, stop, step = (integer(end) for end in items_of(content, 3))
        return range(start, stop, step)
    if tag == "bytes":
        return decode_bytes(content)
    if tag == "ellipsis":
        return Ellipsis
    return build(tag, content, depth)


_NOT_FINITE: Dict[str, float] = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def items_of(content: object, count: Optional[int] = None) -> List[object]:
    """*content*, which has to be a list, of *count* items where that is given; raises ValueError."""
    if not isinstance(content, list):
        raise ValueError(f"expected a list, found {str(content)[:40]}")
    found = cast("List[object]", content)
    if count is not None and len(found) != count:
        raise ValueError(f"expected {count} items, found {len(found)}")
    return found


def integer(content: object) -> int:
    """*content*, which has to be an integer of at most `MAX_BITS` bits; raises ValueError."""
    if type(content) is not int:
        raise ValueError(f"expected an integer, found {str(content)[:40]}")
    return bounded(content)


def bounded(value: int) -> int:
    """*value*; raises ValueError where it has more than `MAX_BITS` bits."""
    if value.bit_length() > MAX_BITS:
        raise ValueError(f"an integer of {value.bit_length()} bits, where {MAX_BITS} are allowed")
    return value


def number(content: object) -> float:
    """*content*, which has to be a number; raises ValueError."""
    if type(content) is int:
        return float(bounded(content))
    if type(content) is not float:
        raise ValueError(f"expected a number, found {str(content)[:40]}")
    return content


def finite(content: object) -> float:
    """*content*, which has to be a finite number; raises ValueError."""
    value = number(content)
    if not math.isfinite(value):
        raise ValueError("a number that is not finite is written with a tag")
    return value


def text(content: object, most: int = MAX_TEXT) -> str:
    """*content*, which has to be a text of 1 to *most* characters that can be written as UTF-8; raises ValueError."""
    if not isinstance(content, str) or not content:
        raise ValueError(f"expected a text that is not empty, found {str(content)[:40]}")
    if len(content) > most:
        raise ValueError(f"a text of {len(content)} characters, where {most} are allowed")
    content.encode("utf-8")
    return content


def decode_bytes(content: object) -> bytes:
    """The bytes that base64 text stands for; raises ValueError for any other character."""
    if not isinstance(content, str):
        raise ValueError(f"expected base64, found {str(content)[:40]}")
    return base64.b64decode(content, validate=True)


def of_own_type(value: Any, encode: Callable[[Any], Json], scalars: Iterable[Any]) -> Json:
    """An instance of a subclass of Python's own types, such as torch.Size and OrderedDict, as the type itself; None for another value."""
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in cast("tuple[Any, ...]", value)]}
    if isinstance(value, list):
        return [encode(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in cast("dict[Any, Any]", value).items()]}
    base = next((each for each in scalars if isinstance(value, each)), None)
    return None if base is None else encode(base(value))
