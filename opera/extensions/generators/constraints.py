"""Reads the constraint files that DocTer extracted from documentation: one YAML file per API, turned into one JSON file for the host.

A constraint that this reader does not understand is left out and counted, because extracted constraints are noisy by nature. A file
that is not of the form at all is an error that names file and key.
"""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from opera.console import say
from opera.errors import EnvironmentBroken, UserError
from opera.untrusted import Malformed, read_file

FORMAT = 1
PREFIXES = {"tensorflow": ("tf.", "tensorflow."), "pytorch": ("torch.",), "keras": ("keras.", "tf.keras.")}
"""How the names of a library's APIs begin."""

_LISTS = ("dtype", "ndim", "shape", "range", "enum", "structure", "tensor_t")
_NUMERIC = ("float32", "float64", "int32", "int64")
_DTYPES = {
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "complex128",
}
_WORDS = {"int": "int", "float": "float", "bool": "bool", "string": "string", "str": "string", "dtype": "dtype"}
_MANY = {"int": "ints", "float": "floats", "bool": "bools"}
_NUMBER = r"-?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})"
_INTERVAL = re.compile(rf"^([\[(])\s*({_NUMBER}|-?inf)\s*,\s*({_NUMBER}|\+?inf)\s*([\])])$", re.ASCII)
_SIDE = re.compile(r"\d{1,9}", re.ASCII)
_MOST_BYTES = 2**20
_MOST_NESTED = 50
_NAMED_RANGES: dict[str, tuple[float | None, float | None]] = {
    "non_negative": (0, None),
    "non-negative": (0, None),
    "positive": (1, None),
    "negative": (None, -1),
}
_MOST_DIMS = 6


@dataclass(frozen=True)
class Constraints:
    """The constraints of a library's APIs.

    Attributes:
        apis: API to parameter to what the file says: `kinds`, `dtypes`, `ndims`, `shapes`, `low`, `high`, `choices`; absent where unsaid.
        ignored: Number of constraints that were not understood, by kind and text.
    """

    apis: Mapping[str, Mapping[str, Mapping[str, object]]]
    ignored: Mapping[str, int]

    def write(self, path: Path) -> None:
        """Writes the file that the host `docter` reads with `--constraints`."""
        content = {"constraints": FORMAT, "apis": self.apis}
        path.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")), encoding="utf-8")


def prepared(path: Path, library: str, scratch: Path) -> Path:
    """The file of constraints that the host reads: *path* itself, or made of DocTer's files if *path* is a folder.

    It says how many constraints were not understood.

    Raises:
        UserError: a file of the folder is malformed, or none is there.
    """
    if path.is_file():
        return path
    found = read_constraints(path, library)
    made = scratch / "constraints.json"
    found.write(made)
    say(f"constraints of {len(found.apis)} APIs; {sum(found.ignored.values())} constraints were not understood and are left out")
    return made


def read_constraints(folder: Path, library: str) -> Constraints:
    """Reads every YAML file below *folder* that describes an API of *library*.

    Raises:
        UserError: there is no such file, or one is not of the form; the message names file and key.
        EnvironmentBroken: PyYAML is not installed.
    """
    paths = sorted([*folder.rglob("*.yaml"), *folder.rglob("*.yml")])
    if not paths:
        raise UserError(f"{folder}: the folder has no YAML file; name the folder with DocTer's constraints of {library}")
    ignored: Counter[str] = Counter()
    apis: dict[str, dict[str, dict[str, object]]] = {}
    for path in paths:
        table = _load(path)
        name = table.get("title") or table.get("target")
        if not isinstance(name, str):
            raise UserError(f"{path.name}: 'title' must be the name of an API, found {str(name)[:80]!r}")
        if name.startswith(PREFIXES.get(library, (f"{library}.",))):
            apis[name] = _Reader(path.name, ignored).parameters(table)
    if not apis:
        raise UserError(f"{folder}: none of its {len(paths)} YAML files describes an API of {library}; name the folder of this library")
    return Constraints(apis, dict(ignored.most_common()))


def _load(path: Path) -> dict[str, object]:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        raise EnvironmentBroken("DocTer's files need PyYAML; install it with `pip install PyYAML`") from error
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8")
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):  # as far as it is harmless: the reader takes the square of the depth
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_NESTED:
                raise Malformed("nested too deep")
            if isinstance(event, yaml.AliasEvent):
                raise Malformed("it has aliases, which no file of DocTer's has")
        content: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise UserError(f"{path.name}: not a YAML file: {str(error)[:200]}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path.name}: expected a mapping with 'title', 'inputs' and 'constraints'")
    return cast("dict[str, object]", content)


