"""What every prioritisation strategy takes and gives."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from opera.instance import Instance


class StrategyName(enum.Enum):
    """The strategies, by the names that `--strategy` takes."""

    OPERA = "opera"
    OPERA_PAPER = "opera-paper"
    RANDOM = "random"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True)
class Candidate:
    """An operator instance that waits for its rank; *id* is its digest."""

    id: str
    instance: Instance


def _no_counts() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class Context:
    """What a ranking depends on besides the corpus.

    Attributes:
        equipped: Number of equipped tests per operator (`Instance.operator`) of the subject; none for others.
        seed: Decides between candidates that the strategy holds equal.
    """

    equipped: Mapping[str, int] = field(default_factory=_no_counts)
    seed: int = 0


@dataclass(frozen=True)
class Ranked:
    """One place in a ranking.

    Attributes:
        id: Of the candidate.
        score: What the strategy gave it when it was picked, without unit; never greater than that of the place before. 0 where
            nothing but turn or chance decided.
    """

    id: str
    score: float


class Strategy(Protocol):
    """Orders candidates so that those likely to reveal different bugs come first."""

    @property
    def name(self) -> StrategyName:
        """The name the user selects it by."""
        ...

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        """Yields every candidate exactly once, best first.

        The order depends on the ids and instances and on *context* alone: not on the order of *candidates*, the process, or the
        machine.
        """
        ...


def shuffled(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """*candidates* in an order drawn from *seed*, whatever their order was.

    Every candidate draws its place from its own id, so that a candidate that joins or leaves the corpus moves no other.
    """

    def place(candidate: Candidate) -> tuple[bytes, str]:
        return hashlib.blake2b(f"{seed}:{candidate.id}".encode(), digest_size=8).digest(), candidate.id

    return sorted(candidates, key=place)


def by_operator(candidates: Sequence[Candidate]) -> dict[tuple[str, str], list[int]]:
    """Positions in *candidates* of the instances of each operator (library and API), in order of first occurrence."""
    groups: dict[tuple[str, str], list[int]] = {}
    for position, candidate in enumerate(candidates):
        groups.setdefault((candidate.instance.library, candidate.instance.api), []).append(position)
    return groups
