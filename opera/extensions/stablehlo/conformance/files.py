"""The files that `opera stablehlo` reads: programs, inputs, and lists of known failures."""

from __future__ import annotations

import base64
import io
import re
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from opera.errors import NothingSelected, UserError
from opera.extensions.stablehlo.conformance.run_lines import RunLines, run_lines_of
from opera.extensions.stablehlo.messages import RawArray
from opera.extensions.stablehlo.scanner import Program, TextError, first_function, programs_of
from opera.extensions.stablehlo.statements import generic
from opera.untrusted import MOST_BYTES, Malformed, read_file

STDIN = "-"
_STDIN_NAME = "<stdin>"
_SUFFIX = ".mlir"
_NUMBERED = re.compile(r"(?:arg|arr_|input_?)?(\d+)")


@dataclass(frozen=True)
class SourceFile:
    """A file of programs.

    Attributes:
        name: As the user named it, or found in a folder that the user named.
        programs: Its programs, with checks in generic form. In place of one that cannot be written so, and of a file that is no text: why.
        run_lines: What its RUN lines ask for.
    """

    name: str
    programs: tuple[Program | Unreadable, ...]
    run_lines: RunLines = field(default_factory=RunLines)


@dataclass(frozen=True)
class Unreadable:
    """A program with a check outside the grammar, or a file that is no text.

    Attributes:
        line: Line of the file, counted from 1.
        function: The function with which it begins; empty if there is none.
        message: What is wrong.
    """

    line: int
    function: str
    message: str


def read_source(name: str) -> SourceFile:
    """The programs of a file, or of standard input for `-`.

    Raises:
        UserError: it cannot be read, or is no text.
    """
    place = "standard input" if name == STDIN else name
    try:
        return _source(name)
    except _NoText as error:
        at = f"{place}:{error.line}" if error.line else place
        raise UserError(f"{at}: {error}; {error.remedy}") from error


def read_sources(paths: Iterable[str]) -> list[SourceFile]:
    """The programs of each file under *paths*, as `find_sources` finds them; a file of a folder that is no text is one unreadable program.

    Raises:
        UserError: a path does not exist, or a file that *paths* names cannot be read.
        NothingSelected: there is no such file in any folder.
    """
    named = list(paths)
    return [read_source(each) if each in named else _read_inner(each) for each in find_sources(named)]


def _read_inner(name: str) -> SourceFile:
    try:
        return _source(name)
    except _NoText as error:
        return SourceFile(name, (Unreadable(error.line or 1, "", str(error)),))


class _NoText(ValueError):
    """A file that has no text to read, with the line where that shows (0 if it does not), and what to do."""

    def __init__(self, message: str, remedy: str, line: int = 0) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.line = line


def _source(name: str) -> SourceFile:
    """The programs of a file; raises _NoText if it cannot be read."""
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if name == STDIN else read_file(Path(name))
    except Malformed as error:
        raise _NoText(str(error), "name a file of StableHLO text") from error
    except OSError as error:
        raise _NoText(str(error.strerror), "name a file of StableHLO text, or - for standard input") from error
    if len(data) > MOST_BYTES:
        raise _NoText(f"it has more than {MOST_BYTES >> 20} MiB", "split the programs into files")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise _NoText("no UTF-8 text", "write the program as text (`stablehlo-opt` does)", line) from error
    return SourceFile(_STDIN_NAME if name == STDIN else name, tuple(_generic(each) for each in programs_of(text)), run_lines_of(text))


def _generic(program: Program) -> Program | Unreadable:
    try:
        return Program(generic(program.text), program.line)
    except TextError as error:
        return Unreadable(program.line + error.line - 1, first_function(program.text), str(error))


def find_sources(paths: Iterable[str]) -> list[str]:
    """The files under *paths*: each file itself, and the `.mlir` files of each folder in alphabetical order.

    Raises:
        UserError: a path does not exist.
        NothingSelected: there is no such file in any folder.
    """
    found: list[str] = []
    for each in dict.fromkeys(paths):
        path = Path(each)
        if each == STDIN or (path.exists() and not path.is_dir()):
            found.append(each)
        elif path.is_dir():
            inner = sorted(file for file in path.rglob(f"*{_SUFFIX}") if file.is_file() and not _is_hidden(file.relative_to(path)))
            found.extend(str(file) for file in inner)
        else:
            raise UserError(f"{each} does not exist; name a file of StableHLO text, or a folder of {_SUFFIX} files")
    if not found:
        raise NothingSelected(f"no {_SUFFIX} file in {', '.join(paths)}; name another folder, or a file")
    return list(dict.fromkeys(found))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read_arrays(name: str) -> tuple[RawArray, ...]:
    """The arrays of an npz or npy file as inputs: by the number in their names (`arg0`, `arr_0`), else in the order of the file.

    Raises:
        UserError: it is no such file, holds objects, or unpacks to too much.
    """
    return tuple(_raw(key, array) for key, array in _in_order(arrays_by_name(name)))


def arrays_by_name(name: str) -> dict[str, Any]:
    """The arrays of an npz file by name; the one of an npy file as `arg0`.

    Raises:
        UserError: it is no such file, holds objects, or unpacks to too much.
    """
    try:
        data = read_file(Path(name))
    except Malformed as error:
        raise UserError(f"{name}: {error}; name a file of numpy.savez") from error
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}; name a file of numpy.savez") from error
    try:
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                    raise UserError(f"{name}: the arrays have more than {MOST_BYTES >> 20} MiB; save fewer")
        loaded: Any = np.load(io.BytesIO(data), allow_pickle=False)
        return {key: loaded[key] for key in loaded.files} if hasattr(loaded, "files") else {"arg0": loaded}
    except UserError:
        raise
    except Exception as error:  # what numpy, zipfile and zlib raise for damaged files is documented nowhere
        raise UserError(f"{name}: no arrays of numpy ({str(error).splitlines()[0] if str(error) else type(error).__name__})") from error


def _in_order(arrays: dict[str, Any]) -> list[tuple[str, Any]]:
    numbers = {key: match for key in arrays if (match := _NUMBERED.fullmatch(key))}
    if len(numbers) < len(arrays):
        return list(arrays.items())
    return sorted(arrays.items(), key=lambda item: int(numbers[item[0]][1]))


def _raw(name: str, array: Any) -> RawArray:
    plain = np.asarray(array)
    if plain.dtype.byteorder == ">":
        plain = plain.astype(plain.dtype.newbyteorder("<"))
    return RawArray(name, plain.dtype.str.lstrip("<|="), list(plain.shape), base64.b64encode(plain.tobytes("C")).decode("ascii"))
