"""Imports ONNX models with IREE's importer, all in one child process of the compiler's environment."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from opera.compilers.adapter import Adapter
from opera.config import Config
from opera.console import doing, plural
from opera.errors import EnvironmentBroken
from opera.extensions.suites.driver import general_facts
from opera.report.reproducer import driving_code
from opera.workers import clock
from opera.workers.process import PINNED_ENVIRONMENT
from opera.workers.program import LOOK_SECONDS, Program, passed_on
from opera.workers.supervision import working_folder

_SECONDS = 20.0
"""Longest time for one model, on average, beyond the time to start."""
_START = 60.0
_PROGRAM = """
import pathlib
import sys

import onnx

{imports}


def imported(model):
{body}


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    try:
        text = imported(onnx.load(path))
    except Exception:
        continue
    path.with_suffix(".mlir").write_text(text, encoding="utf-8")
"""


def imported(adapter: type[Adapter], models: Mapping[str, bytes], config: Config, scratch: Path) -> dict[str, str]:
    """The text of each model that the importer takes, by name.

    Args:
        adapter: Adapter of IREE; the code is that of its scripts.
        models: ONNX models by name.
        config: Says which interpreter has IREE.
        scratch: Folder for temporary files.

    Raises:
        EnvironmentBroken: IREE is absent.
    """
    doing(f"importing {plural(len(models), 'model')} with IREE")
    code = driving_code(adapter, "onnx", {**general_facts({}), "route": "onnx", "to_compile": "return text\n"})
    body = code.text.partition("return text\n")[0] + "return text"
    with working_folder("suite", scratch) as folder:
        program = folder / "program.py"
        program.write_text(_PROGRAM.format(imports="\n".join(code.imports), body=textwrap.indent(body, "    ")), encoding="utf-8")
        names = dict(enumerate(models))
        for number, name in names.items():
            (folder / f"{number}.onnx").write_bytes(models[name])
        environment = {**passed_on(), **PINNED_ENVIRONMENT, "TMPDIR": str(folder), **config.environment(adapter.name)}
        with (folder / "log").open("wb") as log:
            running = Program([config.python("compiler", adapter.name), str(program), str(folder)], log, folder, environment)
        try:
            deadline = clock.now() + _START + _SECONDS * len(models)
            while running.wait(LOOK_SECONDS) is None and clock.now() < deadline:
                pass
            status = running.poll()
        finally:
            running.end()
        found = {name: path for number, name in names.items() if (path := folder / f"{number}.mlir").exists()}
        if status != 0 and not found:
            raise EnvironmentBroken("IREE cannot import models here; `opera doctor --compiler iree` says why")
        return {name: path.read_text(encoding="utf-8") for name, path in found.items()}
