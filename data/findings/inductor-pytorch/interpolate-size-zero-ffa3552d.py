"""inductor/pytorch: torch.nn.functional.interpolate: accepted when scale_factor makes a size of 0

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from generated settings (finding ffa3552dc11d6375). Fails with: scale_factor is over 0, the output has a size of 0, mode is not area, antialias and recompute_scale_factor are not True.
Actual: accepted: expected an error (RuntimeError: Input and output sizes should be greater than 0, but got input (H: 4, W: 4) output (H: 0, W: 0)), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.interpolate(x0, scale_factor=0.1)


model = Model()
inputs = (torch.ones(1, 1, 4, 4),)
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
