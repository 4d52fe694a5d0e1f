"""Stores the features of a corpus in a file, so the next ranking reads only new instances.

The file is one zlib stream behind the SHA-256 of what it holds: a JSON document, then for each operator the numbers of outlines and the
codes of its rows. It belongs to the code that read the features; any other takes it for nothing.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from opera.atomic import replacing
from opera.instance import decode_instance, encode_instance
from opera.prioritize.operator_features import OperatorFeatures, Read
from opera.store.signing import is_signed, signature
from opera.untrusted import inflated, read_file

_READERS = ("encoding.py", "features.py", "kept_features.py", "operator_features.py", "relations.py", "subspaces.py")
_HEAD = struct.Struct("<32sQ")
"""Signature of this user, length of the JSON part."""
_KIND = "features"

Operators = Mapping[tuple[str, str], OperatorFeatures]


def load(path: Path) -> dict[tuple[str, str], OperatorFeatures]:
    """The content that `keep` wrote to *path*, by library and API; empty if it is missing, damaged, another user's or another version's."""
    try:
        data = read_file(path)
        code, length = _HEAD.unpack_from(data)
        body = inflated(data[_HEAD.size :])
        if not is_signed(code.hex(), _KIND, hashlib.sha256(body).hexdigest()):
            return {}
        document: dict[str, Any] = json.loads(body[:length])
    except (OSError, ValueError, struct.error):
        return {}
    if document["version"] != _version():
        return {}
    arrays = memoryview(body)[length:]
    found: dict[tuple[str, str], OperatorFeatures] = {}
    for each in document["operators"]:
        rows = len(each["ids"])
        outline_of, arrays = _array(arrays, each["dtype"], (rows,))
        codes, arrays = _array(arrays, each["dtype"], (rows, len(each["columns"])))
        outlines = [decode_instance(outline) for outline in each["outlines"]]
        read = Read(each["ids"], outlines, outline_of.tolist(), each["columns"], codes)
        found[each["library"], each["api"]] = OperatorFeatures(read)
    return found


def keep(path: Path, operators: Operators) -> None:
    """Writes *operators* to *path*, all or nothing."""
    documents: list[dict[str, Any]] = []
    arrays: list[bytes] = []
    for (library, api), features in sorted(operators.items()):
        read = features.read()
        largest = max(len(read.outlines), int(read.codes.max(initial=0)))
        dtype = "u1" if largest < 2**8 else "<u2" if largest < 2**16 else "<i4"
        arrays += [np.array(read.outline_of).astype(dtype).tobytes(), read.codes.astype(dtype).tobytes()]
        documents.append(
            {
                "library": library,
                "api": api,
                "ids": read.ids,
                "dtype": dtype,
                "columns": read.columns,
                "outlines": [encode_instance(outline) for outline in read.outlines],
            }
        )
    document = json.dumps({"version": _version(), "operators": documents}).encode()
    body = b"".join([document, *arrays])
    with replacing(path) as file:
        code = bytes.fromhex(signature(_KIND, hashlib.sha256(body).hexdigest()))
        file.write(_HEAD.pack(code, len(document)) + zlib.compress(body, 1))


def _array(data: memoryview, dtype: str, shape: Sequence[int]) -> tuple[npt.NDArray[np.int32], memoryview]:
    """The array that *data* begins with, and what follows it."""
    count = int(np.prod(shape))
    found = np.frombuffer(data, dtype, count)
    return found.astype(np.int32).reshape(shape), data[found.nbytes :]


@cache
def _version() -> str:
    """Another one for any other code that reads features."""
    folder = resources.files("opera.prioritize")
    return hashlib.sha256(b"".join(folder.joinpath(name).read_bytes() for name in _READERS)).hexdigest()
