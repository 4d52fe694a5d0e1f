"""The source `embedded` of ONNX: calls between quantised tensors, in branches and in loops, and what random numbers have to be."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from real_campaigns import filled, run

from opera.extensions.generators import onnx_random
from opera.extensions.generators.onnx_embedded import KINDS, Embedded, branch, channels, loop, quantised, scan
from opera.extensions.generators.onnx_settings import Call, evaluated_model
from opera.extract.description import INSTRUMENTATION
from opera.instance import Instance, decode_instance
from opera.instrumentation.onnx import graph_document
from opera.oracles.verdict import Verdict

X = np.linspace(-2, 2, 24, dtype="float32").reshape(1, 2, 3, 4)


def call(operator: str, *inputs: Any, **attributes: Any) -> Call:
    names = [f"in{index}" if value is not None else "" for index, value in enumerate(inputs)]
    return Call(helper.make_node(operator, names, ["out"], **attributes), inputs, {"": 21})


def outputs(made: Embedded) -> list[Any]:
    found = evaluated_model(made.model, made.inputs)
    assert found is not None
    return found[2]


def instance(made: Embedded, operator: str) -> Instance:
    found = evaluated_model(made.model, made.inputs)
    assert found is not None
    return decode_instance(json.loads(json.dumps(graph_document(found[0], operator, found[1], found[2]))))


CONV = call("Conv", X, np.linspace(-1, 1, 8, dtype="float32").reshape(1, 2, 2, 2))


def test_a_quantised_call_is_exact_and_no_result_lies_between_two_steps() -> None:
    made = list(quantised(CONV))
    assert len(made) == 3
    for each in made:
        scales = [onnx.numpy_helper.to_array(node.attribute[0].t) for node in each.model.graph.node if node.op_type == "Constant"]
        own, weights = float(scales[0]), float(scales[2])
        for value, scale in zip(each.inputs.values(), (own, weights), strict=True):
            assert np.log2(scale) == int(np.log2(scale))
            assert np.array_equal(np.rint(value / scale) * scale, value)
        plain = ReferenceEvaluator(_only(each.model, "Conv")).run(None, {"x": own_input(each, 0), "w": own_input(each, 1)})[0]
        steps = plain / float(scales[4])
        assert np.abs(steps - np.floor(steps) - 0.5).min() > 1e-3
        assert np.abs(outputs(each)[0] - plain).max() <= float(scales[4]) / 2


def test_weights_are_integers_with_a_scale_for_each_channel_and_a_bias_has_their_steps() -> None:
    weights = np.linspace(-1, 1, 24, dtype="float32").reshape(3, 2, 2, 2)
    made = list(channels(call("Conv", X, weights, np.array([0.5, -1, 2], "float32"))))
    assert [[str(value.dtype) for value in each.inputs.values()] for each in made[:2]] == [["float32", "int8", "int32"]] * 2
    assert [[str(value.dtype) for value in each.inputs.values()] for each in made[2:]] == [["float32", "int8", "float32"]] * 4
    assert [_axes(each) for each in made[::2]] == [[0, 0], [1], [-1]]
    for each in made:
        values = [onnx.numpy_helper.to_array(node.attribute[0].t) for node in each.model.graph.node if node.op_type == "Constant"]
        scales = next(value for value in values if value.shape)
        assert len(set(scales.tolist())) > 1
        for wide, found in zip(outputs(Embedded(_in_double(each.model), each.inputs)), outputs(each), strict=True):
            assert np.array_equal(wide, found)


def _axes(made: Embedded) -> list[int]:
    """The axes along which it has several scales."""
    return [node.attribute[0].i for node in made.model.graph.node if node.op_type == "DequantizeLinear" and node.attribute]


def _in_double(model: Any) -> Any:
    """*model* with its Conv in double precision: the same where nothing was rounded."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    (place,) = [place for place, node in enumerate(copy.graph.node) if node.op_type == "Conv"]
    conv = copy.graph.node[place]
    casts = [helper.make_node("Cast", [name], [f"{name}_wide"], to=onnx.TensorProto.DOUBLE) for name in conv.input]
    back = helper.make_node("Cast", ["wide"], list(conv.output), to=onnx.TensorProto.FLOAT)
    conv.input[:], conv.output[:] = [f"{name}_wide" for name in conv.input], ["wide"]
    nodes = [*copy.graph.node[:place], *casts, conv, back, *copy.graph.node[place + 1 :]]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def test_an_input_alone_has_a_scale_for_each_channel() -> None:
    made = list(channels(call("Relu", X)))
    assert len(made) == 6
    assert [_axes(each) for each in made[::2]] == [[0], [1], [-1]]
    assert list(channels(call("Relu", X.ravel()))) == []


