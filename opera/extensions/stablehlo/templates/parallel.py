"""Lifts checks and prints out of parallel programs: the released interpreter runs neither probes nor prints there.

Each value that a check or a print of such a program looks at becomes a further result of the program, and the check or the print follows
the operation that runs the programs. Checks within regions, e.g. in the body of a loop, stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opera.extensions.stablehlo.templates.module import Function, functions_of, ir, walk

_RUN = "interpreter.run_parallel"


def lift(module: Any, is_site: Callable[[Any], bool]) -> None:
    """Lifts the operations of *module* of which *is_site* says that they look at values."""
    runs = [each for each in walk(module.operation) if str(each.name) == _RUN]
    names = {name for each in runs for name in _programs(each)}
    functions = {each.name: each for each in functions_of(module) if each.name in names}
    sites = {name: [op for op in _top_level(each) if is_site(op)] for name, each in functions.items()}
    if not any(sites.values()):
        return
    for name, function in functions.items():
        _return_more(function, [operand for site in sites[name] for operand in site.operands])
    for run in runs:
        _run_again(run, functions, sites)
    for found in sites.values():
        for site in found:
            site.erase()


def most_parallel(module: Any) -> int:
    """The largest number of programs that an operation of *module* runs at once; 1 without such an operation."""
    return max((len(_programs(each)) for each in walk(module.operation) if str(each.name) == _RUN), default=1)


def _programs(run: Any) -> list[str]:
    return [str(symbol.value) for replica in run.attributes["programs"] for symbol in replica]


def _top_level(function: Function) -> list[Any]:
    return [each.operation for each in function.operation.regions[0].blocks[0].operations]


def _return_more(function: Function, values: Sequence[Any]) -> None:
    operation = function.operation
    ending = _top_level(function)[-1]
    results = [*ending.operands, *values]
    ir.Operation.create("func.return", operands=results, ip=ir.InsertionPoint(ending))
    ending.erase()
    kind = ir.FunctionType.get(list(function.inputs), [each.type for each in results])
    operation.attributes["function_type"] = ir.TypeAttr.get(kind)
    if "res_attrs" in operation.attributes:
        del operation.attributes["res_attrs"]


def _run_again(run: Any, functions: dict[str, Function], sites: dict[str, list[Any]]) -> None:
    """Runs the programs with their new results in the place of *run*, and looks at these results."""
    types: list[Any] = []
    kept: list[int] = []
    for name in _programs(run):
        own = list(functions[name].results)
        kept.extend(range(len(types), len(types) + len(own)))
        types += [*own, *(operand.type for site in sites[name] for operand in site.operands)]
    attributes = {key: run.attributes[key] for key in run.attributes}
    made = ir.Operation.create(
        _RUN, results=types, operands=list(run.operands), attributes=attributes, loc=run.location, ip=ir.InsertionPoint(run)
    )
    place = 0
    for name in _programs(run):
        place += len(functions[name].results)
        for site in sites[name]:
            count = len(site.operands)
            copy = site.clone(ip=ir.InsertionPoint(run))
            for number in range(count):
                copy.operands[number] = made.results[place + number]
            place += count
    for old, number in zip(list(run.results), kept, strict=True):
        old.replace_all_uses_with(made.results[number])
    run.erase()
