"""Generates many programs in parallel into one file, in the order of their seeds."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from opera.atomic import append
from opera.extensions.programs.cover import generator_of
from opera.extensions.programs.document import encode
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.languages import drawn_from
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Call, Program, bindings, calls, used

_CHUNK = 50
"""Programs that one process generates at a time."""


class OtherPrograms(ValueError):
    """A file that cannot be continued, because it holds something else."""


@dataclass
class BatchCounts:
    """What was generated.

    Attributes:
        programs: Their number.
        operators: Calls, by operator.
        parameters: Operators with different parameters.
        pairs: Operators whose result another operator takes, by both names.
        asked: How often an operator was chosen.
        retried: How often it was chosen in vain.
        known: How often a call was left out as the policy says.
        broken: Solvers that were switched off, with type and seed.
        covered: Programs that have the operators that `cover` chose for them.
    """

    programs: int = 0
    operators: Counter[str] = field(default_factory=Counter[str])
    parameters: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    asked: Counter[str] = field(default_factory=Counter[str])
    retried: Counter[str] = field(default_factory=Counter[str])
    known: Counter[str] = field(default_factory=Counter[str])
    broken: dict[str, str] = field(default_factory=dict[str, str])
    covered: int = 0

    def add(self, other: BatchCounts) -> None:
        """Adds the counts of other programs."""
        self.programs += other.programs
        self.covered += other.covered
        for mine, more in ((self.operators, other.operators), (self.asked, other.asked), (self.retried, other.retried)):
            mine.update(more)
        self.parameters |= other.parameters
        self.pairs.update(other.pairs)
        self.known.update(other.known)
        self.broken.update(other.broken)


def generate_file(
    policy: Policy, seed: int, number: int, path: Path, jobs: int, progress: Callable[[int], None] = lambda _: None
) -> BatchCounts:
    """Writes the programs of *number* seeds from *seed* on to *path*, one JSON line each; continues a file that was begun.

    The bytes depend on the policy and the seed only. The counts are those of the programs that were generated now.

    Args:
        policy: How programs are drawn.
        seed: The first seed.
        number: How many programs the file is to hold.
        path: The file.
        jobs: Number of processes.
        progress: Told how many programs the file holds.

    Raises:
        OtherPrograms: the file holds something else than these programs.
        OSError: it cannot be read or written.
    """
    done = _continued(policy, seed, number, path)
    counts = BatchCounts()
    chunks = [(policy, first, min(_CHUNK, seed + number - first)) for first in range(seed + done, seed + number, _CHUNK)]
    for lines, made in _mapped(chunks, jobs):
        append(path, lines)
        counts.add(made)
        progress(done + counts.programs)
    return counts


def _mapped(chunks: list[tuple[Policy, int, int]], jobs: int) -> Iterator[tuple[bytes, BatchCounts]]:
    if jobs == 1 or len(chunks) < 2:
        yield from map(_chunk, chunks)
        return
    with ProcessPoolExecutor(min(jobs, len(chunks)), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            yield from pool.map(_chunk, chunks)
        finally:
            pool.shutdown(cancel_futures=True)


def _continued(policy: Policy, seed: int, number: int, path: Path) -> int:
    """The number of programs that *path* holds; what a killed process left of another one is cut off."""
    if path.is_symlink():
        raise OtherPrograms(f"{path} is a link; name the file itself")
    if not path.exists():
        return 0
    if not path.is_file():
        raise OtherPrograms(f"{path} is no regular file; name another file")
    with path.open("rb+") as file:
        whole = end = 0
        last = b""
        for line in file:
            if not line.endswith(b"\n"):
                break
            if whole == 0:
                _compare(path, line, policy, seed)
            whole, end, last = whole + 1, end + len(line), line
        if whole:
            _compare(path, last, policy, seed + whole - 1)
        if whole > number:
            raise OtherPrograms(f"{path} holds {whole:,} programs already; ask for as many, or name another file")
        if file.seek(0, 2) > end:
            if whole == 0 and not _line(_generator(policy).generate(seed)).startswith(path.read_bytes()):
                raise OtherPrograms(f"{path} holds something else than programs; name another file")
            file.truncate(end)
    return whole


def _compare(path: Path, line: bytes, policy: Policy, seed: int) -> None:
    if line != _line(_generator(policy).generate(seed)):
        raise OtherPrograms(f"{path} holds something else than the programs of this policy and seed; name another file")


def _generator(policy: Policy) -> ProgramGenerator:
    return generator_of(policy, drawn_from(policy))


def _line(generated: Generated) -> bytes:
    return json.dumps(encode(generated), separators=(",", ":")).encode() + b"\n"


def _chunk(task: tuple[Policy, int, int]) -> tuple[bytes, BatchCounts]:
    policy, first, number = task
    generator = _generator(policy)
    counts = BatchCounts(number)
    lines: list[bytes] = []
    for seed in range(first, first + number):
        made = generator.generate(seed)
        lines.append(_line(made))
        for call in calls(made.program):
            counts.operators[call.operator] += 1
            counts.parameters.add((call.operator, repr(sorted(call.attributes.items()))))
        counts.pairs.update(pairs_in(made.program))
    found = generator.counts
    counts.asked = found.asked
    counts.retried = found.too_large + found.undefined
    counts.known = found.known
    counts.broken = found.broken
    counts.covered = found.covered
    return b"".join(lines), counts


def pairs_in(program: Program) -> Iterator[tuple[str, str]]:
    """The operators whose result another operator takes, with that operator."""
    producers = {each.name: each.value.operator for each in bindings(program) if isinstance(each.value, Call)}
    for binding in bindings(program):
        if binding.name in producers:
            yield from ((producers[name], producers[binding.name]) for name in used(binding.value) if name in producers)
