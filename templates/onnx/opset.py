"""The opset that an ONNX model declares: the lowest one at which it is valid and means the same, or another one of which this is shown."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from opera.arrays import Array
from opera.instance import Instance
from opera.models.opsets import NEWEST_CLAIMED, OLDEST
from opera.models.template import Invalid
from opera.templates.onnx.operators import messages

onnx: Any = importlib.import_module("onnx")

NOT_AT_OPSET = "not-at-this-opset"
"""Reason code of a test at an opset at which the model is not valid, or at which nothing shows that it means the same."""
OLDER_OPERATOR = "older-operator"
"""Reason code of a test whose operator ONNX's evaluator computes as a newer opset defines it."""
_OLDEST_IR = 8
"""The version of the format in which a model of an older opset is written: the first that has functions."""
_IR_OF_DTYPES = ((17, 9), (21, 10), (23, 11), (24, 12), (25, 13))
"""The first dtype, as ONNX numbers them, that each version of the format added: float8, int4, float4e2m1, float8e8m0, int2."""


def _is_float_mod(instance: Instance, inputs: Sequence[Array]) -> bool:
    fmod = next((each.value for each in instance.init if each.name == "fmod"), 0)
    return fmod == 0 and inputs[0].dtype.kind not in "iu"


def _shifts_past_the_width(_: Instance, inputs: Sequence[Array]) -> bool:
    return bool((inputs[1].astype("int64") >= 8 * inputs[0].dtype.itemsize).any())


def _is_hardmax_of_columns(instance: Instance, inputs: Sequence[Array]) -> bool:
    """Up to opset 12, Hardmax takes all axes from *axis* on for one row; ONNX's version converter does not say so."""
    default = 1 if instance.context_value("opset", _HARDMAX) < _HARDMAX else -1
    axis = next((int(each.value) for each in instance.init if each.name == "axis" and isinstance(each.value, int)), default)
    return axis not in (-1, inputs[0].ndim - 1)


_HARDMAX = 13
LATELY: Mapping[str, Callable[[Instance, Sequence[Array]], bool]] = {
    "Mod": _is_float_mod, "BitShift": _shifts_past_the_width, "Hardmax": _is_hardmax_of_columns,
}  # fmt: skip
"""What documentation says only lately, though the checker takes it at older opsets, and the evaluator computes it as today."""


def lowest(model: Any, same: Callable[[Any], bool]) -> Any:
    """*model* at the lowest opset of the default domain that has the schemas of all its operators.

    Where this opset is newer than `NEWEST_CLAIMED`, an older schema will do if the checker accepts the model, and *same* says that it
    gives the same results.

    Args:
        model: An onnx.ModelProto; it is left as it is.
        same: Whether a model at an older schema gives what *model* gives.

    Returns:
        Another ModelProto, or *model* if nothing is lower.
    """
    declared = _declared(model)
    needed = max(OLDEST, _needed(model, declared))
    if needed > NEWEST_CLAIMED:
        older = at(model, NEWEST_CLAIMED)
        with suppress(Exception):
            onnx.checker.check_model(older, full_check=True)
            if same(older):
                return at(model, max(OLDEST, _needed(older, NEWEST_CLAIMED)))
    return at(model, needed) if needed < declared else model


def newest(model: Any) -> Any | None:
    """*model* as ONNX's version converter writes it for the newest opset; None if its operators have the newest schemas, or it cannot."""
    declared, last = _declared(model), int(onnx.defs.onnx_opset_version())
    if all(_since(node.op_type, declared) == _since(node.op_type, last) for node in _nodes(model)):
        return None
    try:
        return importlib.import_module("onnx.version_converter").convert_version(model, last)
    except Exception:
        return None


