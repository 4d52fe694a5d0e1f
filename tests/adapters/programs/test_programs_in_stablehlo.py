"""Programs as StableHLO modules: each operator has the types and values of the registry, by the readable interpreter and by XLA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_program_languages import SAMPLES, arrays, program_of

from opera.extensions.programs.check import evaluate
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.languages import Unwritable, drawn_from, operators_in, registry
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.policy import SHIPPED
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program
from opera.extensions.programs.templates.stablehlo_model import StableHloProgramModel
from opera.extensions.programs.templates.stablehlo_operators import WRITE
from opera.extensions.programs.templates.stablehlo_text import module_text
from opera.extensions.programs.types import TensorType
from opera.extensions.stablehlo import interpreter
from opera.extensions.stablehlo.templates.model import KIND, StableHloTemplate
from opera.extensions.stablehlo.templates.module import ir, new_context, parse
from opera.extensions.stablehlo.templates.program import plain_program
from opera.extensions.stablehlo.types import TensorType as StableHloType
from opera.extensions.stablehlo.types import Value, of_dtype
from opera.models.template import Invalid

CLOSE = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-6}


def interpreted(text: str, inputs: list[Any]) -> list[Any]:
    """The results of the readable interpreter, which shares nothing with the registry."""
    with new_context(), ir.Location.unknown():
        program = plain_program(parse(text)).program
    given = [interpreter.Tensor(Value(StableHloType(each.shape, of_dtype(str(each.dtype))), each)) for each in inputs]
    return [each.value.array for each in interpreter.evaluate(program, "main", given) if isinstance(each, interpreter.Tensor)]


@pytest.mark.parametrize("number", SAMPLES)
@pytest.mark.parametrize("name", [each.name for each in operators_in("stablehlo")])
def test_an_operator_has_the_types_and_values_that_the_registry_gives(name: str, number: int) -> None:
    (operator,) = [each for each in operators_in("stablehlo") if each.name == name]
    for dtype in operator.dtypes:
        one: Operator = replace(operator, dtypes=(dtype,))
        program, inputs = program_of(one, max(3, number // 10), 1)
        for right, found in zip(arrays(evaluate(program, inputs, registry())), interpreted(module_text(program), inputs), strict=True):
            assert (found.dtype, found.shape) == (right.dtype, right.shape), dtype
            close = CLOSE.get(dtype, 0.0)
            np.testing.assert_allclose(found.astype("float64"), right.astype("float64"), rtol=close, atol=close, err_msg=dtype)


def test_stablehlo_has_nearly_all_operators() -> None:
    assert set(WRITE) == {each.name for each in operators_in("stablehlo")}
    assert set(registry().names()) - set(WRITE) == {"hardmax", "gelu", "erf", "celu"}


def drawn(seed: int) -> Generated:
    policy = replace(SHIPPED["general"], language="stablehlo", function=0.2, tuples=0.2, conditional=0.2, operators=6)
    return ProgramGenerator(policy, drawn_from(policy)).generate(seed)


@pytest.mark.parametrize("seed", range(20))
def test_a_program_with_functions_tuples_and_conditions_means_what_numpy_computes(seed: int) -> None:
    model = StableHloTemplate().build(instance_of(drawn(seed), "stablehlo"), "key", 0)
    assert isinstance(model, StableHloProgramModel)
    text = model.artefact(KIND, "runtime").data.decode()
    for found, right in zip(interpreted(text, [value for _, value in model.inputs]), model.reference().outputs, strict=True):
        np.testing.assert_allclose(found.astype("float64"), np.asarray(right).astype("float64"), rtol=1e-2, atol=1e-2)


def test_special_values_are_written_as_they_are() -> None:
    kind = TensorType((4,), "float32")
    body = Block((Binding("v", kind, Call("identity", ("x",), {})),), "v", dataflow=True)
    program = Program((Function("main", (Parameter("x", kind),), body, kind),))
    values = np.array([np.nan, np.inf, -np.inf, -0.0], "float32")
    (found,) = interpreted(module_text(program), [values])
    np.testing.assert_array_equal(np.signbit(found), np.signbit(values))
    np.testing.assert_array_equal(found, values)


def test_what_stablehlo_lacks_is_not_written() -> None:
    kind = TensorType((2,), "float32")
    body = Block((Binding("v", kind, Call("erf", ("x",), {})),), "v", dataflow=True)
    program = Program((Function("main", (Parameter("x", kind),), body, kind),))
    with pytest.raises(Unwritable, match="no operator 'erf'"):
        module_text(program)
    with pytest.raises(Invalid, match="not-in-the-language"):
        StableHloTemplate().build(instance_of(Generated(program, (np.ones(2, "float32"),)), "stablehlo"), "key", 0)


@pytest.mark.parametrize(("largest", "agrees"), [(2.0, True), (3e38, False)])
def test_nobody_is_at_fault_where_operations_overflow_and_the_operator_does_not(largest: float, *, agrees: bool) -> None:
    """RMS normalisation squares its input; NumPy's has room for that."""
    kind, scale = TensorType((1, 2), "float32"), TensorType((2,), "float32")
    call = Call("rms_norm", ("x", "s"), {"axis": 1, "epsilon": 1e-5})
    body = Block((Binding("v", kind, call),), "v", dataflow=True)
    program = Program((Function("main", (Parameter("x", kind), Parameter("s", scale)), body, kind),))
    values = (np.array([[1, largest]], "float32"), np.ones(2, "float32"))
    model = StableHloTemplate().build(instance_of(Generated(program, values), "stablehlo"), "key", 0)
    if agrees:
        np.testing.assert_allclose(model.reference().outputs[0], values[0] / np.sqrt(2.5), rtol=1e-3)
    else:
        with pytest.raises(Invalid, match="operations-differ-from-operator"):
            model.reference()
