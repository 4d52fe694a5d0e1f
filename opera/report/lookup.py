"""Finds the finding, test or instance that a prefix of an id names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opera.errors import UserError
from opera.report.overview import findings_among
from opera.store import Campaign, Campaigns, StoredResult, Workspace, queries
from opera.triage.findings import Finding

_LISTED = 8
_ID = 8


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
    if not targets:  # `opera report` gives an id to what a triage that still runs has split off, before the id is stored
        named = [each.id for each in findings_among(workspace, queries.apis(workspace)) if each.id.startswith(wanted)]
        targets = [Target(finding=each) for each in named]
    if not targets:
        raise UserError(
            f"no finding, test or instance begins with {prefix!r}; `opera report` lists findings, and `opera ls` campaigns and operators"
        )
    if len(targets) > 1:
        listed = ", ".join(each.text for each in targets[:_LISTED]) + (", …" if len(targets) > _LISTED else "")
        raise UserError(f"{prefix!r} is a prefix of several ids: {listed}; give more digits")
    return targets[0]


def finding_of(workspace: Workspace, identity: str) -> Finding:
    """The finding that the whole id *identity* names, now or formerly.

    Raises:
        UserError: no failing test belongs to it any more.
    """
    found = findings_among(workspace, queries.apis(workspace))
    named = [each for each in found if identity in (each.id, *each.former_ids)] or [each for each in found if identity in each.members]
    if not named:
        raise UserError(f"no failing test belongs to the finding {identity} now; `opera report` lists the findings")
    return named[0]


def finding_with(workspace: Workspace, test: str) -> Finding | None:
    """The finding that has *test*; None for a test that is in no finding."""
    found = findings_among(workspace, queries.apis(workspace))
    return next((each for each in found if any(own.test == test for own in each.tests)), None)


def renamed(finding: Finding, identity: str) -> str | None:
    """The sentence that names the finding to a reader who asked for it by a former id; None for its id of today."""
    return None if identity == finding.id else f"{identity[:_ID]} is now part of {finding.id[:_ID]}: same cause"


def result_of(workspace: Workspace, test: str) -> StoredResult:
    """The result of a test that has one, by its whole identity."""
    return Campaigns(workspace).result(test)[0]


def campaigns_of(workspace: Workspace, test: str) -> list[Campaign]:
    """The campaigns that contain *test*, the oldest first."""
    stored = Campaigns(workspace)
    return [campaign for key in queries.campaigns_of(workspace, test) if (campaign := stored.get(key)) is not None]
