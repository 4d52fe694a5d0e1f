"""The nodes of an ONNX model as models of their own, with the values that ONNX's reference evaluator finds for them."""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Sequence, Tuple, cast

onnx: Any = importlib.import_module("onnx")
np: Any = importlib.import_module("numpy")

Inner = Tuple[Any, List[Any], List[Any]]
"""A model of one node, its inputs, and its outputs."""


def inner_models(model: Any, inputs: Sequence[Any]) -> List[Inner]:
    """The nodes of *model*, run on *inputs*; those left out that have subgraphs, which may look at values outside."""
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(model)
    feeds = {info.name: _array(value) for info, value in zip(model.graph.input, inputs)}  # noqa: B905
    known: Dict[str, Any] = {**feeds, **evaluator.run(None, feeds, intermediate=True)}
    known.update({tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer})
    inferred = onnx.shape_inference.infer_shapes(model).graph
    declared = {info.name: info for info in (*inferred.input, *inferred.value_info, *inferred.output)}
    found: List[Inner] = []
    for node in model.graph.node:
        infos = {name: _info(name, known.get(name), declared) for name in (*node.input, *node.output) if name}
        if _is_plain(node) and all(info is not None for info in infos.values()):
            found.append(_single(model, node, infos, known))
    return found


def _array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _is_plain(node: Any) -> bool:
    return not any(attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for attribute in node.attribute)


def _single(model: Any, node: Any, infos: Dict[str, Any], known: Dict[str, Any]) -> Inner:
    given = [name for name in dict.fromkeys(node.input) if name]
    made = [name for name in node.output if name]
    graph = onnx.helper.make_graph([node], "inner", [infos[name] for name in given], [infos[name] for name in made])
    single = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return single, [known[name] for name in given], [known[name] for name in made]


def _info(name: str, value: Any, declared: Dict[str, Any]) -> Any:
    """The declaration of a value; None where it is neither a tensor nor a sequence of tensors of one type."""
    if isinstance(value, (np.ndarray, np.generic)):
        return onnx.helper.make_tensor_value_info(name, _type(value), value.shape)
    if not isinstance(value, list):
        return None
    items = cast("List[Any]", value)
    if items and all(item.dtype == items[0].dtype for item in items):
        return onnx.helper.make_tensor_sequence_value_info(name, _type(items[0]), None)
    return None if items else declared.get(name)


def _type(value: Any) -> int:
    if value.dtype.kind in "OSUT":
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(value.dtype))
