"""tensorrt/onnx: Attention: crash when the heads of V have another size than those of K

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test 629c8cc54071.
Actual: Rejected: Attention: ITensor::getDimensions: Error Code 3: API Usage Error (node_of_out0_AttentionInput: Key and Value must have the same shape In validate at /_src/optimizer/api/layers/attentionInputLayer.cpp:177) [INVALID_NODE]
"""

import numpy as np
import onnx
import tensorrt_rtx_bindings as trt

model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
single_operator (float[1,1,1,2] Q, float[1,1,1,2] K, float[1,1,1,1] V) => (float[1,1,1,1] out0) {
   out0 = Attention (Q, K, V)
}
""")
inputs = {
    "Q": np.array([[[[1.0, 2.0]]]], np.float32), "K": np.array([[[[2.0, 1.0]]]], np.float32),
    "V": np.array([[[[1.0]]]], np.float32),
}

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
