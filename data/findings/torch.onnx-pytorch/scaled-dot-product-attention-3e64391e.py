"""torch.onnx (exporter, before onnxruntime): torch.nn.functional.scaled_dot_product_attention: no dropout when dropout_p>0

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization none.
Reduced from the test of a random operator (finding 3e64391e8b156d6e). Fails with: dropout_p>0.
Actual: AssertionError: 0.000 of 4000 weights are dropped with dropout_p = 0.5
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.nn.functional.scaled_dot_product_attention(x0, x1, x2, dropout_p=0.5)


model = Model()
inputs = (torch.ones(1, 1, 4000, 1), torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1))
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession(exported.model_proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (1, 1, 4000, 1), f"expected shape (1, 1, 4000, 1), got {draw.shape}"
dropped = float(np.mean(draw == 0))
assert abs(dropped - 0.5) < 0.05, f"{dropped:.3f} of 4000 weights are dropped with dropout_p = 0.5"
