"""What policies add to the general one: programs that are inserted, other implementations, and operators of plug-ins."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from opera.errors import UserError
from opera.extensions.programs import languages
from opera.extensions.programs.check import check
from opera.extensions.programs.cli.policies import policy_named
from opera.extensions.programs.generate import INSERTED, ProgramGenerator
from opera.extensions.programs.inserted import InsertedBlock
from opera.extensions.programs.instances import called_features
from opera.extensions.programs.languages import drawn_from, operators_in, own_printer, registry
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.policy import SHIPPED, BadPolicy, Policy, policy_from
from opera.extensions.programs.program import Binding, Block, Call, Function, If, Parameter, Program, Tuple, bindings, calls, operators_of
from opera.extensions.programs.relations import Elementwise
from opera.extensions.programs.types import TensorType, TupleType
from opera.extensions.programs.values import ANY, within

F = TensorType((4, 5), "float32")
ROW = TensorType((5,), "int64")


def block(*, branch: bool = False) -> Program:
    """`(sqrt(x) / y, x[i])`: a root, a quotient, and rows by index."""
    steps = (
        Binding("a", F, Call("sqrt", ("x",), {})),
        Binding("b", F, Call("divide", ("a", "y"), {})),
        Binding("c", TensorType((5, 5), "float32"), Call("take", ("x", "i"), {"axis": 0})),
        Binding("d", TupleType((F, TensorType((5, 5), "float32"))), Tuple(("b", "c"))),
    )
    if branch:
        steps = (*steps[:3], Binding("e", F, If("p", Block((), "a"), Block((), "b"))), steps[3])
    parameters = (Parameter("x", F), Parameter("y", F), Parameter("i", ROW))
    parameters = (*parameters, Parameter("p", TensorType((), "bool"))) if branch else parameters
    program = Program((Function("main", parameters, Block(steps, "d"), steps[-1].type),))
    check(program, registry())
    return program


def test_calls_that_a_policy_leaves_out_are_not_drawn_and_are_counted() -> None:
    only = ("equal", "add", "logical_not")
    plain = ProgramGenerator(Policy(only=only, dtypes=("bool", "float32")), drawn_from(Policy(only=only)))
    policy = Policy(only=only, dtypes=("bool", "float32"), without=("equal(bool, bool)", "add(float32, float32)"))
    generator = ProgramGenerator(policy, drawn_from(policy))
    before, after = Counter[str](), Counter[str]()
    for seed in range(60):
        before.update(feature for _, feature in called_features(plain.generate(seed).program))
        after.update(feature for _, feature in called_features(generator.generate(seed).program))
    assert before["equal(bool, bool)"] > 5
    assert not after.keys() & set(policy.without)
    assert after["equal(float32, float32)"] > 5
    assert set(generator.counts.known) == set(policy.without)


@pytest.mark.parametrize("call", ["equal", "eqal(bool, bool)", "equal(bool, bool"])
def test_a_call_to_leave_out_that_is_none_is_refused_with_a_hint(call: str) -> None:
    with pytest.raises(BadPolicy, match=r"'without' names .*, which is no call of onnx"):
        policy_from({"without": [call]}, [each.name for each in operators_in("onnx")], ("onnx",))


def test_a_key_that_stands_twice_in_a_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"operators": 3, "weights": {"add": 2, "add": 3}}')
    with pytest.raises(UserError, match="the key 'add' stands twice"):
        policy_named(str(path))


def test_a_program_is_inserted_as_a_whole_where_it_is_defined() -> None:
    policy = Policy(blocks=(block(),), inserted=0.5)
    generator = ProgramGenerator(policy, drawn_from(policy))
    inserted = 0
    for seed in range(80):
        made = generator.generate(seed)
        check(made.program, registry())
        producers = {each.name: each.value for each in bindings(made.program)}
        for value in producers.values():
            if isinstance(value, Call) and value.operator == "divide":
                first = producers.get(value.arguments[0])
                inserted += isinstance(first, Call) and first.operator == "sqrt"
    assert inserted > 40
    assert generator.counts.solved[INSERTED] > 40
    assert generator.counts.broken == {}


def test_the_parameters_of_a_block_are_what_all_its_operators_need() -> None:
    found = InsertedBlock(block())
    assert found.needs["y"].zero is False
    assert (found.needs["x"].low, found.needs["i"].high) == (0, 3)
    assert set(found.results) == {F, TensorType((5, 5), "float32")}
    given = {"x": np.full((4, 5), -1, np.float32), "y": np.ones((4, 5), np.float32), "i": np.array([0, 1, 2, 3, 4])}
    assert found.values(given) is None
    values = found.values({**given, "i": np.array([0, 1, 2, 3, 3])})
    assert values is not None
    assert not within(values["a"], ANY)


def test_a_block_with_a_branch_or_without_an_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="has no 'if'"):
        InsertedBlock(block(branch=True))
    with pytest.raises(ValueError, match="at least one operator"):
        InsertedBlock(Program((Function("main", (Parameter("x", F),), Block((), "x"), F),)))


def test_another_implementation_is_drawn_where_the_policy_says() -> None:
    policy = SHIPPED["fusion"]
    generator = ProgramGenerator(policy, drawn_from(policy))
    kept = 0
    for seed in range(120):
        made = generator.generate(seed)
        for call in calls(made.program):
            if call.operator == "conv2d":
                assert call.attributes["strides"] == (1, 1)
                kept += 1
    assert kept > 20


@pytest.mark.parametrize("name", ["conv1d", "conv2d"])
def test_each_implementation_solves_what_it_recognises(name: str) -> None:
    for implementation in registry().implementations(name):
        operator, random = registry().get(name, implementation), Random(0)
        for size in range(1, 6):
            target = TensorType((2, 3, *[size] * int(name[4])), "float32")
            assert operator.recognises(target)
            assert operator.infer(*operator.solve(target, random)) == target


def test_an_unknown_implementation_is_refused_with_a_hint() -> None:
    names = [each.name for each in operators_in("onnx")]
    policy = policy_from({"implementations": {"conv2d": "samee"}}, names, ("onnx", "relax"))
    with pytest.raises(BadPolicy, match=r"operator 'conv2d' has no implementation 'samee' \(did you mean 'same'\?\)"):
        drawn_from(policy)
    with pytest.raises(BadPolicy, match="'implementations' is a table of names"):
        policy_from({"implementations": {"conv2d": 3}}, names, ("onnx", "relax"))
    with pytest.raises(BadPolicy, match="'implementations' names 'conv9d'"):
        policy_from({"implementations": {"conv9d": "same"}}, names, ("onnx", "relax"))


def twice(arguments: list[str], attributes: object, outputs: list[str]) -> list[object]:
    return [arguments, attributes, outputs]


def own() -> Iterator[Operator | tuple[str, Operator]]:
    made = Operator("twice", Elementwise(1), ("float32",), lambda a, _: a[0] * 2, printers={"onnx": f"{__name__}:twice"})
    yield made
    yield "other", replace(made, work=9.0)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    importlib.import_module(__name__)
    monkeypatch.setattr(languages, "registered", lambda group: {"own": f"{__name__}:own"} if group == languages.GROUP else {})
    registry.cache_clear()
    yield
    registry.cache_clear()


@pytest.mark.usefixtures("plugin")
def test_an_operator_of_a_plug_in_is_drawn_and_named_like_any_other() -> None:
    assert "twice" in {each.name for each in operators_in("onnx")}
    assert "twice" not in {each.name for each in operators_in("relax")}
    policy = policy_from({"only": ["twice", "add"], "dtypes": ["float32"]}, [each.name for each in operators_in("onnx")], ("onnx",))
    generator = ProgramGenerator(policy, drawn_from(policy))
    assert {name for seed in range(20) for name in operators_of(generator.generate(seed).program)} == {"twice", "add"}
    assert registry().implementations("twice") == ("default", "other")
    assert registry().get("twice", "other").work == 9.0
    assert own_printer("twice", "onnx")(["x"], {}, ["y"]) == [["x"], {}, ["y"]]
    with pytest.raises(ValueError, match="relax has no operator 'twice'"):
        own_printer("twice", "relax")
