"""The companion of an exported suite: a Python file that runs what YAML cannot say.

A file of a suite is the companion if it has the companion's content, wherever it lies. Its calls are read as data, so that nothing of the
file is executed here.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from opera.arrays import numpy_dtype, tensor_array, to_bytes
from opera.instance import Instance, Tensor, decode_instance, decode_value, encode_instance, encode_value
from opera.instance.values import ends_of
from opera.instrumentation.wire import Json
from opera.trust import FILE_PATH
from opera.untrusted import JsonObject, Malformed, read_file

NAME = "opidiff_companion.py"
CALL = f"file:{NAME}::Call"
_FILE = Path(__file__).resolve().with_name("companion_text.py")
_PARTS = ("api", "kind", "init", "call", "context", "defaults")


@functools.cache
def content() -> bytes:
    """The bytes of the companion file."""
    return _FILE.read_bytes()


def companions(paths: Iterable[str], folders: Sequence[Path]) -> frozenset[str]:
    """Those of *paths*, `file:PATH.py::NAME`, whose file below one of *folders* is the companion."""
    wanted = hashlib.sha256(content()).digest()

    @functools.cache
    def is_companion(file: str) -> bool:
        for folder in folders:
            try:
                return hashlib.sha256(read_file(folder / file, len(content()))).digest() == wanted
            except Malformed:
                return False
            except OSError:
                continue
        return False

    matches = ((path, FILE_PATH.fullmatch(path)) for path in set(paths))
    return frozenset(
        path for path, match in matches if match is not None and Path(match["file"]).name == NAME and is_companion(match["file"])
    )


def instance_from(document: object, inputs: Sequence[object]) -> Instance:
    """The instance that the module for calls runs with *inputs*; raises ValueError for a malformed document."""
    if not isinstance(document, dict):
        raise ValueError("the companion's call is a mapping")
    parts = cast("dict[str, Json]", document)
    filled = {name: _filled(value, inputs) for name, value in parts.items() if name in _PARTS}
    return decode_instance({"schema": "instance/1", "library": "pytorch", **filled})


def _filled(tree: Json, inputs: Sequence[object]) -> Json:
    """*tree* with the documents of tensors in place of references to inputs."""
    if isinstance(tree, list):
        return [_filled(each, inputs) for each in tree]
    if not isinstance(tree, dict):
        return tree
    if "input" not in tree:
        return {name: _filled(each, inputs) for name, each in tree.items()}
    number = tree["input"]
    found = inputs[number] if isinstance(number, int) and 0 <= number < len(inputs) else None
    if not isinstance(found, Tensor):
        raise ValueError(f"the companion's call refers to input {str(number)[:20]}, which is no tensor of the test")
    return encode_value(found if "as" not in tree else _restored(found, decode_value({"tensor": tree["as"]})))


def _restored(found: Tensor, described: object) -> Tensor:
    """The tensor whose values the input *found* carries."""
    assert isinstance(described, Tensor)
    if found.data is None or described.distribution is not None:
        return described
    array = tensor_array(found)
    pairs = described.dtype.startswith("complex") and not found.dtype.startswith("complex")
    if array.shape != ((*described.shape, 2) if pairs else described.shape):
        raise ValueError("the companion's call describes an input of another shape")
    with np.errstate(all="ignore"):
        data = to_bytes((array[..., 0] + 1j * array[..., 1] if pairs else array).astype(numpy_dtype(described.dtype)))
    same = found.dtype == described.dtype
    return replace(described, data=data, constraint=described.constraint or (found.constraint if same else None))


def call_document(instance: Instance, place: Callable[[Tensor], JsonObject], *, defaults: bool) -> dict[str, Json]:
    """The argument of the module for calls.

    Args:
        instance: To run.
        place: Takes a tensor of the call; gives what stands for it: the number of an input, or the tensor.
        defaults: Whether to say the defaults of the parameters, on which the identity depends.

    Raises:
        Unrecordable: it has a value that no document can have.
    """
    document = encode_instance(instance)
    found: dict[str, Json] = {name: document[name] for name in _PARTS if name in document and (defaults or name != "defaults")}
    found["call"] = [
        {**cast("dict[str, Json]", argument), "value": _referred(each.value, place)}
        for argument, each in zip(cast("list[Json]", document["call"]), instance.call, strict=True)
    ]
    return found


def _referred(value: object, place: Callable[[Tensor], JsonObject]) -> Json:
    if isinstance(value, Tensor):
        return cast(Json, place(value))
    if isinstance(value, list):
        return [_referred(each, place) for each in cast("list[object]", value)]
    if isinstance(value, tuple):
        return {"tuple": [_referred(each, place) for each in cast("tuple[object, ...]", value)]}
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value).items()
        return {"dict": [[_referred(key, place), _referred(each, place)] for key, each in pairs]}
    if isinstance(value, slice):
        return {"slice": [_referred(each, place) for each in ends_of(cast(slice, value))]}
    return encode_value(cast("str", value))
