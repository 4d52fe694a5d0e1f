"""The order of a campaign that is run again and again: what failed before comes first, then what is new, then all the rest."""

from __future__ import annotations

from collections.abc import Sequence

from opera.store import Campaigns


def nightly_order(campaigns: Campaigns, order: Sequence[str], compiler: str, frontend: str) -> list[str]:
    """The instances of *order*: those that have ever failed for the subject, those never run for it, the others; each part as ranked.

    What has a result under the very same versions is not run again, so where nothing changed only what is new is run.
    """
    failed, known = campaigns.history(compiler, frontend)

    def part(instance: str) -> int:
        return 0 if instance in failed else 2 if instance in known else 1

    return sorted(order, key=part)
