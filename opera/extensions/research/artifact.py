"""Reads a folder in the form of the paper's released data: the migrated ONNX tests, and which of them reveal which fault.

| file | content |
|---|---|
| `onnx.jsonl` | one migrated test a line: id, api, params, inputs, outputs |
| `<compiler>_onnx_faults.json` | fault to the ids of the tests that reveal it |
| `<compiler>_onnx_equipped_tests.jsonl` | the compiler's own tests, in the form of `onnx.jsonl`. Optional |
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from opera.errors import UserError
from opera.extensions.research.recording import RecordedRun, RecordedTest
from opera.instance import Argument, Graph, Instance, Kind, Opaque, Tensor
from opera.instrumentation.tensors import DTYPE_BITS
from opera.untrusted import Document, from_json, lines_of, parsed_json, read_file

_ALIASES = {"openvino": "ov", "tensorrt": "trt"}
"""Compilers by the short names that the authors give them."""
_NUMBERS = re.compile(r"\[+[^\[\]]*[\]\[\s\d.eE+\-naif,]*\]+|-?\d+(\.\d*)?")
_PRINTED = re.compile(r"-?\d+")


def read_artifact(folder: Path, subject: str) -> RecordedRun:
    """The campaign of *subject* (`tvm-onnx`) in *folder*.

    Input values were never recorded, nor seconds: APFDc cannot be computed.

    Raises:
        UserError: there is no such folder or subject, or a file is not of the form.
    """
    faults_file = _faults_file(folder, subject)
    try:
        tests = {str(row["id"]): _instance(row) for row in _rows(folder / "onnx.jsonl")}
        faults = cast("Mapping[str, Any]", from_json(read_file(faults_file), Document)["faults"])
        revealed: dict[str, set[str]] = {}
        for name, fault in faults.items():
            for test in fault["tests"]:
                revealed.setdefault(str(test), set()).add(name)
        equipped_file = faults_file.with_name(faults_file.name.removesuffix("_faults.json") + "_equipped_tests.jsonl")
        equipped = [_instance(row) for row in _rows(equipped_file)] if equipped_file.exists() else []
        keys = {name: str(fault.get("key", "")) for name, fault in faults.items()}
    except OSError as error:
        raise UserError(
            f"{folder} is not a folder of the paper's data ({error.filename}: {error.strerror}); give e.g. data/published"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UserError(f"{folder} does not have the paper's data in the known form ({error!r}); copy the released files again") from error
    unknown = set(revealed) - set(tests)
    if unknown:
        raise UserError(
            f"{faults_file.name} names {len(unknown)} tests that onnx.jsonl lacks, e.g. {min(unknown)}; copy the released files again"
        )
    return RecordedRun(
        subject=subject.replace("-", "/", 1),
        tests=[RecordedTest(name, instance, faults=frozenset(revealed.get(name, ()))) for name, instance in sorted(tests.items())],
        faults=keys,
        equipped=Counter(instance.operator for instance in equipped),
        equipped_tests=equipped,
        facts={"origin": "the paper's released data"},
    )


def subjects_in(folder: Path) -> list[str]:
    """The subjects that *folder* has faults of, as `read_artifact` takes them."""
    return sorted(path.name.removesuffix("_faults.json").replace("_", "-") for path in folder.glob("*_onnx_faults.json"))


def _faults_file(folder: Path, subject: str) -> Path:
    compiler, _, frontend = subject.replace("/", "-").partition("-")
    for name in (compiler, _ALIASES.get(compiler, compiler)):
        path = folder / f"{name}_{frontend}_faults.json"
        if path.exists():
            return path
    there = ", ".join(subjects_in(folder)) or "none"
    raise UserError(f"{folder} has no faults of the subject {subject!r}; choose one of: {there}")


def _rows(path: Path) -> Iterator[Any]:
    return (parsed_json(line) for _, line in lines_of(path))


@cache
def _signatures() -> Mapping[str, Any]:
    text = resources.files("opera").joinpath("facts", "onnx_signatures.json").read_text(encoding="utf-8")
    return json.loads(text)["operators"]


def _instance(row: Mapping[str, Any]) -> Instance:
    """An instance as OPERA's own recorder would have it: slots by their names in the schema, with the schema's defaults."""
    signature = _signatures().get(row["api"], {"domain": "ai.onnx", "slots": [], "defaults": {}})
    inputs = _inputs(signature["slots"], [_value(each) for each in row["inputs"]])
    return Instance(
        library="onnx",
        api=f"{signature['domain']}.{row['api']}",
        kind=Kind.NODE,
        init=tuple(Argument(name, _value(value)) for name, value in sorted(row["params"].items())),
        call=inputs,
        context=(("outputs", [True] * len(row["outputs"])),),
        defaults=tuple(signature["defaults"].items()),
        expected=tuple(_value(each) for each in row["outputs"]),
    )


def _inputs(slots: list[list[str]], values: list[Any]) -> tuple[Argument, ...]:
    """The values that the slots of an operator take, None for an optional one that is left out.

    Some tests have more inputs than their operator has slots: those belong to other nodes of the test's graph, and are numbered.
    """
    found: list[Argument] = []
    place = 0
    for name, option in slots:
        took = len(values) - place if option == "variadic" else min(1, len(values) - place)
        found.extend(Argument(name, value) for value in values[place : place + took])
        if not took and option == "optional":
            found.append(Argument(name, None))
        place += took
    found.extend(Argument(f"input {number}", value) for number, value in enumerate(values[place:], place))
    return tuple(found)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        if "tensor" in parts:
            return _tensor(parts["tensor"])
        if "graph" in parts:
            return Graph("onnx", json.dumps(parts["graph"], sort_keys=True).encode())
        if "bytes" in parts:
            return parts["bytes"]
        if "float" in parts:
            return float(parts["float"])
        if "tuple" in parts:
            return tuple(_value(item) for item in parts["tuple"])
        return {name: _value(item) for name, item in parts.get("dict", parts).items()}
    return _printed(value) if isinstance(value, str) else value


def _tensor(parts: Mapping[str, Any]) -> Tensor | Opaque:
    """A tensor without values; something else that has an element type (a sequence, an optional) is opaque."""
    name = str(parts.get("dtype"))
    dtype = name.replace("float8e", "float8_e")
    dims = parts.get("shape")
    if dtype not in DTYPE_BITS or dims is None:
        return Opaque(name, "no tensor")
    return Tensor(tuple(dim if isinstance(dim, int) and dim >= 0 else 1 for dim in dims), dtype)


def _printed(text: str) -> Any:
    """A tensor that numpy printed, as far as its text tells: rank, length of the last dimension, dtype; other text stays text."""
    if not _NUMBERS.fullmatch(text):
        return text
    rank = len(text) - len(text.lstrip("["))
    numbers = text[rank:].partition("]")[0].split()
    shape = (2,) * max(0, rank - 1) + (len(numbers),) * min(1, rank)
    if all(_PRINTED.fullmatch(number) for number in numbers):
        small = rank <= 1 and len(numbers) <= 8
        data = b"".join(int(number).to_bytes(8, "little", signed=True) for number in numbers)
        return Tensor(shape, "int64", data if small else None)
    return Tensor(shape, "float32")
