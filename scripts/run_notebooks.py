"""Runs the notebooks from a fresh kernel, and stores their outputs in them.

python scripts/run_notebooks.py             all notebooks, with all seeds: about 15 minutes on two cores
python scripts/run_notebooks.py ablation

A notebook keeps a hash of its sources. `tests/integration/test_notebooks.py` compares the hash, and the values of each table.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def main() -> None:
    """Runs what is named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    for name in parser.parse_args().names or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")):
        print(f"{name} ...", flush=True)
        nbformat.write(run(name), NOTEBOOKS / f"{name}.ipynb")


def run(name: str) -> nbformat.NotebookNode:
    """The notebook with the outputs of a fresh kernel; nothing of this machine is in its metadata.

    Raises:
        CellExecutionError: a cell raised.
    """
    notebook: Any = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=3600, record_timing=False, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                output.data["image/svg+xml"] = slim(output.data["image/svg+xml"])
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "opera": {"sources": sources(notebook)},
        }
    )
    return notebook


def slim(figure: str) -> str:
    """An SVG without indentation, its lines with two digits after the point."""
    paths = re.sub(r'\bd="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]).replace(" \n", " "), figure)
    return re.sub(r"\n\s+", "\n", paths)


def sources(notebook: nbformat.NotebookNode) -> str:
    """A hash of the code that made the outputs."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    code.append((NOTEBOOKS / "figures.py").read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
