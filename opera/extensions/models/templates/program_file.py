"""Refuses a file of `torch.export.save` that holds more than data.

PyTorch loads such a file with means that run code: it unpickles objects, loads libraries, evaluates the texts of symbolic sizes, looks up
functions by name, and writes names into Python code that it executes. So every text of the file has to be of a kind that cannot do harm,
and the process that loads it sets `TORCH_FORCE_WEIGHTS_ONLY_LOAD`.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opera.bounded_json import Malformed, parsed_json
from opera.extensions.models.templates.opened import MOST_BYTES, ModelRefused

_MOST_TEXT = 64 * 2**20
"""Bytes of the description of a program."""
_MEMBER = re.compile(
    r"[^/]+/(archive_format|archive_version|byteorder|version|\.data/\w+|extra/.*|models/\w+\.json|data/sample_inputs/\w+\.pt"
    r"|data/(weights|constants)/((weight|tensor)_\d+|\w+_config\.json))"
)
_WORD = re.compile(r"[\w.+-]*")
"""What names and versions consist of."""
_TARGET = re.compile(
    r"torch\.ops\.(aten|prims|quantized|torchvision)\.(?!from_file\b|save\b)\w+(\.[a-zA-Z]\w*)?"
    r"|torch\.ops\.higher_order\.(cond|while_loop|map_impl|scan|associative_scan|flex_attention|invoke_subgraph|auto_functionalized\w*|wrap_with_\w+)"
    r"|_operator\.(?!call\b|methodcaller\b|attrgetter\b)[a-z]\w*|math\.[a-z]\w*|torch\.(utils\._sympy\.functions\.[A-Z]|_?sym_)\w+"
)
"""Operators of PyTorch that touch no file, and arithmetic."""
_TREE = re.compile(r'(?:[\w.\s\[\]{},:"-]|\\")*')
"""JSON about the structure of inputs and outputs, with JSON in it."""
_IMPORTS = re.compile("__enum__|default_factory")
"""What makes PyTorch import a module that the file names."""
_EXPRESSION = re.compile(r"(?:[\w\s+*/%(),<>=!&|~-]|(?<=\d)\.(?=\d)|'[\w.]*')*")
_KNOWN_CALL = re.compile(
    r"(Abs|Add|And|CeilDiv|CeilToInt|CleanDiv|Equality|Float|FloatPow|FloatTrueDiv|FloorDiv|FloorToInt|GreaterThan|Identity|IntTrueDiv|Integer"
    r"|IsNonOverlappingAndDenseIndicator|LShift|LessThan|Max|Min|Mod|ModularIndexing|Mul|Not|Or|Pow|PowByNatural|PythonMod|RShift|Rational"
    r"|RoundDecimal|RoundToInt|StrictGreaterThan|StrictLessThan|Symbol|ToFloat|TruncToFloat|TruncToInt|Unequality|Where|ceiling|floor)"
)
"""Functions of symbolic sizes."""
_CALLED = re.compile(r"([\w.)']+)\s*\(")
_BY_KEY = {"target": _TARGET, "as_operator": _TARGET, "in_spec": _TREE, "out_spec": _TREE, "expr_str": _EXPRESSION}


def check_program(path: Path) -> None:
    """Raises ModelRefused if the file at *path* is no program of PyTorch, or holds more than data."""
    if path.stat().st_size > MOST_BYTES:
        raise ModelRefused(f"{path.name} has {path.stat().st_size:,} bytes; OPERA checks models up to {MOST_BYTES:,}: check a part of it")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [each.filename for each in members]
            if len({name.lower() for name in names}) != len(names):
                raise ModelRefused(f"{path.name} holds two files of one name; save the program again")
            if strange := next((name for name in names if not _MEMBER.fullmatch(name)), None):
                raise ModelRefused(f"{path.name} holds {strange[:100]!r}, which may be code; save the program without objects of your own")
            if sum(each.file_size for each in members) > MOST_BYTES:
                raise ModelRefused(f"{path.name} has more than {MOST_BYTES:,} bytes once it is unpacked")
            for each in members:
                if each.filename.endswith(".json"):
                    if each.file_size > _MOST_TEXT:
                        raise ModelRefused(f"{path.name} describes its program in {each.file_size:,} bytes; OPERA reads {_MOST_TEXT:,}")
                    for key, text in _texts(parsed_json(archive.read(each))):
                        if not _is_harmless(key, text):
                            raise ModelRefused(f"{path.name} may run code: {key or 'a name'} is {text[:100]!r}; export the model again")
    except (zipfile.BadZipFile, Malformed, OSError, RecursionError, NotImplementedError, RuntimeError) as error:
        raise ModelRefused(f"{path.name} is no file of torch.export.save: {str(error)[:200]}") from error


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The texts in a JSON value, each with the key that it stands under; keys themselves stand under none."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield "", name
            if not _is_free(name, each):
                yield from _texts(each, name)


def _is_free(key: str, value: Any) -> bool:
    """Whether PyTorch keeps a value as it is: remarks on a node, and texts that are arguments of operators."""
    if key == "metadata":
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return (key == "as_string" and isinstance(value, str)) or (
        key == "as_strings" and isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def _is_harmless(key: str, text: str) -> bool:
    if "__import__" in text or not _BY_KEY.get(key, _WORD).fullmatch(text):
        return False
    if key in ("in_spec", "out_spec"):
        return not _IMPORTS.search(text)
    return key != "expr_str" or all(map(_KNOWN_CALL.fullmatch, _CALLED.findall(text)))
