"""A build of a compiler in a folder of its own, as docs/how-to/my-own-build.md describes it: the real TVM, unpacked and changed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import commands
import pytest
from instances import node, tensor

from opera.instance import Occurrence
from opera.store import Corpus
from opera.store.database import open_workspace

CHANGE = """

class _Refused(OnnxOpConverter):
    @classmethod
    def _impl_v1(cls, bb, inputs, attr, params):
        import os

        raise ValueError("this build refuses " + os.environ["MY_BUILD"])


_released = _get_convert_map


def _get_convert_map():
    return {**_released(), "Abs": _Refused}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an `opera.toml`, a workspace of one instance of Abs, and TVM as its wheel unpacks, with one converter changed."""
    spec = importlib.util.find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent
    build = tmp_path / "build"
    shutil.copytree(installed, build / "tvm", copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    changed = build / "tvm" / "relax" / "frontend" / "onnx" / "onnx_frontend.py"
    text = changed.read_text(encoding="utf-8")
    changed.unlink()
    changed.write_text(text + CHANGE, encoding="utf-8")
    (tmp_path / "opera.toml").write_text('[compiler.tvm]\npath = ["build"]\nenv = {MY_BUILD = "Abs"}\n', encoding="utf-8")
    with open_workspace(tmp_path / ".opera", write=True) as space:
        Corpus(space).add([(node("Abs", 13, X=tensor([-1.5, 2.0])), Occurrence("hand", "test"))])
    return tmp_path


def opera(place: Path, *arguments: str) -> Any:
    run = commands.run(*arguments, "--json", folder=place)
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


@pytest.mark.slow
def test_the_build_in_the_folder_is_tested_and_reproduced_and_not_the_installed_one(place: Path) -> None:
    ran = opera(place, "run", "--compiler", "tvm", "--frontend", "onnx", "--build", "mine", "--input-form", "runtime")
    assert ran["verdicts"] == {"crash": 1}
    assert ran["versions"]["compiler"]["build"] == "mine"
    (finding,) = opera(place, "report")["findings"]
    assert finding["summary"] == "ValueError: this build refuses Abs"
    assert opera(place, "reproduce", finding["id"])["reproduced"]
    (place / "opera.toml").unlink()
    released = opera(place, "run", "--compiler", "tvm", "--frontend", "onnx", "--input-form", "runtime")
    assert released["verdicts"] == {"pass": 1}
    assert released["campaign"] != ran["campaign"]
    assert not opera(place, "reproduce", finding["id"])["reproduced"]
