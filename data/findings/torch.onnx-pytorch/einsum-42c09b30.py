"""torch.onnx (exporter, before onnxruntime): torch.einsum: crash when the ellipses stand for different numbers of dimensions

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Reduced from test ad6b3190daa3. Fails with: the ellipses of two operands stand for different numbers of dimensions.
Actual: Fail: Node (node_einsum) Op (Einsum) [ShapeInferenceError] Ellipsis represents incompatible dimensions.
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.einsum('...ik, ...j -> ij', [x0, x1])


model = Model()
inputs = (torch.tensor([[[2.0], [1.0]]]), torch.tensor([2.0, 1.0]))
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
