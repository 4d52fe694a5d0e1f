"""tensorrt/onnx: Attention: crash when attn_mask is shorter than the keys

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
The mask is padded with -inf to the length of the keys, so that the third value does not count.
Actual: Rejected: Attention: ITensor::getDimensions: Error Code 3: API Usage Error (node_of_out0_AttentionInput: mask must be broadcastable to [batchSize=1, numHeadsQuery=1, sequenceLengthQuery=1, sequenceLengthKeyValue=3]. Received mask with shape [1,1,1,2]
"""

import numpy as np
import onnx
import tensorrt_rtx_bindings as trt

model = onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 24]>
single_operator (float[1,1,1,1] Q, float[1,1,3,1] K, float[1,1,3,1] V, float[1,1,1,2] attn_mask) => (float[1,1,1,1] out0) {
   out0 = Attention (Q, K, V, attn_mask)
}
""")
inputs = {
    "Q": np.array([[[[1.0]]]], np.float32), "K": np.array([[[[1.0], [1.0], [1.0]]]], np.float32),
    "V": np.array([[[[1.0], [3.0], [5.0]]]], np.float32), "attn_mask": np.array([[[[0.0, 0.0]]]], np.float32),
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
