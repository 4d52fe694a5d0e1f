"""inductor/pytorch: torch.narrow: crash inside torch.cond when start is a tensor

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from a call in a branch of the source `embedded` by hand. Fails with: start is a tensor, the call stands in a function of torch.cond.
Actual: InductorError: LoweringException: LoweringException: KeyError: 'unbacked_bindings'
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        def taken(x0, x1):
            return (torch.narrow(x0, 0, x1, 2).clone(),)

        def other(x0, x1):
            return (torch.zeros(2, 3),)

        return torch.cond(torch.sum(x0) > 0, taken, other, (x0, x1))[0]


model = Model()
inputs = (torch.arange(12.0).reshape(4, 3), torch.tensor(1))
with torch.no_grad():
    expected = model(*inputs).numpy()

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    actual = compiled(*inputs).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"expected {expected.dtype} {expected.shape}, got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
