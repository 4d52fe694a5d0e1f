"""What the workers of a test are asked, and what the materialiser answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opera.compilers.exporters import declined_by_exporter
from opera.difftest.model_worker import REFERENCE
from opera.difftest.test import Test
from opera.workers.process import Done, Lost, Raised
from opera.workers.protocol import Message

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Tasks:
    """Makes the messages for workers."""

    instance: Callable[[str], Any]
    kind: str | None
    route: tuple[str, str]
    lowest: str | None = None
    """The compiler's lowest optimisation level, where the campaign runs at a higher one."""
    computes_as: Mapping[str, str] = field(default_factory=dict[str, str])
    """The dtypes that the compiler declares to compute as others."""

    def materialise(self, test: Test, *, reference: bool) -> Message:
        """For the materialiser."""
        return {
            "instance": self.instance(test.instance), "key": test.instance, "seed": test.seed, "kind": self.kind,
            "form": test.form.value, "reference": reference,
        }  # fmt: skip

    def review(self, test: Test, reference: Answer, artefact: Answer, outputs: str | None) -> Message:
        """For the materialiser: a second look at a failure with these outputs."""
        return {
            "instance": self.instance(test.instance), "key": test.instance, "seed": test.seed, "kind": self.kind, "review": outputs,
            "bundle": reference["bundle"], "artefact": artefact.get("artefact"), "computes_as": dict(self.computes_as),
        }  # fmt: skip

    def compile(self, test: Test, reference: Answer, artefact: Answer, level: str | None = None) -> Message:
        """For the compiler; *level* None is the campaign's."""
        return {
            "instance": self.instance(test.instance), "key": test.instance, "seed": test.seed, "route": list(self.route),
            "bundle": reference["bundle"], "artefact": artefact.get("artefact"), "level": level,
        }  # fmt: skip


def answer_of(event: Done | Raised | Lost) -> dict[str, Any]:
    """What the materialiser said, or what its loss says."""
    if isinstance(event, Done):
        answer = dict(event.result)
        if answer["status"] == "export-failed":
            answer["unsupported"] = declined_by_exporter(answer["exporter"], answer["failure"])
        return answer
    if isinstance(event, Raised):
        return {"status": "invalid", "reason": "template-error", "stage": REFERENCE, "failure": event.failure}
    reason = {"deadline": "library-hang", "memory": "library-oom"}.get(event.cause, "library-abort")
    lost = {"cause": event.cause, "detail": event.detail}
    return {"status": "lost", "reason": reason, "stage": event.stage or REFERENCE, "lost": lost, "log": event.log}
