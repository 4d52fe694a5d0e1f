"""Whether what an exporter made is an ONNX model at all, and what ONNX's own evaluator says it computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import helper

from opera.oracles.blame import Undefined
from opera.templates.onnx.agreement import computed, is_sound

FLOAT = onnx.TensorProto.FLOAT


def model(node: Any, *shapes: list[int], output: list[int], domain: str = "", element: int = FLOAT) -> Any:
    entries = [helper.make_tensor_value_info(name, element, shape) for name, shape in zip("xy", shapes, strict=False)]
    results = [helper.make_tensor_value_info("z", element, output)]
    return helper.make_model(helper.make_graph([node], "one", entries, results), opset_imports=[helper.make_opsetid(domain, 18)])


def takes(proto: Any, values: Any, dtype: str = "float32") -> bool:
    return is_sound(proto, [("x", np.asarray(values, dtype))])


def result(proto: Any, *values: Any) -> Any:
    return computed(proto.SerializeToString(), [(name, np.asarray(value)) for name, value in zip("xy", values, strict=False)])


def test_a_wrong_result_does_not_make_a_model_unsound() -> None:
    double = model(helper.make_node("Add", ["x", "x"], ["z"]), [2], output=[2])
    assert takes(double, [1, 2])
    np.testing.assert_array_equal(result(double, np.array([1, 2], "float32"))[0], [2, 4])


def test_shapes_that_do_not_fit_make_a_model_unsound() -> None:
    two = model(helper.make_node("Squeeze", ["x", "axes"], ["z"]), [2], output=[2])
    two.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0], "int64"), "axes"))
    assert not takes(two, [1, 2])


def test_an_input_that_is_left_out_where_it_is_needed_makes_a_model_unsound() -> None:
    absent = model(helper.make_node("Reshape", ["", "x"], ["z"]), [1], output=[1], element=onnx.TensorProto.INT64)
    assert not takes(absent, [1], "int64")


def test_a_type_that_an_operator_does_not_take_makes_a_model_unsound() -> None:
    """The evaluator computes it all the same."""
    byte = onnx.TensorProto.UINT8
    assert not takes(model(helper.make_node("Neg", ["x"], ["z"]), [2], output=[2], element=byte), [1, 2], "uint8")
    assert takes(model(helper.make_node("Neg", ["x"], ["z"]), [2], output=[2], element=onnx.TensorProto.INT8), [1, 2], "int8")


def test_a_model_of_other_inputs_than_the_librarys_is_unsound() -> None:
    """An exporter that writes float16 where the library has bfloat16: the evaluator looks at no declared type."""
    half = model(helper.make_node("Abs", ["x"], ["z"]), [2], output=[2], element=onnx.TensorProto.FLOAT16)
    assert takes(half, [1, 2], "float16")
    assert not takes(half, [1, 2], "bfloat16")
    assert not takes(half, [1, 2, 3], "float16")
    assert not takes(half, [[1, 2]], "float16")


def test_what_onnx_leaves_open_is_undefined_whatever_the_evaluator_makes_of_it() -> None:
    mean = model(helper.make_node("ReduceMean", ["x"], ["z"]), [0, 2], output=[1, 1])
    assert result(mean, np.zeros((0, 2), "float32")) == Undefined("the mean of no numbers", only_values=True)
    np.testing.assert_array_equal(result(mean, np.ones((3, 2), "float32")), [[[1]]])
    entries = [helper.make_tensor_value_info("x", FLOAT, [2]), helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)]
    results = [helper.make_tensor_value_info("z", FLOAT, None)]
    gather = helper.make_graph([helper.make_node("GatherElements", ["x", "y"], ["z"])], "one", entries, results)
    pick = helper.make_model(gather, opset_imports=[helper.make_opsetid("", 18)])
    assert isinstance(result(pick, np.array([1, 2], "float32"), np.zeros((0, 3), "int64")), Undefined)
    np.testing.assert_array_equal(result(pick, np.array([1, 2], "float32"), np.array([1], "int64")), [[2]])
    pick.graph.node[0].domain = "com.example"  # another vendor's operator of that name
    pick.opset_import.append(helper.make_opsetid("com.example", 1))
    body = [helper.make_node("Identity", ["a"], ["c"])]
    pick.functions.append(helper.make_function("com.example", "GatherElements", ["a", "b"], ["c"], body, [helper.make_opsetid("", 18)]))
    np.testing.assert_array_equal(result(pick, np.array([1, 2], "float32"), np.zeros((0, 3), "int64")), [[1, 2]])


def test_an_operator_that_onnx_lacks_is_no_objection() -> None:
    foreign = model(helper.make_node("Fused", ["x"], ["z"], domain="com.example"), [2], output=[2], domain="com.example")
    assert takes(foreign, [1, 2])
    with pytest.raises(NotImplementedError):
        result(foreign, np.array([1, 2], "float32"))


def test_an_index_that_is_not_there_leaves_nothing_to_compute_but_a_slip_of_the_evaluator_says_nothing() -> None:
    entries = [helper.make_tensor_value_info("x", FLOAT, [2]), helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [1])]
    results = [helper.make_tensor_value_info("z", FLOAT, [1])]
    gather = helper.make_graph([helper.make_node("Gather", ["x", "y"], ["z"])], "one", entries, results)
    picked = helper.make_model(gather, opset_imports=[helper.make_opsetid("", 18)])
    assert result(picked, np.array([1, 2], "float32"), np.array([7])) is None
    np.testing.assert_array_equal(result(picked, np.array([1, 2], "float32"), np.array([1]))[0], [2])
    depths = [helper.make_tensor_value_info("x", onnx.TensorProto.INT64, [1]), helper.make_tensor_value_info("y", FLOAT, [2])]
    one_hot = helper.make_graph(
        [helper.make_node("OneHot", ["x", "depth", "y"], ["z"])], "one", depths, [helper.make_tensor_value_info("z", FLOAT, [1, 3])]
    )
    one_hot.initializer.append(onnx.numpy_helper.from_array(np.array([3], "int64"), "depth"))
    marked = helper.make_model(one_hot, opset_imports=[helper.make_opsetid("", 18)])
    assert is_sound(marked, [("x", np.array([1])), ("y", np.array([0, 1], "float32"))])
    with pytest.raises(NotImplementedError):
        result(marked, np.array([1]), np.array([0, 1], "float32"))


@pytest.mark.slow
def test_sizes_are_the_librarys_where_onnxs_inference_counts_other_windows() -> None:
    """PyTorch drops a last window that would begin in the padding; ONNX's inference does not, its evaluator and its runtime do."""
    program = torch.export.export(torch.nn.MaxPool2d(2, 2, 1, ceil_mode=True), (torch.arange(16.0).reshape(1, 1, 4, 4),))
    proto = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    assert is_sound(proto, [("x", np.arange(16, dtype="float32").reshape(1, 1, 4, 4))])


