"""Which Ray cluster a campaign runs on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cluster:
    """Where stations are.

    Attributes:
        address: Of a running cluster, as Ray takes it; None starts one on this machine, which ends with the campaign.
        shared: Whether every machine has the workspace at the same place. If not, files travel with the tasks.
    """

    address: str | None = None
    shared: bool = False
