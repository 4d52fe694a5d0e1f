"""The node tests' calls inside larger graphs, and random numbers with a check of their moments."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from opera.extensions.generators import onnx_random
from opera.extensions.generators.hosts.onnx_settings import in_time, recorded_calls
from opera.extensions.generators.onnx_embedded import KINDS, Embedded
from opera.extensions.generators.onnx_settings import Call, evaluated_model
from opera.extensions.generators.settings.kinds import spread
from opera.instrumentation.hosts import arguments
from opera.instrumentation.onnx import graph_document
from opera.instrumentation.stream import Stream
from opera.instrumentation.wire import Unrecordable

onnx: Any = importlib.import_module("onnx")

_RANDOM = "random"


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("onnx-embedded")
    parser.add_argument("--calls", type=int, default=8, help="embed at most this number of calls of an operator")
    parser.add_argument("--kinds", default=",".join((*KINDS, _RANDOM)), help="kinds of graphs, by commas")
    options = parser.parse_args(argv)
    kinds = [each for each in options.kinds.split(",") if each]
    unknown = sorted({*kinds} - {*KINDS, _RANDOM})
    if unknown:
        parser.error(f"unknown kind {unknown[0]!r}; known: {', '.join((*KINDS, _RANDOM))}")
    warnings.simplefilter("ignore")
    filters = arguments.filters(options)
    calls = recorded_calls()
    random: dict[str, list[Embedded]] = {}
    for name, made in onnx_random.models():
        random.setdefault(f"ai.onnx.{name}", []).append(made)
    with Stream(options.recording, "onnx", onnx.__version__, options.source) as stream:
        for index, operator in arguments.select(sorted({*calls, *random}), options):
            if not filters.selected(operator):
                continue
            stream.enter(index, operator)
            for kind, made in _of_operator(operator, spread(calls.get(operator, []), options.calls), kinds, random):
                stream.begin(f"{options.source}::{operator}::{kind}")
                _record(operator, made, stream)


def _of_operator(
    operator: str, calls: Sequence[Call], kinds: Sequence[str], random: dict[str, list[Embedded]]
) -> Iterator[tuple[str, Embedded]]:
    for kind in kinds:
        if kind == _RANDOM:
            for made in random.get(operator, []):
                yield kind, made
            continue
        for call in calls if operator not in random else ():
            for made in KINDS[kind](call):
                yield kind, made


def _record(operator: str, made: Embedded, stream: Stream) -> None:
    found = in_time(evaluated_model, made.model, made.inputs)
    if found is None:
        stream.drop("not-valid", operator)
        return
    try:
        stream.record(graph_document(found[0], operator, found[1], found[2]))
    except Unrecordable as error:
        stream.drop(str(error), operator)
