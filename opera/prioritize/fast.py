"""FAST (Miranda, Cruciani, Verdecchia and Bertolino, ICSE 2018): the next test is one unlike all before, by their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from opera.errors import EnvironmentBroken
from opera.instance import Argument, Instance, Tensor
from opera.prioritize.features import integer_data
from opera.prioritize.strategy import Candidate, Context, Prepared, Ranked, StrategyName, draw_order
from opera.prioritize.subspaces import subspace

SHINGLE = 5
"""Characters in a row that make one shingle."""
_HASHES = 10
"""Of a signature; each is a band of its own, as FAST has it: two tests that agree in one hash are candidates for being alike."""


class FastStrategy:
    """FAST-pw on the text of an instance: k-shingles, MinHash, and locality-sensitive hashing, by datasketch.

    The first test is drawn. Then the signature of everything run so far is looked up: of the tests that share no band with it, the one
    with the smallest estimated similarity comes next; when all that are left share one, the signature starts anew. The time grows
    with the square of the number of instances.
    """

    name = StrategyName.FAST

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
        raise EnvironmentBroken("the strategy fast needs datasketch; pip install 'opera-dl[evaluation]'") from error
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
