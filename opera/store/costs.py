"""What campaigns have cost, by stage and by operator, as the results of their tests say."""

from __future__ import annotations

from dataclasses import dataclass

from opera.store.database import Workspace


@dataclass(frozen=True)
class Cost:
    """Seconds of workers that a campaign's tests took.

    Attributes:
        stages: Seconds by stage, the most expensive first.
        operators: API, seconds, number of tests; the most expensive first.
    """

    stages: dict[str, float]
    operators: list[tuple[str, float, int]]


def cost_of(workspace: Workspace, campaign: str, operators: int) -> Cost:
    """The cost of *campaign*, with its *operators* most expensive operators."""
    tests = "campaign_tests c JOIN results r ON r.test = c.test"
    stages = workspace.database.execute(
        f"SELECT j.key, sum(j.value) FROM {tests}, json_each(r.seconds) j WHERE c.campaign = ? GROUP BY 1 ORDER BY 2 DESC", (campaign,)
    ).fetchall()
    rows = workspace.database.execute(
        f"SELECT i.api, sum((SELECT sum(value) FROM json_each(r.seconds))), count(*) FROM {tests} JOIN instances i ON i.id = r.instance"
        " WHERE c.campaign = ? GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (campaign, operators),
    ).fetchall()
    return Cost(dict(stages), [(api, seconds or 0.0, count) for api, seconds, count in rows])
