"""Settings that no node test of ONNX reaches: its calls with other attributes, inputs, dtypes and sizes, by the operators' schemas."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Optional

from opera.extensions.generators.onnx_settings import Call, Evaluated, Pool, call_of, evaluated
from opera.extensions.generators.settings.conditions import combinations, conditions
from opera.extensions.generators.settings.kinds import spread, variations
from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.limits import Late, alarm
from opera.instrumentation.onnx import api_name, node_document
from opera.instrumentation.stream import Stream
from opera.instrumentation.wire import Unrecordable

onnx: Any = importlib.import_module("onnx")
_LATE = 1.0
"""Seconds for one evaluation; the evaluator runs large windows in Python."""


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("onnx-settings")
    parser.add_argument("--calls", type=int, default=4, help="vary at most this number of calls of an operator")
    parser.add_argument("--pairs", type=int, default=40, help="draw this number of pairs of settings for each call")
    parser.add_argument("--known", default="no", choices=("no", "yes"), help="combine only what the condition of a known bug combines")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    warnings.simplefilter("ignore")
    by_operator = recorded_calls()
    pool = Pool(call for calls in by_operator.values() for call in calls)
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
    settings = pool.settings(call)
    combined = combinations(conditions(), operator, settings) if options.known == "yes" else None
    for _, each in variations(call, settings, options.pairs, f"{options.seed}:{operator}", combined):
        found = in_time(evaluated, each)
        if found is None:
            stream.drop("not-valid", operator)
            continue
        try:
            stream.record(node_document(*found))
        except Unrecordable as error:
            stream.drop(str(error), operator)


def in_time(evaluate: Callable[..., Optional[Evaluated]], *given: Any) -> Optional[Evaluated]:
    """What *evaluate* makes of *given*; None where that takes too long."""
    try:
        with alarm(_LATE):
            return evaluate(*given)
    except Late:
        return None


def recorded_calls() -> dict[str, list[Call]]:
    """The calls of the standard's node tests, by operator."""
    cases = importlib.import_module("onnx.backend.test.case.node").collect_testcases(None)
    found: dict[str, list[Call]] = {}
    for case in cases:
        for data in case.data_sets:
            call = call_of(case.model, data[0])
            if call is not None:
                found.setdefault(api_name(call.node), []).append(call)
    return found
