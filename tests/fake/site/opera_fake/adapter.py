"""Compilers that behave as the model says."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule
from opera.oracles import revisions

REVIEW = "OPERA_FAKE_REVIEW"
"""The variable that sets the revision of the review: with an even one the library has no result on the edge."""
revisions.REVIEW = int(os.environ.get(REVIEW, revisions.REVIEW))

_LIES: dict[str, Callable[[Any], Sequence[Any]]] = {
    "lie-value": lambda right: [right + 100],
    "lie-shape": lambda right: [right.reshape(-1)],
    "lie-dtype": lambda right: [right.astype("int64")],
    "lie-odd-dtype": lambda right: [right.astype("longdouble")],
    "lie-nan": lambda right: [right * float("nan")],
    "lie-count": lambda right: [right, right],
    "lie-structure": lambda right: [[right]],
    "lie-nothing": lambda right: [None],
    "lie-float32": lambda right: [(right + 1e-6).astype("float32")],
}


def _act(model: Mapping[str, Any], stage: str) -> None:
    from opera_fake.behaviour import act

    if model["stage"] == stage and model["compiler"] not in (*_LIES, "lie-optimised", "lie-otherwise"):
        act(model["compiler"])


class _Compiled(dict[str, Any]):
    """Behaves once more when it is given up."""

    def __del__(self) -> None:
        _act(self, "release")


class FakeAdapter(Adapter):
    """Forks when it is warm."""

    name = "fake"
    routes = (Route("fake", "text", "text"), Route("fake", "live", None))
    packages = ("opera-fake",)
    unsupported = (UnsupportedRule(("opera_fake.behaviour.Declined",), "no-converter"),)
    computes_as: ClassVar[Mapping[str, str]] = {"float64": "float32"}

    def start(self) -> Mapping[str, str]:
        return {"fake": "1.0", "level": str(self.options.get("level", "default"))}

    def load(self, subject: Subject, stage: Stage) -> Any:
        model = json.loads(subject.data) if subject.route.artefact else {"api": subject.module.api, **subject.module.settings}
        self._note(f"compile {model['api']} begin")
        if model["compiler"] == "no-array":
            raise CannotFeed("no such array")
        _act(model, "load")
        return model

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        for name in ("optimize", "codegen"):
            stage(name)
            _act(loaded, name)
        return _Compiled(loaded)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        _act(compiled, "run")
        from opera_fake.behaviour import first_time

        right = subject.inputs["input"] * 2
        self._note(f"compile {compiled['api']} end")
        kind = compiled["compiler"]
        if kind == "lie-otherwise":
            kind = "lie-nan" if first_time("lie-otherwise") else "lie-value"
        if kind == "lie-optimised":
            kind = "lie-value" if self.options.get("level", "default") == "default" else "pass"
        return _LIES.get(kind, lambda value: [value])(right)

    def is_spent(self) -> bool:
        from opera_fake.behaviour import is_spent

        return is_spent()

    def _note(self, event: str) -> None:
        from opera_fake.behaviour import note

        note(event)


class LevelledAdapter(FakeAdapter):
    """Has an optimiser that can be switched off."""

    name = "fake-levelled"
    levels = ("default", "plain")


class StartedAdapter(FakeAdapter):
    """Forks before it has compiled anything."""

    name = "fake-started"
    fork = Fork.STARTED


class UnforkableAdapter(FakeAdapter):
    """Never forks."""

    name = "fake-unforkable"
    fork = Fork.NEVER


class AbsentAdapter(FakeAdapter):
    """Its compiler is not installed."""

    name = "fake-absent"

    def start(self) -> Mapping[str, str]:
        import no_such_compiler

        return {"fake": str(no_such_compiler)}


class DeadAdapter(FakeAdapter):
    """Its compiler kills the process when it is imported."""

    name = "fake-dead"

    def start(self) -> Mapping[str, str]:
        from opera_fake import behaviour

        behaviour.abort()
        return {}


class WrongAdapter(FakeAdapter):
    """Gets the canary wrong."""

    name = "fake-wrong"

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        return [subject.inputs["input"]]


class ColdAdapter(FakeAdapter):
    """Takes too long over the first model of all."""

    name = "fake-cold"

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        from opera_fake.behaviour import first_time

        if first_time("cold"):
            time.sleep(60)
        return super().run(compiled, subject, stage)


class SlowAdapter(FakeAdapter):
    """Takes its time to start."""

    name = "fake-slow"

    def start(self) -> Mapping[str, str]:
        self._note("start slow")
        time.sleep(60)
        self._note("started slow")
        return {}
