"""`opera check`: will a model work, and which operator breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import Duration, Size, common
from opera.compilers.registry import Plugin, choose_route, plugin, plugins
from opera.config import Config, load_config
from opera.console import doing, echo, one_line, option, plural, print_json, print_table, quoted, say
from opera.environments.checkup import Checkup
from opera.environments.checkup import State as Installed
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.extensions.models.check import Found, ModelCheck, Node, OnCompiler, OpenModel, Report, State
from opera.instance import Occurrence
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import JsonObject
from opera.workers.process import Limits
from opera.workers.supervision import working_folder

SCHEMA = "check/1"
_SOURCE = "check"
_OTHERS = {
    **dict.fromkeys((".pt", ".pth", ".pkl"), "may hold code, so OPERA does not load it; export the model with torch.onnx.export"),
    ".pt2": "is a program of PyTorch; export it with torch.onnx.export",
    **dict.fromkeys((".keras", ".h5"), 'is a model of Keras; export it with model.export("model.onnx", format="onnx")'),
}
"""What to do with files of other formats."""
_SHOWN = 10
"""Nodes that are named for each compiler; `--json` has all."""


class _SizeOf(click.ParamType[tuple[str, int]]):
    """The size of a symbolic dimension as `batch=1`."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        name, equals, size = str(value).rpartition("=")
        if not equals or not name or not size.isascii() or not size.isdigit() or len(size) > 9:
            self.fail(f"{one_line(str(value), 40)!r} is not a size; write e.g. batch=1", param, ctx)
        return name, int(size)


