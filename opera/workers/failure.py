"""An exception as a message: type, text and frames, cut to a size that a report can hold."""

from __future__ import annotations

import dis
import traceback
from types import TracebackType

from opera.oracles.verdict import Failure, Frame

MAX_TEXT = 32_768
MAX_FRAMES = 40


def describe(error: BaseException) -> Failure:
    """Type, message and frames of *error* and of the exceptions that caused it.

    Frames go from the outermost to the innermost, each as module, file, line and function. The file is kept only from its last three
    parts on, so that no path of a machine gets into a record.
    """
    document: Failure = {
        "type": type_name(type(error)),
        "bases": [type_name(base) for base in type(error).__mro__[1:-2]],
        "message": cut(text_of(error)),
        "frames": frames_of(error.__traceback__),
    }
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and cause is not error:
        document["cause"] = {
            "type": type_name(type(cause)),
            "message": cut(text_of(cause), MAX_TEXT // 4),
            "frames": frames_of(cause.__traceback__),
        }
    return document


_SLIPS = (AttributeError, IndexError, KeyError, NameError, TypeError, ZeroDivisionError)
"""Exceptions that a compiler written in another language does not raise on purpose."""
_OURS = "opera"


def raised_by(error: BaseException, module: str) -> bool:
    """Whether the code of *module*, an adapter, or of OPERA is at fault for *error*.

    It is if one of their statements is the innermost frame, and either it is a slip, or the statement raises it by itself. An exception of
    a class that they define is their way to report what a compiler says; any other comes from a function in C that they call.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not _is_of(str(trace.tb_frame.f_globals.get("__name__")), module) or _is_of(type(error).__module__, module):
        return False
    code = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return isinstance(error, _SLIPS) or dis.opname[code] == "RAISE_VARARGS"


def _is_of(name: str, module: str) -> bool:
    return name == module or name.partition(".")[0] == _OURS


def type_name(kind: type) -> str:
    """The full name of an exception's class, e.g. `ValueError` or `tvm.error.InternalError`."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def text_of(error: BaseException) -> str:
    """str(error), even where that raises."""
    try:
        return str(error)
    except BaseException as second:
        return f"<str() of this {type(error).__name__} raised {type(second).__name__}>"


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """At most *limit* characters: the beginning and the end, where messages say what matters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"


def frames_of(trace: TracebackType | None) -> list[Frame]:
    """The innermost `MAX_FRAMES` frames of *trace*, outermost first."""
    frames: list[Frame] = []
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        file = "/".join(code.co_filename.split("/")[-3:])
        frames.append((str(frame.f_globals.get("__name__", "")), file, line, getattr(code, "co_qualname", code.co_name)))
    return frames[-MAX_FRAMES:]
