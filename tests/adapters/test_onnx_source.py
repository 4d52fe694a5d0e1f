"""Models in scripts: the source gives the same model again, in few lines."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from opera.arrays import Array
from opera.templates.onnx.source import model_source
from opera.templates.python_text import WIDTH, imports_of

VALUE = helper.make_tensor_value_info


def model(*nodes: onnx.NodeProto, constants: dict[str, Array] | None = None, inputs: tuple[str, ...] = ("x",)) -> onnx.ModelProto:
    stored = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    entries = [VALUE(name, TensorProto.FLOAT, [2, "n"]) for name in inputs]
    graph = helper.make_graph(nodes, "single_operator", entries, [VALUE("out0", TensorProto.FLOAT, None)], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def read_back(source: str) -> onnx.ModelProto:
    imports = "\n".join(imports_of(source))
    names: dict[str, object] = {}
    exec(f"{imports}\nimport numpy as np\nimport onnx\nfrom onnx import helper, numpy_helper\n{source}", names)
    found = names["model"]
    assert isinstance(found, onnx.ModelProto)
    return found


def outputs(proto: onnx.ModelProto) -> Array:
    feeds = {entry.name: np.array([[-1.5, 0.1], [2.0, 3.25]], np.float32) for entry in proto.graph.input}
    return np.asarray(ReferenceEvaluator(proto).run(None, feeds)[0])


CONSTANTS = {f"c{place}": np.array([place + 0.1, -place], np.float32) for place in range(5)}
SUM = helper.make_node("Sum", ["x", *CONSTANTS], ["out0"])
CHAIN = [
    helper.make_node("Add", ["x" if place == 0 else f"v{place}", "c1"], [f"v{place + 1}" if place < 149 else "out0"])
    for place in range(150)
]


@pytest.mark.parametrize(
    ("made", "form"),
    [
        (model(helper.make_node("Relu", ["x"], ["out0"])), "helper.make_node"),
        (model(SUM, constants=CONSTANTS), "onnx.parser.parse_model"),
        (model(*CHAIN[:2], helper.make_node("Exp", ["v2"], ["out0"]), constants=CONSTANTS), "onnx.parser.parse_model"),
        (model(*CHAIN, constants=CONSTANTS), "onnx.parser.parse_model"),
    ],
    ids=["a small node by calls", "a node with many constants as text", "a small graph as text", "a large graph as text"],
)
def test_a_models_source_gives_the_same_model_in_the_form_that_is_read_best(made: onnx.ModelProto, form: str) -> None:
    source = model_source(made, {"x": np.ones((2, 2), np.float32)})
    assert form in source
    assert max(map(len, source.splitlines())) <= WIDTH + 6
    again = read_back(source)
    assert np.array_equal(outputs(again), outputs(made))
    assert again.graph.input == made.graph.input
    assert again.opset_import[0].version == 21


ODD = {
    "strings with spaces and quotes": helper.make_node("Foo", ["x"], ["out0"], domain="d", s="one, two's " * 20, t=["a b", "c, d"] * 9),
    "an empty list": onnx.NodeProto(op_type="Foo", domain="d", input=["x"], output=["out0"], attribute=[
        onnx.AttributeProto(name="e", type=onnx.AttributeProto.INTS)
    ]),
    "bytes that are no text": helper.make_node("Foo", ["x"], ["out0"], domain="d", t=[b"\xff\xfe", b"a"]),
    "names with quotes": helper.make_node("Foo", ["x", 'k"y'], ["out0"], domain="d"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_whatever_a_node_holds_its_source_makes_the_same_node(name: str) -> None:
    made = model(ODD[name])
    made.opset_import.append(helper.make_opsetid("d", 1))
    (again,) = read_back(model_source(made, {"x": np.ones((2, 2), np.float32)})).graph.node
    assert (list(again.input), list(again.output), again.op_type) == (list(ODD[name].input), ["out0"], "Foo")
    assert {each.name: helper.get_attribute_value(each) for each in again.attribute} == {
        each.name: helper.get_attribute_value(each) for each in ODD[name].attribute
    }


def test_functions_of_a_model_are_part_of_its_source() -> None:
    made = model(helper.make_node("Double", ["x"], ["out0"], domain="d"))
    made.opset_import.append(helper.make_opsetid("d", 1))
    body = [helper.make_node("Add", ["a", "a"], ["b"])]
    made.functions.append(helper.make_function("d", "Double", ["a"], ["b"], body, [helper.make_opsetid("", 21)]))
    again = read_back(model_source(made, {"x": np.ones((2, 2), np.float32)}))
    assert np.array_equal(outputs(again), outputs(made))


def test_constants_of_types_that_importers_read_as_bytes_only_are_not_written_as_text() -> None:
    made = model(SUM, constants={name: value.astype(np.float16) for name, value in CONSTANTS.items()})
    assert "helper.make_node" in model_source(made, {"x": np.ones((2, 2), np.float32)})


@pytest.mark.parametrize(
    "constant",
    [
        np.array([0.1234567, 1e-30], np.float32),
        np.array([np.inf, -0.0], np.float32),
        np.array([np.nan], np.float32),
        np.array([2**62 + 1], np.int64),
        np.array(["a\\b", 'say "so"', "\n"], object),
    ],
    ids=["digits", "infinity and minus zero", "nan", "large integers", "strings"],
)
def test_no_constant_is_changed_by_the_form_in_which_it_is_written(constant: Array) -> None:
    made = model(SUM, constants={**CONSTANTS, "c0": constant})
    source = model_source(made, {"x": np.ones((2, 2), np.float32)})
    again = numpy_helper.to_array(read_back(source).graph.initializer[0])
    assert again.dtype == constant.dtype
    assert again.tolist() == constant.tolist() if constant.dtype == object else again.tobytes() == constant.tobytes()
