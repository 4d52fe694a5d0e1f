"""Single-operator models: arrays and their bytes, bundles, sampling, input forms, and where templates come from."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opera import bundle
from opera.arrays import dtype_name, from_bytes, numpy_dtype, pack, packed_size, tensor_array, to_bytes, unpack
from opera.compilers.canary import canaries
from opera.compilers.registry import choose_route, plugin, plugins
from opera.errors import EnvironmentBroken, UserError
from opera.instance import Argument, Constraint, Instance, Kind, Tensor
from opera.instrumentation.tensors import DTYPE_BITS
from opera.models.forms import InputForm, bakeable, constant_inputs, forms_of
from opera.models.sampling import sample
from opera.models.template import template_of
from opera.models.variants import is_refused_dtype

NUMERIC = sorted(set(DTYPE_BITS) - {"string", "complex32", "qint8", "quint8", "qint32"})
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Any array that a model may have: every dtype, 0-d, empty, any bits, not always contiguous."""
    name = draw(st.sampled_from([*NUMERIC, "string"]))
    shape = draw(SHAPES)
    count = math.prod(shape)
    if name == "string":
        flat = np.empty(count, dtype=object)
        flat[:] = draw(st.lists(st.text(max_size=5), min_size=count, max_size=count))
        return flat.reshape(shape)
    dtype = numpy_dtype(name)
    bits = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    codes = np.frombuffer(bits, np.uint8)
    if name == "bool":
        codes = codes & 1
    elif DTYPE_BITS[name] < 8:
        lowest = -(1 << (DTYPE_BITS[name] - 1)) if name.startswith("int") else 0
        codes = (codes % (1 << DTYPE_BITS[name])).astype(np.int8) + np.int8(lowest)
        codes = codes.astype(dtype) if "int" in name else codes.view(np.uint8)
    array = codes.view(dtype).reshape(shape)
    return array.T if draw(st.booleans()) else array


def same(one: Any, other: Any) -> bool:
    """Whether two trees are equal to the bit."""
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, (np.ndarray, np.generic)):
        left, right = np.asarray(one), np.asarray(other)
        if left.dtype == object:
            return right.dtype == object and left.shape == right.shape and left.tolist() == right.tolist()
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    return one == other


