"""The content hash of an instance.

Two instances are the same when they exercise an operator in the same way. The hash covers API, kind, arguments that differ from
their defaults, and context. It does not cover defaults (a library's new parameter changes no hash), outcome, nor expected outputs.

Tensors enter by shape, dtype, layout and contiguity. They enter by value, too, where a person has written the values: integers and
bools up to `EXACT_INTEGERS` elements, and floats that the recorders' rule for written values takes. Values that were drawn at
random enter by class only (sign of the bounds, NaN, infinities, structure): otherwise every run of a suite would give a new corpus.
A distribution that a person wrote enters with its parameters.
Lists and tuples are the same. Specified in docs/reference/instance-format.md.

A second, coarser hash erases dtypes and the values of tensors, so that instances which differ in nothing else count once.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from opera.instance.codec import encode_value
from opera.instance.instance import Argument, Instance
from opera.instance.values import Call, Constraint, DType, Graph, Tensor, Value, ends_of
from opera.instrumentation import wire
from opera.instrumentation.tensors import written

VERSION = 1
EXACT_INTEGERS = 256
_FLOAT_FORMATS = {"float16": "e", "float32": "f", "float64": "d"}
_DTYPE_ARGUMENT = "dtype"
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
_PLAIN = (type(None), bool, int, str)
"""Types whose values have a form of their own: no value of another type has it."""

_Form = Callable[[Value], wire.Json]


def digest(instance: Instance) -> str:
    """The identity of *instance*: 64 hexadecimal digits."""
    return _hash(identity_form(instance))


def shape_digest(instance: Instance) -> str:
    """The hash that *instance* shares with all instances that differ only in dtypes and tensor values: 64 hexadecimal digits."""
    return _hash(shape_form(instance))


def _hash(form: dict[str, wire.Json]) -> str:
    return hashlib.sha256(_ENCODER.encode(form).encode("ascii")).hexdigest()


def identity_form(instance: Instance) -> dict[str, wire.Json]:
    """The parts that the hash covers, as a JSON document."""
    context: dict[str, wire.Json] = {name: _form(value) for name, value in instance.context}
    return {"identity": VERSION, **_document(instance, _form), "context": context}


def shape_form(instance: Instance) -> dict[str, wire.Json]:
    """The parts that the coarser hash covers, as a JSON document: tensors by shape, strides and layout; no argument that is a dtype."""
    context = {name: _shape_form(value) for name, value in instance.context if not _is_dtype(name, value)}
    return {"shapes": VERSION, **_document(_without_dtypes(instance), _shape_form), "context": context}


def _document(instance: Instance, form: _Form) -> dict[str, wire.Json]:
    defaults = dict(instance.defaults)
    return {
        "library": instance.library,
        "api": instance.api,
        "kind": instance.kind.value,
        "init": _arguments(instance.init, defaults, form),
        "call": _arguments(instance.call, defaults, form),
    }


def _arguments(arguments: tuple[Argument, ...], defaults: dict[str, Value], form: _Form) -> wire.Json:
    """Name to value; a name that occurs twice (variadic parameters) keeps the order of its occurrences."""
    forms: dict[str, list[wire.Json]] = {}
    for argument in arguments:
        if argument.name in defaults and _is_same(defaults[argument.name], argument.value):
            continue
        forms.setdefault(argument.name, []).append(form(argument.value))
    return cast(wire.Json, forms)


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values have the same form, as text: 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    if type(one) in _PLAIN or type(other) in _PLAIN:
        return type(one) is type(other) and one == other
    return _ENCODER.encode(_form(one)) == _ENCODER.encode(_form(other))


def _form(value: Value) -> wire.Json:
    if isinstance(value, (list, tuple)):
        return [_form(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_form(k), _form(v)] for k, v in value.items()]}
    if isinstance(value, Tensor):
        return {"tensor": _tensor(value)}
    if isinstance(value, Graph):
        return {"graph": [value.format, hashlib.sha256(value.data).hexdigest()]}
    return encode_value(value)


def _without_dtypes(instance: Instance) -> Instance:
    init, call = (tuple(each for each in group if not _is_dtype(each.name, each.value)) for group in (instance.init, instance.call))
    return replace(instance, init=init, call=call)


def _is_dtype(name: str | None, value: Value) -> bool:
    return name == _DTYPE_ARGUMENT or isinstance(value, DType)


def _shape_form(value: Value) -> wire.Json:
    """Like `_form`, without dtypes and without the values of tensors."""
    if isinstance(value, (list, tuple)):
        return [_shape_form(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_shape_form(k), _shape_form(v)] for k, v in value.items()]}
    if isinstance(value, slice):
        ends = ends_of(value)
        return {"slice": [_shape_form(end) for end in ends]}
    if isinstance(value, Call):
        return {"call": [value.api, [[name, _shape_form(item)] for name, item in value.arguments if not _is_dtype(name, item)]]}
    if isinstance(value, Tensor):
        return {"tensor": _layout(value)}
    return {"dtype": None} if isinstance(value, DType) else _form(value)


def _layout(tensor: Tensor) -> dict[str, wire.Json]:
    form: dict[str, wire.Json] = {"shape": list(tensor.shape)}
    if tensor.layout != "strided":
        form["layout"] = tensor.layout
    if tensor.strides is not None:
        form["strides"] = _stride_class(tensor)
    return form


def _tensor(tensor: Tensor) -> wire.Json:
    form = {**_layout(tensor), "dtype": tensor.dtype}
    if tensor.data is not None and _written(tensor):
        form["data"] = hashlib.sha256(canonical_data(tensor)).hexdigest()
    elif tensor.constraint is not None:
        form["class"] = _constraint_class(tensor.constraint)
    elif tensor.distribution is not None:
        form["distribution"] = [tensor.distribution.name, *(float(each) for each in tensor.distribution.parameters)]
    return form


def _stride_class(tensor: Tensor) -> wire.Json:
    """Order of the dimensions by stride and whether any is broadcast: what code that looks at strides can tell apart."""
    strides = tensor.strides or ()
    order = sorted(range(len(strides)), key=lambda axis: (-strides[axis], axis))
    return ["broadcast" if 0 in strides else "strided", *order]


def _written(tensor: Tensor) -> bool:
    """Whether a person wrote these values, as far as one can tell."""
    if tensor.dtype in _FLOAT_FORMATS:
        return written(tensor.data or b"", tensor.dtype, tensor.size)
    if tensor.dtype.startswith(("int", "uint", "bool", "qint", "quint")):
        return tensor.size <= EXACT_INTEGERS
    return tensor.dtype == "string" or tensor.size <= 1 or tensor.constraint is None


def _floats(tensor: Tensor) -> tuple[float, ...]:
    return struct.unpack(f"<{tensor.size}{_FLOAT_FORMATS[tensor.dtype]}", tensor.data or b"")


def canonical_data(tensor: Tensor) -> bytes:
    """The data of *tensor* with every NaN replaced by one and the same; -0.0 stays apart from 0.0."""
    data = tensor.data or b""
    if tensor.dtype not in _FLOAT_FORMATS:
        return data
    numbers = _floats(tensor)
    if not any(math.isnan(number) for number in numbers):
        return data
    clean = [math.nan if math.isnan(number) else number for number in numbers]
    return struct.pack(f"<{len(clean)}{_FLOAT_FORMATS[tensor.dtype]}", *clean)


def _constraint_class(constraint: Constraint) -> wire.Json:
    def sign(bound: float | None) -> wire.Json:
        return None if bound is None else 0 if bound == 0 else 1 if bound > 0 else -1

    return [sign(constraint.low), sign(constraint.high), constraint.nan, constraint.inf, *constraint.structure]
