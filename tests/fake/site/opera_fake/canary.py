"""Instances of the fake library."""

from __future__ import annotations

import struct
from dataclasses import replace

from opera.instance import Argument, Instance, Kind, Tensor


def instance(
    name: str, compiler: str = "pass", stage: str = "load", library: str = "pass", number: int = 0, dtype: str = "float32"
) -> Instance:
    """`fake.NAME`: *compiler* says how the compiler behaves in *stage*, *library* how the library does."""
    data = struct.pack("<6f", 0, 1, 2, 3, 4, 5) if dtype == "float32" else struct.pack("<6d", 0, 1, 2, 3, 4, 5)
    init = (Argument("compiler", compiler), Argument("library", library), Argument("number", number), Argument("stage", stage))
    return Instance("fake", f"fake.{name}", Kind.MODULE, init=init, call=(Argument("input", Tensor((2, 3), dtype, data)),))


CANARY = instance("canary")
SECOND_CANARY = replace(CANARY, library="fake-second")
