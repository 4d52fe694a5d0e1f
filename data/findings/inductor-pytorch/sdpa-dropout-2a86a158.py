"""inductor/pytorch: torch.nn.functional.scaled_dot_product_attention: accepted when dropout_p is over 1

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from generated settings (finding 2a86a158d4352e16). Fails with: dropout_p is over 1, the result is not empty.
Actual: accepted: expected an error (RuntimeError: dropout probability has to be between 0 and 1, but got 1.5), got a result
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.scaled_dot_product_attention(x0, x0, x0, dropout_p=1.5)


model = Model()
inputs = (torch.ones(1, 1, 2, 4),)
with torch.no_grad():
    try:
        model(*inputs)
    except RuntimeError:
        print("PyTorch refuses the call")

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)

raise AssertionError("accepted: there was no error, and PyTorch refuses the call")
