"""LiteRT's models of 8 bits: a right result counts as the float model's, a wrong one stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from opera.compilers.adapter import Subject
from opera.extensions.litert_int8.adapter import LiteRtInt8Adapter, NotQuantisedError
from opera.instance import Instance, Kind
from opera.models.archive import pack_folder

X = np.random.default_rng(0).normal(size=(1, 4, 4, 3)).astype("float32")
WEIGHTS = np.random.default_rng(1).normal(size=(2, 2, 3, 5)).astype("float32") * np.float32([1, 2, 4, 8, 16])


def ran(folder: Path, level: str, call: Callable[..., Any], *inputs: Any) -> tuple[Any, Any]:
    """What the adapter gives for *call* at *level*, and what TensorFlow gives."""
    module = tf.Module()
    signature = [tf.TensorSpec(each.shape, each.dtype, f"x{place}") for place, each in enumerate(inputs)]
    module.serve = tf.function(lambda *given: {"output_0": call(*given)}, input_signature=signature)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.serve.get_concrete_function()})
    adapter = LiteRtInt8Adapter({"level": level})
    adapter.start()
    given = {f"x{place}": each for place, each in enumerate(inputs)}
    subject = Subject(adapter.routes[0], pack_folder(folder), given, 1, lambda: Instance("tensorflow", "tf.nn.relu", Kind.FUNCTION))
    (found,) = adapter.run(adapter.compile(adapter.load(subject, str), subject, str), subject, str)
    return found, call(*inputs).numpy()


def test_a_convolution_with_a_scale_for_each_channel_is_right(tmp_path: Path) -> None:
    found, expected = ran(tmp_path, "xnnpack", lambda x: tf.nn.conv2d(x, WEIGHTS, 1, "VALID"), X)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_product_of_two_inputs_is_wrong_by_xnnpack_alone(tmp_path: Path) -> None:
    """LiteRT of TensorFlow 2.21 leaves out the zero point of the second matrix there."""
    numbers = np.array([[1, 2], [3, 4]], "float32")
    found, expected = ran(tmp_path / "one", "xnnpack", tf.matmul, numbers, numbers)
    assert np.abs(found - expected).min() > 1
    found, expected = ran(tmp_path / "two", "reference", tf.matmul, numbers, numbers)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array([1, np.inf], "float32")])
def test_what_has_no_range_is_not_quantised(value: Any, tmp_path: Path) -> None:
    with pytest.raises(NotQuantisedError, match="no input is float32"):
        ran(tmp_path, "reference", tf.abs, value)


def test_several_operators_are_not_judged(tmp_path: Path) -> None:
    with pytest.raises(NotQuantisedError, match="no single operator"):
        ran(tmp_path, "reference", lambda x: tf.tanh(tf.sigmoid(x)), X)
