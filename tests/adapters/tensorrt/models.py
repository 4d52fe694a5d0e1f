"""Small ONNX models that TensorRT refuses or fails on; run in its environment, it prints what the adapter makes of each.

python models.py: a JSON list of name, stage, message and reason, as tests/unit/tensorrt/messages.json has it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from opera.compilers.adapter import Subject, declined
from opera.extensions.tensorrt.adapter import TensorRtAdapter
from opera.workers.failure import describe

F, I64, U8, B, F8, I4 = (getattr(TensorProto, each) for each in ("FLOAT", "INT64", "UINT8", "BOOL", "FLOAT8E4M3FN", "INT4"))
Entry = tuple[str, int, list[int]]


def model(nodes: list[Any], inputs: list[Entry], outputs: list[Entry], constants: dict[str, Any] | None = None, opset: int = 21) -> Any:
    """A model of *nodes*; *constants* are arrays."""
    values = [
        each if isinstance(each, TensorProto) else numpy_helper.from_array(np.asarray(each), name)
        for name, each in (constants or {}).items()
    ]
    entries = [[helper.make_tensor_value_info(*each) for each in part] for part in (inputs, outputs)]
    return helper.make_model(helper.make_graph(nodes, "g", *entries, values), opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name, model, and values of its inputs."""
    node = helper.make_node
    plain = np.ones((2, 3), np.float32)
    yield (
        "no-importer",
        model([node("Det", ["x"], ["y"])], [("x", F, [2, 2])], [("y", F, [])], opset=22),
        {"x": np.ones((2, 2), np.float32)},
    )
    yield (
        "no-plugin",
        model([node("DFT", ["x"], ["y"])], [("x", F, [1, 4, 2])], [("y", F, [1, 4, 2])]),
        {"x": np.ones((1, 4, 2), np.float32)},
    )
    yield (
        "no-roi-align",
        model([node("RoiAlign", ["x", "r", "b"], ["y"])], [("x", F, [1, 1, 4, 4]), ("r", F, [1, 4])], [("y", F, [1, 1, 1, 1])], {"b": [0]}),
        {"x": np.ones((1, 1, 4, 4), np.float32), "r": np.ones((1, 4), np.float32)},
    )
    yield (
        "plugin-that-does-not-load",
        model(
            [node("CausalConvWithState", ["x", "w"], ["y", "s"])],
            [("x", F, [1, 1, 4]), ("w", F, [1, 1, 2])],
            [("y", F, [1, 1, 4]), ("s", F, [1, 1, 1])],
            opset=27,
        ),
        {"x": np.ones((1, 1, 4), np.float32), "w": np.ones((1, 1, 2), np.float32)},
    )
    yield (
        "strings",
        model([node("StringNormalizer", ["x"], ["y"])], [("x", TensorProto.STRING, [2])], [("y", TensorProto.STRING, [2])]),
        {"x": np.array(["a", "b"], object)},
    )
    yield (
        "uint8-add",
        model([node("Add", ["x", "x"], ["y"])], [("x", U8, [2])], [("y", U8, [2])]),
        {"x": np.ones(2, np.uint8)},
    )
    yield (
        "uint8-max",
        model([node("Max", ["x", "c"], ["y"])], [("x", U8, [2])], [("y", U8, [2])], {"c": np.ones(2, np.uint8)}),
        {"x": np.ones(2, np.uint8)},
    )
    yield (
        "cast-to-uint32",
        model([node("Cast", ["x"], ["y"], to=TensorProto.UINT32)], [("x", F, [2, 3])], [("y", TensorProto.UINT32, [2, 3])]),
        {"x": plain},
    )
    yield "cast-to-float8", model([node("Cast", ["x"], ["y"], to=F8)], [("x", F, [2, 3])], [("y", F8, [2, 3])]), {"x": plain}
    yield (
        "axes-given-at-run-time",
        model([node("Squeeze", ["x", "a"], ["y"])], [("x", F, [1, 3]), ("a", I64, [1])], [("y", F, [3])]),
        {"x": np.ones((1, 3), np.float32), "a": np.array([0])},
    )
    yield (
        "zero-point-given-at-run-time",
        model(
            [node("QuantizeLinear", ["x", "s", "z"], ["y"])],
            [("x", F, [2, 3]), ("s", F, []), ("z", TensorProto.INT8, [])],
            [("y", TensorProto.INT8, [2, 3])],
        ),
        {"x": plain, "s": np.float32(1), "z": np.int8(0)},
    )
    yield (
        "zero-point-that-is-not-zero",
        model(
            [node("QuantizeLinear", ["x", "s", "z"], ["y"])],
            [("x", F, [2, 3])],
            [("y", TensorProto.INT8, [2, 3])],
            {"s": np.float32(1), "z": np.int8(3)},
        ),
        {"x": plain},
    )
    yield (
        "zero-point-of-uint16",
        model(
            [node("QuantizeLinear", ["x", "s", "z"], ["y"])],
            [("x", F, [2, 3])],
            [("y", TensorProto.UINT16, [2, 3])],
            {"s": np.float32(1), "z": np.uint16(0)},
        ),
        {"x": plain},
    )
    yield (
        "dilated-pooling",
        model(
            [node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], dilations=[2, 2])],
            [("x", F, [1, 1, 4, 4])],
            [("y", F, [1, 1, 2, 2])],
        ),
        {"x": np.ones((1, 1, 4, 4), np.float32)},
    )
    four = np.ones((1, 1, 2, 4), np.float32)
    attention: list[Entry] = [(name, F, [1, 1, 2, 4]) for name in "qkv"]
    yield (
        "attention-with-two-masks",
        model(
            [node("Attention", ["q", "k", "v", "m"], ["y"], is_causal=1)],
            [*attention, ("m", F, [2, 2])],
            [("y", F, [1, 1, 2, 4])],
            opset=23,
        ),
        {"q": four, "k": four, "v": four, "m": np.zeros((2, 2), np.float32)},
    )
    yield (
        "attention-with-two-outputs",
        model(
            [node("Attention", ["q", "k", "v"], ["y", "", "", "w"])],
            attention,
            [("y", F, [1, 1, 2, 4]), ("w", F, [1, 1, 2, 2])],
            opset=23,
        ),
        {"q": four, "k": four, "v": four},
    )
    branches = [
        helper.make_graph([node("Constant", [], ["o"], value_floats=[1.0])], "t", [], [helper.make_tensor_value_info("o", F, [1])]),
        helper.make_graph([node("Constant", [], ["o"], value_float=1.0)], "e", [], [helper.make_tensor_value_info("o", F, [])]),
    ]
    yield (
        "branches-of-two-ranks",
        model(
            [node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
            [("c", B, [])],
            [("y", F, None)],  # type: ignore[list-item]
        ),
        {"c": np.array(True)},
    )
    yield (
        "nms",
        model(
            [node("NonMaxSuppression", ["b", "s"], ["y"])],
            [("b", F, [1, 1, 4]), ("s", F, [1, 1, 1])],
            [("y", I64, ["n", 3])],  # type: ignore[list-item]
        ),
        {"b": np.ones((1, 1, 4), np.float32), "s": np.ones((1, 1, 1), np.float32)},
    )
    yield (
        "int4-of-odd-size",
        model(
            [node("DequantizeLinear", ["x", "s"], ["y"])],
            [("x", I4, [5])],
            [("y", F, [5])],
            {"s": np.float32(1)},
        ),
        {"x": np.ones(5, np.int8)},
    )
    yield (
        "int4-of-odd-size-with-zero-point",
        model([node("DequantizeLinear", ["x", "s", "z"], ["y"], axis=0)], [("x", I4, [5]), ("s", F, []), ("z", I4, [1])], [("y", F, [5])]),
        {"x": np.ones(5, np.int8), "s": np.float32(1), "z": np.zeros(1, np.int8)},
    )
    yield (
        "strided-and-dilated-deconvolution",
        model(
            [node("ConvTranspose", ["x", "w"], ["y"], strides=[3], dilations=[4], pads=[1, 1])],
            [("x", F, [1, 2, 4])],
            [("y", F, [1, 2, 20])],
            {"w": np.ones((2, 2, 4), np.float32)},
        ),
        {"x": np.ones((1, 2, 4), np.float32)},
    )
    yield (
        "constant-of-uint8",
        model([node("Constant", [], ["y"], value=numpy_helper.from_array(np.uint8(1)))], [], [("y", U8, [])]),
        {},
    )
    yield (
        "top-of-more-than-3840",
        model([node("TopK", ["x", "k"], ["y", "i"])], [("x", F, [3841])], [("y", F, [3841]), ("i", I64, [3841])], {"k": [3841]}),
        {"x": np.ones(3841, np.float32)},
    )
    # Faults: no rule may cover them.
    yield "fault-mean-of-a-scalar", model([node("ReduceMean", ["x"], ["y"])], [("x", F, [])], [("y", F, [])]), {"x": np.float32(1)}
    vector = np.ones(2, np.float32)
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        yield (
            f"fault-{operator.lower()}-of-a-vector",
            model([node(operator, ["x"], ["y"])], [("x", F, [2])], [("y", F, [2])]),
            {"x": vector},
        )
    yield "fault-argmax-of-a-vector", model([node("ArgMax", ["x"], ["y"])], [("x", F, [2])], [("y", I64, [1])]), {"x": vector}
    yield (
        "fault-reversed-empty-axis",
        model(
            [node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
            [("x", F, [0])],
            [("y", F, [0])],
            {"s": [-1], "e": [-(2**63)], "a": [0], "t": [-1]},
        ),
        {"x": np.ones(0, np.float32)},
    )
    yield (
        "fault-dot-of-empty-vectors",
        model([node("MatMul", ["a", "b"], ["y"])], [("a", F, [0]), ("b", F, [0])], [("y", F, [])]),
        {"a": np.ones(0, np.float32), "b": np.ones(0, np.float32)},
    )
    yield (
        "fault-vector-times-matrices",
        model([node("MatMul", ["a", "b"], ["y"])], [("a", F, [4]), ("b", F, [2, 4, 1])], [("y", F, [2, 1])]),
        {"a": np.ones(4, np.float32), "b": np.ones((2, 4, 1), np.float32)},
    )
    yield (
        "fault-range-of-floats",
        model([node("Range", ["a", "b", "c"], ["y"])], [(name, F, []) for name in "abc"], [("y", F, ["n"])]),  # type: ignore[list-item]
        {"a": np.float32(1), "b": np.float32(5), "c": np.float32(2)},
    )


def main() -> None:
    """Prints what the adapter makes of each model."""
    adapter = TensorRtAdapter({})
    adapter.start()
    found: list[dict[str, str | None]] = []
    for name, made, inputs in cases():
        now = ["load"]
        subject = Subject(adapter.routes[0], made.SerializeToString(), inputs, len(made.graph.output), lambda: None)  # type: ignore[arg-type]
        try:
            adapter.compile(adapter.load(subject, now.append), subject, now.append)
        except Exception as error:
            failure = describe(error)
            rule = declined(adapter.unsupported, failure, now[-1])
            found.append({"name": name, "stage": now[-1], "reason": rule and rule.reason, "message": str(failure["message"])})
        else:
            found.append({"name": name, "stage": "", "reason": None, "message": ""})
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
