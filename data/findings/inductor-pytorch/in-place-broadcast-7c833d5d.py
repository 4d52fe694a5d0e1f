"""inductor/pytorch: torch.Tensor.atan2_, pow_, hypot_: accepted when other broadcasts input to a larger shape

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: other broadcasts input to a larger shape.
Actual: accepted: expected an error (RuntimeError: output with shape [2, 1] doesn't match the broadcast shape [2, 2]), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return x0.clone().atan2_(x1)


model = Model()
inputs = (torch.ones(2, 1), torch.ones(2))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
