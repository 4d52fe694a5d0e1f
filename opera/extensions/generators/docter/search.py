"""Searches conforming calls of an API that the library accepts: draws, learns from what returned, repairs what raised."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, Optional

from opera.extensions.generators.docter import repairs
from opera.extensions.generators.docter.chooser import Chooser, Trace
from opera.extensions.generators.docter.constraints import TargetApi
from opera.extensions.generators.docter.drawing import Drawing, Undrawable
from opera.extensions.generators.docter.recipes import CallRecipe, TensorRecipe

VARY = 0.6
"""How often the next call is a variation of one that returned."""
DEPTH = 5
"""The most repairs in a row."""
LESSON = 2.0
"""By how much one successful repair changes the weight of what it arrived at."""
HOPELESS = 0.6
"""The share of the tries after which an API that never returned gets no more repairs."""

Attempt = Callable[[CallRecipe], Optional[str]]
"""Makes a call; the message of its exception, None where it returned."""


class Found(NamedTuple):
    """What a search found.

    Attributes:
        calls: Different calls that returned.
        tries: How many calls were made.
        reason: The reason for a missing sample; empty or None for a sample.
    """

    calls: list[CallRecipe]
    tries: int
    reason: str


class Search:
    """The search for one API."""

    def __init__(self, api: TargetApi, attempt: Attempt, seed: str, tries: int) -> None:
        """*tries* is the most calls that are made."""
        self._api = api
        self._attempt = attempt
        self._generator = random.Random(seed)
        self._chooser = Chooser(self._generator)
        self._left = tries
        self._tries = tries
        self._known: set[str] = set()
        self._good: dict[str, CallRecipe] = {}
        self._traces: list[Trace] = []
        self._reason = "no call returned"
        self._tell: Callable[[int, CallRecipe], None] = lambda _number, _recipe: None

    def run(self, wanted: int, tell: Callable[[int, CallRecipe], None]) -> Found:
        """Searches until *wanted* different calls have returned or the tries are used up; *tell* hears of each at once, with its number."""
        self._tell = tell
        drawn = 0
        while self._left > 0 and len(self._good) < wanted and drawn < 2 * self._tries:
            drawn += 1
            pinned = (
                self._chooser.varied(self._generator.choice(self._traces)) if self._traces and self._generator.random() < VARY else None
            )
            self._chooser.begin(pinned)
            try:
                recipe = Drawing(self._chooser, self._api).call()
            except Undrawable as error:
                return Found([], self._tries - self._left, f"no value for {error}")
            message = self._try(recipe)
            if message is None:
                continue
            self._chooser.learn(message == "")
            if message == "":
                self._traces.append(self._chooser.trace())
            elif not self._hopeless():
                self._repair(recipe, message)
        return Found(list(self._good.values()), self._tries - self._left, "" if self._good else self._reason)

    def _hopeless(self) -> bool:
        return not self._good and self._left < (1 - HOPELESS) * self._tries

    def _try(self, recipe: CallRecipe) -> Optional[str]:
        """The message of the call's exception, empty where it returned; None where the same call was made before."""
        key = repr(recipe)
        if key in self._known or self._left <= 0:
            return None
        self._known.add(key)
        self._left -= 1
        message = self._attempt(recipe)
        if message is None:
            self._tell(len(self._good), recipe)
            self._good[key] = recipe
            return ""
        self._reason = message
        return message or "?"

    def _repair(self, recipe: CallRecipe, message: str) -> None:
        """Follows the messages as long as each repair leads to another one."""
        for _ in range(DEPTH):
            step, following = None, message
            for candidate in repairs.candidates(recipe, message):
                answer = self._try(candidate)
                if answer == "":
                    self._teach(candidate)
                    return
                if answer is not None and _gist(answer) != _gist(message) and step is None:
                    step, following = candidate, answer
            if step is None:
                return
            recipe, message = step, following

    def _teach(self, repaired: CallRecipe) -> None:
        """Makes what a repair arrived at likelier: dtype and number of dimensions of each tensor, and other plain values."""
        variant = self._chooser.trace().get("variant", 0)
        for path, value in repaired.parts():
            if len(path) != 2:
                continue
            slot = f"{'build.' if path[0] == 'build' else f'call{variant}.'}{repaired.given(path).name}"
            if isinstance(value, TensorRecipe):
                self._chooser.boost(f"{slot}.shape", ("dims", len(value.shape)), LESSON)
                self._chooser.boost(f"{slot}.dtype", value.dtype, LESSON)
            else:
                self._chooser.boost(f"{slot}.value", value, LESSON)


def _gist(message: str) -> str:
    """A message without its numbers."""
    return "".join(letter for letter in message[:160] if not letter.isdigit())
