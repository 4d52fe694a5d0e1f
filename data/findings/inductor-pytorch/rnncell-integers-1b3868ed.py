"""inductor/pytorch: torch.nn.RNNCell, torch.nn.Linear: accepted when input is int32 and the weights float32

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input is int32 and the weights are float32.
Actual: accepted: expected an error (RuntimeError: mat1 and mat2 must have the same dtype, but got Int and Float), got a result
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.operator = torch.nn.RNNCell(2, 3)

    def forward(self, x0, x1):
        return self.operator(x0, x1)


model = Model()
inputs = (torch.ones(2, dtype=torch.int32), torch.ones(3, dtype=torch.int32))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
