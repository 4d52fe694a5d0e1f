"""The interface of every prioritisation strategy."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

from opera.instance import Instance
from opera.prioritize.history import History

T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """An operator instance that waits for its rank; *id* is its digest."""

    id: str
    instance: Instance


def _no_counts() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class Context:
    """The facts that a ranking depends on, in addition to the corpus.

    Attributes:
        equipped: Number of equipped tests per operator (`Instance.operator`) of the subject; none for others.
        seed: Decides between candidates that the strategy holds equal.
        history: What campaigns on other compilers, or on earlier versions of this one, showed.
        equipped_tests: The equipped tests themselves, where they are known.
        coverage: Numbers of the statements of the frontend that each candidate ran; None where that was not measured.
    """

    equipped: Mapping[str, int] = field(default_factory=_no_counts)
    seed: int = 0
    history: History = field(default_factory=History)
    equipped_tests: Sequence[Instance] = ()
    coverage: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True)
class Ranked:
    """One place in a ranking.

    Attributes:
        id: Id of the candidate.
        score: The strategy's score of the instance, without unit; never greater than the score of the rank before. 0 where
            nothing but turn or chance decided.
    """

    id: str
    score: float


class Strategy(Protocol):
    """Orders candidates so that those likely to reveal different bugs come first."""

    @property
    def name(self) -> str:
        """The name the user selects it by."""
        ...

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        """Yields every candidate exactly once, best first.

        The order depends on the ids and instances and on *context* alone: not on the order of *candidates*, the process, or the
        machine.
        """
        ...


class Observation(enum.Enum):
    """The outcome of a test, as an adaptive strategy sees it."""

    NOTHING = "nothing"
    NEW = "new"
    """A failure unlike all before."""
    KNOWN = "known"
    """A failure that an earlier test of this campaign had shown."""


class Session(Protocol):
    """A ranking that is made while its tests run. Several tests may be under way between `next` and their `observe`."""

    def next(self) -> Ranked | None:
        """The test to run next; None at the end."""
        ...

    def take(self, test: str) -> None:
        """Counts *test* as given by `next` now, wherever it stood: an earlier part of the campaign has run it."""
        ...

    def observe(self, test: str, observation: Observation) -> None:
        """Tells what the test *test*, which `next` gave, came to."""
        ...


@runtime_checkable
class Adaptive(Strategy, Protocol):
    """A strategy that learns while a campaign runs."""

    def session(self, candidates: Sequence[Candidate], context: Context) -> Session:
        """Begins a ranking of *candidates*."""
        ...


class Prepared(Generic[T]):
    """Keeps what a strategy has made of a corpus, for as long as it is asked to rank the same one."""

    def __init__(self, prepare: Callable[[Sequence[Candidate]], T]) -> None:
        self._prepare = prepare
        self._last: tuple[Sequence[Candidate], T] | None = None

    def of(self, candidates: Sequence[Candidate]) -> T:
        """The prepared form of *candidates*, made once for each object."""
        if self._last is None or self._last[0] is not candidates:
            self._last = candidates, self._prepare(candidates)
        return self._last[1]


def draw_order(ids: Sequence[str], seed: int) -> list[int]:
    """Positions in *ids* in an order drawn from *seed*, whatever their order was.

    Every id draws its place on its own, so that one that joins or leaves the corpus moves no other.
    """
    start = f"{seed}:".encode()
    draws = [(hashlib.blake2b(start + each.encode(), digest_size=8).digest(), each, place) for place, each in enumerate(ids)]
    return [place for _, _, place in sorted(draws)]


def shuffled(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """*candidates* as `draw_order` orders their ids."""
    return [candidates[position] for position in draw_order([each.id for each in candidates], seed)]


def by_operator(candidates: Sequence[Candidate]) -> dict[tuple[str, str], list[int]]:
    """Positions in *candidates* of the instances of each operator (library and API), in order of first occurrence."""
    groups: dict[tuple[str, str], list[int]] = {}
    for position, candidate in enumerate(candidates):
        key = candidate.instance.library, candidate.instance.api
        group = groups.get(key)
        if group is None:
            group = groups[key] = []
        group.append(position)
    return groups
