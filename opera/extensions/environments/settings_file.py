"""Writes the interpreters of environments into `opera.toml`, and leaves all the rest of the file as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from opera.atomic import replacing
from opera.config import config_in, content_of, entries_of
from opera.errors import UserError
from opera.untrusted import Malformed, parsed_toml

_VALUE = re.compile(r"""(\s*python\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*')""")


def write_python(path: Path, entries: Mapping[tuple[str, str], str | None]) -> None:
    """Writes the interpreter of each (section, name) into the file *path*; None takes the entry out. All the rest stays as it is.

    Raises:
        UserError: the file is malformed, or the entry is written in a way that is not changed by machine.
    """
    data = content_of(path) if path.exists() else b""
    expected = dict(config_in(path, data).values)
    lines = data.decode("utf-8").splitlines(keepends=True)
    for (section, name), python in entries.items():
        lines = _edited(lines, section, name, python)
        expected.pop((section, name, "python"), None)
        if python is not None:
            expected.update(entries_of(path, section, name, {"python": python}))
    after = "".join(lines).encode("utf-8")
    try:
        faithful = config_in(path, after).values == expected
    except UserError:
        faithful = False
    if not faithful:
        raise UserError(f"{path} has a form that OPERA cannot edit; edit it by hand: {_by_hand(entries)}")
    with replacing(path.resolve()) as file:
        file.write(after)


def _edited(lines: Sequence[str], section: str, name: str, python: str | None) -> list[str]:
    """The lines of a file with one entry changed, added at the end, or without its two lines."""
    header = next((index for index, line in enumerate(lines) if _header(line) == (section, name)), None)
    if header is None:
        if python is None:
            return list(lines)
        table = name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)
        gap = ["\n"] if lines and not lines[-1].endswith("\n") else []
        return [*lines, *gap, *(["\n"] if lines else []), f"[{section}.{table}]\n", f"python = {json.dumps(python)}\n"]
    end = next((index for index in range(header + 1, len(lines)) if lines[index].lstrip().startswith("[")), len(lines))
    value = next((index for index in range(header + 1, end) if _VALUE.match(lines[index])), None)
    if value is None:
        added = [] if python is None else [f"python = {json.dumps(python)}\n"]
        return [*lines[: header + 1], *added, *lines[header + 1 :]]
    if python is not None:
        changed = _VALUE.sub(lambda match: match[1] + json.dumps(python), lines[value])
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


def _by_hand(entries: Mapping[tuple[str, str], str | None]) -> str:
    return ", ".join(f'[{section}.{name}] python = "{python}"' for (section, name), python in entries.items())
