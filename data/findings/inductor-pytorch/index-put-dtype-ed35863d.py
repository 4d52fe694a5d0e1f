"""inductor/pytorch: torch.index_put: accepted when input and values differ in dtype

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input and values differ in dtype, the indices are integers.
Actual: accepted: expected an error (RuntimeError: Index put requires the source and destination dtypes match, got Byte for the destination and Float for the source.), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.index_put(x0, (x1,), x2)


model = Model()
inputs = (torch.zeros(3, dtype=torch.uint8), torch.tensor([0, 2]), torch.ones(2))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
