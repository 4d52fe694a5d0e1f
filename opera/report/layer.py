"""The layer of a compiler that a finding belongs to, where evidence names one: nothing is guessed from the operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from opera.compilers.registry import known_adapter, noise_of
from opera.oracles.verdict import Stage, Verdict
from opera.triage.candidate import Origin, origin_of
from opera.triage.findings import Finding

_TELLING = 20
"""Characters of a message that two frontends share for one reason."""


@dataclass(frozen=True)
class Layer:
    """Where a failure arises.

    Attributes:
        name: `exporter`, `library`, `frontend`, `common transformation`, `optimiser` or `backend`.
        why: What shows it, as the end of a sentence.
    """

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def layer_of(finding: Finding, among: Iterable[Finding] = ()) -> Layer | None:
    """The layer of *finding*; None where nothing shows it.

    Args:
        finding: A finding.
        among: Other findings: what another frontend of the same compiler meets too is not of one frontend.
    """
    result = finding.representative
    if finding.is_elsewhere:
        if result.exporter is not None:
            return Layer("exporter", "it fails before the compiler, or gives it a wrong model")
        return Layer("library", "several compilers agree against it")
    lowest = finding.lowest_level
    if lowest is not None and lowest.vanishes:
        return Layer("optimiser", f"the failure vanishes at optimisation level {lowest.name}")
    origin = _origin(finding)
    others = sorted({each.frontend for each in among if _is_met_by_other_frontend(finding, origin, each)})
    if others:
        return Layer("common transformation", f"models of {' and '.join(others)} fail with the same message")
    if origin is not None and origin.by_entry and result.stage is Stage.LOAD:
        return Layer("frontend", f"{origin.entry} of the importer raised")
    if result.stage is Stage.OPTIMIZE:
        return Layer("common transformation", "it fails after the conversion, before code is generated")
    if result.stage is Stage.RUN and result.verdict is not Verdict.INCONSISTENT:
        return Layer("backend", "the compiled model fails while it runs")
    return None


def _origin(finding: Finding) -> Origin | None:
    """Where an exception of the compiler was raised."""
    result = finding.representative
    if result.verdict is not Verdict.CRASH or "failure" not in result.detail or finding.is_elsewhere:
        return None
    adapter = known_adapter(result.compiler)
    failure = cast("Mapping[str, Any]", result.detail["failure"])
    return origin_of(failure, () if adapter is None else adapter.project, noise_of(result.compiler))


def _is_met_by_other_frontend(finding: Finding, origin: Origin | None, other: Finding) -> bool:
    if origin is None or len(origin.message) < _TELLING or (other.compiler, other.stage) != (finding.compiler, finding.stage):
        return False
    there = None if other.frontend == finding.frontend else _origin(other)
    return there is not None and there.message == origin.message
