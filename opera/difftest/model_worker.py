"""The materialiser: a worker that turns instances into inputs, reference outputs and artefacts, in the library's process."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from opera import bundle
from opera.arrays import Outputs, as_array, is_array
from opera.compilers.exporters import is_exporter
from opera.difftest import messages
from opera.difftest.messages import (
    CallAnswers,
    CallRecorded,
    InstanceRejected,
    Made,
    Materialise,
    Refusal,
    Review,
    Reviewed,
    TimeCalls,
    Timed,
    Unwritable,
    WriteSource,
    from_json,
    to_json,
)
from opera.difftest.timing import timed
from opera.instance import Instance, decode_instance
from opera.models import torch_tables
from opera.models.template import Chained, ExportFailed, Invalid, Model, Prepared, Template
from opera.models.variants import ONLY_WHEN_EMPTY, refused_with_elements, with_single_parameters
from opera.oracles.blame import blames
from opera.oracles.compare import Policy
from opera.oracles.review import Case, review
from opera.trust import Trust, grant
from opera.workers.child import Stages
from opera.workers.failure import cut, describe, text_of, type_name
from opera.workers.protocol import Message

REFERENCE = "reference"
EXPORT = "export"
REVIEW = "review"
_MESSAGE = 2000
"""Characters of a message that are worth sending where thousands of calls are made."""


_EXPORTERS = {("pytorch", "onnx"): ("onnxscript",), ("tensorflow", "onnx"): ("tf2onnx",)}
"""The packages that make an artefact, by library and kind, with a version of their own."""


def _installed(packages: Sequence[str]) -> dict[str, str]:
    """The versions of those of *packages* that are installed."""
    found: dict[str, str] = {}
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _named(target: str) -> Any:
    """What `module:attribute` stands for."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


class _Unwritable(Exception):
    """The cache takes no file."""


