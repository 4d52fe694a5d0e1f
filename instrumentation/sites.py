"""Places in the code of a test, from which calls are made on the test's behalf.

A recorder that makes a test's call in its place stands between the two. A warning that the library raises in C++ would name the
recorder's file and line. Python would show it once for the recorder instead of once for each place in the test. So the call is
made from a function that has the file, line, name and globals of the place itself.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Tuple

Call = Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]

REMEMBERED = 20_000
FLOODED = 100
"""Surplus calls after which those of the same function from the same place in the same test are not looked at any more."""
LOOK = 512
"""One in this many of such calls is still checked, because it may have become another kind of call."""

_template: Call = lambda function, args, kwargs: function(*args, **kwargs)  # noqa: E731


class Site:
    """A place in the code.

    Attributes:
        call: Calls a function with arguments as if from here.
        floods: Calls of one function from here, one after the other, that were new but for their numbers only, and too many.
    """

    __slots__ = ("_code", "_flooded", "call", "floods")

    def __init__(self, frame: Any) -> None:
        self.floods = 0
        self._flooded: Tuple[Any, str] = (None, "")
        self._code = frame.f_code  # its identity is the key of this place for as long as it lives
        code = _template.__code__.replace(co_filename=self._code.co_filename, co_firstlineno=frame.f_lineno, co_name=self._code.co_name)
        self.call: Call = types.FunctionType(code, frame.f_globals)

    def is_flooded(self, function: Any, test: str) -> bool:
        """Whether this call of *function* from here need not be looked at."""
        if self.floods < FLOODED:
            return False
        flooded, when = self._flooded
        if flooded is not function or when is not test:
            self.floods = 0
            return False
        self.floods += 1
        return self.floods % LOOK != 0

    def flood(self, function: Any, test: str) -> None:
        """Says that one more call of *function* from here was too many."""
        flooded, when = self._flooded
        if flooded is function and when is test:
            self.floods += 1
        else:
            self.floods, self._flooded = 1, (function, test)


class Sites:
    """All places that have been seen."""

    def __init__(self) -> None:
        self._known: Dict[Tuple[int, int], Site] = {}

    def of(self, frame: Any) -> Site:
        """The place at which *frame* is."""
        key = (id(frame.f_code), frame.f_lasti)
        site = self._known.get(key)
        if site is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            site = self._known[key] = Site(frame)
        return site
