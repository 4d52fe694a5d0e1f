"""Small corpora, and how strategies order them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opera.instance import Argument, Instance, Kind, Tensor, digest
from opera.prioritize import Candidate, Context, get_strategy

SEEDS = range(8)


def statements(corpus: Sequence[Candidate]) -> dict[str, frozenset[int]]:
    """Some statements for each candidate."""
    return {each.id: frozenset(range(int(each.id[:2], 16) % 7, int(each.id[:2], 16) % 11 + 3)) for each in corpus}


def instance(api: str, defaults: dict[str, Any] | None = None, **arguments: Any) -> Instance:
    call = tuple(Argument(name, value) for name, value in arguments.items())
    return Instance("pytorch", api, Kind.FUNCTION, call=call, defaults=tuple((defaults or {}).items()))


def candidates(instances: Sequence[Instance]) -> list[Candidate]:
    return [Candidate(digest(item), item) for item in instances]


def order(strategy: str, instances: Sequence[Instance], seed: int = 0, equipped: dict[str, int] | None = None) -> list[Instance]:
    """The instances as *strategy* ranks them."""
    corpus = candidates(instances)
    known = {candidate.id: candidate.instance for candidate in corpus}
    context = Context(equipped or {}, seed, coverage=statements(corpus))
    return [known[ranked.id] for ranked in get_strategy(strategy).rank(corpus, context)]


SMALL = [
    instance(f"torch.op{api}", {"dim": 0}, x=Tensor((2, dim + 1), dtype), dim=dim, mode=mode)
    for api in range(4)
    for dim in (-1, 0, 1)
    for dtype in ("float32", "int64")
    for mode in ("sum", "mean")
]
