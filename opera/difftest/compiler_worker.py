"""The compiler's worker: loads an artefact, compiles, runs, compares. It never makes a reference and never sees the store."""

from __future__ import annotations

import importlib
import json
import operator
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from opera import bundle
from opera.arrays import Outputs, Signature
from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotCapture, CannotFeed, Subject, UnsupportedRule, declined
from opera.difftest.messages import (
    BUILDS_ONLY,
    NOTHING_COMPARED,
    REJECTED,
    SAME_SIGNATURE,
    BlamePass,
    Compared,
    Compile,
    CompilerRaised,
    Damaged,
    FirstPass,
    NotCaptured,
    TimeCompiled,
    Timed,
    from_json,
    to_json,
)
from opera.difftest.timing import timed
from opera.instance import Instance, decode_instance
from opera.models import torch_tables
from opera.models.forms import BESIDE, OUTCOME, InputForm
from opera.oracles.compare import Difference, Policy, as_stated, compare
from opera.oracles.filters import order_is_specified
from opera.oracles.fingerprint import NEWER_OPSET
from opera.oracles.verdict import ACCEPTED, DifferenceFacts, Failure, Stage
from opera.trust import Trust, grant
from opera.workers.child import Stages
from opera.workers.failure import describe, raised_by
from opera.workers.protocol import Message

_NO_ACCESS = UnsupportedRule((f"{CannotFeed.__module__}.CannotFeed",), "no-array-interface", stages=tuple(stage.value for stage in Stage))


Answer = Compared | Timed | FirstPass | CompilerRaised | NotCaptured | Damaged