TREES = st.recursive(
    arrays() | st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(TREES)
@example({"empty": np.zeros((0, 3), ml_dtypes.bfloat16), "scalar": np.float32(-0.0), "nan": np.array(float("nan"))})
@example([np.array(["", "ü", "\udcff"], dtype=object), [[np.array(1)], []], None])
def test_a_bundle_gives_back_every_tree_to_the_bit(tree: Any) -> None:
    assert same(tree, bundle.parse(bundle.dump(tree)))


@given(arrays())
def test_an_array_survives_its_bytes_and_has_the_canonical_name(array: Any) -> None:
    name = dtype_name(array.dtype)
    assert same(array, from_bytes(to_bytes(array), name, array.shape))


def test_big_endian_arrays_are_kept_little_endian() -> None:
    array = np.array([1, 2, 3], dtype=">i4")
    assert to_bytes(array) == np.array([1, 2, 3], dtype="<i4").tobytes()


@given(arrays().filter(lambda array: array.dtype != object))
def test_packed_elements_survive_and_take_as_many_bytes_as_announced(array: Any) -> None:
    name = dtype_name(array.dtype)
    packed = pack(array)
    if DTYPE_BITS[name] in (2, 4, 8, 16, 32, 64, 128):
        assert len(packed) == packed_size(name, array.size)
    assert same(array, unpack(packed, name, array.shape))


def test_the_first_of_two_packed_elements_is_in_the_low_bits() -> None:
    assert pack(np.array([1, 2, 3], dtype=ml_dtypes.uint4)) == bytes([0x21, 0x03])
    assert pack(np.array([-1, 0], dtype=ml_dtypes.int4)) == bytes([0x0F])


def test_a_dtype_that_no_instance_has_is_an_error() -> None:
    with pytest.raises(ValueError, match="datetime64"):
        dtype_name(np.dtype("datetime64[s]"))


def test_tensors_without_values_have_no_array() -> None:
    with pytest.raises(ValueError, match="not kept"):
        tensor_array(Tensor((2,), "float32"))


# Damage.

WHOLE = bundle.dump({"a": np.arange(40, dtype=np.float32), "b": [np.array([1, 2])], "c": "text"})


@given(st.integers(0, len(WHOLE) - 1))
def test_a_bundle_cut_short_is_damaged_or_was_cut_in_padding(end: int) -> None:
    try:
        tree = bundle.parse(WHOLE[:end])
    except bundle.DamagedArtefact:
        return
    assert same(tree, bundle.parse(WHOLE))


@given(st.binary(max_size=300))
def test_bytes_that_are_no_bundle_are_damaged(data: bytes) -> None:
    for candidate in (data, WHOLE[:8] + data, WHOLE[:16] + data):
        with pytest.raises(bundle.DamagedArtefact):
            bundle.parse(candidate)


@pytest.mark.parametrize(
    "header",
    [
        b'{"array": 1}', b'{"array": ["float32", [2], 0]}', b'{"array": ["float32", [-1], 0, 8]}', b'{"array": ["nonsense", [2], 0, 8]}',
        b'{"array": ["float32", [2], 1000, 8]}', b'{"array": ["float32", ["x"], 0, 8]}', b'{"array": [["float32"], [2], 0, 8]}',
        b'{"array": ["float32", [2], "x", 8]}', b'{"unknown": 1}', b"[" * 100_000, b"\xff", b"", b'{"array": ["string", [2], 0, 8]}',
        b'{"array": ["float32", 7, 0, 8]}', b'{"array": ["__class__", [2], 0, 8]}',
    ],
)  # fmt: skip
def test_a_header_that_lies_is_damaged_and_nothing_else(header: bytes) -> None:
    data = WHOLE[:8] + len(header).to_bytes(8, "little") + header + bytes(64)
    with pytest.raises(bundle.DamagedArtefact):
        bundle.parse(data)


def test_a_file_is_checked_against_its_name_and_only_a_cache_removes_it(tmp_path: Path) -> None:
    name = bundle.store(tmp_path, b"content")
    assert bundle.fetch(tmp_path, name) == b"content"
    bundle.path_of(tmp_path, name).write_bytes(b"c0ntent")
    for fetch in (bundle.fetch, bundle.fetch_made):
        with pytest.raises(bundle.DamagedArtefact, match="damaged"):
            fetch(tmp_path, name)
    with pytest.raises(bundle.DamagedArtefact, match="gone"):
        bundle.fetch(tmp_path, name)
    assert bundle.store(tmp_path, b"content") == name
    assert bundle.fetch(tmp_path, name) == b"content"


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd", "", ".", "a" * 63, "A" * 64, "a" * 64 + "\n", "a" * 63 + "/", 7, None])
def test_a_name_that_is_no_hash_leads_nowhere(tmp_path: Path, name: Any) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    for fetch in (bundle.fetch, bundle.fetch_made):
        with pytest.raises(bundle.DamagedArtefact, match="no name of a stored file"):
            fetch(tmp_path / "blobs", name)
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, kind: str) -> None:
    name = bundle.store(tmp_path, b"content")
    path = bundle.path_of(tmp_path, name)
    path.rename(tmp_path / "elsewhere")
    make = {"link": lambda: path.symlink_to(tmp_path / "elsewhere"), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}
    make[kind]()
    with pytest.raises(bundle.DamagedArtefact):
        bundle.fetch_made(tmp_path, name)
    assert (tmp_path / "elsewhere").read_bytes() == b"content"


def test_storing_twice_writes_once_and_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle.store(tmp_path, b"a")
    bundle.store(tmp_path, b"a")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opera.bundle.os.replace", refuse)
    with pytest.raises(OSError, match="No space"):
        bundle.store(tmp_path, b"b")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


# Sampling.


