"""What the documentation of ONNX's operators forbids, though checker and evaluator take it.

A rule is a sentence and a check: it holds for every operator and opset whose documentation has the sentence, and for no other.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opera.arrays import Array, as_array, is_array

onnx: Any = importlib.import_module("onnx")


@dataclass(frozen=True)
class DocumentedNode:
    """A node, with the names of its operator's schema.

    Attributes:
        given: Values of the attributes that the node has.
        defaults: Values of the others, where the schema has any.
        inputs: What is left out, or is no tensor, is missing.
    """

    given: Mapping[str, Any]
    defaults: Mapping[str, Any]
    inputs: Mapping[str, Array]

    def axes(self, name: str) -> Sequence[int]:
        """The integers of an attribute or of an input."""
        value = {**self.inputs, **self.defaults, **self.given}.get(name)
        return () if value is None else [int(each) for each in as_array(value).reshape(-1)]


def _outside_the_rank(node: DocumentedNode, name: str, source: str) -> bool:
    if source not in node.inputs:
        return False
    rank = node.inputs[source].ndim
    return any(not -rank <= axis < rank for axis in node.axes(name))


def _beside_auto_pad(node: DocumentedNode, name: str, _: str) -> bool:
    return name in node.given and node.given.get("auto_pad", b"NOTSET") != b"NOTSET"


def _repeated(node: DocumentedNode, name: str, _: str) -> bool:
    rank = max((each.ndim for each in node.inputs.values()), default=0)
    axes = [axis % rank if rank else axis for axis in node.axes(name)]
    return len(set(axes)) < len(axes)


def _of_floats(node: DocumentedNode, _: str, attribute: str) -> bool:
    value = {**node.defaults, **node.given}.get(attribute)
    return value == 0 and any(each.dtype.kind not in "iu" for each in node.inputs.values())


_SENTENCES: Mapping[re.Pattern[str], Callable[[DocumentedNode, str, str], bool]] = {
    re.compile(r"Accepted range is `?\[-r, r-1\]`?,? where `?r = rank\((\w+)\)"): _outside_the_rank,
    re.compile(r"cannot be used simultaneously with (auto_pad)"): _beside_auto_pad,
    re.compile(r"Behavior is undefined if an (axis) is repeated"): _repeated,
    re.compile(r"If the `(\w+)` attribute is set to `0`, `T` is constrained to integer data types"): _of_floats,
}
"""Sentences, and what breaks them: gets the name of the attribute or input that a sentence is about, and the name in the sentence."""


def forbidden(model: Any, values: Mapping[str, Any]) -> str | None:
    """The sentence of the documentation that a model breaks; None where it breaks none of those that OPERA reads.

    Args:
        model: An onnx.ModelProto of one node.
        values: The model's inputs, by name.
    """
    (node,) = model.graph.node
    version = next(entry.version for entry in model.opset_import if entry.domain == node.domain)
    schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    value_of = onnx.helper.get_attribute_value
    documented = DocumentedNode(
        {each.name: value_of(each) for each in node.attribute},
        {name: value_of(each.default_value) for name, each in schema.attributes.items() if each.default_value.type},
        {slot.name: as_array(values[name]) for slot, name in zip(schema.inputs, node.input, strict=False) if is_array(values.get(name))},
    )
    texts = {"": schema.doc}
    texts |= {each.name: each.description for each in schema.inputs}
    texts |= {name: each.description for name, each in schema.attributes.items()}
    for name, text in texts.items():
        for sentence, breaks in _SENTENCES.items():
            if (found := sentence.search(text or "")) and breaks(documented, name, found[1]):
                return found[0]
    return None
