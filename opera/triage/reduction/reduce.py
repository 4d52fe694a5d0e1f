"""Reduces a failing instance under one fingerprint, finds its trigger by single removals, and confirms the result in fresh processes."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from opera.arrays import ModelValue, as_array, is_array, to_bytes
from opera.difftest.judge import Judgement
from opera.difftest.runner import FRESH, SPAWNED, Roles, TestCase, TestOutcome, TestRunner
from opera.instance import Instance, Outcome, Tensor, encode_instance
from opera.models.forms import ModelForm
from opera.models.onnx_types import with_open_outputs
from opera.models.opsets import OLDEST
from opera.oracles.verdict import Detail, Verdict
from opera.triage.reduction.aspects import Aspect, aspects
from opera.triage.reduction.candidates import Candidates, steps_for
from opera.triage.reduction.complexity import complexity
from opera.triage.reduction.differences import adopted, differ_alone
from opera.triage.reduction.places import Part, Place, places, put
from opera.triage.reduction.properties import Property, View, absent, calls_of, canonical
from opera.triage.reduction.trigger import Neighbours, Proof, Trigger, covering, prove

CONFIRMATIONS = (FRESH, FRESH, SPAWNED)
"""The processes in which a reduced instance must fail again: two copies of a warm one (if allowed), and one newly started."""
_SHARE_OF_SEARCH = 0.7
_RESTARTS = 2
_ADOPTED = 8
"""Variations of a failing call that are made for a property that only recorded tests tell."""
_UNORDERED = frozenset({("dtype", "="), ("dtype", "is"), ("type", "="), ("type", "is")})
"""Properties with unordered values: if one value fails for another reason, this says nothing about the other values."""


@dataclass(frozen=True)
class Budget:
    """The limits of one reduction: probes, and seconds of wall time. Confirmation is extra."""

    probes: int = 600
    seconds: float = 60.0


Accepts = Callable[[TestCase], bool]
"""Tells whether an instance is valid, by the opinion of another compiler."""


def everything(_: TestCase) -> bool:
    """Without another compiler, every instance that the library accepts is valid."""
    return True


class NotReduced(Exception):
    """There is no reduction; the message is the reason, for a person."""


@dataclass(frozen=True)
class Reduction:
    """A reduced instance that fails as the original does.

    Attributes:
        instance: The instance; all values kept, nothing drawn.
        form: The form of its model.
        trigger: What the failure depends on.
        proof: What shows this.
        probes: Instances that were run.
        seconds: Wall time.
        complete: Whether nothing more could be taken away; else the budget was spent.
        confirmed: In how many fresh processes it failed again.
        evidence: What the compiler left behind in the last of them: exception or difference.
    """

    instance: Instance
    form: str
    trigger: Trigger
    proof: Proof
    probes: int
    seconds: float
    complete: bool
    confirmed: int
    evidence: Detail


class Reducer:
    """Reduces one failing test.

    Args:
        runner: Runs instances of the test's subject.
        fingerprint: Fingerprint of the failure that must stay.
        verdict: Verdict of that failure.
        budget: What may be used.
        accepts: Tells valid variations.
        neighbours: Recorded tests of the operator.
    """

    def __init__(
        self,
        runner: TestRunner,
        fingerprint: str,
        verdict: Verdict,
        budget: Budget,
        accepts: Accepts = everything,
        neighbours: Neighbours | None = None,
    ) -> None:
        self._runner = runner
        self._accepts = accepts
        self._neighbours = neighbours or Neighbours()
        self._proof = Proof()
        self._wanted = frozenset((fingerprint,))
        self._direction = ""
        self._roles: Roles = runner.roles_for(verdict)
        self._budget = budget
        self._known: dict[str, TestOutcome] = {}
        self._failing: list[View] = []

    def reduce(self, instance: Instance, form: str, key: str, seed: int) -> Reduction:
        """The reduction of a failing test.

        Raises:
            NotReduced: the failure does not come back, or not reliably.
            EnvironmentBroken: library or compiler stopped working.
        """
        began, first_probe = time.monotonic(), self._runner.count
        self._deadline = began + self._budget.seconds * _SHARE_OF_SEARCH
        self._last_probe = first_probe + self._budget.probes
        self._form = form
        start = self._start(instance, key, seed)
        self._form = self._with_lowest_opset(start)
        smallest, trigger, complete = self._without_slips(start, began + self._budget.seconds)
        evidence = self._confirm(smallest)
        return Reduction(
            instance=smallest,
            form=self._form,
            trigger=trigger,
            proof=self._proof,
            probes=self._runner.count - first_probe,
            seconds=time.monotonic() - began,
            complete=complete,
            confirmed=len(CONFIRMATIONS),
            evidence=evidence,
        )

    def _start(self, instance: Instance, key: str, seed: int) -> Instance:
        """*instance* with drawn values and without other recorded facts; it must fail like the original."""
        original = self._runner.run(TestCase(instance, self._form, key, seed), self._wanted, self._roles)
        if not self._shows_otherwise(original):
            raise NotReduced(f"does not fail in the same way now: {_said(original)}")
        self._direction = _direction(original) if len(self._wanted) == 1 else ""
        plain = replace(instance, expected=None, outcome=Outcome.UNKNOWN, exception=None)
        if original.bundle is not None:
            plain = with_inputs(plain, self._runner.inputs(original))
        probe = self._probe(View(plain, self._form))
        if probe.judgement.reason == "checker":
            plain = with_open_outputs(plain, instance.expected or ())
            probe = self._probe(View(plain, self._form))
        if not self._shows_otherwise(probe):
            reason = "the outputs that the test declares" if instance.expected is not None else "random numbers inside the model"
            raise NotReduced(f"fails only with {reason} ({_said(probe)} otherwise)")
        return plain

    def _with_lowest_opset(self, start: Instance) -> str:
        """The form with the lowest opset at which *start* fails: none where it does at the lowest that is valid."""
        form = ModelForm.parse(self._form)
        lower = () if form.opset is None else (None, *range(OLDEST, form.opset))
        forms = (str(replace(form, opset=each)) for each in lower)
        return next((each for each in forms if self._same(self._probe(View(start, each)))), self._form)

    def _without_slips(self, start: Instance, deadline: float) -> tuple[Instance, Trigger, bool]:
        """Searches again where the smallest instance fails for a reason that the original does not have."""
        smallest, complete = self._search(start, [])
        trigger, slipped = self._isolate(smallest, View(start, self._form), deadline)
        best = smallest, trigger, complete
        forbidden = list(slipped)
        for _ in range(_RESTARTS):
            if not slipped or self._spent():
                break
            smallest, complete = self._search(start, forbidden)
            if smallest == start:
                break
            trigger, slipped = self._isolate(smallest, View(start, self._form), deadline)
            forbidden += slipped
            best = smallest, trigger, complete
        return best

    # Search.

    def _search(self, start: Instance, forbidden: list[Property]) -> tuple[Instance, bool]:
        """Takes the first smaller instance of each step that still fails, until no step finds one."""
        current = start
        progress = True
        while progress:
            progress = False
            for candidates in steps_for(start):
                while (smaller := self._first_failing(current, candidates, forbidden)) is not None:
                    current, progress = smaller, True
        return current, not self._spent()

    def _first_failing(self, current: Instance, candidates: Candidates, forbidden: list[Property]) -> Instance | None:
        size = complexity(current)
        for candidate in candidates(current):
            if self._spent():
                return None
            if complexity(candidate) >= size:
                continue
            view = View(candidate, self._form)
            if any(each.holds(view) for each in forbidden):
                continue
            if self._same(self._probe(view)):
                return candidate
        return None

    def _spent(self) -> bool:
        return time.monotonic() >= self._deadline or self._runner.count >= self._last_probe

    # Trigger.

    def _isolate(self, smallest: Instance, original: View, deadline: float) -> tuple[Trigger, list[Property]]:
        """The trigger of *smallest*, and what it needs that *original* does not have."""
        view = View(smallest, self._form)
        found = list(aspects(view))
        passing: list[View] = []
        own: dict[Property, list[View]] = {}
        slipped: list[Property] = []
        untried = len(found)
        for aspect in found:
            if time.monotonic() >= deadline:
                break
            untried -= 1
            probes = [(removal, self._probe(removal)) for removal in aspect.removals]
            gone = [removal for removal, probe in probes if probe.passed]
            passing += gone
            for each in aspect.properties:
                own.setdefault(each, []).extend(gone)
            alone = gone and not any(self._same(probe) for _, probe in probes)
            if alone and not any(each.holds(original) for each in aspect.properties):
                slipped.append(aspect.properties[0])

        def is_shown(each: Property) -> bool:
            """Whether a variation that passes lacks *each*, and was made to lack it or differs in nothing else."""
            return any(not each.holds(one) for one in own.get(each, ())) or any(
                not each.holds(one) and differ_alone(each, view, one) for one in passing
            )

        ladder = [each for aspect in found for each in reversed(self._held(aspect))]
        shown = [each for each in dict.fromkeys(ladder) if is_shown(each)]
        chosen = covering(shown, passing)
        untold = [each for each in passing if all(one.holds(each) for one in chosen)]
        unordered = [each for aspect in found for each in reversed(aspect.properties) if (each.accessor, each.comparison) in _UNORDERED]
        chosen += covering([each for each in unordered if is_shown(each)], untold)
        for each in self._told_by_neighbours(ladder, chosen):
            shows = self._shown_by_neighbours(each, (view, original), deadline)
            if shows is not None:
                chosen.append(each)
                passing.append(shows)
        if not smallest.kind.behaviour.has_one_operator:
            others = list(smallest.kind.behaviour.with_other_operators(smallest))
            general = {feature for feature, other in others if self._same(self._probe(View(other, self._form)))}
            chosen.append(calls_of(smallest, general))
        trigger = Trigger(canonical(set(chosen)), smallest.api, tuple(view.tensors))
        self._proof = prove(trigger.properties, view, passing, self._neighbours, untried)
        return trigger, slipped

    def _told_by_neighbours(self, ladder: Sequence[Property], chosen: Sequence[Property]) -> list[Property]:
        """Properties of *ladder* that tell recorded tests with all of *chosen* apart: what passes lacks one, what fails has all."""
        passing, alike = (
            [view for view in those if all(each.holds(view) for each in chosen)]
            for those in (self._neighbours.passing, self._neighbours.alike.values())
        )
        left_out = [absent(each.name) for view in passing for each in view.instance.arguments()]
        return covering([each for each in (*ladder, *left_out) if all(each.holds(view) for view in (*self._failing, *alike))], passing)

    def _shown_by_neighbours(self, told: Property, failing: Sequence[View], deadline: float) -> View | None:
        """A test that passes, lacks *told*, and is else like one of *failing*: a recorded one, or one of *failing* with this part of it."""
        lacking = [each for each in self._neighbours.passing if not told.holds(each)]
        alone = next((each for base in failing for each in lacking if differ_alone(told, base, each)), None)
        if alone is not None:
            return alone
        tried: set[str] = set()
        for each in itertools.chain.from_iterable(adopted(base, each, told) for base in failing for each in lacking[:_ADOPTED]):
            key = json.dumps([encode_instance(each.instance), each.form], sort_keys=True)
            if told.holds(each) or key in tried:
                continue
            if time.monotonic() >= deadline or len(tried) == _ADOPTED * len(failing):
                break
            tried.add(key)
            if self._probe(each).passed:
                return each
        return None

    def _held(self, aspect: Aspect) -> list[Property]:
        """The properties of *aspect* that every failing instance had."""
        return [each for each in aspect.properties if all(each.holds(other) for other in self._failing)]

    # Probes.

    def _probe(self, view: View) -> TestOutcome:
        document = {**encode_instance(view.instance), "form": view.form}
        key = json.dumps(document, sort_keys=True)
        if key not in self._known:
            trial = TestCase(view.instance, view.form, "reduced", 0)
            found = self._runner.run(trial, self._wanted, self._roles)
            if self._same(found) and not self._accepts(trial):
                found = TestOutcome(Judgement(Verdict.INVALID, reason="guard"), None)
            self._known[key] = replace(found, bundle=None)
            if self._same(found):
                self._failing.append(view)
        return self._known[key]

    def _shows_otherwise(self, probe: TestOutcome) -> bool:
        """Whether this is the wanted failure, as it was or as it may show another time; from then on, every such form of it is wanted."""
        if not self._same(probe) and self._wanted & self._runner.equivalent_fingerprints(probe):
            self._wanted, self._direction = self._runner.equivalent_fingerprints(probe), ""
        return self._same(probe)

    def _same(self, probe: TestOutcome) -> bool:
        """Whether this is the wanted failure: a lost infinity is another one than a gained one, though the fingerprint is the same."""
        return probe.fingerprint in self._wanted and self._direction in ("", _direction(probe))

    def _confirm(self, smallest: Instance) -> Detail:
        """Runs the reduced instance in fresh processes; it must fail in each. Returns what it left behind."""
        trial = TestCase(smallest, self._form, "reduced", 0)
        evidence: Detail = {}
        for index, roles in enumerate(CONFIRMATIONS):
            probe = self._runner.run(trial, self._wanted, roles)
            if not self._shows_otherwise(probe):
                raise NotReduced(f"the smallest instance failed {index} times in fresh processes, and then gave {_said(probe)}")
            evidence = probe.judgement.detail
        return evidence


def with_inputs(instance: Instance, inputs: Mapping[str, ModelValue]) -> Instance:
    """*instance* with the values of a model's inputs in place of those that were not kept; as it is where the two do not fit together."""
    listed = (value if isinstance(value, list) else [value] for value in inputs.values())
    arrays = [as_array(item) for items in listed for item in items if is_array(item)]
    wanted = [(place, value) for place, value in places(instance) if place.part is Part.CALL and isinstance(value, Tensor)]
    if len(arrays) != len(wanted):
        return instance
    filled = instance
    for array, (place, tensor) in zip(arrays, wanted, strict=True):
        if tensor.data is None and array.shape == tensor.shape:
            filled = _filled(filled, place, tensor, to_bytes(array))
    return filled


def _filled(instance: Instance, place: Place, tensor: Tensor, data: bytes) -> Instance:
    try:
        return put(instance, place, replace(tensor, data=data, constraint=None, distribution=None))
    except ValueError:
        return instance


def _direction(probe: TestOutcome) -> str:
    """Whether an infinity or a NaN was `lost`, `gained` or `exchanged` for the other; empty for ordinary numbers."""
    difference = probe.judgement.detail.get("difference", {})
    wanted, found = (str(difference.get(name)).lstrip("-") in ("inf", "nan") for name in ("expected", "actual"))
    return {(True, True): "exchanged", (True, False): "lost", (False, True): "gained"}.get((wanted, found), "")


def _said(probe: TestOutcome) -> str:
    judgement = probe.judgement
    stage = f" at {judgement.stage.value}" if judgement.stage else ""
    reason = f": {judgement.reason}" if judgement.reason else ""
    return f"{judgement.verdict.value}{stage}{f' of {judgement.exporter}' if judgement.exporter else ''}{reason}"