class _Reader:
    """Reads the constraints of one API from a file."""

    def __init__(self, place: str, ignored: Counter[str]) -> None:
        self._place = place
        self._ignored = ignored

    def parameters(self, table: dict[str, object]) -> dict[str, dict[str, object]]:
        """The file's constraints of each parameter."""
        constraints = self._mapping(table, "constraints")
        return {str(name): self._row(str(name), row) for name, row in constraints.items()}

    def _mapping(self, table: dict[str, object], key: str) -> dict[str, object]:
        value: object = table.get(key) or {}
        if not isinstance(value, dict):
            raise UserError(f"{self._place}: {key!r} must be a mapping, found {type(value).__name__}")
        return cast("dict[str, object]", value)

    def _row(self, name: str, row: object) -> dict[str, object]:
        if row is not None and not isinstance(row, dict):
            raise UserError(f"{self._place}: constraints of {name!r} must be a mapping, found {type(row).__name__}")
        lists = {key: self._texts(name, key, cast("dict[str, object]", row or {}).get(key)) for key in _LISTS}
        found: dict[str, object] = {
            "kinds": self._kinds(lists),
            "dtypes": self._dtypes(lists["dtype"]),
            "ndims": self._ndims(lists["ndim"]),
            "shapes": [shape for text in lists["shape"] if (shape := self._shape(text)) is not None],
            "choices": [] if not set(lists["dtype"]) <= {"string", "tf.string"} else [text for text in lists["enum"] if text != "None"],
        }
        found.update(self._range(lists["range"]))
        return {key: value for key, value in found.items() if value not in ([], None)}

    def _texts(self, name: str, key: str, value: object) -> list[str]:
        """A list of texts; a single one counts as a list."""
        if value is None:
            return []
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(item, (str, int, float)) for item in items):
            raise UserError(f"{self._place}: {key!r} of {name!r} must be a list of texts, found {str(value)[:80]}")
        return [str(item).strip() for item in items]

    def _ignore(self, key: str, text: str) -> None:
        self._ignored[f"{key}: {text}"] += 1

    def _kinds(self, lists: Mapping[str, list[str]]) -> list[str]:
        """The kinds of value, a tensor first."""
        kinds: list[str] = []
        words = [_WORDS[word] for text in lists["dtype"] if (word := _plain(text)) in _WORDS and not _is_dtype(text)]
        if any("tensor" in text.lower() for text in lists["tensor_t"]):
            kinds.append("tensor")
        listed = any(text in ("list", "tuple") for text in lists["structure"])
        if not listed or "0" in lists["ndim"]:
            kinds += words
            kinds += ["bool" for text in lists["dtype"] if text in ("torch.bool", "tf.bool") and "tensor" not in kinds]
        if listed:
            kinds += [_MANY[word] for word in words if word in _MANY] or ([] if words else ["ints"])
        return list(dict.fromkeys(kinds))

    def _dtypes(self, texts: list[str]) -> list[str]:
        found: list[str] = []
        for text in texts:
            if text == "numeric":
                found.extend(_NUMERIC)
            elif _is_dtype(text):
                found.append(_plain(text))
            elif _plain(text) not in _WORDS:
                self._ignore("dtype", text)
        return list(dict.fromkeys(found))

    def _ndims(self, texts: list[str]) -> list[int]:
        found: list[int] = []
        for text in texts:
            match = re.match(r"^(>=|>|<=|<)?\s*(\d{1,2})$", text, re.ASCII)
            if match is None:
                self._ignore("ndim", text)
                continue
            bound = int(match.group(2))
            wide = {">=": range(bound, _MOST_DIMS), ">": range(bound + 1, _MOST_DIMS), "<=": range(bound + 1), "<": range(bound)}
            found.extend(wide.get(match.group(1) or "", range(bound, bound + 1)))
        return list(dict.fromkeys(found))

    def _shape(self, text: str) -> list[int | str] | None:
        """`[batch,&num_true,3]`; `&` marks another parameter, whose value the side is."""
        match = re.match(r"^[\[(](.*)[\])]$", text)
        if match is None or any(word in text for word in ("tensor", "scalar", "vector")):
            self._ignore("shape", text)
            return None
        sides = [side.strip().lstrip("&") for side in match.group(1).split(",")]
        return [int(side) if _SIDE.fullmatch(side) else side for side in sides if side]

    def _range(self, texts: list[str]) -> dict[str, float | None]:
        for text in texts:
            match = _INTERVAL.match(text)
            if match is not None:
                low, high = (None if "inf" in end else float(end) for end in match.group(2, 3))
                return {"low": low, "high": high}
            if text in _NAMED_RANGES:
                return dict(zip(("low", "high"), _NAMED_RANGES[text], strict=True))
            self._ignore("range", text)
        return {}


def _plain(text: str) -> str:
    return text.removeprefix("torch.").removeprefix("tf.").removeprefix("np.")


def _is_dtype(text: str) -> bool:
    """Whether *text* is a dtype of tensors; a bare `int`, `bool` or `float` is the type of a number."""
    return _plain(text) in _DTYPES and text not in _WORDS and text not in ("torch.bool", "tf.bool")
