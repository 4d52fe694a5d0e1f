"""`opera check`: will a model work, and which operator breaks it."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TypeVar

import click
import jinja2

from opera import templates
from opera.cli.help import HeadedCommand
from opera.cli.names import Names
from opera.cli.options import Duration, OutputFile, Size, common
from opera.console import check_outputs, doing, echo, one_line, option, plural, print_json, print_table, quoted, write
from opera.errors import Exit
from opera.extensions.models.api import CheckedModel, Found, Node, Report, State, check
from opera.report.ci import written
from opera.untrusted import JsonObject
from opera.workers.supervision import working_folder

SCHEMA = "check/1"
_SHOWN = 10
"""Nodes that are named for each compiler; `--json` has all."""
_LISTED = 1_000
"""Nodes that a page lists."""
_REASON = 2_000
_TEMPLATES = (Path(__file__).parent.parent / "templates", Path(templates.__file__).parent / "page")


class _SizeOf(click.ParamType[tuple[str, int]]):
    """The size of a symbolic dimension as `batch=1`."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        name, equals, size = str(value).rpartition("=")
        if not equals or not name or not size.isascii() or not size.isdigit() or len(size) > 9:
            self.fail(f"{one_line(str(value), 40)!r} is not a size; write e.g. batch=1", param, ctx)
        return name, int(size)


F = TypeVar("F", bound=Callable[..., object])


def model_options(function: F) -> F:
    """Adds the options that say how to check a model."""
    options = (
        click.option(
            "--inputs", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.npz",
            help="Values of inputs, by name; others are drawn.",
        ),
        click.option(
            "--size", "sizes", type=_SizeOf(), metavar="NAME=N", multiple=True, help="Size of a symbolic dimension (repeatable)."
        ),
        click.option("--timeout", type=Duration(), default=300.0, show_default="5m", help="Time limit of each stage of a compilation."),
        click.option("--memory", type=Size(), default=8 * 2**30, show_default="8G", help="Memory limit of each worker."),
    )  # fmt: skip
    return reduce(lambda made, option: option(made), reversed(options), function)


