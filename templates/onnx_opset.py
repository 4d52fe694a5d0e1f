"""The opset that an ONNX model declares: the lowest one at which it is valid and means the same."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from opera.arrays import Array
from opera.instance import Instance
from opera.models.opsets import NEWEST_CLAIMED
from opera.templates.onnx_operators import messages

onnx: Any = importlib.import_module("onnx")

OLDEST = 13
"""No model is declared for an older opset, unless it was recorded so: exporters of today write none."""
_OLDEST_IR = 10
"""Lower versions of the format do not know all dtypes."""


def _is_float_mod(instance: Instance, inputs: Sequence[Array]) -> bool:
    fmod = next((each.value for each in instance.init if each.name == "fmod"), 0)
    return fmod == 0 and inputs[0].dtype.kind not in "iu"


def _shifts_past_the_width(_: Instance, inputs: Sequence[Array]) -> bool:
    return bool((inputs[1].astype("int64") >= 8 * inputs[0].dtype.itemsize).any())


LATELY: Mapping[str, Callable[[Instance, Sequence[Array]], bool]] = {"Mod": _is_float_mod, "BitShift": _shifts_past_the_width}
"""What documentation allows only lately, though the checker and the evaluator of ONNX take it at older opsets, too."""


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
    declared = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 0)
    needed = max(OLDEST, _needed(model, declared))
    if needed > NEWEST_CLAIMED:
        older = at(model, NEWEST_CLAIMED)
        with suppress(Exception):
            onnx.checker.check_model(older, full_check=True)
            if same(older):
                return at(model, max(OLDEST, _needed(older, NEWEST_CLAIMED)))
    return at(model, needed) if needed < declared else model


def at(model: Any, opset: int) -> Any:
    """A copy of *model* that declares *opset* of the default domain, and the version of the format that the opset needs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for holder in (copy, *copy.functions):
        for each in holder.opset_import:
            if each.domain in ("", "ai.onnx"):
                each.version = opset
    needed = onnx.helper.find_min_ir_version_for(copy.opset_import, ignore_unknown=True)
    copy.ir_version = min(copy.ir_version, max(needed, _OLDEST_IR))
    return copy


def _needed(model: Any, declared: int) -> int:
    """The first opset that has the schemas which the nodes of *model* have at opset *declared*."""
    return max((_since(node.op_type, declared) for node in _nodes(model)), default=0)


def _since(operator: str, opset: int) -> int:
    try:
        return int(onnx.defs.get_schema(operator, opset).since_version)
    except onnx.defs.SchemaError:
        return opset


def _nodes(model: Any) -> Iterator[Any]:
    own = {(each.domain, each.name) for each in model.functions}
    for each in messages(model):
        if isinstance(each, onnx.NodeProto) and each.domain in ("", "ai.onnx") and (each.domain, each.op_type) not in own:
            yield each
