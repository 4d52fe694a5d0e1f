"""What the documentation of ONNX's operators forbids, though checker and evaluator take it.

A rule is a sentence and a check: it holds for every operator and opset whose documentation has the sentence, and for no other.
"""

from __future__ import annotations

import importlib
import re
import warnings
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

    def word(self, name: str) -> str:
        """The first four letters of an attribute that is a word: SAME_UPPER and SAME_LOWER are alike here."""
        return {**self.defaults, **self.given}.get(name, b"")[:4].decode()


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


def _no_scalar(node: DocumentedNode, name: str, _: str) -> bool:
    return name in node.inputs and node.inputs[name].ndim > 0


def _without_a_window(node: DocumentedNode, *_: str) -> bool:
    """Whether no window of a pooling or convolution fits into its padded input."""
    return _spatial(node) and node.word("auto_pad") != "SAME" and any(each <= 0 for each in _room(node, 1))


def _without_a_result(node: DocumentedNode, *_: str) -> bool:
    """Whether a transposed convolution takes away more than there is."""
    if not _spatial(node) or node.axes("output_shape") or node.word("auto_pad") == "SAME":
        return False
    return any(each <= 0 for each in _room(node, -1))


def _spatial(node: DocumentedNode) -> bool:
    return bool(node.inputs) and next(iter(node.inputs.values())).ndim > 2


