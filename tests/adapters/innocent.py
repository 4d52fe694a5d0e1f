"""Tempting false alarms: real compilers differ from the library on these instances, raise or die, and no finding may come of it."""

from __future__ import annotations

import numpy as np
from instances import keras_call, node, tensor, tf_call, torch_call

from opera.instance import Argument, DType, Instance, Kind

NAN, INFINITY = float("nan"), float("inf")
NODES = (
    node("Div", 14, A=tensor([1, 2, -3], "int32"), B=tensor([0, 1, 2], "int32")),
    node("Mod", 13, A=tensor([1, 2, -3], "int32"), B=tensor([0, 1, 2], "int32")),
    node("BitShift", 11, {"direction": "LEFT"}, X=tensor([1, 2], "uint32"), Y=tensor([32, 40], "uint32")),
    node("Cast", 13, {"to": 6}, input=tensor([1e20, NAN, -INFINITY, 2.5])),
    node("Cast", 13, {"to": 2}, input=tensor([300, -1, NAN, 2.9])),
    node("GatherElements", 13, {"axis": 0}, data=tensor([[1, 2], [3, 4], [5, 6]]), indices=tensor([[9, 0]], "int64")),
    node("QuantizeLinear", 13, x=tensor([0.5, 300, NAN]), y_scale=tensor(1), y_zero_point=tensor(0, "uint8")),
    node("Abs", 13, X=tensor([-128, 5], "int8")),
    node("Neg", 13, X=tensor([-128, 5], "int8")),
    node("Max", 13, data_0=tensor([NAN, 1]), data_1=tensor([1, NAN])),
    node("Mul", 14, A=tensor([1e-40, 1e-45]), B=tensor([1, 1])),
    node("Div", 14, A=tensor([3e-310, 1e-40, 1e300, 6], "float64"), B=tensor([1e-310, 2e-40, 1e299, 3], "float64")),
    node("Equal", 13, A=tensor([1, 1], "float64"), B=tensor([1 + 1e-12, 2], "float64")),
    node("TopK", 11, {"sorted": 0}, X=tensor([3, 1, 2, 5, 4]), K=tensor([3], "int64")),
    node("RandomUniformLike", 1, {"dtype": 1}, input=tensor([1, 2, 3])),
    node("Range", 11, start=tensor(0), limit=tensor(0.3), delta=tensor(0.1)),
    node("Resize", 19, {"mode": "linear"}, X=tensor(np.arange(25).reshape(1, 1, 5, 5)), roi=tensor([]), scales=tensor([1, 1, 1.4, 1.4])),
    node("QuantizeLinear", 13, x=tensor([1e10, -INFINITY, 2.5]), y_scale=tensor(1), y_zero_point=tensor(0, "uint8")),
    node("ReduceMean", 18, {"keepdims": 0}, data=tensor(np.zeros(0))),
    node("ReduceMax", 18, {"keepdims": 0}, data=tensor([1, NAN, 2])),
    node("Clip", 13, input=tensor([NAN, 5]), min=tensor(0), max=tensor(1)),
)
IMAGE = np.random.default_rng(0).integers(0, 256, (1, 3, 27, 27))
ROWS = tensor([[[[1, 2], [3, -1]]]])
CALLS = (
    torch_call("torch.atan2", tensor([0.0, -0.0, 0.0, -0.0]), tensor([-0.0, -0.0, 0.0, -1.0])),
    torch_call("torch.abs", tensor([-128, 5], "int8")),
    torch_call("torch.exp", tensor([88.72, 1.0])),
    torch_call("torch.remainder", tensor([1e10]), tensor([0.3])),
    torch_call("torch.empty_like", tensor([1, 2])),
    torch_call("torch.nn.functional.grid_sample", tensor(np.ones((1, 1, 4, 4))), tensor([[[[NAN, 0.0], [0.1, 0.1]]]])),
    torch_call("torch.nn.functional.interpolate", tensor(IMAGE, "uint8"), size=(13, 13), mode="bilinear"),
    torch_call("torch.nn.functional.interpolate", tensor(IMAGE, "uint8"), size=(13, 40), mode="bicubic"),
    torch_call("torch.nn.functional.scaled_dot_product_attention", ROWS, ROWS, ROWS, attn_mask=tensor([[False] * 2, [True] * 2], "bool")),
    torch_call("torch.remainder", tensor([7.5, 3], "float64"), tensor([0.3, 2], "float64")),
    torch_call("torch.floor", tensor([1 - 1e-12, 2.5], "float64")),
    torch_call("torch.arange", start=1.0, end=2.2, step=0.3),
)
TENSORFLOW = (
    tf_call("tf.math.floordiv", tensor([7, -7, -128], "int8"), tensor([2, 2, -1], "int8")),
    tf_call("tf.random.stateless_uniform", (3, 3), seed=tensor([1, 2], "int32")),
    tf_call("tf.math.argmax", tensor([1, 3, 3, NAN])),
    tf_call("tf.math.maximum", tensor([NAN, 1]), tensor([1, NAN])),
    tf_call("tf.sort", tensor([3, NAN, 1, 2])),
    tf_call("tf.math.sign", tensor([NAN, 3])),
    tf_call("tf.searchsorted", tensor([3, 1, 2]), tensor([1.5])),
    tf_call("tf.histogram_fixed_width_bins", tensor([NAN, 0.0, 1.0, 0.5]), tensor([0, 1]), nbins=4),
    tf_call("tf.quantization.fake_quant_with_min_max_args", tensor([0.5, NAN, 100.0])),
    tf_call("tf.tensor_scatter_nd_max", tensor([0.5, 1]), tensor([[1], [1]], "int32"), tensor([NAN, 2])),
    tf_call("tf.linalg.inv", tensor([[1, 2], [2, 4.0000005]])),
    tf_call("tf.linalg.svd", tensor([[1, 2, 3], [4, 5, 6], [7, 8, 10], [1, -1, 2]])),
    tf_call("tf.math.pow", tensor([0, 4], "complex64"), tensor([0, 0.5], "complex64")),
    tf_call("tf.quantization.quantize", tensor([0.5, 1.5]), -1.0, 1.0, DType("qint8")),
    tf_call("tf.signal.fft", tensor([1, 2, 3 + 1j], "complex64")),
    tf_call("tf.cast", tensor([1 + 2j], "complex64"), DType("float32")),
)
NOT_ONE_GRAPH = (
    torch_call("torch.tensor_split", tensor(np.arange(6)), tensor(3, "int64")),
    torch_call("torch.atan2", tensor([0.0, -0.0]), tensor([-0.0, -1.0])),
)
REVERSE = tf_call("tf.reverse", tensor([[1, 2], [3, 4]]), axis=[0, 1])
WIDE = tf_call("tf.cast", [1.0, 2.0], DType("complex128"))
MEAN = tf_call("tf.math.reduce_mean", tensor([2**30] * 3, "int32"))
NOISE = (Argument("inputs", tensor(np.ones((2, 3)))), Argument("training", True, keyword=True))
KERAS = (
    Instance("keras", "keras.layers.GaussianNoise", Kind.MODULE, (Argument("stddev", 1.0),), NOISE),
    keras_call("keras.ops.image.resize", tensor(np.arange(25).reshape(1, 5, 5, 1)), (10, 3), interpolation="bicubic"),
    keras_call("keras.ops.max_pool", tensor([[[NAN], [1], [2], [3]]]), 2),
    keras_call("keras.ops.prod", tensor([[100] * 5, [2] * 5], "int32"), axis=1),
    keras_call("keras.ops.top_k", tensor([1, 2, NAN, 2]), k=2),
)

INNOCENT: dict[tuple[str, str], tuple[Instance, ...]] = {
    ("tvm", "onnx"): NODES,
    ("openvino", "onnx"): NODES,
    ("onnxruntime", "onnx"): NODES,
    ("openvino", "pytorch"): CALLS,
    ("inductor", "pytorch"): NOT_ONE_GRAPH,
    ("xla", "tensorflow"): (*TENSORFLOW, MEAN),
    ("openvino", "tensorflow"): (*TENSORFLOW, MEAN),
    ("litert", "tensorflow"): TENSORFLOW,
    ("tvm", "tflite"): (*TENSORFLOW, REVERSE),
    ("openvino", "tflite"): (WIDE,),
    ("onnxruntime", "keras"): KERAS,
}
"""By compiler and frontend. The campaigns of the tests beside this module run them with their other instances."""
