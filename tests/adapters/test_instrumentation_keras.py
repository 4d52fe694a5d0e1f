"""What the Keras recorder promises, each on real calls in a process of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded import Seen, record

from opera.instance import Call, Constraint, DType, Kind, Named, Outcome, Tensor, digest

SCRIPT = r"""
import inspect, runpy, sys, threading, warnings
sys.argv[1:], (main, recording) = [], sys.argv[1:]
runpy.run_path(main)["register"]()
import keras, numpy as np
from keras import layers, ops
from keras.ops import relu as early_relu
from opera_instrumentation.filters import Filters
from opera_instrumentation.keras import Recorder, version
from opera_instrumentation.stream import Stream

x = np.array([[-1.0, 2.0], [0.5, -3.0]], "float32")
TABLE = {ops.relu: "relu"}
PLAIN = ops.conv.__code__, inspect.signature(ops.conv)

class Rude:
    def __repr__(self): raise RuntimeError("no")
    __str__ = __format__ = __hash__ = __len__ = __eq__ = __repr__

class Mine(layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = layers.Dropout(0.5, seed=1)
    def call(self, x): return self.inner(x)

def early(): early_relu(ops.convert_to_tensor(x))
def inner_name():
    from keras.src.ops import numpy as knp
    knp.add(x, 1)
def alias(): ops.swish(x)
def unchanged():
    assert TABLE[ops.relu] == "relu" and early_relu is ops.relu
    assert inspect.signature(ops.conv) == PLAIN[1]
    assert inspect.getfullargspec(ops.conv).args[:2] == ["inputs", "kernel"]
    assert keras.activations.get("gelu") is keras.activations.gelu
def keywords(): ops.softmax(x, axis=0)
def raising():
    try: ops.matmul(x, np.zeros((3, 3), "float32"))
    except Exception: pass
def rude():
    try: ops.add(x, Rude())
    except Exception: pass
    ops.subtract(x, 1)
def integers(): ops.take(x, np.array([1, 0]), axis=1)
def big(): ops.sin(np.linspace(1, 2, 1000, dtype="float32"))
def definite(): ops.cholesky(np.eye(20, dtype="float32") * np.linspace(1, 3, 20, dtype="float32"))
def text(): layers.StringLookup(vocabulary=["a", "b"])(np.array(["a", "c"]))
def dense(): layers.Dense(3, activation="relu", name="label")(x)
def objects(): layers.Dense(3, kernel_initializer=keras.initializers.Constant(0.5), activation=keras.activations.tanh)(x)
def wrapped(): layers.Bidirectional(layers.GRU(2, return_sequences=True), merge_mode="sum")(np.ones((1, 3, 2), "float32"))
def call_keywords(): layers.BatchNormalization()(x, training=True)
def dtypes(): ops.cast(x, "int32"); ops.cast(x, np.dtype("int32"))
def half(): layers.Dense(2, dtype="mixed_bfloat16")(x)
def own_layer(): Mine()(x, training=True)
def sequential(): keras.Sequential([layers.Flatten()])(x)
def channels_first():
    keras.config.set_image_data_format("channels_first")
    try: layers.MaxPooling2D(2)(np.ones((1, 1, 4, 4), "float32"))
    finally: keras.config.set_image_data_format("channels_last")
def symbolic(): ops.exp(keras.KerasTensor((2, 3)))
def symbolic_batch(): ops.log1p(keras.Input((3,)))
def symbolic_integers(): ops.one_hot(keras.KerasTensor((2,), dtype="int32"), 3)
def callbacks(): ops.map(lambda t: ops.cosh(t), x)
def repeated():
    for _ in range(3): ops.tan(x)
def random_values():
    for _ in range(3): ops.tanh(np.random.randn(500).astype("float32"))
def elsewhere():
    thread = threading.Thread(target=lambda: ops.sinh(x))
    thread.start(); thread.join()
def built_before(): OLD(x)
def compiled():
    if keras.config.backend() != "torch": return
    import torch
    program = torch.compile(lambda t: ops.arctan(t) + 1, backend="eager", fullgraph=True)
    assert np.allclose(program(torch.ones(2)).numpy(), np.arctan(1) + 1)
def compiled_layer():
    if keras.config.backend() != "torch": return
    import torch
    layer = layers.Dense(2, kernel_initializer="ones")
    layer.build((1, 3))
    program = torch.compile(lambda t: layer(t) * 2, backend="eager")
    assert np.allclose(program(torch.ones(1, 3)).detach().numpy(), [[6, 6]])
def frames():
    keras.config.disable_traceback_filtering()
    try: layers.Dense(2)(np.ones((), "float32"))
    except Exception as error: trace = error.__traceback__
    finally: keras.config.enable_traceback_filtering()
    while trace:
        if trace.tb_frame.f_code.co_freevars: FRAMES[trace.tb_frame.f_code.co_name] = dict(trace.tb_frame.f_locals)
        trace = trace.tb_next
    assert FRAMES["error_handler"]["fn"].__name__ == "__call__"

FRAMES = {}
OLD = layers.Dense(2)
NOISE = {
    "container": ["keras.Sequential"], "control-flow": ["keras.ops.map"], "conversion": ["keras.ops.convert_to_tensor"],
    "registry": ["keras.activations.get", "keras.activations.serialize"], "python-value": ["keras.ops.is_tensor", "keras.ops.shape"],
}
filters = Filters([(api, group) for group, apis in NOISE.items() for api in apis])
with Stream(recording, "keras", version(), "script") as stream:
    with Recorder(stream, filters) as recorder:
        tests = [(n, t) for n, t in globals().items() if getattr(t, "__module__", "") == "__main__" and not isinstance(t, type)]
        for name, test in tests:
            stream.begin(name)
            stream.enter(0, name)
            with recorder.watching():
                test()
        stream.begin("between"); stream.enter(0, "between")
        ops.floor(x)
    stream.begin("after"); stream.enter(0, "after")
    with recorder.watching():
        ops.ceil(x)
    assert ops.conv.__code__ is PLAIN[0] and "__signature__" not in vars(ops.conv)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    return record(SCRIPT, tmp_path_factory.mktemp("recorder"), KERAS_BACKEND="torch")


def arguments(items: Any) -> dict[str, Any]:
    return {argument.name: argument.value for argument in items}


@pytest.mark.slow
def test_a_function_bound_before_the_recorder_came_is_seen(seen: dict[str, Seen]) -> None:
    assert seen["early"].of("keras.ops.relu").kind is Kind.FUNCTION


def test_a_function_has_one_public_name_however_it_is_reached(seen: dict[str, Seen]) -> None:
    assert seen["inner_name"].only.api == "keras.ops.add"
    assert seen["alias"].only.api == "keras.ops.silu"


def test_functions_stay_what_they_are_to_tables_signatures_and_registries(seen: dict[str, Seen]) -> None:
    assert "unchanged" in seen


def test_arguments_have_names_and_keep_how_they_were_passed(seen: dict[str, Seen]) -> None:
    instance = seen["keywords"].only
    assert [(argument.name, argument.keyword) for argument in instance.call] == [("x", False), ("axis", True)]
    assert dict(instance.defaults)["axis"] == -1
    assert instance.outcome is Outcome.RETURNED


def test_a_call_that_raises_is_recorded_with_its_exception(seen: dict[str, Seen]) -> None:
    instance = seen["raising"].only
    assert instance.outcome is Outcome.RAISED
    assert instance.exception is not None


def test_an_object_that_fails_at_everything_is_dropped_and_disturbs_nothing(seen: dict[str, Seen]) -> None:
    assert seen["rude"].dropped == {"keras.ops.add": "unrecordable:__main__.Rude"}
    assert seen["rude"].of("keras.ops.subtract")


def test_integers_keep_their_values_and_large_floats_a_constraint(seen: dict[str, Seen]) -> None:
    indices = arguments(seen["integers"].only.call)["indices"]
    assert (indices.dtype, indices.data) == ("int64", (1).to_bytes(8, "little") + bytes(8))
    drawn = arguments(seen["big"].only.call)["x"]
    assert drawn == Tensor((1000,), "float32", constraint=Constraint(1.0, 2.0, structure=("sorted",)))
    matrix = arguments(seen["definite"].only.call)["x"]
    assert "positive-definite" in matrix.constraint.structure


def test_a_data_type_is_the_same_by_name_and_as_an_object(seen: dict[str, Seen]) -> None:
    assert arguments(seen["dtypes"].only.call)["dtype"] == DType("int32")
    assert seen["dtypes"].again == 1


def test_arrays_of_text_are_string_tensors(seen: dict[str, Seen]) -> None:
    instance = seen["text"].only
    value = arguments(instance.call)["inputs"]
    assert (value.dtype, json.loads(value.data)) == ("string", ["a", "c"])
    assert arguments(instance.init)["vocabulary"] == ["a", "b"]


def test_a_layer_is_recorded_with_what_its_constructor_was_given_but_for_its_label(seen: dict[str, Seen]) -> None:
    instance = seen["dense"].only
    assert (instance.api, instance.kind) == ("keras.layers.Dense", Kind.MODULE)
    assert arguments(instance.init) == {"units": 3, "activation": "relu"}
    assert [argument.name for argument in instance.call] == ["inputs"]


def test_objects_of_the_library_are_recorded_by_the_call_that_makes_them(seen: dict[str, Seen]) -> None:
    init = arguments(seen["objects"].of("keras.layers.Dense").init)
    assert init["kernel_initializer"] == Call("keras.initializers.Constant", (("value", 0.5),))
    assert init["activation"] == Named("keras.activations.tanh")
    layer = arguments(seen["wrapped"].only.init)["layer"]
    assert layer == Call("keras.layers.GRU", (("units", 2), ("return_sequences", True)))


def test_what_is_called_inside_a_recorded_call_is_not_recorded(seen: dict[str, Seen]) -> None:
    assert [instance.api for instance in seen["wrapped"].instances] == ["keras.layers.Bidirectional"]


def test_keywords_of_the_call_and_what_it_depends_on_are_kept(seen: dict[str, Seen]) -> None:
    assert arguments(seen["call_keywords"].only.call)["training"] is True
    assert seen["half"].only.context_value("dtype_policy") == "mixed_bfloat16"
    assert seen["channels_first"].only.context_value("image_data_format") == "channels_first"
    assert seen["dense"].only.context == ()


def test_inside_a_layer_that_the_test_defines_calls_are_seen_with_the_mode_that_it_imposes(seen: dict[str, Seen]) -> None:
    found = seen["own_layer"]
    assert list(found.dropped.values()) == ["not-of-the-library"]
    assert (found.only.api, found.only.context_value("training")) == ("keras.layers.Dropout", True)


def test_noise_is_counted_and_what_is_inside_of_it_seen(seen: dict[str, Seen]) -> None:
    assert seen["sequential"].dropped["keras.Sequential"] == "noise:container"
    assert {instance.api for instance in seen["sequential"].instances} == {"keras.layers.Flatten"}
    assert seen["callbacks"].dropped["keras.ops.map"] == "noise:control-flow"
    assert {instance.api for instance in seen["callbacks"].instances} == {"keras.ops.cosh"}


def test_symbolic_calls_are_recorded_by_shape_and_dropped_where_that_says_too_little(seen: dict[str, Seen]) -> None:
    instance = seen["symbolic"].only
    assert arguments(instance.call)["x"] == Tensor((2, 3), "float32", constraint=Constraint(-1.0, 1.0))
    assert instance.outcome is Outcome.UNKNOWN
    assert seen["symbolic_batch"].dropped == {"keras.ops.log1p": "symbolic-shape"}
    assert seen["symbolic_integers"].dropped == {"keras.ops.one_hot": "symbolic-integers"}


def test_equal_calls_and_calls_that_differ_in_drawn_values_are_counted(seen: dict[str, Seen]) -> None:
    for test in ("repeated", "random_values"):
        assert (len(seen[test].instances), seen[test].again) == (1, 2)


def test_only_the_thread_that_is_watched_is_recorded_and_only_while_it_is(seen: dict[str, Seen]) -> None:
    for test in ("elsewhere", "between", "after"):
        assert (seen[test].instances, seen[test].dropped) == ([], {})


def test_a_layer_that_was_built_before_is_dropped(seen: dict[str, Seen]) -> None:
    assert seen["built_before"].dropped["keras.layers.Dense"] == "module-built-unseen"


def test_a_program_that_torch_compiles_runs_and_is_not_recorded(seen: dict[str, Seen]) -> None:
    assert seen["compiled"].instances == []
    assert [instance.api for instance in seen["compiled_layer"].instances] == ["keras.ops.ones"]  # as the layer was built


def test_local_variables_can_be_read_in_every_frame_of_an_error_as_pytest_does(seen: dict[str, Seen]) -> None:
    assert seen["frames"].only.outcome is Outcome.RAISED


@pytest.mark.slow
def test_identities_do_not_depend_on_what_keras_runs_on(seen: dict[str, Seen], tmp_path: Path) -> None:
    other = record(SCRIPT, tmp_path, KERAS_BACKEND="jax")
    tests = ("early", "keywords", "integers", "big", "definite", "dense", "wrapped", "call_keywords", "symbolic", "half")
    for test in tests:
        assert [digest(item) for item in other[test].instances] == [digest(item) for item in seen[test].instances], test
