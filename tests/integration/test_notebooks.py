"""The notebooks run from the recorded data alone, from a fresh kernel, and every figure comes out."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
FIGURES = {"ablation": 2, "campaigns": 3, "growth": 1, "paper-table": 1}


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_notebook_runs_from_top_to_bottom(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_NOTEBOOK_SEEDS", "1")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == FIGURES[name]


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(FIGURES)
