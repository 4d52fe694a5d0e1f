"""inductor/pytorch, sort: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def strided(tensor, strides):
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides))
    storage = torch.zeros(extent, dtype=tensor.dtype)
    storage[torch.arange(extent).as_strided(tensor.shape, strides)] = tensor
    return storage.as_strided(tensor.shape, strides)


def test_unique_consecutive_a4ba306b(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return tuple(
                torch.unique_consecutive(
                    x0, return_inverse=True, return_counts=False, dim=2
                )
            )

    inputs = (strided(torch.zeros((5, 5, 5)), (50, 10, 2)),)
    expected = [np.zeros((5, 5, 1), np.float32), np.zeros(5, np.int64)]
    check_pytorch(Model(), inputs, expected)
