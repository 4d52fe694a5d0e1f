"""Random calls of PyTorch and TensorFlow, each with what holds for its numbers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from opera.extensions.generators.draws.calls import Drawn, calls
from opera.instrumentation.hosts import arguments
from opera.instrumentation.stream import Stream


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("random")
    parser.add_argument("--library", default="pytorch", choices=("pytorch", "tensorflow"))
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    library: Any = importlib.import_module({"pytorch": "torch"}.get(options.library, options.library))
    by_operator: dict[str, list[Drawn]] = {}
    for each in calls(options.library):
        by_operator.setdefault(each.api, []).append(each)
    with Stream(options.recording, options.library, library.__version__, options.source) as stream:
        for index, operator in arguments.select(sorted(by_operator), options):
            if not filters.selected(operator):
                continue
            stream.enter(index, operator)
            for number, each in enumerate(by_operator[operator]):
                stream.begin(f"{options.source}::{operator}::{number}")
                stream.record(each.document())
