"""The source `settings` of ONNX: calls that no node test makes, each of them valid by checker and evaluator."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from opera.extensions.generators.hosts.onnx_settings import recorded_calls
from opera.extensions.generators.onnx_settings import Call, Pool, Setting, call_of, evaluated
from opera.extensions.generators.settings.conditions import combinations, conditions
from opera.extensions.generators.settings.kinds import variations
from opera.extract.description import INSTRUMENTATION, describe
from opera.instance import Instance, decode_instance
from opera.models.template import Invalid
from opera.templates.onnx.model import OnnxTemplate

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def call(operator: str, *inputs: Any, **attributes: Any) -> Call:
    names = [f"in{index}" if value is not None else "" for index, value in enumerate(inputs)]
    node = helper.make_node(operator, names, ["out"], **attributes)
    return Call(node, inputs, {"": 21})


def texts(found: list[Setting], factor: str) -> list[Any]:
    return [each.attribute[1] for each in found if each.factor == f"attribute {factor}" and each.attribute is not None]


def test_a_flag_has_two_values_an_axis_each_of_the_rank_and_an_enumeration_its_words() -> None:
    flag, axis = call("CumSum", X, np.array(1), exclusive=1), call("Softmax", X, axis=1)
    pool = Pool([flag, axis])
    assert texts(pool.settings(flag), "exclusive") == [None, 0]
    assert texts(pool.settings(flag), "reverse") == [0, 1]
    assert texts(pool.settings(axis), "axis") == [None, -3, -2, -1, 0, 2]
    depth = call("DepthToSpace", np.ones((1, 4, 2, 2), "float32"), blocksize=2, mode="CRD")
    other = call("DepthToSpace", np.ones((1, 4, 2, 2), "float32"), blocksize=2, mode="DCR")
    assert b"DCR" in texts(Pool([depth, other]).settings(depth), "mode")


def test_what_every_test_gives_is_left_out_only_where_there_is_a_default() -> None:
    """Some attributes are optional by the schema and needed by the documentation, e.g. `hidden_size`."""
    given = call("ArgMax", X, axis=1, keepdims=0)
    assert None in texts(Pool([given]).settings(given), "keepdims")
    recurrent = call("RNN", *(np.ones(shape, "float32") for shape in ((1, 1, 2), (1, 3, 2), (1, 3, 3))), hidden_size=3)
    assert None not in texts(Pool([recurrent]).settings(recurrent), "hidden_size")


def test_an_optional_input_goes_and_comes_with_a_value_of_the_same_shapes() -> None:
    clip, plain = call("Clip", X, np.float32(1), np.float32(9)), call("Clip", X)
    narrow = call("Clip", X[0], np.float32(5))
    pool = Pool([clip, plain, narrow])
    assert {each.factor: dict(each.slots) for each in pool.settings(clip) if each.slots}["input min"] == {1: None}
    (borrowed,) = [each for each in pool.settings(plain) if each.factor == "input min"]
    assert borrowed.slots == {1: np.float32(1)}


def test_all_inputs_of_a_type_change_it_together() -> None:
    add = call("Add", X, X)
    found = {str(each.dtype): each.of(add) for each in Pool([add]).settings(add) if each.factor == "type T"}
    assert {"float64", "int8", "uint64", "bfloat16"} <= found.keys()
    assert all(made is not None and len({value.dtype for value in made.inputs}) == 1 for made in found.values())


def test_an_element_is_a_whole_number_that_floating_point_does_not_hold() -> None:
    add, gather = call("Add", X, X), call("Gather", X, np.array([1]))
    found = [each.of(add) for each in Pool([add]).settings(add) if each.element is not None]
    assert [made is not None and int(made.inputs[0].reshape(-1)[0]) for made in found] == [2**24 + 1, 2**24 + 1, 2**53 + 1]
    assert all(made is not None and made.inputs[1].reshape(-1)[0] == X.reshape(-1)[0] for made in found)
    assert {each.factor for each in Pool([gather]).settings(gather) if each.element is not None} == {"type T"}, "no index is as large"


@pytest.mark.parametrize(("given", "slot"), [(call("Add", X), 1), (call("Add", None, X), 0)], ids=["short", "none"])
def test_an_element_has_no_place_in_an_input_that_is_left_out(given: Call, slot: int) -> None:
    """One setting of a pair leaves the input out, and the other puts an element into it."""
    assert Setting("type T", dtype=np.dtype("int32"), cast=(slot,), element=2**24 + 1).of(given) is None


def test_each_older_schema_from_opset_13_on_is_a_setting() -> None:
    reduce = replace(call("ReduceMax", X, np.array([1])), opsets={"": 20})
    found = [each.of(reduce) for each in Pool([reduce]).settings(reduce) if each.factor == "opset"]
    assert [each.opsets[""] for each in found if each is not None] == [18, 13]
    current, old = found[0], found[1]
    assert current is not None
    assert evaluated(current) is not None
    assert old is not None
    assert evaluated(old) is None, "its axes are an attribute"


def test_attributes_that_exclude_each_other_never_stand_together() -> None:
    pads = call("MaxPool", np.ones((1, 1, 4, 4), "float32"), kernel_shape=[2, 2], pads=[1, 0, 0, 1])
    automatic = call("MaxPool", np.ones((1, 1, 4, 4), "float32"), kernel_shape=[2, 2], auto_pad="SAME_UPPER")
    for _, each in variations(automatic, [Setting("attribute pads", attribute=("pads", [1, 0, 0, 1]), without=("auto_pad",))], 0, "seed"):
        assert [attribute.name for attribute in each.node.attribute] == ["kernel_shape", "pads"]
    settings = Pool([pads, automatic]).settings(pads)
    assert all(each.without == ("auto_pad",) for each in settings if each.factor == "attribute pads" and each.attribute)
    assert all(each.without == ("pads",) for each in settings if each.factor == "attribute auto_pad" and each.attribute)
    assert any(each.factor == "attribute auto_pad" for each in settings)


def test_what_the_evaluator_or_the_checker_rejects_is_left_out() -> None:
    assert evaluated(call("Add", X, X)) is not None
    assert evaluated(call("Add", X, X[:1, :2])) is None
    assert evaluated(call("Add", X, X.astype("int64"))) is None


def test_a_division_of_integers_by_zero_is_left_out() -> None:
    zeros = np.array([0, 1, 0])
    assert evaluated(call("Div", zeros + 5, zeros)) is None
    assert evaluated(call("Mod", zeros + 5, zeros)) is None
    assert evaluated(call("Div", zeros + 5, zeros + 1)) is not None
    assert evaluated(call("Div", X, np.zeros_like(X))) is not None


def test_a_result_of_many_elements_is_left_out() -> None:
    """A number of 2²⁴ as the depth of OneHot would make a line of a gigabyte."""
    indices, values = np.array([0, 1]), np.array([0, 1], "float32")
    assert evaluated(call("OneHot", indices, np.array(1000), values)) is not None
    assert evaluated(call("OneHot", indices, np.array(100_000), values)) is None


def test_pairs_change_two_different_things_and_a_seed_gives_the_same() -> None:
    given = call("ArgMax", X, axis=1, keepdims=0)
    settings = Pool([given]).settings(given)
    made = [each.node.SerializeToString() for _, each in variations(given, settings, 10, "seed")]
    assert made == [each.node.SerializeToString() for _, each in variations(given, settings, 10, "seed")]
    assert len(made) > len([each for each in settings if each.of(given) is not None])


def test_a_test_with_subgraphs_or_several_nodes_has_no_settings() -> None:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Abs", ["x"], ["y"]), helper.make_node("Neg", ["y"], ["z"])]
    model = helper.make_model(helper.make_graph(nodes, "two", [info], [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])]))
    assert call_of(model, [np.ones(2, "float32")]) is None


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    recording = tmp_path_factory.mktemp("settings") / "recording.jsonl"
    only = [part for name in ("Resize", "Gemm", "ReduceMax", "MaxPool", "GatherElements") for part in ("--only", f"ai.onnx.{name}")]
    command = [
        sys.executable,
        str(INSTRUMENTATION / "__main__.py"),
        "opera.extensions.generators.hosts.onnx_settings",
        "--recording",
        str(recording),
        "--pairs",
        "10",
        *only,
    ]
    subprocess.run(command, check=True)
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    return [decode_instance(line["instance"]) for line in lines if "instance" in line]


def test_the_options_of_the_source_are_those_of_the_page() -> None:
    assert dict(describe("onnx").source("settings").options) == {"calls": "4", "pairs": "40"}


@pytest.mark.slow
def test_recorded_settings_become_models_that_the_checker_accepts(recorded: list[Instance]) -> None:
    assert {each.operator for each in recorded} == {"Resize", "Gemm", "ReduceMax", "MaxPool", "GatherElements"}
    assert len(recorded) > 150
    built = 0
    for each in recorded[::7]:
        assert each.expected is not None
        try:
            made = OnnxTemplate().build(each, "key", 0)
        except Invalid as error:
            if str(error) == "documentation":  # pages forbid what the checker accepts
                continue
            raise
        onnx.checker.check_model(made.proto, full_check=True)  # type: ignore[union-attr]
        built += 1
    assert built > 15


def test_each_condition_of_a_known_bug_pairs_settings_of_some_node_test() -> None:
    """ONNX has no channels that come last, so it has none that come first."""
    by_operator = recorded_calls()
    pool = Pool(each for calls in by_operator.values() for each in calls)
    settings = {name: [pool.settings(each) for each in calls[:2]] for name, calls in by_operator.items()}
    idle = {
        condition.name
        for condition in conditions()
        if not any(combinations([condition], name, each) for name, found in settings.items() for each in found)
    }
    assert idle == {"channels first"}


def test_what_shape_inference_refuses_with_constants_is_no_setting() -> None:
    split = call("Split", np.ones(6, "float32"), np.array([2, 4]))
    node = helper.make_node("Split", ["in0", "in1"], ["a", "b"])
    assert evaluated(replace(split, node=node)) is not None
    assert evaluated(replace(split, node=node, inputs=(split.inputs[0], np.array([2, 5])))) is None


def test_numbers_of_an_input_and_of_an_attribute_are_related_to_sizes() -> None:
    pooled = call("MaxPool", np.ones((1, 1, 5, 5), "float32"), kernel_shape=[3, 3], strides=[1, 1])
    assert [6, 6] in texts(Pool([pooled]).settings(pooled), "strides")
    assert [5, 5] in texts(Pool([pooled]).settings(pooled), "kernel_shape")
    top = call("TopK", np.ones((2, 5), "float32"), np.array([3]))
    tried = [each.slots[1].tolist() for each in Pool([top]).settings(top) if each.factor == "input K"]
    assert {(5,), (6,), (4,)} <= set(map(tuple, tried))
    batch = call("Add", np.ones((2, 3), "float32"), np.ones((2, 3), "float32"))
    (cut,) = [each for each in Pool([batch]).settings(batch) if each.length == 1 and each.dimension == 0]
    assert [each.shape for each in cut.of(batch).inputs] == [(1, 3), (1, 3)]
