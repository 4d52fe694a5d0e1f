"""SavedModels for several compilers: the folder that they load, and results in the library's order."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opera.models.archive import unpack_folder


def unpacked(data: bytes) -> tempfile.TemporaryDirectory[str]:
    """The SavedModel in a folder of its own, which is gone when the object is."""
    folder = tempfile.TemporaryDirectory()
    unpack_folder(data, Path(folder.name))
    return folder


def in_order(outputs: Mapping[str, Any]) -> list[Any]:
    """The values of `output_0`, `output_1` ... by number."""
    names = list(outputs)
    return [outputs[names[place]] for place in output_places([[name] for name in names])]


def output_places(names: Sequence[Sequence[str]]) -> list[int]:
    """Where each of the library's outputs is among a compiler's.

    Args:
        names: The names of each of the compiler's outputs. If an output has no name like `output_0`, the outputs keep their order.
    """
    numbers = [[int(name[7:]) for name in each if name.startswith("output_") and name[7:].isdigit()] for each in names]
    if not all(numbers):
        return list(range(len(names)))
    where = {number: index for index, each in enumerate(numbers) for number in each}
    return [where[number] for number in sorted(where)]
