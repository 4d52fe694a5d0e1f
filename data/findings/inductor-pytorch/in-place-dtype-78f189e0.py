"""inductor/pytorch: torch.Tensor.mul_: accepted when input is an integer and other is floating-point

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: input is an integer and other is floating-point.
Actual: accepted: expected an error (RuntimeError: result type Float can't be cast to the desired output type Byte), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return x0.clone().mul_(x1)


model = Model()
inputs = (torch.ones(2, dtype=torch.uint8), torch.tensor([1.5, 2.5]))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
