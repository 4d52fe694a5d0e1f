"""Which of the results in a workspace a command is about."""

from __future__ import annotations

from dataclasses import dataclass

from opera.console import quoted
from opera.errors import UserError
from opera.store.campaigns import Campaign, Campaigns


@dataclass(frozen=True)
class Scope:
    """Which results to look at; None does not restrict. *campaign* is the beginning of an identity."""

    campaign: str | None = None
    compiler: str | None = None
    frontend: str | None = None

    @property
    def options(self) -> str:
        """The same, as options of a command line."""
        named = (("campaign", self.campaign), ("compiler", self.compiler), ("frontend", self.frontend))
        return "".join(f" --{name} {quoted(value)}" for name, value in named if value is not None)


def campaigns_in(campaigns: Campaigns, scope: Scope) -> list[Campaign]:
    """The campaigns of *scope*, the oldest first; raises UserError where its prefix names none, or several."""
    found = [each for each in campaigns.all() if each.id.startswith(scope.campaign or "")]
    if scope.campaign is not None and len(found) != 1:
        among = found or campaigns.all()
        names = ", ".join(each.id for each in among[:8]) or "none"
        what = "several campaigns begin" if found else "no campaign begins"
        raise UserError(f"{what} with {scope.campaign!r}; there are: {names}. `opera ls` lists them")
    return [each for each in found if scope.compiler in (None, each.compiler) and scope.frontend in (None, each.frontend)]
