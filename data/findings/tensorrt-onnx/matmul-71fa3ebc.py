"""tensorrt/onnx: MatMul: crash when A is a vector and B a stack of matrices

Seen with onnx 1.23.2, tensorrt_rtx_bindings 1.7.1.116, gpu none, precision as the model says, no TF32, level 3, runs no.
Reduced from test cfac5e591d21. Fails with: rank(A)=1, rank(B)≥3, a size of B before its last two is not 1.
Actual: Rejected: MatMul: ITensor::getDimensions: Error Code 4: Shape Error (reshape changes volume to multiple of original non-zero volume. Reshaping [2,1,1] to [1,1]. In operator() at /_src/optimizer/common/shape/shapeContext.cpp:4633) [INVALID_NODE]
"""

import numpy as np
import onnx
from onnx import helper
import tensorrt_rtx_bindings as trt

node = helper.make_node("MatMul", ["A", "B"], ["out0"])
tensor = helper.make_tensor_value_info
entries = [tensor("A", onnx.TensorProto.FLOAT, [1]), tensor("B", onnx.TensorProto.FLOAT, [2, 1, 1])]
results = [tensor("out0", onnx.TensorProto.FLOAT, [2, 1])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
inputs = {"A": np.array([1.0], np.float32), "B": np.array([[[2.0]], [[1.0]]], np.float32)}

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
