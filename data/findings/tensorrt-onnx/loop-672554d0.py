"""tensorrt/onnx: Loop: crash (internal assertion) when cond and the initial value are constants

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Actual: Rejected: [graphScope.cpp::makeScopeNodesContiguous::812] Error Code 2: Internal Error (Assertion newNodeOrder.size() == g.nodes.size() failed.  In makeScopeNodesContiguous at /_src/optimizer/common/graphScope.cpp:812)
"""

import numpy as np
import onnx
import tensorrt_rtx_bindings as trt

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 11]>
single_operator (int64 M) => (float[1] out0, float[5,1] out1)   <bool cond = {1}, float[1] v_initial = {-2}> {
   out0, out1 = Loop (M, cond, v_initial) <body: graph = graph (int64 input0, bool input1, float[1] input2) => (bool
       output0, float[1] output1, float[1] output2) {  output0 = Identity (input1)
      value6 = Constant <value: tensor = float[5] const_tensor_x {1,2,3,4,5}> ()
      value7 = Constant <value: tensor = int64 const_tensor_one {1}> ()  value8 = Add (input0, value7)
      value9 = Unsqueeze <axes: ints = [0]> (input0)  value10 = Unsqueeze <axes: ints = [0]> (value8)
      value11 = Slice (value6, value9, value10)  output1 = Add (input2, value11)  output2 = Identity (output1)  }>  }
""")
inputs = {"M": np.array(5, np.int64)}

class Rejected(Exception):
    pass

class Logger(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.lines = []

    def log(self, severity, msg):
        if severity in (self.INTERNAL_ERROR, self.ERROR) and "cudaError 35" not in msg:  # no driver
            self.lines.append(msg)

logger = Logger()
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
if not parser.parse(model.SerializeToString()):
    error = parser.get_error(0)
    lines = [line for line in error.desc().splitlines() if "Invalid Node - " not in line and "cudaError 35" not in line]
    raise Rejected(f"{error.node_operator() or 'model'}: " + "\n".join(lines))
config = builder.create_builder_config()
profile = builder.create_optimization_profile()
for entry in map(network.get_input, range(network.num_inputs)):
    if entry.name not in inputs:
        raise Rejected(f"the network asks for an input that the model does not have: {entry.name!r}")
    if entry.is_shape_tensor:
        profile.set_shape_input(entry.name, *[inputs[entry.name].reshape(-1).tolist()] * 3)
        config.add_optimization_profile(profile)
if builder.build_serialized_network(network, config) is None:
    raise Rejected("\n".join(logger.lines) or "the builder gave no engine")
