"""Exporters that stand between a library and a compiler: when their failure means that they decline an operator."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opera.compilers.adapter import GENERAL_FORM, UnsupportedRule, declined
from opera.oracles.verdict import Failure

_ERRORS = ("torch.onnx.OnnxExporterError", "torch.onnx.errors.OnnxExporterError")
_SYMBOLIC = ("torch.onnx.errors.SymbolicValueError", *_ERRORS)
_DECLINES = r"(?i)\bonly [\w ,]+ (is|are) supported\b|\b(is|are) not supported\b|\bnot (yet )?implemented\b"
_OWN_REFUSAL = r"<class 'NotImplementedError'>: .*\n.*\n<class '[\w.]+\.GraphConstructionError'>: Error when calling function "
"""A converter of the exporter raises the exception for what it does not do, in whatever words."""
_FUNCTION = r"TracedOnnxFunction\(<function (\w+)"
_TARGET = r"call_function\[target=torch\.ops\.([\w.]+)\]"
_RULES: Mapping[str, tuple[UnsupportedRule, ...]] = {
    "torch.onnx": (
        UnsupportedRule(_ERRORS, "no-converter", r"No ONNX function found for", stages=("export",)),
        UnsupportedRule(_ERRORS, "declined", f"{_DECLINES}|{_OWN_REFUSAL}", stages=("export",)),
        UnsupportedRule(("torch.onnx.errors.UnsupportedOperatorError",), "no-converter", stages=("export",)),
    ),
    "keras.onnx": (
        UnsupportedRule(("torch.onnx.errors.UnsupportedOperatorError",), "no-converter", stages=("export",)),
        UnsupportedRule(_SYMBOLIC, "no-converter", r"^Unsupported: ONNX export of operator ", stages=("export",)),
        UnsupportedRule(_SYMBOLIC, "declined", r"\bdoes not (currently )?support\b|^Unsupported prim::Constant kind: ", stages=("export",)),
        UnsupportedRule(("RuntimeError",), "no-converter", r"^ONNX export failed: Couldn't export operator ", stages=("export",)),
        UnsupportedRule(("RuntimeError",), "dtype", r"^ScalarType \w+ is an unexpected tensor scalar type$", stages=("export",)),
    ),
    "tf2onnx": (
        UnsupportedRule(
            ("onnx.onnx_cpp2py_export.checker.ValidationError",), "no-converter", r"^No Op registered for \w+ with ", stages=("export",)
        ),
    ),
    "litert": (
        UnsupportedRule(
            ("tensorflow.lite.python.convert_phase.ConverterError",),
            "no-converter",
            r"\bop is neither a custom op nor a flex op\b",
            stages=("export",),
        ),
        UnsupportedRule(
            ("tensorflow.lite.python.convert_phase.ConverterError",),
            "dtype",
            r"\bFailed to convert element type '[^']+': Unsupported type\b",
            stages=("export",),
        ),
    ),
}


CAPTURES = ("torch.export", "torch.jit.trace", "tf.function", "onnx")
"""Names of libraries' own captures; that a failure is of one of them only a second look can tell, of an exporter the first one may."""


_ISSUE_FORMS = {"torch.onnx": "onnxscript", "torch.export": "pytorch", "torch.jit.trace": "pytorch"}


def issue_form(name: str) -> str:
    """The form of an issue about the exporter or the capture called *name*, as `opera.compilers.adapter.Adapter.issue_form`."""
    return _ISSUE_FORMS.get(name, GENERAL_FORM)


def culprits() -> tuple[str, ...]:
    """The names of all projects, except compilers, that may be at fault for a model's result."""
    return (*_RULES, *CAPTURES)


def is_exporter(name: str) -> bool:
    """Whether *name* is that of an exporter, not of a library's own capture."""
    return name in _RULES


def declined_by_exporter(exporter: str, failure: Failure) -> str | None:
    """The reason under which *exporter* declines, or None when its failure is a fault of it."""
    found = declined(_RULES.get(exporter, ()), failure, "export")
    return None if found is None else found.reason


def converter_of_exporter(exporter: str, failure: Failure) -> str:
    """The exporter's function that failed, as its message names it, else the operator that it was to convert, else the exporter itself."""
    message = str(failure["message"])
    named = re.search(_FUNCTION, message) or re.search(_TARGET, message)
    return named[1] if named is not None else exporter