def own_input(made: Embedded, place: int) -> Any:
    return list(made.inputs.values())[place]


def _only(model: Any, operator: str) -> Any:
    node = helper.make_node(operator, ["x", "w"], ["y"])
    infos = [helper.make_tensor_value_info(name, 1, None) for name in ("x", "w")]
    graph = helper.make_graph([node], "plain", infos, [helper.make_tensor_value_info("y", 1, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize(
    "each",
    [call("Relu", X.astype("float64")), call("Shape", np.zeros((2, 0), "float32")), call("Neg", np.zeros(3, "float32"))],
)
def test_what_has_no_real_numbers_to_quantise_is_left_out(each: Call) -> None:
    assert list(quantised(each)) == []


def test_a_branch_gives_what_the_call_gives_and_a_loop_goes_on_from_it() -> None:
    neg = call("Neg", X)
    (taken,) = branch(neg)
    assert np.array_equal(outputs(taken)[0], -X)
    (twice,) = loop(neg)
    assert np.array_equal(outputs(twice)[0], X)
    (mean,) = loop(call("ReduceMean", X))
    assert outputs(mean)[0].shape == (1, 1, 1, 1)
    assert list(loop(call("Constant", value_int=1))) == []


def test_a_loop_hands_other_inputs_on_and_gives_the_last_state_to_the_one_that_is_like_it() -> None:
    _, carried = loop(call("Add", X, 2 * X))
    for ours, theirs in zip(outputs(carried), (4 * X, 3 * X), strict=True):  # 1 + 2 = 3 with 1 handed on, 3 + 1 = 4 with 3 handed on
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    _, carried = loop(call("ReduceSum", X, np.array([1])))
    assert np.array_equal(outputs(carried)[1], [1])


def test_a_scan_gives_the_call_of_each_slice_and_hands_other_inputs_on() -> None:
    both = np.stack([-X, -np.flip(X)])
    (made,) = scan(call("Neg", X))
    last, whole = outputs(made)
    assert np.array_equal(last, both[1])
    assert np.array_equal(whole, both)
    outside, carried = map(outputs, scan(call("Sub", X, X)))
    assert [each.shape for each in outside] == [X.shape, both.shape]
    assert np.array_equal(carried[1], X)
    assert np.array_equal(carried[2], outside[1])
    assert list(scan(replace(call("Neg", X), opsets={"": 8}))) == []


@pytest.mark.parametrize("operator", ["RandomUniform", "RandomUniformLike", "RandomNormal", "RandomNormalLike", "Bernoulli", "Dropout"])
def test_what_is_said_of_random_numbers_holds_for_the_evaluator(operator: str) -> None:
    found = [made for name, made in onnx_random.models() if name == operator]
    assert len(found) >= 18
    for made in found:
        assert all(map(bool, outputs(made)))


def changed(model: Any, operator: str, **attributes: Any) -> Any:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        if node.op_type == operator:
            kept = [each for each in node.attribute if each.name not in attributes]
            del node.attribute[:]
            node.attribute.extend([*kept, *(helper.make_attribute(name, value) for name, value in attributes.items())])
    return copy


@pytest.mark.parametrize(
    ("operator", "fault"),
    [
        ("RandomUniform", {"low": -0.2}),
        ("RandomUniform", {"high": 0.9}),
        ("RandomUniform", {"seed": 3.0}),  # the second draw is the first
        ("RandomNormal", {"mean": 0.2}),
        ("RandomNormal", {"scale": 1.2}),
    ],
)
def test_a_wrong_distribution_a_wrong_support_and_a_second_draw_that_is_the_first_are_seen(operator: str, fault: dict[str, float]) -> None:
    made = next(each for name, each in onnx_random.models() if name == operator)
    found = ReferenceEvaluator(changed(made.model, operator, **fault)).run(None, {})
    assert not all(map(bool, found))


def test_draws_of_the_right_mean_and_variance_and_another_shape_are_seen() -> None:
    """OpenVINO 2026.4 makes a normal number of one uniform number: mean and variance are right, and nothing lies far below the mean."""
    made = next(each for name, each in onnx_random.models() if name == "RandomNormal")
    model = onnx.ModelProto()
    model.CopyFrom(made.model)
    uniform = helper.make_node("RandomUniform", [], ["u"], low=0.0, high=1.0, shape=[4000], dtype=1)
    first = next(node for node in model.graph.node if node.op_type == "RandomNormal")
    exponential = [
        helper.make_node("Log", ["u"], ["l"]),
        helper.make_node("Neg", ["l"], ["e"]),
        helper.make_node("Constant", [], ["one"], value_float=1.0),
    ]
    nodes = [uniform, *exponential, helper.make_node("Sub", ["e", "one"], list(first.output))]
    kept = [node for node in model.graph.node if node != first]
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *kept])
    assert not all(map(bool, ReferenceEvaluator(model).run(None, {})))


def test_probabilities_of_the_other_side_are_seen() -> None:
    for made in [each for name, each in onnx_random.models() if name == "Bernoulli"]:
        (name, p), *_ = made.inputs.items()
        inverted = ReferenceEvaluator(made.model).run(None, {name: (1 - p).astype(p.dtype)})
        assert all(map(bool, inverted)) == bool((p == 0.5).all())


def test_onnx_runtime_draws_from_the_other_side(tmp_path: Path) -> None:
    """ONNX Runtime 1.32 gives 1 with the probability 1 - p; its uniform numbers are right."""
    models = list(onnx_random.models())
    chosen = [next(each for name, each in models if name == operator) for operator in ("Bernoulli", "RandomUniform")]
    instances = [instance(each, f"ai.onnx.{name}") for each, name in zip(chosen, ("Bernoulli", "RandomUniform"), strict=True)]
    found = run(filled(tmp_path / "ws", instances), "onnxruntime", "onnx", ["onnx"])
    assert {each.verdict for each in found.of("Bernoulli")} == {Verdict.INCONSISTENT}
    assert {each.verdict for each in found.of("RandomUniform")} == {Verdict.PASS}


def test_onnx_runtime_says_that_it_scans_no_numbers_of_two_bits(tmp_path: Path) -> None:
    given = replace(call("Cast", np.array([[0, 1], [2, 3]], ml_dtypes.uint2), to=1), opsets={"": 25})
    found = run(filled(tmp_path / "ws", [instance(each, "ai.onnx.Cast") for each in scan(given)]), "onnxruntime", "onnx", ["onnx"])
    assert [(each.verdict, each.reason) for _, each in found.results] == [(Verdict.UNSUPPORTED, "declined")]


@pytest.mark.parametrize("compiler", ["onnxruntime", "openvino", "tvm"])
def test_compilers_give_the_same_in_whole_numbers(compiler: str, tmp_path: Path) -> None:
    instances = [instance(each, "ai.onnx.Conv") for each in quantised(CONV)]
    found = run(filled(tmp_path / "ws", instances), compiler, "onnx", ["onnx"])
    assert {each.verdict for _, each in found.results} == {Verdict.PASS}


def host(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(INSTRUMENTATION / "__main__.py"), "opera.extensions.generators.hosts.onnx_embedded"]
    return subprocess.run(
        [*command, "--recording", str(folder / "r.jsonl"), *arguments], capture_output=True, text=True, cwd=folder, check=False
    )


def test_a_kind_that_is_not_known_is_named(tmp_path: Path) -> None:
    done = host(tmp_path, "--kinds", "quantized")
    assert done.returncode == 2
    assert "unknown kind 'quantized'; known: quantised, channels, branch, loop, scan, random" in done.stderr


def test_the_host_records_each_kind_under_the_name_of_the_operator(tmp_path: Path) -> None:
    done = host(tmp_path, "--only", "ai.onnx.Conv", "--only", "ai.onnx.Bernoulli", "--calls", "2")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    made = {(line["test"].rsplit("::", 1)[1], line["instance"]["api"]) for line in lines if "instance" in line}
    assert made == {*((kind, "ai.onnx.Conv") for kind in KINDS), ("random", "ai.onnx.Bernoulli")}
