"""inductor/pytorch, other: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_addr_47a0dec7(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0, x1, x2):
            return torch.addr(x0, x1, x2, beta=3, alpha=2)

    inputs = (
        torch.from_numpy(data["array1"]),
        torch.tensor([1, -1, -2, -3, 7]),
        torch.tensor([-2, 6, -1, -5, -9, -6, 2, 3, -2, 1]),
    )
    expected = [data["array0"]]
    check_pytorch(Model(), inputs, expected)


def test_bilinear_03fcc98a(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0, x1, x2, x3):
            return torch.nn.functional.bilinear(x0, x1, x2, x3)

    inputs = (
        torch.zeros((0, 3), dtype=torch.float32),
        torch.zeros((0, 4), dtype=torch.float32),
        torch.from_numpy(data["array0"]),
        torch.tensor([-0.01355505, 1.1461437, 0.641582, -1.4787836, -0.60081077]),
    )
    expected = [np.zeros((0, 5), np.float32)]
    check_pytorch(Model(), inputs, expected)


def test_getitem_8fa2c8ea(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.Tensor.__getitem__(
                x0, ([0, 3], [1, 2], slice(None, None, None))
            )

    inputs = (torch.from_numpy(data["array0"].copy()),)
    expected = [data["array1"]]
    check_pytorch(Model(), inputs, expected)


def test_masked_fill_dbedf63d(check_pytorch):
    class Model(torch.nn.Module):
        def forward(self, x0, x1):
            return torch.masked_fill(x0, x1, 10)

    inputs = (torch.tensor(-8), torch.tensor(True))
    expected = [np.array(10, np.int64)]
    check_pytorch(Model(), inputs, expected)


def test_new_full_91039139(check_pytorch, data):
    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.Tensor.new_full(x0, (2, 0), 4.319086074829102)

    inputs = (torch.from_numpy(data["array0"]),)
    expected = [np.zeros((2, 0), np.float32)]
    check_pytorch(Model(), inputs, expected)
