"""Packages stand in layers: each imports what lies below it, wherever in a file the import stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import opera

ROOT = Path(opera.__file__).parent
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "bounded_json errors interruption testing",
        "plugins untrusted atomic trust",
        "console",
        "config",
        "instrumentation",
        "instance",
        "arrays",
        "bundle calls stablehlo",
        "programs",
        "oracles",
        "models",
        "templates",
        "compilers",
        "workers",
        "difftest",
        "extract opidiff store",
        "prioritize",
        "triage",
        "conformance corpus environments evaluation",
        "run",
        "report",
        "suites",
        "pipeline",
        "api cli",
        "opidiff_pytest",
    )
)
"""From the bottom to the top; packages of one layer do not import each other."""
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}


def part_of(module: str) -> str | None:
    """The part of opera, a package or a module of its own, that *module* belongs to; None for opera itself and what is not of opera."""
    names = module.split(".")
    return names[1] if names[0] == "opera" and len(names) > 1 else None


def imported(source: str, module: str) -> set[str]:
    """The parts of opera that *source*, the text of *module*, imports anywhere."""
    found: set[str | None] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {part_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            name = ".".join(filter(None, (base, node.module)))
            found |= {part_of(f"opera.{alias.name}") if name == "opera" else part_of(name) for alias in node.names}
    return {each for each in found if each is not None and each in HEIGHT}


def upwards(source: str, module: str) -> set[str]:
    """The parts that *source* must not import."""
    own = part_of(module)
    assert own is not None
    return {each for each in imported(source, module) if each != own and HEIGHT[each] >= HEIGHT[own]}


def modules() -> dict[str, Path]:
    """Path of each module of opera, links followed; the entry points `python -m` of a package belong to the commands."""
    tops = [path for path in ROOT.iterdir() if (path.is_dir() or path.suffix == ".py") and path.name not in ("__init__.py", "__main__.py")]
    files = [file for top in tops for file in ([top] if top.is_file() else top.rglob("*.py")) if file.name != "__main__.py"]
    return {".".join(("opera", *file.relative_to(ROOT).with_suffix("").parts)): file for file in files}


def test_every_part_has_a_layer() -> None:
    assert {part_of(module) for module in modules()} == set(HEIGHT)


@pytest.mark.parametrize("layer", range(len(LAYERS)), ids=lambda height: "-".join(sorted(LAYERS[height])))
def test_imports_go_down(layer: int) -> None:
    wrong = {
        module: found
        for module, path in modules().items()
        if part_of(module) in LAYERS[layer] and (found := upwards(path.read_text(encoding="utf-8"), module))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "source",
    [
        "import opera.run.campaign",
        "from opera.cli import options",
        "from opera import report",
        "def later():\n    from opera.store import Corpus",
        "if TYPE_CHECKING:\n    import opera.extract.host as host",
        "from ..triage import findings",
    ],
)
def test_an_import_that_goes_up_is_noticed(source: str) -> None:
    assert upwards(source, "opera.workers.pool")
