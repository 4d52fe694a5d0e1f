"""Runs one instance after another as a campaign would, in workers that stay warm, and says what each comes to."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opera import bundle
from opera.compilers.exporters import culprits
from opera.config import Config
from opera.difftest.judge import Judgement, judge_compilation, judge_materialisation
from opera.difftest.needs_review import is_worth_a_look
from opera.difftest.session import Rig
from opera.difftest.settings import Settings
from opera.difftest.tasks import Tasks, answer_of
from opera.difftest.test import Test
from opera.errors import EnvironmentBroken
from opera.instance import Instance, Kind, encode_instance
from opera.models.forms import InputForm
from opera.oracles.verdict import Verdict
from opera.workers.kinds import Role
from opera.workers.process import Done, Lost, Raised
from opera.workers.protocol import Message
from opera.workers.supervision import working_folder

WARM = (Role.LIBRARY, Role.COMPILER)
FRESH = (Role.LIBRARY_FRESH, Role.COMPILER_FRESH)
SPAWNED = (Role.LIBRARY_SPAWNED, Role.COMPILER_SPAWNED)
_DEADLY = frozenset({Verdict.ABORT, Verdict.HANG, Verdict.OOM})
_ANSWER_WITHIN = 900.0
NOTHING: frozenset[str] = frozenset()
"""No fingerprint in particular."""

Roles = tuple[Role, Role]


@dataclass(frozen=True)
class Probe:
    """What a test came to.

    Attributes:
        judgement: The verdict with its grounds.
        fingerprint: Of a failure.
        bundle: Name in the cache of its inputs and reference outputs, where they could be made.
    """

    judgement: Judgement
    fingerprint: str | None
    bundle: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the compiler did what the library does."""
        return self.judgement.verdict is Verdict.PASS


