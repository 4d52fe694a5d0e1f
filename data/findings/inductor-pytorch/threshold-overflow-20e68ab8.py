"""inductor/pytorch: torch.nn.functional.threshold: accepted when value or threshold overflows the dtype

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from generated settings (finding 20e68ab8fc642693). Fails with: dtype(input) is an integer dtype or float16, threshold or a value that is a float cannot be converted to it without overflow.
Actual: accepted: expected an error (RuntimeError: value cannot be converted to type uint8_t without overflow), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.threshold(x0, 1, -4.5)


model = Model()
inputs = (torch.tensor([0, 8], dtype=torch.uint8),)
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
