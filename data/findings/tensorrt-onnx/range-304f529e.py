"""tensorrt/onnx: Range: crash when start is floating-point

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test a0514be9221d. Fails with: dtype(start) is floating-point.
Actual: Rejected: Range: [graphShapeAnalyzer.cpp::checkCalculationStatusSanity::2155] Error Code 2: Internal Error (Assertion !isInFlight(p.second.symbolicRep) failed.  In checkCalculationStatusSanity at /_src/optimizer/shapeof/graphShapeAnalyzer.cpp:2155) [
"""

import numpy as np
import onnx
import tensorrt_rtx_bindings as trt

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float start) => (float[unk__0] out0) 
   <float limit = {1}, float delta = {1}> {
   out0 = Range (start, limit, delta)
}
""")
inputs = {"start": np.array(1.0, np.float32)}

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
