"""The tables of public architectures, the files that they become, and what is counted of them."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "scripts"))

import architectures as counted

from opera.errors import UserError
from opera.extensions.models.architectures import SHIPPED, written

LIBRARIES = {"pytorch": 400, "keras": 20}
"""With the least number of architectures."""


@pytest.mark.parametrize(("library", "least"), LIBRARIES.items())
def test_each_row_becomes_a_file_with_one_model(tmp_path: Path, library: str, least: int) -> None:
    files = sorted(written(Path("shipped"), library, tmp_path).rglob("*.py"))
    table = tomllib.loads((SHIPPED / f"{library}.toml").read_text(encoding="utf-8"))
    assert len(files) == sum(len(each["names"]) for each in table["group"]) >= least
    for each in files:
        assert [node.name for node in ast.parse(each.read_text()).body if isinstance(node, ast.FunctionDef)] == ["model"]


HOSTILE = """
[[group]]
package = "a"
version = "1"
imports = ""
build = ""
inputs = ""
names = ["../../b"]
"""


@pytest.mark.parametrize("text", ["", "group = 3", "[[group]]\nnames = 'a'\n", "[[group]", "group = [{names = [1]}]", HOSTILE])
def test_a_table_that_is_none_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UserError, match=r"mine\.toml is no table of architectures"):
        written(tmp_path / "mine.toml", "pytorch", tmp_path / "out")


@pytest.mark.parametrize("library", LIBRARIES)
def test_only_architectures_of_the_table_are_counted(library: str) -> None:
    table = tomllib.loads((SHIPPED / f"{library}.toml").read_text(encoding="utf-8"))
    names = {f"{each['package']}/{name}" for each in table["group"] for name in each["names"]}
    recorded = json.loads((counted.FOLDER / f"{library}.json").read_text(encoding="utf-8"))["built"]
    assert set(recorded) == names


def test_an_operator_is_one_however_it_is_called() -> None:
    apis = ("torch.nn.functional.conv2d", "torch.nn.Conv2d", "torch.conv2d")
    users, every = counted.used_by("pytorch", apis[:1])
    assert {counted.used_by("pytorch", [each]) for each in apis} == {(users, every)}
    assert every > users > every // 2
    assert counted.used_by("pytorch", ["torch.nn.functional.batch_norm"])[0] > 100, "layers have the number of axes in their names"
    assert counted.used_by("pytorch", ["torch.geqrf"])[0] == 0
    assert counted.used_by("onnx", ["ai.onnx.Conv"]) == (0, 0)