def constrained(dtype: str, *structure: str, low: float | None = -2.0, high: float | None = 3.0, **kept: Any) -> Tensor:
    return Tensor((4, 4), dtype, constraint=Constraint(low, high, structure=tuple(sorted(structure)), **kept))


@pytest.mark.parametrize("dtype", [*NUMERIC, "string"])
def test_every_dtype_can_be_drawn_in_its_own_dtype_and_shape(dtype: str) -> None:
    for shape in ((), (0, 3), (2, 5)):
        drawn = sample(Tensor(shape, dtype), "key", 0)
        assert drawn.shape == shape
        assert drawn.dtype == numpy_dtype(dtype)


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30), st.integers(0, 5))
def test_drawn_floats_stay_within_their_bounds(one: float, other: float, seed: int) -> None:
    low, high = min(one, other), max(one, other)
    drawn = sample(constrained("float64", low=low, high=high), "key", seed)
    slack = 1e-9 * max(abs(low), abs(high), 1e-300)
    assert (drawn >= low - slack).all()
    assert (drawn <= high + slack).all()


@given(st.integers(-300, 300), st.integers(0, 300), st.sampled_from(["int8", "uint8", "int16", "int64", "uint64", "int4", "bool"]))
def test_drawn_integers_stay_within_their_bounds_and_their_dtype(low: int, width: int, dtype: str) -> None:
    drawn = sample(constrained(dtype, low=low, high=low + width), "key", 0).astype(np.int64)
    bits = 1 if dtype == "bool" else DTYPE_BITS[dtype]
    lowest, highest = (0, 2**bits - 1) if dtype[0] in "ub" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert drawn.min() >= lowest
    assert drawn.max() <= highest
    if lowest <= low and low + width <= highest and dtype != "bool":
        assert drawn.min() >= low
        assert drawn.max() <= low + width


def test_structure_is_respected() -> None:
    def drawn(*structure: str, **bounds: Any) -> Any:
        return sample(constrained("float64", *structure, **bounds), "key", 1)

    integral = drawn("integral", low=-50, high=50)
    assert (integral == np.round(integral)).all()
    assert len(np.unique(drawn("constant"))) == 1
    symmetric = drawn("symmetric")
    assert (symmetric == symmetric.T).all()
    assert (np.linalg.eigvalsh(drawn("positive-definite")) > 0).all()
    assert (np.diff(drawn("sorted"), axis=-1) >= 0).all()
    probabilities = drawn("probabilities", low=0.0, high=1.0)
    assert (probabilities > 0).all()
    assert np.allclose(probabilities.sum(axis=-1), 1.0)
    assert (np.triu(drawn("lower-triangular"), 1) == 0).all()
    assert (np.tril(drawn("upper-triangular"), -1) == 0).all()
    odd = drawn(nan=True, inf=True)
    assert np.isnan(odd).sum() == 1
    assert np.isinf(odd).sum() == 1


@pytest.mark.parametrize("constraint", [None, Constraint(-2.0, 2.0)])
@pytest.mark.parametrize("dtype", [*NUMERIC, "string"])
def test_kept_values_stay_under_every_seed(dtype: str, constraint: Constraint | None) -> None:
    """They are part of the test: of a program, of a suite's constant, of a recorded call."""
    data = b'["", "a", "opera"]' if dtype == "string" else to_bytes(sample(Tensor((3,), dtype), "k", 4))
    kept = Tensor((3,), dtype, data, constraint=constraint)
    drawn = [sample(kept, key, seed) for key in ("k", "l") for seed in (0, 1, 7, 2**32 - 1)]
    assert {to_bytes(each) if dtype != "string" else str(each.tolist()).encode() for each in drawn} == {
        data if dtype != "string" else b"['', 'a', 'opera']"
    }


def test_another_seed_and_another_key_give_other_values() -> None:
    tensor = constrained("float32")
    drawn = {sample(tensor, key, seed).tobytes() for key in ("a", "b") for seed in (0, 1)}
    assert len(drawn) == 4


# Forms and registries.