@click.command("check", cls=HeadedCommand)
@click.argument("model", metavar="MODEL.onnx", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--compiler",
    "compilers",
    type=COMPILER,
    metavar="NAME",
    multiple=True,
    help="Compiler (repeatable); by default all that are installed.",
)
@click.option(
    "--inputs", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.npz",
    help="Values of inputs, by name; others are drawn.",
)  # fmt: skip
@click.option("--size", "sizes", type=_SizeOf(), metavar="NAME=N", multiple=True, help="Size of a symbolic dimension (repeatable).")
@click.option("--timeout", type=Duration(), default=300.0, show_default="5m", help="Time limit of each stage of a compilation.")
@click.option("--memory", type=Size(), default=8 * 2**30, show_default="8G", help="Memory limit of each worker.")
@common
def command(
    model: Path, compilers: tuple[str, ...], inputs: Path | None, sizes: tuple[tuple[str, int], ...], timeout: float, memory: int,
    workspace: Path, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Check a model and each of its operators on several compilers.

    OPERA runs the model once without optimisation, compiles it whole, and compiles one model of all its operators, each of which reads the
    true values. If the operators are right and the whole model is not, OPERA seeks the operators that are wrong together. Operators that
    fail become instances of the workspace. Exit with 1 if anything is wrong, crashes or is declined.
    """
    if model.suffix in _OTHERS:
        raise UserError(f"{model.name} {_OTHERS[model.suffix]}, and check the .onnx file")
    config = load_config()
    with working_folder("check", workspace / "scratch") as scratch:
        chosen = [_with_onnx(plugin(name)) for name in compilers] or _installed(config, scratch)
        with OpenModel(model, inputs, dict(sizes), seed, config, scratch, Limits(timeout, memory=memory)) as opened:
            reports = list(_reports(chosen, opened, config, scratch, timeout, memory))
            failing = sorted(
                {number for each in reports for number, found in each.nodes.items() if found.state in (State.WRONG, State.CRASH)}
            )
            stored = _store(workspace, model, opened, failing) if failing else 0
    if as_json:
        print_json(_document(model, opened.nodes, reports))
    else:
        _print(model, opened.nodes, reports)
        if stored:
            first = next(each.compiler for each in reports if any(one.state in (State.WRONG, State.CRASH) for one in each.nodes.values()))
            names = " or ".join(dict.fromkeys(opened.nodes[number].operator for number in failing))
            where = option(str(workspace))
            echo(f"{plural(stored, 'instance')} added. The next command makes findings of them:")
            echo(f"  opera run --compiler {first} --frontend onnx -k {quoted(names)}{where}")
    return Exit.CLEAN if all(each.is_clean for each in reports) else Exit.NEW_FINDINGS


def _with_onnx(each: Plugin) -> Plugin:
    """The compiler *each*; raises UserError if it takes no ONNX models."""
    choose_route(each.load(), "onnx", None)
    return each


def _installed(config: Config, scratch: Path) -> list[Plugin]:
    """The compilers that take ONNX models and are installed."""
    folder = scratch / "installed"
    folder.mkdir()
    takes = [each for each in plugins().values() if any(route.frontend == route.library == "onnx" for route in each.load().routes)]
    there = {each.name for each in Checkup(config, folder, 1, say).installed(takes) if each.state is Installed.INSTALLED}
    if not there:
        raise EnvironmentBroken('no compiler of ONNX models is installed; install one, e.g. `pip install "opera-dl[openvino,onnx]"`')
    return [each for each in takes if each.name in there]


def _reports(chosen: Sequence[Plugin], opened: OpenModel, config: Config, scratch: Path, timeout: float, memory: int) -> list[Report]:
    found: list[Report] = []
    for each in chosen:
        folder = scratch / each.name
        folder.mkdir()
        doing(f"checking on {each.name}")
        try:
            with OnCompiler(each.name, config, folder, timeout=timeout, memory=memory) as runner:
                found.append(ModelCheck(opened, runner, partial(_tell, each.name)).run())
        except EnvironmentBroken as error:
            if len(chosen) == 1:
                raise
            say(f"{each.name} is left out: {error}")
    if not found:
        raise EnvironmentBroken("no compiler could be started; run `opera doctor`")
    return found


def _tell(compiler: str, what: str) -> None:
    doing(f"{compiler}: {what}")


def _store(workspace: Path, model: Path, opened: OpenModel, numbers: Sequence[int]) -> int:
    """Adds the nodes *numbers* to the workspace, and counts those that are new."""
    with open_workspace(workspace, write=True) as space:
        pairs = [(opened.node(each), Occurrence(_SOURCE, f"{model.name}::{each}")) for each in numbers]
        return Corpus(space).add(pairs)


def _print(model: Path, nodes: Sequence[Node], reports: Sequence[Report]) -> None:
    counts = Counter(each.operator for each in nodes)
    echo(f"{one_line(model.name)}: {plural(len(nodes), 'node')} of {plural(len(counts), 'operator')}")
    rows = [
        [f"{operator.removeprefix('ai.onnx.')} ({count})", *(_cell(each, nodes, operator) for each in reports)]
        for operator, count in sorted(counts.items(), key=lambda pair: (not _breaks(pair[0], nodes, reports), pair[0]))
    ]
    rows.append(["the whole model", *(_state(each.whole) for each in reports)])
    print_table(["operator", *(each.compiler for each in reports)], rows)
    for each in reports:
        bad = [(nodes[number], found) for number, found in each.nodes.items() if found.state in (State.WRONG, State.CRASH, State.DECLINED)]
        for node, found in bad[:_SHOWN]:
            echo(one_line(f"{each.compiler}: {node}: {_state(found)}: {found.reason}", 300))
        if len(bad) > _SHOWN:
            echo(f"{each.compiler}: {len(bad) - _SHOWN} more nodes; --json lists them")
        if each.whole.reason and not bad:
            echo(one_line(f"{each.compiler}: the whole model: {_state(each.whole)}: {each.whole.reason}", 300))
        if each.edges:
            ends = [str(node) for node in nodes if set(node.outputs) & set(each.edges) or set(node.inputs) & set(each.edges)]
            echo(one_line(f"{each.compiler}: wrong only together: {', '.join(ends)}", 300))
        elif each.whole.state is State.WRONG and not bad:
            echo(f"{each.compiler}: only the whole model is wrong: no part of it is, when it reads the true values")


def _breaks(operator: str, nodes: Sequence[Node], reports: Sequence[Report]) -> bool:
    return any(
        nodes[number].operator == operator and found.state not in (State.RIGHT, State.UNTESTED)
        for each in reports for number, found in each.nodes.items()
    )  # fmt: skip


def _cell(report: Report, nodes: Sequence[Node], operator: str) -> str:
    counts = Counter(found.state for number, found in report.nodes.items() if nodes[number].operator == operator)
    if len(counts) == 1:
        return str(next(iter(counts)))
    return ", ".join(f"{counts[state]} {state}" for state in State if counts[state])


def _state(found: Found) -> str:
    return str(found.state) if not found.error or found.error == float("inf") else f"{found.state} ({found.error:.1g})"


def _document(model: Path, nodes: Sequence[Node], reports: Sequence[Report]) -> JsonObject:
    def told(found: Found) -> JsonObject:
        return {"state": str(found.state), "reason": found.reason, "error": found.error if found.error != float("inf") else None}

    return {
        "schema": SCHEMA,
        "model": str(model),
        "nodes": [{"name": each.name, "operator": each.operator, "outputs": list(each.outputs)} for each in nodes],
        "compilers": [
            {
                "compiler": each.compiler,
                "whole": told(each.whole),
                "nodes": {str(number): told(found) for number, found in sorted(each.nodes.items())},
                "edges": each.edges,
                "compilations": each.compilations,
            }
            for each in reports
        ],
    }
