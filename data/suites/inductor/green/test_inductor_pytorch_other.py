"""inductor/pytorch, other: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def strided(tensor, strides):
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides))
    storage = torch.zeros(extent, dtype=tensor.dtype)
    storage[torch.arange(extent).as_strided(tensor.shape, strides)] = tensor
    return storage.as_strided(tensor.shape, strides)


def test_histogram_3e2644ad(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return tuple(torch.histogram(x0, 4, weight=None, density=True))

    inputs = (strided(torch.from_numpy(data["array0"]), (10, 2)),)
    expected = [
        np.array([0.05688696, 0.0663681, 0.07584928, 0.03792464], np.float32),
        np.array([-8.478374, -4.2594805, -0.04058647, 4.1783066, 8.3972], np.float32),
    ]
    check_pytorch(Model(), inputs, expected)


def test_logspace_17e5f3b7(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self):
            return torch.logspace(4.3, -3, 2, 1.1, dtype=torch.float32, device="cpu")

    inputs = ()
    expected = [np.array([1.5065674, 0.7513148], np.float32)]
    check_pytorch(Model(), inputs, expected)


def test_segment_reduce_b052c7c3(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0, x1):
            return torch.segment_reduce(
                x0, "sum", axis=0, unsafe=False, initial=1, offsets=x1
            )

    inputs = (
        strided(torch.from_numpy(data["array0"]), (2,)),
        strided(torch.tensor([0, 0, 1, 3, 5]), (2,)),
    )
    expected = [np.array([1.0, -7.4783735, -5.08863, -9.351043], np.float32)]
    check_pytorch(Model(), inputs, expected)


def test_to_f0e6c455(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.Tensor.to(x0, dtype=torch.int32)

    inputs = (torch.tensor([0, 0, 9, 9, 9], dtype=torch.int32),)
    expected = [np.array([0, 0, 9, 9, 9], np.int32)]
    check_pytorch(Model(), inputs, expected)


class Model_0e16afa5(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.operator = torch.nn.TransformerEncoderLayer(
            d_model=4,
            nhead=2,
            dim_feedforward=8,
            dropout=0.0,
            batch_first=False,
            norm_first=True,
            bias=True,
        )

    def forward(self, x0, x1):
        return self.operator(x0, src_mask=None, src_key_padding_mask=x1)


def test_transformerencoderlayer_0e16afa5(check_pytorch, data):
    torch.manual_seed(0)
    model = Model_0e16afa5().train(True)
    inputs = tuple(torch.from_numpy(data[f"inputs_{place}"]) for place in range(2))
    expected = [data["array0"]]
    check_pytorch(model, inputs, expected)