def test_only_nodes_with_a_small_second_input_have_two_forms() -> None:
    big, small, shape = Tensor((2, 3), "float32"), Tensor((3,), "float32"), Tensor((2,), "int64")

    def node(*tensors: Tensor, kind: Kind = Kind.NODE) -> Instance:
        return Instance("onnx", "ai.onnx.Op", kind, call=tuple(Argument(str(index), tensor) for index, tensor in enumerate(tensors)))

    both = (InputForm.RUNTIME, InputForm.BAKED)
    assert forms_of(node(big, shape), both) == both
    assert forms_of(node(big, small), both) == both
    assert forms_of(node(big, shape), (InputForm.BAKED,)) == (InputForm.BAKED,)
    assert forms_of(node(shape), both) == (InputForm.RUNTIME,)
    assert forms_of(node(big, big), both) == (InputForm.RUNTIME,)
    assert forms_of(node(big, shape, kind=Kind.FUNCTION), both) == (InputForm.RUNTIME,)
    assert bakeable(node(big, big, shape, small)) == (2, 3)
    weights = (InputForm.CONSTANT,)
    assert forms_of(node(big, big), (*both, *weights)) == (InputForm.RUNTIME, InputForm.CONSTANT)
    assert forms_of(node(big, shape), (*both, *weights)) == both, "the same model as baked"
    assert forms_of(node(big), weights) == (InputForm.RUNTIME,)
    assert constant_inputs(node(big, big, shape), InputForm.CONSTANT) == (1, 2)


def test_templates_and_canaries_of_this_package_are_registered_by_entry_points() -> None:
    for library in ("onnx", "pytorch"):
        assert template_of(library).startswith("opera.templates.")
        assert {each.library for each in canaries(library)} == {library}


def test_a_third_party_adds_a_library_and_a_compiler_by_entry_points_alone(fake_site: Path) -> None:
    assert template_of("fake") == "opera_fake.template:FakeTemplate"
    assert [each.api for each in canaries("fake")] == ["fake.canary"]
    adapter = plugin("fake")
    assert adapter.search_path() == (str(fake_site),)
    assert choose_route(adapter.load(), "fake", None).name == "text"
    assert choose_route(adapter.load(), "fake", "live").artefact is None
    assert {"tvm", "onnxruntime"} < plugins().keys()


def test_an_unknown_library_or_frontend_is_the_users_error() -> None:
    with pytest.raises(UserError, match="onnx"):
        template_of("kerass")
    with pytest.raises(UserError, match="kerass"):
        canaries("kerass")
    with pytest.raises(UserError, match=r"tvm has no 'stablehlo' frontend.*; compilers with a frontend of that name: .*tvm-stablehlo"):
        choose_route(plugin("tvm").load(), "stablehlo", None)


def test_a_broken_plugin_is_reported_where_it_is_asked_for_and_breaks_no_other(fake_site: Path) -> None:
    with pytest.raises(EnvironmentBroken, match="fake-missing"):
        plugin("fake-missing").load()
    with pytest.raises(EnvironmentBroken, match="not a subclass"):
        plugin("fake-nonsense").load()
    assert plugin("fake").load().name == "fake"


def test_the_adapters_of_this_package_declare_routes_to_libraries_that_have_templates_and_canaries() -> None:
    for name in ("inductor", "onnxruntime", "openvino", "tvm"):
        adapter = plugin(name).load()
        assert adapter.name == name
        for route in adapter.routes:
            assert template_of(route.library)
            assert canaries(route.library)
    json.dumps({name: each.target for name, each in plugins().items()})


@pytest.mark.parametrize(
    ("message", "of_dtype"),
    [
        ("\"addmm_impl_cpu_\" not implemented for 'Half'", True),
        ("expected scalar type Float but found Double", True),
        ("result type Float can't be cast to the desired output type Long", True),
        ("mat1 and mat2 shapes cannot be multiplied (1x2 and 3x1)", False),
        ("Dimension out of range (expected to be in range of [-1, 0], but got 1)", False),
    ],
)
def test_a_refusal_of_a_dtype_is_told_from_other_refusals(message: str, of_dtype: bool) -> None:
    assert is_refused_dtype(RuntimeError(message)) is of_dtype