@dataclass(frozen=True)
class Trial:
    """What is to be run: an instance in an input form. *key* and *seed* decide what is drawn for values that were not kept."""

    instance: Instance
    form: str
    key: str
    seed: int


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class Prober:
    """The workers of one subject, on one route, with the settings of a campaign. Whoever sets *cancelled* makes the next run raise.

    Args:
        settings: Of the campaign.
        config: Says which interpreters to use.
        scratch: A folder of its own; the models of probes are cached there and go with it.

    Raises:
        EnvironmentBroken: library or compiler do not work here (any more).
    """

    def __init__(self, settings: Settings, config: Config, scratch: Path) -> None:
        self.settings = settings
        self.count = 0
        self.cancelled = False
        with ExitStack() as stack:
            folder = stack.enter_context(working_folder("triage", scratch))
            self._cache = folder / "cache"
            self._cache.mkdir()
            crew = folder / "crew"
            crew.mkdir()
            self._rig = Rig(settings, config, self._cache, crew)
            stack.callback(self._rig.crew.close)
            self._rig.prove()
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Ends the workers."""
        self._stack.close()

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def inputs(self, probe: Probe) -> Mapping[str, Any]:
        """Name to value of the inputs of a probe that has a bundle."""
        assert probe.bundle is not None
        return bundle.parse(bundle.fetch(self._cache, probe.bundle))["inputs"]

    def shapes(self, probe: Probe) -> frozenset[str]:
        """The fingerprints in which the failure of *probe* may show another time."""
        return probe.judgement.symptom(self.settings.subject).shapes if probe.fingerprint is not None else NOTHING

    def run(self, trial: Trial, wanted: frozenset[str] = NOTHING, roles: Roles = WARM) -> Probe:
        """What *trial* comes to.

        Args:
            trial: What to run.
            wanted: The fingerprints of interest: other failures are not looked at a second time.
            roles: The workers of library and compiler that do it.

        Raises:
            Cancelled: nobody waits any more.
        """
        if self.cancelled:
            raise Cancelled
        self.count += 1
        document = encode_instance(trial.instance)

        def only(_: str) -> Any:
            return document

        tasks = self._rig.tasks(only)
        test = Test(0, trial.key, trial.key, trial.instance.api, InputForm(trial.form), "", "", trial.seed)
        library, compiler = roles
        event = self._ask(library, tasks.materialise(test, reference=True))
        answer = answer_of(event)
        if answer["status"] == "unwritable":
            raise EnvironmentBroken(
                f"the cache cannot be written ({answer['failure']['message']}); mend that and run the same command again"
            )
        if answer["status"] != "ready":
            return self._probe(judge_materialisation(answer, event.seconds), answer)
        done = self._ask(compiler, tasks.compile(test, answer, answer))
        if isinstance(done, Lost) and compiler is Role.COMPILER and done.stage in ("", "read"):
            done = self._ask(Role.COMPILER_FRESH, tasks.compile(test, answer, answer))
        judgement = judge_compilation(done, test, answer.get("undefined"), answer.get("suspect"))
        probe = self._probe(judgement, answer)
        if probe.fingerprint in wanted and not self._is_sound(test, trial, tasks):
            return Probe(Judgement(Verdict.INVALID, reason="types"), None, probe.bundle)
        if self._may_be_wanted(judgement, probe, wanted) and is_worth_a_look(judgement, test):
            look = self._ask(Role.LIBRARY, tasks.review(test, answer, answer, judgement.outputs))
            probe = self._probe(_looked(judgement, look), answer)
        return probe

    def _is_sound(self, test: Test, trial: Trial, tasks: Tasks) -> bool:
        """Whether an ONNX model is one by its types and shapes as well: the baked form, which is made of constants, is checked for that."""
        if trial.instance.kind not in (Kind.NODE, Kind.GRAPH) or test.form is InputForm.BAKED:
            return True
        event = self._ask(Role.LIBRARY, tasks.materialise(replace(test, form=InputForm.BAKED), reference=False))
        return not isinstance(event, Done) or event.result["status"] != "invalid"

    def _may_be_wanted(self, judgement: Judgement, probe: Probe, wanted: frozenset[str]) -> bool:
        """Whether a second look may make this one of the failures of interest, as it may name a culprit."""
        if probe.fingerprint is None or probe.fingerprint in wanted:
            return True
        others = culprits() if judgement.exporter is None else ()
        return any(replace(judgement, exporter=name).symptom(self.settings.subject).fingerprint in wanted for name in others)

    def roles_for(self, verdict: Verdict) -> Roles:
        """The workers for a failure of that kind: one that kills its process gets a copy of a warm one each time."""
        return (Role.LIBRARY, Role.COMPILER_FRESH) if verdict in _DEADLY else WARM

    def _probe(self, judgement: Judgement, answer: Mapping[str, Any]) -> Probe:
        fingerprint = judgement.symptom(self.settings.subject).fingerprint if judgement.verdict.is_failure else None
        return Probe(judgement, fingerprint, answer.get("bundle"))

    def _ask(self, role: Role, task: Message) -> Done | Raised | Lost:
        deadline = time.monotonic() + _ANSWER_WITHIN
        assigned = False
        while time.monotonic() < deadline:
            assigned = assigned or self._rig.crew.assign(role, task, task)
            events = [event for _, _, event in self._rig.crew.wait()]
            if events:
                return events[0]
        raise EnvironmentBroken(f"{role.value} does not answer; look at `opera doctor`")


def _looked(judgement: Judgement, look: Done | Raised | Lost) -> Judgement:
    """*judgement* after a second look beside the library, as a campaign takes it."""
    found = look.result if isinstance(look, Done) else {}
    if found.get("reason") is not None:
        return replace(judgement, verdict=Verdict.UNDEFINED, reason=str(found["reason"]))
    if found.get("culprit") is not None and judgement.exporter is None:
        return replace(judgement, exporter=str(found["culprit"]))
    return judgement
