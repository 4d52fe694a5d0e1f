"""Prints `program/1` as an ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from opera.arrays import Array, numpy_dtype
from opera.extensions.programs.languages import own_printer, registry
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, If, Invoke, Program, Projection, Tuple
from opera.extensions.programs.symbols import OPEN, dynamic_result
from opera.extensions.programs.types import TensorType, Type, tensor, tensors_in
from opera.extensions.programs.values import to_array

OPSET = 21
_DOMAIN = "opera.extensions.programs"
SAME = {
    "abs": "Abs", "negative": "Neg", "sign": "Sign", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "reciprocal": "Reciprocal", "sin":
    "Sin", "cos": "Cos", "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "sigmoid": "Sigmoid", "relu": "Relu", "gelu": "Gelu", "selu":
    "Selu", "softplus": "Softplus", "softsign": "Softsign", "hard_swish": "HardSwish", "mish": "Mish", "ceil": "Ceil", "floor":
    "Floor", "round": "Round", "identity": "Identity", "logical_not": "Not", "bitwise_not": "BitwiseNot", "add": "Add", "subtract":
    "Sub", "multiply": "Mul", "divide": "Div", "floor_mod": "Mod", "power": "Pow", "maximum": "Max", "minimum": "Min", "bitwise_and":
    "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor", "logical_and": "And", "logical_or": "Or", "logical_xor":
    "Xor", "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "isnan": "IsNaN", "isinf": "IsInf", "where": "Where", "matmul": "MatMul",
}  # fmt: skip
"""Operators that need nothing but another name."""
NAMED = {
    "leaky_relu": ("LeakyRelu", ("alpha",)), "elu": ("Elu", ("alpha",)), "celu": ("Celu", ("alpha",)), "softmax": ("Softmax",
    ("axis",)), "log_softmax": ("LogSoftmax", ("axis",)), "hardmax": ("Hardmax", ("axis",)), "concat": ("Concat", ("axis",)), "take":
    ("Gather", ("axis",)), "gather_elements": ("GatherElements", ("axis",)), "layer_norm": ("LayerNormalization", ("axis",
    "epsilon")), "argmax": ("ArgMax", ("axis", "keepdims")), "argmin": ("ArgMin", ("axis", "keepdims")),
}  # fmt: skip
"""Operators whose parameters are attributes of the same name."""
REDUCED = {
    "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd", "sum_square":
    "ReduceSumSquare", "l1": "ReduceL1", "l2": "ReduceL2", "log_sum": "ReduceLogSum", "log_sum_exp": "ReduceLogSumExp",
}  # fmt: skip
_LISTED: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Any]]] = {
    "broadcast_to": ("Expand", lambda k: k["shape"]),
    "tile": ("Tile", lambda k: k["repeats"]),
    "expand_dims": ("Unsqueeze", lambda k: [k["axis"]]),
    "squeeze": ("Squeeze", lambda k: [k["axis"]]),
}
"""Operators whose parameter is an input, a constant list of integers."""


def model_of(program: Program) -> onnx.ModelProto:
    """The model of *program*; its entries are those of `main`, its outputs the tensors of the result, in order."""
    printers = {each.name: _Printer(each) for each in program.functions}
    local = [printers[each.name].function() for each in program.functions[:-1]]
    graph = printers[program.main.name].graph(program.main.name)
    if program.main.symbols:
        _make_symbolic(graph, program)
    opsets = [helper.make_opsetid("", OPSET), *([helper.make_opsetid(_DOMAIN, 1)] if local else [])]
    return helper.make_model(graph, opset_imports=opsets, functions=local, ir_version=10)


def _make_symbolic(graph: onnx.GraphProto, program: Program) -> None:
    """Gives inputs the names of their symbolic dimensions; a size of an output that depends on one is left open."""
    names = {place: each.name for each in program.main.symbols for place in each.places}
    for parameter, entry in zip(program.main.parameters, graph.input, strict=True):
        for axis, size in enumerate(entry.type.tensor_type.shape.dim):
            if (parameter.name, axis) in names:
                size.dim_param = names[parameter.name, axis]
    for kind, output in zip(tensors_in(dynamic_result(program, registry())), graph.output, strict=True):
        for own, size in zip(kind.shape, output.type.tensor_type.shape.dim, strict=True):
            if own == OPEN:
                size.ClearField("dim_value")


def _info(name: str, kind: Type) -> onnx.ValueInfoProto:
    found = tensor(kind)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(numpy_dtype(found.dtype)), list(found.shape))


class _Printer:
    """Prints one function. A tuple is the list of its parts' names, and a part of it another name, because ONNX has no tuples."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._parts: dict[str, list[str]] = {}
        self._same: dict[str, str] = {}
        self._types: dict[str, Type] = {each.name: each.type for each in function.parameters}
        self._number = 0

    def graph(self, name: str) -> onnx.GraphProto:
        """The graph of `main`."""
        nodes, outputs = self._body(self._function.body)
        entries = [_info(each.name, each.type) for each in self._function.parameters]
        return helper.make_graph(nodes, name, entries, outputs)

    def function(self) -> onnx.FunctionProto:
        """The function of the model that a call names."""
        nodes, outputs = self._body(self._function.body)
        entries = [each.name for each in self._function.parameters]
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_DOMAIN, 1)]
        return helper.make_function(_DOMAIN, self._function.name, entries, [each.name for each in outputs], nodes, opsets)

    def _body(self, block: Block) -> tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto]]:
        """The nodes of a block, and its outputs: values of its own, as ONNX demands."""
        nodes = [node for binding in block.bindings for node in self._binding(binding)]
        outputs: list[onnx.ValueInfoProto] = []
        for name in self._tensors(block.result):
            own = self._fresh()
            nodes.append(helper.make_node("Identity", [name], [own]))
            outputs.append(_info(own, self._types[name]))
        return nodes, outputs

    def _tensors(self, name: str) -> list[str]:
        """The values of the model that hold a variable."""
        if name in self._parts:
            return [each for part in self._parts[name] for each in self._tensors(part)]
        return [self._same.get(name, name)]

    def _fresh(self) -> str:
        self._number += 1
        return f"{self._function.name}_{self._number}"

    def _declare(self, name: str, kind: Type) -> list[str]:
        """The tensors that hold a value of type *kind*."""
        self._types[name] = kind
        if isinstance(kind, TensorType):
            return [name]
        parts = [f"{name}_{index}" for index in range(len(kind.fields))]
        self._parts[name] = parts
        return [each for part, field in zip(parts, kind.fields, strict=True) for each in self._declare(part, field)]

    def _binding(self, binding: Binding) -> list[onnx.NodeProto]:
        match binding.value:
            case Call(operator, arguments, attributes):
                outputs = self._declare(binding.name, binding.type)
                return self._call(operator, [each for name in arguments for each in self._tensors(name)], attributes, outputs)
            case Constant(literal):
                self._declare(binding.name, binding.type)
                return [self._constant(to_array(literal), binding.name)]
            case Tuple(parts):
                self._types[binding.name] = binding.type
                self._parts[binding.name] = list(parts)
                return []
            case Projection(source, index):
                self._alias(binding, self._parts[source][index])
                return []
            case If(condition, then, otherwise):
                outputs = self._declare(binding.name, binding.type)
                return [
                    helper.make_node(
                        "If", self._tensors(condition), outputs, then_branch=self._branch(then), else_branch=self._branch(otherwise)
                    )
                ]
            case Invoke(function, arguments):
                outputs = self._declare(binding.name, binding.type)
                entries = [each for name in arguments for each in self._tensors(name)]
                return [helper.make_node(function, entries, outputs, domain=_DOMAIN)]

    def _alias(self, binding: Binding, name: str) -> None:
        self._types[binding.name] = binding.type
        if name in self._parts:
            self._parts[binding.name] = self._parts[name]
        else:
            self._same[binding.name] = self._same.get(name, name)

    def _branch(self, block: Block) -> onnx.GraphProto:
        nodes, outputs = self._body(block)
        return helper.make_graph(nodes, "branch", [], outputs)

    def _constant(self, array: Array, name: str) -> onnx.NodeProto:
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape)))

    def _call(self, operator: str, arguments: list[str], attributes: Mapping[str, Any], outputs: list[str]) -> list[onnx.NodeProto]:
        nodes: list[onnx.NodeProto] = []

        def node(name: str, *constants: str, **settings: Any) -> list[onnx.NodeProto]:
            return [*nodes, helper.make_node(name, [*arguments, *constants], outputs, **settings)]

        def given(values: object, dtype: str = "int64") -> str:
            name = self._fresh()
            nodes.append(self._constant(np.array(values, numpy_dtype(dtype)), name))
            return name

        if operator in SAME:
            return node(SAME[operator])
        if operator in NAMED:
            name, kept = NAMED[operator]
            return node(name, **{key: attributes[key] for key in kept})
        if operator in REDUCED:
            return node(REDUCED[operator], given(attributes["axes"]), keepdims=int(attributes["keepdims"]))
        if operator in _LISTED:
            name, listed = _LISTED[operator]
            return node(name, given(listed(attributes)))
        dtype = tensor(self._types[arguments[0]]).dtype
        match operator:
            case "gelu_tanh":
                return node("Gelu", approximate="tanh")
            case "permute_dims":
                return node("Transpose", perm=attributes["axes"])
            case "reshape":
                sizes = attributes["shape"]  # without `allowzero`, a size of 0 stands for that of the argument
                return node("Reshape", given(sizes), **({} if all(sizes) else {"allowzero": 1}))
            case "astype":
                return node("Cast", to=helper.np_dtype_to_tensor_dtype(numpy_dtype(str(attributes["dtype"]))))
            case "clip":
                return node("Clip", given(attributes["low"], dtype), given(attributes["high"], dtype))
            case "left_shift" | "right_shift":
                return node("BitShift", direction=operator.partition("_")[0].upper())
            case "split":
                return node("Split", given(attributes["sizes"]), axis=attributes["axis"])
            case "strided_slice":
                begin = attributes["begin"]
                return node("Slice", given(begin), given(attributes["end"]), given(range(len(begin))), given(attributes["strides"]))
            case "pad":
                widths = (*attributes["before"], *attributes["after"])
                return node("Pad", given(widths), given(attributes["value"], dtype))
            case "cumsum":
                return node("CumSum", given(attributes["axis"]))
            case "topk":
                return node("TopK", given([attributes["k"]]), axis=attributes["axis"], largest=int(attributes["largest"]))
            case "triu" | "tril":
                return node("Trilu", given(attributes["k"]), upper=int(operator == "triu"))
            case "conv1d" | "conv2d":
                return node("Conv", **_window(attributes), group=attributes["groups"])
            case "max_pool1d" | "max_pool2d":
                return node("MaxPool", **_window(attributes))
            case "avg_pool1d" | "avg_pool2d":
                return node("AveragePool", **_window(attributes), count_include_pad=1)
            case _:
                return own_printer(operator, "onnx")(arguments, attributes, outputs)


def _window(attributes: Mapping[str, Any]) -> dict[str, Any]:
    padding = attributes["padding"]
    ends = {"pads": (*padding, *padding), "dilations": attributes["dilations"]}
    return {"kernel_shape": attributes["kernel"], "strides": attributes["strides"], **ends}
