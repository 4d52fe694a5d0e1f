"""What the models of campaigns reach in real compilers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest
from real_campaigns import filled

PROGRAMS = 6


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reach")
    policies = {name: folder / f"{name}.toml" for name in ("onnx", "relax")}
    for name, file in policies.items():
        file.write_text(f'language = "{name}"\noperators = 8\n')
    run = ("fuzz", "run", "-n", str(PROGRAMS), "--no-triage", "-j", "2")
    onnx = ("--subject", "tvm", "--subject", "openvino", "--subject", "onnxruntime")
    for words in (("--policy", str(policies["onnx"]), *onnx), ("--policy", str(policies["relax"]), "--subject", "tvm:build")):
        done = opera(*run, *words, cwd=folder)
        assert done.returncode in (0, 1), done.stderr
    return folder


@pytest.fixture(scope="module")
def reached(place: Path) -> dict[str, dict[str, Any]]:
    done = opera("fuzz", "assess", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    return {each["subject"]: each for each in json.loads(done.stdout)["campaigns"]}


@pytest.mark.slow
def test_all_compilers_see_the_same_operators_and_pairs(reached: dict[str, dict[str, Any]]) -> None:
    of_onnx = [reached[f"{name}/onnx"] for name in ("tvm", "openvino", "onnxruntime")]
    assert all((each["models"], each["silent"]) == (PROGRAMS, 0) for each in of_onnx)
    for measure in ("operators", "dtypes", "attributes", "pairs"):
        names = [each["reached"][measure]["names"] for each in of_onnx]
        assert names[0]
        assert names[0] == names[1] == names[2]


@pytest.mark.slow
def test_compilers_name_their_converters_and_the_passes_that_change_a_model(reached: dict[str, dict[str, Any]]) -> None:
    names = {name: each["reached"] for name, each in reached.items()}
    assert all("._impl_v" in each for each in names["tvm/onnx"]["converters"]["names"])
    assert any(each.endswith("+") for each in names["onnxruntime/onnx"]["converters"]["names"])
    assert "LegalizeOps" in names["tvm/onnx"]["passes"]["names"]
    assert "LegalizeOps" in names["tvm/relax"]["passes"]["names"]
    assert "Plugin:CPU" not in names["openvino/onnx"]["passes"]["names"], "a group of passes is no pass"
    assert names["openvino/onnx"]["passes"]["count"] > 5
    assert names["onnxruntime/onnx"]["passes"]["count"] > 0
    assert names["tvm/onnx"]["statements"]["count"] > 1000
    assert names["openvino/onnx"]["statements"]["count"] == 0


@pytest.mark.slow
def test_a_cell_says_what_no_other_campaign_of_the_compiler_reaches(reached: dict[str, dict[str, Any]]) -> None:
    one, other = (set(reached[name]["reached"]["operators"]["names"]) for name in ("tvm/onnx", "tvm/relax"))
    assert reached["tvm/onnx"]["reached"]["operators"]["alone"] == len(one - other)
    assert reached["openvino/onnx"]["reached"]["operators"]["alone"] is None


@pytest.mark.slow
def test_campaigns_of_other_workspaces_are_named_by_their_folder(place: Path) -> None:
    done = opera("fuzz", "assess", ".opera", "--limit", "1", "--workspace", "elsewhere", cwd=place)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["models", "1", "1", "1", "1"] in rows


def test_a_campaign_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    filled(tmp_path / ".opera", [])
    done = opera("fuzz", "assess", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert "no campaign begins with 'none'" in done.stderr
