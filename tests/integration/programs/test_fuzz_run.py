"""`opera fuzz run`: programs through compilers, with one command that can be typed again."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest

POLICY = """language = "{language}"
operators = 6
dtypes = ["float32", "bool"]
only = ["add", "relu", "sum", "reshape", "equal", "tanh"]
"""


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


def test_every_chosen_subject_tests_the_programs_and_the_command_can_be_typed_again(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.format(language="onnx"))
    command = ("fuzz", "run", "--policy", "policy.toml", "-n", "8", "-j", "1", "--no-triage", "--json", "--subject", "onnxruntime")
    run = opera(*command, cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    said = run.stderr.splitlines()
    assert said[0] == "8 programs of the policy policy, without a time limit, on onnxruntime/onnx:onnx"
    assert "1 of 1: onnxruntime/onnx:onnx" in said
    answer = json.loads(run.stdout)
    assert (answer["schema"], answer["subjects"]["onnxruntime/onnx:onnx"]["executed"], answer["left_out"]) == ("fuzz-run/1", 8, {})
    again = json.loads(opera(*command, cwd=tmp_path).stdout)
    assert again["subjects"]["onnxruntime/onnx:onnx"]["campaign"] == answer["subjects"]["onnxruntime/onnx:onnx"]["campaign"]
    more = json.loads(opera(*(each if each != "8" else "12" for each in command), cwd=tmp_path).stdout)
    assert more["subjects"]["onnxruntime/onnx:onnx"]["executed"] == 12


def test_builds_limits_the_oracles_that_compile(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.format(language="relax"))
    chosen = ("--subject", "tvm:json", "--subject", "tvm:build")
    run = opera("fuzz", "run", "--policy", "policy.toml", "-n", "6", "--builds", "2", "-j", "1", "--json", *chosen, cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    assert {name: each["executed"] for name, each in json.loads(run.stdout)["subjects"].items()} == {
        "tvm/relax:json": 6,
        "tvm/relax:build": 2,
    }


@pytest.mark.slow
def test_all_levels_of_a_compiler_test_the_same_programs(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.format(language="onnx"))
    chosen = ("--subject", "onnxruntime", "--all-levels", "--no-triage", "--json")
    run = opera("fuzz", "run", "--policy", "policy.toml", "-n", "6", "-j", "1", *chosen, cwd=tmp_path)
    subjects = json.loads(run.stdout)["subjects"]
    assert {name: each["executed"] for name, each in subjects.items()} == {"onnxruntime/onnx:onnx": 6, "onnxruntime/onnx:onnx at none": 6}
    assert len({each["campaign"] for each in subjects.values()}) == 2


def test_what_does_not_fit_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY.format(language="relax"))
    (tmp_path / ".opera").mkdir()
    (tmp_path / ".opera" / "fuzz-general-0.jsonl").write_text('{"something": "else"}\n')
    for arguments, message in (
        (("--policy", "policy.toml", "--subject", "tvm:nope"), "tvm has no route 'nope' for relax; there are: build, legalized"),
        (("--policy", "policy.toml", "--subject", "onnxruntime"), "onnxruntime takes no programs of relax"),
        (("--subject", "nosuch"), "unknown compiler 'nosuch'"),
        (("--policy", "generel"), "unknown policy 'generel'"),
        (("-n", "2"), "something else than the programs of this policy and seed"),
    ):
        refused = opera("fuzz", "run", *arguments, cwd=tmp_path)
        assert (refused.returncode, message in refused.stderr, "Traceback" in refused.stderr) == (2, True, False), refused.stderr
