"""inductor/pytorch, scatter_gather: tests that pass; README.md explains them."""

import pytest

torch = pytest.importorskip("torch")


def strided(tensor, strides):
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides))
    storage = torch.zeros(extent, dtype=tensor.dtype)
    storage[torch.arange(extent).as_strided(tensor.shape, strides)] = tensor
    return storage.as_strided(tensor.shape, strides)


class Model_872a2b38(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.nn.functional.embedding_bag(
            x0,
            x1,
            offsets=None,
            max_norm=1.0,
            norm_type=2,
            scale_grad_by_freq=False,
            mode="mean",
            sparse=False,
            per_sample_weights=None,
            include_last_offset=False,
            padding_idx=None,
        )


def test_embedding_bag_872a2b38(check_pytorch, data):
    inputs = (
        strided(torch.from_numpy(data["array2"]), (4, 2)),
        strided(torch.from_numpy(data["array0"]), (10, 2)),
    )
    expected = [data["array1"]]
    check_pytorch(Model_872a2b38(), inputs, expected)