@click.command("check", cls=HeadedCommand)
@click.argument("model", metavar="MODEL")
@click.option(
    "--compiler",
    "--compilers",
    "compilers",
    type=Names(),
    metavar="NAME,...",
    multiple=True,
    help="Compilers (repeatable); by default all that are installed.",
)
@model_options
@click.option(
    "--junit", type=OutputFile(), metavar="FILE",
    help="Write JUnit XML to this file: one suite per compiler, one case per node and one for the whole model; - is standard output.",
)  # fmt: skip
@click.option("--html", type=OutputFile(), metavar="FILE", help="Write one self-contained HTML page to this file; - is standard output.")
@common
def command(
    model: str, compilers: tuple[list[str], ...], inputs: Path | None, sizes: tuple[tuple[str, int], ...], timeout: float, memory: int,
    junit: Path | None, html: Path | None, workspace: Path, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Check a model and each of its operators on several compilers.

    MODEL is an .onnx, a .keras or a .pt2 file, or module:function, a function that returns a module of PyTorch and its inputs.

    OPERA runs the model once without optimisation, compiles it whole, and compiles one model of all its operators, each of which reads the
    true values. If the operators are right and the whole model is not, OPERA seeks the operators that are wrong together. Exit with 1 if
    anything is wrong, crashes or is declined; `opera localize` makes a script and a test of what is wrong or crashes.
    """
    check_outputs(as_json, junit, html)
    chosen = list(dict.fromkeys(name for each in compilers for name in each))
    with working_folder("check", workspace / "scratch") as scratch:
        found = check(
            model, chosen, inputs=inputs, sizes=dict(sizes), seed=seed, timeout=timeout, memory=memory, scratch=scratch, tell=doing
        )
    if junit is not None:
        write(junit, _junit(found))
    if html is not None:
        write(html, _page(found))
    if as_json:
        print_json(document_of(found))
    elif "-" not in (str(junit), str(html)):
        print_check(found)
        if found.failing:
            bad = next(each.compiler for each in found.reports if each.fails)
            given = [f" --inputs {quoted(str(inputs))}"] if inputs is not None else []
            given += [f" --size {quoted(f'{name}={size}')}" for name, size in sizes]
            echo("a script and a test of it:")
            echo(f"  opera localize {quoted(model)} --compiler {bad}{''.join(given)}{option(str(workspace))}")
    return Exit.CLEAN if found.is_clean else Exit.NEW_FINDINGS


def _junit(found: CheckedModel) -> str:
    """JUnit XML: declined and untested nodes are skipped."""
    root = xml.Element("testsuites", name="opera check")
    if found.exported is not None:
        suite = xml.SubElement(root, "testsuite", name="export")
        _add_case(suite, found, "the exported model", found.exported)
    for report in found.reports:
        suite = xml.SubElement(root, "testsuite", name=report.compiler)
        cases = [(f"{number} {found.nodes[number]}", each) for number, each in sorted(report.nodes.items())]
        for name, each in [*cases, ("the whole model", report.whole)]:
            _add_case(suite, found, name, each)
    return written(root)


def _add_case(suite: xml.Element, checked: CheckedModel, name: str, found: Found) -> None:
    case = xml.SubElement(suite, "testcase", classname=one_line(f"{suite.get('name')}.{_short(checked)}"), name=one_line(name))
    if found.state in (State.WRONG, State.CRASH):
        xml.SubElement(case, "failure", type=str(found.state), message=one_line(f"{_state(found)}: {found.reason}", 1000))
    elif found.state is not State.RIGHT:
        xml.SubElement(case, "skipped", message=one_line(f"{found.state}: {found.reason}", 1000))


def print_check(checked: CheckedModel) -> None:
    """Prints the table, what fails with its reason, and what no node alone explains."""
    echo(f"{one_line(_short(checked))}: {_size(checked)}")
    if checked.exported is not None:
        echo(f"the exported ONNX model: {_told(checked.exported)}")
    print_table(_head(checked), _rows(checked))
    for each in checked.reports:
        bad = _bad(checked, each)
        for node, found in bad[:_SHOWN]:
            echo(one_line(f"{each.compiler}: {node}: {_told(found)}", 300))
        if len(bad) > _SHOWN:
            echo(f"{each.compiler}: {len(bad) - _SHOWN} more nodes; --json lists them")
        for note in _notes(checked, each):
            echo(one_line(note, 300))


def _page(checked: CheckedModel) -> str:
    """One HTML file without other files."""
    problems = [
        (each.compiler, str(node), _state(found), one_line(found.reason, _REASON))
        for each in checked.reports for node, found in _bad(checked, each)
    ]  # fmt: skip
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        name=one_line(_short(checked)),
        size=_size(checked),
        exported=None if checked.exported is None else _told(checked.exported),
        head=_head(checked),
        rows=_rows(checked),
        states=[str(each) for each in (State.CRASH, State.WRONG, State.DECLINED, State.UNTESTED, State.RIGHT)],
        problems=problems[:_LISTED],
        notes=[one_line(note, _REASON) for each in checked.reports for note in _notes(checked, each)],
        left_out=max(0, len(problems) - _LISTED),
    )


def _size(checked: CheckedModel) -> str:
    return f"{plural(len(checked.nodes), 'node')} of {plural(len({each.operator for each in checked.nodes}), 'operator')}"


def _head(checked: CheckedModel) -> list[str]:
    return ["operator", *(each.compiler for each in checked.reports)]


def _rows(checked: CheckedModel) -> list[list[str]]:
    """For each operator, those that break first, what the compilers make of it; last, of the whole model."""
    nodes, reports = checked.nodes, checked.reports
    counts = Counter(each.operator for each in nodes)
    ordered = sorted(counts.items(), key=lambda pair: (not _breaks(pair[0], nodes, reports), pair[0]))
    cells = [[f"{name.removeprefix('ai.onnx.')} ({count})", *(_cell(each, nodes, name) for each in reports)] for name, count in ordered]
    return [*cells, ["the whole model", *(_state(each.whole) for each in reports)]]


def _bad(checked: CheckedModel, report: Report) -> list[tuple[Node, Found]]:
    states = (State.WRONG, State.CRASH, State.DECLINED)
    return [(checked.nodes[number], found) for number, found in report.nodes.items() if found.state in states]


def _notes(checked: CheckedModel, report: Report) -> Iterator[str]:
    """What no node alone explains."""
    bad, nodes = _bad(checked, report), checked.nodes
    if report.whole.reason and not bad:
        yield f"{report.compiler}: the whole model: {_told(report.whole)}"
    if report.edges:
        named = [str(nodes[number]) for number in report.together if nodes[number].inputs]
        yield f"{report.compiler}: {report.whole.state} only together: {', '.join(named)}"
    elif report.whole.state is State.WRONG and not bad:
        yield f"{report.compiler}: only the whole model is wrong: no part of it is, when it reads the true values"


def _told(found: Found) -> str:
    return f"{_state(found)}: {found.reason}" if found.reason else _state(found)


def _short(found: CheckedModel) -> str:
    """The model's name without folders."""
    return Path(found.name).name


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


def document_of(found: CheckedModel) -> JsonObject:
    """What compilers make of a model, for `--json`."""

    def told(one: Found) -> JsonObject:
        return {"state": str(one.state), "reason": one.reason, "error": one.error if one.error != float("inf") else None}

    return {
        "schema": SCHEMA,
        "model": found.name,
        "exported": None if found.exported is None else told(found.exported),
        "nodes": [{"name": each.name, "operator": each.operator, "outputs": list(each.outputs)} for each in found.nodes],
        "compilers": [
            {
                "compiler": each.compiler,
                "whole": told(each.whole),
                "nodes": {str(number): told(one) for number, one in sorted(each.nodes.items())},
                "edges": each.edges,
                "together": each.together,
                "compilations": each.compilations,
            }
            for each in found.reports
        ],
    }
