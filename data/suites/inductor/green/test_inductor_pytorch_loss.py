"""inductor/pytorch, loss: tests that pass; README.md explains them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_crossentropyloss_4ef4e31b(check_pytorch, data):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.operator = torch.nn.CrossEntropyLoss(
                reduction="sum", ignore_index=1, label_smoothing=0.15
            )

        def forward(self, x0, x1):
            return self.operator(x0, x1)

    model = Model().train(False)
    inputs = (torch.from_numpy(data["array0"]), torch.tensor([0, 0]))
    expected = [np.array(4.95085, np.float32)]
    check_pytorch(model, inputs, expected)


class Model_3c999709(torch.nn.Module):
    def forward(self, x0, x1, x2, x3, x4):
        return torch.nn.functional.linear_cross_entropy(
            x0,
            x1,
            x2,
            linear_bias=x3,
            weight=x4,
            reduction="sum",
            ignore_index=None,
            label_smoothing=0.0,
            options=None,
        )


def test_linear_cross_entropy_3c999709(check_pytorch, data):
    inputs = tuple(torch.from_numpy(data[f"inputs_{place}"]) for place in range(5))
    expected = [data["array5"]]
    check_pytorch(Model_3c999709(), inputs, expected)
