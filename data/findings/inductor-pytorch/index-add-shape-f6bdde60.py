"""inductor/pytorch: torch.index_add: accepted when source has another shape than the chosen slices of input

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: source has another shape than the chosen slices of input.
Actual: accepted: expected an error (RuntimeError: source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [3, 2] source.shape = [2]), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.index_add(x0, 0, x1, x2)


model = Model()
inputs = (torch.zeros(3, 2), torch.tensor([0, 2]), torch.ones(2))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
