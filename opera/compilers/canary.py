"""The canary: one addition per library. If the canary does not pass, the adapter is broken, and no campaign starts.

Canaries are found by entry point (`opera.canaries`, the library's name to an `Instance`). The driver imports them, so the module that
holds one must not import the library.
"""

from __future__ import annotations

import struct
from importlib import metadata

from opera.errors import EnvironmentBroken, UserError
from opera.instance import Argument, Graph, Instance, Kind, Tensor
from opera.plugins import registered
from opera.programs.instances import API, ILL_TYPED, with_program
from opera.programs.program import MAIN, Binding, Block, Call, Function, Parameter, Program
from opera.programs.types import NO_ATTRIBUTES, TensorType

GROUP = "opera.canaries"

_LEFT, _RIGHT = (Tensor((2, 3), "float32", struct.pack("<6f", *numbers)) for numbers in ((0, 1, 2, 3, 4, 5), (1, -1, 0.5, 2, 8, -3)))

ONNX = Instance(
    "onnx", "ai.onnx.Add", Kind.NODE, call=(Argument("A", _LEFT), Argument("B", _RIGHT)), context=(("opset", 13), ("outputs", [True]))
)
KERAS = Instance("keras", "keras.ops.add", Kind.FUNCTION, call=(Argument("x1", _LEFT), Argument("x2", _RIGHT)))
TENSORFLOW = Instance("tensorflow", "tf.add", Kind.FUNCTION, call=(Argument("x", _LEFT), Argument("y", _RIGHT)))
PYTORCH = Instance("pytorch", "torch.add", Kind.FUNCTION, call=(Argument("input", _LEFT), Argument("other", _RIGHT)))

_ADDITION = """func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
STABLEHLO = Instance(
    "stablehlo",
    "stablehlo.add",
    Kind.GRAPH,
    call=(Argument("arg0", _LEFT), Argument("arg1", _RIGHT)),
    context=(("graph", Graph("mlir.stablehlo", _ADDITION.encode())),),
)

_PARAMETERS = tuple(Parameter(name, TensorType((2, 3), "float32")) for name in ("x1", "x2"))
_SUM = Block((Binding("v1", TensorType((2, 3), "float32"), Call("add", ("x1", "x2"), NO_ATTRIBUTES)),), "v1", dataflow=True)
RELAX = with_program(
    Instance("relax", API, Kind.PROGRAM, call=(Argument("x1", _LEFT), Argument("x2", _RIGHT))),
    Program((Function(MAIN, _PARAMETERS, _SUM, TensorType((2, 3), "float32")),)),
)
_PAIR = (Parameter("x1", TensorType((2, 3), "float32")), Parameter("x2", TensorType((4, 5), "float32")))


def _ill_typed(language: str) -> Instance:
    """The sum of tensors that do not broadcast, which each compiler has to reject."""
    other = Tensor((4, 5), "float32", struct.pack("<20f", *range(20)))
    made = Instance(language, ILL_TYPED, Kind.PROGRAM, call=(Argument("x1", _LEFT), Argument("x2", other)))
    return with_program(made, Program((Function(MAIN, _PAIR, _SUM, TensorType((2, 3), "float32")),)))


def canary(library: str, *, ill_typed: bool = False) -> Instance:
    """The canary instance of *library*; for a route that takes only ill-typed models, such a one.

    Raises:
        UserError: none is registered.
        EnvironmentBroken: it cannot be imported, or is no instance.
    """
    if ill_typed:
        return _ill_typed(library)
    target = registered(GROUP).get(library)
    if target is None:
        raise UserError(f"no canary model for library {library!r}; register one under {GROUP}")
    try:
        found = metadata.EntryPoint(library, target, GROUP).load()
    except Exception as error:
        raise EnvironmentBroken(f"the canary of {library} ({target}) cannot be imported: {error}; reinstall it") from error
    if not isinstance(found, Instance):
        raise EnvironmentBroken(f"the canary of {library} ({target}) is not an opera.instance.Instance; correct its entry point")
    return found
