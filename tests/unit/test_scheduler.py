"""Which of the tasks that wait a free worker gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opera.difftest.judge import Judgement
from opera.difftest.messages import Compared, Kept, KeptModel, KeptReference, to_json
from opera.difftest.protocol import DiffTest, TestState
from opera.difftest.test import Test
from opera.models.forms import InputForm, ModelForm
from opera.oracles.verdict import Verdict
from opera.run.scheduler import Cache, Scheduler
from opera.workers.machine import this_machine
from opera.workers.pool_protocol import Role
from opera.workers.process import Done, Lost
from opera.workers.protocol import Message

READY: dict[str, Kept] = {"r": KeptReference("0" * 64), **{f"a{place}": KeptModel("1" * 64) for place in range(5)}}


class Office:
    """One worker of each kind, at most one of them busy; a worker gives the result that the test tells it."""

    def __init__(self, fails: str) -> None:
        self.infos: dict[Role, Message] = {}
        self.machine = this_machine()
        self.listener: Callable[..., None] = print
        self.away: set[Role] = set()
        self.given: list[tuple[Role, str]] = []
        self._fails = fails
        self._busy: tuple[Role, Any] | None = None

    @property
    def free_slots(self) -> int:
        return int(self._busy is None)

    def busy(self, role: Role) -> int:
        return int(self._busy is not None and self._busy[0] is role)

    def jobs(self) -> list[tuple[Role, Any, str]]:
        return []

    def workers(self) -> list[dict[str, Any]]:
        return []

    def set_warmup(self, role: Role, task: Message) -> None: ...

    def limit_stages(self, seconds: float) -> None: ...

    def never_copy(self, role: Role) -> None: ...

    def assign(self, role: Role, job: TestState, task: Message, waiting: int = 1) -> bool:
        self.given.append((role, job.test.id))
        self._busy = (role, job)
        return True

    def is_away(self, role: Role) -> bool:
        return role in self.away

    def wait(self) -> Iterator[tuple[Role, Any, Done | Lost]]:
        if self._busy is not None:
            (role, state), self._busy = self._busy, None
            if state.test.id == self._fails:
                yield role, state, Lost("signal", "SIGSEGV", "run", "", {})
            else:
                yield role, state, Done(to_json(Compared(None)), {})

    def close(self) -> None: ...


def run(away: Mapping[int, set[Role]]) -> tuple[list[tuple[Role, str]], dict[str, Verdict]]:
    """Takes tests `0` to `4`, of which `1` always fails, through an office; *away* says from which step on who would have to leave home.

    Returns:
        The compiler's tasks in the order in which they were given out, and the verdicts.
    """
    results: dict[str, Verdict] = {}

    def take(test: Test, judgement: Judgement) -> None:
        results[test.id] = judgement.verdict

    office = Office(fails="1")
    tests = [Test(index, str(index), "i", "library.api", ModelForm(InputForm.BAKED), "r", f"a{index}", 0) for index in range(5)]
    difftest = DiffTest("fake/fake", "onnx", ("onnx", "direct"), lambda _: {})
    scheduler = Scheduler(tests, office, difftest, Cache(READY.get), 1, take)
    step = 0
    while not scheduler.finished:
        office.away = away.get(step, office.away)
        scheduler.step()
        step += 1
    return [each for each in office.given if each[0] in (Role.COMPILER, Role.COMPILER_FRESH)], results


def test_a_failure_is_confirmed_before_anything_else_begins() -> None:
    given, results = run({})
    assert given == [
        (Role.COMPILER, "0"),
        (Role.COMPILER, "1"),
        (Role.COMPILER_FRESH, "1"),
        *((Role.COMPILER, each) for each in "234"),
    ]
    assert [results[each] for each in "01234"] == [Verdict.PASS, Verdict.ABORT, *[Verdict.PASS] * 3]


def test_a_confirmation_waits_while_something_works_where_its_process_was_started() -> None:
    given, _ = run({0: {Role.COMPILER_FRESH}, 3: set()})
    assert given.index((Role.COMPILER_FRESH, "1")) == 4, "after 0, 1, 2 and 3"


def test_what_would_have_to_leave_its_core_is_done_elsewhere_rather_than_not_at_all() -> None:
    given, results = run({0: {Role.COMPILER_FRESH}})
    assert given[-1] == (Role.COMPILER_FRESH, "1")
    assert results["1"] is Verdict.ABORT
