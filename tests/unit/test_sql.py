"""SQL stands in `opera.store` only."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from trees import OPERA, nodes

METHODS = ("execute", "executemany", "executescript", "create_function")


def statements(of_module: Iterable[ast.AST]) -> list[str]:
    """Calls that give a statement to a database, as `line: code`."""
    calls = [node for node in of_module if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [
        f"{call.lineno}: {ast.unparse(call.func)}"
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and ast.unparse(call.func.value).endswith("database")
    ]


def test_only_the_store_speaks_sql() -> None:
    files = [path for path in OPERA.rglob("*.py") if "store" not in path.relative_to(OPERA).parts]
    assert len(files) > 150
    assert {str(path.relative_to(OPERA)): found for path in files if (found := statements(nodes(path)))} == {}


def test_a_statement_elsewhere_is_noticed() -> None:
    assert statements(ast.walk(ast.parse("rows = self._workspace.database.execute('SELECT 1')")))
    assert statements(nodes(OPERA / "store" / "queries.py"))
