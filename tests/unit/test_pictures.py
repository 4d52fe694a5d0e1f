"""The pictures of the documentation are those of the notebooks and of a terminal."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = sorted((ROOT / "docs" / "pictures").iterdir())


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "scripts" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = loaded()


def test_the_figure_is_that_of_the_notebook() -> None:
    kept = (ROOT / "docs" / "pictures" / "strategies.svg").read_text(encoding="utf-8")
    assert kept == SCRIPT.figure("campaigns"), "renew it with `python scripts/pictures.py plot`"


def test_a_terminal_shows_the_lines_that_stay_above_the_newest_table() -> None:
    table, again = "\x1b[1mopenvino/onnx\x1b[0m", "\r\x1b[2K\x1b[1A\x1b[2K"
    drawn = f"campaign\n{table} 1/9\nfindings 0{again}{table} 2/9\nfindings 0{again}new finding\n{table} 3/9\nfindings 1{again}the end"
    assert SCRIPT.screens(drawn) == [
        f"campaign\n{table} 1/9\nfindings 0",
        f"campaign\n{table} 2/9\nfindings 0",
        f"campaign\nnew finding\n{table} 3/9\nfindings 1",
    ]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_and_is_shown_by_a_page(picture: Path) -> None:
    assert picture.stat().st_size < 300_000
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert re.search(rf"!\[[^\]]+\]\([./]*pictures/{re.escape(picture.name)}\)", pages)
