"""Reads the records of FreeFuzz and DeepREL: calls of PyTorch and TensorFlow APIs, as MongoDB dumps or exports.

One document is one call. Parameters have their names, or `parameter:0` where they were passed by position; `input_signature` has the
inputs of a layer. Tensors have a shape and a dtype and no values, which are drawn when a model is made. Two forms are known:

    {"shape": [2, 3], "dtype": "torch.float32"}                                  the published dumps; scalars and lists are themselves
    {"Label": "tensor", "Shape": [2, 3], "Dtype": "torch.float32", "Value": ...}  a label on every value
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from opera.console import plural
from opera.corpus.files import Entry, Problem, check_instance
from opera.corpus.readers import Reader
from opera.errors import UserError
from opera.extensions.generators.bson import read_documents
from opera.instance import Argument, Constraint, DType, Instance, Kind, Occurrence, Outcome, Tensor
from opera.instrumentation.tensors import DTYPE_BITS
from opera.untrusted import Document, from_json, lines_of, open_file, read_file

SUFFIXES = (".bson", ".json", ".jsonl")
MOST_ELEMENTS = 1 << 22
"""Tensors with more elements are not taken: a model of one operator has no use for them."""

_NOT_A_CALL = {"_id", "output_signature", "api", "library", "source"}
_NOT_AN_API = {"signature", "similarity", "argvs", "argdef", "api_args", "api_def"}
_LIBRARIES = {"torch": "pytorch", "tf": "tensorflow", "keras": "keras"}
_DTYPE_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "cfloat": "complex64"}
_INDEX_HIGH = 1.0
"""Integer tensors come without values; small ones are valid indices most often."""


class _Unusable(Exception):
    """A document that is no call which can be rebuilt; the message is the reason under which it is counted."""


class FreeFuzzCalls:
    """The calls of a file or folder, each with its provenance.

    Iterating raises UserError where the one file is broken; of a folder the other files are read.

    Attributes:
        dropped: What cannot be rebuilt, by reason; a file that is broken counts once, with its name.
        calls: All documents seen so far.
    """

    def __init__(self, path: Path, source: str) -> None:
        """*path* is a `.bson`, `.json` or `.jsonl` file, named after its API, or a folder of such.

        Raises:
            UserError: *path* has no recorded call.
        """
        self.dropped: Counter[str] = Counter()
        self.calls = 0
        self._source = source
        self._paths = [path] if path.is_file() else sorted(item for item in path.rglob("*") if _is_collection(item))
        if not self._paths:
            raise UserError(f"{path}: no recorded call is here; name files after their APIs, e.g. torch.nn.Conv2d.bson")

    def __iter__(self) -> Iterator[tuple[Instance, Occurrence]]:
        for path in self._paths:
            try:
                yield from self._calls_of(path)
            except UserError:
                if len(self._paths) == 1:
                    raise
                self.dropped[f"broken-file:{path.name}"] += 1

    def _calls_of(self, path: Path) -> Iterator[tuple[Instance, Occurrence]]:
        name = path.name.removesuffix(path.suffix)
        for number, document in enumerate(self._documents(path)):
            self.calls += 1
            try:
                api = str(document.get("api") or name)
                yield instance_of(document, api), Occurrence(self._source, f"{self._source}::{api}::{number}")
            except _Unusable as error:
                self.dropped[str(error)] += 1
            except (ValueError, TypeError, OverflowError, RecursionError):
                self.dropped["malformed-call"] += 1

    def _documents(self, path: Path) -> Iterator[Document]:
        try:
            if path.suffix == ".bson":
                with open_file(path) as file:
                    yield from read_documents(file)
            else:
                yield from _json_documents(path)
        except (ValueError, OSError) as error:
            raise UserError(f"{path.name}: {error}") from error


def instance_of(document: dict[str, object], api: str) -> Instance:
    """The instance that *document*, one call of *api*, describes.

    Raises:
        _Unusable: it cannot be rebuilt.
    """
    api = api.removeprefix("tf.") if api.startswith("tf.keras.") else api
    library = _LIBRARIES.get(api.partition(".")[0])
    if library is None:
        raise _Unusable("api-of-no-known-library")
    inputs = document.get("input_signature")
    arguments = tuple(_arguments(document))
    if _is_class(api):
        if inputs is None:
            raise _Unusable("layer-without-input")
        items = cast("list[object]", inputs) if isinstance(inputs, list) else [inputs]
        call = tuple(Argument(f"arg{index}", _value(item)) for index, item in enumerate(items))
        context = (("training", False),) if library == "pytorch" else ()
        return Instance(library, api, Kind.MODULE, init=arguments, call=call, context=context)
    if api.startswith("torch.Tensor.") and "_input_tensor" in document:
        arguments = (Argument("self", _value(document["_input_tensor"])), *arguments)
    instance = Instance(library, api, Kind.FUNCTION, call=arguments, outcome=Outcome.UNKNOWN)
    if not any(True for _ in instance.tensors()):
        raise _Unusable("no-tensor")
    return instance


def _is_collection(path: Path) -> bool:
    name = path.name.removesuffix(path.suffix)
    return path.suffix in SUFFIXES and path.is_file() and not name.endswith(".metadata") and name.lower() not in _NOT_AN_API


def _json_documents(path: Path) -> Iterator[Document]:
    """The documents of a JSON array, as `mongoexport --jsonArray` writes, or of JSON Lines."""
    with open_file(path) as file:
        is_array = file.read(1) == b"["
    if is_array:
        yield from from_json(read_file(path), list[Document])
    else:
        yield from (from_json(line, Document) for _, line in lines_of(path))


def _is_class(api: str) -> bool:
    """Whether *api* is a layer: its last part begins like a class."""
    return api.rpartition(".")[2][:1].isupper()


def _arguments(document: dict[str, object]) -> Iterator[Argument]:
    """Positional arguments in their order, then named ones."""
    positional = {int(key.partition(":")[2]): value for key, value in document.items() if key.startswith("parameter:")}
    if sorted(positional) != list(range(len(positional))):
        raise _Unusable("positional-argument-missing")
    for index in range(len(positional)):
        yield Argument(f"arg{index}", _value(positional[index]))
    for key, value in document.items():
        if key not in _NOT_A_CALL and key != "input_signature" and not key.startswith(("parameter:", "_")):
            yield Argument(key, _value(value), keyword=True)


def _value(value: object) -> Any:
    if isinstance(value, dict):
        return _tagged(cast("dict[str, object]", value))
    if isinstance(value, list):
        return [_value(item) for item in cast("list[object]", value)]
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise _Unusable(f"value-of-type:{type(value).__name__}")


def _text(value: str) -> Any:
    """A text, or the data type that it names; classes and objects were recorded by the name of their type alone."""
    head, _, name = value.rpartition(".")
    if head in ("torch", "tf", "tf.dtypes") and _canonical(name) in DTYPE_BITS:
        return DType(_canonical(name))
    if value in ("torchdtype", "torchmemory_format", "tf_object", "KerasTensor", "NoneType") or value.startswith(("<class", "torch")):
        raise _Unusable("value-not-kept")
    return value


def _tagged(value: dict[str, object]) -> Any:
    """A tensor, or a value that has a label."""
    plain = {key.lower(): item for key, item in value.items()}
    if "$numberLong" in value or "$numberInt" in value or "$numberDouble" in value:
        return _extended(next(iter(value.items())))
    label = str(plain.get("label", plain.get("type", "tensor" if {"shape", "dtype"} <= plain.keys() else ""))).lower()
    if label in ("tensor", "keras_tensor", "kerastensor", "nparray", "ndarray"):
        return _tensor(plain)
    if label in ("dtype", "torchdtype", "tfdtype", "torch.dtype"):
        return _dtype_value(plain.get("value"))
    if label in ("list", "tuple"):
        items = [_value(item) for item in cast("list[object]", plain.get("value") or [])]
        return tuple(items) if label == "tuple" else items
    if label in ("int", "float", "str", "bool", "none", "nonetype", "constant", "other") and "value" in plain:
        return _value(plain["value"])
    if plain.keys() == {"start", "stop", "step"}:
        return slice(plain["start"], plain["stop"], plain["step"])
    raise _Unusable("value-not-kept")


def _extended(pair: tuple[str, Any]) -> int | float:
    """A number in MongoDB's extended JSON."""
    kind, text = pair
    return float(text) if kind == "$numberDouble" else int(text)


