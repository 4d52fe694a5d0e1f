"""How many faults the tests of the readable StableHLO interpreter notice: `benchmarks/mutate_interpreter.py [-n 200] [--seed 0]`.

Each fault changes one line of one function that gives an operation its meaning. A copy of this process, which has read all programs of
`tests/stablehlo`, evaluates them with the changed module. A check that fails, an exception or the end of the time is a fault that was
noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.util
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.stablehlo_suite import Case, cases, failure_of

PACKAGE = "opera.extensions.stablehlo.interpreter"
MODULES = ("contraction", "control", "element", "elementwise", "indexing", "normalisation", "reductions", "shapes")
SECONDS = 60
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def mutants_of(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """The faults of a module: line, what was changed, and the changed module."""
    asserted = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.arg == "strict"}
    places = [
        each
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body[1 if ast.get_docstring(function) else 0 :]
        for each in ast.walk(statement)
        if id(each) not in asserted
    ]
    for place in dict.fromkeys(places):
        for number in range(_changes(place)):
            changed = copy.deepcopy(tree)
            twin = next(
                each
                for each in ast.walk(changed)
                if type(each) is type(place)
                and getattr(each, "lineno", 0) == getattr(place, "lineno", 0)
                and getattr(each, "col_offset", 0) == getattr(place, "col_offset", 0)
                and getattr(each, "end_col_offset", 0) == getattr(place, "end_col_offset", 0)
            )
            before = ast.unparse(twin)
            _change(twin, number)
            yield getattr(place, "lineno", 0), f"{before} -> {ast.unparse(twin)}", ast.fix_missing_locations(changed)


def _changes(node: ast.AST) -> int:
    """In how many ways *node* can be changed."""
    if isinstance(node, ast.BinOp):
        return int(type(node.op) in _OPERATORS)
    if isinstance(node, ast.Compare):
        return int(type(node.ops[0]) in _COMPARISONS)
    if isinstance(node, ast.Constant):
        return int(type(node.value) in (int, bool))
    if isinstance(node, ast.UnaryOp):
        return int(isinstance(node.op, ast.Not | ast.USub))
    return int(isinstance(node, ast.BoolOp | ast.IfExp))


def _change(node: Any, number: int) -> None:
    if isinstance(node, ast.BinOp):
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else int(str(node.value)) + 1
    elif isinstance(node, ast.BoolOp):
        node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    else:
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)


def load(name: str, tree: ast.Module, path: Path) -> None:
    """Imports the interpreter again, with the module called *name* as *tree* has it."""
    for each in [each for each in sys.modules if each == PACKAGE or each.startswith(f"{PACKAGE}.")]:
        del sys.modules[each]
    full = f"{PACKAGE}.{name}"

    class Finder:
        @staticmethod
        def find_spec(wanted: str, _path: object = None, _target: object = None) -> Any:
            loader: Any = Loader()
            return importlib.util.spec_from_loader(wanted, loader, origin=str(path)) if wanted == full else None

    class Loader:
        @staticmethod
        def create_module(spec: object) -> None:
            return None

        @staticmethod
        def exec_module(module: Any) -> None:
            exec(compile(tree, str(path), "exec"), module.__dict__)

    path_finders: list[Any] = sys.meta_path
    path_finders.insert(0, Finder())
    importlib.import_module(PACKAGE)


def survives(name: str, tree: ast.Module, path: Path, programs: list[Case]) -> bool:
    """Whether no program notices the fault."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            load(name, tree, path)
            noticed = any(failure_of(each) is not None for each in programs)
        except BaseException:
            noticed = True
        os._exit(1 if noticed else 0)
    return os.waitpid(child, 0)[1] == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="number of faults")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    programs = cases()
    folder = Path(importlib.import_module(PACKAGE).__path__[0])
    every = [
        (name, line, text, tree, folder / f"{name}.py")
        for name in MODULES
        for line, text, tree in mutants_of(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")))
    ]
    chosen = random.Random(options.seed).sample(every, min(options.n, len(every)))
    left = 0
    for name, line, text, tree, path in sorted(chosen, key=lambda each: (each[0], each[1])):
        if survives(name, tree, path, programs):
            left += 1
            print(f"{name}.py:{line}: {text}", flush=True)
    print(f"{len(chosen) - left} of {len(chosen)} faults noticed by {len(programs)} programs ({len(every):,} faults there are)")


if __name__ == "__main__":
    main()
