"""tensorrt/onnx: MaxPool: wrong shape when ceil_mode=1 and a window would begin in the padding at the end

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test 422adac5c8ef. Fails with: X has several elements, ceil_mode≠0, kernel_shape[0]=1, strides has an entry >1.
Actual: shape: expected [1, 1, 1], the compiled model states [1, 1, 2]
"""

import numpy as np
import onnx
from onnx import helper
import tensorrt_rtx_bindings as trt

node = helper.make_node("MaxPool", ["X"], ["out0"], ceil_mode=1, kernel_shape=[1], strides=[2])
entries = [helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, [1, 1, 2])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT, [1, 1, 1])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
inputs = {"X": np.array([[[2.0, 1.0]]], np.float32)}
expected = [np.array([[[2.0]]], np.float32)]

class Rejected(Exception):
    pass

logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
if not parser.parse(model.SerializeToString()):
    error = parser.get_error(0)
    lines = [line for line in error.desc().splitlines() if "Invalid Node - " not in line and "cudaError 35" not in line]
    raise Rejected(f"{error.node_operator() or 'model'}: " + "\n".join(lines))
outputs = map(network.get_output, range(network.num_outputs))
actual = [np.empty([max(size, 0) for size in output.shape], trt.nptype(output.dtype)) for output in outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
