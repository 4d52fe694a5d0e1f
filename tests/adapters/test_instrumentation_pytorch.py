"""What the PyTorch recorder promises, each on real calls in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recorded import Seen, record

from opera.extract.description import INSTRUMENTATION
from opera.instance import Call, Constraint, DType, Instance, Kind, Named, Outcome, Tensor, decode_instance, encode_instance

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


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    return record(SCRIPT, tmp_path_factory.mktemp("recorder"))


def values(instance: Instance) -> dict[str, Any]:
    return {argument.name: argument.value for argument in instance.call}


def test_every_document_decodes_and_encodes_to_itself(seen: dict[str, Seen]) -> None:
    documents = [document for part in seen.values() for document in part.documents]
    assert len(documents) > 30
    for document in documents:
        normal = {key: value for key, value in document.items() if value != [] or key == "call"}
        assert encode_instance(decode_instance(document)) == normal


def test_an_operator_has_its_documented_name() -> None:
    names = "torch.mm, torch.bmm, torch.linalg.det, torch.nn.functional.threshold, torch.sspaddmm, torch.Tensor.mm"
    code = f"import torch; from opera.instrumentation.pytorch_names import function_name; print(*map(function_name, ({names})))"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert printed == names.split(", ")


def test_names_bound_before_recording_are_seen(seen: dict[str, Seen]) -> None:
    assert seen["early"].apis == ["torch.nn.functional.relu"]


def test_an_inplace_operator_is_recorded_with_the_values_before_the_call(seen: dict[str, Seen]) -> None:
    before = values(seen["inplace"].of("torch.Tensor.add_"))["input"]
    assert before.data == seen["early"].of("torch.nn.functional.relu").call[0].value.data


def test_keywords_stay_keywords_and_dtypes_are_values(seen: dict[str, Seen]) -> None:
    call = seen["keywords"].of("torch.nn.functional.softmax").call
    assert [(item.name, item.keyword) for item in call] == [("input", False), ("dim", True), ("dtype", True)]
    assert call[2].value == DType("float64")


def test_defaults_are_kept_beside_the_arguments(seen: dict[str, Seen]) -> None:
    defaults = dict(seen["pooling"].of("torch.nn.functional.max_pool2d").defaults)
    assert defaults == {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False, "return_indices": False}


def test_a_call_that_raises_is_recorded_as_raised(seen: dict[str, Seen]) -> None:
    instance = seen["raising"].of("torch.matmul")
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
    assert next_api is None or next_api in seen[test].apis


def test_only_the_outermost_call_is_recorded(seen: dict[str, Seen]) -> None:
    assert set(seen["nested_calls"].apis) == {"torch.ones", "torch.nn.functional.interpolate"}


def test_strides_are_kept_where_a_tensor_is_not_contiguous(seen: dict[str, Seen]) -> None:
    tensor = values(seen["strided"].of("torch.exp"))["input"]
    assert (tensor.shape, tensor.strides) == ((3, 2), (1, 3))
    assert tensor.data is not None
    assert list(memoryview(tensor.data).cast("f")) == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_large_float_tensors_keep_what_is_known_of_them_and_integers_all_values(seen: dict[str, Seen]) -> None:
    floats = values(seen["big"].of("torch.sin"))["input"]
    assert floats.data is None
    assert floats.constraint == Constraint(1.0, 2.0, structure=("sorted",))
    assert len(values(seen["big"].of("torch.cos"))["input"].data) == 8000


def test_small_float_tensors_keep_values_and_special_ones_are_told(seen: dict[str, Seen]) -> None:
    tensor = values(seen["small"].of("torch.tan"))["input"]
    assert tensor.constraint.nan
    assert tensor.constraint.inf
    assert str(memoryview(tensor.data).cast("f")[2]) == "-0.0"


def test_memory_formats_are_named(seen: dict[str, Seen]) -> None:
    assert values(seen["formats"].of("torch.Tensor.to"))["memory_format"] == Named("torch.channels_last")


def test_narrow_and_complex_dtypes(seen: dict[str, Seen]) -> None:
    tensors = [decode_instance(document).call[0].value for document in seen["odd_dtypes"].documents if document["api"] == "torch.clone"]
    assert [(tensor.dtype, len(tensor.data)) for tensor in tensors] == [("bfloat16", 4), ("complex64", 8)]


def test_surplus_positional_arguments_keep_their_order(seen: dict[str, Seen]) -> None:
    assert [item.value for item in seen["varargs"].of("torch.Tensor.permute").call[1:]] == [1, 0]


def test_modules_have_constructor_arguments_mode_and_forward_arguments(seen: dict[str, Seen]) -> None:
    linear = seen["linear"].of("torch.nn.Linear")
    assert (linear.kind, [(item.name, item.value, item.keyword) for item in linear.init]) == (
        Kind.MODULE,
        [("in_features", 2, False), ("out_features", 3, False), ("bias", False, True)],
    )
    assert linear.context_value("training") is True
    assert seen["dropout_module"].of("torch.nn.Dropout").context_value("training") is False
    assert seen["linear"].apis == ["torch.nn.Linear"]


def test_forward_keywords_are_kept(seen: dict[str, Seen]) -> None:
    call = seen["attention"].of("torch.nn.MultiheadAttention").call
    assert [(item.name, item.keyword) for item in call] == [("query", False), ("key", False), ("value", True), ("need_weights", True)]


def test_classes_without_a_constructor_of_their_own_are_seen(seen: dict[str, Seen]) -> None:
    assert seen["sigmoid"].of("torch.nn.Sigmoid").init == ()


def test_constructor_arguments_are_those_of_the_caller(seen: dict[str, Seen]) -> None:
    init = seen["recurrent"].of("torch.nn.RNN").init
    assert [(item.name, item.value) for item in init][-1] == ("nonlinearity", "relu")


def test_a_module_passed_to_a_module_is_the_call_that_makes_it(seen: dict[str, Seen]) -> None:
    layer = seen["nesting"].of("torch.nn.TransformerEncoder").init[0].value
    assert layer == Call("torch.nn.TransformerEncoderLayer", (("d_model", 2), ("nhead", 1), ("dim_feedforward", 4)))


def test_a_module_moved_to_another_dtype_says_so(seen: dict[str, Seen]) -> None:
    assert seen["double"].of("torch.nn.Linear").context_value("parameters") == DType("float64")
    assert seen["double_buffers"].of("torch.nn.BatchNorm1d").context_value("parameters") == DType("float64")


def test_equal_calls_are_written_once_and_counted(seen: dict[str, Seen]) -> None:
    assert (len(seen["repeated"].documents), seen["repeated"].again) == (1, 2)
    atan = [document for document in seen["random_values"].documents if document["api"] == "torch.atan"]
    assert len(atan) == 1, "tensors of random values are told apart by what is known of them, not by their values"


def test_nothing_is_recorded_after_the_recorder_has_gone(seen: dict[str, Seen]) -> None:
    assert seen["after"].documents == []


def test_values_round_trip_as_tensors(seen: dict[str, Seen]) -> None:
    for part in seen.values():
        for instance in part.instances:
            assert all(isinstance(tensor, Tensor) for tensor in instance.tensors())


# What a test can do to a recorder, and what a recorder must not do to a test: each of these also passes without one.

HARD = r"""
import os, threading, warnings, weakref
import pytest, torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

