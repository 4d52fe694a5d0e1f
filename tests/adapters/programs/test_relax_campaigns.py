"""Programs of Relax in TVM: the frontend `relax`, its routes, and the scripts that show a finding."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import commands
import numpy as np
import pytest
import tvm

from opera.compilers import tvm_relax
from opera.extensions.programs.canary import RELAX
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import instance_of, program_of
from opera.extensions.programs.languages import operators_in
from opera.extensions.programs.operators import DTYPES, Operator
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Binding as Bound
from opera.extensions.programs.program import Block, Call, Constant, Function, Parameter, Program, canonical
from opera.extensions.programs.templates.relax import module_of
from opera.extensions.programs.templates.relax_model import RelaxTemplate
from opera.extensions.programs.templates.relax_source import python_source
from opera.extensions.programs.types import TensorType, TupleType, Type
from opera.extensions.programs.values import ANY, drawn, to_tensor
from opera.models.template import Invalid

MIXED = {"conditional": 0.1, "function": 0.1, "tuples": 0.1}


def generated(number: int) -> list[Generated]:
    generator = ProgramGenerator(Policy(language="relax", operators=10, **MIXED), operators_in("relax"))
    return [generator.generate(seed) for seed in range(number)]


def test_the_source_of_a_script_builds_the_module_that_the_adapter_builds() -> None:
    constructs = {"relax.If", "relax.Call", "relax.Tuple", "relax.const", "builder.dataflow"}
    for each in generated(40):
        model = RelaxTemplate().build(instance_of(each, "relax"), "key", 0)
        source = model.source("runtime")
        names: dict[str, Any] = {}
        exec("\n".join(["import numpy as np", *source.imports, source.text, source.expected]), names)
        tvm.ir.assert_structural_equal(names["model"], module_of(canonical(each.program)))
        assert list(names["inputs"]) == [parameter.name for parameter in canonical(each.program).main.parameters]
        assert len(names["expected"]) == len(model.reference().outputs)
        constructs -= {construct for construct in constructs if construct in source.text}
    assert not constructs


def any_type(random: Random) -> Type:
    kind = TensorType(tuple(random.choice((1, 2, 3, 4)) for _ in range(random.randint(0, 4))), random.choice(DTYPES))
    return TupleType((kind, TensorType(kind.shape, "int64"))) if random.random() < 0.2 else kind


def call_of(operator: Operator) -> Program:
    (kinds, attributes), result = operator.sample(Random(operator.name), any_type) or pytest.fail(operator.name)
    parameters = tuple(Parameter(f"x{index}", kind) for index, kind in enumerate(kinds, 1))
    call = Call(operator.name, tuple(each.name for each in parameters), attributes)
    return Program((Function("main", parameters, Block((Bound("v1", result, call),), "v1", dataflow=True), result),))


def test_each_operator_of_relax_is_written_as_source() -> None:
    for operator in operators_in("relax"):
        program = call_of(operator)
        made = python_source(program, {}, [])
        names: dict[str, Any] = {}
        exec("\n".join(["import numpy as np", *made.imports, made.text]), names)
        tvm.ir.assert_structural_equal(names["model"], module_of(program))


def test_a_program_of_another_language_is_no_model_of_relax() -> None:
    there = {each.name for each in operators_in("relax")}
    program = call_of(next(each for each in operators_in("onnx") if each.name not in there))
    inputs = tuple(drawn(each.type, ANY, np.random.default_rng(0)) for each in program.main.parameters)
    with pytest.raises(Invalid, match="not-in-the-language"):
        RelaxTemplate().build(instance_of(Generated(program, inputs), "relax"), "key", 0)


class Liar:
    """A module whose text is that of another one."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def script(self, **_: object) -> str:
        return str(self._told.script(show_meta=True))


def test_the_round_trip_of_text_notices_another_module() -> None:
    module = module_of(program_of(RELAX))
    for oracle in tvm_relax.ORACLES.values():
        oracle(module)
    kind = TensorType((), "float32")
    one = Bound("v", kind, Constant(to_tensor(np.ones((), np.float32))))
    other = module_of(Program((Function("main", (), Block((one,), "v"), kind),)))
    with pytest.raises(AssertionError, match="parsed from its own text, the module is another one"):
        tvm_relax.round_trip_of_text(Liar(other))


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


@pytest.mark.slow
def test_calls_that_are_known_to_fail_are_not_drawn_again(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('language = "relax"\noperators = 3\ndtypes = ["bool"]\nonly = ["equal", "logical_not"]\n')
    command = ("fuzz", "run", "--policy", "policy.toml", "--subject", "tvm:build", "-n", "8", "-j", "1", "--json", "--skip-known")
    first = json.loads(opera(*command, cwd=tmp_path).stdout)
    assert [each["trigger"] for each in first["findings"]] == ["calls equal(bool, bool)"]
    again = opera(*command, cwd=tmp_path)
    assert "not drawn, because they are known to fail: equal(bool, bool)" in again.stderr
    before, after = (each["subjects"]["tvm/relax:build"] for each in (first, json.loads(again.stdout)))
    assert after["executed"] > before["executed"]
    assert after["verdicts"]["crash"] == before["verdicts"]["crash"]


@pytest.mark.slow
def test_every_route_tests_the_programs_of_a_policy(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('language = "relax"\noperators = 4\nonly = ["add", "relu", "transpose", "sum", "reshape"]\n')
    refused = opera("fuzz", "generate", "out.jsonl", "--policy", "policy.toml", cwd=tmp_path)
    assert (refused.returncode, "transpose" in refused.stderr) == (2, True)
    (tmp_path / "policy.toml").write_text('language = "relax"\noperators = 4\nonly = ["add", "relu", "sum", "reshape", "equal"]\n')
    made = opera("fuzz", "generate", "out.jsonl", "-n", "6", "--policy", "policy.toml", "--record", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for route in (each for each in tvm_relax.ROUTES if not each.rejects):
        run = opera("run", "--compiler", "tvm", "--frontend", "relax", "--route", route.name, "-j", "1", "--json", cwd=tmp_path)
        assert json.loads(run.stdout)["executed"] == 6, run.stderr
        assert json.loads(run.stdout)["verdicts"].get("pass", 0) >= 4