def restated(model: Any, opset: int, same: Callable[[Any], bool]) -> Any:
    """*model* at *opset* of the default domain, where it is valid and means the same.

    It means the same if all its operators have the schemas that they have in *model*. With another schema, the
    checker must accept the model, and the older documentation must name each word that an attribute has and the newer one names. The
    version converter of ONNX must make the newer model of the older one without a change of nodes, and *same* must find the same results.

    Args:
        model: An onnx.ModelProto; it is left as it is.
        opset: What the result declares.
        same: Whether a model at another schema gives what *model* gives.

    Raises:
        Invalid: with the reason `NOT_AT_OPSET`, and an exception that says why as its cause.
    """
    declared, other = _declared(model), at(model, opset)
    operators = sorted({node.op_type for node in _nodes(model)})
    if not operators:
        raise _refused("no operator is of the default domain", opset)
    absent = next((each for each in operators if _schema(each, opset) is None), None)
    if absent is not None:
        raise _refused(f"{absent} does not exist", opset)
    if all(_since(each, opset) == _since(each, declared) for each in operators):
        return other
    (older, old), (newer, new) = sorted([(model, declared), (other, opset)], key=lambda each: each[1])
    word = next((each for node in _nodes(model) for each in _words(node) if _is_later(node, each, old, new)), None)
    if word is not None:
        raise _refused(f"the documentation does not name {word[0]}={word[1]!r}", old)
    try:
        onnx.checker.check_model(other, full_check=True)
        converted = importlib.import_module("onnx.version_converter").convert_version(older, new)
    except Exception as error:
        raise Invalid(NOT_AT_OPSET) from error
    if model.functions or _spelled(converted) != _spelled(newer):
        raise _refused(f"the version converter of ONNX writes {operators[0] if len(operators) == 1 else 'the graph'} in another way", opset)
    if not same(other):
        raise _refused("the evaluator gives other results, or the documentation another meaning", opset)
    return other


def _refused(why: str, opset: int) -> Invalid:
    """`Invalid` with the reason `NOT_AT_OPSET`, and *why* as its cause."""
    refused = Invalid(NOT_AT_OPSET)
    refused.__cause__ = ValueError(f"{why} at opset {opset}")
    return refused


def _words(node: Any) -> list[tuple[str, str]]:
    """Name and value of each attribute that is a text."""
    return [(each.name, each.s.decode("utf-8", "replace")) for each in node.attribute if each.type == onnx.AttributeProto.STRING]


def _is_later(node: Any, word: tuple[str, str], old: int, new: int) -> bool:
    """Whether the value of an attribute is in its documentation at opset *new*, and not yet in that at *old*."""
    name, value = word
    named = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    texts = [schema.attributes[name].description for each in (old, new) if name in (schema := _schema(node.op_type, each)).attributes]
    return len(texts) > 1 and named.search(texts[1]) is not None and named.search(texts[0]) is None


def _spelled(model: Any) -> list[tuple[Any, ...]]:
    """The nodes of the main graph, without their names."""
    return [
        (node.domain, node.op_type, *node.input, None, *node.output, *sorted(each.SerializeToString() for each in node.attribute))
        for node in model.graph.node
    ]


def at(model: Any, opset: int) -> Any:
    """A copy of *model* that declares *opset* of the default domain, and the version of the format that the opset needs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for holder in (copy, *copy.functions):
        for each in holder.opset_import:
            if each.domain in ("", "ai.onnx"):
                each.version = opset
    copy.ir_version = oldest_ir(copy)
    return copy


def oldest_ir(model: Any) -> int:
    """The lowest version of the format, from `_OLDEST_IR` on, that has the opsets and the dtypes of *model*, at most that of this onnx."""
    opsets = onnx.helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    newest = max(_dtypes(model), default=0)
    dtypes = (version for first, version in _IR_OF_DTYPES if first <= newest)
    return min(max(_OLDEST_IR, opsets, *dtypes), int(onnx.IR_VERSION))


def _dtypes(message: Any) -> Iterator[int]:
    """The numbers in *message* that are dtypes, and integer attributes, which may be."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if hasattr(value, "__len__") else [value]:
                yield from _dtypes(part)
        elif field.name in ("elem_type", "data_type") or (field.name == "i" and value <= max(onnx.TensorProto.DataType.values())):
            yield int(value)


def _declared(model: Any) -> int:
    """The opset of the default domain; 0 without one."""
    return next((int(each.version) for each in model.opset_import if each.domain in ("", "ai.onnx")), 0)


def _needed(model: Any, declared: int) -> int:
    """The first opset that has the schemas which the nodes of *model* have at opset *declared*."""
    return max((_since(node.op_type, declared) for node in _nodes(model)), default=0)


def _since(operator: str, opset: int) -> int:
    schema = _schema(operator, opset)
    return opset if schema is None else int(schema.since_version)


def _schema(operator: str, opset: int) -> Any:
    """The schema of an operator at an opset; None if the opset does not have the operator."""
    try:
        return onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError:
        return None


def _nodes(model: Any) -> Iterator[Any]:
    own = {(each.domain, each.name) for each in model.functions}
    for each in messages(model):
        if isinstance(each, onnx.NodeProto) and each.domain in ("", "ai.onnx") and (each.domain, each.op_type) not in own:
            yield each
