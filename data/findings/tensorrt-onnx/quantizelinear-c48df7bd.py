"""tensorrt/onnx: QuantizeLinear: dtype int8 for uint8 when y_zero_point is a constant 0 of uint8

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test a8b258f08ccf.
Actual: dtype: expected uint8, the compiled model states int8
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper
import tensorrt_rtx_bindings as trt

node = helper.make_node("QuantizeLinear", ["x", "y_scale"], ["out0"])
entries = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.UINT8, [2])]
constants = [numpy_helper.from_array(np.array(1.0, np.float32), "y_scale")]
graph = helper.make_graph([node], "single_operator", entries, results, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=10)
inputs = {"x": np.array([1.0, 2.0], np.float32)}
expected = [np.array([1, 2], np.uint8)]

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
    assert got.dtype == want.dtype, f"expected dtype {want.dtype}, got {got.dtype}"
