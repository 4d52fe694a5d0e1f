"""StableHLO instances as models: a module with a function `main`, whose constants are arguments or stay constants."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import Array, Outputs, as_array, dtype_name
from opera.extensions.stablehlo import interpreter
from opera.extensions.stablehlo.kind import FORMAT
from opera.extensions.stablehlo.literals import Constant
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.templates import graph as stablehlo_graph
from opera.extensions.stablehlo.templates.fold import fold
from opera.extensions.stablehlo.templates.inputs import constant
from opera.extensions.stablehlo.templates.module import Rejected, functions_of, ir, new_context, parse, stablehlo
from opera.extensions.stablehlo.templates.plan import MAIN, InterpreterFailed, NotInterpreted
from opera.extensions.stablehlo.templates.probes import NoProbe
from opera.extensions.stablehlo.templates.program import plain_program
from opera.extensions.stablehlo.types import TensorType, Value, of_dtype
from opera.extensions.stablehlo.widening import AS_FLOAT64, AS_INT64, IN_DOUBLE, widened, widened_value
from opera.instance import Graph, Instance, Tensor
from opera.models.forms import InputForm, is_drawn
from opera.models.sampling import is_inexact, nudged, sample
from opera.models.template import LIBRARY_RAISED, Artefact, Invalid, Model, PythonSource, Reference
from opera.templates.python_text import array_text, imports_of

KIND = "stablehlo"
"""The only kind of artefact: MLIR text."""


class StableHloTemplate:
    """Makes a verified module of each instance."""

    library = "stablehlo"
    forkable = True
    revision = 3

    def __init__(self) -> None:
        stablehlo.register_stablehlo_passes()

    def versions(self) -> Mapping[str, str]:
        version: Any = importlib.import_module("jaxlib.version")
        return {"jaxlib": str(version.__version__), "stablehlo": str(stablehlo.get_current_version())}

    def build(self, instance: Instance, key: str, seed: int) -> Model:
        own: Model | None = instance.kind.behaviour.model(self.library, instance, key, seed)
        if own is not None:
            return own
        graph = instance.context_value("graph")
        if not isinstance(graph, Graph) or graph.format != FORMAT:
            raise Invalid("not-a-stablehlo-instance")
        return StableHloModel(instance, graph.data, key, seed)


class StableHloModel:
    """One instance as the text of a module, with its inputs."""

    def __init__(self, instance: Instance, text: bytes, key: str, seed: int) -> None:
        self._instance = instance
        self._values = [_value(argument.value, f"{key}:{index}", seed) for index, argument in enumerate(instance.call)]
        self._text = self._checked(text)

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(f"arg{index}", value) for index, value in enumerate(self._values)]

    def run_once(self) -> list[Array]:
        """The results on the reference interpreter."""
        return self._evaluate(self._values)

    def reference(self) -> Reference:
        """The outputs that the program declares; without any, or with drawn inputs, those of the interpreter."""
        expected = self._instance.expected
        if expected is not None and not is_drawn(self._instance):
            return Reference([_value(value, "", 0) for value in expected], origin="declared")
        return Reference(self._evaluate(self._values))

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        feeds = [self._nudged(value, scale, draw, index, computes_as) for index, value in enumerate(self._values)]
        wide = self._evaluate_wide(feeds, IN_DOUBLE)
        if wide is not None:
            return wide
        try:
            return self._evaluate([each.astype(own.dtype) for each, own in zip(feeds, self._values, strict=True)])
        except Invalid:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        return self._evaluate_wide(self._values, AS_INT64 if dtype == "int64" else AS_FLOAT64)

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> None:
        """None: the text is the program, and the interpreter is no library to trust, but a suspect as well."""
        return

    def artefact(self, kind: str, form: str) -> Artefact:
        if kind != KIND:
            raise ValueError(f"StableHLO programs have no artefact of kind {kind!r}")
        try:
            with new_context(), ir.Location.unknown():
                text = self._text if form == InputForm.RUNTIME.value else stablehlo_graph.baked(self._text, self._constants(self._values))
                module = parse(text)
                if form == InputForm.FOLDED.value:
                    fold(module)
                return Artefact(module.operation.get_asm(large_elements_limit=None).encode())
        except (Rejected, ir.MLIRError) as error:
            raise Invalid("capture-failed:stablehlo") from error

    def source(self, form: str) -> PythonSource:
        text = self.artefact(KIND, form).data.decode()
        return program_source(text, self._values if form == InputForm.RUNTIME.value else [], self.reference().outputs)

    def _checked(self, data: bytes) -> str:
        """The text of the module; raises Invalid where `main` does not take these inputs."""
        try:
            text = data.decode()
            with new_context(), ir.Location.unknown():
                main = next((each for each in functions_of(parse(text)) if each.name == MAIN), None)
                types = None if main is None else [str(each) for each in main.inputs]
        except (UnicodeDecodeError, Rejected) as error:
            raise Invalid("parser") from error
        if types != [str(_type_of(value)) for value in self._values]:
            raise Invalid("inputs-do-not-fit")
        return text

    def _constants(self, values: Sequence[Array]) -> list[Constant]:
        return [constant(_type_of(value), value.tobytes()) for value in values]

    def _nudged(self, value: Array, scale: float, draw: int, place: int, computes_as: Mapping[str, str] | None) -> Array:
        if not is_inexact(dtype_name(value.dtype)) or value.dtype.kind == "c":
            return value
        with np.errstate(all="ignore"):
            return nudged(value.astype("float64"), scale, draw, place, computes_as)

    def _evaluate_wide(self, values: Sequence[Array], types: Mapping[str, str]) -> list[Array] | None:
        """The outputs of the readable interpreter with wider types; None where it has none, or the program means its types."""
        return interpreted(self._text, values, types)

    def _evaluate(self, values: Sequence[Array]) -> list[Array]:
        """The interpreter's outputs; raises Invalid where it has none."""
        try:
            with new_context(), ir.Location.unknown():
                return [each.array for each in stablehlo_graph.values_of(self._text, self._constants(values))]
        except (InterpreterFailed, NotInterpreted, ChildProcessError, NoProbe, Rejected, ir.MLIRError, ValueError) as error:
            raise Invalid(LIBRARY_RAISED) from error


