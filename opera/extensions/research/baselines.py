"""The baseline strategies: random, round-robin, FAST, and greedy coverage of a frontend's statements."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from opera.errors import EnvironmentBroken, UserError
from opera.instance import Argument, Instance, Tensor
from opera.prioritize.features import integer_data
from opera.prioritize.strategy import Candidate, Context, Prepared, Ranked, by_operator, draw_order, shuffled
from opera.prioritize.subspaces import subspace


class RandomStrategy:
    """Every order is equally likely."""

    name = "random"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        for candidate in shuffled(candidates, context.seed):
            yield Ranked(candidate.id, 0.0)


class RoundRobinStrategy:
    """Operators take turns, in random order; inside an operator the order is random too."""

    name = "round-robin"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        turns = [enumerate(positions) for positions in by_operator(ordered).values()]
        for _, _, position in sorted((turn, index, at) for index, group in enumerate(turns) for turn, at in group):
            yield Ranked(ordered[position].id, 0.0)


class TotalStrategy:
    """Tests that run more statements come first."""

    name = "total"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        statements = _statements(context)
        for candidate in sorted(ordered, key=lambda each: -len(statements.get(each.id, ()))):
            yield Ranked(candidate.id, float(len(statements.get(candidate.id, ()))))


class AdditionalStrategy:
    """Greedy: next comes the test that runs most statements that no test before has run.

    When none adds any, all statements count as not run again, and so on until no test is left that runs any.
    """

    name = "additional"

    def __init__(self) -> None:
        self._masks: tuple[Mapping[str, frozenset[int]], dict[str, int]] | None = None

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        masks = self._masks_of(_statements(context))
        statements = [masks.get(each.id, 0) for each in ordered]
        left = list(range(len(ordered)))
        first = True
        while left:
            missed = -1
            heap = [(-statements[place].bit_count(), place) for place in left]
            heapq.heapify(heap)
            left = list[int]()
            while heap:
                stale, place = heap[0]
                news = (statements[place] & missed).bit_count()
                if news == 0:
                    left.append(heapq.heappop(heap)[1])
                elif -news != stale:
                    heapq.heapreplace(heap, (-news, place))
                else:
                    heapq.heappop(heap)
                    missed &= ~statements[place]
                    yield Ranked(ordered[place].id, float(news) if first else 0.0)
            first = False
            if missed == -1:
                break
        for place in sorted(left):
            yield Ranked(ordered[place].id, 0.0)

    def _masks_of(self, statements: Mapping[str, frozenset[int]]) -> dict[str, int]:
        """One bit for each statement; made once for the same *statements*."""
        if self._masks is None or self._masks[0] is not statements:
            self._masks = statements, {name: _mask(numbers) for name, numbers in statements.items()}
        return self._masks[1]


def _mask(numbers: frozenset[int]) -> int:
    bits = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        bits[number // 8] |= 1 << number % 8
    return int.from_bytes(bits, "little")


def _statements(context: Context) -> Mapping[str, frozenset[int]]:
    if context.coverage is None:
        raise UserError(
            "this strategy needs the statements that each test runs, but the campaign was recorded without them; for a frontend in"
            " Python, record it with --coverage; a frontend in C++ cannot be measured"
        )
    return context.coverage


SHINGLE = 5
"""Characters in a row that make one shingle."""
_HASHES = 10
"""Number of hashes of a signature; each is one band, as in FAST: two tests with one equal hash are candidates for similarity."""


class FastStrategy:
    """FAST-pw on the text of an instance: k-shingles, MinHash, and locality-sensitive hashing, by datasketch.

    The first test is drawn. Then the signature of everything run so far is looked up: of the tests that share no band with it, the one
    with the smallest estimated similarity comes next. When all remaining ones share one, the signature starts empty again. The time grows
    with the square of the number of instances.
    """

    name = "fast"

    def __init__(self) -> None:
        self._signatures = Prepared(_signatures)

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        signatures = self._signatures.of(candidates)
        order = np.array(draw_order([each.id for each in candidates], context.seed), np.intp)
        rows = signatures[order]
        left = np.ones(len(order), np.bool_)
        seen = np.full(_HASHES, np.iinfo(np.uint64).max, np.uint64)
        for _ in range(len(order)):
            agreeing = (rows == seen).sum(axis=1)
            apart = left & (agreeing == 0)
            if not apart.any():
                seen[:] = np.iinfo(np.uint64).max
                apart, agreeing = left, np.zeros(len(order), np.int64)
            place = int(np.argmin(np.where(apart, agreeing, _HASHES + 1)))
            left[place] = False
            seen = np.minimum(seen, rows[place])
            yield Ranked(candidates[int(order[place])].id, 0.0)


def _signatures(candidates: Sequence[Candidate]) -> npt.NDArray[np.uint64]:
    """MinHash signatures, one row for each candidate."""
    try:
        import datasketch
    except ImportError as error:
        raise EnvironmentBroken("the strategy fast needs datasketch; install it with `pip install 'opera-dl[evaluation]'`") from error
    texts = [_text(each.instance) for each in candidates]
    shingles = [{text[at : at + SHINGLE].encode() for at in range(max(1, len(text) - SHINGLE + 1))} for text in texts]
    distinct: set[bytes] = set[bytes]().union(*shingles)
    numbers = {each: int.from_bytes(hashlib.sha1(each).digest()[:4], "little") for each in distinct}
    minhash = cast("Any", datasketch.MinHash)
    found: Any = minhash.bulk([[numbers[each] for each in sorted(group)] for group in shingles], num_perm=_HASHES, seed=1, hashfunc=_same)
    return np.array([each.hashvalues for each in found], np.uint64).reshape(-1, _HASHES)


def _same(number: int) -> int:
    """Shingles are hashed already, each once for the whole corpus."""
    return number


def _text(instance: Instance) -> str:
    return f"{instance.api}({', '.join(_argument(each) for each in instance.arguments())})"


def _argument(argument: Argument) -> str:
    return f"{argument.name}={_value(argument.value)}"


def _value(value: Any) -> str:
    if isinstance(value, Tensor):
        data = integer_data(value)
        return f"{value.dtype}{list(value.shape)}" + ("" if data is None else f"{list(data)}")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in cast('list[Any]', value))}]"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return subspace(value)
