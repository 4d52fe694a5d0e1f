"""Constraints that come from a file instead of the installed library's documentation."""

from __future__ import annotations

from typing import Any, Optional

from opera.extensions.generators.docter.constraints import Dim, Facts, ValueType


def facts_of(table: dict[str, Any]) -> dict[str, Facts]:
    """The facts of each parameter in *table*, one API's part of the file that `opera.extensions.generators.constraints` writes."""
    return {name: _facts(row) for name, row in table.items()}


def _facts(row: dict[str, Any]) -> Facts:
    def number(key: str) -> Optional[float]:
        value = row.get(key)
        return None if value is None else float(value)

    shapes: list[tuple[Dim, ...]] = [tuple(shape) for shape in row.get("shapes", ())]
    return Facts(
        kinds=tuple(ValueType(name) for name in row.get("kinds", ())),
        dtypes=tuple(row.get("dtypes", ())),
        ndims=tuple(row.get("ndims", ())),
        shapes=tuple(shapes),
        low=number("low"),
        high=number("high"),
        choices=tuple(row.get("choices", ())),
    )
