"""inductor/pytorch: torch.nn.functional.binary_cross_entropy: accepted when input is over 1

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input is over 1.
Actual: accepted: expected an error (RuntimeError: all elements of input should be between 0 and 1), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.nn.functional.binary_cross_entropy(x0, x1)


model = Model()
inputs = (torch.tensor([2.0]), torch.tensor([1.0]))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
