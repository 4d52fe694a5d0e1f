"""What `opera matrix` promises: the worst of each operator on each subject, from the newest results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from opera.cli import command
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace


def instance(name: str, size: int) -> Instance:
    return Instance("onnx", f"ai.onnx.{name}", Kind.NODE, call=(Argument("X", Tensor((size,), "float32")),))


def result(
    of: Instance, compiler: str, verdict: Verdict, form: str = "runtime", version: int = 1, exporter: str | None = None
) -> StoredResult:
    test = f"{digest(of)[:20]}{compiler}{form}{version}"
    fingerprint = "f" * 16 if verdict.is_failure else None
    return StoredResult(
        test, digest(of), compiler, "onnx", "onnx", form, 0, verdict, Stage.LOAD, None, None, fingerprint, {}, {"load": 0.1}, None, exporter
    )  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matrix")
    small, large, add = instance("Relu", 1), instance("Relu", 2), instance("Add", 1)
    with open_workspace(folder, write=True) as space:
        Corpus(space).add((each, Occurrence("node-tests", "test")) for each in (small, large, add))
        campaigns = Campaigns(space)
        campaigns.begin("a" * 12, "tvm", "onnx", {}, {})
        campaigns.write(
            "a" * 12,
            enumerate(
                [
                    result(small, "tvm", Verdict.PASS), result(small, "tvm", Verdict.CRASH, form="baked"),
                    result(large, "tvm", Verdict.PASS), result(add, "tvm", Verdict.UNSUPPORTED),
                    result(small, "openvino", Verdict.INCONSISTENT), result(large, "openvino", Verdict.UNDEFINED),
                    result(add, "openvino", Verdict.CRASH, exporter="torch.onnx"),
                ]
            ),
        )  # fmt: skip
        campaigns.write("a" * 12, [(7, result(small, "openvino", Verdict.PASS, version=2))])
        with space.transaction() as database:
            database.execute("UPDATE results SET finished = '2999-01-01' WHERE test LIKE '%openvinoruntime2'")
    return folder


def run(workspace: Path, *arguments: str) -> str:
    outcome = CliRunner().invoke(command, ["matrix", *arguments, "--workspace", str(workspace)], catch_exceptions=False)
    assert outcome.exit_code in (0, None)
    return outcome.stdout


def test_a_cell_is_the_worst_of_its_instances_and_forms(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    relu = cells["ai.onnx.Relu", "tvm"]
    assert (relu["support"], relu["instances"], relu["counts"]) == ("crash", 2, {"crash": 1, "pass": 1})
    assert cells["ai.onnx.Add", "tvm"]["support"] == "unsupported"


def test_the_newest_result_counts_and_what_says_nothing_of_the_compiler_does_not(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    assert cells["ai.onnx.Relu", "openvino"]["counts"] == {"pass": 1}


def test_the_failure_of_an_exporter_is_not_the_compilers(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    assert cells["ai.onnx.Add", "openvino"]["support"] == "export"


def test_the_table_names_operators_subjects_and_shares(workspace: Path) -> None:
    text = run(workspace)
    assert "openvino/onnx" in text
    assert "crash 50%" in text
    assert run(workspace, "--failing").count("ai.onnx.") == 1


def test_the_table_as_csv(workspace: Path) -> None:
    assert run(workspace, "--csv", "-").splitlines() == [
        "operator,openvino/onnx,tvm/onnx", "ai.onnx.Add,export,unsupported", "ai.onnx.Relu,pass,crash",
    ]  # fmt: skip
