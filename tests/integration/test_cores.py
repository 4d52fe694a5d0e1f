"""Cores of workers: one each, different ones for what works at a time, and those that other campaigns do not have."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from fake.harness import Event, Lab, instance

from opera.workers import cores
from opera.workers.cores import Seat

pytestmark = pytest.mark.alone
ALLOWED = sorted(os.sched_getaffinity(0))


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> str:
    """Claims of its own, so that campaigns that happen to run on this machine do not count."""
    name = f"opera-test-{secrets.token_hex(6)}"
    monkeypatch.setattr(cores, "FAMILY", name)
    monkeypatch.setattr(cores, "HOMES", Counter())
    return name


@pytest.fixture
def sleepers() -> Iterator[list[int]]:
    """Processes to put somewhere, two more than there are cores."""
    processes = [subprocess.Popen(["sleep", "60"]) for _ in range(len(ALLOWED) + 2)]
    yield [process.pid for process in processes]
    for process in processes:
        process.kill()
        process.wait()


def core_of(pid: int) -> int:
    """The only core that a process may use."""
    (core,) = os.sched_getaffinity(pid)
    return core


def seated(*pids: int) -> list[Seat]:
    """Seats that those processes have taken, in that order."""
    seats = [Seat() for _ in pids]
    for seat, pid in zip(seats, pids, strict=True):
        seat.take(pid)
    return seats


def test_only_cores_that_may_be_used_count() -> None:
    code = f"import os; os.sched_setaffinity(0, {{{ALLOWED[-1]}}}); from opera.workers.cores import usable_cores; print(usable_cores())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_each_that_works_has_a_core_of_its_own_and_those_that_are_too_many_share(family: str, sleepers: list[int]) -> None:
    seats = seated(*sleepers)
    assert sorted(map(core_of, sleepers[: len(ALLOWED)])) == ALLOWED
    counts = Counter(map(core_of, sleepers))
    assert max(counts.values()) == 2 + (len(ALLOWED) == 1)
    for seat in seats:
        seat.leave()


def test_who_comes_back_gets_its_core_again_unless_somebody_else_has_it(family: str, sleepers: list[int]) -> None:
    seats = seated(*sleepers[: len(ALLOWED)])
    last = core_of(sleepers[len(ALLOWED) - 1])
    seats[-1].leave()
    seats[-1].take(sleepers[len(ALLOWED) - 1])
    assert core_of(sleepers[len(ALLOWED) - 1]) == last
    seats[-1].leave()
    (other,) = seated(sleepers[-1])
    assert core_of(sleepers[-1]) == last
    seats[0].leave()
    seats[-1].take(sleepers[len(ALLOWED) - 1])
    assert core_of(sleepers[len(ALLOWED) - 1]) == core_of(sleepers[0])
    for seat in (*seats, other):
        seat.leave()


def test_the_core_of_a_campaign_that_was_killed_is_free_again(family: str, sleepers: list[int]) -> None:
    code = f"""
import os, time
from opera.workers import cores
cores.FAMILY = {family!r}
seat = cores.Seat()
seat.take(os.getpid())
print(flush=True)
time.sleep(60)
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    (mine,) = seated(sleepers[0])
    assert len(ALLOWED) == 1 or core_of(sleepers[0]) != core_of(other.pid)
    taken = core_of(other.pid)
    other.kill()
    other.wait()
    (again,) = seated(sleepers[1])
    assert core_of(sleepers[1]) == taken
    mine.leave()
    again.leave()


@pytest.mark.parametrize(("behaviour", "failures"), [("here", ("raise", "abort")), ("home", ())])
def test_what_works_at_a_time_works_on_one_core_each_and_on_different_ones(lab: Lab, behaviour: str, failures: tuple[str, ...]) -> None:
    lab.add(*(instance(f"here-{number}", behaviour) for number in range(30)), *(instance(each, each) for each in failures))
    os.sched_setaffinity(0, ALLOWED[:2])
    try:
        lab.run_in_processes(jobs=2)
    finally:
        os.sched_setaffinity(0, ALLOWED)
    spans = spans_of(lab.journal())
    assert len(spans) == 30
    assert all(len(used.split(",")) == 1 and int(used) in ALLOWED for _, _, used in spans)
    if len(ALLOWED) > 1:
        together = [(one, other) for one in spans for other in spans if one[0] < other[0] < one[1]]
        assert together
        assert all(one[2] != other[2] for one, other in together)


def spans_of(events: list[Event]) -> list[tuple[float, float, str]]:
    """Beginning, end and cores of everything that noted where it works."""
    begun: dict[int, Event] = {}
    spans: list[tuple[float, float, str]] = []
    for event in events:
        if event.what == "here" and event.edge == "begin":
            begun[event.pid] = event
        elif event.what == "here":
            spans.append((begun[event.pid].seconds, event.seconds, event.api))
    return spans
