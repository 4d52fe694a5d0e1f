"""The materialiser: a worker that turns instances into inputs, reference outputs and artefacts, beside their library."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from opera import bundle
from opera.arrays import as_array, is_array
from opera.compilers.exporters import is_exporter
from opera.instance import decode_instance
from opera.models.sampling import with_single_parameters
from opera.models.template import ExportFailed, Invalid, Model, Template
from opera.oracles.blame import blames
from opera.oracles.compare import Policy
from opera.oracles.review import Case, review
from opera.workers.child import Stages
from opera.workers.failure import cut, describe, text_of, type_name
from opera.workers.protocol import Message

REFERENCE = "reference"
EXPORT = "export"
REVIEW = "review"
_MESSAGE = 2000
"""Characters of a message that are worth sending where thousands of calls are made."""


class _Unwritable(Exception):
    """The cache takes no file."""


class Materialiser:
    """Handles `{"instance", "key", "seed", "kind", "form", "reference"}`: makes the artefact, and the bundle where it is asked for.

    Answers `{"status": "ready", "bundle", "artefact", "undefined"}` with names in the cache, `{"status": "invalid", "reason", "stage",
    "failure"}` where the library rejects the instance, `{"status": "export-failed", "exporter", "failure"}`, or `{"status": "unwritable",
    "failure"}` where the cache takes no file, which says nothing of the instance.

    Handles `{"review": bundle of the compiler's outputs or null, "instance", "key", "seed", "kind", "bundle", "artefact", "computes_as"}`:
    answers `{"status": "reviewed", "reason", "why", "culprit"}`, the first two null where nothing excuses the failure, the last where
    neither the library's own capture nor an exporter is at fault.

    Handles `{"calls": [{"document", "key"}, ...], "seed"}` as well, *document* being JSON text: builds and runs each instance once, each in
    a stage named by its place in the list. Answers `{"status": "called", "answers"}`: null for a call that returned, else `{"reason",
    "type", "message"}`.
    """

    def __init__(self, options: Message) -> None:
        module, _, attribute = str(options["template"]).partition(":")
        self._factory = module, attribute
        self._cache = Path(options["cache"])

    def ready(self) -> Message:
        module, attribute = self._factory
        self._template: Template = getattr(importlib.import_module(module), attribute)()
        template = f"{self._template.library}/{self._template.revision}"
        versions = dict(self._template.versions())
        return {"versions": versions, "template": template, "forkable": self._template.forkable, "python": sys.version.split()[0]}

    def handle(self, task: Message, stages: Stages) -> Message:
        if "review" in task:
            return self._review(task, stages)
        if "calls" in task:
            return {"status": "called", "answers": self._call_all(task["calls"], task["seed"], stages)}
        stages.enter(REFERENCE)
        answer: Message = {"status": "ready"}
        try:
            instance = decode_instance(task["instance"], self._blob)
            model = self._template.build(instance, task["key"], task["seed"])
            if task.get("source"):
                source = model.source(task["form"])
                return {"status": "source", "imports": list(source.imports), "text": source.text, "expected": source.expected}
            if task["reference"]:
                answer.update(self._bundle(model))
            if task["kind"] is not None:
                stages.enter(EXPORT)
                artefact = model.artefact(task["kind"], task["form"])
                answer["artefact"] = self._store(artefact.data)
                answer["suspect"] = artefact.suspect
        except _Unwritable as error:
            return {"status": "unwritable", "failure": describe(error.__cause__ or error)}
        except Invalid as error:
            failure = describe(error.__cause__ or error)
            return {**answer, "status": "invalid", "reason": str(error), "stage": stages.current, "failure": failure}
        except ExportFailed as error:
            answer["status"] = "export-failed"
            answer["exporter"] = error.exporter
            answer["failure"] = describe(error.__cause__ or error)
        return answer

    def _review(self, task: Message, stages: Stages) -> Message:
        """A second look at a failing test: what excuses it, and whether the artefact is at fault."""
        stages.enter(REVIEW)
        instance = decode_instance(task["instance"], self._blob)
        model = self._template.build(instance, task["key"], task["seed"])
        tree = bundle.parse(bundle.fetch_made(self._cache, task["bundle"]))
        actual = None if task["review"] is None else bundle.parse(bundle.fetch_made(self._cache, task["review"]))
        expected: list[Any] = tree["outputs"]
        answer: Message = {"status": "reviewed", "reason": None, "why": None, "culprit": None}
        if task["artefact"] is not None:
            found = model.captured(task["kind"], bundle.fetch_made(self._cache, task["artefact"]))
            policy = Policy(task["computes_as"])
            if found is not None and blames(found[1], expected, tree["precise"], actual, policy, exported=is_exporter(found[0])):
                answer["culprit"] = found[0]

        def shapes_rounded() -> list[tuple[int, ...]] | None:
            try:
                outputs = self._template.build(with_single_parameters(instance), task["key"], task["seed"]).nearby(0.0, 0)
            except Invalid:
                return None
            return None if outputs is None or not all(map(is_array, outputs)) else [as_array(each).shape for each in outputs]

        case = Case(
            instance, list(tree["inputs"].values()), expected, actual, model.nearby, model.exact, model.shapes_elsewhere, shapes_rounded,
            task["computes_as"],
        )  # fmt: skip
        excuse = review(case)
        if excuse is not None:
            answer.update(reason=excuse.reason, why=excuse.why)
        return answer

    def _call_all(self, calls: list[Message], seed: int, stages: Stages) -> list[Message | None]:
        answers: list[Message | None] = []
        for place, call in enumerate(calls):
            stages.enter(str(place))
            answers.append(self._call(call["document"], call["key"], seed))
        return answers

    def _call(self, document: str, key: str, seed: int) -> Message | None:
        try:
            self._template.build(decode_instance(json.loads(document), self._blob), key, seed).run_once()
        except Invalid as error:
            cause = error.__cause__ or error
            return {"reason": str(error), "type": type_name(type(cause)), "message": cut(text_of(cause), _MESSAGE)}
        except Exception as error:
            return {"reason": "not-rebuilt", "type": type_name(type(error)), "message": cut(text_of(error), _MESSAGE)}
        return None

    def _store(self, data: bytes) -> str:
        try:
            return bundle.store(self._cache, data)
        except OSError as error:
            raise _Unwritable from error

    def _blob(self, name: str) -> bytes:
        return bundle.fetch(self._cache.parent / "blobs", name)

    def _bundle(self, model: Model) -> dict[str, Any]:
        reference = model.reference()
        tree = {
            "inputs": dict(model.inputs),
            "outputs": list(reference.outputs),
            "precise": None if reference.precise is None else list(reference.precise),
        }
        name = self._store(bundle.dump(tree))
        return {"bundle": name, "undefined": reference.undefined, "origin": reference.origin, "structure": reference.structure}
