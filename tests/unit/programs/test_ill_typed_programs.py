"""Programs that compilers have to reject: proved ill-typed, marked, and held against a compiler that takes them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from opera.compilers.adapter import Route, rejecting
from opera.difftest.judge import Judgement
from opera.difftest.session import reviewed_on
from opera.difftest.test import Test
from opera.extensions.programs.check import check
from opera.extensions.programs.document import decode, encode
from opera.extensions.programs.faults import TypeFault, faulty_call, type_fault
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import ILL_TYPED, instance_of
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Call, canonical
from opera.extensions.programs.recording import entry_of
from opera.extensions.programs.rejection import accepted
from opera.extensions.programs.templates.relax_model import RelaxTemplate
from opera.extensions.programs.types import IllTyped, TensorType
from opera.models.forms import InputForm, ModelForm
from opera.models.template import Invalid
from opera.oracles.verdict import Stage, Verdict
from opera.triage.reduction.candidates import steps_for

F, G, B = TensorType((2, 3), "float32"), TensorType((4, 5), "float32"), TensorType((2, 3), "bool")


def drawn(language: str, number: int) -> list[Generated]:
    generator = ProgramGenerator(Policy(language=language, operators=6, ill_typed=1.0), operators_in(language))
    return [each for seed in range(number) if (each := generator.generate(seed)).ill_typed]


@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_one_call_of_a_spoilt_program_has_no_type_and_all_before_it_have_one(language: str) -> None:
    made = drawn(language, 60)
    assert len(made) > 50
    for each in made:
        with pytest.raises(IllTyped):
            check(each.program, registry())
        fault = type_fault(each.program, registry())
        assert fault is not None
        assert fault.place == len(each.program.main.body.bindings) - 1
        alone = type_fault(faulty_call(each.program), registry())
        assert alone is not None
        assert (alone.operator, alone.arguments, alone.place) == (fault.operator, fault.arguments, 0)


def test_the_share_of_ill_typed_programs_is_that_of_the_policy_and_others_stay_as_they_were() -> None:
    plain = ProgramGenerator(Policy(operators=6), operators_in("onnx"))
    half = ProgramGenerator(Policy(operators=6, ill_typed=0.5), operators_in("onnx"))
    made = [half.generate(seed) for seed in range(80)]
    assert 25 < sum(each.ill_typed for each in made) < 55
    for seed, each in enumerate(made):
        if not each.ill_typed:
            check(each.program, registry())
            assert each.program == plain.generate(seed).program


def test_a_document_says_that_its_program_is_ill_typed_and_both_are_held_against_each_other() -> None:
    made = drawn("relax", 3)[0]
    document = json.loads(json.dumps(encode(made)))
    again = decode(document)
    assert (again.ill_typed, encode(again)) == (True, document)
    entry = entry_of(again, "relax", "here")
    assert (entry.instance.api, entry.instance.library) == (ILL_TYPED, "relax")
    with pytest.raises(ValueError, match="main"):
        entry_of(decode({**document, "ill_typed": False}), "relax", "here")
    valid = encode(ProgramGenerator(Policy(language="relax"), operators_in("relax")).generate(0))
    with pytest.raises(ValueError, match="every call has a type"):
        entry_of(decode({**valid, "ill_typed": True}), "relax", "here")


def test_only_the_routes_for_ill_typed_programs_take_them() -> None:
    made = drawn("relax", 3)[0]
    model = RelaxTemplate().build(instance_of(made, "relax"), "key", 0)
    assert model.reference().outputs == []
    assert model.artefact("ill-typed", "runtime").data
    with pytest.raises(Invalid, match="ill-typed-program"):
        model.artefact("program", "runtime")
    valid = ProgramGenerator(Policy(language="relax"), operators_in("relax")).generate(0)
    with pytest.raises(Invalid, match="well-typed-program"):
        RelaxTemplate().build(instance_of(valid, "relax"), "key", 0).artefact("ill-typed", "runtime")


def test_the_faulty_call_alone_is_the_only_step_of_a_reduction() -> None:
    for each in drawn("onnx", 30):
        instance = instance_of(each, "onnx")
        (step,) = steps_for(instance)
        smaller = list(step(instance))
        assert len(smaller) <= 1
        for found in smaller:
            assert found.api == ILL_TYPED
            assert [list(again) for again in [step(found)]] == [[found]]


FAULTS = [
    (TypeFault(0, "tile", (F,), "needs 2 integers 'repeats', found (3,)"), "tvm/relax", "numpy-rule"),
    (TypeFault(0, "tile", (F,), "needs 2 integers 'repeats', found (3,)"), "onnxruntime/onnx", None),
    (TypeFault(0, "add", (F, B), "dtypes float32, bool differ"), "tvm/relax", "implicit-conversion"),
    (TypeFault(0, "add", (B, F), "dtypes bool, float32 differ"), "tvm/relax", None),
    (TypeFault(0, "squeeze", (F,), "axis 0 of float32[2, 3] has not size 1"), "openvino/onnx", None),
]


@pytest.mark.parametrize(("fault", "subject", "reason"), FAULTS)
def test_what_a_compiler_documents_to_take_is_explained_and_nothing_else(fault: TypeFault, subject: str, reason: str | None) -> None:
    found = accepted(fault, *subject.split("/"))
    assert found.get("explained") == reason
    assert fault.why in found["expected"]


def test_a_rejection_is_never_reviewed_by_the_values_of_inputs() -> None:
    judgement = Judgement(Verdict.CRASH, Stage.RUN)
    test = Test(0, "", "", ILL_TYPED, ModelForm(InputForm.RUNTIME), "", "", 0)
    routes = (rejecting("onnx"), Route("onnx", "onnx", "onnx"))
    assert [reviewed_on(each)(judgement, test) for each in routes] == [False, True]


def test_canonical_names_keep_the_fault() -> None:
    for each in drawn("onnx", 10):
        one, other = (type_fault(program, registry()) for program in (each.program, canonical(each.program)))
        assert one is not None
        assert str(one) == str(other)
        assert isinstance(each.program.main.body.bindings[one.place].value, Call)
        assert all(np.asarray(value).size >= 0 for value in each.inputs)
