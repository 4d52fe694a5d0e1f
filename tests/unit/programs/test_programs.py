"""Programs of many operators: operators solve what they recognise, generated programs are well typed and defined, documents come back."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.errors import EnvironmentBroken
from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.document import BadProgram, decode, encode
from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.languages import declined, languages, operators_in, registry
from opera.extensions.programs.operators import DTYPES, Operator, Registry
from opera.extensions.programs.policy import SHIPPED, BadPolicy, Policy, policy_from
from opera.extensions.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    Function,
    If,
    Invoke,
    Program,
    bindings,
    calls,
    operators_of,
    read_by,
)
from opera.extensions.programs.relations import Elementwise, Solution
from opera.extensions.programs.types import Attributes, IllTyped, TensorType, TupleType, Type, elements
from opera.extensions.programs.values import ANY, drawn, to_tensor, type_of, within

OPERATORS = registry().names()
MIXED = Policy(conditional=0.1, function=0.1, tuples=0.1)


def any_type(random: Random) -> Type:
    """Tensors of up to four dimensions, and pairs of them."""
    shape = tuple(random.choice((1, 2, 3, 4, 5)) for _ in range(random.randint(0, 4)))
    kind = TensorType(shape, random.choice(DTYPES))
    if random.random() < 0.15:
        return TupleType((kind, TensorType(shape, random.choice(("int64", kind.dtype)))))
    return kind


def generator(policy: Policy = SHIPPED["general"]) -> ProgramGenerator:
    return ProgramGenerator(policy, operators_in(policy.language))


@pytest.mark.parametrize("name", OPERATORS)
def test_what_an_operator_recognises_it_solves_and_infers_and_computes(name: str) -> None:
    operator, random, numbers = registry().get(name), Random(name), np.random.default_rng(0)
    for _ in range(40):
        sampled = operator.sample(random, any_type)
        assert sampled is not None
        (arguments, attributes), target = sampled
        assert operator.recognises(target)
        assert operator.infer(arguments, attributes) == target
        needs = [operator.need(index, arguments, attributes) for index in range(len(arguments))]
        values = [drawn(kind, need, numbers) for kind, need in zip(arguments, needs, strict=True)]
        assert all(within(value, need) for value, need in zip(values, needs, strict=True))
        with np.errstate(all="ignore"):
            result = operator.compute([value for value in values if not isinstance(value, tuple)], attributes)
        assert type_of(result) == target
        assert within(result, ANY), (values, attributes)
        assert operator.cost(arguments, target, attributes) >= 0


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_refuses_what_it_cannot_take(name: str) -> None:
    operator = registry().get(name)
    (arguments, attributes), _ = operator.sample(Random(0), any_type) or (Solution(()), None)
    if name != "concat":
        with pytest.raises(IllTyped):
            operator.infer((*arguments, *arguments), attributes)
    with pytest.raises(IllTyped):
        operator.infer((TupleType(()),) * len(arguments), attributes)


def test_log_softmax_stays_finite_where_softmax_rounds_to_zero() -> None:
    found = registry().get("log_softmax").compute([np.array([0, -200], np.float32)], {"axis": 0})
    assert not isinstance(found, tuple)
    assert found.tolist() == [0, -200]


@pytest.mark.parametrize("policy", [*SHIPPED.values(), MIXED], ids=[*SHIPPED, "mixed"])
def test_programs_are_well_typed_and_come_back_from_their_documents(policy: Policy) -> None:
    draw = generator(policy)
    for seed in range(40):
        made = draw.generate(seed)
        check(made.program, registry())
        document = json.loads(json.dumps(encode(made)))
        again = decode(document)
        assert encode(again) == document
        assert again.program == made.program
    assert draw.counts.broken == {}


def test_values_of_the_general_policy_are_finite_and_those_of_the_special_one_are_not() -> None:
    def results(policy: Policy) -> list[bool]:
        draw = generator(policy)
        made = [draw.generate(seed) for seed in range(60)]
        return [within(evaluate(each.program, each.inputs, registry()), ANY) for each in made]

    assert all(results(SHIPPED["general"]))
    assert not all(results(SHIPPED["special-values"]))


def test_the_same_seed_gives_the_same_program_whatever_came_before() -> None:
    draw, other = generator(MIXED), generator(MIXED)
    for seed in range(5):
        draw.generate(seed)
    assert encode(draw.generate(99)) == encode(other.generate(99))
    assert encode(draw.generate(98)) != encode(other.generate(99))


def test_programs_have_about_as_many_operators_as_asked_and_each_has_an_effect() -> None:
    draw = generator(replace(Policy(), operators=12))
    counts = [len(list(calls(draw.generate(seed).program))) for seed in range(60)]
    assert 9 <= np.mean(counts) <= 13
    for seed in range(20):
        program = generator(MIXED).generate(seed).program
        assert {each.name for each in program.main.parameters} <= read_by(program.main.body)
        called = {each.value.function for each in bindings(program) if isinstance(each.value, Invoke)}
        assert {each.name for each in program.functions} == {*called, "main"}


def test_conditionals_functions_and_tuples_occur_where_the_policy_asks_for_them() -> None:
    draw = generator(MIXED)
    values = [binding.value for seed in range(60) for binding in bindings(draw.generate(seed).program)]
    assert any(isinstance(each, If) for each in values)
    assert any(isinstance(each, Invoke) for each in values)
    plain = generator().generate(0).program
    assert plain.main.body.dataflow
    assert len(plain.functions) == 1


def test_weights_and_lists_of_operators_are_obeyed() -> None:
    only = generator(Policy(only=("add", "relu"), dtypes=("float32",)))
    only = ProgramGenerator(only.policy, [each for each in operators_in("onnx") if each.name in ("add", "relu")])
    assert {name for seed in range(20) for name in operators_of(only.generate(seed).program)} == {"add", "relu"}
    without = generator(Policy(weights={"reshape": 0.0}))
    assert not any("reshape" in operators_of(without.generate(seed).program) for seed in range(40))


def test_limits_hold() -> None:
    draw = generator(Policy(most_elements=16, most_work=400.0))
    for seed in range(30):
        for binding in bindings(draw.generate(seed).program):
            kinds = [binding.type] if isinstance(binding.type, TensorType) else []
            assert all(np.prod(each.shape) <= 16 for each in kinds)


class Liar:
    """A relation whose solution has another type than it says."""

    def recognises(self, target: Type, dtypes: object) -> bool:
        return isinstance(target, TensorType)

    def solve(self, target: Type, dtypes: object, random: Random) -> Solution:
        return Solution((TensorType((7, 7), "float32"),))

    def infer(self, arguments: Any, attributes: Attributes) -> Type:
        return arguments[0]


class Raiser(Liar):
    """A relation that cannot solve what it recognises."""

    def solve(self, target: Type, dtypes: object, random: Random) -> Solution:
        raise ZeroDivisionError("no solution")


@pytest.mark.parametrize(("relation", "message"), [(Liar(), "float32\\[7, 7\\]"), (Raiser(), "ZeroDivisionError: no solution")])
def test_a_solver_that_lies_or_raises_is_named_once_and_switched_off(relation: Any, message: str) -> None:
    bad = Operator("bad", relation, DTYPES, lambda arguments, _: arguments[0])
    draw = ProgramGenerator(Policy(weights={"bad": 50.0}), [*operators_in("onnx"), bad])
    for seed in range(5):
        check(draw.generate(seed).program, registry())
    assert list(draw.counts.broken) == ["bad"]
    assert re.search(f"^solving .* with seed .*{message}", draw.counts.broken["bad"])


def _raising(_: Sequence[Any], __: Attributes) -> Any:
    raise OverflowError("too much")


@pytest.mark.parametrize(
    ("meaning", "message"),
    [(_raising, "OverflowError: too much"), (lambda _, __: np.zeros(7), "it gives a value of the type float64\\[7\\]")],
)
def test_a_meaning_that_raises_or_lies_is_named_and_switched_off(meaning: Any, message: str) -> None:
    bad = Operator("bad", Elementwise(1), DTYPES, meaning)
    draw = ProgramGenerator(Policy(weights={"bad": 50.0}), [*operators_in("onnx"), bad])
    for seed in range(5):
        check(draw.generate(seed).program, registry())
    assert list(draw.counts.broken) == ["bad"]
    assert re.search(f"^computing .* with seed .*{message}", draw.counts.broken["bad"])


def test_tensors_without_elements_break_no_operator() -> None:
    draw = ProgramGenerator(Policy(sizes=(0, 1, 2)), operators_in("onnx"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(60):
            draw.generate(seed)
    assert draw.counts.broken == {}


def test_work_and_memory_of_a_program_stay_within_their_limits() -> None:
    policy = Policy(most_memory=1000, most_work=200.0, tuples=0.0)
    draw = ProgramGenerator(policy, operators_in("onnx"))
    made = [draw.generate(seed).program for seed in range(100)]
    known = registry()
    for program in made:
        kinds = {each.name: each.type for each in (*program.main.parameters, *program.main.body.bindings)}
        values = [kind for kind in kinds.values() if isinstance(kind, TensorType)]
        assert sum(8 * elements(kind.shape) for kind in values) <= max(policy.most_memory, 8 * policy.most_elements * (len(values) == 1))
        work = [
            known.get(each.value.operator).cost([kinds[name] for name in each.value.arguments], each.type, each.value.attributes)
            for each in program.main.body.bindings
            if isinstance(each.value, Call)
        ]
        assert sum(work) <= policy.most_work
    assert sum(program.main.body.bindings != () for program in made) > 50


def test_a_registry_has_a_default_of_each_operator() -> None:
    found, operator = Registry(), Operator("double", Elementwise(1), DTYPES, lambda arguments, _: arguments[0] * 2)
    with pytest.raises(ValueError, match="register its default first"):
        found.register(operator, "fast")
    found.register(operator)
    found.register(operator, "fast")
    with pytest.raises(ValueError, match="'fast' is there"):
        found.register(operator, "fast")
    assert found.get("double", "fast") is operator
    with pytest.raises(KeyError):
        found.get("triple")


def test_each_language_has_the_operators_that_it_promises() -> None:
    assert languages() == ("onnx", "relax", "pytorch", "stablehlo")
    for language, least in (("onnx", 80), ("relax", 90), ("pytorch", 90), ("stablehlo", 100)):
        operators = operators_in(language)
        assert len(operators) >= least
        assert len({each.name for each in operators}) == len(operators)
        assert all(each.dtypes for each in operators), [each.name for each in operators if not each.dtypes]
        assert all(declined(language).values())


def test_a_plug_in_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.extensions.programs.languages.registered", lambda _: {"softcap": "no_such_module:operators"})
    with pytest.raises(EnvironmentBroken, match=r"plug-in 'softcap' cannot be loaded \(ModuleNotFoundError"):
        registry.__wrapped__()


F32 = TensorType((2,), "float32")


def program(*body: Binding, result: str = "v", kind: Type = F32) -> Program:
    return Program((Function("main", (), Block(body, result), kind),))


BAD: dict[str, tuple[Callable[[], Program], str]] = {
    "unbound": (lambda: program(Binding("v", F32, Call("relu", ("x",), {}))), "no variable 'x'"),
    "result": (lambda: program(result="v"), "no variable 'v'"),
    "operator": (lambda: program(Binding("v", F32, Call("reloo", (), {}))), "no operator 'reloo'"),
    "function": (lambda: program(Binding("v", F32, Invoke("f", ()))), "no function 'f' stands before"),
    "empty": (lambda: Program(()), "the last function of a program is 'main'"),
    "dtype": (
        lambda: Program((Function("main", (), Block((Binding("v", TensorType((), "float33"), Invoke("f", ())),), "v"), F32),)),
        "'f'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_an_ill_typed_program_is_refused_with_its_place(name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(IllTyped, match=message):
        check(make(), registry())


def test_an_operator_that_cannot_be_computed_is_named() -> None:
    made = Program(
        (
            Function(
                "main",
                (),
                Block(
                    (
                        Binding("c", F32, Constant(to_tensor(np.ones(2, np.float32)))),
                        Binding("v", F32, Call("leaky_relu", ("c",), {"alpha": "x"})),
                    ),
                    "v",
                ),
                F32,
            ),
        )
    )
    check(made, registry())
    with pytest.raises(ValueError, match="operator 'leaky_relu' is not defined here"):
        evaluate(made, (), registry())


def test_a_dtype_that_an_operator_does_not_take_is_ill_typed() -> None:
    with pytest.raises(IllTyped, match="bitwise_not does not take float32"):
        registry().get("bitwise_not").infer((F32,), {})
    with pytest.raises(IllTyped, match="matmul does not take int8"):
        registry().get("matmul").infer((TensorType((2, 2), "int8"),) * 2, {})


def test_a_changed_type_is_noticed_wherever_it_stands() -> None:
    made = generator(MIXED).generate(5).program
    main = made.main
    for index, binding in enumerate(main.body.bindings):
        if not isinstance(binding.type, TensorType):
            continue
        wrong = replace(binding, type=TensorType((*binding.type.shape, 9), binding.type.dtype))
        body = replace(main.body, bindings=(*main.body.bindings[:index], wrong, *main.body.bindings[index + 1 :]))
        with pytest.raises(IllTyped, match=binding.name):
            check(Program((*made.functions[:-1], replace(main, body=body))), registry())


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_a_spoilt_document_is_refused_or_ill_typed_and_never_ends_in_another_error(data: Any) -> None:
    document = json.loads(json.dumps(encode(generator(MIXED).generate(data.draw(st.integers(0, 20))))))
    parts: list[tuple[Any, Any]] = []

    def walk(tree: Any) -> None:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            parts.append((tree, key))
            if isinstance(value, (dict, list)):
                walk(value)

    walk(document)
    tree, key = data.draw(st.sampled_from(parts))
    tree[key] = data.draw(JUNK)
    try:
        made = decode(document)
        check(made.program, registry())
    except (BadProgram, IllTyped):
        return


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([[2**14, 2**13]], r"the document.functions\[0\].body.bindings\[0\].type.shape: a tensor of 134,217,728 elements"),
        ([[10**30, 10**30]], "bindings.0..type.shape: a tensor of 1,000,000,000,"),
        ([[2**13, 2**12]] * 3, "the document: its values have 100,663,296 elements together, more than 67,108,864"),
    ],
)
def test_a_document_of_absurd_sizes_is_refused_with_the_place(shapes: list[list[int]], message: str) -> None:
    bindings = [
        {"name": f"v{index}", "type": {"shape": shape, "dtype": "float32"}, "value": {"call": "broadcast_to", "arguments": ["x"]}}
        for index, shape in enumerate(shapes)
    ]
    scalar = {"shape": [], "dtype": "float32"}
    body = {"bindings": bindings, "result": "v0"}
    main = {"name": "main", "parameters": [{"name": "x", "type": scalar}], "body": body, "result": scalar}
    with pytest.raises(BadProgram, match=message):
        decode({"schema": "program/1", "functions": [main], "inputs": []})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"base": "generall"}, "unknown policy 'generall' \\(did you mean 'general'"),
        ({"operatos": 3}, "unknown key 'operatos' \\(did you mean 'operators'"),
        ({"only": []}, "'only' names no operator"),
        ({"only": ["conv3d"]}, "'conv3d', which is no operator of onnx \\(did you mean 'conv"),
        ({"language": "relay"}, "unknown language 'relay'"),
        ({"dtypes": ["float31"]}, "'float31', which no operator has"),
        ({"sizes": []}, "hold at least one value"),
        ({"sizes": [2.5]}, "a list of integers"),
        ({"reuse": 2}, "a probability from 0 to 1"),
        ({"operators": True}, "an integer, not True"),
        ({"weights": {"add": "x"}}, "a table of numbers"),
        ({"weights": [1]}, "a table of numbers"),
        ({"only": ["add"], "weights": {"add": 0}}, "leave no operator"),
        ({"sizes": [64], "most_elements": 8}, "larger than 'most_elements'"),
        ({"base": ["fusion"]}, "unknown policy"),
        ({"weights": {"add": math.inf}}, "a number of 'weights' is at most"),
        ({"weights": {"add": math.nan}}, "a number of 'weights' is at most"),
        ({"reuse": 10**400}, "a number of 'reuse' is at most"),
        ({"most_work": math.nan}, "a number of 'most_work' is at most"),
        ({"most_memory": -1}, "'most_memory' is from 1"),
        ({"most_elements": 10**12}, "'most_elements' is from 1"),
        ({"sizes": [0, 10**23]}, "each of 'sizes' is from 0"),
    ],
)
def test_a_policy_that_cannot_be_used_is_refused(document: dict[str, Any], message: str) -> None:
    names = [each.name for each in operators_in("onnx")]
    with pytest.raises(BadPolicy, match=message):
        policy_from(document, names, languages())


def test_the_largest_of_an_axis_are_at_least_one_as_onnx_asks() -> None:
    """A model of `TopK` with `K` = 0 is none of ONNX, and a compiler may refuse it."""
    operator = registry().get("topk")
    pair = TupleType((TensorType((0, 2), "float32"), TensorType((0, 2), "int64")))
    assert {operator.solve(pair, Random(seed)).attributes["axis"] for seed in range(20)} == {1}
    assert not operator.recognises(TupleType((TensorType((0,), "float32"), TensorType((0,), "int64"))))
    with pytest.raises(IllTyped, match="the largest 0 of 3"):
        operator.infer([TensorType((3,), "float32")], {"axis": 0, "k": 0, "largest": True})
