"""Instances as JSON documents (`instance/1`), and back.

The round trip is lossless. Tensor data larger than a few kilobytes can be put aside: `encode_*` hand them to *put*, which returns
the name to write instead, and `decode_*` ask *get* for them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from opera.instance.instance import Argument, Instance, Kind, Outcome
from opera.instance.values import Call, Constraint, Device, Distribution, DType, Enum, Graph, Named, Opaque, Tensor, Value
from opera.instrumentation import wire
from opera.instrumentation.wire import Json

SCHEMA = "instance/1"
INLINE_BYTES = 4096

Put = Callable[[bytes], str]
Get = Callable[[str], bytes | None]
"""Gives the data stored under a name; None leaves them out."""


def encode_value(value: Value, put: Put | None = None) -> Json:
    """The JSON form of *value*.

    Raises:
        opera.instrumentation.wire.Unrecordable: for a type that is no instance value.
    """

    def foreign(item: Value) -> Json:
        return _encode_foreign(item, put)

    return wire.encode(value, foreign)


def decode_value(tree: object, get: Get | None = None, depth: int = 0) -> Value:
    """Inverse of `encode_value`; raises ValueError for anything that is not of the specified form."""

    def build(tag: str, content: object, depth: int) -> Value:
        return _build_foreign(tag, content, get, depth)

    return wire.decode(tree, build, depth)


def encode_instance(instance: Instance, put: Put | None = None) -> dict[str, Json]:
    """The document of *instance*; empty parts are left out."""
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "library": instance.library,
        "api": instance.api,
        "kind": instance.kind.value,
        "call": [_encode_argument(argument, put) for argument in instance.call],
    }
    if instance.init:
        document["init"] = [_encode_argument(argument, put) for argument in instance.init]
    if instance.context:
        document["context"] = [[name, encode_value(value, put)] for name, value in instance.context]
    if instance.defaults:
        document["defaults"] = [[name, encode_value(value, put)] for name, value in instance.defaults]
    if instance.outcome is not Outcome.UNKNOWN:
        document["outcome"] = instance.outcome.value
    if instance.exception is not None:
        document["exception"] = instance.exception
    if instance.expected is not None:
        document["expected"] = [encode_value(value, put) for value in instance.expected]
    return document


def decode_instance(document: object, get: Get | None = None) -> Instance:
    """Inverse of `encode_instance`. Nothing in *document* is trusted.

    Raises:
        ValueError: *document* is not an `instance/1` document; the message names the part that is wrong.
    """
    if not isinstance(document, dict):
        raise ValueError("an instance is a JSON object")
    parts = cast("dict[str, object]", document)
    if parts.get("schema") != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA!r}, found {str(parts.get('schema'))[:40]!r}")
    part = ""
    try:
        found: dict[str, Any] = {}
        for part, decode in _PARTS.items():
            if part in parts:
                found[part] = decode(parts[part], get)
            elif part in _REQUIRED:
                raise ValueError("it is missing")
        return Instance(**found)
    except (ValueError, TypeError) as error:
        raise ValueError(f"malformed instance, {part}: {error}") from error


def _decode_name(value: object, get: Get | None) -> str:
    return wire.text(value)


def _decode_arguments(value: object, get: Get | None) -> tuple[Argument, ...]:
    return tuple([_decode_argument(item, get) for item in wire.items_of(value)])


def _decode_argument(document: object, get: Get | None) -> Argument:
    if not isinstance(document, dict):
        raise ValueError("an argument is an object with a name and a value")
    parts = cast("dict[str, object]", document)
    if "value" not in parts:
        raise ValueError("an argument without a value")
    keyword = parts.get("keyword", False)
    if not isinstance(keyword, bool):
        raise ValueError("`keyword` is true or false")
    return Argument(wire.text(parts.get("name")), decode_value(parts["value"], get), keyword)


def _decode_facts(value: object, get: Get | None) -> tuple[tuple[str, Value], ...]:
    """Pairs of a name and a value."""
    pairs = (wire.items_of(pair, 2) for pair in wire.items_of(value))
    return tuple([(wire.text(name), decode_value(item, get)) for name, item in pairs])


def _decode_expected(value: object, get: Get | None) -> tuple[Value, ...] | None:
    return None if value is None else tuple([decode_value(item, get) for item in wire.items_of(value)])


def _decode_exception(value: object, get: Get | None) -> str | None:
    return None if value is None else wire.text(value)


_PARTS: Mapping[str, Callable[[object, Get | None], object]] = {
    "library": _decode_name,
    "api": _decode_name,
    "kind": lambda value, get: Kind(value),
    "init": _decode_arguments,
    "call": _decode_arguments,
    "context": _decode_facts,
    "defaults": _decode_facts,
    "outcome": lambda value, get: Outcome(value),
    "exception": _decode_exception,
    "expected": _decode_expected,
}
_REQUIRED = frozenset({"library", "api", "kind", "call"})


def _encode_argument(argument: Argument, put: Put | None) -> Json:
    document: dict[str, Json] = {"name": argument.name, "value": encode_value(argument.value, put)}
    if argument.keyword:
        document["keyword"] = True
    return document


def _encode_foreign(value: Value, put: Put | None) -> Json:
    if isinstance(value, Tensor):
        return {"tensor": _encode_tensor(value, put)}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, Device):
        return {"device": value.name}
    if isinstance(value, Enum):
        return {"enum": [value.path, value.member]}
    if isinstance(value, Named):
        return {"name": value.path}
    if isinstance(value, Call):
        return {"call": [value.api, [[name, encode_value(item, put)] for name, item in value.arguments]]}
    if isinstance(value, Graph):
        return {"graph": {"format": value.format, **_encode_bytes(value.data, put)}}
    if isinstance(value, Opaque):
        return {"opaque": [value.type, value.reason]}
    raise wire.Unrecordable(f"not an instance value: {type(value).__name__}")


def _encode_bytes(data: bytes, put: Put | None) -> dict[str, Json]:
    if put is not None and len(data) > INLINE_BYTES:
        return {"blob": put(data)}
    return {"data": base64.b64encode(data).decode("ascii")}


def _decode_bytes(content: Mapping[str, object], get: Get | None) -> bytes | None:
    if "blob" in content:
        if get is None:
            raise ValueError("the document refers to a blob, and no blob store was given")
        return get(wire.text(content["blob"]))
    return wire.decode_bytes(content["data"]) if "data" in content else None


def _encode_tensor(tensor: Tensor, put: Put | None) -> Json:
    content: dict[str, Json] = {"shape": list(tensor.shape), "dtype": tensor.dtype}
    if tensor.strides is not None:
        content["strides"] = list(tensor.strides)
    if tensor.layout != "strided":
        content["layout"] = tensor.layout
    if tensor.data is not None:
        content.update(_encode_bytes(tensor.data, put))
    if tensor.constraint is not None:
        content["constraint"] = _encode_constraint(tensor.constraint)
    if tensor.distribution is not None:
        content["distribution"] = [tensor.distribution.name, *tensor.distribution.parameters]
    return content


def _encode_constraint(constraint: Constraint) -> Json:
    content: dict[str, Json] = {"low": constraint.low, "high": constraint.high}
    if constraint.nan:
        content["nan"] = True
    if constraint.inf:
        content["inf"] = True
    if constraint.structure:
        content["structure"] = list(constraint.structure)
    return content


def _build_foreign(tag: str, content: object, get: Get | None, depth: int) -> Value:
    if tag == "tensor":
        return _build_tensor(_object(content), get)
    if tag == "dtype":
        return DType(wire.text(content))
    if tag == "device":
        return Device(wire.text(content))
    if tag == "enum":
        path, member = wire.items_of(content, 2)
        return Enum(wire.text(path), wire.text(member))
    if tag == "name":
        return Named(wire.text(content))
    if tag == "call":
        api, arguments = wire.items_of(content, 2)
        pairs = (wire.items_of(pair, 2) for pair in wire.items_of(arguments))
        return Call(wire.text(api), tuple([(_optional_name(name), decode_value(value, get, depth + 1)) for name, value in pairs]))
    if tag == "graph":
        parts = _object(content)
        return Graph(wire.text(parts.get("format")), _decode_bytes(parts, get) or b"")
    if tag == "opaque":
        kind, reason = wire.items_of(content, 2)
        return Opaque(wire.text(kind), "" if reason == "" else wire.text(reason))
    raise ValueError(f"unknown value tag {tag[:40]!r}")


def _object(content: object) -> Mapping[str, object]:
    if not isinstance(content, dict):
        raise ValueError(f"expected an object, found {str(content)[:40]}")
    return cast("dict[str, object]", content)


def _optional_name(name: object) -> str | None:
    return None if name is None else wire.text(name)


def _build_tensor(content: Mapping[str, object], get: Get | None) -> Tensor:
    strides = content.get("strides")
    limits = content.get("constraint")
    drawn = content.get("distribution")
    tensor = Tensor(
        shape=tuple([wire.integer(dim) for dim in wire.items_of(content.get("shape"))]),
        dtype=wire.text(content.get("dtype")),
        data=_decode_bytes(content, get),
        strides=None if strides is None else tuple([wire.integer(step) for step in wire.items_of(strides)]),
        layout=wire.text(content.get("layout", "strided")),
        constraint=None if limits is None else _build_constraint(_object(limits)),
        distribution=None if drawn is None else _build_distribution(wire.items_of(drawn)),
    )
    if tensor.dtype == "string" and tensor.data is not None:
        _check_strings(tensor.data, tensor)
    return tensor


def _check_strings(data: bytes, tensor: Tensor) -> None:
    try:
        items = wire.items_of(cast(object, json.loads(data)))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not all(isinstance(item, str) for item in items):
        raise ValueError("the elements of a string tensor are a JSON array of texts")
    if len(items) != tensor.size:
        raise ValueError(f"{len(items)} elements for a string tensor of shape {tensor.shape}")


def _build_distribution(content: list[object]) -> Distribution:
    name, *parameters = content
    return Distribution(wire.text(name), tuple([wire.integer(each) if type(each) is int else wire.finite(each) for each in parameters]))


def _build_constraint(limits: Mapping[str, object]) -> Constraint:
    low, high = (None if limits.get(name) is None else wire.finite(limits[name]) for name in ("low", "high"))
    nan, inf = limits.get("nan", False), limits.get("inf", False)
    if not isinstance(nan, bool) or not isinstance(inf, bool):
        raise ValueError("`nan` and `inf` of a constraint are true or false")
    structure = tuple([wire.text(item) for item in wire.items_of(limits.get("structure", []))])
    return Constraint(low, high, nan, inf, structure)
