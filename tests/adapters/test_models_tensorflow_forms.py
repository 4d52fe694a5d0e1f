"""TensorFlow's functions with constant weights, and with sizes left open."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import commands
import numpy as np
import pytest
import tensorflow as tf
from instances import counting
from real_campaigns import filled, run

from opera.instance import Argument, Instance, Kind, Tensor
from opera.models.archive import unpack_folder
from opera.models.forms import InputForm, forms_of
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.report.reproducer import foreign_names
from opera.templates.tensorflow.model import TensorFlowTemplate


def call(api: str, **given: Any) -> Instance:
    return Instance("tensorflow", api, Kind.FUNCTION, call=tuple(Argument(name, value, True) for name, value in given.items()))


CONV = call("tf.nn.conv2d", input=Tensor((1, 5, 5, 1), "float32"), filters=counting(3, 3, 1, 1), strides=5, padding="SAME")
"""LiteRT of TensorFlow 2.21 gives zeros where SAME padding would be negative, with constant weights only."""


def signature(instance: Instance, form: str, folder: Path) -> dict[str, Any]:
    unpack_folder(TensorFlowTemplate().build(instance, "key", 0).artefact("saved-model", form).data, folder)
    function = tf.saved_model.load(str(folder)).signatures["serving_default"]
    return {name: spec.shape.as_list() for name, spec in function.structured_input_signature[1].items()}


@pytest.mark.parametrize(
    ("instance", "form", "expected"),
    [
        (CONV, "runtime", {"x0": [1, 5, 5, 1], "x1": [3, 3, 1, 1]}),
        (CONV, "constant", {"x0": [1, 5, 5, 1]}),
        (CONV, "symbolic", {"x0": [1, None, None, 1], "x1": [3, 3, 1, 1]}),
        (call("tf.linalg.matmul", a=counting(2, 3), b=counting(3, 4)), "symbolic", {"x0": [None, None], "x1": [None, None]}),
        (call("tf.reshape", tensor=counting(2, 3), shape=[2, -1]), "symbolic", {"x0": [2, None]}),
    ],
)
def test_inputs_are_constants_or_leave_sizes_open(instance: Instance, form: str, expected: dict[str, Any], tmp_path: Path) -> None:
    assert signature(instance, form, tmp_path) == expected


@pytest.mark.parametrize("form", ["constant", "symbolic"])
def test_a_saved_model_of_any_form_gives_what_the_function_gives(form: str) -> None:
    model = TensorFlowTemplate().build(CONV, "key", 0)
    captured = model.captured("saved-model", model.artefact("saved-model", form).data)
    assert captured is not None
    np.testing.assert_array_equal(captured[1][0], model.reference().outputs[0])


def test_a_call_without_a_weight_or_a_free_size_has_no_such_form() -> None:
    assert forms_of(call("tf.abs", x=counting(2)), (InputForm.CONSTANT,)) == (InputForm.RUNTIME,)
    assert forms_of(call("tf.abs", x=Tensor((), "float32")), (InputForm.SYMBOLIC,)) == ()
    with pytest.raises(Invalid, match="no-free-size"):
        TensorFlowTemplate().build(call("tf.reshape", tensor=counting(2, 3), shape=[6]), "key", 0).artefact("saved-model", "symbolic")


@pytest.mark.parametrize(
    ("form", "line"), [("constant", "        x1 = tf.constant("), ("symbolic", "shapes = [(1, None, None, 1), (3, 3, 1, 1)]")]
)
def test_the_script_says_what_the_model_does(form: str, line: str) -> None:
    source = TensorFlowTemplate().build(CONV, "key", 0).source(form)
    assert foreign_names(source.text, "tensorflow", source.imports) is None
    assert any(each.startswith(line) for each in source.text.splitlines())


@pytest.mark.parametrize(("form", "verdict"), [("constant", Verdict.INCONSISTENT), ("symbolic", Verdict.PASS)])
def test_litert_gives_zeros_for_constant_weights_alone(form: str, verdict: Verdict, tmp_path: Path) -> None:
    instance = CONV if form == "constant" else replace(CONV, call=(*CONV.call[:2], Argument("strides", 2, True), CONV.call[3]))
    workspace = filled(tmp_path / "ws", [instance])
    found = run(workspace, "litert", "tensorflow", ["tf"], "--input-form", form)
    ((_, result),) = found.results
    assert result.verdict is verdict
    if verdict is Verdict.INCONSISTENT:
        said = commands.run("reproduce", result.test[:12], "--workspace", str(workspace), folder=tmp_path)
        assert "reproduced: Mismatched elements" in said.stdout
