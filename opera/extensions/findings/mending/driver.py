"""Runs a script once with each repair, in processes that share its imports, and prints what became of it.

The file runs in the environment of a compiler that may not have OPERA: a call of `main` stands below its text.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any

_SAID = 300


class _Probed(BaseException):
    """Ends a script whose first model was looked at."""


def _imports(text: str) -> str:
    """The imports at the top of the script: they take most of its time."""
    return "\n".join(ast.unparse(each) for each in ast.parse(text).body if isinstance(each, (ast.Import, ast.ImportFrom)))


def _run(script: str) -> None:
    exec(compile(script, __file__, "exec"), {"__name__": "__main__", "__file__": __file__})


def _probed(script: str, module: Any) -> list[str]:
    """The repairs that change the first model of *script*."""
    found: list[str] = []

    def tell(names: list[str]) -> None:
        found.extend(names)
        raise _Probed

    module.probe(tell)
    with contextlib.suppress(BaseException):
        _run(script)
    return found


def _tried(script: str, module: Any, name: str) -> list[str]:
    """What becomes of *script* with the repair *name*, or without any: the state, and its last words."""
    try:
        if name:
            module.install(name)
        _run(script)
    except SystemExit as error:
        return ["fails", str(error.code)] if error.code else ["mended", ""]
    except BaseException as error:
        return ["fails", f"{type(error).__name__}: {error}"[:_SAID]]
    return ["mended", ""]


def _apart(do: Callable[[], list[str]], seconds: int) -> list[str]:
    """What *do* returns in a child process, which may end in any way."""
    answer = f"{__file__}.json"
    child = os.fork()
    if not child:
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            signal.alarm(seconds)
            found = do()
            with open(answer, "w", encoding="utf-8") as file:
                json.dump(found, file)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.path.exists(answer):
        return ["fails", f"signal {status & 127}"]
    with open(answer, encoding="utf-8") as file:
        said = json.load(file)
    os.unlink(answer)
    return said


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(repairs: str, script: str, seconds: int) -> None:
    """Prints a line for the script as it is, and one for each repair.

    Args:
        repairs: Text of a module of repairs.
        script: Text of the script.
        seconds: Limit of each run.
    """
    module = types.ModuleType("repairs")
    sys.modules["repairs"] = module
    exec(compile(repairs, "repairs.py", "exec"), module.__dict__)
    try:
        exec(_imports(script), {})
        module.warm()
    except BaseException as error:
        _say(f"{type(error).__name__}: {error}"[:_SAID])
    found = _apart(lambda: _tried(script, module, ""), seconds)
    _say(f"REPAIR {json.dumps(['', *found])}")
    if found[0] == "fails":
        for name in _apart(lambda: _probed(script, module), seconds):
            if name in module.NAMES:
                _say(f"REPAIR {json.dumps([name, *_apart(partial(_tried, script, module, name), seconds)])}")
