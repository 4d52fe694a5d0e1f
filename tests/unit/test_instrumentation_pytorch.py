"""What the PyTorch recorder promises, each on real calls in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from opera.instance import Call, Constraint, DType, Instance, Kind, Named, Outcome, Tensor, decode_instance, encode_instance
from opera.sources.description import INSTRUMENTATION

SCRIPT = r"""
import runpy, sys
sys.argv[1:], (main, recording) = [], sys.argv[1:]
runpy.run_path(main)["register"]()
early_relu = None
import torch, torch.nn.functional as F
from torch.nn.functional import relu as early_relu
from torch import nn
from opera_instrumentation.filters import Filters
from opera_instrumentation.pytorch import Recorder
from opera_instrumentation.stream import Stream

x = torch.tensor([[-1.0, 2.0], [0.5, -3.0]])

class Rude:
    def __repr__(self): raise RuntimeError("no")
    __str__ = __format__ = __repr__

class Sub(torch.Tensor): pass

class Mine(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
    def forward(self, x): return self.inner(x).tanh()

def early(): early_relu(x)
def inplace(): x.clone().add_(10.0)
def keywords(): F.softmax(x, dim=1, dtype=torch.float64)
def raising():
    try: torch.matmul(x, torch.zeros(3, 3))
    except RuntimeError: pass
def rude():
    try: F.interpolate(x, Rude())
    except Exception: pass
    torch.sub(x, 1)
def subclass(): torch.neg(x.as_subclass(Sub)); torch.abs(x)
def sparse(): torch.sparse.mm(x.to_sparse(), x)
def meta(): torch.abs(torch.empty(2, device="meta"))
def nested_calls(): F.interpolate(torch.ones(1, 1, 2, 2), scale_factor=2)
def strided(): torch.exp(torch.arange(6.0).reshape(2, 3).t())
def big(): torch.sin(torch.linspace(1, 2, 1000)); torch.cos(torch.randint(0, 9, (1000,)))
def small(): torch.tan(torch.tensor([0.1, float("nan"), -0.0, float("inf")]))
def formats(): x.reshape(1, 1, 2, 2).to(memory_format=torch.channels_last)
def odd_dtypes(): torch.clone(torch.tensor([1.0, -2.0], dtype=torch.bfloat16)); torch.clone(torch.tensor([1 + 2j]))
def pooling(): F.max_pool2d(torch.ones(1, 1, 4, 4), 2)
def getter(): x.shape
def varargs(): x.permute(1, 0)
def dropout_module(): nn.Dropout(0.25).eval()(x)
def linear(): nn.Linear(2, 3, bias=False)(x)
def attention():
    q = torch.zeros(2, 1, 4)
    nn.MultiheadAttention(4, 2)(q, q, value=q, need_weights=False)
def sigmoid(): nn.Sigmoid()(x)
def recurrent(): nn.RNN(2, 3, nonlinearity="relu")(x)
def nesting(): nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, dim_feedforward=4), num_layers=1).eval()(x)
def double(): nn.Linear(2, 2).double()(x.double())
def double_buffers(): nn.BatchNorm1d(2, affine=False).double()(x.double())
def own_module(): Mine()(x)
def copied():
    import copy
    copy.deepcopy(nn.Linear(2, 2))(x)
def traced(): torch.jit.trace(lambda t: t.sinh(), (x,))
def repeated():
    for _ in range(3): torch.atan(x)
def random_values():
    for _ in range(3): torch.atan(torch.randn(500))

with Stream(recording, "pytorch", torch.__version__, "script") as stream:
    with Recorder(stream, Filters([("torch.Tensor.shape.__get__", "attribute")])) as recorder:
        tests = [(n, t) for n, t in globals().items() if getattr(t, "__module__", "") == "__main__" and not isinstance(t, type)]
        for name, test in tests:
            stream.begin(name)
            stream.enter(0, name)
            with recorder.watching():
                test()
    stream.begin("after"); stream.enter(0, "after")
    nn.Linear(2, 2)(x)
