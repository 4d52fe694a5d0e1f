"""The order of a campaign that is run again and again: what failed before comes first, then what is new, then all the rest."""

from __future__ import annotations

from collections.abc import Callable

from opera.store import Campaigns


def nightly_part(campaigns: Campaigns, compiler: str, frontend: str) -> Callable[[str], int]:
    """To which part of a night an instance belongs: 0 if it has ever failed for the subject, 1 if it was never run for it, else 2.

    What has a result under the very same versions is not run again, so where nothing changed only what is new is run.
    """
    failed, known = campaigns.history(compiler, frontend)

    def part(instance: str) -> int:
        return 0 if instance in failed else 2 if instance in known else 1

    return part
