"""Campaigns over generated programs: a compiler is tested on them, and a program that it gets wrong is a finding with a script."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import numpy as np
import onnx
import pytest
import tvm
from tvm import relax

from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.instances import FACT, FORMAT, instance_of, with_program
from opera.extensions.programs.languages import operators_in
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.templates.onnx_model import OnnxProgramModel
from opera.extensions.programs.templates.relax_model import RelaxTemplate
from opera.instance import Graph, Tensor
from opera.models.template import Invalid
from opera.templates.onnx.model import OnnxTemplate

_BLOCK = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2, 3] x, float[2, 3] y) => (float[2, 3] z) { a = Sqrt(x)  z = Div(a, y) }"""


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


def test_the_programs_of_a_policy_are_tested_as_any_other_instance(tmp_path: Path) -> None:
    made = opera("fuzz", "generate", "programs.jsonl", "-n", "12", "--record", "--json", cwd=tmp_path)
    assert json.loads(made.stdout)["new_instances"] == 12
    again = opera("import", "programs.jsonl", "--json", cwd=tmp_path)
    assert [json.loads(again.stdout)["files"][0][key] for key in ("format", "read", "new")] == ["programs", 12, 0]
    listed = json.loads(opera("run", "--compiler", "onnxruntime", "--frontend", "onnx", "--json", "-j", "1", cwd=tmp_path).stdout)
    assert sum(listed["verdicts"].values()) == 12
    assert listed["verdicts"]["pass"] > 6
    exported = opera("export", "jsonl", "out.jsonl", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    back = opera("import", "out.jsonl", "--json", "--workspace", "other", cwd=tmp_path)
    assert json.loads(back.stdout)["files"][0]["new"] == 12


def test_calls_that_no_subject_takes_are_learnt_and_not_drawn(tmp_path: Path) -> None:
    """ONNX Runtime has no kernel for Where of truth values, nor for many functions in float64."""
    (tmp_path / "few.toml").write_text(
        'only = ["where", "atan", "add", "logical_and", "greater"]\ndtypes = ["bool", "float32", "float64"]\n'
    )
    command = ("fuzz", "run", "--policy", "few.toml", "-n", "40", "--subject", "onnxruntime", "--no-triage", "--json", "-j", "1")
    first, again = (opera(*command, cwd=tmp_path) for _ in range(2))
    for run in (first, again):
        said = next(line for line in run.stderr.splitlines() if line.startswith("not drawn"))
        assert "where(bool, bool, bool)" in said
        assert "add(float32, float32)" not in said
        [fuzzed] = json.loads(run.stdout)["subjects"].values()
        assert "unsupported" not in fuzzed["verdicts"]
        assert fuzzed["verdicts"]["pass"] > 30
    few = opera(*command[:5], "4", *command[6:], cwd=tmp_path)
    assert "not drawn" not in few.stderr, "fewer programs than probes: nothing is asked"


@pytest.mark.slow
def test_a_campaign_under_another_seed_gives_the_same_verdicts(tmp_path: Path) -> None:
    """The seed draws programs, and their inputs with them; the campaign draws no others."""
    run = opera("fuzz", "run", "-n", "40", "--seed", "7", "--subject", "onnxruntime", "--no-triage", "--json", "-j", "1", cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    command = ("run", "--compiler", "onnxruntime", "--frontend", "onnx", "-k", "program", "--json", "-j", "1", "--exit-zero")
    plain, seeded = (json.loads(opera(*command, "--seed", seed, cwd=tmp_path).stdout) for seed in ("0", "8"))
    [fuzzed] = json.loads(run.stdout)["subjects"].values()
    assert (fuzzed["verdicts"], seeded["verdicts"]) == (plain["verdicts"], plain["verdicts"])


@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_the_inputs_of_a_program_are_the_same_under_every_seed(language: str) -> None:
    template = OnnxTemplate() if language == "onnx" else RelaxTemplate()
    for number in range(5):
        instance = instance_of(ProgramGenerator(Policy(language=language), operators_in(language)).generate(number), language)
        built = [template.build(instance, key, seed) for key, seed in (("a", 0), ("b", 1), ("c", 7), ("d", 2**32 - 1))]
        inputs = [[(name, value.dtype.name, np.asarray(value).tobytes()) for name, value in each.inputs] for each in built]
        assert inputs == [inputs[0]] * 4
        declared = [each.value.data for each in instance.call if isinstance(each.value, Tensor)]
        assert [data for _, _, data in inputs[0]] == declared


def models(number: int) -> list[OnnxProgramModel]:
    generator = ProgramGenerator(Policy(conditional=0.1, function=0.1), operators_in("onnx"))
    found: list[OnnxProgramModel] = []
    for seed in range(number):
        model = OnnxTemplate().build(instance_of(generator.generate(seed), "onnx"), "key", 0)
        assert isinstance(model, OnnxProgramModel)
        found.append(model)
    return found


def test_the_evaluator_of_onnx_says_what_numpy_says() -> None:
    compared = 0
    for model in models(60):
        reference = model.reference()
        assert reference.precise is not None
        found = model.captured("onnx", b"")
        if found is None:
            continue
        compared += 1
        for one, other in zip(reference.outputs, found[1], strict=True):
            assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
    assert compared > 20


def test_a_program_near_its_inputs_gives_results_in_double_precision_or_in_its_own() -> None:
    for model in models(10):
        shapes = [np.shape(each) for each in model.reference().outputs]
        for scale, draw in ((0.0, 0), (1e-6, 0), (1e-6, 1), (1e-6, 3)):
            found = model.nearby(scale, draw)
            assert found is None or [np.shape(each) for each in found] == shapes


def test_a_program_that_was_edited_is_typed_again() -> None:
    instance = instance_of(ProgramGenerator(Policy(), operators_in("onnx")).generate(0), "onnx")
    graph = instance.context_value(FACT)
    for old, new in ((b'"shape":[', b'"shape":[9,'), (b'"call":"', b'"call":"un'), (b"{", b"[")):
        broken = instance.__class__(
            instance.library,
            instance.api,
            instance.kind,
            call=instance.call,
            context=((FACT, Graph(FORMAT, graph.data.replace(old, new, 1))),),
        )
        with pytest.raises(Invalid, match="ill-typed-program"):
            OnnxTemplate().build(broken, "key", 0)
    other = with_program(instance, ProgramGenerator(Policy(), operators_in("onnx")).generate(1).program)
    with pytest.raises(Invalid, match=r"ill-typed-program|inputs-do-not-fit"):
        OnnxTemplate().build(other, "key", 0)


@pytest.mark.slow
def test_recorded_instances_are_seeds_of_programs(tmp_path: Path) -> None:
    nothing = opera("fuzz", "seeds", "seeds.jsonl", cwd=tmp_path)
    assert nothing.returncode == 2
    recorded = opera("extract", "--lib", "onnx", "--only", "*relu*", "--only", "*Relu*", "--only", "*transpose*", "-q", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    made = json.loads(opera("fuzz", "seeds", "seeds.jsonl", "--json", cwd=tmp_path).stdout)
    assert 0 < made["programs"] <= made["read"] < made["given"]
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == made["programs"]
    (tmp_path / "policy.toml").write_text('insert = "seeds.jsonl"')
    run = json.loads(opera("fuzz", "generate", "out.jsonl", "-n", "50", "--policy", "policy.toml", "--json", cwd=tmp_path).stdout)
    assert run["inserted"] > 10
    assert run["broken"] == {}


@pytest.mark.slow
def test_a_model_is_inserted_and_one_that_cannot_be_read_is_refused_with_the_place(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(_BLOCK), tmp_path / "block.onnx")
    (tmp_path / "policy.toml").write_text('insert = "block.onnx"')
    run = json.loads(opera("fuzz", "generate", "out.jsonl", "-n", "80", "--policy", "policy.toml", "--json", cwd=tmp_path).stdout)
    assert run["inserted"] > 5
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    for name, message in (
        ("broken.onnx", "'insert': broken.onnx: "),
        ("none.onnx", "there is no such file"),
        ("none.jsonl", "none.jsonl cannot be read"),
        ("empty.jsonl", "there is no program"),
        ("bad.jsonl", "'insert': bad.jsonl:1: expected schema 'program/1'"),
    ):
        (tmp_path / "policy.toml").write_text(f'insert = "{name}"')
        refused = opera("fuzz", "generate", "out.jsonl", "-n", "3", "--policy", "policy.toml", cwd=tmp_path)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_a_relax_module_is_inserted_and_mutated(tmp_path: Path) -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2, 3, 4), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            once = builder.emit(relax.op.permute_dims(x, [2, 1, 0]))
            out = builder.emit_output(relax.op.permute_dims(once, [2, 1, 0]))
        builder.emit_func_output(out)
    (tmp_path / "block.json").write_text(tvm.ir.save_json(builder.get()))
    (tmp_path / "policy.toml").write_text('insert = "block.json"\ninserted = 0.5\nlanguage = "relax"')
    run = json.loads(opera("fuzz", "generate", "out.jsonl", "-n", "40", "--policy", "policy.toml", "--json", cwd=tmp_path).stdout)
    assert run["inserted"] > 5
    made = json.loads(opera("fuzz", "mutate", "block.json", "m.jsonl", "--policy", "policy.toml", "-n", "5", "--json", cwd=tmp_path).stdout)
    assert (made["given"], made["programs"]) == (1, 5)
    (tmp_path / "block.json").write_text('{"root_index": 0, "nodes": []}')
    refused = opera("fuzz", "mutate", "block.json", "m.jsonl", cwd=tmp_path)
    assert (refused.returncode, "block.json: " in refused.stderr, "Traceback" in refused.stderr) == (2, True, False)


@pytest.mark.slow
def test_mutants_of_a_model_are_programs_and_what_is_no_model_is_refused(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(_BLOCK), tmp_path / "block.onnx")
    made = opera("fuzz", "mutate", "block.onnx", "mutants.jsonl", "-n", "12", "--record", "--json", cwd=tmp_path)
    answer = json.loads(made.stdout)
    assert (answer["schema"], answer["given"], answer["programs"], answer["new_instances"]) == ("fuzz-mutate/1", 1, 12, 12)
    again = opera("fuzz", "mutate", "mutants.jsonl", "more.jsonl", "-n", "5", "--json", cwd=tmp_path)
    assert (json.loads(again.stdout)["given"], json.loads(again.stdout)["programs"]) == (12, 5)
    part = onnx.parser.parse_model(_BLOCK.replace("z = Div(a, y)", "b = ThresholdedRelu(a)  z = Div(b, y)"))
    onnx.save(part, tmp_path / "part.onnx")
    named = "left out: ThresholdedRelu: no operator of programs is written so"
    assert named in opera("fuzz", "mutate", "part.onnx", "part.jsonl", "-n", "3", cwd=tmp_path).stderr
    onnx.save(onnx.parser.parse_model(_BLOCK.replace("Sqrt", "ThresholdedRelu").replace("Div(a, y)", "Elu(a)")), tmp_path / "nothing.onnx")
    edited = (tmp_path / "mutants.jsonl").read_text().splitlines()[0]
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    (tmp_path / "older.json").write_text(edited.replace("program/1", "program/0"))
    (tmp_path / "huge.json").write_text(edited.replace('"shape":[2,3]', '"shape":[1000000,1000000]', 1))
    (tmp_path / "edited.json").write_text(edited.replace('"shape":[2', '"shape":[9', 1))
    for name, message in (
        ("broken.onnx", "broken.onnx: "),
        ("none.onnx", "none.onnx: there is no such file"),
        ("older.json", "older.json:1: expected schema 'program/1', found 'program/0'"),
        ("edited.json", "edited.json:1: "),
        ("huge.json", "type.shape: a tensor of 1,000,000,000,000 elements"),
    ):
        refused = opera("fuzz", "mutate", name, "out.jsonl", cwd=tmp_path)
        assert (refused.returncode, message in refused.stderr, "Traceback" in refused.stderr) == (2, True, False), refused.stderr
    assert not (tmp_path / "out.jsonl").exists()
