"""Tests of suites as instances: what is drawn when, names of parameters, and identities."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opera.corpus.files import Entry, Problem
from opera.corpus.readers import origin
from opera.extensions.opidiff.instances import Classes, Scalars, both_sides, instance_of, objections
from opera.extensions.opidiff.suite import Suite, load_suite
from opera.instance import Argument, Call, Constraint, Distribution, Instance, Kind, Tensor, decode_instance, digest, encode_instance
from opera.models.forms import BESIDE, INPUTS, STATE
from opera.models.sampling import sample
from opera.trust import Trust

SAMPLES = Path(__file__).parents[3] / "corpora" / "samples"
X = "{type: tensor, shape: [2, 3], kind: float}"


def suite(folder: Path, *tests: str) -> Suite:
    path = folder / "s.yaml"
    path.write_text("tests:\n" + "".join(f"  - {{{each}}}\n" for each in tests))
    return load_suite([path])


def made(folder: Path, test: str, seed: int = 0, scalars: Scalars = Scalars.TENSOR) -> Instance:
    [case] = suite(folder, f"id: t, {test}").tests
    return instance_of(case, seed, scalars)


def with_tensor(tensor: Tensor) -> Instance:
    return Instance("pytorch", "torch.abs", Kind.FUNCTION, (), (Argument("input", tensor),))


@pytest.mark.parametrize("library", ["keras", "onnx", "pytorch", "tensorflow"])
def test_no_identity_of_a_recorded_instance_changes(library: str) -> None:
    lines = (SAMPLES / f"{library}.jsonl").read_text().splitlines()[1:]
    assert len(lines) > 50
    for line in lines:
        document = json.loads(line)
        assert digest(decode_instance(document["instance"])) == document["id"]
        assert "distribution" not in line


def test_a_distribution_is_part_of_the_identity() -> None:
    tensors = [
        Tensor((2,), "float32"),
        Tensor((2,), "float32", distribution=Distribution("normal", (0, 1))),
        Tensor((2,), "float32", distribution=Distribution("normal", (0, 5))),
        Tensor((2,), "float32", distribution=Distribution("uniform", (-1, 1))),
    ]
    assert len({digest(with_tensor(each)) for each in tensors}) == 4
    integral = replace(tensors[1], distribution=Distribution("normal", (0.0, 1.0)))
    assert digest(with_tensor(tensors[1])) == digest(with_tensor(integral))


def test_values_and_constraints_decide_before_a_distribution() -> None:
    for tensor in (Tensor((2,), "int64", bytes(16)), Tensor((2,), "float32", constraint=Constraint(0, 1))):
        assert digest(with_tensor(tensor)) == digest(with_tensor(replace(tensor, distribution=Distribution("zeros"))))


@pytest.mark.parametrize("drawn", [Distribution("normal", (0.5, 5)), Distribution("randint", (-3, 4)), Distribution("ones")])
def test_a_distribution_survives_its_document(drawn: Distribution) -> None:
    instance = with_tensor(Tensor((2,), "float32", distribution=drawn))
    assert decode_instance(json.loads(json.dumps(encode_instance(instance)))) == instance


@pytest.mark.parametrize(
    "wrong", [["cauchy"], ["normal", 1], ["normal", 0, -1], ["uniform", 2, 1], ["bernoulli", 2], ["randint", "a", 1], [1]]
)
def test_a_wrong_distribution_in_a_document_is_refused(wrong: list[object]) -> None:
    document = encode_instance(with_tensor(Tensor((2,), "float32")))
    text = json.dumps(document).replace('"dtype": "float32"', f'"dtype": "float32", "distribution": {json.dumps(wrong)}')
    with pytest.raises(ValueError, match="malformed instance, call"):
        decode_instance(json.loads(text))


def drawn(dtype: str, distribution: Distribution, seed: int = 0) -> np.ndarray:
    return sample(Tensor((50, 40), dtype, distribution=distribution), "key", seed)


def test_values_are_drawn_from_the_distribution() -> None:
    normal = drawn("float32", Distribution("normal", (3, 0.5)))
    assert normal.dtype == np.float32
    assert abs(normal.mean() - 3) < 0.1
    assert 0.4 < normal.std() < 0.6
    integers = drawn("int8", Distribution("randint", (-2, 2)))
    assert (integers.dtype, set(np.unique(integers))) == (np.int8, {-2, -1, 0, 1, 2})
    assert 0.6 < drawn("bool", Distribution("bernoulli", (0.7,))).mean() < 0.8
    assert drawn("float16", Distribution("uniform", (2, 2))).tolist() == np.full((50, 40), 2.0).tolist()
    assert drawn("complex64", Distribution("normal", (0, 1))).imag.any()
    assert drawn("complex64", Distribution("ones")).tolist() == np.ones((50, 40)).tolist()
    assert drawn("uint64", Distribution("randint", (2**64 - 1, 2**64 - 1)))[0, 0] == 2**64 - 1


def test_seeds_draw_other_values_and_equal_seeds_equal_ones() -> None:
    distribution = Distribution("normal", (0, 1))
    assert (drawn("float32", distribution) == drawn("float32", distribution)).all()
    assert (drawn("float32", distribution, 1) != drawn("float32", distribution)).any()


def test_the_constants_of_a_suite_stay_under_every_seed(tmp_path: Path) -> None:
    node = "{type: const_tensor, dtype: float32, shape: [2], value: [0.12345678, -3.7182818]}"
    value = made(tmp_path, f"op: aten::abs, in: [{node}]", seed=3).call[0].value
    assert isinstance(value, Tensor)
    assert {sample(value, key, seed).tobytes() for key in "ab" for seed in (0, 3)} == {value.data}


def test_operators_and_their_parameters_get_names(tmp_path: Path) -> None:
    found = made(tmp_path, f"op: aten::add, in: [{X}, {X}], kwargs: {{alpha: {{type: const, value: 2}}}}")
    assert (found.api, found.kind) == ("torch.ops.aten.add", Kind.FUNCTION)
    assert [(each.name, each.keyword) for each in found.call] == [("self", False), ("other", False), ("alpha", True)]
    assert made(tmp_path, f"op: 'aten::sum.dim_IntList', in: [{X}]").api == "torch.ops.aten.sum.dim_IntList"
    assert made(tmp_path, f"op: aten::add, impl: torch.add, in: [{X}, {X}]").api == "torch.add"
    assert made(tmp_path, f"op: aten::add, impl: eager, in: [{X}, {X}]").api == "torch.ops.aten.add"


def test_an_argument_with_its_default_value_changes_no_identity(tmp_path: Path) -> None:
    without = made(tmp_path, f"op: aten::add, in: [{X}, {X}]")
    assert digest(without) == digest(made(tmp_path, f"op: aten::add, in: [{X}, {X}], kwargs: {{alpha: {{type: const, value: 1}}}}"))


def test_modules_are_built_and_called(tmp_path: Path) -> None:
    op = "{type: module, path: torch.nn.Sequential, args: [{type: construct, path: torch.nn.Linear, args: [3, 4], kwargs: {bias: false}}]}"
    found = made(tmp_path, f"op: {op}, in: [{X}]")
    assert (found.kind, found.api, found.context) == (Kind.MODULE, "torch.nn.Sequential", (("training", False),))
    assert found.init[0].value == Call("torch.nn.Linear", ((None, 3), (None, 4), ("bias", False)))
    assert found.call[0].name == "input"


def test_scalars_are_inputs_or_constants(tmp_path: Path) -> None:
    test = f"op: aten::add, in: [{X}, {{type: scalar, kind: int, value: -2}}]"
    assert made(tmp_path, test).call[1].value == Tensor((1,), "int64", (-2).to_bytes(8, "little", signed=True))
    assert made(tmp_path, test, scalars=Scalars.PYTHON).call[1].value == -2
    in_constructor = "op: {type: module, path: torch.nn.ELU, args: [{type: scalar, kind: float, value: 2}]}, in: []"
    assert made(tmp_path, in_constructor).init[0].value == 2.0


def test_scalars_optionals_and_lists_are_drawn_from_seed_and_id(tmp_path: Path) -> None:
    scalar = "{type: scalar, kind: int, low: 0, high: 1000000}"
    node = f"{{type: tuple, elems: [{scalar}, {{type: optional, p_none: 0.5, elem: {{type: const, value: 1}}}}]}}"
    test = f"op: aten::op, in: [{node}]"

    def value(seed: int) -> object:
        return made(tmp_path, test, seed, Scalars.PYTHON).call[0].value

    assert value(3) == value(3)
    found = [value(seed) for seed in range(10)]
    assert len({str(each) for each in found}) == 10
    assert {each[1] for each in found if isinstance(each, tuple)} == {None, 1}
    flags = [made(tmp_path, "op: aten::op, in: [{type: scalar, kind: bool, p: 0.9}]", n, Scalars.PYTHON).call[0].value for n in range(40)]
    assert 30 < sum(each is True for each in flags) < 40


def test_the_sides_of_a_pair_share_what_is_drawn(tmp_path: Path) -> None:
    op = "{type: template_compare_pair, vars: {}, a: {impl: a, path: torch.nn.ReLU}, b: {impl: b, path: torch.nn.ELU}}"
    found = suite(tmp_path, f"id: p, op: {op}, in: [{{type: scalar, kind: int, low: 0, high: 1000000}}]")
    one, two = (instance_of(each) for each in found.tests)
    assert one.call[0].value == two.call[0].value


@pytest.mark.parametrize(
    ("node", "data"),
    [
        ("shape: [2], dtype: bool, value: [true, false]", b"\1\0"),
        ("shape: [2], dtype: float16, value: [1, 70000]", b"\0\x3c\0\x7c"),
        ("shape: [1], dtype: uint8, value: [255]", b"\xff"),
        ("shape: [1], dtype: bfloat16, value: [1]", b"\x80\x3f"),
        ("shape: [1], dtype: complex64, value: [1]", b"\0\0\x80\x3f\0\0\0\0"),
    ],
)
def test_constants_are_elements_of_their_dtype(node: str, data: bytes, tmp_path: Path) -> None:
    value = made(tmp_path, f"op: aten::op, in: [{{type: const_tensor, {node}}}]").call[0].value
    assert isinstance(value, Tensor)
    assert (value.data, value.distribution) == (data, None)


def test_a_suite_is_imported_with_the_ids_of_its_tests(tmp_path: Path) -> None:
    suite(tmp_path, f"id: a, op: aten::relu, in: [{X}]", "id: b, op: {type: module, path: 'file:m.py::M'}, in: []")
    source = origin(tmp_path / "s.yaml", "auto", tmp_path / "ws")
    assert source.format == "opidiff"
    entry, problem = source.entries()
    assert isinstance(entry, Entry)
    assert (entry.instance.api, [(each.source, each.test) for each in entry.provenance]) == ("torch.ops.aten.relu", [("opidiff", "a")])
    assert isinstance(problem, Problem)
    assert "needs a class that is not PyTorch's" in problem.text


def test_errors_of_a_suite_are_problems_of_its_import(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("tests: [1]\n")
    [problem] = origin(path, "auto", tmp_path).entries()
    assert isinstance(problem, Problem)
    assert problem.text == f"{path}:1:9: a test is a mapping, not 1"


@pytest.mark.parametrize(("path", "objection"), [("torch.nn.ReLU", []), ("file:m.py::Mine", ["not found"]), ("pkg.Mine", ["not found"])])
def test_classes_of_others_are_found_before_a_worker_refuses_them(path: str, objection: list[str], tmp_path: Path) -> None:
    tests = suite(tmp_path, f"op: {{type: module, path: '{path}'}}, in: []").tests
    found = objections(tests[0], Classes(Trust((), (str(tmp_path),))))
    assert len(found) == len(objection)
    assert all(part in text for part, text in zip(objection, found, strict=True))


PAIR = (
    f"op: {{type: template_compare_pair, vars: {{n: [3]}}, common: {{args: [3, {{var: n}}]}},"
    f" a: {{impl: one, path: torch.nn.Linear}}, b: {{impl: two, path: torch.nn.Linear, kwargs: {{bias: true}}}}}}, in: [{X}]"
)


def test_side_b_takes_inputs_and_state_of_side_a(tmp_path: Path) -> None:
    one, two = (instance_of(each) for each in suite(tmp_path, f"id: p, {PAIR}").tests)
    assert one.context_value(INPUTS) == two.context_value(INPUTS) == "p__n=3"
    assert (one.context_value(STATE), two.context_value(STATE)) == (None, Call("torch.nn.Linear", ((None, 3), (None, 3))))
    both = both_sides(two)
    assert (both.context_value(BESIDE), both.context_value(STATE)) == (two.context_value(STATE), None)
    assert len({digest(each) for each in (one, two, both)}) == 3


def test_the_source_of_a_class_is_part_of_the_identity(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import near\nclass Mine: ...\n")
    (tmp_path / "near.py").write_text("")
    (tmp_path / "far.py").write_text("")
    [test] = suite(tmp_path, "op: {type: module, path: 'file:m.py::Mine'}, in: []").tests

    def identity() -> str:
        return digest(instance_of(test, classes=Classes(Trust((str(tmp_path),), (str(tmp_path),)))))

    first = identity()
    (tmp_path / "far.py").write_text("x = 1\n")
    assert identity() == first
    (tmp_path / "near.py").write_text("x = 1\n")
    assert identity() != first


def test_numbers_that_look_random_have_the_class_that_a_recorder_gives_them(tmp_path: Path) -> None:
    drawn = Tensor((2,), "float32", np.array([0.123456, -7.654321], np.float32).tobytes(), None, "strided", Constraint(-7.654321, 0.123456))
    recorded = Instance("pytorch", "torch.ops.aten.relu", Kind.FUNCTION, (), (Argument("self", drawn),))
    text = "op: aten::relu, in: [{type: const_tensor, shape: [2], dtype: float32, value: [0.123456, -7.654321]}]"
    assert digest(made(tmp_path, text)) == digest(recorded)
