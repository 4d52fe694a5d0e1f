"""Calls that PyTorch takes only because a tensor is empty, and similar ones that are sound."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from opera.arrays import to_bytes
from opera.instance import Argument, Instance, Kind, Tensor
from opera.instance.values import Value
from opera.models.variants import refused_with_elements
from opera.templates.pytorch.model import PyTorchTemplate


def floats(*shape: int) -> Tensor:
    return Tensor(shape, "float32", to_bytes(np.zeros(shape, np.float32)))


def indices(*numbers: int) -> Tensor:
    return Tensor((len(numbers),), "int64", to_bytes(np.array(numbers, np.int64)))


def refused(api: str, *values: Value) -> bool:
    """Whether the call is one that PyTorch takes only because a tensor is empty."""
    instance = Instance("pytorch", api, Kind.FUNCTION, call=tuple(Argument(None, each, keyword=False) for each in values))
    template = PyTorchTemplate()
    template.build(instance, "k", 0).run_once()  # PyTorch takes it
    return refused_with_elements(template, instance, "k", 0) is not None


NOTHING = Tensor((0,), "int64", b"")


@pytest.mark.parametrize(
    ("api", "values", "sound"),
    [
        ("torch.index_add", (floats(5, 0), 0, indices(0, -1), floats(2, 0)), (floats(5, 0), 0, indices(0, 4), floats(2, 0))),
        ("torch.index_add", (floats(5, 0), 0, indices(5), floats(1, 0)), (floats(5, 0), 0, NOTHING, floats(0, 0))),
        ("torch.index_copy", (floats(5, 0), 0, indices(7), floats(1, 0)), (floats(5, 0), 0, indices(4), floats(1, 0))),
        ("torch.index_fill", (floats(5, 0), 0, indices(9), 1.0), (floats(5, 0), 0, indices(-5), 1.0)),
        ("torch.softmax", (Tensor((0,), "bool", b""), 0), (floats(0), 0)),
    ],
)
def test_an_index_out_of_bounds_is_excused_and_its_twin_stays(api: str, values: tuple[Value, ...], sound: tuple[Value, ...]) -> None:
    assert refused(api, *values)
    assert not refused(api, *sound)


def test_empty_indices_are_filled_with_one_that_every_dimension_has() -> None:
    """An index that was drawn would be out of bounds, and would excuse a failure of a sound call."""
    for key in range(5):
        sound = Instance(
            "pytorch",
            "torch.gather",
            Kind.FUNCTION,
            call=tuple(Argument(None, each, keyword=False) for each in (floats(2, 0), 0, Tensor((1, 0), "int64", b""))),
        )
        assert refused_with_elements(PyTorchTemplate(), sound, str(key), 0) is None


def test_pytorch_still_takes_such_calls() -> None:
    """Once it refuses them, the reason code is not needed for indices."""
    assert torch.index_add(torch.zeros(5, 0), 0, torch.tensor([0, -1]), torch.zeros(2, 0)).shape == (5, 0)
