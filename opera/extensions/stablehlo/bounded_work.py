"""A limit for work that something foreign asks for: a program, a module, a policy.

A short document can ask for any amount of work: 40 functions that each call the one before twice are 2**40 calls. What follows the
structure spends from one budget. It counts steps and no time, so that the same document ends at the same place on every machine.
"""

from __future__ import annotations


class Work:
    """Counts steps, and raises an error after too many.

    Attributes:
        spent: Steps so far.
    """

    def __init__(self, most: float, steps: str, error: type[Exception]) -> None:
        """Starts at zero.

        Args:
            most: Steps that are allowed.
            steps: What a step is, in the plural, as the message names it.
            error: What is raised.
        """
        self._most = most
        self._steps = steps
        self._error = error
        self.spent = 0.0

    def spend(self, amount: float = 1, what: str = "", function: str = "") -> None:
        """Counts *amount* steps; raises the error beyond the limit. The message names the place: *what*, and the *function* around it."""
        self.spent += amount
        if self.spent > self._most:
            place = " in ".join(filter(None, (what, f"function {function!r}" if function else "")))
            raise self._error(f"{place}{': ' if place else ''}more than {self._most:,.0f} {self._steps}")
