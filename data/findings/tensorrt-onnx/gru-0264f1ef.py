"""tensorrt/onnx: GRU: wrong shape of Y_h when layout=1

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Actual: shape: expected [3, 1, 6], the compiled model states [1, 1, 6]
"""

import numpy as np
import onnx
import tensorrt_rtx_bindings as trt

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[3,1,2] X, float[1,18,2] W, float[1,18,6] R) => (float[3,1,1,6] out0, float[3,1,6] out1) {
   out0, out1 = GRU <hidden_size: int = 6, layout: int = 1> (X, W, R)
}
""")
inputs = {
    "X": np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]], np.float32), "W": np.full((1, 18, 2), 0.2, np.float32),
    "R": np.full((1, 18, 6), 0.2, np.float32),
}
expected = [
    np.array([[[[0.1903, 0.1903, 0.1903, 0.1903, 0.1903, 0.1903]]], [[[0.175137, 0.175137,
    0.175137, 0.175137, 0.175137, 0.175137]]], [[[0.0973308, 0.0973308, 0.0973308, 0.0973308, 0.0973308,
    0.0973308]]]], np.float32),
    np.array([[[0.1903, 0.1903, 0.1903, 0.1903, 0.1903, 0.1903]], [[0.175137, 0.175137, 0.175137,
    0.175137, 0.175137, 0.175137]], [[0.0973308, 0.0973308, 0.0973308, 0.0973308, 0.0973308, 0.0973308]]],
    np.float32),
]

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
