"""Instances as JSON documents (`instance/1`), and back.

The round trip is lossless. Tensor data larger than a few kilobytes can be put aside: `encode_*` hand them to *put*, which returns
the name to write instead, and `decode_*` ask *get* for them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, cast

from opera.instance.instance import Argument, Instance, Kind, Outcome
from opera.instance.values import Call, Constraint, Device, DType, Enum, Graph, Named, Opaque, Tensor
from opera.instrumentation import wire
from opera.instrumentation.wire import Json

SCHEMA = "instance/1"
INLINE_BYTES = 4096

Put = Callable[[bytes], str]
Get = Callable[[str], bytes]


def encode_value(value: Any, put: Put | None = None) -> Json:
    """The JSON form of *value*.

    Raises:
        opera.instrumentation.wire.Unrecordable: for a type that is no instance value.
    """

    def foreign(item: Any) -> Json:
        return _encode_foreign(item, put)

    return wire.encode(value, foreign)


def decode_value(tree: Any, get: Get | None = None) -> Any:
    """Inverse of `encode_value`; raises ValueError for anything that is not of the specified form."""

    def build(tag: str, content: Any) -> Any:
        return _build_foreign(tag, content, get)

    return wire.decode(tree, build)


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


def decode_instance(document: Any, get: Get | None = None) -> Instance:
    """Inverse of `encode_instance`.

    Raises:
        ValueError: *document* is not an `instance/1` document; the message names the part that is wrong.
    """
    if not isinstance(document, dict):
        raise ValueError("an instance is a JSON object")
    parts = cast("dict[str, Any]", document)
    if parts.get("schema") != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA!r}, found {parts.get('schema')!r}")
    try:
        expected = parts.get("expected")
        return Instance(
            library=_text(parts["library"]),
            api=_text(parts["api"]),
            kind=Kind(parts["kind"]),
            init=tuple(_decode_argument(item, get) for item in parts.get("init", ())),
            call=tuple(_decode_argument(item, get) for item in parts["call"]),
            context=tuple((name, decode_value(value, get)) for name, value in parts.get("context", ())),
            defaults=tuple((name, decode_value(value, get)) for name, value in parts.get("defaults", ())),
            outcome=Outcome(parts.get("outcome", "unknown")),
            exception=parts.get("exception"),
            expected=None if expected is None else tuple(decode_value(value, get) for value in expected),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"malformed instance document: {error!r}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected a name, found {value!r}")
    return value


def _encode_argument(argument: Argument, put: Put | None) -> Json:
    document: dict[str, Json] = {"name": argument.name, "value": encode_value(argument.value, put)}
    if argument.keyword:
        document["keyword"] = True
    return document


def _decode_argument(document: Any, get: Get | None) -> Argument:
    return Argument(_text(document["name"]), decode_value(document["value"], get), bool(document.get("keyword", False)))


def _encode_foreign(value: Any, put: Put | None) -> Json:
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


def _decode_bytes(content: Any, get: Get | None) -> bytes | None:
    if "blob" in content:
        if get is None:
            raise ValueError("the document refers to a blob, and no blob store was given")
        return get(content["blob"])
    return base64.b64decode(content["data"]) if "data" in content else None


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


def _build_foreign(tag: str, content: Any, get: Get | None) -> Any:
    if tag == "tensor":
        return _build_tensor(content, get)
    if tag == "dtype":
        return DType(_text(content))
    if tag == "device":
        return Device(_text(content))
    if tag == "enum":
        path, member = content
        return Enum(_text(path), _text(member))
    if tag == "name":
        return Named(_text(content))
    if tag == "call":
        api, arguments = content
        return Call(_text(api), tuple((name, decode_value(value, get)) for name, value in arguments))
    if tag == "graph":
        return Graph(_text(content["format"]), _decode_bytes(content, get) or b"")
    if tag == "opaque":
        kind, reason = content
        return Opaque(_text(kind), str(reason))
    raise ValueError(f"unknown value tag {tag!r}")


def _build_tensor(content: Any, get: Get | None) -> Tensor:
    strides = content.get("strides")
    limits = content.get("constraint")
    constraint = None
    if limits is not None:
        constraint = Constraint(
            low=limits.get("low"),
            high=limits.get("high"),
            nan=bool(limits.get("nan", False)),
            inf=bool(limits.get("inf", False)),
            structure=tuple(limits.get("structure", ())),
        )
    return Tensor(
        shape=tuple(int(dim) for dim in content["shape"]),
        dtype=content["dtype"],
        data=_decode_bytes(content, get),
        strides=None if strides is None else tuple(int(step) for step in strides),
        layout=content.get("layout", "strided"),
        constraint=constraint,
    )
