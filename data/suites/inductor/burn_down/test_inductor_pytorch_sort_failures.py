"""inductor/pytorch, sort: known failures; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="0eb94d63: AssertionE...")
def test_unique_consecutive_0eb94d63(check_pytorch):
    # finding 0eb94d6346bd68f3
    # AssertionError: wrong number of dimensions1 for op: torch.ops.aten.unique_conse...
    # fails with: dim<0

    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.unique_consecutive(x0, dim=-1)

    inputs = (torch.tensor([1.0]),)
    expected = [np.array([1.0], np.float32)]
    check_pytorch(Model(), inputs, expected)
