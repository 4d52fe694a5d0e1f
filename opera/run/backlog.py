"""The tests of a campaign that nothing has been done for yet."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from opera.difftest.test import Test


class Backlog:
    """Gives *tests* in their order. Asks for no more than the next one, since what comes after it may depend on results."""

    def __init__(self, tests: Iterable[Test]) -> None:
        self._tests = iter(tests)
        self._next: list[Test] = []

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(islice(self._tests, 1))
        return bool(self._next)

    def first(self) -> Test:
        """The test that `pop` takes; there must be one."""
        if not self:
            raise IndexError("no test is left")
        return self._next[0]

    def pop(self) -> Test:
        """Takes the first test away."""
        test = self.first()
        self._next.clear()
        return test
