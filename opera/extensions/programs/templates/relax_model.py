"""Programs of many operators as modules of Relax. The library's worker needs numpy only: TVM's own worker makes the module."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from opera.extensions.programs.document import encode_program
from opera.extensions.programs.instances import PROGRAM
from opera.extensions.programs.languages import fitting
from opera.extensions.programs.templates.model import ILL_TYPED_KIND, ProgramModel
from opera.extensions.programs.templates.relax_source import python_source
from opera.instance import Instance
from opera.models.template import Artefact, Invalid, PythonSource

LANGUAGE = "relax"
KIND = "program"
"""The artefact: a document of schema `program/1`, as UTF-8."""


class RelaxTemplate:
    """Makes a model of each program."""

    library = LANGUAGE
    forkable = True
    revision = 4

    def versions(self) -> Mapping[str, str]:
        return {"numpy": str(np.__version__)}

    def build(self, instance: Instance, key: str, seed: int) -> RelaxProgramModel:
        if instance.kind is not PROGRAM:
            raise Invalid("not-a-program")
        return RelaxProgramModel(instance, key, seed)


class RelaxProgramModel(ProgramModel):
    """A program whose operators Relax has."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        super().__init__(instance, key, seed)
        if fitting(self.program, LANGUAGE) is not None:
            raise Invalid("not-in-the-language")

    def printed(self, kind: str) -> Artefact:
        if kind not in (KIND, ILL_TYPED_KIND):
            raise ValueError(f"programs for Relax have no artefact of kind {kind!r}")
        return Artefact(json.dumps(encode_program(self.program), separators=(",", ":")).encode())

    def source(self, form: str) -> PythonSource:
        return python_source(self.program, dict(self.inputs), self.reference().outputs)
