"""The canaries of a library: models that show that an adapter works, and in which precision a compiler computes products.

If a canary does not pass, the adapter is broken, or the compiler computes in less than its adapter declares, and no campaign starts.
Canaries are found by entry point (`opera.canaries`, the library's name to an `Instance` or a tuple of them). The driver imports them, so
the module that holds one must not import the library.
"""

from __future__ import annotations

import struct
from typing import cast

from opera.compilers.adapter import REJECTS
from opera.errors import EnvironmentBroken, UserError
from opera.instance import Argument, Instance, Kind, Tensor
from opera.oracles.verdict import Detail, Verdict
from opera.plugins import load, registered

GROUP = "opera.canaries"

LEFT, RIGHT = (Tensor((2, 3), "float32", struct.pack("<6f", *numbers)) for numbers in ((0, 1, 2, 3, 4, 5), (1, -1, 0.5, 2, 8, -3)))

_ROWS = 23
"""Bits of the mantissa of float32."""
_MANTISSAS = {"float32": 23, "TF32": 10, "float16": 10, "bfloat16": 7}
"""Bits of the mantissa of each format in which products of float32 are computed somewhere."""


def _floats(shape: tuple[int, ...], values: dict[tuple[int, ...], float]) -> Tensor:
    """A float32 tensor of *shape* with *values* by index, and zeros elsewhere."""
    flat = [0.0]
    for size in shape:
        flat *= size
    for place, value in values.items():
        index = 0
        for size, each in zip(shape, place, strict=True):
            index = index * size + each
        flat[index] = value
    return Tensor(shape, "float32", struct.pack(f"<{len(flat)}f", *flat))


# Row k of the product is (1 + 2^-k) 2^k - 2^k = 1. A format with fewer than k bits rounds 1 + 2^-k to 1, and gives 0; float16 overflows.
_CHANNELS = 2 * _ROWS
_FACTORS = {(row, 2 * row + side): -1.0 if side else 1 + 2.0 ** -(row + 1) for row in range(_ROWS) for side in (0, 1)}
_POWERS = {(place, column): 2.0 ** (place // 2 + 1) for place in range(_CHANNELS) for column in range(8)}
_ONE, _OTHER = _floats((_ROWS, _CHANNELS), _FACTORS), _floats((_CHANNELS, 8), _POWERS)
_IMAGE = _floats((1, _CHANNELS, 1, 8), {(0, place, 0, column): value for (place, column), value in _POWERS.items()})
_KERNEL = _floats((_ROWS, _CHANNELS, 1, 3), {(row, place, 0, 1): value for (row, place), value in _FACTORS.items()})
_IMAGE_LAST = _floats((1, 1, 8, _CHANNELS), {(0, 0, column, place): value for (place, column), value in _POWERS.items()})
_KERNEL_LAST = _floats((1, 3, _CHANNELS, _ROWS), {(0, 1, place, row): value for (row, place), value in _FACTORS.items()})


def _calls(library: str, kind: Kind, product: str, convolution: str, *names: str, last: bool = False) -> tuple[Instance, Instance]:
    """The product of two matrices and a convolution; *names* are those of both operators' inputs."""
    image, kernel = (_IMAGE_LAST, _KERNEL_LAST) if last else (_IMAGE, _KERNEL)
    more = (Argument("strides", 1, keyword=True), Argument("padding", "VALID", keyword=True)) if library == "tensorflow" else ()
    context = (("opset", 13), ("outputs", [True])) if kind is Kind.NODE else ()
    return (
        Instance(library, product, kind, call=(Argument(names[0], _ONE), Argument(names[1], _OTHER)), context=context),
        Instance(library, convolution, kind, call=(Argument(names[2], image), Argument(names[3], kernel), *more), context=context),
    )


ONNX = _calls("onnx", Kind.NODE, "ai.onnx.MatMul", "ai.onnx.Conv", "A", "B", "X", "W")
KERAS = _calls("keras", Kind.FUNCTION, "keras.ops.matmul", "keras.ops.conv", "x1", "x2", "inputs", "kernel", last=True)
TENSORFLOW = _calls("tensorflow", Kind.FUNCTION, "tf.linalg.matmul", "tf.nn.conv2d", "a", "b", "input", "filters", last=True)
PYTORCH = _calls("pytorch", Kind.FUNCTION, "torch.matmul", "torch.nn.functional.conv2d", "input", "other", "input", "weight")


def format_of(verdict: Verdict, detail: Detail) -> str | None:
    """The format in which a compiler computed a canary's products of float32; None if the result says something else."""
    if verdict is Verdict.PASS:
        return "float32"
    if verdict is not Verdict.INCONSISTENT or "difference" not in detail:
        return None
    difference = detail["difference"]
    if difference["kind"] in ("nan", "inf"):
        return "float16"
    share = difference.get("share")
    bits = _ROWS - round(share * _ROWS) if difference["kind"] == "values" and isinstance(share, float) else None
    return next((name for name, each in _MANTISSAS.items() if each == bits), None)


def is_enough(found: str | None, declared: str) -> bool:
    """Whether products in *found*, as `format_of` says it, are as precise as an adapter declares."""
    return found in _MANTISSAS and _MANTISSAS[found] >= _MANTISSAS[declared]


def canaries(library: str, *, rejects: bool = False) -> tuple[Instance, ...]:
    """The canary instances of *library*; for a route on which compilers have to reject models, such models.

    Raises:
        UserError: none is registered.
        EnvironmentBroken: they cannot be imported, or are no instances.
    """
    name = f"{library}-{REJECTS}" if rejects else library
    if name not in registered(GROUP):
        raise UserError(f"no canary model for library {name!r}; register one under {GROUP}")
    found = load(GROUP, name)
    several = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    instances = tuple(each for each in several if isinstance(each, Instance))
    if not instances or len(instances) < len(several):
        raise EnvironmentBroken(f"the canary of {name} is not an opera.instance.Instance; correct its entry point under {GROUP}")
    return instances
