"""Counts the tests of each class of values over all operators, and a compiler's own tests of each operator."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources

import numpy as np
import numpy.typing as npt

FRESH = 5040
"""Weight of a class that no test had yet: divisible by every number up to 10."""
_NAME = re.compile(r"[:\[~]")


def aspect(key: str) -> str:
    """The aspect of a key, without the names of parameters: `:dtype` of `input:dtype`, `~axis` of `dim~input:axis`."""
    if key.startswith(("arguments ", "context ", "output ")):
        return key
    if "~" in key:
        return "~" + key.rpartition(":")[2].partition("~")[0] if ":" in key else "~"
    found = _NAME.search(key)
    return key[found.start() :] if found else ""


class Vocabulary:
    """Numbers classes by aspect and value: `float16` of `:dtype` is one class for all operators."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str | None], int] = {}

    def number(self, aspect: str, value: str | None) -> int:
        """The number of a class; *value* None for a key that an instance lacks."""
        return self._numbers.setdefault((aspect, value), len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)


class Familiarity:
    """Weights of classes by the number of tests that had them: 1, 2/3, 2/3, 1/2 ... of `FRESH`, falling with each doubling.

    Weights are integers and change seldom: most classes are common, and twice as many tests have to come before the next step.

    Args:
        follow: Whether a gain is computed again as soon as a test of another operator may have lowered it; otherwise after the
            next test of its own operator, which is cheaper.
    """

    def __init__(self, *, follow: bool) -> None:
        self._follow = follow
        self.weights = np.zeros(0)
        self.epoch = 0
        """Rises whenever a weight has changed and gains have to follow."""
        self._counts = np.zeros(0, np.int64)
        self._steps = np.zeros(0, np.int64)

    def reach(self, classes: int) -> None:
        """Extends the arrays to this number of classes."""
        more = classes - len(self.weights)
        if more > 0:
            self.weights = np.concatenate([self.weights, np.full(more, float(FRESH))])
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
            self._steps = np.concatenate([self._steps, np.ones(more, np.int64)])

    def meet(self, classes: npt.NDArray[np.int32]) -> None:
        """Counts one test that has *classes*."""
        self._counts[classes] += 1
        due = classes[self._counts[classes] + 1 >= 2 * self._steps[classes]]
        if len(due):
            self._steps[due] *= 2
            self.weights[due] = [2 * FRESH // (1 + int(step).bit_length()) for step in self._steps[due]]
            self.epoch += self._follow


def equipped_counts(compiler: str, frontend: str) -> Mapping[str, int]:
    """Number of equipped tests by operator (`Instance.operator`); empty where no counts are known for the subject.

    Reads `opera/facts/equipped/<compiler>_<frontend>.json`, which also says where the counts come from.
    """
    found = resources.files("opera").joinpath("facts", "equipped", f"{compiler}_{frontend}.json")
    if not found.is_file():
        return {}
    counts: Mapping[str, int] = json.loads(found.read_text(encoding="utf-8"))["counts"]
    return counts
