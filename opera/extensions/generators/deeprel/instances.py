"""The recorded instances of a file, by API; the documents themselves stay in the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

from opera.atomic import open_file
from opera.bounded_json import parsed_json
from opera.extensions.generators.deeprel.matching import ParameterSlot
from opera.extensions.generators.docter.constraints import (
    BOOL,
    BOOLS,
    DTYPE,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NONE,
    OTHER,
    STRING,
    TENSOR,
    TENSORS,
)

Document = dict[str, Any]


class RecordedApi:
    """What is known of one API from its recorded calls.

    Attributes:
        offsets: Where its documents lie.
        total: How many there are; no more offsets are kept than asked for.
        behaviour: How often its tensors had each number of dimensions and dtype.
    """

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.total = 0
        self.behaviour: Counter[tuple[int, str]] = Counter()
        self._kinds: dict[tuple[str, str], set[str]] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._seen: Counter[tuple[str, str]] = Counter()

    def add(self, document: Document) -> None:
        """Takes note of one document."""
        self.total += 1
        for part, key in (("build", "init"), ("call", "call")):
            for index, argument in enumerate(document.get(key) or ()):
                slot = (part, str(argument["name"]))
                kinds = self._kinds.setdefault(slot, set())
                kinds.add(kind_of(argument["value"]))
                self._places.setdefault(slot, index)
                self._seen[slot] += 1
                for tensor in _tensors(argument["value"]):
                    self.behaviour[len(tensor["shape"]), str(tensor["dtype"])] += 1
                    if tensor["dtype"] == STRING:
                        kinds.add(STRING)  # a tensor of texts goes where a text goes

    def slots(self) -> list[ParameterSlot]:
        """The arguments that its calls had; those of every call count as required."""
        return [
            ParameterSlot(part, name, frozenset(kinds), self._places[part, name], self._seen[part, name] >= self.total)
            for (part, name), kinds in self._kinds.items()
        ]


class InstanceFile:
    """A JSON Lines file of `{"id": ..., "instance": {...}}`, as `opera export jsonl` writes it; headers are passed over."""

    def __init__(self, path: str, library: str, limit: int) -> None:
        """Reads what the file at *path* has of *library*, once; *limit* is the most documents that are kept of each API, spread over all.

        Raises:
            ValueError: a line is no instance document.
        """
        self.apis: dict[str, RecordedApi] = {}
        self.nothing: Counter[tuple[int, str]] = Counter()
        self._path = path
        offset = 0
        with open_file(Path(path)) as file:
            for number, line in enumerate(file, 1):
                try:
                    content = cast(Document, parsed_json(line))
                    document: Document = content["instance"] if "schema" not in content else {}
                    if not document or document["library"] != library:
                        offset += len(line)
                        continue
                    recorded = self.apis.setdefault(str(document["api"]), RecordedApi())
                    recorded.add(document)
                except (ValueError, KeyError, TypeError) as error:
                    raise ValueError(f"{path}: line {number} is no instance: {error!r}") from error
                if document.get("outcome") != "raised":
                    recorded.offsets.append(offset)
                offset += len(line)
        for recorded in self.apis.values():
            step = max(1, -(-len(recorded.offsets) // limit))
            recorded.offsets = recorded.offsets[::step]

    def documents(self, api: str) -> list[Document]:
        """The kept documents of *api*."""
        found: list[Document] = []
        with open_file(Path(self._path)) as file:
            for offset in self.apis[api].offsets:
                file.seek(offset)
                found.append(cast(Document, parsed_json(file.readline()))["instance"])
        return found


def kind_of(value: Any) -> str:
    """The kind of a value in the form of the instance format."""
    if isinstance(value, dict):
        ((tag, content),) = cast("Document", value).items()
        if tag == "tuple":
            return kind_of(content)
        return {"tensor": TENSOR, "dtype": DTYPE, "float": FLOAT, "complex": FLOAT}.get(tag, OTHER)
    if isinstance(value, list):
        inner = {kind_of(item) for item in cast("list[Any]", value)}
        return next((many for one, many in ((TENSOR, TENSORS), (FLOAT, FLOATS), (BOOL, BOOLS)) if one in inner), INTS)
    if value is None:
        return NONE
    return BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT if isinstance(value, float) else STRING


def _tensors(value: Any) -> list[Document]:
    if isinstance(value, list):
        return [tensor for item in cast("list[Any]", value) for tensor in _tensors(item)]
    if isinstance(value, dict):
        ((tag, content),) = cast("Document", value).items()
        return [content] if tag == "tensor" else _tensors(content) if tag == "tuple" else []
    return []
