"""Runs a script once with each repair, in processes that share its imports, and prints what became of it.

The file runs in the environment of a compiler that may not have OPERA: a call of `main` stands below its text.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import sys
import types
from typing import Any

_SAID = 300


class _Unchanged(BaseException):
    """Ends a script whose model a repair does not change."""


def _imports(text: str) -> str:
    """The imports at the top of the script: they take most of its time."""
    return "\n".join(ast.unparse(each) for each in ast.parse(text).body if isinstance(each, (ast.Import, ast.ImportFrom)))


def _run(script: str, module: Any, name: str) -> tuple[str, str]:
    """Runs *script* with the repair *name*, or without any, in this process; returns what became of it, and its last words."""
    changed: list[int] = []

    def count(number: int) -> None:
        changed.append(number)
        if not number:
            raise _Unchanged

    try:
        if name:
            module.install(name, count)
        exec(compile(script, __file__, "exec"), {"__name__": "__main__", "__file__": __file__})
    except _Unchanged:
        return "unchanged", ""
    except SystemExit as error:
        if error.code:
            return "fails", str(error.code)
    except BaseException as error:
        return "fails", f"{type(error).__name__}: {error}"[:_SAID]
    return "mended" if changed or not name else "unchanged", ""


def _tried(script: str, module: Any, name: str, seconds: int) -> tuple[str, str]:
    """What became of *script* in a child process, which may end in any way."""
    answer = f"{__file__}.json"
    child = os.fork()
    if not child:
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            signal.alarm(seconds)
            found = _run(script, module, name)
            with open(answer, "w", encoding="utf-8") as file:
                json.dump(found, file)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.path.exists(answer):
        return "fails", f"signal {status & 127}"
    with open(answer, encoding="utf-8") as file:
        state, said = json.load(file)
    os.unlink(answer)
    return state, said


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
        print(f"{type(error).__name__}: {error}"[:_SAID])
    for name in ("", *module.NAMES):
        print("REPAIR", json.dumps([name, *_tried(script, module, name, seconds)]), flush=True)
