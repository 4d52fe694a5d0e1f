"""inductor/pytorch: torch.index_select: accepted when input is a scalar and index is empty

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input is a scalar and index is empty.
Actual: accepted: expected an error (RuntimeError: index_select(): Index to scalar can have only 1 value, got 0 value(s)), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.index_select(x0, 0, x1)


model = Model()
inputs = (torch.tensor(1.0), torch.zeros(0, dtype=torch.int64))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