class Rude(int):
    def _no(self, *_): raise RuntimeError("no")
    __repr__ = __str__ = __format__ = __eq__ = __hash__ = __bool__ = _no

class Ruder:
    def _no(self, *_): raise RuntimeError("no")
    __repr__ = __str__ = __format__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __getattr__ = _no

class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append((function.__name__, len(args), sorted(kwargs or {})))
        return function(*args, **(kwargs or {}))

class Kernels(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))

def some_calls():
    x = torch.randn(300, requires_grad=True)
    torch.sin(x)
    F.dropout(x, 0.5, training=False)
    nn.Linear(300, 2)(x).sum().backward()
    x[3]

def test_rude_objects():
    assert torch.sum(torch.ones(2, 2), Rude(1)).tolist() == [2, 2]
    with pytest.raises(Exception): torch.add(torch.ones(2), Ruder())
    with pytest.raises(Exception): F.interpolate(torch.ones(1, 1, 2, 2), Ruder())
    torch.asinh(torch.ones(2))

def test_function_without_a_hash():
    class Function:
        __name__ = "function"
        def __hash__(self): raise RuntimeError("no")
        def __call__(self, x): return 5
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_): return 5
    assert torch.overrides.handle_torch_function(Function(), (torch.ones(2).as_subclass(Sub),), torch.ones(2)) == 5

