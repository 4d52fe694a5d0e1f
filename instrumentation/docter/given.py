"""Constraints that come from a file instead of the installed library's documentation."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .constraints import Dim, Facts, ValueType


def facts_of(table: Dict[str, Any]) -> Dict[str, Facts]:
    """The facts of each parameter in *table*, one API's part of the file that `opera.extract.constraints` writes."""
    return {name: _facts(row) for name, row in table.items()}


def _facts(row: Dict[str, Any]) -> Facts:
    def number(key: str) -> Optional[float]:
        value = row.get(key)
        return None if value is None else float(value)

    shapes: List[Tuple[Dim, ...]] = [tuple(shape) for shape in row.get("shapes", ())]
    return Facts(
        kinds=tuple(ValueType(name) for name in row.get("kinds", ())),
        dtypes=tuple(row.get("dtypes", ())),
        ndims=tuple(row.get("ndims", ())),
        shapes=tuple(shapes),
        low=number("low"),
        high=number("high"),
        choices=tuple(row.get("choices", ())),
    )
