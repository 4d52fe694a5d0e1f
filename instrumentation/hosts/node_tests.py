"""Collects the node tests that ONNX ships: one operator each, with inputs and expected outputs.

A test of several nodes spells an operator out, or needs others to make its input. ONNX's reference evaluator says what their values
are, so that each of the nodes is an instance as well.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Dict, Sequence

from ..filters import Filters
from ..onnx import api_name, graph_document, node_document
from ..onnx_inner import inner_models
from ..stream import Document, Stream
from ..wire import Unrecordable
from . import arguments

onnx: Any = importlib.import_module("onnx")

EXPANDED = "_expanded"


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("node-tests")
    parser.add_argument("--inner", choices=("yes", "no"), default="yes", help="also record the nodes of models of several nodes")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    warnings.simplefilter("ignore")
    cases = importlib.import_module("onnx.backend.test.case.node").collect_testcases(None)
    by_name = {case.name: case for case in cases}
    chosen = [case for case in cases if filters.selected(case.name)]
    with Stream(options.recording, "onnx", onnx.__version__, options.source) as stream:
        for index, case in arguments.select(chosen, options):
            stream.enter(index, case.name)
            for number, data in enumerate(case.data_sets):
                stream.begin(f"{options.source}::{case.name}::{number}")
                _record(case, data, by_name, stream, filters)
                if options.inner == "yes" and len(case.model.graph.node) > 1 and not filters.excluded(case.name):
                    stream.begin(f"{options.source}::{case.name}::{number}::nodes")
                    _record_inner(case, data, stream, filters)


def _record(case: Any, data: Any, by_name: Dict[str, Any], stream: Stream, filters: Filters) -> None:
    operator = _operator(case, by_name)
    group = "excluded" if filters.excluded(case.name) else filters.noise(operator)
    if group is not None:
        stream.drop(group if group == "excluded" else f"noise:{group}", operator)
        return
    try:
        stream.record(_document(case, data, operator))
    except Unrecordable as error:
        stream.drop(str(error), operator)
    except Exception as error:
        stream.drop(f"recorder-error:{type(error).__name__}", operator)
        print(f"{case.name}: {type(error).__name__}: {error}", flush=True)


def _record_inner(case: Any, data: Any, stream: Stream, filters: Filters) -> None:
    """Records the nodes of a model of several, each for itself."""
    try:
        found = inner_models(case.model, data[0])
    except Exception as error:
        stream.drop(f"not-evaluated:{type(error).__name__}", _last(case))
        return
    for model, inputs, outputs in found:
        api = api_name(model.graph.node[0])
        group = filters.noise(api)
        if group is not None:
            stream.drop(f"noise:{group}", api)
            continue
        try:
            stream.record(node_document(model, inputs, outputs))
        except Unrecordable as error:
            stream.drop(str(error), api)
        except Exception as error:
            stream.drop(f"recorder-error:{type(error).__name__}", api)


def _last(case: Any) -> str:
    return api_name(case.model.graph.node[-1])


def _document(case: Any, data: Any, operator: str) -> Document:
    inputs, outputs = data
    if len(case.model.graph.node) == 1:
        return node_document(case.model, inputs, outputs)
    return graph_document(case.model, operator, inputs, outputs)


def _operator(case: Any, by_name: Dict[str, Any]) -> str:
    """The operator under test; for a spelled-out function, the operator of the test that it spells out."""
    nodes = case.model.graph.node
    if len(nodes) == 1:
        return api_name(nodes[0])
    original = by_name.get(case.name.split(EXPANDED)[0])
    if original is not None and len(original.model.graph.node) == 1:
        return api_name(original.model.graph.node[0])
    return _last(case)
