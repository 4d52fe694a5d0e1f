"""A plug-in for pytest that keeps the models that tests build: `pytest -p opera.extensions.programs.pytest_plugin tests --models FOLDER`.

Tests of a compiler's passes build the patterns that these passes look for. The plug-in runs the tests as they are, and writes each distinct
ONNX model that they make, parse, load or check, and each module of TVM that a pass is given. `tests.jsonl` in the folder names their tests.
`opera fuzz seeds FILE --model FOLDER` makes programs of them.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

LARGEST = 1_000_000
"""Bytes of a model; patterns are small."""
INDEX = "tests.jsonl"
_MAKERS = (
    ("onnx", "load"),
    ("onnx", "load_model_from_string"),
    ("onnx.checker", "check_model"),
    ("onnx.helper", "make_model"),
    ("onnx.parser", "parse_model"),
    ("onnx_ir.serde", "deserialize_model"),
    ("onnx_ir.serde", "serialize_model"),
)
"""Functions of ONNX that take or give a model."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the plug-in's option to pytest."""
    parser.getgroup("models").addoption("--models", metavar="FOLDER", type=Path, help="Write the models that the tests build to FOLDER.")


def pytest_configure(config: pytest.Config) -> None:
    """Watches, from the import of the tests on.

    Raises:
        UsageError: no folder is named.
    """
    folder: Path | None = config.getoption("--models")
    if folder is None:
        raise pytest.UsageError("name a folder for the models: --models FOLDER")
    keeper = _Keeper(folder)
    for module, name in _MAKERS:
        keeper.watch(module, name)
    keeper.watch_passes()
    config.pluginmanager.register(keeper, "opera-models")


class _Keeper:
    """Keeps the models of the running test until it ends, because tests change a model after they made it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[Any] = []
        self._test = ""
        self._kept: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._test = item.nodeid
        try:
            return (yield)
        finally:
            held, self._held = self._held, []
            for model in held:
                self._keep(model.SerializeToString, ".onnx")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"{len(self._kept):,} models in {self._folder}")

    def watch(self, module: str, name: str) -> None:
        """Looks at the arguments and the result of a function, where it is installed."""
        try:
            owner = importlib.import_module(module)
            function = getattr(owner, name)
        except (ImportError, AttributeError):
            return

        @functools.wraps(function)
        def watched(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            self._held += [each for each in (*arguments[:1], result) if type(each).__name__ == "ModelProto"]
            return result

        setattr(owner, name, watched)

    def watch_passes(self) -> None:
        """Looks at what each pass of TVM is given, where TVM is installed."""
        try:
            tvm: Any = importlib.import_module("tvm")
        except ImportError:
            return
        run = tvm.transform.Pass.__call__

        @functools.wraps(run)
        def watched(each: Any, module: Any) -> Any:
            self._keep(lambda: tvm.ir.save_json(module).encode(), ".json")
            return run(each, module)

        tvm.transform.Pass.__call__ = watched

    def _keep(self, written: Callable[[], bytes], suffix: str) -> None:
        """Writes a model that can be written, and is not there yet."""
        try:
            data = written()
        except Exception:  # a test may break a model on purpose
            return
        name = f"{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
        if len(data) > LARGEST or name in self._kept:
            return
        self._kept.add(name)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not (self._folder / name).exists():
            (self._folder / name).write_bytes(data)
            with (self._folder / INDEX).open("a", encoding="utf-8") as index:
                index.write(json.dumps({"model": name, "test": self._test}) + "\n")
