"""docs/how-to/add-a-strategy.md: what a reader copies from it runs, in the page's order."""

from __future__ import annotations

import csv
import json
import re
import shlex
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import commands
import pytest

from opera.extensions.research.recording import read_recorded

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "how-to" / "add-a-strategy.md").read_text(encoding="utf-8")
CAMPAIGN = ROOT / "data" / "campaigns" / "openvino-tensorflow.jsonl.gz"
STRATEGY, PROJECT = re.findall(r"```(?:python|toml)\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [shlex.split(line)[1:] for line in re.findall(r"^\$ (opera .*)$", TEXT, re.MULTILINE)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the strategy, installed as pip leaves it, and the recorded campaigns."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "smallest_first.py").write_text(STRATEGY)
    project = tomllib.loads(PROJECT)["project"]
    info = folder / "smallest_first-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {target}" for name, target in project["entry-points"]["opera.strategies"].items()]
    (info / "entry_points.txt").write_text("[opera.strategies]\n" + "\n".join(lines) + "\n")
    (folder / "data").symlink_to(ROOT / "data")
    return folder


def opera(reader: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=reader, variables={"PYTHONPATH": str(reader)})


def test_the_strategy_has_about_twenty_lines() -> None:
    assert len([line for line in STRATEGY.splitlines() if line.strip()]) <= 20


def test_the_strategy_is_evaluated_with_a_table_and_a_picture(reader: Path) -> None:
    outcome = opera(reader, *COMMANDS[0], "-j", "1")
    assert outcome.code == 0, outcome.stderr
    assert {"smallest-first", "opera", "random"} <= {line.partition(" ")[0] for line in outcome.stdout.splitlines()}
    rows = list(csv.DictReader((reader / "figures.csv").read_text().splitlines()))
    assert [(row["strategy"], row["seed"]) for row in rows] == [
        (name, str(seed)) for name in ("smallest-first", "opera", "random") for seed in range(5)
    ]
    shown = json.loads(opera(reader, *COMMANDS[0], "-j", "2", "--json").stdout)["strategies"]
    for name, figures in shown.items():
        mean = sum(float(row["apfd"]) for row in rows if row["strategy"] == name) / 5
        assert figures["apfd"]["mean"] == pytest.approx(mean, abs=1e-4)
        assert figures["apfd"]["high"] <= 1
    assert (reader / "figures.csv").read_text().count("\n") == 16, "the same rows, whatever the number of processes"
    root = ElementTree.fromstring((reader / "curves.svg").read_text())
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"smallest-first", "opera", "random"} <= set(texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 3


@pytest.mark.slow
def test_an_order_of_another_tool_is_evaluated(reader: Path) -> None:
    recorded = read_recorded(CAMPAIGN)
    failing = sorted(recorded.failing)
    order = [*failing, *sorted({test.id for test in recorded.tests} - set(failing))]
    (reader / "mine.txt").write_text("\n".join(order) + "\n")
    shown = json.loads(opera(reader, *COMMANDS[1], "-j", "1", "--json").stdout)["strategies"]
    assert shown["mine"]["apfd"]["mean"] > shown["opera"]["apfd"]["mean"]
    assert shown["mine"]["apfd"]["sd"] == 0
    rows = [{"schema": "ranking/1"}, *({"place": index, "instance": each} for index, each in enumerate(order, 1))]
    (reader / "mine.txt").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert json.loads(opera(reader, *COMMANDS[1], "-j", "1", "--json").stdout)["strategies"]["mine"] == shown["mine"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda order: order[1:], "leaves out 1 instance of 523"),
        pytest.param(lambda order: [*order, order[0]], "names an instance twice", marks=pytest.mark.slow),
        pytest.param(lambda order: ["{", *order], "cannot be read as a ranking", marks=pytest.mark.slow),
    ],
)
def test_an_order_that_is_none_is_refused_in_one_line(reader: Path, change: object, message: str) -> None:
    order = [test.id for test in read_recorded(CAMPAIGN).tests]
    (reader / "mine.txt").write_text("\n".join(change(order)))
    outcome = opera(reader, *COMMANDS[1], "-j", "1")
    assert (outcome.code, message in outcome.stderr) == (2, True), outcome.stderr


@pytest.mark.slow
def test_a_compiler_is_tested_in_the_order_of_the_strategy(reader: Path) -> None:
    assert opera(reader, "import", str(ROOT / "corpora" / "samples" / "onnx.jsonl")).code == 0
    assert "ranked by smallest-first" in opera(reader, *COMMANDS[2]).stdout
    done = opera(reader, *COMMANDS[3], "-k", "relu or softmax", "-j", "1", "--exit-zero")
    assert done.code == 0, done.stderr
