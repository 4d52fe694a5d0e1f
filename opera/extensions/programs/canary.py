"""The canaries of programs: one addition, and one that each compiler has to reject."""

from __future__ import annotations

import struct

from opera.compilers.canary import LEFT, RIGHT
from opera.extensions.programs.instances import API, ILL_TYPED, PROGRAM, with_program
from opera.extensions.programs.program import MAIN, Binding, Block, Call, Function, Parameter, Program
from opera.extensions.programs.types import NO_ATTRIBUTES, TensorType
from opera.instance import Argument, Instance, Tensor

_PARAMETERS = tuple(Parameter(name, TensorType((2, 3), "float32")) for name in ("x1", "x2"))
_SUM = Block((Binding("v1", TensorType((2, 3), "float32"), Call("add", ("x1", "x2"), NO_ATTRIBUTES)),), "v1", dataflow=True)
RELAX = with_program(
    Instance("relax", API, PROGRAM, call=(Argument("x1", LEFT), Argument("x2", RIGHT))),
    Program((Function(MAIN, _PARAMETERS, _SUM, TensorType((2, 3), "float32")),)),
)
_PAIR = (Parameter("x1", TensorType((2, 3), "float32")), Parameter("x2", TensorType((4, 5), "float32")))


def _ill_typed(language: str) -> Instance:
    """The sum of tensors that do not broadcast, which each compiler has to reject."""
    other = Tensor((4, 5), "float32", struct.pack("<20f", *range(20)))
    made = Instance(language, ILL_TYPED, PROGRAM, call=(Argument("x1", LEFT), Argument("x2", other)))
    return with_program(made, Program((Function(MAIN, _PAIR, _SUM, TensorType((2, 3), "float32")),)))


ONNX_REJECTS = _ill_typed("onnx")
RELAX_REJECTS = _ill_typed("relax")
