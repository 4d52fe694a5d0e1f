"""Records StableHLO programs as operator instances: of self-checking ones each function that has a check, of others each entry."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from opera.arrays import Array, dtype_name, to_bytes
from opera.errors import UserError
from opera.extensions.stablehlo.checks import Closeness, holds
from opera.extensions.stablehlo.conformance.files import arrays_by_name
from opera.extensions.stablehlo.kind import API, FORMAT, KIND
from opera.extensions.stablehlo.scanner import Program, TextError, programs_of
from opera.extensions.stablehlo.statements import generic
from opera.extensions.stablehlo.templates import graph as stablehlo_graph
from opera.extensions.stablehlo.templates.checks import is_check
from opera.extensions.stablehlo.templates.inputs import constant_of
from opera.extensions.stablehlo.templates.module import (
    Function,
    Rejected,
    entries_of,
    ir,
    new_context,
    parse,
    programs_in,
    resource_in,
    stablehlo,
    walk,
)
from opera.extensions.stablehlo.templates.plan import InterpreterFailed, NotInterpreted
from opera.extensions.stablehlo.templates.probes import NoProbe
from opera.extensions.stablehlo.types import Value, tensor_type
from opera.instance import Argument, Graph, Instance, Kind, Outcome, Tensor, encode_instance
from opera.instrumentation.stream import Stream
from opera.instrumentation.tensors import DTYPE_BITS


@dataclass(frozen=True)
class Entries:
    """The files to record, and which of them.

    Attributes:
        root: The folder, or the folder of the only file.
        names: Paths relative to it, sorted.
    """

    root: Path
    names: Sequence[str]


def find(path: Path) -> Entries:
    """The `.mlir` files of a folder, or the one file."""
    if path.is_file():
        return Entries(path.parent, [path.name])
    return Entries(path, sorted(each.relative_to(path).as_posix() for each in path.rglob("*.mlir") if each.is_file()))


class Filters(Protocol):
    """Says which APIs are no operators."""

    def noise(self, api: str) -> str | None:
        """The group of noise that *api* belongs to, if any."""
        ...


def record(options: argparse.Namespace, entries: Sequence[tuple[int, str]], root: Path, filters: Filters) -> None:
    """Writes the recording of *entries*, files with their numbers.

    Of a program with checks, each function that has one is an instance; of any other, each function that no other one uses.
    """
    try:
        given = arrays_by_name(str(root / options.inputs)) if options.inputs else {}
    except UserError as error:
        raise SystemExit(str(error)) from error
    stablehlo.register_stablehlo_passes()
    with Stream(str(options.recording), "stablehlo", str(stablehlo.get_current_version()), str(options.source)) as stream:
        for number, name in entries:
            stream.enter(number, name)
            try:
                programs = programs_of((root / name).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                stream.drop("no-text", name[:200])
                continue
            for index, program in enumerate(programs, 1):
                _record_program(stream, f"{options.source}::{name}", index if len(programs) > 1 else 0, program, filters, given)


def _record_program(stream: Stream, test: str, place: int, program: Program, filters: Filters, given: Mapping[str, Array]) -> None:
    try:
        text = generic(program.text)
        with new_context(), ir.Location.unknown():
            for module in programs_in(parse(text)):
                if resource_in(module.operation) is not None:
                    stream.drop("values-outside-the-text", test[:200])
                    continue
                checks = any(is_check(each) for each in walk(module.operation))
                own = str(module.operation.get_asm(large_elements_limit=None))
                for function in entries_of(module):
                    stream.begin(f"{test}::{place}::{function.name}" if place else f"{test}::{function.name}")
                    _record_function(stream, own, function, filters, None if checks else given)
    except TextError:
        stream.drop("check-outside-the-grammar", test[:200])
    except Rejected as error:
        stream.drop("unknown-operation" if error.unknown else "quantised" if "!quant." in str(error) else "no-stablehlo", test[:200])


def _record_function(stream: Stream, text: str, function: Function, filters: Filters, given: Mapping[str, Array] | None) -> None:
    """Records a function that checks itself, or, with values *given* for inputs, one that does not."""
    try:
        if given is not None:
            stream.record(encode_instance(_model(text, function, given)))
            return
        graph, other = stablehlo_graph.graph_of(text, function)
        group = filters.noise(graph.api)
        if group is not None:
            stream.drop(f"noise:{group}", graph.api)
            return
        stream.record(encode_instance(_instance(graph, other)))
    except stablehlo_graph.NotRecordable as error:
        stream.drop(str(error), function.name)
    except (TextError, Rejected, ir.MLIRError):
        stream.drop("not-rebuilt", function.name)


def _model(text: str, function: Function, given: Mapping[str, Array]) -> Instance:
    """The instance of a function without checks; an input is *given* as `arg0`, `arg1` and so on, or is drawn."""
    own, types = stablehlo_graph.bare(text, function)
    call: list[Argument] = []
    for index, each in enumerate(types):
        name, kind = f"arg{index}", tensor_type(str(each))
        if name in given and (given[name].shape, dtype_name(given[name].dtype)) != (kind.shape, kind.element.dtype):
            found = f"{dtype_name(given[name].dtype)}{list(given[name].shape)}"
            raise SystemExit(f"{name} of the inputs is {found}, and {function.name} takes {kind}")
        drawn = Tensor(kind.shape, kind.element.dtype) if kind.element.dtype in DTYPE_BITS else None
        value = _tensor(Value(kind, given[name])) if name in given else drawn
        if value is None:
            raise stablehlo_graph.NotRecordable("dtype")
        call.append(Argument(name, value))
    graph = Graph(FORMAT, own.encode())
    return Instance("stablehlo", API, Kind(KIND), call=tuple(call), context=(("graph", graph),), outcome=Outcome.UNKNOWN)


def _instance(graph: stablehlo_graph.Graph, other: str) -> Instance:
    """The instance of a graph; *other* computes what results are compared with, where that is no constant."""
    computed = iter(_evaluated(other, ()) or () if None in graph.expected else ())
    try:
        declared = [each if each is not None else next(computed) for each in graph.expected]
    except StopIteration:
        raise stablehlo_graph.NotRecordable("expected-not-computed") from None
    own = _evaluated(graph.text, graph.inputs)
    expected = [
        _sharper(check, value, None if own is None else own[index])
        for index, (check, value) in enumerate(zip(graph.checks, declared, strict=True))
    ]
    return Instance(
        "stablehlo",
        graph.api,
        Kind.GRAPH,
        call=tuple(Argument(f"arg{index}", _tensor(value)) for index, value in enumerate(graph.inputs)),
        context=(("graph", Graph(FORMAT, graph.text.encode())),),
        outcome=Outcome.RETURNED,
        expected=tuple(_tensor(each) for each in expected),
    )


def _sharper(check: stablehlo_graph.Check, declared: Value, own: Value | None) -> Value:
    """The declared value, or the interpreter's where the check holds: a program declares few digits where it allows a tolerance."""
    if own is None or check.closeness is Closeness.BITWISE or holds(check, own, declared) is not None:
        return declared
    return own


def _tensor(value: Value) -> Tensor:
    dtype = value.type.element.dtype
    if dtype not in DTYPE_BITS:
        raise stablehlo_graph.NotRecordable("dtype")
    return Tensor(value.type.shape, dtype, to_bytes(value.array))


def _evaluated(text: str, inputs: Sequence[Value]) -> list[Value] | None:
    """The results of a module; None where the interpreter has none."""
    try:
        return stablehlo_graph.values_of(text, [constant_of(each) for each in inputs]) or None
    except (InterpreterFailed, NotInterpreted, ChildProcessError, NoProbe, Rejected, ir.MLIRError, ValueError):
        return None
