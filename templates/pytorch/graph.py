"""PyTorch models as `torch.fx` graphs with the operator as one node, as symbolic tracing gives them."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Sequence
from typing import Any

from opera.models.forms import OUTCOME
from opera.models.template import Invalid
from opera.templates.call_arguments import filled
from opera.templates.pytorch.model import PyTorchModel

torch: Any = importlib.import_module("torch")


def graph_module(model: PyTorchModel) -> Any:
    """A `torch.fx.GraphModule` with a placeholder per input and a tuple of every tensor of the result.

    Raises:
        Invalid: the result is neither a tensor nor a flat sequence of them.
    """
    if model.instance.context_value(OUTCOME) is not None:
        raise Invalid("capture-failed:fx")  # the graph has one node, and gives results
    result = model.module.operator_result(*model.fresh_tensors())
    leaves = [result] if isinstance(result, torch.Tensor) else list(result)
    if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise Invalid("capture-failed:fx")
    graph = torch.fx.Graph()
    values = [graph.placeholder(name) for name, _ in model.inputs]
    if model.module.in_place:
        values = [graph.call_method("clone", (value,)) for value in values]
    node = _operator_node(model, graph, values)
    parts = [node] if isinstance(result, torch.Tensor) else [graph.call_function(operator.getitem, (node, i)) for i in range(len(leaves))]
    graph.output(tuple(parts))
    return torch.fx.GraphModule(model.module, graph)


def _operator_node(model: PyTorchModel, graph: Any, values: Sequence[Any]) -> Any:
    """The operator applied to *values*, nodes of *graph*."""
    module = model.module
    positional = filled(tuple(module.positional), values)
    keywords = {name: filled(item, values) for name, item in module.keywords.items()}
    if isinstance(module.operator, torch.nn.Module):
        return graph.call_module("operator", positional, keywords)
    if model.instance.api.startswith("torch.Tensor."):
        return graph.call_method(model.instance.operator, positional, keywords)
    return graph.call_function(module.function, positional, keywords)
