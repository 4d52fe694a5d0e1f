"""Which passes of a compiler change a model: each compiler that tells does so in a way of its own."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_OPENVINO_PROFILE = "OV_ENABLE_PROFILE_PASS"
_ONNXRUNTIME_CHANGE = re.compile(rb"GraphTransformer (\S+) modified: 1 ")
_STDERR = 2


@contextmanager
def of_tvm() -> Generator[dict[str, None]]:
    """Names, in order, of the passes of TVM that give another module than they were given, while the context is open."""
    instrument: Any = importlib.import_module("tvm.ir.instrument")
    equal: Any = importlib.import_module("tvm_ffi").structural_equal
    found: dict[str, None] = {}
    before: list[Any] = []

    class Watch:
        """Told of each pass; passes call others."""

        def run_before_pass(self, module: Any, info: Any) -> None:
            before.append(module)

        def run_after_pass(self, module: Any, info: Any) -> None:
            if not equal(before.pop(), module):
                found[str(info.name)] = None

    with importlib.import_module("tvm.ir.transform").PassContext(instruments=[instrument.pass_instrument(Watch)()]):
        yield found


@contextmanager
def of_onnxruntime(options: Any, scratch: Path) -> Generator[dict[str, None]]:
    """Names, in order, of the transformers of ONNX Runtime that its log says have changed a graph.

    Args:
        options: The onnxruntime.SessionOptions of the sessions to come.
        scratch: A folder to write to.
    """
    found: dict[str, None] = {}
    quiet, options.log_severity_level = options.log_severity_level, 0
    kept = os.dup(_STDERR)
    with tempfile.TemporaryFile(dir=scratch) as log:
        os.dup2(log.fileno(), _STDERR)
        try:
            yield found
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
            options.log_severity_level = quiet
            log.seek(0)
            found.update(dict.fromkeys(name.decode() for name in _ONNXRUNTIME_CHANGE.findall(log.read())))


@contextmanager
def of_openvino(scratch: Path) -> Generator[dict[str, None]]:
    """Names, in order, of the passes of OpenVINO that its profile says have changed a model.

    OpenVINO reads the name of the file for its profile once in a process, so each process has one file in *scratch*.
    """
    profile = Path(os.environ.setdefault(_OPENVINO_PROFILE, str(scratch / f"passes-{os.getpid()}.csv")))
    begun = profile.stat().st_size if profile.exists() else 0
    found: dict[str, None] = {}
    try:
        yield found
    finally:
        with profile.open("rb") as file:
            file.seek(begun)
            fields = (line.decode(errors="replace").split(";") for line in file.read().splitlines())
            found.update(dict.fromkeys(each[1] for each in fields if each[0] == "t" and each[-1] == "1"))