def _tensor(value: dict[str, object]) -> Tensor:
    shape, dtype = value.get("shape"), _canonical(str(value.get("dtype")).rpartition(".")[2])
    if not isinstance(shape, list) or not all(isinstance(side, int) and side >= 0 for side in cast("list[object]", shape)):
        raise _Unusable("tensor-of-unknown-shape")
    if dtype not in DTYPE_BITS:
        raise _Unusable("tensor-of-unknown-dtype")
    sides = tuple(cast("list[int]", shape))
    if math.prod(sides) > MOST_ELEMENTS:
        raise _Unusable("tensor-too-large")
    whole = dtype.startswith(("int", "uint"))
    return Tensor(sides, dtype, constraint=Constraint(0.0, _INDEX_HIGH, structure=("integral",)) if whole else None)


def _canonical(name: str) -> str:
    return _DTYPE_ALIASES.get(name, name)


def _dtype_value(value: object) -> DType:
    name = _canonical(str(value).rpartition(".")[2])
    if name not in DTYPE_BITS:
        raise _Unusable("value-not-kept")
    return DType(name)


def _reader(source: str) -> Reader:
    """The reader of records that the tool called *source* has made."""

    def entries(path: Path, _library: str | None) -> Iterator[Entry | Problem]:
        calls = FreeFuzzCalls(path, source)
        records = iter(calls)
        while True:
            try:
                instance, occurrence = next(records)
            except StopIteration:
                break
            except (UserError, ValueError) as error:
                yield Problem(str(path), None, f"{str(error)[:300]}; nothing after it is read")
                break
            try:
                check_instance(instance)
                yield Entry(instance, (occurrence,))
            except (ValueError, TypeError) as error:
                yield Problem(f"{path}: {occurrence.test}", None, str(error)[:300])
        for reason, count in sorted(calls.dropped.items()):
            yield Problem(str(path), None, f"{plural(count, 'call')} cannot be rebuilt: {reason}")

    def check(path: Path) -> None:
        FreeFuzzCalls(path, source)

    return Reader(entries, check=check)


DEEPREL = _reader("deeprel")
FREEFUZZ = _reader("freefuzz")
