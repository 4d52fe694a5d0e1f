"""Runs every entry of PyTorch's operator database (`torch.testing._internal`, `op_db`) on its own samples."""

from __future__ import annotations

import importlib
import itertools
from typing import Any, List, Sequence, Tuple

from ..pytorch import Recorder
from ..stream import Stream
from . import arguments, seeds

torch: Any = importlib.import_module("torch")


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("opinfo")
    parser.add_argument("--dtypes", default="float32,float64,int64,bool")
    parser.add_argument("--samples", type=int, default=None, help="at most so many samples per entry")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    seeds.quieten()
    with Stream(options.recording, "pytorch", torch.__version__, options.source) as stream, Recorder(stream, filters) as recorder:
        for index, (op, dtype) in arguments.select(_entries(filters, options.dtypes.split(",")), options):
            name = f"{op.full_name}::{dtype}"
            stream.enter(index, name)
            if filters.excluded(op.full_name):
                stream.drop("excluded", op.full_name)
                continue
            seeds.reset(options.seed, name)
            _run(op, getattr(torch, dtype), f"{options.source}::{name}", stream, recorder, options.samples)


def _entries(filters: Any, dtypes: List[str]) -> List[Tuple[Any, str]]:
    """Operator and dtype of every entry, in the order of the database."""
    database = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    chosen = [op for op in database if filters.selected(op.full_name)]
    return [(op, dtype) for op in chosen for dtype in dtypes if getattr(torch, dtype) in op.supported_dtypes("cpu")]


def _run(op: Any, dtype: Any, test: str, stream: Stream, recorder: Recorder, limit: Any) -> None:
    samples = itertools.islice(seeds.drawn(lambda: op.sample_inputs("cpu", dtype, requires_grad=False), stream, op.full_name), limit)
    for number, sample in enumerate(samples):
        stream.begin(f"{test}::{number}")
        try:
            with recorder.watching():
                op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            print(f"{test}::{number}: {type(error).__name__}: {error}", flush=True)
