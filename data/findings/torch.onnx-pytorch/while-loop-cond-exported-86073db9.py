"""torch.onnx/pytorch: torch.while_loop: crash when its body or condition has a torch.cond

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: the body or the condition of a while_loop contains a torch.cond that depends on a tensor.
Actual: RuntimeError: An error occurred when running the InlinePass. ValueError: Opset mismatch when inlining function while_loop_body_graph_0
"""

import numpy as np
import onnxruntime as ort
import torch
from torch._higher_order_ops.while_loop import while_loop


class Model(torch.nn.Module):
    def forward(self, x0):
        def goes_on(state):
            return torch.sum(state) < 20

        def once(state):
            return (torch.cond(torch.sum(state) > 10, lambda value: value * 3, lambda value: value + 1, (state,)),)

        return while_loop(goes_on, once, (x0,))[0]


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
