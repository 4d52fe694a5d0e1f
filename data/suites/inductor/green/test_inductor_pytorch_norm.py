"""inductor/pytorch, norm: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_vector_norm_261f9fe3(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.linalg.vector_norm(
                x0, ord=-np.inf, dim=(0, 1, 2, 3), keepdim=False
            )

    inputs = (torch.from_numpy(data["array0"]),)
    expected = [np.array(0.57349384, np.float32)]
    check_pytorch(Model(), inputs, expected)