class CompilerWorker:
    """Answers `Compile`, `TimeCompiled` and `BlamePass` of `opera.difftest.messages`."""

    spent = False

    def __init__(self, options: Message) -> None:
        self._options = options
        self._cache = Path(options["cache"])
        grant(Trust.of(options.get("trust")))
        self._built: dict[str, Any] = {}
        self._adapters: dict[str | None, Adapter] = {}

    def ready(self) -> Message:
        module, _, attribute = str(self._options["adapter"]).partition(":")
        self._factory: type[Adapter] = getattr(importlib.import_module(module), attribute)
        with _without(() if self._options["decomposes"] or self._options["builds"] else self._factory.optional):
            versions = self._at_level(None)
        chebyshev = self._options.get("chebyshev")
        self._policy = Policy(dict(self._factory.computes_as), chebyshev)
        remarks = torch_tables.keep() if self._options["decomposes"] else []
        remarks += [f"builds only, runs nothing: {self._adapter.builds_only}"] if self._adapter.builds_only else []
        self._import_library()
        return {"versions": versions, "python": sys.version.split()[0], "remarks": remarks, "imported": _imported(versions)}

    def _at_level(self, level: str | None) -> dict[str, str]:
        """Has the adapter work at an optimisation level, None being the campaign's; returns versions and settings."""
        settings = self._options.get("settings", {})
        adapter = self._adapters.get(level) or self._factory(settings if level is None else {**settings, "level": level})
        self._adapters[level] = self._adapter = adapter
        versions = dict(adapter.start())
        return {**versions, **BUILDS_ONLY} if adapter.builds_only else versions

    def handle(self, task: Message, stages: Stages) -> Message:
        return to_json(self._answer(from_json(task), stages))

    def _answer(self, what: Compile | TimeCompiled | BlamePass, stages: Stages) -> Answer:
        request = what if isinstance(what, Compile) else what.model
        stages.enter("read")
        if self._adapters.get(request.level) is not self._adapter:
            self._at_level(request.level)
        try:
            tree = bundle.parse(bundle.fetch_made(self._cache, request.bundle))
            data = bundle.fetch_made(self._cache, request.model) if request.model is not None else b""
        except bundle.DamagedArtefact as error:
            return Damaged(str(error))
        route = next(route for route in self._adapter.routes if [route.frontend, route.name] == list(request.route))
        subject = Subject(route, data, tree["inputs"], len(tree["outputs"]), lambda: self._instance(request))
        if route.artefact is None:
            subject = replace(subject, module=self._module(subject.instance, request))
        if isinstance(what, BlamePass):
            return FirstPass(self._first_pass(subject, tree, stages))
        try:
            stages.enter("load")
            loaded = self._adapter.load(subject, stages.enter)
            compiled = self._adapter.compile(loaded, subject, stages.enter)
            stated = None if route.rejects or isinstance(what, TimeCompiled) else self._adapter.signature(compiled, subject)
            if not route.compares or self._adapter.builds_only:
                return self._misstated(stated, tree, subject) or Compared(None, how=NOTHING_COMPARED if stated is None else SAME_SIGNATURE)
            stages.enter("run")
            if isinstance(what, TimeCompiled):
                return self._timed(compiled, subject, what.repeats, stages)
            outputs = self._adapter.run(compiled, subject, stages.enter)
            if route.rejects:
                return self._accepted(subject)
        except CannotCapture as error:
            return NotCaptured(f"capture-failed:{error}", describe(error.__cause__ or error))
        except BaseException as error:  # a panic of a compiler in Rust, and sys.exit(), are no Exception
            stages.leave()
            self.spent = self._adapter.is_spent()
            return self._failed(error, stages.current, subject)
        stages.enter("compare")
        inputs = list(tree["inputs"].values())
        difference = self._difference(tree["outputs"], tree["precise"], outputs, subject, inputs)
        if difference is None and BESIDE in request.instance and subject.instance.context_value(BESIDE) is not None:
            half = len(outputs) // 2
            difference = self._difference(outputs[:half], None, outputs[half:], subject, inputs)
        answer = self._compared(difference, outputs, subject) or self._misstated(stated, tree, subject) or Compared(None)
        if request.keep:
            answer = replace(answer, kept={"outputs": self._kept(outputs), "reference": request.bundle})
        stages.enter("release")
        del outputs, compiled, loaded, subject
        return answer

    def _misstated(self, stated: Signature | None, tree: Mapping[str, Any], subject: Subject) -> Compared | None:
        """What differs between the library's outputs and the signature of the compiled model; None where nothing does."""
        outputs = tree["outputs"] if stated is None else as_stated(tree["outputs"], stated)
        if len(outputs) == len(tree["outputs"]) and all(map(operator.is_, outputs, tree["outputs"])):
            return None
        found = compare(tree["outputs"], None, outputs, self._policy)
        is_stated = found is not None and found.explained is None and found.kind in ("count", "shape", "dtype")
        return self._compared(replace(found, stated=True), outputs, subject) if found is not None and is_stated else None

    def _compared(self, difference: Difference | None, outputs: Outputs, subject: Subject) -> Compared | None:
        if difference is None:
            return None
        kept = self._kept(outputs) if difference.explained is None else None
        converter = NEWER_OPSET if self._is_newer(subject) else self._converter(subject, None)
        return Compared(cast(DifferenceFacts, difference.document()), converter, kept)

    def _first_pass(self, subject: Subject, tree: Mapping[str, Any], stages: Stages) -> str | None:
        """The first pass that changes the model, and without which it does not fail, or is declined; None if it fails without each."""

        def fails() -> bool:
            try:
                stages.enter("load")
                compiled = self._adapter.compile(self._adapter.load(subject, stages.enter), subject, stages.enter)
                stages.enter("run")
                outputs = self._adapter.run(compiled, subject, stages.enter)
            except Exception as error:
                return declined(self._adapter.unsupported, describe(error), stages.current) is None
            stages.enter("compare")
            return compare(tree["outputs"], tree["precise"], outputs, self._policy, list(tree["inputs"].values())) is not None

        with tempfile.TemporaryDirectory(prefix="opera-") as scratch, self._adapter.watched(Path(scratch)) as passes:
            fails()
        for name in passes:
            with self._adapter.without(name):
                if not fails():
                    return name
        return None

    def _difference(
        self, expected: Outputs, precise: Outputs | None, actual: Outputs, subject: Subject, inputs: Outputs
    ) -> Difference | None:
        found = compare(expected, precise, actual, self._policy, inputs)
        if found is not None and subject.instance.context_value(OUTCOME) == InputForm.REFUSED.value:
            return Difference(ACCEPTED, found.output, f"an error ({subject.module.refusal})", "a result")
        if found is not None and order_is_specified(subject.instance):
            return compare(expected, precise, actual, self._policy, inputs, ordered=True)
        return found

    def _timed(self, compiled: Any, subject: Subject, repeats: int, stages: Stages) -> Timed:
        """Times warm calls; inputs are converted once before, where the adapter can."""
        prepared = self._adapter.prepared(compiled, subject)
        call = prepared or (lambda: self._adapter.run(compiled, subject, stages.enter))
        return Timed(timed(call, repeats), with_feeding=prepared is None)

    def _accepted(self, subject: Subject) -> Compared:
        """What the compiler should have rejected."""
        kind = subject.instance.kind.behaviour
        difference: DifferenceFacts = kind.accepted(subject.instance, self._factory.name, subject.route.frontend)
        return Compared(difference, kind.rejection(subject.instance))

    def _failed(self, error: BaseException, stage: str, subject: Subject) -> CompilerRaised | Compared:
        failure = describe(error)
        rule = declined((*self._adapter.unsupported, _NO_ACCESS), failure, stage)
        if subject.route.rejects:
            if rule is not None or declined(self._adapter.rejections, failure, stage) is not None:
                return Compared(None, how=REJECTED)
            return CompilerRaised(cast(Any, stage), failure, None, subject.instance.kind.behaviour.rejection(subject.instance))
        unsupported = rule.reason if rule is not None else NEWER_OPSET if self._is_newer(subject) else None
        converter = self._converter(subject, failure)
        return CompilerRaised(cast(Any, stage), failure, unsupported, converter, raised_by(error, self._factory.__module__))

    def _is_newer(self, subject: Subject) -> bool:
        """Whether the model needs a newer opset than the compiler says to load."""
        return subject.route.artefact == "onnx" and onnx_format.opset_of(subject.data) > self._adapter.newest_opset

    def _converter(self, subject: Subject, failure: Failure | None) -> str:
        try:
            return self._adapter.converter(subject, failure)
        except Exception:
            return subject.instance.operator

    def _kept(self, outputs: Outputs) -> str | None:
        """The name in the cache of the compiler's outputs, for a review in the library's worker; None if a bundle cannot hold them."""
        try:
            return bundle.store(self._cache, bundle.dump(list(outputs)))
        except Exception:
            return None

    def _blob(self, name: str) -> bytes:
        return bundle.fetch(self._cache.parent / "blobs", name)

    def _instance(self, request: Compile) -> Instance:
        return decode_instance(json.loads(request.instance), self._blob)

    def _import_library(self) -> None:
        """Has what loads and builds models imported before this process is copied. Where this fails, the first test says why."""
        with suppress(Exception):
            if self._options["decomposes"]:
                torch_tables.fill()
            for library in self._options["builds"]:
                self._template(library)

    def _template(self, library: str) -> Any:
        module, _, attribute = str(self._options["templates"][library]).partition(":")
        template = self._built.get(module) or getattr(importlib.import_module(module), attribute)()
        self._built[module] = template
        return template

    def _module(self, instance: Instance, request: Compile) -> Any:
        """The live module, rebuilt from the template in this process."""
        return self._template(instance.library).build(instance, request.key, request.seed)


@contextmanager
def _without(libraries: Iterable[str]) -> Generator[None]:
    """Lets none of *libraries* be imported for the first time."""
    absent = [each for each in libraries if each not in sys.modules]
    cast("dict[str, Any]", sys.modules).update(dict.fromkeys(absent))
    try:
        yield
    finally:
        for each in absent:
            del sys.modules[each]


def _imported(versions: Mapping[str, str]) -> str:
    """The file or folder of the compiler's module, by which an own build is told from an installed one; empty if it has another name."""
    module = sys.modules.get(next(iter(versions), ""))
    return str(getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), ""))
