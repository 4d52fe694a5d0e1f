"""A campaign that ran a whole corpus, as an evaluation of strategies sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from opera.instance import Instance
from opera.prioritize import Candidate


@dataclass(frozen=True)
class RecordedTest:
    """All tests of one operator instance: its input forms run one after the other, and count as one.

    Attributes:
        id: Of the instance.
        instance: What a strategy needs of it; values of large tensors may be gone.
        seconds: Wall time of all its tests; 0 where it was not measured.
        faults: Findings that its tests revealed.
        coverage: Numbers of the frontend's statements that its tests ran; None where that was not measured.
    """

    id: str
    instance: Instance
    seconds: float = 0.0
    faults: frozenset[str] = frozenset()
    coverage: frozenset[int] | None = None


def _nothing() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class Recorded:
    """A subject, the tests that were run on it, and what they revealed.

    Attributes:
        subject: `compiler/frontend`.
        tests: In the order of their ids.
        faults: What is known of each fault, as one line, by its id.
        equipped: Number of equipped tests by operator.
        equipped_tests: Those tests as instances, where they are known.
        facts: Versions, origin and date of the campaign, as text.
        order: Ids in the order in which the campaign ran them; empty where that is not known.
    """

    subject: str
    tests: Sequence[RecordedTest]
    faults: Mapping[str, str]
    equipped: Mapping[str, int] = field(default_factory=_nothing)
    equipped_tests: Sequence[Instance] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    order: Sequence[str] = ()

    @cached_property
    def candidates(self) -> Sequence[Candidate]:
        """What a strategy is to rank."""
        return [Candidate(test.id, test.instance) for test in self.tests]

    @cached_property
    def timed(self) -> bool:
        """Whether seconds were measured."""
        return any(test.seconds > 0 for test in self.tests)

    @cached_property
    def failing(self) -> Mapping[str, frozenset[str]]:
        """The faults that an instance revealed, by id, for those that revealed any."""
        return {test.id: test.faults for test in self.tests if test.faults}

    @cached_property
    def coverage(self) -> Mapping[str, frozenset[int]] | None:
        """Statements of the frontend by id; None where they were not measured."""
        return {test.id: test.coverage for test in self.tests if test.coverage is not None} or None
