"""The materialiser: a worker that turns instances into inputs, reference outputs and artefacts, beside their library."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from opera.instance import decode_instance
from opera.models import bundle
from opera.models.template import ExportFailed, Invalid, Model, Template
from opera.worker.child import Stages
from opera.worker.failure import describe
from opera.worker.protocol import Message

REFERENCE = "reference"
EXPORT = "export"


class Materialiser:
    """Handles `{"instance", "key", "seed", "kind", "form", "reference"}`: makes the artefact, and the bundle where it is asked for.

    Answers `{"status": "ready", "bundle", "artefact", "undefined"}` with names in the cache, `{"status": "invalid", "reason",
    "failure"}` where the library rejects the instance, or `{"status": "export-failed", "exporter", "failure"}`.
    """

    def __init__(self, options: Message) -> None:
        module, _, attribute = str(options["template"]).partition(":")
        self._factory = module, attribute
        self._cache = Path(options["cache"])

    def ready(self) -> Message:
        module, attribute = self._factory
        self._template: Template = getattr(importlib.import_module(module), attribute)()
        template = f"{self._template.library}/{self._template.revision}"
        return {"versions": dict(self._template.versions()), "template": template, "python": sys.version.split()[0]}

    def handle(self, task: Message, stages: Stages) -> Message:
        stages.enter(REFERENCE)
        answer: Message = {"status": "ready"}
        try:
            instance = decode_instance(task["instance"], self._blob)
            model = self._template.build(instance, task["key"], task["seed"])
            if task["reference"]:
                answer.update(self._bundle(model))
            if task["kind"] is not None:
                stages.enter(EXPORT)
                answer["artefact"] = bundle.store(self._cache, model.artefact(task["kind"], task["form"]))
        except Invalid as error:
            return {"status": "invalid", "reason": str(error), "failure": describe(error.__cause__ or error)}
        except ExportFailed as error:
            answer["status"] = "export-failed"
            answer["exporter"] = error.exporter
            answer["failure"] = describe(error.__cause__ or error)
        return answer

    def _blob(self, name: str) -> bytes:
        return bundle.fetch(self._cache.parent / "blobs", name)

    def _bundle(self, model: Model) -> dict[str, Any]:
        reference = model.reference()
        tree = {
            "inputs": dict(model.inputs),
            "outputs": list(reference.outputs),
            "precise": None if reference.precise is None else list(reference.precise),
        }
        name = bundle.store(self._cache, bundle.dump(tree))
        return {"bundle": name, "undefined": reference.undefined, "origin": reference.origin, "structure": reference.structure}
