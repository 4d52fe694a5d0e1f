"""What IREE declines, what it breaks on, and that its options change no result: with the real compiler."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from opera.arrays import Array
from opera.compilers.adapter import Subject, declined
from opera.compilers.iree import IreeAdapter
from opera.instance import Instance, Kind
from opera.workers.failure import describe

FLOATS = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)


@pytest.fixture(scope="module")
def iree() -> IreeAdapter:
    adapter = IreeAdapter({})
    adapter.start()
    return adapter


def subject(operator: str, inputs: dict[str, Array], opset: int, **attributes: object) -> Subject:
    """A model of one operator with one output, whose type shape inference finds out."""
    node = helper.make_node(operator, list(inputs), ["out"], **attributes)
    entries = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in inputs.items()
    ]
    graph = helper.make_graph([node], "one", entries, [onnx.ValueInfoProto(name="out")])
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))
    route = next(each for each in IreeAdapter.routes if each.name == "onnx")
    return Subject(route, model.SerializeToString(), inputs, 1, lambda: Instance("onnx", f"ai.onnx.{operator}", Kind.NODE))


def result(iree: IreeAdapter, case: Subject) -> Array:
    return iree.run(iree.compile(iree.load(case, str), case, str), case, str)[0]


def reason(iree: IreeAdapter, case: Subject, stage: str = "codegen", says: str = "error: ") -> str | None:
    """Under which reason IREE declines *case*, on which it raises."""
    with pytest.raises(Exception, match=says) as raised:
        result(iree, case)
    rule = declined(IreeAdapter.unsupported, describe(raised.value), stage)
    return None if rule is None else rule.reason


def test_a_failure_of_the_linker_is_no_operators(iree: IreeAdapter) -> None:
    """Functions in double precision call the C library, which IREE does not link: one reason, whatever the operator."""
    case = subject("Sin", {"X": np.ones(2)}, 22)
    with pytest.raises(Exception, match="undefined symbol: sin") as raised:
        result(iree, case)
    assert iree.converter(case, describe(raised.value)) == "iree-lld"


def test_an_operator_without_a_converter_is_declined(iree: IreeAdapter) -> None:
    assert reason(iree, subject("StringNormalizer", {"X": np.array(["a"], object)}, 10)) == "no-converter"


def test_inputs_that_the_compiled_program_says_it_does_not_implement_are_declined(iree: IreeAdapter) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 2, 1, 3], [0, 4, 1, 5]]], "float32")
    limits = {"max_output_boxes_per_class": np.array([3]), "iou_threshold": np.array([0.5], "float32")}
    inputs = {"boxes": boxes, "scores": np.array([[[0.9, 0.6, 0.3]]], "float32"), **limits, "score_threshold": np.array([0.5], "float32")}
    assert reason(iree, subject("NonMaxSuppression", inputs, 11), "run", "Error invoking function") == "declined"


@pytest.mark.parametrize(
    "case",
    [
        subject("Compress", {"input": np.ones(3, "float32"), "condition": np.array([True, False, True])}, 11),
        subject("ConvTranspose", {"X": np.ones((1, 2, 3, 3), "float32"), "W": np.ones((2, 1, 3, 3), "float32")}, 11, group=2),
        subject("ReduceSum", {"data": FLOATS, "axes": np.array([1])}, 13),
    ],
    ids=lambda value: value.instance.operator,
)
def test_what_is_converted_and_fails_behind_that_is_no_decline(iree: IreeAdapter, case: Subject) -> None:
    assert reason(iree, case) is None


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (subject("Compress", {"input": np.ones(3, "float32"), "condition": np.array([True, False, True])}, 11), "onnx.Compress"),
        (
            subject("Col2Im", {"x": np.ones((1, 4, 9), "float32"), "image": np.array([4, 4]), "block": np.array([2, 2])}, 18),
            "Col2Im",
        ),
    ],
    ids=["named", "constant"],
)
def test_a_failure_belongs_to_the_operator_that_it_names_and_to_the_models_where_it_names_a_constant(
    iree: IreeAdapter, case: Subject, name: str
) -> None:
    with pytest.raises(Exception, match=r"failed to legalize|tensor\.cast") as caught:
        result(iree, case)
    assert iree.converter(case, describe(caught.value)) == name


def test_double_precision_is_kept(iree: IreeAdapter) -> None:
    numbers = np.array([1 + 2.0**-40, 3.0])
    np.testing.assert_array_equal(result(iree, subject("Mul", {"A": numbers, "B": numbers}, 14)), numbers * numbers)


def test_what_is_computed_in_double_precision_within_a_pass_is_no_failure_of_a_model_without(iree: IreeAdapter) -> None:
    case = subject("MaxPool", {"X": FLOATS}, 12, auto_pad="SAME_LOWER", kernel_shape=[2, 2])
    np.testing.assert_array_equal(result(iree, case)[0, 0, :, 0], FLOATS[0, 0, :, 0])
