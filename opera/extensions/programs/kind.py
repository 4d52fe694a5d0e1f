"""Programs of many operators as a kind of instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar

from opera.console import one_line
from opera.extensions.programs.instances import API, ILL_TYPED, features_of, operators_in_instance
from opera.instance import Instance
from opera.instance.kinds import InstanceKind, Steps

_SHOWN_LINES = 60
_MODELS = {
    "onnx": ("onnx_model", "OnnxProgramModel"),
    "pytorch": ("torch_model", "TorchProgramModel"),
    "stablehlo": ("stablehlo_model", "StableHloProgramModel"),
}
"""Module and class of a program's model, by the library whose template makes models of other kinds too."""


class ProgramKind(InstanceKind):
    """A generated program: `program/1` in `context`, a value for each parameter of its `main` in `call`."""

    has_one_operator = False
    fixes_inputs = True
    nouns: ClassVar[Mapping[str, str]] = {API: "program", ILL_TYPED: "ill-typed program"}

    def operators(self, instance: Instance) -> tuple[str, ...]:
        return operators_in_instance(instance)

    def lines(self, instance: Instance) -> tuple[str, ...]:
        """The functions of the program."""
        from opera.extensions.programs.document import BadProgram
        from opera.extensions.programs.instances import program_of
        from opera.extensions.programs.text import lines_of

        with suppress(BadProgram):
            lines = [one_line(each, 200) for each in lines_of(program_of(instance))]
            more = len(lines) - _SHOWN_LINES
            return (*lines[:_SHOWN_LINES], *([f"… {more:,} more lines"] if more > 0 else []))
        return ()

    def features(self, instance: Instance) -> tuple[str, ...]:
        return features_of(instance)

    def cost(self, instance: Instance) -> float:
        return float(_reduction().program_cost(instance))

    def steps(self, instance: Instance) -> Steps:
        steps: Steps = _reduction().steps_for(instance)
        return steps

    def with_other_operators(self, instance: Instance) -> Iterator[tuple[str, Instance]]:
        yield from _reduction().with_other_operators(instance)

    def model(self, library: str, instance: Instance, key: str, seed: int) -> Any:
        """The model in a format that programs are printed in, if the template of *library* makes models of other kinds."""
        if library not in _MODELS:
            return None
        module, name = _MODELS[library]
        return getattr(import_module(f"opera.extensions.programs.templates.{module}"), name)(instance, key, seed)

    def artefact(self, data: bytes) -> Any:
        """The module of Relax."""
        from opera.bounded_json import parsed_json
        from opera.extensions.programs.document import decode_program

        return import_module("opera.extensions.programs.templates.relax").module_of(decode_program(parsed_json(data)))

    def rejection(self, instance: Instance) -> str:
        from opera.extensions.programs.rejection import fault_of

        return fault_of(instance).operator

    def accepted(self, instance: Instance, compiler: str, frontend: str) -> Any:
        from opera.extensions.programs.rejection import accepted, fault_of

        return accepted(fault_of(instance), compiler, frontend)


def _reduction() -> Any:
    return import_module("opera.extensions.programs.reduction")