def _room(node: DocumentedNode, sign: int) -> list[int]:
    """Steps that a window takes along each spatial axis of the padded input; with *sign* -1, sizes of a transposed convolution."""
    sizes = next(iter(node.inputs.values())).shape[2:]
    weights = next((each.shape[2:] for name, each in node.inputs.items() if name in ("W", "w")), ())
    kernel = node.axes("kernel_shape") or weights
    count = len(sizes)
    strides, dilations = (node.axes(name) or [1] * count for name in ("strides", "dilations"))
    pads = node.axes("pads") if node.word("auto_pad") == "NOTS" else ()
    pads, more = pads or [0] * (2 * count), node.axes("output_padding") or [0] * count
    if {len(kernel), len(strides), len(dilations), len(more), len(pads) // 2} != {count}:
        return []
    around = [pads[axis] + pads[axis + count] for axis in range(count)]
    spans = [(kernel[axis] - 1) * dilations[axis] + 1 for axis in range(count)]
    if sign > 0:
        return [sizes[axis] + around[axis] - spans[axis] + 1 for axis in range(count)]
    return [strides[axis] * (sizes[axis] - 1) + more[axis] + spans[axis] - around[axis] for axis in range(count)]


def _of_uneven_blocks(node: DocumentedNode, *_: str) -> bool:
    size, shape = node.axes("blocksize")[:1], next(iter(node.inputs.values())).shape if node.inputs else ()
    return bool(size) and len(shape) == 4 and any(each % size[0] for each in shape[2:])


def _of_uneven_channels(node: DocumentedNode, *_: str) -> bool:
    size, shape = node.axes("blocksize")[:1], next(iter(node.inputs.values())).shape if node.inputs else ()
    return bool(size) and len(shape) == 4 and shape[1] % size[0] ** 2 != 0


def _blocks_without_scales(node: DocumentedNode, name: str, _: str) -> bool:
    """Whether a block size stands beside a scale for the whole tensor or for an axis."""
    ranks = [each.ndim for each in node.inputs.values()][:2]
    return any(node.axes(name)) and len(ranks) == 2 and (ranks[1] != ranks[0] or ranks[1] == 0)


def _of_no_class(node: DocumentedNode, name: str, _: str) -> bool:
    """Whether a label is no class of the scores, which are the first input, and is not ignored."""
    scores = next(iter(node.inputs.values()))
    ignored = node.axes("ignore_index")
    return scores.ndim > 1 and any(not 0 <= each < scores.shape[1] and each not in ignored for each in node.axes(name))


def _beyond_the_step(node: DocumentedNode, name: str, _: str) -> bool:
    """Whether the padding of an output is as large as both the stride and the dilation of its axis."""
    more = node.axes(name)
    steps = [node.axes(each) or [1] * len(more) for each in ("strides", "dilations")]
    return any(each and each >= max(pair) for each, pair in zip(more, zip(*steps, strict=False), strict=False))


def _of_another_order(node: DocumentedNode, name: str, _: str) -> bool:
    return any(each not in (1, 2) for each in node.axes(name))


_SCALAR = re.compile(r"^(Scalar)\. |It must be a (?:scalar)\((tensor of empty shape)\)")
_SENTENCES: Mapping[re.Pattern[str], Callable[[DocumentedNode, str, str], bool]] = {
    re.compile(r"Accepted range is `?\[-r, r-1\]`?,? where `?r = rank\((\w+)\)"): _outside_the_rank,
    re.compile(r"cannot be used simultaneously with (auto_pad)"): _beside_auto_pad,
    re.compile(r"Behavior is undefined if an (axis) is repeated"): _repeated,
    re.compile(r"If the `(\w+)` attribute is set to `0`, `T` is constrained to integer data types"): _of_floats,
    re.compile(r"(?:are functions of the|will vary based on various) kernel(?: size)?, stride(?: size)?, and pad"): _without_a_window,
    re.compile(r"output_shape\[i\] = stride\[i\] \* \(input_size\[i\] - 1\) \+ output_padding"): _without_a_result,
    re.compile(r"H/blocksize, W/blocksize"): _of_uneven_blocks,
    re.compile(r"C/\(blocksize \* blocksize\)"): _of_uneven_channels,
    re.compile(r"Used only for blocked quantization"): _blocks_without_scales,
    re.compile(r"only 1 or 2 are supported"): _of_another_order,
    re.compile(r"element value shall be in range of \[0, C\)"): _of_no_class,
    re.compile(r"must be less than the corresponding stride/dilation dimension"): _beyond_the_step,
    _SCALAR: _no_scalar,
}
"""Sentences, and what breaks them: gets the name of the attribute or input that a sentence is about, and the name in the sentence."""


def forbidden(model: Any, values: Mapping[str, Any]) -> str | None:
    """The sentence of the documentation that a model breaks; None where it breaks none of those that OPERA reads.

    Of a model of several nodes only those are checked that want a scalar, since a value between nodes is known by evaluation alone.

    Args:
        model: An onnx.ModelProto.
        values: The model's inputs, by name.
    """
    versions = {entry.domain: entry.version for entry in model.opset_import}
    nodes = [(node, _schema(node, versions)) for node in model.graph.node]
    if len(nodes) > 1:
        nodes = [each for each in nodes if each[1] and any(_SCALAR.search(slot.description or "") for slot in each[1].inputs)]
        values = _evaluated(model, values) if nodes else values
    return next((sentence for node, schema in nodes if schema and (sentence := _broken(node, schema, values))), None)


def _schema(node: Any, versions: Mapping[str, int]) -> Any:
    """The operator's schema; None for an operator that ONNX does not define."""
    try:
        return onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain)
    except onnx.defs.SchemaError:
        return None


def _evaluated(model: Any, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of all names of the main graph; none if the evaluator rejects the model."""
    reference: Any = importlib.import_module("onnx.reference")
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return {**constants, **reference.ReferenceEvaluator(model).run(None, dict(values), intermediate=True)}
        except Exception:  # that is said where the reference is computed
            return {}


def _broken(node: Any, schema: Any, values: Mapping[str, Any]) -> str | None:
    value_of = onnx.helper.get_attribute_value
    documented = DocumentedNode(
        {each.name: value_of(each) for each in node.attribute},
        {name: value_of(each.default_value) for name, each in schema.attributes.items() if each.default_value.type},
        {slot.name: as_array(values[name]) for slot, name in zip(schema.inputs, node.input, strict=False) if is_array(values.get(name))},
    )
    texts = {"": schema.doc}
    texts |= {each.name: each.description for each in schema.inputs}
    texts |= {f"{each.name} of the result": each.description for each in schema.outputs}
    texts |= {name: each.description for name, each in schema.attributes.items()}
    for name, text in texts.items():
        for sentence, breaks in _SENTENCES.items():
            if (found := sentence.search(text or "")) and breaks(documented, name, found[1] if found.re.groups else ""):
                return found[0]
    return None
