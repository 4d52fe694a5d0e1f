"""Records the operators of whole models of PyTorch and Keras: builds each model, and watches what it calls when it runs once.

A model is a function without parameters in a Python file, or a `.keras` file. The function returns a module of PyTorch with its inputs, as
`(module, args)` or `(module, args, kwargs)`, or a model of Keras, alone or with its inputs.
"""

from __future__ import annotations

import importlib
import inspect
import os
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, cast

from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.suite import prepare
from opera.instrumentation.recorders import recording
from opera.instrumentation.stream import Stream

__all__ = ["main", "prepare"]

OPEN = (1, 16)
"""Size of an axis that a model of Keras leaves open: of the first one, and of others."""
_MOST = 300
Call = Callable[[], object]
"""Runs a model once."""


def main(argv: Sequence[str]) -> None:
    """Writes the recording of the models of one file."""
    parser = arguments.parser("models")
    parser.add_argument("--library", required=True)
    parser.add_argument("--root", required=True, help="folder of the models")
    parser.add_argument("--file", required=True, help="path of the file within it")
    options, _ = parser.parse_known_args(argv)
    library = recording(options.library)
    with Stream(options.recording, options.library, library.version(), options.source) as stream:
        stream.enter(options.shard[0], options.file)
        test = f"{options.source}::{options.file}"
        with library.Recorder(stream, arguments.filters(options)) as recorder:
            began = time.monotonic()
            try:
                for name, call in _models(options.library, os.path.join(str(options.root), str(options.file)), options.seed):
                    stream.begin(f"{test}{name}")
                    with recorder.watching():
                        call()
                    stream.outcome(f"{test}{name}", "passed", time.monotonic() - began)
                    began = time.monotonic()
            except BaseException as error:
                traceback.print_exc()
                stream.outcome(test, "error", time.monotonic() - began, f"{type(error).__name__}: {error}"[:_MOST])


def _models(library: str, path: str, seed: int) -> Iterator[tuple[str, Call]]:
    """The models of a file, each with the end of its name in the recording; raises what the file raises."""
    prepared = _of_pytorch if library == "pytorch" else _of_keras
    if path.endswith(".keras"):
        keras: Any = importlib.import_module("keras")
        yield "", prepared(keras.saving.load_model(path, compile=False, safe_mode=True), seed)
        return
    sys.path.insert(0, os.path.dirname(path))
    found = [each for each in runpy.run_path(path, run_name="models").items() if _is_model(*each)]
    if not found:
        raise ValueError("no function without parameters is there; define one that returns the model and its inputs")
    for name, make in found:
        yield f"::{name}", prepared(cast("Callable[[], Any]", make), seed)


def _is_model(name: str, value: Any) -> bool:
    own = isinstance(value, FunctionType) and value.__module__ == "models" and not name.startswith("_")
    return own and not inspect.signature(value).parameters


def _of_pytorch(make: Callable[[], Any], seed: int) -> Call:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(seed)
    module, args, *more = make()
    module.eval()

    def call() -> object:
        with torch.no_grad():
            return module(*(args if isinstance(args, tuple) else (args,)), **(more[0] if more else {}))

    return call


def _of_keras(made: Any, seed: int) -> Call:
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(seed)
    found: Any = made() if isinstance(made, FunctionType) else made
    given = cast("tuple[Any, ...]", found if isinstance(found, tuple) else (found,))
    model: Any = given[0]
    drawn = [] if given[1:] else [_drawn(keras, each) for each in model.inputs]
    inputs: Any = given[1] if given[1:] else drawn[0] if len(drawn) == 1 else drawn
    return lambda: model(inputs, training=False)


def _drawn(keras: Any, wanted: Any) -> Any:
    """Values for an input of a model of Keras: normal numbers, and integers of 0 and 1."""
    shape = [size or OPEN[bool(axis)] for axis, size in enumerate(wanted.shape)]
    if keras.backend.is_float_dtype(wanted.dtype):
        return keras.random.normal(shape, dtype=wanted.dtype)
    return keras.ops.cast(keras.random.randint(shape, 0, 2), wanted.dtype)
