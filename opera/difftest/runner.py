"""Runs one instance after another as a campaign would, in workers that stay warm, and gives the outcome of each."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from opera import bundle
from opera.arrays import ModelValue
from opera.compilers.exporters import culprits
from opera.config import Config
from opera.difftest.judge import Judgement
from opera.difftest.messages import BlamePass, Compile, ExporterFailed, FirstPass, InstanceRejected, Made, from_json, to_json
from opera.difftest.protocol import Ask, DiffTest, Event, Phase, TestState
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.difftest.test import Test
from opera.errors import EnvironmentBroken
from opera.instance import Instance, encode_instance
from opera.models.forms import InputForm, ModelForm
from opera.oracles.verdict import KeptFacts, Verdict
from opera.workers.pool_protocol import Role
from opera.workers.process import Done
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
class TestOutcome:
    """The outcome of a test.

    Attributes:
        judgement: The verdict with its grounds.
        fingerprint: Fingerprint of a failure.
        bundle: Name in the cache of its inputs and reference outputs, where they could be made.
    """

    __test__ = False

    judgement: Judgement
    fingerprint: str | None
    bundle: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the compiler did what the library does."""
        return self.judgement.verdict is Verdict.PASS


@dataclass(frozen=True)
class TestCase:
    """A test to run: an instance and a form of its model. *key* and *seed* decide the drawn values of an instance without values."""

    __test__ = False

    instance: Instance
    form: str
    key: str
    seed: int


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class TestRunner:
    """The workers of one subject, on one route, with the settings of a campaign. Once *cancelled* is set, the next run raises.

    Args:
        settings: Settings of the campaign.
        config: Says which interpreters to use.
        scratch: A folder of its own; the models of probes are cached there and go with it.

    Raises:
        EnvironmentBroken: library or compiler do not work here (any more).
    """

    __test__ = False

    def __init__(self, settings: Settings, config: Config, scratch: Path) -> None:
        self.settings = settings
        self.count = 0
        self.cancelled = False
        with ExitStack() as stack:
            folder = stack.enter_context(working_folder("triage", scratch))
            self._cache = folder / "cache"
            self._cache.mkdir()
            self._put = partial(bundle.store, folder / "blobs")
            pool = folder / "crew"
            pool.mkdir()
            self._workers = SubjectSession(settings, config, self._cache, pool)
            stack.callback(self._workers.pool.close)
            self._workers.prove()
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Ends the workers of the subject."""
        self._stack.close()

    def __enter__(self) -> TestRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def inputs(self, probe: TestOutcome) -> Mapping[str, ModelValue]:
        """Name to value of the inputs of a probe that has a bundle."""
        assert probe.bundle is not None
        return bundle.parse(bundle.fetch(self._cache, probe.bundle))["inputs"]

    def kept(self, kept: KeptFacts) -> tuple[Sequence[ModelValue], Sequence[ModelValue] | None]:
        """The outputs of the library and of the compiler; None if a bundle cannot hold the latter."""
        library, compiler = bundle.fetch(self._cache, kept["reference"]), kept["outputs"]
        outputs = None if compiler is None else bundle.parse(bundle.fetch(self._cache, compiler))
        return bundle.parse(library)["outputs"], outputs

    def equivalent_fingerprints(self, probe: TestOutcome) -> frozenset[str]:
        """The fingerprints in which the failure of *probe* may show another time."""
        return probe.judgement.symptom(self.settings.subject).equivalent_fingerprints if probe.fingerprint is not None else NOTHING

    def run(self, trial: TestCase, wanted: frozenset[str] = NOTHING, roles: Roles = WARM) -> TestOutcome:
        """The outcome of *trial*.

        Args:
            trial: What to run.
            wanted: The fingerprints of interest: other failures are not reviewed.
            roles: The workers of library and compiler that do it.

        Raises:
            Cancelled: the caller has stopped waiting.
        """
        if self.cancelled:
            raise Cancelled
        self.count += 1
        document = json.dumps(encode_instance(trial.instance, self._put))
        test = Test(0, trial.key, trial.key, trial.instance.api, ModelForm.parse(trial.form), "", "", trial.seed)
        library, compiler = roles

        def reviewed(judgement: Judgement, test: Test) -> bool:
            return whole.reviewed(judgement, test) and self._may_be_wanted(judgement, wanted)

        whole = self._workers.difftest(lambda _: document)
        difftest = replace(whole, lowest=None, confirm=False, library=library, compiler=compiler, reviewed=reviewed)
        state = difftest.begin(test)
        reference: str | None = None
        while isinstance(state, TestState):
            event = self._ask(difftest.ask(state))
            if state.phase is Phase.MODEL and isinstance(event, Done):
                made = from_json(event.result)
                reference = made.reference.bundle if isinstance(made, Made | InstanceRejected | ExporterFailed) and made.reference else None
            was, state = state, difftest.answered(state, event)
            found = state if isinstance(state, Judgement) else state.confirmed
            of_interest = found is not None and was.phase is Phase.COMPILE and self._fingerprint(found) in wanted
            if of_interest and not self._is_sound(difftest, was, trial):
                return TestOutcome(Judgement(Verdict.INVALID, reason="types"), None, reference)
        return TestOutcome(state, self._fingerprint(state), reference)

    def first_pass(self, trial: TestCase) -> str | None:
        """The first pass of the compiler without which *trial* does not fail; None where none alone is to blame, or it does not tell."""
        document = json.dumps(encode_instance(trial.instance, self._put))
        test = Test(0, trial.key, trial.key, trial.instance.api, ModelForm.parse(trial.form), "", "", trial.seed)
        difftest = replace(self._workers.difftest(lambda _: document), lowest=None, confirm=False, compiler=Role.COMPILER_FRESH)
        state = difftest.begin(test)
        while isinstance(state, TestState) and state.phase is Phase.MODEL:
            state = difftest.answered(state, self._ask(difftest.ask(state)))
        if not isinstance(state, TestState):
            return None
        step = difftest.ask(state)
        assert isinstance(step.request, Compile)
        event = self._ask(Ask(step.worker, BlamePass(step.request)))
        answer = from_json(event.result) if isinstance(event, Done) else None
        return answer.name if isinstance(answer, FirstPass) else None

    def _fingerprint(self, judgement: Judgement) -> str | None:
        """The fingerprint of a failure; None for another verdict."""
        return judgement.symptom(self.settings.subject).fingerprint if judgement.verdict.is_failure else None

    def _is_sound(self, difftest: DiffTest, state: TestState, trial: TestCase) -> bool:
        """Whether an ONNX model is one by its types and shapes as well: the baked form, which is made of constants, is checked for that."""
        if not trial.instance.kind.behaviour.is_model or state.test.form.inputs is not InputForm.RUNTIME:
            return True
        form = replace(state.test.form, inputs=InputForm.BAKED)
        baked = replace(state, test=replace(state.test, form=form), phase=Phase.MODEL, worker=Role.LIBRARY)
        event = self._ask(difftest.ask(baked))
        return not isinstance(event, Done) or not isinstance(from_json(event.result), InstanceRejected)

    def _may_be_wanted(self, judgement: Judgement, wanted: frozenset[str]) -> bool:
        """Whether a review may make this one of the failures of interest, as it may name a culprit."""
        if self._fingerprint(judgement) in wanted:
            return True
        others = culprits() if judgement.exporter is None else ()
        return any(self._fingerprint(replace(judgement, exporter=name)) in wanted for name in others)

    def roles_for(self, verdict: Verdict) -> Roles:
        """The workers for a failure of that kind: one that kills its process gets a copy of a warm one each time."""
        return (Role.LIBRARY, Role.COMPILER_FRESH) if verdict in _DEADLY else WARM

    def _ask(self, step: Ask) -> Event:
        task = to_json(step.request)
        deadline = time.monotonic() + _ANSWER_WITHIN
        assigned = False
        while time.monotonic() < deadline:
            assigned = assigned or self._workers.pool.assign(step.worker, step, task)
            events = [event for _, _, event in self._workers.pool.wait()]
            if events:
                return events[0]
        raise EnvironmentBroken(f"{step.worker.value} does not answer; run `opera doctor`")
