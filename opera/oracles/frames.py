"""Where a compiler raised: the innermost functions of its own, from the Python trace and from C++ locations inside the message."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

TOP = 2
"""Frames of each kind that are looked at."""
_OURS = frozenset({"opera", "__main__"})
_CPP = re.compile(r"([\w+-]+\.(?:cc|cpp|cxx|cu|h|hpp|pxi)):\d+")
_GENERATED = re.compile(r"(?=\w*\d)\w{32,}")
"""Names of modules that compilers write while they compile, after a hash of their contents."""
_READ = 65_536


def top_frames(failure: Mapping[str, Any]) -> tuple[str, ...]:
    """The functions nearest to the failure, without line numbers: those change with every version.

    Args:
        failure: As `opera.workers.failure.describe` makes it.

    Returns:
        Up to `TOP` frames of the trace, the innermost first, as `module.function` or the name of a C++ file; then up to `TOP` C++ files
        that the message names, the last first.
    """
    trace = _first(_in_project(failure.get("frames", ())))
    located = _first(match[1] for match in reversed(list(_CPP.finditer(str(failure.get("message", ""))[:_READ]))))
    return (*trace, *(each for each in located if each not in trace))


def _in_project(frames: Any) -> Iterator[str]:
    """Frames of neither this tool nor the standard library, the innermost first."""
    for module, file, _, function in reversed(list(frames)):
        root = str(module).split(".", 1)[0]
        if root in _OURS or root in sys.stdlib_module_names or str(file).startswith("<"):
            continue
        where = str(module) or str(file).rsplit("/", 1)[-1]
        name = where if function == "<module>" else f"{where}.{function}"
        yield _GENERATED.sub("GENERATED", name)


def _first(names: Iterator[str]) -> tuple[str, ...]:
    """The first `TOP` different names."""
    found: list[str] = []
    for name in names:
        if name not in found:
            found.append(name)
            if len(found) == TOP:
                break
    return tuple(found)
