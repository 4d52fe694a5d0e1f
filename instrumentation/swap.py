"""Watches a Python function by exchanging its code, so that all references to the function, also early ones, call the watcher.

The function stays the object that it was: names bound early, tables keyed by functions, closures, class attributes and identity tests
are not disturbed. Signature, name, defaults, source position and free variables stay what they were. The new code finds what it
calls by an import from this module: unlike an object among its constants, that is something a compiler of bytecode can follow.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types
from typing import Any, Callable, Dict, List, Tuple

Watcher = Callable[[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]], Any]
"""Called with the original function and the arguments of a call, in place of the function."""
Function = types.FunctionType

_numbers = itertools.count()

_TEMPLATE = """
def around({variables}):
    def template(*args, **kwargs):
        from placeholder import BYPASS, ORIGINAL, WATCH
        if BYPASS():
            return ORIGINAL(*args, **kwargs)
        return WATCH(args, kwargs)
        {variables}
"""
"""The new code. All names but `args` and `kwargs` are replaced; the last line is never reached, and makes the free variables."""


class Swap:
    """Functions whose code is exchanged, until `undo`."""

    def __init__(self, bypass: Callable[[], bool] = bool) -> None:
        """While *bypass* gives true, calls go to the original functions: so a compiler that cannot follow the watcher never sees it."""
        self._bypass = bypass
        self._done: Dict[Function, types.CodeType] = {}
        self._signed: List[Function] = []

    def put(self, function: Function, watcher: Watcher) -> None:
        """Lets *watcher* answer the calls of *function*; one that is watched already stays as it is.

        Raises:
            ValueError: *function* is a generator or a coroutine, whose calls do not run it.
        """
        if function in self._done:
            return
        code = function.__code__
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise ValueError(f"{function.__qualname__} does not run when it is called")
        if not hasattr(function, "__wrapped__") and not hasattr(function, "__signature__"):
            function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
            self._signed.append(function)
        original = _copy(function)
        number = next(_numbers)
        names = {
            "BYPASS": _public(f"bypass_{number}", self._bypass),
            "ORIGINAL": _public(f"original_{number}", original),
            "WATCH": _public(f"watch_{number}", _watch(watcher, original)),
        }
        self._done[function] = code
        function.__code__ = _redirected(code, names)

    def undo(self) -> None:
        """Puts every code back."""
        while self._done:
            function, code = self._done.popitem()
            function.__code__ = code
        while self._signed:
            del self._signed.pop().__signature__  # type: ignore[attr-defined]


def _watch(watcher: Watcher, original: Function) -> Callable[[Tuple[Any, ...], Dict[str, Any]], Any]:
    return lambda args, kwargs: watcher(original, args, kwargs)


def _public(name: str, value: Callable[..., Any]) -> str:
    """Makes *value* importable from this module, for good: another thread may be on its way to it when the watch ends."""
    globals()[name] = value
    return name


def _copy(function: Function) -> Function:
    """A function of its own that does what *function* does now."""
    copy = Function(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def _redirected(code: types.CodeType, names: Dict[str, str]) -> types.CodeType:
    """The code of a function of any arguments that imports *names*, and that looks like *code* from outside."""
    template = _template(len(code.co_freevars))
    return template.replace(
        co_consts=tuple(tuple(names.values()) if value == tuple(names) else value for value in template.co_consts),
        co_names=tuple({"placeholder": __name__, **names}.get(name, name) for name in template.co_names),
        co_freevars=code.co_freevars,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )


@functools.cache
def _template(variables: int) -> types.CodeType:
    """The code of a function with this number of free variables.

    It needs to be compiled with them, because the interpreter takes for granted that code begins by filling them in. It looks them up
    without a check when a debugger or pytest asks for the local variables of a frame.
    """
    names = ", ".join(f"free_{number}" for number in range(variables))
    code = compile(_TEMPLATE.format(variables=names), __name__, "exec")
    for name in ("around", "template"):
        code = next(value for value in code.co_consts if isinstance(value, types.CodeType) and value.co_name == name)
    return code
