"""Figures of the readable interpreter on the programs of a folder: `benchmarks/bench_stablehlo.py DIR...`.

By category: operations that the programs use and that are known, functions and those that pass, milliseconds for each function, and lines
of code for each operation. With `--fold`, also that each program, folded, parses, gives the same results and folds to itself.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opera.console import print_table
from opera.extensions.stablehlo import interpreter
from opera.extensions.stablehlo.messages import Interpret
from opera.extensions.stablehlo.scanner import TextError, programs_of
from opera.extensions.stablehlo.statements import generic, pretty
from opera.extensions.stablehlo.templates.fold import fold
from opera.extensions.stablehlo.templates.interpreter import evaluated
from opera.extensions.stablehlo.templates.module import (
    Function,
    Parts,
    Rejected,
    entries_of,
    functions_of,
    ir,
    new_context,
    parse,
    programs_in,
    stablehlo,
    walk,
)

_PARALLEL = "interpreter.run_parallel"
_CONSTANT = "stablehlo.constant"


def modules_in(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """Every program of the files that can be read, one module each."""
    for path in paths:
        for program in programs_of(path.read_text(encoding="utf-8")):
            try:
                with new_context(), ir.Location.unknown():
                    modules = programs_in(parse(generic(program.text)))
                    texts = [str(each.operation.get_asm(large_elements_limit=None)) for each in modules]
            except (TextError, Rejected):
                continue
            yield from ((path, text) for text in texts)


def category_of(name: str) -> str:
    """The module with the meaning of an operation; `declined` without one."""
    rule: Any = interpreter.RULES.get(name)
    if rule is None:
        return "declined"
    return next(each.__name__.rpartition(".")[2] for each in interpreter.MODULES if each.__name__ == rule.__module__)


def lines_of(module: Any) -> float:
    """Lines of code for each operation of a module of the interpreter."""
    count = sum(rule.__module__ == module.__name__ for rule in interpreter.RULES.values())
    return len(inspect.getsource(module).splitlines()) / count


def results(module: Any, function: Function, text: str) -> Any:
    """What a function of *module*, whose text is *text*, gives."""
    answer = evaluated(Parts(module), function, Interpret(text, interpreter="readable", with_results=True))
    return answer.kind, [(each.check, each.times, each.mismatch) for each in answer.checks], answer.results


def folds(text: str) -> str:
    """What is wrong with a program after folding; empty where nothing is."""
    with new_context(), ir.Location.unknown():
        module = parse(text)
        entries = [each for each in entries_of(module) if not each.inputs]
        before = [results(module, each, text) for each in entries]
        names = [each.name for each in entries]
        fold(module)
        folded = pretty(str(module.operation.get_asm(large_elements_limit=None)))
        again = parse(generic(folded))
        by_name = {each.name: each for each in functions_of(again)}
        if before != [results(again, by_name[each], generic(folded)) for each in names]:
            return "gives other results"
        fold(again)
        return "" if pretty(str(again.operation.get_asm(large_elements_limit=None))) == folded else "folds again"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--fold", action="store_true", help="fold each program as well")
    options = parser.parse_args()
    stablehlo.register_stablehlo_passes()
    operations: dict[str, set[str]] = defaultdict(set)
    functions: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    seconds: dict[str, list[float]] = defaultdict(list)
    wrong: Counter[str] = Counter()
    for path, text in modules_in(sorted(each for folder in options.folders for each in folder.rglob("*.mlir"))):
        with new_context(), ir.Location.unknown():
            module = parse(text)
            names = [str(each.name) for each in walk(module.operation)]
            for name in names:
                if name.startswith("stablehlo.") and name != "stablehlo.return":
                    operations[category_of(name)].add(name)
            if _PARALLEL in names:
                functions["declined"] += 1
                continue
            entries = [each for each in entries_of(module) if not each.inputs]
            blocks = {each.name: each.operation.regions[0].blocks[0] for each in entries}
            tops = {name: [str(each.operation.name) for each in block.operations] for name, block in blocks.items()}
        for function in entries:
            own = next(
                (category_of(name) for name in reversed(tops[function.name]) if name in interpreter.RULES and name != _CONSTANT), "shapes"
            )
            began = time.perf_counter()
            with new_context(), ir.Location.unknown():
                module = parse(text)
                own_function = next(each for each in functions_of(module) if each.name == function.name)
                answer = evaluated(Parts(module), own_function, Interpret(text, interpreter="readable"))
            seconds[own].append(time.perf_counter() - began)
            functions[own] += 1
            passed[own] += answer.kind is None and all(each.mismatch is None for each in answer.checks)
        if options.fold:
            reason = folds(text)
            wrong[reason or "folds as it should"] += 1
            if reason:
                print(f"{path}: {reason}")
    modules = {each.__name__.rpartition(".")[2]: each for each in interpreter.MODULES}
    rows = [
        [
            name,
            str(len(operations[name])),
            str(functions[name]),
            str(passed[name]),
            f"{1000 * statistics.median(seconds[name]):.1f}" if seconds[name] else "",
            f"{lines_of(modules[name]):.0f}" if name in modules else "",
        ]
        for name in [*modules, "declined"]
    ]
    print_table(["category", "operations", "functions", "passed", "ms each", "lines each"], rows)
    for reason, count in wrong.items():
        print(f"{count:,} programs: {reason}")


if __name__ == "__main__":
    main()
