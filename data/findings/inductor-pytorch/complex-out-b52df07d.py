"""inductor/pytorch: torch.complex: accepted when out has a narrower dtype than the result

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: out has a narrower dtype than the result.
Actual: accepted: expected an error (RuntimeError: Expected object of scalar type ComplexDouble but got scalar type ComplexFloat for argument 'out'), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.complex(x0, x1, out=x2.clone())


model = Model()
inputs = (torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64), torch.zeros(2, dtype=torch.complex64))
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
