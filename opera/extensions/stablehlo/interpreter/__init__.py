"""An interpreter of StableHLO that can be checked by eye: one function an operation, as the specification writes it. Numpy only."""

from opera.extensions.stablehlo.interpreter import contraction, control, elementwise, indexing, normalisation, reductions, shapes
from opera.extensions.stablehlo.interpreter.element import NotDefined
from opera.extensions.stablehlo.interpreter.machine import (
    ELEMENTS,
    RULES,
    SITE,
    Observer,
    PastLimit,
    RuntimeValue,
    Stopped,
    Token,
    Unsupported,
    evaluate,
    unknown_operations,
)
from opera.extensions.stablehlo.interpreter.tensor import Tensor

MODULES = (contraction, control, elementwise, indexing, normalisation, reductions, shapes)
"""Those with the meanings of operations."""
FAILURES = (NotDefined, Stopped, Unsupported)
"""Why a program has no results."""

__all__ = [
    "ELEMENTS",
    "FAILURES",
    "MODULES",
    "RULES",
    "SITE",
    "NotDefined",
    "Observer",
    "PastLimit",
    "RuntimeValue",
    "Stopped",
    "Tensor",
    "Token",
    "Unsupported",
    "evaluate",
    "unknown_operations",
]