def _value(value: Any, key: str, seed: int) -> Array:
    if not isinstance(value, Tensor):
        raise Invalid("input-is-no-tensor")
    return as_array(sample(value, key, seed))


def _type_of(value: Array) -> TensorType:
    try:
        return TensorType(value.shape, of_dtype(dtype_name(value.dtype)))
    except ValueError as error:
        raise Invalid("dtype") from error


def interpreted(text: str, values: Sequence[Array], types: Mapping[str, str]) -> list[Array] | None:
    """The outputs of `main` on the readable interpreter with wider *types*; None where it has none, or the program means its types."""
    try:
        with new_context(), ir.Location.unknown():
            program = widened(plain_program(parse(text)).program, types)
        if program is None:
            return None
        given = [Value(_type_of(each), each) for each in values]
        results = interpreter.evaluate(program, MAIN, [interpreter.Tensor(widened_value(each, types)) for each in given])
    except (*interpreter.FAILURES, Rejected, Invalid, TextError, ir.MLIRError):
        return None
    return [each.value.array for each in results if isinstance(each, interpreter.Tensor)]


def program_source(text: str, inputs: Sequence[Array], outputs: Outputs) -> PythonSource:
    """The *text* of a module with its inputs, and the outputs to expect of it."""
    given = ", ".join(map(array_text, inputs))
    expected = f"expected = [{', '.join(array_text(as_array(value)) for value in outputs)}]"
    body = f"model = {_quoted(text.strip())}\ninputs = [{given}]"
    return PythonSource(tuple(imports_of(body + expected)), body, expected)


def _quoted(text: str) -> str:
    """A literal of Python over several lines."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\\\n{escaped}\n"""'
