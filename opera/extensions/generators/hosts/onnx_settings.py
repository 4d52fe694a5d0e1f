"""Settings that no node test of ONNX reaches: its calls with other attributes, inputs, dtypes and sizes, by the operators' schemas."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

from opera.extensions.generators.onnx_settings import Call, Pool, call_of, evaluated
from opera.extensions.generators.settings.kinds import spread, variations
from opera.instrumentation.hosts import arguments
from opera.instrumentation.onnx import api_name, node_document
from opera.instrumentation.stream import Stream
from opera.instrumentation.wire import Unrecordable

onnx: Any = importlib.import_module("onnx")


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("onnx-settings")
    parser.add_argument("--calls", type=int, default=4, help="vary at most this number of calls of an operator")
    parser.add_argument("--pairs", type=int, default=40, help="draw this number of pairs of settings for each call")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    warnings.simplefilter("ignore")
    cases = importlib.import_module("onnx.backend.test.case.node").collect_testcases(None)
    calls = [call for case in cases for data in case.data_sets if (call := call_of(case.model, data[0])) is not None]
    pool, by_operator = Pool(calls), _by_operator(calls)
    chosen = [operator for operator in sorted(by_operator) if filters.selected(operator)]
    with Stream(options.recording, "onnx", onnx.__version__, options.source) as stream:
        for index, operator in arguments.select(chosen, options):
            stream.enter(index, operator)
            group = "excluded" if filters.excluded(operator) else filters.noise(operator)
            if group is not None:
                stream.drop(group if group == "excluded" else f"noise:{group}", operator)
                continue
            for number, call in enumerate(spread(by_operator[operator], options.calls)):
                stream.begin(f"{options.source}::{operator}::{number}")
                _record(call, pool, options, stream)


def _record(call: Call, pool: Pool, options: Any, stream: Stream) -> None:
    operator = api_name(call.node)
    for _, each in variations(call, pool.settings(call), options.pairs, f"{options.seed}:{operator}"):
        found = evaluated(each)
        if found is None:
            stream.drop("not-valid", operator)
            continue
        try:
            stream.record(node_document(*found))
        except Unrecordable as error:
            stream.drop(str(error), operator)


def _by_operator(calls: Sequence[Call]) -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(api_name(call.node), []).append(call)
    return found
