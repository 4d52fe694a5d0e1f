"""inductor/pytorch, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_tile_351dba92(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.tile(x0, (0, 2, 3))

    inputs = (torch.tensor(-8.478374),)
    expected = [np.zeros((0, 2, 3), np.float32)]
    check_pytorch(Model(), inputs, expected)


def test_view_27a8c689(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.Tensor.view(x0, ())

    inputs = (torch.tensor(-8),)
    expected = [np.array(-8, np.int64)]
    check_pytorch(Model(), inputs, expected)
