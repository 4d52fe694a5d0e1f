"""ONNX Runtime with a planted fault, which the environment names: a wrong operator, two that are wrong together, or one that crashes."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
from typing import Any

from opera.compilers.adapter import Stage, Subject
from opera.compilers.onnxruntime import OnnxRuntimeAdapter


class Broken(Exception):
    """The planted crash."""


class FaultyAdapter(OnnxRuntimeAdapter):
    """Multiplies what the faulty operators give by a factor, or refuses them."""

    name = "faulty"

    def load(self, subject: Subject, stage: Stage) -> Any:
        fault = json.loads(os.environ.get("OPERA_FAULT", "{}"))
        onnx = importlib.import_module("onnx")
        model = onnx.load_model_from_string(subject.data)
        if any(node.op_type == fault.get("crash") for node in model.graph.node):
            raise Broken(f"no {fault['crash']} here")
        faulty = [name for name in _faulty(model, fault) if name]
        if faulty and "factor" not in fault:
            raise Broken("two operators become one")
        if faulty:
            subject = dataclasses.replace(subject, data=_planted(onnx, model, faulty, float(fault["factor"])).SerializeToString())
        return super().load(subject, stage)


def _faulty(model: Any, fault: dict[str, Any]) -> list[str]:
    """The values that are wrong."""
    made = {name: node for node in model.graph.node for name in node.output}
    found: list[str] = []
    for node in model.graph.node:
        if node.op_type == fault.get("operator"):
            found.append(node.output[0])
        if "edge" in fault and node.op_type == fault["edge"][1]:
            first = made.get(node.input[0])
            outputs = {each.name for each in model.graph.output}
            if first is not None and first.op_type == fault["edge"][0] and node.input[0] not in outputs:
                found.append(node.output[0])
    return found


def _planted(onnx: Any, model: Any, faulty: list[str], factor: float) -> Any:
    """*model* with a product behind each of the values *faulty*."""
    nodes: list[Any] = []
    for node in model.graph.node:
        nodes.append(node)
        for index, name in enumerate(node.output):
            if name in faulty:
                node.output[index] = f"{name}__right"
                nodes.append(onnx.helper.make_node("Mul", [f"{name}__right", "factor__planted"], [name]))
    copied = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copied)
    import numpy as np

    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(factor), "factor__planted"))
    return model
