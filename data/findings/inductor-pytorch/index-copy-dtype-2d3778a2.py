"""inductor/pytorch: torch.index_copy, torch.index_add, torch.put: accepted when source has another dtype

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input and source differ in dtype.
Actual: accepted: expected an error (RuntimeError: index_copy_(): self and source expected to have the same dtype, but got (self) Int and (source) Float), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.index_copy(x0, 0, x1, x2)


model = Model()
inputs = (torch.zeros(3, dtype=torch.int32), torch.tensor([0, 2]), torch.ones(2))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
