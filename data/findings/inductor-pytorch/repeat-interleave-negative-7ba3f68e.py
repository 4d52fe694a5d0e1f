"""inductor/pytorch: torch.repeat_interleave: accepted when repeats is negative and output_size is given

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: repeats is negative, output_size is given.
Actual: accepted: expected an error (RuntimeError: repeats can not be negative), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.repeat_interleave(x0, x1, output_size=2)


model = Model()
inputs = (torch.tensor([1.0, 2.0]), torch.tensor([3, -1]))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError as error:
        assert "repeats can not be negative" in str(error)

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
