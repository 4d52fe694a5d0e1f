"""LiteRT states dtypes and shapes of a converted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from opera.compilers.adapter import Subject
from opera.compilers.registry import plugin


class Model(tf.Module):
    """Two outputs of two dtypes; the second has as many rows as the input."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(self, x: Any) -> dict[str, Any]:
        return {"output_0": tf.constant([[1.0, 2.0]]) * tf.reduce_sum(x), "output_1": tf.cast(x, tf.int32)}


def test_litert_states_what_the_interpreter_will_give(tmp_path: Path) -> None:
    adapter: Any = plugin("litert").load()({})
    adapter.start()
    made = Model()
    tf.saved_model.save(made, str(tmp_path), signatures={"serving_default": made.serve})
    data = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    subject = Subject(adapter.routes[0], b"", {"x": np.ones((2, 3), np.float32)}, 2, lambda: pytest.fail("no instance is needed"))
    signature = adapter.signature(adapter.compile(data, subject, str), subject)
    assert [(dtype, list(shape)) for dtype, shape in signature] == [("float32", [1, 2]), ("int32", [None, 3])]
