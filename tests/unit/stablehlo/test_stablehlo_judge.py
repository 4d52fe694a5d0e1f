"""Who stands alone in a wrong result: by the specification's interpreter and by other compilers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opera.compilers.registry import plugin
from opera.difftest.runner import TestCase
from opera.instance import Argument, Instance, Kind, Tensor
from opera.models.forms import InputForm, forms_of
from opera.oracles.filters import filters
from opera.oracles.verdict import Verdict
from opera.store import StoredResult
from opera.store.reductions import StoredReduction
from opera.triage.arbitration import COMPILER, LIBRARY, NEITHER, Opinion, Question, arbiters_of, is_other_side, scope_of, stands_alone

JUDGE, SECOND = "stablehlo-reference", "stablehlo-readable"


def opinions(**sides: str) -> list[Opinion]:
    subjects = {
        "judge": f"{JUDGE}/keras",
        "second": f"{SECOND}/keras",
        "iree": "iree/keras",
        "torch": "openvino/keras",
        "text": f"{JUDGE}/stablehlo",
        "xla": "xla/stablehlo",
    }
    return [Opinion(subjects[name], side) for name, side in sides.items()]


@pytest.mark.parametrize(
    ("sides", "alone"),
    [
        ({"judge": LIBRARY, "iree": COMPILER, "torch": COMPILER}, "compiler"),
        ({"judge": COMPILER}, "library"),
        ({"judge": COMPILER, "iree": COMPILER, "torch": LIBRARY}, "lowering"),
        ({"judge": COMPILER, "iree": LIBRARY}, None),
        ({"judge": COMPILER, "iree": COMPILER, "torch": COMPILER}, "library"),
        ({"judge": NEITHER, "iree": LIBRARY}, "compiler"),
        ({"judge": "", "iree": COMPILER, "torch": COMPILER}, "library"),
        ({"judge": "", "iree": COMPILER}, None),
        ({"iree": LIBRARY, "torch": COMPILER}, None),
        ({}, None),
        ({"text": LIBRARY, "xla": NEITHER}, "compiler"),
        ({"judge": LIBRARY, "second": LIBRARY, "iree": COMPILER}, "compiler"),
        ({"judge": "", "second": LIBRARY}, "compiler"),
        ({"judge": COMPILER, "second": LIBRARY}, None),
        ({"judge": COMPILER, "second": LIBRARY, "iree": LIBRARY, "torch": LIBRARY}, "compiler"),
    ],
)
def test_who_stands_alone(sides: dict[str, str], alone: str | None) -> None:
    found = stands_alone("xla", opinions(**sides))
    assert (None if found is None else found.value) == alone


def test_the_interpreter_stands_alone_where_a_compiler_gives_the_librarys_result() -> None:
    found = stands_alone(JUDGE, opinions(xla=LIBRARY))
    assert found is not None
    assert found.value == "interpreter"


def test_an_interpreter_is_no_witness_against_the_one_that_contradicts_it() -> None:
    """A program without declared results has the results of jaxlib's interpreter."""
    declared = Instance("stablehlo", "stablehlo.add", Kind.GRAPH, expected=(Tensor((), "float32"),))
    cases = [(declared, 0), (declared, 1), (replace(declared, expected=None), 0)]
    reduction = StoredReduction("fingerprint", "test", "finding")

    def excluded(subject: str, compiler: str) -> list[bool]:
        trials = [TestCase(instance, "runtime", "key", seed) for instance, seed in cases]
        return [is_other_side(f"{subject}/stablehlo", Question(compiler, reduction, each, None)) for each in trials]

    assert excluded(JUDGE, SECOND) == [False, False, True]
    assert not any(excluded(SECOND, JUDGE) + excluded("xla", SECOND) + excluded(JUDGE, "iree"))


@pytest.mark.parametrize("compiler", [JUDGE, SECOND])
def test_each_interpreter_is_a_suspect_for_the_other(compiler: str) -> None:
    other = SECOND if compiler == JUDGE else JUDGE
    found = stands_alone(compiler, [Opinion(f"{other}/stablehlo", LIBRARY)])
    assert found is not None
    assert found.value == "interpreter"


def result(compiler: str, frontend: str, route: str) -> StoredResult:
    return StoredResult("t", "i", compiler, frontend, route, "runtime", 0, Verdict.INCONSISTENT)


@pytest.mark.parametrize(
    ("subject", "scope"),
    [
        (("xla", "keras", "jit"), "keras-on-jax"),
        (("xla", "keras", "tf-function"), "keras"),
        (("iree", "stablehlo", "jax"), "keras-on-jax"),
        ((JUDGE, "keras", "stablehlo"), "keras-on-jax"),
        (("gone", "keras", "jit"), "keras"),
    ],
)
def test_the_arbiters_of_keras_depend_on_its_backend(subject: tuple[str, str, str], scope: str) -> None:
    assert scope_of("keras", result(*subject)) == scope


def test_on_jax_xla_is_no_arbiter_because_the_library_is_xla() -> None:
    assert arbiters_of("keras-on-jax").subjects[0] == f"{JUDGE}/keras"
    assert not any(each.startswith("xla/") for each in arbiters_of("keras-on-jax").subjects)
    assert arbiters_of("stablehlo", JUDGE).subjects == [f"{SECOND}/stablehlo", "xla/stablehlo", "iree/stablehlo"]


ADD = Instance("stablehlo", "stablehlo.scatter", Kind.GRAPH, call=(Argument("arg0", Tensor((2,), "bool", b"\0\1")),))


def test_programs_have_both_forms_because_constants_reach_other_code() -> None:
    assert forms_of(ADD, (InputForm.RUNTIME, InputForm.BAKED)) == (InputForm.RUNTIME, InputForm.BAKED)
    assert forms_of(Instance("stablehlo", "stablehlo.iota", Kind.GRAPH), (InputForm.BAKED, InputForm.RUNTIME)) == (InputForm.RUNTIME,)


def test_folded_programs_are_of_stablehlo_only() -> None:
    assert forms_of(ADD, (InputForm.FOLDED,)) == (InputForm.FOLDED,)
    node = Instance("onnx", "Add", Kind.NODE, call=(Argument("A", Tensor((2,), "bool", b"\0\1")),))
    assert forms_of(node, (InputForm.FOLDED,)) == ()


def test_excuses_by_the_name_of_an_operator_are_not_for_a_library_with_a_specification() -> None:
    """The specification of StableHLO says what a scatter does with an index past the end; that of no other library does."""
    reasons = {each.reason for each in filters() if each.scope.applies(ADD)}
    assert "index-out-of-range" not in reasons
    assert "subnormal-input" in reasons
    other = Instance("pytorch", "torch.scatter", Kind.FUNCTION)
    assert "index-out-of-range" in {each.reason for each in filters() if each.scope.applies(other)}


@pytest.mark.parametrize("compiler", ["iree", "xla", "tvm-stablehlo", JUDGE, SECOND])
def test_each_frontend_that_takes_stablehlo_has_a_script_for_issues(compiler: str) -> None:
    adapter = plugin(compiler).load()
    frontends = {each.frontend for each in adapter.routes if each.artefact == "stablehlo"}
    assert frontends
    assert {each for each in frontends if adapter.script_template(each) is None} == set()
