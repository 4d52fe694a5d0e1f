"""inductor/pytorch, other: known failures; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
exc = pytest.importorskip("torch._dynamo.exc")
InternalTorchDynamoError = exc.InternalTorchDynamoError


@pytest.mark.xfail(
    strict=True,
    raises=InternalTorchDynamoError,
    reason="839b8984: InternalTorchDynamoError: PendingUnbackedSymbolNotFound: "
    "Pending unbacked symbols {u2, u1, u3} not in returned outputs "
    "FakeTensor(..., size=(u0, 4), dtype=torch.int64) ((4, 1), 0).; fails "
    "with: r>1",
)
def test_combinations_839b8984(check_pytorch):
    # finding 839b89841925c57f
    # InternalTorchDynamoError: PendingUnbackedSymbolNotFound: Pending unbacked symbols
    # {u2, u1, u3} not in returned outputs FakeTensor(..., size=(u0, 4),
    # dtype=torch.int64) ((4, 1), 0).
    # fails with: r>1

    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.combinations(x0, r=4)

    inputs = (torch.tensor([0, 1]),)
    expected = [np.zeros((0, 4), np.int64)]
    check_pytorch(Model(), inputs, expected)
