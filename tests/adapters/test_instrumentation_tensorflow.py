"""What the TensorFlow recorder promises, each on real calls in a process of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Seen, record

from opera.instance import DType, Instance, Kind, Named, Outcome

SCRIPT = r"""
import inspect, runpy, sys
sys.argv[1:], (main, recording) = [], sys.argv[1:]
runpy.run_path(main)["register"]()
import numpy as np, tensorflow as tf
from tensorflow import matmul as early_matmul
from opera_instrumentation.filters import Filters
from opera_instrumentation.tensorflow import Recorder, version
from opera_instrumentation.stream import Stream

x = tf.constant([[-1.0, 2.0], [0.5, -3.0]])
state = tf.Variable(x)
PLAIN = tf.nn.conv2d.__code__, inspect.signature(tf.nn.conv2d)

class Rude:
    def __repr__(self): raise RuntimeError("no")
    __str__ = __format__ = __hash__ = __len__ = __eq__ = __repr__

class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor

class Handlers:
    @staticmethod
    @tf.experimental.dispatch_for_api(tf.math.softplus, {"features": Masked})
    def softplus(features, name=None): return "mine"

def early(): early_matmul(x, x, transpose_b=True)
def aliases(): tf.add(x, 1.0); tf.math.add(x, 1.0)
def signatures(): assert inspect.signature(tf.nn.conv2d) == PLAIN[1]
def dispatched(): assert tf.math.softplus(Masked(x)) == "mine"
def operators(): x * 2.0; 2.0 - x; -x
def getitem(): x[0, 1:]
def labels(): tf.nn.relu(x, name="label")
def dtypes(): tf.cast(x, tf.int32)
def callables(): tf.foldl(tf.math.add, x)
def raw(): tf.raw_ops.Softsign(features=x)
def raising():
    try: tf.linalg.matmul(x, tf.zeros((3, 3)))
    except tf.errors.InvalidArgumentError: pass
def rude():
    try: tf.math.multiply(x, Rude())
    except Exception: pass
    tf.math.subtract(x, 1.0)
def variables(): tf.math.exp(state)
def text(): tf.strings.upper(tf.constant([b"a", b"\xff"]))
def ragged(): tf.math.abs(tf.ragged.constant([[1.0], [2.0, 3.0]]))
def traced(): tf.function(lambda t: tf.math.cosh(t))(x)
def nested(): tf.nn.moments(x, axes=[0])
def backward():
    with tf.GradientTape() as tape:
        loss = tf.math.reduce_sum(state)
    tape.gradient(loss, state)
def tape_sees_no_more():
    with tf.GradientTape() as tape:
        tf.math.sin(x)
    assert tape.watched_variables() == ()
def noise(): tf.random.normal((2,))
def repeated():
    for _ in range(3): tf.math.tan(x)

with Stream(recording, "tensorflow", version(), "script") as stream:
    with Recorder(stream, Filters([("tf.random.*", "random"), ("tf.zeros", "n"), ("tf.ragged.*", "composite")])) as recorder:
        tests = [(n, t) for n, t in globals().items() if getattr(t, "__module__", "") == "__main__" and not isinstance(t, type)]
        for name, test in tests:
            stream.begin(name)
            stream.enter(0, name)
            with recorder.watching():
                test()
    stream.begin("after"); stream.enter(0, "after")
    with recorder.watching():
        tf.math.ceil(x)
    assert tf.nn.conv2d.__code__ is PLAIN[0]
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    return record(SCRIPT, tmp_path_factory.mktemp("recorder"), TF_CPP_MIN_LOG_LEVEL="3")


def arguments(instance: Instance) -> dict[str, Any]:
    return {argument.name: argument.value for argument in instance.call}


def test_a_function_bound_before_the_recorder_came_is_seen_under_its_canonical_name(seen: dict[str, Seen]) -> None:
    instance = seen["early"].only
    assert (instance.api, instance.kind) == ("tf.linalg.matmul", Kind.FUNCTION)
    assert arguments(instance)["transpose_b"] is True
    assert dict(instance.defaults)["transpose_a"] is False


def test_aliases_are_one_api(seen: dict[str, Seen]) -> None:
    assert (seen["aliases"].apis, seen["aliases"].again) == (["tf.math.add"], 1)


def test_signatures_and_dispatch_stay_what_they_are(seen: dict[str, Seen]) -> None:
    assert "signatures" in seen
    assert seen["dispatched"].dropped["tf.math.softplus"].startswith("unrecordable:")


def test_operators_of_tensors_are_recorded(seen: dict[str, Seen]) -> None:
    assert seen["operators"].apis == ["tf.Tensor.__mul__", "tf.Tensor.__rsub__", "tf.Tensor.__neg__"]
    assert arguments(seen["getitem"].only)["slice_spec"] == (0, slice(1, None))


def test_labels_say_nothing_and_data_types_are_values(seen: dict[str, Seen]) -> None:
    assert list(arguments(seen["labels"].only)) == ["features"]
    assert arguments(seen["dtypes"].only)["dtype"] == DType("int32")
    assert arguments(seen["callables"].only)["fn"] == Named("tf.math.add")


def test_raw_operators_are_recorded_where_they_are_called_directly(seen: dict[str, Seen]) -> None:
    assert seen["raw"].apis == ["tf.raw_ops.Softsign"]
    assert seen["nested"].apis == ["tf.nn.moments"]


def test_a_call_that_raises_is_recorded_with_its_exception(seen: dict[str, Seen]) -> None:
    instance = seen["raising"].only
    assert (instance.outcome, str(instance.exception).rpartition(".")[2]) == (Outcome.RAISED, "InvalidArgumentError")


def test_an_object_that_fails_at_everything_is_dropped_and_disturbs_nothing(seen: dict[str, Seen]) -> None:
    assert seen["rude"].dropped == {"tf.math.multiply": "unrecordable:__main__.Rude"}
    assert seen["rude"].apis == ["tf.math.subtract"]


def test_variables_are_tensors_and_a_look_at_them_leaves_no_trace_on_a_tape(seen: dict[str, Seen]) -> None:
    assert arguments(seen["variables"].only)["x"].shape == (2, 2)
    assert seen["tape_sees_no_more"].apis == ["tf.math.sin"]


def test_strings_are_kept_even_where_they_are_no_text(seen: dict[str, Seen]) -> None:
    value = arguments(seen["text"].only)["input"]
    assert (value.dtype, json.loads(value.data)) == ("string", ["a", "\udcff"])


def test_ragged_tensors_and_calls_under_a_tracer_are_dropped(seen: dict[str, Seen]) -> None:
    assert seen["ragged"].dropped["tf.math.abs"] == "tensor-layout:RaggedTensor"
    assert seen["traced"].dropped["tf.math.cosh"] == "under-a-tracer"


def test_the_backward_pass_is_not_recorded(seen: dict[str, Seen]) -> None:
    assert seen["backward"].apis == ["tf.math.reduce_sum"]


def test_noise_is_counted_and_so_are_equal_calls(seen: dict[str, Seen]) -> None:
    assert (seen["noise"].instances, seen["noise"].dropped) == ([], {"tf.random.normal": "noise:random"})
    assert (len(seen["repeated"].instances), seen["repeated"].again) == (1, 2)


def test_nothing_is_recorded_once_the_recorder_is_gone(seen: dict[str, Seen]) -> None:
    assert (seen["after"].instances, seen["after"].dropped) == ([], {})