class Materialiser:
    """Answers `Materialise`, `WriteSource`, `Review` and `CallRecorded` of `opera.difftest.messages`; each call is a stage of its own."""

    spent = False

    def __init__(self, options: Message) -> None:
        self._targets = str(options["template"]), options.get("opinion")
        self._cache = Path(options["cache"])
        grant(Trust.of(options.get("trust")))

    def ready(self) -> Message:
        self._template: Template = _named(self._targets[0])()
        template = f"{self._template.library}/{self._template.revision}"
        versions = dict(self._template.versions())
        return {
            "versions": versions,
            "exporters": {kind: _installed(names) for (library, kind), names in _EXPORTERS.items() if library == self._template.library},
            "template": template,
            "forkable": self._template.forkable,
            "python": sys.version.split()[0],
            "remarks": torch_tables.keep() if "torch" in sys.modules else [],
        }

    def handle(self, task: Message, stages: Stages) -> Message:
        request = from_json(task)
        if isinstance(request, CallRecorded):
            return to_json(CallAnswers(self._call_all(request.calls, request.seed, stages)))
        stages.enter(REFERENCE)
        if isinstance(request, TimeCalls):
            return to_json(self._timed(request))
        reference: messages.KeptReference | None = None
        try:
            if isinstance(request, Review):
                return to_json(self._review(request, stages))
            model = self._model(request)
            if isinstance(request, WriteSource):
                source = model.source(request.form)
                repeatable = model.reference().undefined is None
                return to_json(messages.ModelSource(list(source.imports), source.text, source.expected, repeatable))
            assert isinstance(request, Materialise)
            if request.with_reference:
                reference = self._reference(model)
                self._check_elements(model, request)
            artefact = messages.KeptModel()
            if request.kind is not None:
                stages.enter(EXPORT)
                made = model.artefact(request.kind, request.form)
                artefact = messages.KeptModel(self._store(made.data), made.suspect)
        except _Unwritable as error:
            return to_json(Unwritable(describe(error.__cause__ or error)))
        except Invalid as error:
            return to_json(InstanceRejected(str(error), stages.current, describe(error.__cause__ or error), reference))
        except ExportFailed as error:
            return to_json(messages.ExporterFailed(error.exporter, describe(error.__cause__ or error), reference=reference))
        return to_json(Made(artefact, reference))

    def _timed(self, request: TimeCalls) -> Timed | InstanceRejected:
        """Times the library's own calls, without the conversion of inputs and outputs."""
        try:
            model = self._model(request)
            if not isinstance(model, Prepared):
                return Timed(timed(model.run_once, request.repeats), with_feeding=True)
            model.run_once()
            return Timed(timed(model.prepared(), request.repeats))
        except Invalid as error:
            return InstanceRejected(str(error), REFERENCE, describe(error.__cause__ or error))

    def _model(self, request: Materialise | WriteSource | Review | TimeCalls) -> Model:
        return self._template.build(self._instance(request), request.key, request.seed)

    def _instance(self, request: Materialise | WriteSource | Review | TimeCalls) -> Instance:
        return decode_instance(json.loads(request.instance), self._blob)

    def _check_elements(self, model: Model, request: Materialise) -> None:
        """Raises `Invalid` where the library takes dtypes or indices of *model* only because it looks at no element of an empty tensor."""
        if all(as_array(value).size for _, value in model.inputs if is_array(value)):
            return
        refusal = refused_with_elements(self._template, self._instance(request), request.key, request.seed)
        if refusal is not None:
            raise Invalid(ONLY_WHEN_EMPTY) from refusal

    def _review(self, request: Review, stages: Stages) -> Reviewed:
        """Looks for what excuses a failing test, and for a fault of the artefact."""
        stages.enter(REVIEW)
        instance = self._instance(request)
        model = self._model(request)
        tree = bundle.parse(bundle.fetch_made(self._cache, request.bundle))
        actual = None if request.outputs is None else bundle.parse(bundle.fetch_made(self._cache, request.outputs))
        expected: Outputs = tree["outputs"]
        culprit = None
        if request.of_values and request.model is not None and request.kind is not None:
            found = model.captured(request.kind, bundle.fetch_made(self._cache, request.model))
            policy = Policy(request.computes_as)
            if found is not None and blames(found[1], expected, tree["precise"], actual, policy, exported=is_exporter(found[0])):
                culprit = found[0]

        def shapes_rounded() -> list[tuple[int, ...]] | None:
            try:
                outputs = self._template.build(with_single_parameters(instance), request.key, request.seed).nearby(0.0, 0)
            except Invalid:
                return None
            return None if outputs is None or not all(map(is_array, outputs)) else [as_array(each).shape for each in outputs]

        case = Case(
            instance=instance,
            inputs=list(tree["inputs"].values()),
            expected=expected,
            actual=actual,
            nearby=model.nearby,
            exact=model.exact,
            shapes_elsewhere=model.shapes_elsewhere,
            shapes_rounded=shapes_rounded,
            computes_as=request.computes_as,
            inner=model.dtypes if isinstance(model, Chained) else (),
        )
        excuse = review(case) if request.of_values else None
        if excuse is None and self._targets[1]:
            excuse = _named(self._targets[1])(model, case, request, stages.enter)
        return Reviewed(culprit=culprit) if excuse is None else Reviewed(excuse.reason, excuse.why, culprit)

    def _call_all(self, calls: list[tuple[str, str]], seed: int, stages: Stages) -> list[Refusal | None]:
        answers: list[Refusal | None] = []
        for index, (document, key) in enumerate(calls):
            stages.enter(str(index))
            answers.append(self._call(document, key, seed))
        return answers

    def _call(self, document: str, key: str, seed: int) -> Refusal | None:
        try:
            self._template.build(decode_instance(json.loads(document), self._blob), key, seed).run_once()
        except Invalid as error:
            cause = error.__cause__ or error
            return Refusal(str(error), type_name(type(cause)), cut(text_of(cause), _MESSAGE))
        except Exception as error:
            return Refusal("not-rebuilt", type_name(type(error)), cut(text_of(error), _MESSAGE))
        return None

    def _store(self, data: bytes) -> str:
        try:
            return bundle.store(self._cache, data)
        except OSError as error:
            raise _Unwritable from error

    def _blob(self, name: str) -> bytes:
        return bundle.fetch(self._cache.parent / "blobs", name)

    def _reference(self, model: Model) -> messages.KeptReference:
        reference = model.reference()
        tree = {
            "inputs": dict(model.inputs),
            "outputs": list(reference.outputs),
            "precise": None if reference.precise is None else list(reference.precise),
        }
        name = self._store(bundle.dump(tree))
        return messages.KeptReference(name, reference.undefined, reference.origin, reference.structure)
