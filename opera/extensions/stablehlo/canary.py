"""The canary of StableHLO: one addition."""

from __future__ import annotations

from opera.compilers.canary import LEFT, RIGHT
from opera.extensions.stablehlo.kind import FORMAT
from opera.instance import Argument, Graph, Instance, Kind

_ADDITION = """func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
STABLEHLO = Instance(
    "stablehlo",
    "stablehlo.add",
    Kind.GRAPH,
    call=(Argument("arg0", LEFT), Argument("arg1", RIGHT)),
    context=(("graph", Graph(FORMAT, _ADDITION.encode())),),
)
