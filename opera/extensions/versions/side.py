"""One side of a comparison: a campaign with its results."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from opera.console import quoted
from opera.errors import UserError
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.queries import campaigns_in, place_of
from opera.triage.known_failures import KnownFailure, failures_of


@dataclass(frozen=True)
class Side:
    """One side of a comparison. *versions*: the compiler's version and build, as text. *failures*: those among the results."""

    workspace: Workspace
    name: str
    versions: str
    results: tuple[StoredResult, ...]
    failures: tuple[KnownFailure, ...]

    def tested(self) -> frozenset[tuple[str, str, str]]:
        """Instance, route and input form of everything that says something of the compiler."""
        return frozenset(_case(each) for each in self.results if each.verdict.is_judgement or each.verdict is Verdict.UNSUPPORTED)

    def says_nothing(self) -> bool:
        """Whether no test says if the compiler is right."""
        return not any(each.verdict.is_judgement for each in self.results)

    def flaky(self) -> frozenset[str]:
        """Instances with a flaky test."""
        return frozenset(each.instance for each in self.results if each.verdict is Verdict.FLAKY)


def _case(result: StoredResult) -> tuple[str, str, str]:
    return result.instance, result.route, result.form


@contextlib.contextmanager
def side(text: str, workspace: Path) -> Generator[Side]:
    """The side that *text* names: a campaign of *workspace*, another workspace, or `WORKSPACE:CAMPAIGN`. It stays open for the block.

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
        results = tuple(campaigns.results(found[0].id))
        name = f"{found[0].id} ({found[0].compiler}/{found[0].frontend})"
        yield Side(space, name, label, results, tuple(failures_of(results, space)))
