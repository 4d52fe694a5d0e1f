"""A finding as merging sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.compilers.registry import noise_of
from opera.oracles.fingerprint import ELEMENTS, Symptom
from opera.oracles.verdict import Verdict
from opera.store import StoredResult
from opera.store.reductions import StoredReduction
from opera.triage.extremes import cut_off_at, overflows
from opera.triage.reduction.trigger import Trigger, trigger_of
from opera.triage.similarity import Origin, origin_of


@dataclass(frozen=True)
class Candidate:
    """A finding that may have the root cause of another.

    Attributes:
        finding: Its identity.
        fingerprint: Of its failing tests.
        representative: One of them.
        reduction: What reducing it came to.
    """

    finding: str
    fingerprint: str
    representative: StoredResult
    reduction: StoredReduction | None

    @property
    def symptom(self) -> Symptom:
        """What its failure shows."""
        return self.representative.symptom

    @property
    def trigger(self) -> str:
        """The core of its trigger, tensors by place; empty where none is known, or everything triggers it."""
        return "" if self.cause is None else self.cause.anonymous()

    @property
    def cause(self) -> Trigger | None:
        """Its trigger; None where none is known."""
        return None if self.reduction is None or self.reduction.trigger is None else trigger_of(self.reduction.trigger)

    @property
    def wrong_element(self) -> Mapping[str, Any]:
        """The difference that was seen; empty where it failed otherwise."""
        return cast("Mapping[str, Any]", self.representative.detail.get("difference", {}))

    @property
    def difference(self) -> str:
        """The kind of difference in words; wrong elements are one kind, but for those at the end of a dtype's range."""
        if self.symptom.kind not in ELEMENTS:
            return self.symptom.kind
        if overflows(self.wrong_element):
            return "no saturation"
        return "wrong elements" if self.cut_off is None else "infinities cut off"

    @property
    def cut_off(self) -> tuple[str, str] | None:
        """Between which dtypes an infinity was cut off."""
        properties = () if self.cause is None else self.cause.properties
        return cut_off_at(self.wrong_element, (str(each.value) for each in properties if each.kind in ("dtype", "type")))

    def origin(self, project_of: Callable[[str], Sequence[str]]) -> Origin | None:
        """Where its exception was raised; None where there was none."""
        result = self.representative
        if result.verdict is not Verdict.CRASH or "failure" not in result.detail:
            return None
        failure = cast("Mapping[str, Any]", result.detail["failure"])
        project = () if result.exporter is not None else project_of(result.compiler)
        return origin_of(failure, project, noise_of(result.compiler))
