"""The public architectures: one Python file for each row of a table, which builds the model without weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from opera.atomic import read_file
from opera.errors import UserError
from opera.untrusted import parsed_toml

SHIPPED = Path(__file__).parent / "architectures"
_NAME = re.compile(r"\w[\w.-]*")
_TEXT = '''"""{name} of {package} {version}, without weights."""

{imports}


def model():
    module = {build}
    return module{inputs}
'''


def written(table: Path, library: str, folder: Path) -> Path:
    """Writes the models of *table* to *folder*, those of a package in a folder of its own; returns where.

    Args:
        table: A TOML file; `shipped` stands for the one that OPERA has for *library*.
        library: `pytorch` or `keras`.
        folder: An empty folder.

    Raises:
        UserError: the table cannot be read, or a row is malformed.
    """
    path = SHIPPED / f"{library}.toml" if str(table) == "shipped" else table
    place = folder / "architectures"
    for name, text in _files(path):
        file = place / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return place


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each model's file."""
    try:
        rows = cast("list[dict[str, Any]]", parsed_toml(read_file(path))["group"])
        for row in rows:
            fields: dict[str, str] = {key: str(row[key]) for key in ("package", "version", "imports", "build", "inputs")}
            for name in row["names"]:
                if not _NAME.fullmatch(str(name)):
                    raise ValueError(f"{name!r} is no name of a file")
                filled = {key: text.replace("NAME", str(name)) for key, text in fields.items()}
                inputs = f", {filled['inputs']}" if filled["inputs"] else ""
                yield f"{row['package']}/{name}", _TEXT.format(name=name, **{**filled, "inputs": inputs})
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(
            f"{path.name} is no table of architectures: {type(error).__name__}: {error}; each [[group]] has package, version,"
            " imports, build, inputs and names"
        ) from error
