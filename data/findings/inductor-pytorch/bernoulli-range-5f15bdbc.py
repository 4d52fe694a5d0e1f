"""inductor/pytorch: torch.bernoulli: accepted when a probability is over 1

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: a probability is over 1.
Actual: accepted: expected an error (RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false.), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.bernoulli(x0)


model = Model()
inputs = (torch.tensor([2.0]),)
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
