"""SQL stands in `opera.store` only."""

from __future__ import annotations

import ast
from pathlib import Path

import opera

ROOT = Path(opera.__file__).parent
METHODS = ("execute", "executemany", "executescript", "create_function")


def statements(source: str) -> list[str]:
    """Calls that give a statement to a database, as `line: code`."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [
        f"{call.lineno}: {ast.unparse(call.func)}"
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and ast.unparse(call.func.value).endswith("database")
    ]


def test_only_the_store_speaks_sql() -> None:
    files = [path for path in ROOT.rglob("*.py") if "store" not in path.relative_to(ROOT).parts]
    assert len(files) > 150
    assert {str(path.relative_to(ROOT)): found for path in files if (found := statements(path.read_text(encoding="utf-8")))} == {}


def test_a_statement_elsewhere_is_noticed() -> None:
    assert statements("rows = self._workspace.database.execute('SELECT 1')")
    assert statements((ROOT / "store" / "queries.py").read_text(encoding="utf-8"))
