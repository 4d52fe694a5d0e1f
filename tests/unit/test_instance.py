"""Promises of the instance model: lossless round trip, and an identity that says 'same usage' and nothing else."""

import json
import math
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.instance import (
    Argument,
    Call,
    Constraint,
    Device,
    DType,
    Enum,
    Graph,
    Instance,
    Kind,
    Named,
    Opaque,
    Outcome,
    Tensor,
    decode_instance,
    decode_value,
    digest,
    encode_instance,
    encode_value,
)  # fmt: skip
from opera.instrumentation.tensors import DTYPE_BITS

names = st.from_regex(r"[a-z_][a-z0-9_.]{0,12}", fullmatch=True)
NUMERIC = sorted(name for name in DTYPE_BITS if name != "string")


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    dtype = draw(st.sampled_from(NUMERIC))
    bare = Tensor(shape, dtype)
    data = draw(st.none() | st.binary(min_size=bare.size * bare.itemsize, max_size=bare.size * bare.itemsize))
    strides = draw(st.none() | st.tuples(*(st.integers(0, 9) for _ in shape)))
    floats = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    low, high = draw(floats), draw(floats)
    low, high = (min(low, high), max(low, high)) if low is not None and high is not None else (low, high)
    structures = st.sampled_from([(), ("sorted",)])
    constraint = draw(st.none() | st.builds(Constraint, st.just(low), st.just(high), st.booleans(), st.booleans(), structures))
    return Tensor(shape, dtype, data, strides, constraint=constraint)


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
    | st.builds(DType, names) | st.builds(Device, names) | st.builds(Enum, names, names) | st.builds(Named, names)
    | st.builds(Graph, names, st.binary()) | st.builds(Opaque, names, st.text()) | st.just(...)
    | st.builds(range, st.integers(0, 9), st.integers(0, 9)) | st.builds(slice, st.none() | st.integers(), st.integers())
    | tensors()
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(names, inner, max_size=3)
        | st.builds(Call, names, st.lists(st.tuples(st.none() | names, inner), max_size=2).map(tuple))
    ),
    max_leaves=8,
)
arguments = st.lists(st.builds(Argument, names, values, st.booleans()), max_size=4).map(tuple)
pairs = st.lists(st.tuples(names, values), max_size=3).map(tuple)
instances = st.builds(
    Instance, names, names, st.sampled_from([Kind.FUNCTION, Kind.MODULE, Kind.NODE, Kind.GRAPH]), arguments, arguments, pairs, pairs,
    st.sampled_from(Outcome),
    st.none() | names, st.none() | st.lists(values, max_size=2).map(tuple),
)  # fmt: skip


def document(instance: Instance) -> str:
    return json.dumps(encode_instance(instance), sort_keys=True)


@given(values)
def test_every_value_survives_json_unchanged(value: object) -> None:
    text = json.dumps(encode_value(value))
    again = decode_value(json.loads(text))
    assert type(again) is type(value)
    assert json.dumps(encode_value(again)) == text


@given(instances)
def test_every_instance_survives_json_unchanged(instance: Instance) -> None:
    again = decode_instance(json.loads(document(instance)))
    assert document(again) == document(instance)
    assert digest(again) == digest(instance)


@given(instances)
def test_blobs_put_aside_come_back(instance: Instance) -> None:
    big = replace(instance, call=(*instance.call, Argument("big", Tensor((9000,), "uint8", bytes(9000)))))
    store: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        store[str(len(store))] = data
        return str(len(store) - 1)

    text = json.dumps(encode_instance(big, put))
    assert store
    assert len(text) < len(document(big))
    assert document(decode_instance(json.loads(text), store.__getitem__)) == document(big)


def node(*call: Argument, **parts: object) -> Instance:
    return Instance("pytorch", "torch.f", Kind.FUNCTION, call=call, **parts)  # type: ignore[arg-type]


def floats(*numbers: float, dtype: str = "float32", constraint: Constraint | None = None) -> Argument:
    code = {"float32": "f", "float64": "d", "float16": "e"}[dtype]
    return Argument("x", Tensor((len(numbers),), dtype, struct.pack(f"<{len(numbers)}{code}", *numbers), constraint=constraint))


def test_defaults_do_not_enter_identity() -> None:
    plain = node(Argument("x", 1))
    spelled = node(Argument("x", 1), Argument("eps", 1e-5, keyword=True), defaults=(("eps", 1e-5),))
    assert digest(plain) == digest(spelled)


def test_a_default_of_another_type_is_another_value() -> None:
    defaults = (("n", 1),)
    assert digest(node(Argument("n", True), defaults=defaults)) != digest(node(defaults=defaults))
    assert digest(node(Argument("n", 1.0), defaults=defaults)) != digest(node(defaults=defaults))


def test_outcome_and_expected_outputs_do_not_enter_identity() -> None:
    plain = node(Argument("x", 1))
    assert digest(plain) == digest(replace(plain, outcome=Outcome.RAISED, exception="ValueError", expected=(1,)))


def test_lists_and_tuples_are_the_same_usage() -> None:
    assert digest(node(Argument("dims", [1, 2]))) == digest(node(Argument("dims", (1, 2))))


def test_negative_zero_is_a_usage_of_its_own_and_nan_payloads_are_not() -> None:
    assert digest(node(floats(0.0))) != digest(node(floats(-0.0)))
    quiet, payload = (struct.pack("<I", bits) for bits in (0x7FC00000, 0x7FC00001))
    one, other = (node(Argument("x", Tensor((1,), "float32", data))) for data in (quiet, payload))
    assert digest(one) == digest(other)
    assert digest(node(Argument("s", -0.0))) != digest(node(Argument("s", 0.0)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_written_floats_count_by_value_and_random_ones_by_class(dtype: str) -> None:
    limits = Constraint(0.1, 0.9)
    assert digest(node(floats(0.1, 0.5, dtype=dtype, constraint=limits))) != digest(node(floats(0.1, 0.9, dtype=dtype, constraint=limits)))
    drawn, redrawn = (floats(0.123456789, x, dtype="float64", constraint=limits) for x in (math.pi / 4, math.e / 4))
    assert digest(node(drawn)) == digest(node(redrawn))
    assert digest(node(drawn)) != digest(node(replace(drawn, value=replace(drawn.value, constraint=Constraint(-0.1, 0.9)))))


def test_strides_enter_by_their_order_only() -> None:
    def strided(*strides: int) -> Instance:
        return node(Argument("x", Tensor((2, 3), "float32", strides=strides)))

    assert digest(strided(1, 2)) == digest(strided(1, 4))
    assert digest(strided(1, 2)) != digest(strided(6, 2))
    assert digest(strided(0, 1)) != digest(strided(6, 1))


HEAD = {"schema": "instance/1", "library": "onnx", "api": "a", "kind": "node"}


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"schema": "instance/2"},
        {**HEAD, "kind": "nothing", "call": []},
        {**HEAD, "library": "", "call": []},
        {**HEAD, "call": [{"name": "x"}]},
        {**HEAD, "call": [{"name": "x", "value": {"what": 1}}]},
        {**HEAD, "call": [{"name": "x", "value": {"tensor": {"shape": [2]}}}]},
        {**HEAD, "call": [{"name": "x", "value": {"tensor": {"shape": [2], "dtype": "float32", "data": ""}}}]},
    ],
)
def test_a_malformed_document_is_a_value_error(broken: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_instance(broken)
