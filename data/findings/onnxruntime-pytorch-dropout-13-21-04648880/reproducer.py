"""onnxruntime/pytorch: crash in Dropout 13-21

Seen with torch 2.13.0+cpu, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Reduced from test 927c3b2f3442. Fails with: p>0.
Actual: Fail: float onnxruntime::{anonymous}::GetRatioOrDefault(const onnxruntime::Tensor*) [with T2 = float] 0.0f <= ratio_value && ratio_value < 1.0f was false. ratio must be in the range [0, 1)
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.dropout(x0, p=1.0)


torch.manual_seed(0)
model = Model()
inputs = (
    torch.from_numpy(np.array(1.0, np.float32).copy()),
)

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})
