"""inductor/pytorch, scatter_gather: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_gather_2ef58088(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0, x1):
            return torch.gather(x0, 0, x1)

    inputs = (torch.tensor([-8, 6, 9, 0, 0]), torch.zeros((0,), dtype=torch.uint8))
    expected = [np.zeros((0,), np.int64)]
    check_pytorch(Model(), inputs, expected)
