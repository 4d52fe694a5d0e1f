"""The canaries of a library: models that show that an adapter works, and in which precision a compiler computes products.

If a canary does not pass, the adapter is broken, or the compiler computes in less than its adapter declares, and no campaign starts.
Canaries are found by entry point (`opera.canaries`, the library's name to an `Instance` or a tuple of them). The driver imports them, so
the module that holds one must not import the library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from opera.arrays import Array
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


# Row k of the product is (1 + 2^-k) 2^k - 2^k = 1. A format with fewer than k bits rounds 1 + 2^-k to 1, and gives 0; float16 overflows.
_PLACES = np.arange(_ROWS)
_FACTORS, _POWERS = np.zeros((_ROWS, 2 * _ROWS), np.float32), np.repeat(2.0 ** (_PLACES + 1), 2)[:, None] * np.ones(8)
_FACTORS[_PLACES, 2 * _PLACES], _FACTORS[_PLACES, 2 * _PLACES + 1] = 1 + 2.0 ** -(_PLACES + 1), -1
_KERNEL = np.stack([np.zeros_like(_FACTORS), _FACTORS, np.zeros_like(_FACTORS)], axis=2)[:, :, None]


def _tensor(array: Array) -> Tensor:
    return Tensor(array.shape, "float32", array.astype(np.float32).tobytes())


def _calls(library: str, kind: Kind, product: str, convolution: str, *names: str, last: bool = False) -> tuple[Instance, Instance]:
    """The product of two matrices and a convolution; *names* are those of both operators' inputs."""
    image, kernel = _POWERS[None, :, None], _KERNEL
    if last:
        image, kernel = image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0)
    more = (Argument("strides", 1, keyword=True), Argument("padding", "VALID", keyword=True)) if library == "tensorflow" else ()
    context = (("opset", 13), ("outputs", [True])) if kind is Kind.NODE else ()

    def call(api: str, arrays: tuple[Array, Array], given: Sequence[str], *more: Argument) -> Instance:
        tensors = (Argument(name, _tensor(array)) for name, array in zip(given, arrays, strict=True))
        return Instance(library, api, kind, call=(*tensors, *more), context=context)

    return call(product, (_FACTORS, _POWERS), names[:2]), call(convolution, (image, kernel), names[2:], *more)


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


def least_precise(formats: Iterable[str | None]) -> str | None:
    """The least precise of *formats*, as `format_of` says them; None if one is unknown."""
    found = list(formats)
    return min((name for name in found if name), key=lambda name: (_MANTISSAS[name], name), default=None) if all(found) else None


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
