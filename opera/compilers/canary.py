"""The canary: one addition per library. If the canary does not pass, the adapter is broken, and no campaign starts.

Canaries are found by entry point (`opera.canaries`, the library's name to an `Instance`). The driver imports them, so the module that
holds one must not import the library.
"""

from __future__ import annotations

import struct

from opera.compilers.adapter import REJECTS
from opera.errors import EnvironmentBroken, UserError
from opera.instance import Argument, Instance, Kind, Tensor
from opera.plugins import load, registered

GROUP = "opera.canaries"

LEFT, RIGHT = (Tensor((2, 3), "float32", struct.pack("<6f", *numbers)) for numbers in ((0, 1, 2, 3, 4, 5), (1, -1, 0.5, 2, 8, -3)))

ONNX = Instance(
    "onnx", "ai.onnx.Add", Kind.NODE, call=(Argument("A", LEFT), Argument("B", RIGHT)), context=(("opset", 13), ("outputs", [True]))
)
KERAS = Instance("keras", "keras.ops.add", Kind.FUNCTION, call=(Argument("x1", LEFT), Argument("x2", RIGHT)))
TENSORFLOW = Instance("tensorflow", "tf.add", Kind.FUNCTION, call=(Argument("x", LEFT), Argument("y", RIGHT)))
PYTORCH = Instance("pytorch", "torch.add", Kind.FUNCTION, call=(Argument("input", LEFT), Argument("other", RIGHT)))


def canary(library: str, *, rejects: bool = False) -> Instance:
    """The canary instance of *library*; for a route on which compilers have to reject models, such a model.

    Raises:
        UserError: none is registered.
        EnvironmentBroken: it cannot be imported, or is no instance.
    """
    name = f"{library}-{REJECTS}" if rejects else library
    if name not in registered(GROUP):
        raise UserError(f"no canary model for library {name!r}; register one under {GROUP}")
    found = load(GROUP, name)
    if not isinstance(found, Instance):
        raise EnvironmentBroken(f"the canary of {name} is not an opera.instance.Instance; correct its entry point under {GROUP}")
    return found