def test_number_of_5000_digits():
    with pytest.raises(Exception) as caught: torch.add(torch.ones(2), 10 ** 5000)
    assert "4300" not in str(caught.value)

def test_40_nested_lists():
    nested = 1.0
    for _ in range(40): nested = [nested]
    assert torch.tensor(nested).dim() == 40

def test_lists_that_share_their_parts():
    shared = [1]
    for _ in range(40): shared = [shared, shared]
    with pytest.raises(Exception): F.interpolate(torch.ones(1, 1, 2, 2), shared)
    with pytest.raises(Exception): F.interpolate(torch.ones(1, 1, 2, 2), [object(), shared])
    with pytest.raises(Exception): F.interpolate(torch.ones(1, 1, 2, 2), {"a": shared})
    own = []
    own.append(own)
    with pytest.raises(Exception): F.pad(torch.ones(2), own)

def test_long_list():
    assert torch.ones(3)[[0, 1, 2] * 300_000].shape == (900_000,)

def test_unhashable_default():
    def function(x, sizes=[1, 2]): return torch.reshape(x, sizes)
    assert function(torch.ones(2)).shape == (1, 2)

def test_subclass():
    class Sub(torch.Tensor): pass
    assert type(torch.neg(torch.ones(2).as_subclass(Sub))) is Sub

def test_exceptions_keep_type_and_arguments():
    class Odd(Exception): pass
    error = Odd(1, "two")
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_): raise error
    with pytest.raises(Odd) as caught: torch.sin(torch.ones(2).as_subclass(Sub))
    assert caught.value is error
    assert caught.value.args == (1, "two")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"): torch.matmul(torch.ones(2, 3), torch.ones(2, 3))

def test_10_gigabytes():
    x = torch.zeros(1).expand(50_000, 50_000)
    assert (x.t().shape, x[0, :2].tolist()) == ((50_000, 50_000), [0, 0])
    y = torch.zeros(1).expand(16_000, 16_000)
    assert y.t().shape == (16_000, 16_000)

def test_zero_tensor():
    assert torch.add(torch._efficientzerotensor((3,)), torch.ones(3)).tolist() == [1, 1, 1]

def test_storage_that_was_resized():
    for size in (100, 1 << 22):
        for left in (0, 8):
            x = torch.randn(size)
            part = x[::2]
            x.untyped_storage().resize_(left)
            torch.ones_like(x)
            torch.ones_like(part)

def test_lazy_copies_stay_lazy():
    x = torch._lazy_clone(torch.randn(300))
    torch.cos(x)
    assert torch._C._is_cow_tensor(x)

def test_lazy_negation_and_conjugation():
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert torch.view_as_real(z.conj().resolve_conj())[0].tolist() == [1, -2]
    assert (z.conj().imag.is_neg(), (z.conj().imag + 1).tolist()) == (True, [-1, 5])

def test_swapping_tensors():
    a, b = torch.randn(300), torch.zeros(300)
    torch.sin(a), torch.sin(b)
    torch.utils.swap_tensors(a, b)
    assert a.tolist() == [0] * 300

def test_nothing_is_kept_alive():
    x, m = torch.randn(500), nn.Linear(500, 2)
    m(torch.sin(x))
    seen = [weakref.ref(x), weakref.ref(m)]
    del x, m
    assert [each() for each in seen] == [None, None]

def test_own_modes_see_what_they_see_without_recorder():
    kernels, functions = Kernels(), Functions()
    kernels.seen, functions.seen = [], []
    with kernels: some_calls()
    with functions: some_calls()
    assert len(kernels.seen) > 5
    assert "sin" in [name for name, _, _ in functions.seen]
    with open(os.environ["SEEN"], "w") as file: file.write(repr((kernels.seen, functions.seen)))

def test_profiler_sees_only_the_test():
    from torch.profiler import ProfilerActivity, profile
    x = torch.randn(500)
    with profile(activities=[ProfilerActivity.CPU]) as profiled: torch.cos(x)
    assert {event.key for event in profiled.key_averages()} == {"aten::cos"}

