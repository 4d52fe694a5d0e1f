"""inductor/pytorch: torch.index_add, torch.index_copy, torch.index_select: accepted when index is negative

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: index is negative, but not below minus the size.
Actual: accepted: expected an error (RuntimeError: index -1 is out of bounds for dimension 0 with size 4), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.index_add(x0, 0, x1, x2)


model = Model()
inputs = (torch.zeros(4, 3), torch.tensor([0, -1]), torch.ones(2, 3))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
