"""inductor/pytorch, other: known failures; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="7d509172: RuntimeError...")
def test_masked_select_7d509172(check_pytorch):
    # finding 7d509172fb0571f1
    # RuntimeError: u0 <= 4
    # fails with: rank(input)?3, mask has a value ?0, rank(mask)?2, mask has several ...

    class Model(torch.nn.Module):
        def forward(self, x0, x1):
            return torch.masked_select(x0, x1)

    inputs = (torch.ones((2, 1, 2)), torch.tensor([[True], [True]]))
    expected = [np.ones(8, np.float32)]
    check_pytorch(Model(), inputs, expected)
