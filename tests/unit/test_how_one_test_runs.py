"""The page that follows one test names what the code defines, where it defines it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "how-one-test-runs.md"
LINK = re.compile(r"\[`([\w.]+)`\]\(([^)]+\.py)\)")
MOST_MODULES = 12


def defined(path: Path) -> set[str]:
    """Functions, classes and methods of a module, methods as `Class.method`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


LINKS = LINK.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "path"), LINKS, ids=[name for name, _ in LINKS])
def test_each_name_is_defined_where_the_page_says(name: str, path: str) -> None:
    assert name in defined((PAGE.parent / path).resolve())


def test_a_passing_test_needs_few_modules() -> None:
    [part] = re.findall(r"^## A passing test\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert 5 < len({path for _, path in LINK.findall(part)}) <= MOST_MODULES


def test_a_name_that_is_gone_would_be_noticed() -> None:
    assert "compare" in defined(PAGE.parents[2] / "opera" / "oracles" / "compare.py")
    assert "no_such_function" not in defined(PAGE.parents[2] / "opera" / "oracles" / "compare.py")
