"""Compares strategies: each orders a recorded corpus under many seeds, and metrics rate the order by its faults."""

from __future__ import annotations

import math
import multiprocessing
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from opera.errors import UserError
from opera.extensions.research.metrics import QUARTERS, Detection, apfd, apfdc, detect, rauc
from opera.extensions.research.recording import RecordedRun
from opera.prioritize import Adaptive, Context, History, Observation, Strategy, get_strategy, strategy_names

_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
    2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % points of Student's t with 1 degree of freedom and more; beyond the last, the point of the normal distribution is close enough."""


_NONE = History()


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over seeds, and the 95 % interval of the mean (Student's t)."""

    mean: float
    sd: float
    low: float
    high: float

    def document(self, digits: int = 4) -> dict[str, float]:
        """The same for JSON."""
        return {name: round(value, digits) for name, value in vars(self).items()}


def spread(values: Sequence[float], most: float = math.inf) -> Spread:
    """Mean, standard deviation and interval of *values*, one value for each seed; they, and the interval, lie between 0 and *most*."""
    mean = statistics.fmean(values)
    sd = statistics.stdev(values) if len(values) > 1 else 0.0
    point = _STUDENT[len(values) - 2] if 2 <= len(values) <= len(_STUDENT) + 1 else 1.96
    margin = point * sd / math.sqrt(len(values))
    return Spread(mean, sd, max(mean - margin, 0.0), min(mean + margin, most))


@dataclass(frozen=True)
class Figures:
    """How good one strategy is on one campaign.

    Attributes:
        apfd: Average percentage of faults detected.
        apfdc: The same over seconds; None where seconds were not measured.
        rauc: By per cent of the tests.
        tests: By k from 1, number of tests until k faults are revealed.
        seconds: The same in seconds; empty where seconds were not measured.
    """

    apfd: Spread
    apfdc: Spread | None
    rauc: Mapping[int, Spread]
    tests: Sequence[Spread]
    seconds: Sequence[Spread]


def available(recorded: RecordedRun) -> list[str]:
    """The strategies that can rank *recorded*: all, or all but those that need coverage where none was measured."""
    needs = {"total", "additional"}
    return [name for name in strategy_names() if recorded.coverage is not None or name not in needs]


def order_of(strategy: Strategy, recorded: RecordedRun, seed: int, history: History = _NONE) -> list[str]:
    """All tests as *strategy* orders them; an adaptive one is told, after each, what it came to."""
    context = Context(recorded.equipped, seed, history, recorded.equipped_tests, recorded.coverage)
    if isinstance(strategy, Adaptive):
        return simulate(strategy, recorded, context)
    return [ranked.id for ranked in strategy.rank(recorded.candidates, context)]


def simulate(strategy: Adaptive, recorded: RecordedRun, context: Context) -> list[str]:
    """The order in which a campaign would run under an adaptive *strategy*, one test at a time."""
    session = strategy.session(recorded.candidates, context)
    order: list[str] = []
    seen: set[str] = set()
    while (ranked := session.next()) is not None:
        order.append(ranked.id)
        faults = recorded.failing.get(ranked.id, frozenset[str]())
        session.observe(ranked.id, Observation.NEW if faults - seen else Observation.KNOWN if faults else Observation.NOTHING)
        seen |= faults
    return order


def evaluate(recorded: RecordedRun, strategies: Iterable[str], seeds: int, history: History = _NONE, jobs: int = 1) -> dict[str, Figures]:
    """The figures of each of *strategies* on *recorded*, under the seeds 0 to *seeds* - 1; *jobs* processes share the work.

    Raises:
        UserError: as `detections` does.
    """
    found = detections(recorded, strategies, seeds, history, jobs)
    return {name: figures(each, timed=recorded.timed) for name, each in found.items()}


def detections(
    recorded: RecordedRun, strategies: Iterable[str], seeds: int, history: History = _NONE, jobs: int = 1
) -> dict[str, list[Detection]]:
    """Where each of *strategies* reveals the faults of *recorded*, once for each seed.

    Raises:
        UserError: nothing failed, so that nothing can be said; or a strategy is unknown, or cannot rank this campaign.
    """
    if not recorded.failing:
        raise UserError(
            f"the campaign of {recorded.subject} has no findings, so all orders are equally good; choose a campaign with findings"
        )
    names = list(dict.fromkeys(strategies))
    parts = [range(part, seeds, jobs) for part in range(min(jobs, seeds))]
    tasks = [(name, part) for name in names for part in parts]
    detect_all = partial(_detect_all, recorded, history)
    if jobs == 1:
        found = [detect_all(task) for task in tasks]
    else:
        _SHARED.append(detect_all)
        try:
            with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
                found = list(pool.map(_shared, tasks))
        finally:
            _SHARED.pop()
    by_seed = {(name, seed): each for (name, part), rows in zip(tasks, found, strict=True) for seed, each in zip(part, rows, strict=True)}
    return {name: [by_seed[name, seed] for seed in range(seeds)] for name in names}


def as_run(recorded: RecordedRun) -> Figures | None:
    """The figures of the order in which the campaign ran; None where that is not known."""
    if not recorded.order:
        return None
    return figures([detect(recorded.order, recorded.failing, _seconds(recorded))], timed=recorded.timed)


_Task = tuple[str, Sequence[int]]
_SHARED: list[Callable[[_Task], list[Detection]]] = []
"""Data that the processes of a pool share: they are copies of this process, so the campaign need not be sent."""


def _shared(task: _Task) -> list[Detection]:
    return _SHARED[-1](task)


def _detect_all(recorded: RecordedRun, history: History, task: _Task) -> list[Detection]:
    """The detections of one strategy under each of some seeds."""
    name, seeds = task
    strategy = get_strategy(name)
    return [detect(order_of(strategy, recorded, seed, history), recorded.failing, _seconds(recorded)) for seed in seeds]


def _seconds(recorded: RecordedRun) -> dict[str, float]:
    return {test.id: test.seconds for test in recorded.tests}


def figures(found: Sequence[Detection], *, timed: bool) -> Figures:
    """The figures over several orders of the same tests."""
    faults = len(found[0].positions)
    return Figures(
        apfd=spread([apfd(each.positions, each.tests) for each in found], 1),
        apfdc=spread([apfdc(each) for each in found], 1) if timed else None,
        rauc={percent: spread([rauc(each.positions, each.tests, percent) for each in found], 1) for percent in QUARTERS},
        tests=[spread([each.positions[k] for each in found]) for k in range(faults)],
        seconds=[spread([each.costs[k][0] for each in found]) for k in range(faults)] if timed else [],
    )
