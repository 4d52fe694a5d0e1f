"""The sources of the repository and their syntax trees. Each file is parsed once in a process, for all tests that read it."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPERA = ROOT / "opera"


def sources(*folders: str) -> list[Path]:
    """The Python files below *folders* of the repository, each once: `opera/templates` is a link to `templates`."""
    return sorted({path.resolve() for folder in folders for path in (ROOT / folder).rglob("*.py")})


@cache
def modules() -> dict[str, Path]:
    """Path of each module of opera, links followed; the entry points `python -m` of a package belong to the commands."""
    tops = [path for path in OPERA.iterdir() if (path.is_dir() or path.suffix == ".py") and path.name not in ("__init__.py", "__main__.py")]
    files = [file for top in tops for file in ([top] if top.is_file() else top.rglob("*.py")) if file.name != "__main__.py"]
    return {".".join(("opera", *file.relative_to(OPERA).with_suffix("").parts)): file for file in files}


def tree(path: Path) -> ast.Module:
    """The syntax tree of a file; it is shared, so nothing may change it."""
    return _tree(path.resolve())


def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a file."""
    return _nodes(path.resolve())


@cache
def _tree(path: Path) -> ast.Module:
    collects = gc.isenabled()
    gc.disable()  # the collector would visit the growing trees again and again, for three quarters of the time
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()  # and in all tests that follow
        if collects:
            gc.enable()


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


def dotted(node: ast.expr) -> str:
    """The dotted name that *node* is; what is called or computed on the way has no name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(names)])
