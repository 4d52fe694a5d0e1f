"""tinygrad/onnx: Initializer: float16 in int32_data, its bits are read as the number

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: a tensor of the model is float16, its elements are in int32_data.
Actual: values: expected 1, got 15360 (100% of the elements)
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
weights = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT16, [2], [1.0, 2.5])
graph = onnx.helper.make_graph(
    [onnx.helper.make_node("Identity", ["w"], ["y"])],
    "g",
    [],
    [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT16, [2])],
    [weights],
)
model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
inputs = {}
expected = [np.array([1.0, 2.5], np.float16)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