def test_saved_tensors():
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: packed.append(1) or x, lambda x: x):
        torch.sin(torch.randn(300, requires_grad=True)).sum()
    assert packed == [1]

def test_random_numbers():
    torch.manual_seed(0)
    first = torch.rand(400)
    torch.manual_seed(0)
    torch.matmul(torch.eye(20), torch.eye(20))
    assert torch.equal(torch.rand(400), first)

def test_forward_mode():
    from torch.autograd import forward_ad
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(torch.sin(forward_ad.make_dual(torch.randn(100), torch.ones(100)))).tangent is not None

def test_transforms():
    assert torch.vmap(torch.sinh)(torch.zeros(3, 4)).shape == (3, 4)
    assert torch.func.grad(lambda x: torch.sinh(x).sum())(torch.zeros(3)).tolist() == [1, 1, 1]

def test_fake_tensors():
    from torch._subclasses import FakeTensorMode
    with FakeTensorMode(): y = nn.Linear(3, 3)(torch.tanh(torch.ones(3)))
    assert torch.cosh(y).shape == (3,)

def test_meta():
    assert torch.tan(torch.ones(3, device="meta")).is_meta
    with torch.device("meta"): assert nn.Linear(2, 2).weight.is_meta

def test_compiled():
    @torch.compile(backend="eager", fullgraph=True)
    def function(x): return F.softplus(torch.sin(x)).relu() + 1
    assert function(torch.zeros(3)).shape == (3,)
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)
        def forward(self, x): return nn.Tanh()(self.inner(x))
    assert torch.compile(Mine(), backend="eager", fullgraph=True)(torch.zeros(3, 2)).shape == (3, 2)

def test_scripted_traced_and_exported():
    layer = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    torch.jit.script(layer)(torch.zeros(3, 2))
    torch.jit.trace(layer, (torch.zeros(3, 2),))
    torch.fx.symbolic_trace(layer)(torch.zeros(3, 2))
    assert "linear" in str(torch.export.export(layer, (torch.zeros(3, 2),)).graph)

def test_warnings_have_file_and_line_of_the_test():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.ones(2, 3, 4).T  # line
        F.softmax(torch.ones(2, 3))  # line
    lines = [number for number, text in enumerate(open(__file__), 1) if text.endswith("# line\n")]
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, number) for number in lines]

def test_threads():
    def run(): torch.arccos(torch.zeros(7))
    thread = threading.Thread(target=run)
    thread.start(), thread.join()

def test_flood():
    x = torch.arange(10_000.0)
    for i in range(10_000): x[i]
    for i in range(400): x.index_select(0, torch.tensor([i]))
    for operator in (torch.add, torch.sub, torch.mul):
        for i in range(400): operator(x, i)
    torch.atanh(x)

def test_writing_behind_its_back():
    x = torch.zeros(300)
    torch.erf(x)
    x.data.fill_(-7.0)
    torch.erf(x)

