"""Small ONNX models that a plug-in provider refuses or fails on; run in its environment, it prints what the adapter makes of each.

python models.py CLASS: a JSON list of name, provider, stage, type, message and reason, as messages.json has it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from opera.compilers.adapter import Subject, declined
from opera.extensions.providers import plugins
from opera.workers.failure import describe

F, H, I16, I64, B = (getattr(TensorProto, each) for each in ("FLOAT", "FLOAT16", "INT16", "INT64", "BOOL"))
SQUARE = np.ones((2, 2), np.float32)
IMAGE = np.ones((1, 1, 3, 3), np.float32)


def model(node: Any, inputs: list[Any], outputs: list[Any], opset: int = 18) -> Any:
    """A model of one node."""
    entries = [[helper.make_tensor_value_info(*each) for each in part] for part in (inputs, outputs)]
    return helper.make_model(helper.make_graph([node], "g", *entries), opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name, model, and values of its inputs. All are valid; no rule may cover one whose name begins with `fault`."""
    node, entry = helper.make_node, helper.make_tensor_value_info
    yield "on-the-cpu", model(node("Det", ["x"], ["y"]), [("x", F, [2, 2])], [("y", F, [])]), {"x": SQUARE}
    branches = [helper.make_graph([node("Det", ["x"], [name])], name, [], [entry(name, F, [])]) for name in "tf"]
    yield (
        "on-the-cpu-in-a-branch",
        model(node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1]), [("c", B, []), ("x", F, [2, 2])], [("y", F, [])]),
        {"c": np.array(True), "x": SQUARE},
    )
    yield "constants", model(node("Constant", [], ["y"], value_floats=[1.0]), [], [("y", F, [1])]), {}
    yield "opset-of-the-future", model(node("Relu", ["x"], ["y"]), [("x", F, [2, 2])], [("y", F, [2, 2])], 99), {"x": SQUARE}
    yield (
        "int16",
        model(node("Identity", ["x"], ["y"]), [("x", I16, [2])], [("y", I16, [2])]),
        {"x": np.ones(2, np.int16)},
    )
    yield (
        "convolution-of-images",
        model(node("Conv", ["x", "w"], ["y"]), [("x", F, [1, 1, 3, 3]), ("w", F, [1, 1, 2, 2])], [("y", F, [1, 1, 2, 2])]),
        {"x": IMAGE, "w": SQUARE[None, None]},
    )
    yield (
        "transposed-convolution-of-images",
        model(node("ConvTranspose", ["x", "w"], ["y"]), [("x", F, [1, 1, 3, 3]), ("w", F, [1, 1, 2, 2])], [("y", F, [1, 1, 4, 4])]),
        {"x": IMAGE, "w": SQUARE[None, None]},
    )
    yield (
        "resize-with-antialias",
        model(node("Resize", ["x", "", "s"], ["y"], antialias=1, mode="linear"), [("x", F, [1, 1, 3, 3]), ("s", F, [4])], [("y", F, None)]),
        {"x": IMAGE, "s": np.array([1, 1, 0.5, 0.5], np.float32)},
    )
    yield (
        "fault-mean-of-layer-normalization",
        model(node("LayerNormalization", ["x", "s"], ["y", "m"]), [("x", F, [2, 2]), ("s", F, [2])], [("y", F, [2, 2]), ("m", F, [2, 1])]),
        {"x": SQUARE, "s": np.ones(2, np.float32)},
    )
    yield "fault-maximum-of-one", model(node("Max", ["x"], ["y"]), [("x", F, [2, 2])], [("y", F, [2, 2])]), {"x": SQUARE}


def main(name: str) -> None:
    """Prints what the adapter makes of each model."""
    adapter = getattr(plugins, name)({})
    adapter.start()
    found: list[dict[str, Any]] = []
    for case, made, inputs in cases():
        now = ["load"]
        subject = Subject(adapter.routes[0], made.SerializeToString(), inputs, len(made.graph.output), lambda: None)  # type: ignore[arg-type, return-value]
        try:
            loaded = adapter.load(subject, now.append)
            now.append("run")
            adapter.run(adapter.compile(loaded, subject, now.append), subject, now.append)
        except Exception as error:
            failure = describe(error)
            rule = declined(adapter.unsupported, failure, now[-1])
            facts = {"type": failure["type"], "reason": rule and rule.reason, "message": str(failure["message"])}
            found.append({"name": case, "provider": adapter.name, "stage": now[-1], **facts})
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
