"""Programs of many operators as ONNX models."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

from opera.arrays import Array, as_array, is_array
from opera.extensions.programs.faults import faulty_call
from opera.extensions.programs.templates.model import ILL_TYPED_KIND, ProgramModel
from opera.extensions.programs.templates.onnx import model_of
from opera.instance import Instance
from opera.models.forms import ModelForm
from opera.models.template import Artefact, Invalid, PythonSource
from opera.templates.onnx.opset import restated
from opera.templates.onnx.source import python_source

onnx: Any = importlib.import_module("onnx")
KIND = "onnx"


class OnnxProgramModel(ProgramModel):
    """A program as a ModelProto that the checker and strict inference accept."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        super().__init__(instance, key, seed)
        try:
            self.proto = model_of(self.program)
            if self.ill_typed:
                self._prove()
                return
            onnx.checker.check_model(self.proto)
            onnx.shape_inference.infer_shapes(self.proto, check_type=True, strict_mode=True, data_prop=True)
        except Invalid:
            raise
        except Exception as error:  # an operator that ONNX lacks, a tuple as an entry, or what the checker refuses
            raise Invalid("checker") from error

    def _prove(self) -> None:
        """Raises `Invalid` where ONNX' own inference takes the call that OPERA's types refuse."""
        call = model_of(faulty_call(self.program))
        for output in call.graph.output:
            output.ClearField("type")
        try:
            onnx.shape_inference.infer_shapes(call, check_type=True, strict_mode=True, data_prop=True)
        except onnx.shape_inference.InferenceError:
            return
        raise Invalid("well-typed-program")

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Array]] | None:
        """The word of ONNX' own evaluator."""
        if kind != KIND:
            return None
        reference: Any = importlib.import_module("onnx.reference")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = reference.ReferenceEvaluator(self.proto).run(None, dict(self.inputs))
        except Exception:  # the evaluator does not implement every operator for every dtype
            return None
        return (KIND, [as_array(each) for each in found]) if all(map(is_array, found)) else None

    def artefact(self, kind: str, form: str) -> Artefact:
        made = super().artefact(kind, form)
        opset = ModelForm.parse(form).opset
        return made if opset is None else Artefact(self._at(opset).SerializeToString(deterministic=True))

    def _at(self, opset: int | None) -> Any:
        """The model at *opset*, which has to have the same schemas."""
        return self.proto if opset is None else restated(self.proto, opset, lambda _: False)

    def printed(self, kind: str) -> Artefact:
        if kind not in (KIND, ILL_TYPED_KIND):
            raise ValueError(f"ONNX programs have no artefact of kind {kind!r}")
        return Artefact(self.proto.SerializeToString(deterministic=True))

    def source(self, form: str) -> PythonSource:
        return python_source(self._at(ModelForm.parse(form).opset), dict(self.inputs), self.reference().outputs)