@pytest.mark.parametrize("number", range(15))
def test_many(number): torch.logit(torch.full((2, 2), 0.25))
"""


@dataclass
class Hard:
    """What came of the file above, without a recorder and with it."""

    outcomes: list[dict[str, str]]
    modes: list[str]
    seen: dict[str, Seen]
    dropped: dict[tuple[str, str], int]


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Hard:
    folder = tmp_path_factory.mktemp("hard")
    (folder / "test_hard.py").write_text(HARD)
    both = [_watch(folder, "unwatched", "--unwatched"), _watch(folder, "watched")]
    seen: dict[str, Seen] = {}
    dropped: dict[tuple[str, str], int] = {}
    for line in both[1]:
        part = seen.setdefault(str(line.get("test")).rpartition("::")[2], Seen())
        if "instance" in line:
            part.documents.append(line["instance"])
        elif "again" in line:
            part.again += line["calls"]
        elif "dropped" in line:
            place = line["api"], line["dropped"]
            dropped[place] = dropped.get(place, 0) + line["calls"]
    outcomes = [{line["test"]: line["outcome"] for line in lines if "outcome" in line} for lines in both]
    return Hard(outcomes, [(folder / name).read_text() for name in ("unwatched.modes", "watched.modes")], seen, dropped)


def _watch(folder: Path, name: str, *arguments: str) -> list[dict[str, Any]]:
    recording = folder / f"{name}.jsonl"
    command = [sys.executable, str(INSTRUMENTATION / "__main__.py"), "suite", "--library", "pytorch", "--recording", str(recording)]
    command += ["--root", str(folder), "--file", "test_hard.py", "--runner", "pytest", *arguments]
    environment = {**os.environ, "SEEN": str(folder / f"{name}.modes"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " failed" not in done.stdout, done.stdout
    return [json.loads(line) for line in recording.read_text().splitlines()]


@pytest.mark.slow
def test_no_test_ends_differently_under_the_recorder(hard: Hard) -> None:
    assert set(hard.outcomes[0].values()) == {"passed"}
    assert hard.outcomes[0] == hard.outcomes[1]
    assert len(hard.outcomes[1]) > 40


@pytest.mark.slow
def test_modes_of_a_test_see_what_they_see_without_the_recorder(hard: Hard) -> None:
    assert hard.modes[0] == hard.modes[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "reason"),
    [
        ("torch.nn.functional.interpolate", "unrecordable:test_hard.Ruder"),
        ("torch.add", "recorder-error:ValueError"),
        ("torch.tensor", "nested-too-deep"),
        ("torch.nn.functional.interpolate", "too-many-values"),
        ("torch.Tensor.__getitem__", "too-many-values"),
        ("torch.nn.functional.pad", "nested-too-deep"),
        ("torch.neg", "tensor-subclass"),
        ("torch.Tensor.t", "tensor-too-large"),
        ("torch.add", "tensor-without-memory"),
        ("torch.ones_like", "tensor-without-memory"),
        ("torch.cos", "under-a-tracer"),
        ("torch.sinh", "under-a-tracer"),
        ("torch.tanh", "under-a-tracer"),
        ("torch.cosh", "tensor-subclass"),
        ("torch.tan", "tensor-device:meta"),
    ],
)
def test_what_a_test_does_to_itself_is_dropped_with_a_reason(hard: Hard, api: str, reason: str) -> None:
    assert hard.dropped.get((api, reason))


@pytest.mark.slow
def test_the_calls_around_what_was_dropped_are_recorded(hard: Hard) -> None:
    assert values(hard.seen["test_rude_objects"].of("torch.sum"))["dim"] == 1
    assert "torch.asinh" in hard.seen["test_rude_objects"].apis
    assert hard.seen["test_exceptions_keep_type_and_arguments"].of("torch.matmul").exception == "RuntimeError"
    assert "torch.reshape" in hard.seen["test_unhashable_default"].apis


@pytest.mark.slow
def test_calls_in_threads_are_recorded(hard: Hard) -> None:
    assert "torch.arccos" in hard.seen["test_threads"].apis


@pytest.mark.slow
def test_a_huge_view_is_recorded_without_being_copied(hard: Hard) -> None:
    view = values(hard.seen["test_10_gigabytes"].of("torch.Tensor.t"))["input"]
    assert (view.shape, view.data) == ((16_000, 16_000), None)


@pytest.mark.slow
def test_a_flood_is_cut_and_counted_and_what_follows_it_is_recorded(hard: Hard) -> None:
    documents = hard.seen["test_flood"].documents
    apis = Counter(document["api"] for document in documents)
    assert apis["torch.Tensor.__getitem__"] == apis["torch.Tensor.index_select"] == 256
    assert apis["torch.add"] == apis["torch.sub"] == apis["torch.mul"] == 256, "one place that calls many functions"
    assert apis["torch.atanh"] == 1
    assert hard.dropped["*", "flood"] >= 10_000 - 256 + 4 * (400 - 256)


@pytest.mark.slow
def test_values_that_change_behind_the_library_are_looked_at_again(hard: Hard) -> None:
    documents = [document for document in hard.seen["test_writing_behind_its_back"].documents if document["api"] == "torch.erf"]
    assert [decode_instance(document).call[0].value.constraint.low for document in documents] == [0.0, -7.0]


@pytest.mark.slow
def test_an_instance_names_ten_tests_and_sums_up_the_others(hard: Hard) -> None:
    documents = hard.seen["test_many[0]"].documents
    assert "torch.logit" in [document["api"] for document in documents]
    named = [name for name, part in hard.seen.items() if name.startswith("test_many") and (part.again or part.documents)]
    assert len(named) == 10
    assert hard.seen["*"].again >= 5
