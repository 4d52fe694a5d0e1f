"""tensorrt/pytorch: torch.linalg.vecdot, torch.dot: crash when both inputs are empty vectors

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test ce709115dd97. Fails with: rank(input)=1, rank(other)=1, input is empty.
Actual: Rejected: IBuilder::buildSerializedNetwork: Error Code 1: Myelin ([myelin_graph.h:1295: attachExceptionMsgToGraph] MyelinCheckException: const_ppg.cpp:3930: CHECK(output_dims.size() != 0) failed.  In compileGraph at /_src/optimizer/myelin/codeGenerat
"""

import tensorrt_rtx_bindings as trt
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.linalg.vecdot(x0, x1)


model = Model()
inputs = (torch.zeros((0,), dtype=torch.float32), torch.zeros((0,), dtype=torch.float32))

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
inputs = {entry.name: value.contiguous().numpy() for entry, value in zip(exported.model_proto.graph.input, inputs)}

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
if not parser.parse(exported.model_proto.SerializeToString()):
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
