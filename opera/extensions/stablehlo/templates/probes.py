"""Takes values out of a running StableHLO program: instruments it with probes, and reads what they wrote.

The interpreter's own way out, its results, kills the process for complex numbers, and numpy cannot read half of the other types. A probe
writes a tensor into a file wherever the program comes by: in regions, in other functions, in parallel programs. Types that a probe cannot
write are converted first, without loss.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from opera.arrays import Array
from opera.extensions.stablehlo.templates.module import ir, tensor_of
from opera.extensions.stablehlo.types import ElementType, TensorType, Value, element_type, tensor_type

_INDEX = "index.csv"
_AS = {"i2": "i8", "i4": "i8", "ui2": "ui8", "ui4": "ui8", "f4E2M1FN": "f32", "f6E2M3FN": "f32", "f6E3M2FN": "f32"}
"""Types that are converted to a wider one."""
_REAL, _IMAGINARY = "r", "i"


class NoProbe(Exception):
    """A value of a type that no probe can write: quantised, or no tensor."""


class Written(NamedTuple):
    """A value that a probe wrote, and the number of the probe."""

    number: int
    value: Value


class Probes:
    """The probes of one program; each has a number."""

    def __init__(self) -> None:
        self._elements: dict[int, ElementType] = {}
        self.named: dict[str, list[int]] = {}
        """The numbers of the probes that the program itself has, by name."""

    def add(self, value: Any, before: Any) -> int:
        """Writes *value* whenever the program comes to the operation *before*; returns the number of the probe.

        Raises:
            NoProbe: the type of *value* cannot be written.
        """
        type = tensor_of(value.type)
        if type is None:
            raise NoProbe(f"a value of type {value.type} cannot be taken out of a program")
        try:
            element = element_type(str(type.element_type))
        except ValueError:
            raise NoProbe(f"a tensor of {type.element_type} cannot be taken out of a program") from None
        number = len(self._elements)
        self._elements[number] = element
        place = ir.InsertionPoint(before)
        if element.is_complex:
            for mark, name in ((_REAL, "stablehlo.real"), (_IMAGINARY, "stablehlo.imag")):
                _probe(_made(name, value, element.part.name, place), f"{number}{mark}", place)
            return number
        wide = _AS.get(element.name)
        if wide is not None:
            value = _made("stablehlo.convert", value, wide, place)
        elif element.name.startswith("f8"):
            value = _made("stablehlo.bitcast_convert", value, "ui8", place)
        _probe(value, str(number), place)
        return number

    def take_over(self, probe: Any) -> None:
        """Makes *probe*, an operation of the program itself, one of these probes, and removes it."""
        name = ir.StringAttr(probe.attributes["probe_id"]).value
        self.named.setdefault(name, []).append(self.add(probe.operands[0], probe))
        probe.results[0].replace_all_uses_with(probe.operands[0])
        probe.erase()

    def written(self, folder: Path) -> list[Written]:
        """What the probes wrote into *folder*, in the order of time; a complex number counts when its imaginary part was written."""
        index = folder / _INDEX
        found: list[Written] = []
        real: dict[int, deque[Array]] = {}
        for row in index.read_text(encoding="utf-8").splitlines() if index.is_file() else ():
            name, _, rest = row.partition(",")
            kind, _, path = rest.rpartition(",")
            type = tensor_type(kind)
            array = _read(Path(path), type)
            number = int(name.rstrip(_REAL + _IMAGINARY))
            own = TensorType(type.shape, self._elements[number])
            if name.endswith(_REAL):
                real.setdefault(number, deque()).append(array)
            elif name.endswith(_IMAGINARY):
                found.append(Written(number, _complex(own, real[number].popleft(), array)))
            else:
                found.append(Written(number, _value(own, array)))
        return found


def _made(name: str, value: Any, element: str, place: Any) -> Any:
    """The result of an operation with one operand that changes the type of the elements only."""
    type = value.type
    result = ir.RankedTensorType.get(list(type.shape), ir.Type.parse(element), type.encoding)
    return ir.Operation.create(name, results=[result], operands=[value], ip=place).results[0]


def _probe(value: Any, name: str, place: Any) -> None:
    attributes = {"probe_id": ir.StringAttr.get(name)}
    ir.Operation.create("interpreter.probe", results=[value.type], operands=[value], attributes=attributes, ip=place)


def _read(path: Path, type: TensorType) -> Array:
    """The elements in a file of a probe. Its header is not numpy's for every type; the elements are at the end."""
    dtype = type.element.numpy
    data = path.read_bytes()
    size = type.size * dtype.itemsize
    if size > len(data):
        raise ValueError(f"{len(data)} bytes of a probe for {type}")
    return np.frombuffer(data[len(data) - size :], dtype).reshape(type.shape)


def _value(type: TensorType, array: Array) -> Value:
    """What was written, as an array of the type that the value had."""
    dtype = type.element.numpy
    return Value(type, array.view(dtype) if type.element.name.startswith("f8") else array.astype(dtype))


def _complex(type: TensorType, real: Array, imaginary: Array) -> Value:
    array = np.empty(type.shape, type.element.numpy)
    array.real, array.imag = real, imaginary
    return Value(type, array)
