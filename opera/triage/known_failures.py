"""Failures of a campaign in a form for matching two campaigns: fingerprint, identity of the bug, failing instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opera.console import quoted
from opera.difftest.judge import headline
from opera.errors import UserError
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.store import Campaigns, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.queries import Scope, campaigns_in, place_of

DIGITS = 12
"""Digits of an instance's hash by which a baseline names it."""
_OVERLAP = 0.5


@dataclass(frozen=True)
class KnownFailure:
    """Failing tests with one fingerprint.

    Attributes:
        fingerprint: 16 hexadecimal digits.
        compiler: The compiler, or the exporter that failed.
        frontend: Model format.
        verdict: `crash`, `inconsistent` ...
        stage: Where it stopped, empty where that is not known.
        converter: The conversion function.
        kind: Exception type, signal, or kind of difference.
        instances: The first digits of the failing instances' hashes.
        summary: One line of one of the tests.
        note: The remark of a person in a baseline.
    """

    fingerprint: str
    compiler: str
    frontend: str
    verdict: str
    stage: str
    converter: str
    kind: str
    instances: frozenset[str]
    summary: str = ""
    note: str = ""

    @property
    def subject(self) -> str:
        """`compiler/frontend`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def bug(self) -> tuple[str, str, str, str]:
        """The parts of a failure that are equal in all versions of the compiler; messages and frames are not."""
        return self.subject, self.verdict, self.converter, self.kind

    def is_that_of(self, other: KnownFailure) -> bool:
        """Whether this is *other*'s bug under another fingerprint: same converter and kind, and mostly instances that failed there too.

        A bug that shows on other instances is another one, however much it looks like the old.
        """
        return self.bug == other.bug and len(self.instances & other.instances) >= _OVERLAP * len(self.instances)


def failures_of(results: Iterable[StoredResult]) -> list[KnownFailure]:
    """The failures among *results*, by fingerprint, in alphabetical order of subject, converter and fingerprint."""
    groups: dict[str, list[StoredResult]] = {}
    for result in results:
        if result.fingerprint is not None:
            groups.setdefault(result.fingerprint, []).append(result)
    return sorted((_failure(tests) for tests in groups.values()), key=lambda each: (each.subject, each.converter, each.fingerprint))


def _failure(tests: Sequence[StoredResult]) -> KnownFailure:
    first = min(tests, key=lambda test: test.test)
    return KnownFailure(
        fingerprint=str(first.fingerprint),
        compiler=first.at_fault,
        frontend=first.frontend,
        verdict=first.verdict.value,
        stage=first.stage.value if first.stage else "",
        converter=first.converter or "",
        kind=_kind(first.verdict, first.stage, first.detail),
        instances=frozenset(test.instance[:DIGITS] for test in tests),
        summary=headline(first.verdict, first.detail, first.compiler),
    )


def _kind(verdict: Verdict, stage: Stage | None, detail: Detail) -> str:
    return symptom_of("", verdict, stage, "", detail, NO_NOISE).kind


@dataclass(frozen=True)
class Matching:
    """How the failures of two sides belong together.

    Attributes:
        same: Pairs with one fingerprint.
        changed: Pairs of one bug whose fingerprint changed.
        new: Only on the right.
        gone: Only on the left.
    """

    same: tuple[tuple[KnownFailure, KnownFailure], ...]
    changed: tuple[tuple[KnownFailure, KnownFailure], ...]
    new: tuple[KnownFailure, ...]
    gone: tuple[KnownFailure, ...]


def match(left: Sequence[KnownFailure], right: Sequence[KnownFailure]) -> Matching:
    """Matches *right* against *left*, first by fingerprint, then by bug. None on the left is matched twice."""
    before = {each.fingerprint: each for each in left}
    same = [(before.pop(each.fingerprint), each) for each in right if each.fingerprint in before]
    matched = {each.fingerprint for _, each in same}
    changed: list[tuple[KnownFailure, KnownFailure]] = []
    new: list[KnownFailure] = []
    for each in (each for each in right if each.fingerprint not in matched):
        old = max((other for other in before.values() if each.is_that_of(other)), key=lambda other: _common(each, other), default=None)
        if old is None:
            new.append(each)
        else:
            changed.append((before.pop(old.fingerprint), each))
    return Matching(tuple(same), tuple(changed), tuple(new), tuple(before.values()))


def _common(one: KnownFailure, other: KnownFailure) -> tuple[int, str]:
    return len(one.instances & other.instances), other.fingerprint


_SAYS_NOTHING = (Verdict.INVALID, Verdict.UNDEFINED)


def results_in(workspace: Workspace, scope: Scope) -> list[StoredResult]:
    """The results of *scope*, each once; of a test that several campaigns have there is one result."""
    campaigns = Campaigns(workspace)
    found = {result.test: result for campaign in campaigns_in(campaigns, scope) for result in campaigns.results(campaign.id)}
    return list(found.values())


@dataclass(frozen=True)
class Side:
    """One side of a comparison. *versions*: the compiler's version and build, as text."""

    name: str
    versions: str
    results: tuple[StoredResult, ...]

    def tested(self) -> frozenset[tuple[str, str, str]]:
        """Instance, route and input form of everything that says something of the compiler."""
        return frozenset(_case(each) for each in self.results if each.verdict not in _SAYS_NOTHING)

    def flaky(self) -> frozenset[str]:
        """Instances with a flaky test."""
        return frozenset(each.instance for each in self.results if each.verdict is Verdict.FLAKY)


def _case(result: StoredResult) -> tuple[str, str, str]:
    return result.instance, result.route, result.form


def side(text: str, workspace: Path) -> Side:
    """The side that *text* names: a campaign of *workspace*, another workspace, or `WORKSPACE:CAMPAIGN`.

    Raises:
        UserError: there is no such campaign, or several.
    """
    folder, scope = place_of(text)
    with open_workspace(folder or workspace, write=False, foreign=folder is not None) as space:
        campaigns = Campaigns(space)
        found = campaigns_in(campaigns, scope)
        if len(found) != 1:
            there = ", ".join(f"{each.id} ({each.compiler}/{each.frontend})" for each in found) or "none"
            raise UserError(f"{text} does not have exactly one campaign ({there}); name one as {quoted(f'{folder or workspace}:ID')}")
        versions = dict(found[0].versions.get("compiler", {}))
        shown = [*list(versions.items())[:1], *([("build", found[0].build)] if found[0].build else [])]
        label = ", ".join(f"{name} {value}" for name, value in shown)
        return Side(f"{found[0].id} ({found[0].compiler}/{found[0].frontend})", label, tuple(campaigns.results(found[0].id)))
