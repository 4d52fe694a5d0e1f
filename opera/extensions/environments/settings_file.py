"""Writes the interpreters of environments into `opera.toml`, and leaves all the rest of the file as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from opera.atomic import replacing
from opera.config import config_in, content_of, entries_of
from opera.errors import UserError
from opera.untrusted import Malformed, parsed_toml

_TEXT = r"""("(?:[^"\\]|\\.)*"|'[^']*')"""


@dataclass(frozen=True)
class Entry:
    """A line of `opera.toml` that names an interpreter.

    Attributes:
        section: `compiler` or `library`.
        name: What lives in the environment.
        version: The version of a compiler that does; None for the usual one.
    """

    section: str
    name: str
    version: str | None = None

    @property
    def table(self) -> tuple[str, ...]:
        """The table that has the line."""
        return (self.section, self.name) if self.version is None else (self.section, self.name, "versions")

    @property
    def key(self) -> str:
        """The key of the line."""
        return "python" if self.version is None else json.dumps(self.version)

    @property
    def header(self) -> str:
        """The table as the file has it."""
        return ".".join(each if re.fullmatch(r"[\w-]+", each, re.ASCII) else json.dumps(each) for each in self.table)


def write_python(path: Path, entries: Mapping[Entry, str | None]) -> None:
    """Writes the interpreter of each entry into the file *path*; None takes the entry out. All the rest stays as it is.

    Raises:
        UserError: the file is malformed, or the entry is written in a way that is not changed by machine.
    """
    data = content_of(path) if path.exists() else b""
    before = config_in(path, data)
    values, versions = dict(before.values), dict(before.versions)
    lines = data.decode("utf-8").splitlines(keepends=True)
    for entry, python in entries.items():
        lines = _edited(lines, entry, python)
        new = {} if python is None else dict(entries_of(path, entry.section, entry.name, {"python": python}))
        if entry.version is None:
            values.pop((entry.section, entry.name, "python"), None)
            values.update(new)
        else:
            versions.pop((entry.name, entry.version), None)
            versions.update({(entry.name, entry.version): {key: each for (_, _, key), each in new.items()}} if new else {})
    after = "".join(lines).encode("utf-8")
    try:
        found = config_in(path, after)
        faithful = (found.values, found.versions) == (values, versions)
    except UserError:
        faithful = False
    if not faithful:
        raise UserError(f"{path} has a form that OPERA cannot edit; edit it by hand: {_by_hand(entries)}")
    with replacing(path.resolve()) as file:
        file.write(after)


def _edited(lines: Sequence[str], entry: Entry, python: str | None) -> list[str]:
    """The lines of a file with one entry changed, added at the end, or without its two lines."""
    header = next((index for index, line in enumerate(lines) if _header(line) == entry.table), None)
    if header is None:
        if python is None:
            return list(lines)
        gap = ["\n"] if lines and not lines[-1].endswith("\n") else []
        return [*lines, *gap, *(["\n"] if lines else []), f"[{entry.header}]\n", f"{entry.key} = {json.dumps(python)}\n"]
    end = next((index for index in range(header + 1, len(lines)) if lines[index].lstrip().startswith("[")), len(lines))
    pattern = re.compile(rf"(\s*{re.escape(entry.key)}\s*=\s*){_TEXT}")
    value = next((index for index in range(header + 1, end) if pattern.match(lines[index])), None)
    if value is None:
        added = [] if python is None else [f"{entry.key} = {json.dumps(python)}\n"]
        return [*lines[: header + 1], *added, *lines[header + 1 :]]
    if python is not None:
        changed = pattern.sub(lambda match: match[1] + json.dumps(python), lines[value])
        return [*lines[:value], changed, *lines[value + 1 :]]
    others = any("=" in line for index, line in enumerate(lines[header + 1 : end], header + 1) if index != value)
    return [line for index, line in enumerate(lines) if index != value and (others or index != header)]


def _header(line: str) -> tuple[str, ...] | None:
    """The parts of the name in a line such as `[compiler.tvm]  # mine`; None for any other line."""
    try:
        table: Any = parsed_toml(line.encode()) if line.lstrip().startswith("[") else None
    except Malformed:
        return None
    parts: list[str] = []
    while isinstance(table, dict) and table:
        part, table = next(iter(cast("dict[str, object]", table).items()))
        parts.append(part)
    return tuple(parts) or None


def _by_hand(entries: Mapping[Entry, str | None]) -> str:
    return ", ".join(f'[{entry.header}] {entry.key} = "{python}"' for entry, python in entries.items())
