"""The plan of a campaign: its tests, their order and their identities."""

from __future__ import annotations

import itertools
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from opera.corpus.selection import Predicate, at_most
from opera.difftest.settings import Shard
from opera.difftest.test import Identity, Test
from opera.instance import Instance
from opera.models.forms import InputForm, ModelForm, forms_of, is_drawn
from opera.store import Campaigns


class Plan(Sequence[Test]):
    """The tests of a campaign in their order. Each is made when it is asked for, so that a million take some 30 MB."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._instances: list[str] = []
        self._apis: list[str] = []
        self._known: list[ModelForm] = []
        self._forms = bytearray()
        self._seeds = array("q")
        self._places = array("I")

    def add(self, place: int, instance: str, api: str, form: ModelForm, seed: int) -> None:
        """Adds the test that has *place* in the campaign."""
        self._places.append(place)
        self._instances.append(instance)
        self._apis.append(sys.intern(api))
        if form not in self._known:
            self._known.append(form)
        self._forms.append(self._known.index(form))
        self._seeds.append(seed)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Test: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Test]: ...
    def __getitem__(self, index: int | slice) -> Test | Sequence[Test]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        instance, seed, form = self._instances[index], self._seeds[index], self._known[self._forms[index]]
        identity = self._identity
        return Test(
            place=self._places[index],
            id=identity.test(instance, seed, form),
            instance=instance,
            api=self._apis[index],
            form=form,
            reference_key=identity.reference_key(instance, seed, form),
            artefact_key=identity.artefact_key(instance, seed, form),
            seed=seed,
        )

    def identities(self) -> Iterator[tuple[int, str]]:
        """Place and identity of each test, which is all that is needed of those that have a result."""
        for place, instance, seed, form in zip(self._places, self._instances, self._seeds, self._forms, strict=True):
            yield place, self._identity.test(instance, seed, self._known[form])

    def by_instance(self) -> dict[str, list[int]]:
        """The indices of the tests of each instance."""
        found: dict[str, list[int]] = {}
        for index, instance in enumerate(self._instances):
            found.setdefault(instance, []).append(index)
        return found

    def part(self, chosen: Iterable[int]) -> Plan:
        """The tests at these indices only; their places stay."""
        part = Plan(self._identity)
        for each in chosen:
            form = self._known[self._forms[each]]
            part.add(self._places[each], self._instances[each], self._apis[each], form, self._seeds[each])
        return part


def make_plan(
    order: Iterable[tuple[str, Instance]],
    identity: Identity,
    forms: Sequence[InputForm],
    wanted: Predicate,
    *,
    opsets: Sequence[int] = (),
    seeds: Sequence[int] = (0,),
    limit: int | None = None,
    cap: int | None = None,
    shard: Shard | None = None,
) -> Plan:
    """The tests of a campaign: every wanted instance in every form, at every opset, and with every seed, in which it gives another test.

    What the first seed gives comes before what the second adds. The shards of a plan have no test in common, and together all of them.

    Args:
        order: Hash and instance, in ranked order.
        identity: What the tests' identities are made of.
        forms: Input forms to try.
        wanted: On the name of an API.
        opsets: Opsets that models declare; none for the lowest at which each is valid.
        seeds: Seeds of the inputs that are drawn.
        limit: Most tests, of all shards together.
        cap: Most instances per API, of all shards together.
        shard: The part to plan; None for all of it.
    """
    plan = Plan(identity)
    places = itertools.count() if limit is None else iter(range(limit))
    drawn: list[tuple[str, str, ModelForm]] = []

    def add(key: str, api: str, form: ModelForm, seed: int) -> bool:
        place = next(places, None)
        if place is not None and (shard is None or shard.has(key)):
            plan.add(place, key, api, form, seed)
        return place is not None

    for key, instance in at_most((each for each in order if wanted(each[1].api)), cap, lambda each: each[1].api):
        again = len(seeds) > 1 and is_drawn(instance)
        for form in itertools.starmap(ModelForm, itertools.product(forms_of(instance, tuple(forms)), opsets or (None,))):
            if not add(key, instance.api, form, seeds[0]):
                return plan
            if again:
                drawn.append((key, instance.api, form))
    for seed, (key, api, form) in itertools.product(seeds[1:], drawn):
        if not add(key, api, form, seed):
            break
    return plan


def nightly_part(campaigns: Campaigns, compiler: str, frontend: str) -> Callable[[str], int]:
    """To which part of a night an instance belongs: 0 if it has ever failed for the subject, 1 if it was never run for it, else 2.

    What has a result under the very same versions is not run again, so where nothing changed only what is new is run.
    """
    failed, known = campaigns.history(compiler, frontend)

    def part(instance: str) -> int:
        return 0 if instance in failed else 2 if instance in known else 1

    return part
