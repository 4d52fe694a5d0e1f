"""The fake library: it doubles its input."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opera.instance import Instance
from opera.models.sampling import sample
from opera.models.template import LIBRARY_RAISED, Artefact, ExportFailed, Invalid, Reference
from opera_fake.behaviour import act, first_time, note

TORCH = "OPERA_FAKE_TORCH"
"""The variable that has the library stand on a torch of that version, in which nothing is where it was."""
_IN_EXPORT = ("capture-fails", "export-fails", "export-aborts", "export-flaky", "export-big")


class FakeTemplate:
    """Behaves as the instance says."""

    library = "fake"
    revision = 1
    forkable = True

    def versions(self) -> Mapping[str, str]:
        if TORCH in os.environ:
            torch = types.ModuleType("torch")
            sys.modules["torch"] = torch
            vars(torch).update(__version__=os.environ[TORCH], __file__="torch/__init__.py")
        return {"fake": "1.0"}

    def build(self, instance: Instance, key: str, seed: int) -> FakeModel:
        return FakeModel(instance, key, seed)


class SecondTemplate(FakeTemplate):
    """Another library, which does the same."""

    library = "fake-second"


class FakeModel:
    """One instance as a document that says how to behave."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        self.api = instance.api
        self.settings = {argument.name: argument.value for argument in instance.init}
        self._values = [sample(argument.value, f"{key}:{index}", seed) for index, argument in enumerate(instance.call)]

    @property
    def inputs(self) -> Sequence[tuple[str, Any]]:
        return [("input", value) for value in self._values]

    def run_once(self) -> None:
        note(f"call {self.api}")
        library = self.settings["library"]
        if library == "rejects":
            raise Invalid(LIBRARY_RAISED) from ValueError("the library says no")
        act(library)

    def reference(self) -> Reference:
        note(f"reference {self.api} begin")
        library = self.settings["library"]
        if library == "rejects":
            raise Invalid("eager") from ValueError("the library says no")
        if library not in ("undefined", "imprecise", "on-the-edge", "captured-wrong", *_IN_EXPORT):
            act(library)
        output = self._values[0] * 2
        note(f"reference {self.api} end")
        return Reference(
            [output], [output.astype(np.float64) + (1.0 if library == "imprecise" else 0.0)],
            undefined="nondeterministic" if library == "undefined" else None,
        )  # fmt: skip

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Any]:
        edge = self.settings["library"] == "on-the-edge" and int(os.environ.get("OPERA_FAKE_REVIEW", "1")) % 2
        step = float(np.sign(scale) * (-1 if draw % 2 else 1)) if edge and scale > 1e-12 else 0.0
        return [self._values[0].astype(np.float64) * 2 + 100 * step]

    def exact(self) -> list[Any]:
        return [self._values[0] * 2]

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> tuple[str, list[Any]] | None:
        return ("fake.capture", [self._values[0] * 2 + 100]) if self.settings["library"] == "captured-wrong" else None

    def artefact(self, kind: str, form: str) -> Artefact:
        library = self.settings["library"]
        if library == "capture-fails":
            raise Invalid("capture-failed") from ValueError("cannot be traced")
        if library == "export-fails" or (library == "export-flaky" and first_time("export")):
            raise ExportFailed("fake.exporter") from TypeError(f"cannot export {hex(id(self))}")
        if library == "export-aborts":
            act("abort")
        note(f"artefact {self.api} end")
        return Artefact(json.dumps({"api": self.api, **self.settings}).encode())
