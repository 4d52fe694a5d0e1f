"""Keeps the revisions of adapters, templates and oracles true: notes the code of each, and refuses to note other code under one revision.

python scripts/revisions.py [--same NAME ...]

`--same` says of a name that its code changed, but that no verdict can change. `--same all` says it of every name.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import importlib.util
import json
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTED = ROOT / "tests" / "unit" / "revisions.json"
COMPARISON = (
    "opera.compilers.adapter",
    "opera.compilers.exporters",
    "opera.difftest.compiler_worker",
    "opera.difftest.judge",
    "opera.difftest.protocol",
    "opera.extensions.programs.rejection",
    "opera.oracles.compare",
    "opera.oracles.decompositions",
    "opera.oracles.tolerance",
    "opera.testing.matching",
    "opera.workers.failure",
)
"""What gives a verdict to outputs, exceptions and lost processes of every compiler."""
REVIEW = (
    "opera.difftest.model_worker",
    "opera.extensions.keras_backends.answer",
    "opera.extensions.keras_backends.opinion",
    "opera.oracles.blame",
)
"""What excuses failures, and finds exporters at fault, in addition to `opera.oracles.review` and what it imports of its package."""
OF_ADAPTERS = ("opera.compilers", "opera.extensions.stablehlo.compilers")
OF_TEMPLATES = ("opera.templates", "opera.models", "opera.extensions.programs", "opera.extensions.stablehlo")


def main() -> None:
    """Notes the code of what has a new revision; exits with 1 if code changed under its old revision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--same", nargs="+", default=[], metavar="NAME")
    same = set(parser.parse_args().same)
    before, now = json.loads(NOTED.read_text(encoding="utf-8")) if NOTED.exists() else {}, current()
    stale = [name for name in changed(before, now) if not {name, "all"} & same]
    for name in stale:
        print(f"{name}: its code changed; raise its revision, or say --same {name} if no verdict can change", file=sys.stderr)
    noted = {name: before[name] if name in stale else each for name, each in now.items()}
    NOTED.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    sys.exit(1 if stale else 0)


def changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The names whose code differs under the same revision."""
    return [
        name
        for name, each in now.items()
        if name in before and each["code"] != before[name]["code"] and each["revision"] == before[name]["revision"]
    ]


def current() -> dict[str, Any]:
    """Revision and hash of the code, by name."""
    revisions = importlib.import_module("opera.oracles.revisions")
    found = {
        "comparison": {"revision": revisions.COMPARISON, "code": digest(COMPARISON)},
        "review": {"revision": revisions.REVIEW, "code": digest(review())},
    }
    for group, kind, within in (("opera.compilers", "adapter", OF_ADAPTERS), ("opera.templates", "template", OF_TEMPLATES)):
        for name, target in entry_points(group).items():
            module, _, attribute = target.partition(":")
            modules = [each for each in reached(module, (*within, module.rpartition(".")[0])) if each not in COMPARISON]
            found[f"{kind} {name}"] = {"revision": revision_in(module, attribute), "code": digest(modules)}
    return found


def review() -> list[str]:
    """The modules that decide a review."""
    return [*REVIEW, *(each for each in reached("opera.oracles.review", ("opera.oracles",)) if each not in COMPARISON)]


def entry_points(group: str) -> dict[str, str]:
    """The targets of the project's own entry points, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["entry-points"].get(group, {})


def reached(module: str, within: tuple[str, ...]) -> list[str]:
    """*module*, and the modules of the packages *within* that it imports, directly or not."""
    found: dict[str, None] = {}
    queue = [module]
    while queue:
        name = queue.pop()
        if name in found or path_of(name) is None:
            continue
        found[name] = None
        queue += [each for each in imported(name) if each.startswith(within)]
    return sorted(found)


@cache
def path_of(name: str) -> Path | None:
    """The file of a module or of a table; None if it does not exist."""
    if name.endswith(".toml"):
        return ROOT / name
    base = ROOT.joinpath(*name.split("."))
    return next((each for each in (base.with_suffix(".py"), base / "__init__.py") if each.is_file()), None)


@cache
def tree_of(name: str) -> ast.Module:
    """The code of a module."""
    path = path_of(name)
    assert path is not None, name
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(name: str) -> Iterator[str]:
    """The modules that a module imports; of `from package import name`, both the package and the name in it."""
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def revision_in(module: str, attribute: str) -> int:
    """The revision that a class assigns, or the one of its base class, in this module or in one that it is imported from, or 1."""
    tree = tree_of(module)
    here = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == attribute), None)
    if here is None:
        return 1
    for node in here.body:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id == "revision":
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert isinstance(node.value, ast.Constant)
            return int(str(node.value.value))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    origins = {alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}
    bases = [origins.get(base.id, (module, base.id)) for base in here.bases if isinstance(base, ast.Name)]
    return max((revision_in(*each) for each in bases if path_of(each[0]) is not None), default=1)


def digest(names: Iterable[str]) -> str:
    """A hash of the code of modules, without comments, docstrings and imports, and of the rows of tables."""
    return hashlib.sha256("\n".join(code_of(name) for name in sorted(names)).encode()).hexdigest()[:16]


@cache
def code_of(name: str) -> str:
    """The code of a module as text."""
    path = path_of(name)
    assert path is not None, name
    if path.suffix == ".toml":
        return json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), sort_keys=True)
    return bare(path.read_text(encoding="utf-8"))


def bare(source: str) -> str:
    """The code of *source* without comments, imports and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_silent(each)] or [ast.Pass()]
    return ast.dump(tree)


def _is_silent(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


if __name__ == "__main__":
    main()
