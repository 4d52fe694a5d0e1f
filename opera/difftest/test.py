"""A test, and its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opera.compilers.adapter import Route
from opera.models.forms import ModelForm


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a campaign.

    Attributes:
        place: Its place in the campaign's order, from 0.
        id: Hash of instance, seed, template, subject, route, form and versions.
        instance: Hash of the instance.
        api: The API of the instance.
        form: Whether shape-like inputs are baked in, and the opset.
        reference_key: Key of the inputs and reference outputs in the cache.
        artefact_key: Key of the model in the cache.
        seed: Seed of the inputs that are drawn.
    """

    __test__ = False

    place: int
    id: str
    instance: str
    api: str
    form: ModelForm
    reference_key: str
    artefact_key: str
    seed: int


@dataclass(frozen=True)
class Identity:
    """All parts of a test's identity except its instance, its seed and its form.

    Attributes:
        compiler: Name of the compiler.
        route: How models come to it.
        template: Name and revision of the model template.
        library: Versions on the library's side.
        versions: Versions and settings on the compiler's side.
        policy: What the comparison was told, and the revisions of the code that judges.
        review: Revision of the review of failures.
    """

    compiler: str
    route: Route
    template: str
    library: Mapping[str, str]
    versions: Mapping[str, str]
    policy: Mapping[str, Any]
    review: int

    def reference_key(self, instance: str, seed: int, form: ModelForm) -> str:
        """The key of the inputs and reference outputs."""
        return _key(instance, seed, self._model, *([json.dumps(form.inputs.value)] if form.inputs.has_outcome else []))

    def artefact_key(self, instance: str, seed: int, form: ModelForm) -> str:
        """The key of the model."""
        return _key(instance, seed, self._model, json.dumps(self.route.artefact), json.dumps(str(form)))

    def test(self, instance: str, seed: int, form: ModelForm) -> str:
        """The identity of the test."""
        return _key(instance, seed, self._model, self._subject, json.dumps(str(form)), self._settings)

    @cached_property
    def _model(self) -> str:
        return _text(self.template, dict(self.library))

    @cached_property
    def _subject(self) -> str:
        return _text(self.compiler, self.route.frontend, self.route.name)

    @cached_property
    def _settings(self) -> str:
        return _text(dict(self.versions), dict(self.policy), self.review)


def _text(*parts: Any) -> str:
    """*parts* as items of a JSON array, without its brackets."""
    return json.dumps(parts, sort_keys=True)[1:-1]


def _key(instance: str, seed: int, *texts: str) -> str:
    """The hash of a JSON array: *instance*, *seed*, and the items that are texts already, since campaigns make keys by the million."""
    return hashlib.sha256(f"[{', '.join((json.dumps(instance), str(seed), *texts))}]".encode()).hexdigest()
