"""Builds and calls every entry of PyTorch's module database (`torch.testing._internal`, `module_db`) with its own inputs."""

from __future__ import annotations

import importlib
from typing import Any, Callable, List, NamedTuple, Sequence

from ..pytorch import Recorder
from ..pytorch_names import class_name
from ..stream import Stream
from . import arguments, seeds

torch: Any = importlib.import_module("torch")


class ModuleInfoEntry(NamedTuple):
    """One module class at one dtype, in training or in evaluation mode."""

    info: Any
    module: str
    dtype: str
    training: bool

    @property
    def name(self) -> str:
        """The entry's part of a test id."""
        return f"{self.module}::{self.dtype}::{'train' if self.training else 'eval'}"


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("moduleinfo")
    parser.add_argument("--dtypes", default="all", help="dtypes, or `all` that an entry supports")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    seeds.quieten()
    with Stream(options.recording, "pytorch", torch.__version__, options.source) as stream, Recorder(stream, filters) as recorder:
        for index, entry in arguments.select(_entries(filters.selected, options.dtypes), options):
            stream.enter(index, entry.name)
            if filters.excluded(entry.module):
                stream.drop("excluded", entry.module)
                continue
            seeds.reset(options.seed, entry.name)
            _run(entry, f"{options.source}::{entry.name}", stream, recorder)


def _entries(selected: Callable[[str], bool], dtypes: str) -> List[ModuleInfoEntry]:
    """Every class at every dtype that it supports; in both modes where they differ."""
    database = importlib.import_module("torch.testing._internal.common_modules").module_db
    found: List[ModuleInfoEntry] = []
    for info in database:
        module = class_name(info.module_cls) or info.module_cls.__name__
        supported = sorted(str(dtype)[6:] for dtype in info.dtypes)
        for dtype in supported if dtypes == "all" else dtypes.split(","):
            if selected(module) and dtype in supported:
                found.extend(
                    ModuleInfoEntry(info, module, dtype, mode) for mode in ((True, False) if info.train_and_eval_differ else (False,))
                )
    return found


def _run(entry: ModuleInfoEntry, test: str, stream: Stream, recorder: Recorder) -> None:
    info, dtype = entry.info, getattr(torch, entry.dtype)

    def draw() -> Any:
        return info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=entry.training)

    for number, sample in enumerate(seeds.drawn(draw, stream, entry.module)):
        if sample.forward_input is None:
            continue
        stream.begin(f"{test}::{number}")
        try:
            build, forward = sample.constructor_input, sample.forward_input
            module = info.module_cls(*build.args, **build.kwargs).to(dtype).train(entry.training)
            with recorder.watching():
                module(*forward.args, **forward.kwargs)
        except Exception as error:
            print(f"{test}::{number}: {type(error).__name__}: {error}", flush=True)
