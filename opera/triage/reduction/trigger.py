"""The trigger of a failure: the properties that an instance needs to fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opera.errors import UserError
from opera.instance import Instance
from opera.store.reductions import StoredReduction
from opera.store.rows import TriggerFacts
from opera.triage.reduction.differences import differ_alone, differences
from opera.triage.reduction.properties import Property, View, property_of

_SEEING = (
    ("element", "≠", 0), ("distinct elements", ">", 1), ("size", ">", 1), ("length", ">", 1), ("rank", "≥", 1)
)  # fmt: skip
"""Accessor, comparison and value of what any wrong result needs to be seen."""
ALWAYS = "any call"
"""Text of the trigger without a property: every call of the operator fails."""


@dataclass(frozen=True)
class Trigger:
    """A set of properties that the failure needs.

    Attributes:
        properties: In canonical order.
        api: The operator that they were found on.
        tensors: Names of its tensors, in order: what their places are on another operator.
    """

    properties: tuple[Property, ...]
    api: str
    tensors: tuple[str, ...]

    def text(self) -> str:
        """The properties as one canonical text, joined by commas."""
        return ", ".join(each.text() for each in self.properties) or ALWAYS

    def core(self) -> tuple[Property, ...]:
        """The properties without those that any wrong result needs in order to be seen: elements that are not all zero, or differ."""
        return tuple(each for each in self.properties if (each.accessor, each.comparison, each.value) not in _SEEING)

    def anonymous(self) -> str:
        """The core as text with tensors by place (`x0`, `x1`): the same for two operators whose inputs have other names."""
        new = {name: f"x{index}" for index, name in enumerate(self.tensors)}
        return ", ".join(sorted(each.renamed(new).text() for each in self.core()))

    def settings(self) -> tuple[Property, ...]:
        """The part of the core that is about no tensor: parameters, input form, outputs."""
        return tuple(each for each in self.core() if each.of_test or each.name not in self.tensors)

    def has_parameters(self) -> bool:
        """Whether a parameter matters that is no tensor."""
        return any(not each.of_test and each.name not in self.tensors for each in self.properties)

    def holds(self, instance: Instance, form: str) -> bool:
        """Whether *instance*, tested in input form *form*, has all the properties. Nothing is run."""
        view = View(instance, form)
        if instance.api == self.api:
            return all(each.holds(view) for each in self.properties)
        new = dict(zip(self.tensors, view.tensors, strict=False))
        return all(each.renamed(new).holds(view) for each in self.properties)

    def document(self) -> TriggerFacts:
        """The trigger as a JSON object."""
        return {"properties": [each.document() for each in self.properties], "api": self.api, "tensors": list(self.tensors)}


@dataclass(frozen=True)
class Neighbours:
    """Recorded tests of the operator of a failing test, in the same campaign.

    Attributes:
        passing: Those that pass.
        alike: The other tests that fail with the same fingerprint, by the identity of the test.
    """

    passing: Sequence[View] = ()
    alike: Mapping[str, View] = field(default_factory=dict[str, View])


@dataclass(frozen=True)
class Proof:
    """What shows that a trigger is the condition of a failure.

    Attributes:
        passes: For each property by its text, an instance that has all the others, lacks it, and passes.
        fails: Other recorded tests that have the trigger, and fail in the same way.
        against: Number of recorded tests that have the trigger, and pass: there is a condition that the trigger does not name.
        untried: Number of aspects of the instance that were not changed, because the budget ended.
    """

    passes: Mapping[str, Instance] = field(default_factory=dict[str, Instance])
    fails: tuple[str, ...] = ()
    against: int = 0
    untried: int = 0


def prove(properties: Sequence[Property], reduced: View, passing: Sequence[View], neighbours: Neighbours, untried: int) -> Proof:
    """The proof of a trigger.

    Args:
        properties: Those of the trigger.
        reduced: The instance that fails.
        passing: Variations of it that pass. Those that differ in one thing alone come first.
        neighbours: Recorded tests, which show a property only if they differ from *reduced* in nothing else.
        untried: The number of variations that did not run.
    """
    lacking: dict[str, Instance] = {}
    against = 0
    made = sorted(passing, key=lambda each: len(differences(reduced, each)))
    for index, view in enumerate((*made, *neighbours.passing)):
        missing = [each for each in properties if not each.holds(view)]
        if len(missing) == 1 and (index < len(made) or differ_alone(missing[0], reduced, view)):
            lacking.setdefault(missing[0].text(), view.instance)
        against += index >= len(made) and not missing
    fails = tuple(test for test, view in neighbours.alike.items() if all(each.holds(view) for each in properties))
    return Proof({each.text(): lacking[each.text()] for each in properties if each.text() in lacking}, fails, against, untried)


class NoTrigger(UserError, ValueError):
    """A document that describes no trigger."""


def trigger_of(document: TriggerFacts) -> Trigger:
    """Inverse of `Trigger.document`; raises NoTrigger."""
    try:
        properties = tuple(property_of(each) for each in document["properties"])
        trigger = Trigger(properties, str(document["api"]), tuple(str(name) for name in document["tensors"]))
        trigger.text()
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise NoTrigger(f"its stored trigger is damaged ({error}); `opera triage --again` reduces it again") from error
    return trigger


def sound(reductions: Iterable[StoredReduction]) -> list[StoredReduction]:
    """*reductions*; one with a damaged trigger counts as a test that could not be reduced, for this reason."""
    found: list[StoredReduction] = []
    for each in reductions:
        try:
            if each.trigger is not None:
                trigger_of(each.trigger)
        except NoTrigger as error:
            found.append(StoredReduction(each.fingerprint, each.test, each.fingerprint, str(error)))
        else:
            found.append(each)
    return found


def covering(properties: Sequence[Property], passing: Sequence[View]) -> list[Property]:
    """A small set of *properties* such that every instance of *passing* lacks one of them, as far as they can tell.

    Args:
        properties: What all failing instances have; of two that tell as much, the first is taken.
        passing: Instances that do not fail.
    """
    lacking = [(each, {place for place, view in enumerate(passing) if not each.holds(view)}) for each in dict.fromkeys(properties)]
    left = set(range(len(passing)))
    chosen: list[Property] = []
    while left:
        best, told = max(lacking, key=lambda item: len(item[1] & left), default=(None, set[int]()))
        if best is None or not told & left:
            break
        chosen.append(best)
        left -= told
    sets = dict(lacking)
    for each in list(chosen):
        if sets[each] <= {place for other in chosen if other != each for place in sets[other]}:
            chosen.remove(each)
    return chosen
