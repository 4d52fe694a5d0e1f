"""tensorrt/pytorch: torch.nn.functional.softmax, softmin: crash when input has rank 1 or less

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test 573e64b25e83. Fails with: rank(input)≤1.
Actual: Rejected: Softmax: ITensor::getDimensions: Error Code 3: API Usage Error (node_Softmax_0: at least 2 dimensions are required for input. In checkNOrMoreDims at /_src/optimizer/api/network.cpp:865) [INVALID_NODE]
"""

import tensorrt_rtx_bindings as trt
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.softmin(x0, dtype=torch.float32)


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)

class Rejected(Exception):
    pass

logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
if not parser.parse(exported.model_proto.SerializeToString()):
    error = parser.get_error(0)
    lines = [line for line in error.desc().splitlines() if "Invalid Node - " not in line and "cudaError 35" not in line]
    raise Rejected(f"{error.node_operator() or 'model'}: " + "\n".join(lines))
