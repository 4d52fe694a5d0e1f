"""What PyTorch's own shape functions say of outputs on the processor and on other devices."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

torch: Any = importlib.import_module("torch")

Shapes = list[tuple[int, ...]]


def shapes_elsewhere(module: Any, tensors: Sequence[Any]) -> Shapes | None:
    """The shapes of the outputs on a device that is no processor, computed without values.

    Args:
        module: Called with *tensors*, returns a tuple of tensors. It is moved to the `meta` device.
        tensors: On the processor.

    Returns:
        A shape for each output; None where the shape functions do not give the real shapes for the processor either.

    Raises:
        Exception: whatever the shape functions raise, such as for shapes that depend on values.
    """
    fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
    with torch.no_grad():
        real = _shapes(module(*tensors))
        with fake.FakeTensorMode(allow_non_fake_inputs=True) as mode:
            here = _shapes(module(*(mode.from_tensor(tensor) for tensor in tensors)))
        if here != real:
            return None
        return _shapes(module.to("meta")(*(tensor.to("meta") for tensor in tensors)))


def _shapes(outputs: Sequence[Any]) -> Shapes:
    return [tuple(int(size) for size in output.shape) for output in outputs]
