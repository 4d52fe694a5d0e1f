"""inductor/pytorch, linalg: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_multi_dot_eb2568a5(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0, x1):
            return torch.linalg.multi_dot([x0, x1])

    inputs = (torch.tensor([[-8, 6]]), torch.tensor([[9], [0]]))
    expected = [np.array([[-72]], np.int64)]
    check_pytorch(Model(), inputs, expected)
