"""What is compared: the results of a campaign, in this workspace or in another one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opera.console import quoted
from opera.errors import UserError
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.scope import Scope, campaigns_in

_SAYS_NOTHING = (Verdict.INVALID, Verdict.UNDEFINED)


def results_in(workspace: Workspace, scope: Scope) -> list[StoredResult]:
    """The results of *scope*, each once; of a test that several campaigns have there is one result."""
    campaigns = Campaigns(workspace)
    found = {result.test: result for campaign in campaigns_in(campaigns, scope) for result in campaigns.results(campaign.id)}
    return list(found.values())


@dataclass(frozen=True)
class Side:
    """One side of a comparison. *versions* are the compiler's, as text."""

    name: str
    versions: str
    results: tuple[StoredResult, ...]

    def tested(self) -> frozenset[tuple[str, str, str]]:
        """Instance, route and input form of everything that says something of the compiler."""
        return frozenset(_case(each) for each in self.results if each.verdict not in _SAYS_NOTHING)

    def flaky(self) -> frozenset[str]:
        """Instances of which a test was flaky."""
        return frozenset(each.instance for each in self.results if each.verdict is Verdict.FLAKY)


def _case(result: StoredResult) -> tuple[str, str, str]:
    return result.instance, result.route, result.form


def side(text: str, workspace: Path) -> Side:
    """The side that *text* names: a campaign of *workspace*, another workspace, or `WORKSPACE:CAMPAIGN`.

    Raises:
        UserError: there is no such campaign, or several.
    """
    folder, _, campaign = text.rpartition(":")
    if not folder and Path(text).is_dir():
        folder, campaign = text, ""
    with open_workspace(Path(folder or workspace), write=False, foreign=bool(folder)) as space:
        campaigns = Campaigns(space)
        found = campaigns_in(campaigns, Scope(campaign or None))
        if len(found) != 1:
            there = ", ".join(f"{each.id} ({each.compiler}/{each.frontend})" for each in found) or "none"
            raise UserError(f"{text} holds several campaigns, or none: {there}; name one as {quoted(f'{folder or workspace}:ID')}")
        versions = dict(found[0].versions.get("compiler", {}))
        label = ", ".join(f"{name} {value}" for name, value in list(versions.items())[:1])
        return Side(f"{found[0].id} ({found[0].compiler}/{found[0].frontend})", label, tuple(campaigns.results(found[0].id)))
