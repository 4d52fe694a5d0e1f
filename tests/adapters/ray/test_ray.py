"""Campaigns on a Ray cluster of several nodes, in an environment of its own: the same verdicts as on one machine, test by test.

The environment comes from a package index: slow, and only where there is a network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake.harness import SITE, Lab, Outcome, essence, instance

ROOT = Path(__file__).parents[3]
MISBEHAVING = (
    "raise",
    "abort",
    "segfault",
    "exit-3",
    "lie-value",
    "decline",
    "children",
    "hang-native",
    "leak",
    "noise",
    "die-after-answering",
)
TOML = "".join(f'[{section}.{name}]\npython = "{sys.executable}"\n' for section, name in (
    ("library", "fake"), ("compiler", "fake"), ("library", "onnx"), ("compiler", "onnxruntime"),
))  # fmt: skip


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that `opera env create ray` has made."""
    folder = tmp_path_factory.mktemp("ray")
    command = [sys.executable, "-m", "opera", "env", "create", "ray", "--json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert run.returncode == 0, run.stderr[-3000:]
    return Path(json.loads(run.stdout)["environments"][0]["python"])


def environment(lab: Lab) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{SITE}", "OPERA_FAKE_STATE": str(lab.state)}


@contextmanager
def cluster(ray: Path, lab: Lab, nodes: int) -> Iterator[subprocess.Popen[str]]:
    """A cluster; its address is the first line that the process prints."""
    process = subprocess.Popen(
        [ray, ROOT / "tests" / "fake" / "cluster.py", str(nodes)], env=environment(lab), text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)


def start(ray: Path, lab: Lab, address: str, *arguments: str) -> subprocess.Popen[str]:
    (lab.folder / "opera.toml").write_text(TOML)
    command = [ray, "-m", "opera.run", "--executor", "ray", "--address", address, "-j", "4", "--json", *arguments]
    process = subprocess.Popen(
        [*command, "--workspace", str(lab.workspace)], cwd=lab.folder, env=environment(lab), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    lab.drivers.append(process.pid)
    return process


def same(one: Outcome, other: Outcome) -> bool:
    left, right = one.json, other.json
    return {**left, "seconds": 0} == {**right, "seconds": 0} and one.code == other.code


def filled(folder: Path) -> Lab:
    lab = Lab(folder)
    lab.add(
        *(instance(f"slow-{number}", "slow") for number in range(120)),
        *(instance(name, name) for name in MISBEHAVING),
        *(instance(f"library-{name}", library=name) for name in ("rejects", "abort", "export-fails", "undefined")),
    )
    return lab


FAKE = ("--compiler", "fake", "--frontend", "fake", "--timeout", "3s", "--memory", "400M")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Outcome]:
    """The same campaign on this machine alone."""
    lab = filled(tmp_path_factory.mktemp("local"))
    return lab, lab.finish(lab.start(*FAKE, "-j", "2", "--json"))


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--shared-folder",)])
def test_a_cluster_gives_the_verdicts_that_one_machine_gives(
    ray: Path, local: tuple[Lab, Outcome], tmp_path: Path, options: tuple[str, ...]
) -> None:
    lab = filled(tmp_path)
    with cluster(ray, lab, 2) as nodes:
        assert nodes.stdout is not None
        outcome = lab.finish(start(ray, lab, nodes.stdout.readline().strip(), *FAKE, *options))
    assert outcome.code == 1, outcome.stderr[-3000:]
    assert essence(lab.stored()) == essence(local[0].stored())
    assert same(outcome, local[1])


@pytest.mark.slow
def test_a_cluster_re_ranks_while_the_tests_run_to_the_same_results(ray: Path, local: tuple[Lab, Outcome], tmp_path: Path) -> None:
    lab = filled(tmp_path)
    with cluster(ray, lab, 2) as nodes:
        assert nodes.stdout is not None
        outcome = lab.finish(start(ray, lab, nodes.stdout.readline().strip(), *FAKE, "--strategy", "opera-adaptive"))
    assert outcome.code == 1, outcome.stderr[-3000:]
    assert outcome.json["complete"]
    assert essence(lab.stored()) == essence(local[0].stored())


@pytest.mark.slow
def test_a_node_that_is_killed_in_the_middle_costs_no_result_and_changes_none(
    ray: Path, local: tuple[Lab, Outcome], tmp_path: Path
) -> None:
    lab = filled(tmp_path)
    with cluster(ray, lab, 2) as nodes:
        assert nodes.stdin is not None
        assert nodes.stdout is not None
        process = start(ray, lab, nodes.stdout.readline().strip(), *FAKE)
        lab.wait_for(lambda: lab.workspace.joinpath("opera.db").exists() and len(lab.stored()) > 20)
        nodes.stdin.write("kill\n")
        nodes.stdin.flush()
        assert nodes.stdout.readline() == "killed\n"
        assert len(lab.stored()) < 135
        outcome = lab.finish(process)
    assert outcome.code == 1, outcome.stderr[-3000:]
    assert essence(lab.stored()) == essence(local[0].stored())
    events = [json.loads(line)["event"] for line in (lab.workspace / "log.jsonl").read_text().splitlines()]
    assert "node-lost" in events


@pytest.mark.slow
def test_a_real_compiler_gives_the_same_on_a_cluster_and_the_artefacts_go_on_where_ray_is_not(ray: Path, tmp_path: Path) -> None:
    labs = [Lab(tmp_path / name) for name in ("cluster", "alone")]
    for lab in labs:
        sample = str(ROOT / "corpora" / "samples" / "onnx.jsonl")
        assert lab.finish(lab.start("import", sample, module="opera")).code == 0
    run = ("--compiler", "onnxruntime", "--frontend", "onnx", "--exit-zero")
    with cluster(ray, labs[0], 2) as nodes:
        assert nodes.stdout is not None
        part = labs[0].finish(start(ray, labs[0], nodes.stdout.readline().strip(), *run, "--limit", "40"))
    assert part.code == 0, part.stderr[-3000:]
    assert part.json["executed"] == 40
    for lab in labs:
        assert lab.finish(lab.start(*run, "-j", "2", "--json")).json["complete"]
    assert essence(labs[0].stored()) == essence(labs[1].stored())


def test_without_ray_the_message_says_how_to_install_it(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "sitecustomize.py").write_text("import sys\nsys.modules['ray'] = None\n")  # wherever Ray is installed as well
    lab.add(instance("pass"))
    outcome = lab.run_in_processes("--executor", "ray", extra_path=tmp_path / "absent")
    assert outcome.code == 3
    assert "opera-dl[ray]" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert lab.run("--address", "auto").code == 2
