"""Finds the finding, test or instance that a prefix of an id names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opera.errors import UserError
from opera.report.overview import findings_among
from opera.store import Campaign, Campaigns, StoredResult, Workspace, queries
from opera.triage.findings import Finding

_LISTED = 8


@dataclass(frozen=True)
class Target:
    """The object that an identity names; exactly one field is set."""

    finding: str | None = None
    test: str | None = None
    instance: str | None = None

    @property
    def text(self) -> str:
        """`finding 0123456789abcdef`."""
        if self.finding is not None:
            return f"finding {self.finding}"
        return f"test {(self.test or '')[:16]}" if self.test is not None else f"instance {(self.instance or '')[:16]}"


def resolve(workspace: Workspace, prefix: str) -> Target:
    """The object that *prefix* names.

    Raises:
        UserError: nothing, or more than one thing.
    """
    wanted = prefix.strip().lower()
    if re.fullmatch(r"[0-9a-f]{1,64}", wanted) is None:
        raise UserError(f"{prefix!r} is not an id; give hexadecimal digits, as `opera report` prints them")
    found = queries.matching(workspace, wanted)
    targets = [
        *(Target(finding=each) for each in found.findings),
        *(Target(test=each) for each in found.tests),
        *(Target(instance=each) for each in found.instances),
    ]
    if not targets:
        raise UserError(
            f"no finding, test or instance begins with {prefix!r}; `opera report` lists findings, and `opera ls` campaigns and operators"
        )
    if len(targets) > 1:
        listed = ", ".join(each.text for each in targets[:_LISTED]) + (", …" if len(targets) > _LISTED else "")
        raise UserError(f"{prefix!r} is a prefix of several ids: {listed}; give more digits")
    return targets[0]


def finding_of(workspace: Workspace, identity: str) -> Finding:
    """The finding of that identity, or the one that it was merged into, or the only one of that fingerprint.

    Raises:
        UserError: no failing test belongs to it any more, or triage has split the fingerprint.
    """
    found = findings_among(workspace, Campaigns(workspace).results(failures=True), queries.apis(workspace))
    exact = [each for each in found if identity in each.members]
    among = exact or [each for each in found if identity in each.fingerprints]
    if not among:
        raise UserError(f"no failing test belongs to the finding {identity} now; `opera report` lists the findings")
    if len(among) > 1:
        listed = ", ".join(f"{each.id} ({each.trigger or 'all other failures'})" for each in among)
        raise UserError(f"the failures of fingerprint {identity} are several findings; choose one of: {listed}")
    return among[0]


def result_of(workspace: Workspace, test: str) -> StoredResult:
    """The result of a test that has one, by its whole identity."""
    return Campaigns(workspace).result(test)[0]


def campaigns_of(workspace: Workspace, test: str) -> list[Campaign]:
    """The campaigns that contain *test*, the oldest first."""
    stored = Campaigns(workspace)
    return [campaign for key in queries.campaigns_of(workspace, test) if (campaign := stored.get(key)) is not None]
