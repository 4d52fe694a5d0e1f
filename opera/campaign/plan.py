"""Which tests a campaign has, in which order, and what identifies each."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opera.campaign.selection import Predicate
from opera.compilers.adapter import Route
from opera.corpus.limits import at_most
from opera.instance import Instance
from opera.models.forms import InputForm, forms_of, is_drawn


@dataclass(frozen=True)
class Test:
    """One test of a campaign.

    Attributes:
        place: Its place in the campaign's order, from 0.
        id: Hash of instance, seed, template, subject, route, input form and versions.
        instance: Hash of the instance.
        api: The API of the instance.
        form: Whether shape-like inputs are baked in.
        reference_key: Of the inputs and reference outputs in the cache.
        artefact_key: Of the model in the cache.
        seed: Of the inputs that are drawn.
    """

    __test__ = False

    place: int
    id: str
    instance: str
    api: str
    form: InputForm
    reference_key: str
    artefact_key: str
    seed: int


@dataclass(frozen=True)
class Identity:
    """Everything a test's identity covers besides its instance, its seed and its input form.

    Attributes:
        compiler: Name of the compiler.
        route: How models come to it.
        template: Name and revision of the model template.
        library: Versions on the library's side.
        versions: Versions and settings on the compiler's side.
        policy: What the comparison was told.
    """

    compiler: str
    route: Route
    template: str
    library: Mapping[str, str]
    versions: Mapping[str, str]
    policy: Mapping[str, Any]

    def reference_key(self, instance: str, seed: int) -> str:
        """Of the inputs and reference outputs."""
        return _key(instance, seed, self.template, dict(self.library))

    def artefact_key(self, instance: str, seed: int, form: InputForm) -> str:
        """Of the model."""
        return _key(instance, seed, self.template, dict(self.library), self.route.artefact, form.value)

    def test(self, instance: str, seed: int, form: InputForm) -> str:
        """Of the test."""
        return _key(
            instance, seed, self.template, dict(self.library), self.compiler, self.route.frontend, self.route.name, form.value,
            dict(self.versions), dict(self.policy),
        )  # fmt: skip


def make_plan(
    order: Iterable[tuple[str, Instance]],
    identity: Identity,
    forms: Sequence[InputForm],
    wanted: Predicate,
    *,
    seeds: Sequence[int] = (0,),
    limit: int | None = None,
    cap: int | None = None,
) -> list[Test]:
    """The tests of a campaign: every wanted instance in every form, and with every seed, in which it gives another test.

    What the first seed gives comes before what the second adds.

    Args:
        order: Hash and instance, in ranked order.
        identity: What the tests' identities are made of.
        forms: Input forms to try.
        wanted: On the name of an API.
        seeds: Of the inputs that are drawn.
        limit: Most tests.
        cap: Most instances per API.
    """
    tests: list[Test] = []
    drawn: list[tuple[str, str, InputForm]] = []

    def add(key: str, api: str, form: InputForm, seed: int) -> None:
        keys = identity.reference_key(key, seed), identity.artefact_key(key, seed, form)
        tests.append(Test(len(tests), identity.test(key, seed, form), key, api, form, *keys, seed))

    for key, instance in at_most((each for each in order if wanted(each[1].api)), cap, lambda each: each[1].api):
        again = len(seeds) > 1 and is_drawn(instance)
        for form in forms_of(instance, tuple(forms)):
            if limit is not None and len(tests) >= limit:
                return tests
            add(key, instance.api, form, seeds[0])
            if again:
                drawn.append((key, instance.api, form))
    for seed, (key, api, form) in itertools.islice(itertools.product(seeds[1:], drawn), None if limit is None else limit - len(tests)):
        add(key, api, form, seed)
    return tests


def _key(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
