"""inductor/pytorch: torch.linspace: accepted when dtype=uint8 does not hold start

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: dtype=uint8 does not hold start.
Actual: accepted: expected an error (RuntimeError: value cannot be converted to type uint8_t without overflow), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 + torch.linspace(-0.9, 0.5, 5, dtype=torch.uint8)


model = Model()
inputs = (torch.zeros(5),)
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
