"""inductor/pytorch, sort: known failures; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="0eb94d63: AssertionError: wrong number of dimensions1 for op: "
    "torch.ops.aten.unique_consecutive.default; fails with: dim<0",
)
def test_unique_consecutive_0eb94d63(check_pytorch):
    # finding 0eb94d6346bd68f3
    # AssertionError: wrong number of dimensions1 for op:
    # torch.ops.aten.unique_consecutive.default
    # fails with: dim<0
    # 1 more call fails for the same cause: unique_consecutive

    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.Tensor.unique_consecutive(x0, dim=-1)

    inputs = (torch.tensor([1.0, 2.0]),)
    expected = [np.array([1.0, 2.0], np.float32)]
    check_pytorch(Model(), inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="ed7eee97: AssertionError: expected size 2==2, stride 1==2 at dim=0; "
    "expected size 2==2, stride 2==1 at dim=1; fails with: dim>0, "
    "shape(input)[1]>1, values of input differ, rank(input)<=2",
)
def test_unique_consecutive_ed7eee97(check_pytorch):
    # finding ed7eee97e1faf053
    # AssertionError: expected size 2==2, stride 1==2 at dim=0; expected size 2==2,
    # stride 2==1 at dim=1
    # fails with: dim>0, shape(input)[1]>1, values of input differ, rank(input)<=2
    # 1 more call fails for the same cause: unique_consecutive

    class Model(torch.nn.Module):
        def forward(self, x0):
            return torch.unique_consecutive(x0, dim=1)

    inputs = (torch.tensor([[1.0, 1.0], [0.0, 1.0]]),)
    expected = [np.array([[1.0, 1.0], [0.0, 1.0]], np.float32)]
    check_pytorch(Model(), inputs, expected)