def test_complex_inputs_are_taken_as_pairs_where_the_model_declares_them_so() -> None:
    pairs = model(helper.make_node("ReduceSum", ["x"], ["z"], keepdims=0), [3, 2], output=[])
    values = np.array([1 + 2j, 3, -1j], "complex64")
    assert takes(pairs, values, "complex64")
    np.testing.assert_array_equal(result(pairs, values)[0], np.float32(5))
    assert not takes(model(helper.make_node("Abs", ["x"], ["z"]), [3], output=[3]), values, "complex64")


def subtraction(*names: str) -> Any:
    """The first input without the second."""
    entries = [helper.make_tensor_value_info(name, FLOAT, [2]) for name in names]
    graph = helper.make_graph([helper.make_node("Sub", names, ["z"])], "one", entries, [helper.make_tensor_value_info("z", FLOAT, [2])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_inputs_are_given_by_name_where_all_names_are_the_librarys_and_else_by_place() -> None:
    one, other = np.array([5, 6], "float32"), np.array([1, 2], "float32")
    for names, expected in {("x", "y"): [4, 4], ("y", "x"): [-4, -4], ("a", "b"): [4, 4], ("y", "a"): [4, 4]}.items():
        np.testing.assert_array_equal(result(subtraction(*names), one, other)[0], expected)


def test_a_constant_among_the_declared_inputs_is_given_nothing() -> None:
    baked = subtraction("a", "x")
    baked.graph.initializer.append(onnx.numpy_helper.from_array(np.array([9, 9], "float32"), "a"))
    assert takes(baked, [1, 2])
    np.testing.assert_array_equal(result(baked, np.array([1, 2], "float32"))[0], [8, 7])


def test_a_model_of_more_inputs_than_the_librarys_can_be_given_nothing() -> None:
    assert not takes(subtraction("a", "b"), [1, 2])
    assert result(subtraction("a", "b"), np.array([1, 2], "float32")) is None
