"""Groups of packages stand on each other, and the core imports no extension, by a statement or by a string."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from trees import OPERA, modules, nodes, tree

GROUPS: dict[str, str] = {
    "foundation": "atomic bounded_json config console errors instrumentation interruption plugins testing trust untrusted",
    "instance": "arrays bundle calls instance",
    "oracles": "oracles",
    "models": "models templates",
    "compilers": "compilers",
    "difftest": "difftest workers",
    "store": "extract store",
    "stages": "corpus environments prioritize run triage",
    "surface": "api cli pipeline report",
}
"""From the bottom to the top. A module imports groups below its own, and its own group."""
HEIGHT = {name: height for height, names in enumerate(GROUPS.values()) for name in names.split()}
EXTENSIONS = {path.name for path in (OPERA / "extensions").iterdir() if path.is_dir() and path.name != "__pycache__"}
STANDS_ON = {
    "models": {"suites"},
    "programs": {"research", "stablehlo"},
    "stablehlo": {"suites"},
    "versions": {"environments", "findings"},
}
"""The extensions that an extension imports."""
_IN_A_STRING = re.compile(r"opera(?:\.[a-z_][a-z0-9_]*)+")


def part_of(module: str) -> str | None:
    """The part of opera that *module* belongs to; `extensions.NAME` for an extension; None for what is not of opera."""
    names = module.split(".")
    if names[0] != "opera" or len(names) < 2:
        return None
    return ".".join(names[1:3]) if names[1] == "extensions" and len(names) > 2 else names[1]


def imported(of_module: Iterable[ast.AST], module: str) -> set[str]:
    """The parts of opera that the nodes of *module* import anywhere, or name in a string that begins with a module."""
    found: set[str | None] = set()
    for node in of_module:
        if isinstance(node, ast.Import):
            found |= {part_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            name = ".".join(filter(None, (base, node.module)))
            found |= {part_of(f"{name}.{alias.name}") if name in ("opera", "opera.extensions") else part_of(name) for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := _IN_A_STRING.match(node.value)):
            found |= {part_of(match[0])} if match[0].count(".") > 1 else set()  # `opera.compilers` is a group of entry points
    return {each for each in found if each is not None and (each in HEIGHT or each.partition(".")[0] == "extensions")}


@cache
def imports() -> tuple[tuple[str, str, str], ...]:
    """Module, its part, and a part that it imports."""
    found: list[tuple[str, str, str]] = []
    for module, path in modules().items():
        own = part_of(module)
        assert own is not None
        found += ((module, own, each) for each in imported(nodes(path), module) if each != own)
    return tuple(found)


def test_every_part_has_a_group() -> None:
    parts = {part_of(module) for module in modules()}
    assert {each for each in parts if each is not None and not each.startswith("extensions")} == set(HEIGHT)


def test_the_core_imports_no_extension() -> None:
    wrong = [(module, found) for module, own, found in imports() if not own.startswith("extensions") and found.startswith("extensions")]
    assert wrong == []


def test_imports_go_down() -> None:
    core = [each for each in imports() if not each[1].startswith("extensions") and not each[2].startswith("extensions")]
    wrong = [(module, found) for module, own, found in core if HEIGHT[found] > HEIGHT[own]]
    assert wrong == []


def test_no_packages_of_the_core_stand_in_a_circle() -> None:
    below: dict[str, set[str]] = {}
    for _, own, found in imports():
        below.setdefault(own, set()).add(found)
    assert [part for part in HEIGHT if part in _reached(below, part)] == []


def _reached(below: dict[str, set[str]], part: str) -> set[str]:
    found: set[str] = set()
    queue = list(below.get(part, ()))
    while queue:
        each = queue.pop()
        if each not in found:
            found.add(each)
            queue += below.get(each, ())
    return found


def test_an_extension_imports_the_extensions_that_it_stands_on() -> None:
    wrong = {
        (own, found)
        for _, own, found in imports()
        if own.startswith("extensions.") and found.startswith("extensions.")
        and found.partition(".")[2] not in STANDS_ON.get(own.partition(".")[2], set())
    }  # fmt: skip
    assert wrong == set()


@pytest.mark.parametrize(
    "source",
    [
        "import opera.extensions.ray.pool",
        "from opera.extensions import programs",
        "def later():\n    from opera.extensions.programs.check import check",
        "import importlib\nimportlib.import_module('opera.extensions.stablehlo.types')",
        "target = 'opera.extensions.suites.driver:Driver'",
    ],
)
def test_an_extension_is_noticed(source: str) -> None:
    assert any(each.startswith("extensions.") for each in imported(ast.walk(ast.parse(source)), "opera.workers.pool"))


_WORDS = re.compile(r"\bPROGRAM\b|ILL_TYPED|(?i:opidiff|stablehlo)")
_COMPILERS_OF_STABLEHLO = {
    "opera.compilers.iree", "opera.compilers.xla", "opera.compilers.stablehlo_format", "opera.templates.keras.artefacts",
    "opera.oracles.filters.undefined",
}  # fmt: skip
"""Adapters of compilers that take StableHLO, and what makes such a model of a Keras model: as much a format as ONNX; rows of a filter."""


def test_the_core_names_no_extension() -> None:
    core = {
        name: path for name, path in modules().items() if not name.startswith("opera.extensions") and name not in _COMPILERS_OF_STABLEHLO
    }
    wrong = {name: sorted({each[0] for each in _WORDS.finditer(code_of(path))}) for name, path in core.items()}
    assert {name: words for name, words in wrong.items() if words} == {}


def code_of(path: Path) -> str:
    """The code of a module without comments; empty where even the text has none of the words."""
    return ast.unparse(tree(path)) if _WORDS.search(path.read_text(encoding="utf-8")) else ""


def test_no_two_files_of_tests_have_one_name() -> None:
    """One process cannot collect both, and `make test-slow` collects many folders."""
    names = Counter(each.name for each in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
