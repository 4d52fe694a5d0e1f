"""The notebooks run from the recorded data alone, and the outputs that they keep are those of their sources and of today's strategies.

A full run takes long. So `make test` runs two campaigns under the first seed, and compares each value with the kept value of that seed. The
slow test runs everything, and compares the figures as well.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
FIGURES = {"ablation": 2, "campaigns": 3, "growth": 1, "paper-table": 1}
SEEDS = 10
FEW = "tvm-onnx openvino-pytorch"
"""One campaign of each frontend; on the first, every strategy can rank."""
TABLE = "application/vnd.opera.table+json"
SVG = "image/svg+xml"


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = loaded(ROOT / "scripts" / "run_notebooks.py")


def stored(name: str) -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def outputs(notebook: nbformat.NotebookNode) -> Iterator[dict[str, Any]]:
    for cell in notebook.cells:
        yield from (output.get("data", {"text/plain": output.get("text", "")}) for output in cell.get("outputs", []))


def tables(notebook: nbformat.NotebookNode) -> list[dict[str, Any]]:
    return [data[TABLE] for data in outputs(notebook) if TABLE in data]


def cells(table: dict[str, Any]) -> dict[tuple[str, str], list[float]]:
    return {(name, column): values for name, row in table["rows"].items() for column, values in row.items()}


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_kept_outputs_were_made_by_these_sources_with_all_seeds(name: str) -> None:
    notebook = stored(name)
    assert notebook.metadata["opera"] == {"sources": RUNNER.sources(notebook)}, f"renew them with `make notebooks`, or alone {name}"
    assert sum(SVG in data for data in outputs(notebook)) == FIGURES[name]
    assert {len(values) for table in tables(notebook) for values in cells(table).values()} == {
        SEEDS if name in ("ablation", "campaigns") else 1
    }


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_text_of_a_table_shows_the_values_that_are_kept(name: str) -> None:
    table = loaded(NOTEBOOKS / "figures.py").Table
    shown = [(data[TABLE], data["text/plain"]) for data in outputs(stored(name)) if TABLE in data]
    assert shown
    for kept, text in shown:
        lines = [re.split(r"  +", line) for line in text.splitlines()]
        columns = lines[0][1:]  # a notebook sorts keys
        rows = {
            line[0]: {column: row[column] for column in columns if column in row} for line in lines[1:] for row in [kept["rows"][line[0]]]
        }
        assert rows == kept["rows"]
        assert repr(table(**{**kept, "rows": rows})) == text


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_nothing_of_the_machine_is_kept(name: str) -> None:
    notebook = stored(name)
    assert notebook.metadata.keys() == {"kernelspec", "language_info", "opera"}
    assert notebook.metadata["kernelspec"] == {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert all(cell.metadata == {} for cell in notebook.cells)
    text = "\n".join(re.sub(r"(?s)<(path|use|image)\b.*?/>", "", json.dumps(dict(data))) for data in outputs(notebook))
    assert not re.search(r"[\"' ](/\w+/|[A-Z]:\\)", text.replace("/svg", "").replace("</", ""))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper-table", "ablation", "campaigns", "growth"])
def test_a_fresh_run_gives_the_values_that_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_NOTEBOOK_SEEDS", "1")
    monkeypatch.setenv("OPERA_NOTEBOOK_CAMPAIGNS", FEW)
    fresh = RUNNER.run(name)
    assert sum(SVG in data for data in outputs(fresh)) == FIGURES[name]
    compared = 0
    for kept, new in zip(tables(stored(name)), tables(fresh), strict=True):
        known = cells(kept)
        for place, [value] in cells(new).items():
            assert kept["measured"] or value == pytest.approx(known[place][0], abs=2e-6), place
            compared += 1
    assert compared >= 20


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIGURES.keys() - {"growth"}))  # whose values are times
def test_a_full_run_gives_the_outputs_that_are_kept(name: str) -> None:
    assert list(outputs(RUNNER.run(name))) == list(outputs(stored(name)))


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(FIGURES)