"""


@dataclass
class Seen:
    """What one test of the script left in the recording."""

    documents: list[Any] = field(default_factory=list[Any])
    dropped: dict[str, str] = field(default_factory=dict[str, str])
    again: int = 0

    @property
    def instances(self) -> dict[str, Instance]:
        return {document["api"]: decode_instance(document) for document in self.documents}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    folder = tmp_path_factory.mktemp("recorder")
    script, recording = folder / "script.py", folder / "recording.jsonl"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), str(INSTRUMENTATION / "__main__.py"), str(recording)],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return read(recording)


def read(recording: Path) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    current = Seen()
    for line in map(json.loads, recording.read_text().splitlines()):
        if "entry" in line:
            current = found.setdefault(line["name"], Seen())
        elif "instance" in line:
            found[line["test"]].documents.append(line["instance"])
        elif "again" in line:
            found[line["test"]].again += line["calls"]
        elif "dropped" in line:
            current.dropped[line["api"]] = line["dropped"]
    return found


def values(instance: Instance) -> dict[str, Any]:
    return {argument.name: argument.value for argument in instance.call}


def test_every_document_decodes_and_encodes_to_itself(seen: dict[str, Seen]) -> None:
    documents = [document for part in seen.values() for document in part.documents]
    assert len(documents) > 30
    for document in documents:
        normal = {key: value for key, value in document.items() if value != [] or key == "call"}
        assert encode_instance(decode_instance(document)) == normal


def test_names_bound_before_recording_are_seen(seen: dict[str, Seen]) -> None:
    assert list(seen["early"].instances) == ["torch.nn.functional.relu"]


def test_an_inplace_operator_is_recorded_with_the_values_before_the_call(seen: dict[str, Seen]) -> None:
    before = values(seen["inplace"].instances["torch.Tensor.add_"])["input"]
    assert before.data == seen["early"].instances["torch.nn.functional.relu"].call[0].value.data


def test_keywords_stay_keywords_and_dtypes_are_values(seen: dict[str, Seen]) -> None:
    call = seen["keywords"].instances["torch.nn.functional.softmax"].call
    assert [(item.name, item.keyword) for item in call] == [("input", False), ("dim", True), ("dtype", True)]
    assert call[2].value == DType("float64")


def test_defaults_are_kept_beside_the_arguments(seen: dict[str, Seen]) -> None:
    defaults = dict(seen["pooling"].instances["torch.nn.functional.max_pool2d"].defaults)
    assert defaults == {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False, "return_indices": False}


def test_a_call_that_raises_is_recorded_as_raised(seen: dict[str, Seen]) -> None:
    instance = seen["raising"].instances["torch.matmul"]
    assert (instance.outcome, instance.exception) == (Outcome.RAISED, "RuntimeError")


@pytest.mark.parametrize(
    ("test", "api", "reason", "next_api"),
    [
        ("rude", "torch.nn.functional.interpolate", "unrecordable:__main__.Rude", "torch.sub"),
        ("subclass", "torch.neg", "tensor-subclass", "torch.abs"),
        ("sparse", "torch.sparse.mm", "tensor-layout:sparse_coo", "torch.Tensor.to_sparse"),
        ("meta", "torch.abs", "tensor-device:meta", "torch.empty"),
        ("getter", "torch.Tensor.shape.__get__", "noise:attribute", None),
        ("copied", "torch.nn.Linear", "module-built-unseen", None),
        ("own_module", "Mine", "not-of-the-library", "torch.nn.Linear"),
        ("traced", "torch.Tensor.sinh", "under-a-tracer", None),
    ],
)
def test_what_cannot_be_recorded_is_counted_with_a_reason_and_the_test_goes_on(
    seen: dict[str, Seen], test: str, api: str, reason: str, next_api: str | None
) -> None:
    assert seen[test].dropped[api] == reason
    assert next_api is None or next_api in seen[test].instances


def test_only_the_outermost_call_is_recorded(seen: dict[str, Seen]) -> None:
    assert set(seen["nested_calls"].instances) == {"torch.ones", "torch.nn.functional.interpolate"}


def test_strides_are_kept_where_a_tensor_is_not_contiguous(seen: dict[str, Seen]) -> None:
    tensor = values(seen["strided"].instances["torch.exp"])["input"]
    assert (tensor.shape, tensor.strides) == ((3, 2), (1, 3))
    assert tensor.data is not None
    assert list(memoryview(tensor.data).cast("f")) == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_large_float_tensors_keep_what_is_known_of_them_and_integers_all_values(seen: dict[str, Seen]) -> None:
    floats = values(seen["big"].instances["torch.sin"])["input"]
    assert floats.data is None
    assert floats.constraint == Constraint(1.0, 2.0, structure=("sorted",))
    assert len(values(seen["big"].instances["torch.cos"])["input"].data) == 8000


def test_small_float_tensors_keep_values_and_special_ones_are_told(seen: dict[str, Seen]) -> None:
    tensor = values(seen["small"].instances["torch.tan"])["input"]
    assert tensor.constraint.nan
    assert tensor.constraint.inf
    assert str(memoryview(tensor.data).cast("f")[2]) == "-0.0"


def test_memory_formats_are_named(seen: dict[str, Seen]) -> None:
    assert values(seen["formats"].instances["torch.Tensor.to"])["memory_format"] == Named("torch.channels_last")


def test_narrow_and_complex_dtypes(seen: dict[str, Seen]) -> None:
    tensors = [decode_instance(document).call[0].value for document in seen["odd_dtypes"].documents if document["api"] == "torch.clone"]
    assert [(tensor.dtype, len(tensor.data)) for tensor in tensors] == [("bfloat16", 4), ("complex64", 8)]


def test_surplus_positional_arguments_keep_their_order(seen: dict[str, Seen]) -> None:
    assert [item.value for item in seen["varargs"].instances["torch.Tensor.permute"].call[1:]] == [1, 0]


def test_modules_have_constructor_arguments_mode_and_forward_arguments(seen: dict[str, Seen]) -> None:
    linear = seen["linear"].instances["torch.nn.Linear"]
    assert (linear.kind, [(item.name, item.value, item.keyword) for item in linear.init]) == (
        Kind.MODULE,
        [("in_features", 2, False), ("out_features", 3, False), ("bias", False, True)],
    )
    assert linear.context_value("training") is True
    assert seen["dropout_module"].instances["torch.nn.Dropout"].context_value("training") is False
    assert list(seen["linear"].instances) == ["torch.nn.Linear"]


def test_forward_keywords_are_kept(seen: dict[str, Seen]) -> None:
    call = seen["attention"].instances["torch.nn.MultiheadAttention"].call
    assert [(item.name, item.keyword) for item in call] == [("query", False), ("key", False), ("value", True), ("need_weights", True)]


def test_classes_without_a_constructor_of_their_own_are_seen(seen: dict[str, Seen]) -> None:
    assert seen["sigmoid"].instances["torch.nn.Sigmoid"].init == ()


def test_constructor_arguments_are_those_of_the_caller(seen: dict[str, Seen]) -> None:
    init = seen["recurrent"].instances["torch.nn.RNN"].init
    assert [(item.name, item.value) for item in init][-1] == ("nonlinearity", "relu")


def test_a_module_passed_to_a_module_is_the_call_that_makes_it(seen: dict[str, Seen]) -> None:
    layer = seen["nesting"].instances["torch.nn.TransformerEncoder"].init[0].value
    assert layer == Call("torch.nn.TransformerEncoderLayer", (("d_model", 2), ("nhead", 1), ("dim_feedforward", 4)))


def test_a_module_moved_to_another_dtype_says_so(seen: dict[str, Seen]) -> None:
    assert seen["double"].instances["torch.nn.Linear"].context_value("parameters") == DType("float64")
    assert seen["double_buffers"].instances["torch.nn.BatchNorm1d"].context_value("parameters") == DType("float64")


def test_equal_calls_are_written_once_and_counted(seen: dict[str, Seen]) -> None:
    assert (len(seen["repeated"].documents), seen["repeated"].again) == (1, 2)
    atan = [document for document in seen["random_values"].documents if document["api"] == "torch.atan"]
    assert len(atan) == 1, "tensors of random values are told apart by what is known of them, not by their values"


def test_nothing_is_recorded_after_the_recorder_has_gone(seen: dict[str, Seen]) -> None:
    assert seen["after"].documents == []


def test_values_round_trip_as_tensors(seen: dict[str, Seen]) -> None:
    for part in seen.values():
        for instance in part.instances.values():
            assert all(isinstance(tensor, Tensor) for tensor in instance.tensors())
