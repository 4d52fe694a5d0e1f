"""What each part of the default strategy adds, with a paired bootstrap over operators.

    python scripts/prioritisation_gains.py [--seeds N] [--write]

For each recorded campaign, and the paper's: the mean difference of APFD between a strategy and the same strategy without the part. The
95 % interval follows, for operators that are drawn with replacement, each with all its findings. A finding belongs to the operator of the
first of its tests, by id. --write puts the table into docs/reference/prioritisation.md.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from unittest.mock import patch

import numpy as np
from prioritisation_table import PAGE, campaigns

from opera.extensions.research.compare import order_of
from opera.extensions.research.recording import RecordedRun
from opera.prioritize import get_strategy
from opera.prioritize import operator_features as reading
from opera.prioritize.operator_features import OperatorFeatures

BEGIN, END = "<!-- scripts/prioritisation_gains.py: begin -->\n", "<!-- end of gains -->\n"
STRATEGIES = ("opera", "opera-adaptive")
DRAWS = 2000


def observed() -> AbstractContextManager[object]:
    """Families by the parameters that instances show."""
    return patch.object(OperatorFeatures, "family", property(lambda self: self._signature))


def aspects_alone() -> AbstractContextManager[object]:
    """The weight of an operator is its number of aspects."""
    return patch.object(OperatorFeatures, "weight", property(lambda self: self.aspects))


def timeless() -> AbstractContextManager[object]:
    """Versions do not count."""
    return patch.object(reading, "_recency", lambda encoded, schema: np.ones(len(encoded.codes)))


def none_of_them() -> AbstractContextManager[object]:
    """The default before these parts."""
    stack = ExitStack()
    for part in (observed, aspects_alone, timeless):
        stack.enter_context(part())
    return stack


PARTS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "declared families": observed,
    "size": aspects_alone,
    "recency": timeless,
    "all three": none_of_them,
}


def main() -> None:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="write into the page")
    given = parser.parse_args()
    text = "".join(f"{line}\n" for line in section(campaigns(), given.seeds))
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(text, end="")


def section(recorded: Mapping[str, RecordedRun], seeds: int) -> Iterator[str]:
    """The lines of the table."""
    yield f"| gain of APFD, {seeds} seeds | {' | '.join(f'{part}: {name}' for name in STRATEGIES for part in PARTS)} |"
    yield f"|---|{'---|' * len(STRATEGIES) * len(PARTS)}"
    for name, run in recorded.items():
        cells: list[str] = []
        for strategy in STRATEGIES:
            whole = shares(run, strategy, seeds, nullcontext)
            cells += [gain(run, whole, shares(run, strategy, seeds, part)) for part in PARTS.values()]
        yield f"| {name} | {' | '.join(cells)} |"


def shares(run: RecordedRun, strategy: str, seeds: int, part: Callable[[], AbstractContextManager[object]]) -> dict[str, float]:
    """The share of the tests that run until a fault is revealed, by fault; the mean of the seeds."""
    found: dict[str, list[int]] = {}
    with part():
        chosen = get_strategy(strategy)
        for seed in range(seeds):
            first: dict[str, int] = {}
            for place, test in enumerate(order_of(chosen, run, seed), 1):
                for fault in run.failing.get(test, ()):
                    first.setdefault(fault, place)
            for fault, place in first.items():
                found.setdefault(fault, []).append(place)
    return {fault: statistics.fmean(places) / len(run.tests) for fault, places in found.items()}


def gain(run: RecordedRun, whole: Mapping[str, float], without: Mapping[str, float]) -> str:
    """`+.012 [.003, .020]`: difference of means, with its interval over operators."""
    operator: dict[str, str] = {}
    for test in run.tests:
        for fault in test.faults:
            operator.setdefault(fault, test.instance.api)
    groups: dict[str, list[float]] = {}
    for fault, share in whole.items():
        groups.setdefault(operator[fault], []).append(without[fault] - share)
    clusters = [(sum(each), len(each)) for each in groups.values()]
    dice = random.Random(0)
    means: list[float] = []
    for _ in range(DRAWS):
        drawn = dice.choices(clusters, k=len(clusters))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    low, high = means[DRAWS // 40], means[-DRAWS // 40]
    mean = sum(total for total, _ in clusters) / sum(count for _, count in clusters)
    return f"{signed(mean)} [{signed(low)}, {signed(high)}]"


def signed(value: float) -> str:
    """A gain with its sign and three decimals, e.g. `+.012`."""
    return f"{value:+.3f}".replace("0.", ".", 1)


if __name__ == "__main__":
    main()
