"""Models of others as documents of programs, read in a process of an interpreter that has their library."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from opera.config import load_config
from opera.console import one_line
from opera.errors import EnvironmentBroken
from opera.extensions.programs.policy import BadPolicy
from opera.extract.host import answer
from opera.untrusted import parsed_json, read_file

_LARGEST = 2**26
"""Bytes of a file with programs."""
_BATCH = 100
"""Models that one process reads; its time is a minute."""


class ReadModel(NamedTuple):
    """What a reader says of a model.

    Attributes:
        document: Its `program/1` document without inputs; None where nothing of it can be read.
        opaque: What no program can hold, each with the reason; for an unreadable model, what is wrong with it.
    """

    document: object
    opaque: tuple[str, ...]


class _Reader(NamedTuple):
    module: str
    role: str
    of: str

    @property
    def python(self) -> str:
        return load_config().python(self.role, self.of)


INSTANCES = _Reader("seeds", "library", "onnx")
"""Reads the instances of a corpus file, one a line."""
READERS = {".onnx": _Reader("from_onnx", "library", "onnx"), ".json": _Reader("from_relax", "compiler", "tvm")}
"""Readers of models, by the suffix of the file."""


def read_by(reader: _Reader, arguments: Sequence[str]) -> list[ReadModel]:
    """What *reader* writes, in an interpreter that has the library of the models.

    Raises:
        EnvironmentBroken: it does not run there.
    """
    with tempfile.TemporaryDirectory(prefix="opera-") as scratch:
        lines = Path(scratch) / "read.jsonl"
        python = reader.python
        text = answer([python, "-m", f"opera.extensions.programs.templates.{reader.module}", str(lines), *arguments], Path(scratch))
        if not lines.exists():
            raise EnvironmentBroken(f"{python} cannot read such models ({one_line(text[-200:])}); install OPERA and their library there")
        return [_read(line) for line in lines.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def _read(line: bytes) -> ReadModel:
    found = cast("Mapping[str, object]", parsed_json(line))
    if "error" in found:
        return ReadModel(None, (str(found["error"]),))
    return ReadModel(found.get("program"), tuple(map(str, cast("list[object]", found.get("opaque")))))


def models_in(paths: Sequence[Path]) -> Iterator[tuple[Path, ReadModel]]:
    """The models in files and folders, each file that has the suffix of a model; one that ends its reader is unreadable.

    Raises:
        EnvironmentBroken: a reader does not run.
    """
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    for suffix, reader in READERS.items():
        left = [file for file in files if file.suffix == suffix and file.is_file()]
        while left:
            batch = left[:_BATCH]
            read = read_by(reader, [str(file.resolve()) for file in batch])
            if len(read) < len(batch):
                read.append(ReadModel(None, ("the reader died of it, or took more than a minute",)))
            yield from zip(batch, read, strict=False)
            left = left[len(read) :]


def documents_in(path: Path) -> tuple[list[object], tuple[str, ...]]:
    """The documents of a file's programs, and what of a model is opaque.

    Args:
        path: An ONNX model, a `program/1` document or a module that `tvm.ir.save_json` wrote (`.json`), or one document a line.

    Raises:
        BadPolicy: there is no such model, or it cannot be read.
    """
    if path.suffix == ".onnx":
        if not path.is_file():
            raise BadPolicy("there is no such file")
        return _one(path)
    data = read_file(path, _LARGEST)
    if path.suffix != ".json":
        return [parsed_json(each) for each in data.splitlines()], ()
    document = parsed_json(data)
    if isinstance(document, Mapping) and {"root_index", "nodes"} <= set(cast("Mapping[str, object]", document)):
        return _one(path)
    return [document], ()


def _one(path: Path) -> tuple[list[object], tuple[str, ...]]:
    ((_, found),) = models_in([path])
    if found.document is None:
        raise BadPolicy("; ".join(found.opaque))
    return [found.document], found.opaque
