"""Exported suites look like a project's own tests, and do what they promise below its conftest."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_suites_alone import RAISES, SQUARE, WRONG, FakeAdapter, made

from opera.compilers.registry import plugin
from opera.config import Config
from opera.extensions.suites import plain
from opera.extensions.suites.cases import Failure
from opera.extensions.suites.plain import Style, files_of
from opera.extensions.suites.project import project_of
from opera.extensions.suites.tests import SuiteTest
from opera.extensions.suites.trial import Tried, try_out
from opera.models.template import Reference
from opera.templates.pytorch.source import _STRIDED

pytestmark = pytest.mark.slow

TVM = """
line-length = 100
target-version = "py310"
[lint]
select = ["E", "F", "I", "UP", "RUF"]
ignore = ["UP028", "UP030", "UP031", "RUF043", "RUF059"]
[lint.isort]
known-first-party = ["tvm"]
"""
ONNXRUNTIME = """
line-length = 120
target-version = "py310"
[lint]
select = [
    "B", "C4", "E", "F", "FURB", "G", "I", "ISC", "N", "NPY", "PERF", "PIE", "PLC", "PLE", "PLW", "PYI", "RUF", "SIM", "SLOT", "T10", "UP",
    "W", "YTT",
]
ignore = [
    "B028", "C408", "E501", "G004", "N803", "N812", "N813", "N999", "NPY002", "PERF203", "PERF401", "PYI024", "PYI041", "SIM102", "SIM103",
    "SIM108", "SIM114", "SIM116",
]
"""
OPENVINO = """
line-length = 160
[lint]
select = ["E", "F", "W", "Q"]
"""
"""What ruff checks in the projects: their selections, line lengths and order of imports."""
CONFIGURATIONS = {"tvm": TVM, "onnxruntime": ONNXRUNTIME, "openvino": OPENVINO, "inductor": OPENVINO}
SLOW = {"openvino", "inductor"}
ONNX_TEXT = "\n".join(
    [
        '<ir_version: 10, opset_import: ["" : 21]>',
        "a_graph_with_a_long_name (float[1,1,5,1] Q, float[1,1,5,1] K, float[1,1,5,1] V, float[1,1,5,1] W) => (float[1,1,5,1] out0) {",
        "   " + "  ".join(f"value{place} = Attention <scale: float = 0.25, is_causal: int = 1> (Q, K, V)" for place in range(4)) + "  }",
    ]
)
TORCH = """
typed(strided(torch.ones(2), (2,)))
class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 * x0

model = Model()
"""
HELPERS = """
def kinds(name):
    return ml_dtypes.bfloat16, np.dtype(name)

def typed(tensor):
    return tensor.shape, kinds

def unused(tensor):
    return no_such_name
"""
CONFTEST = """
import pytest

@pytest.fixture(autouse=True)
def strict(monkeypatch):
    import json

    def refused(text):
        raise AssertionError("this project parses no JSON")

    monkeypatch.setattr(json, "loads", refused)
"""


def suite_of(compiler: str, style: Style) -> Mapping[str, bytes]:
    """A suite with a test that passes and one that fails for each route of *compiler*."""
    adapter = plugin(compiler).load()
    tests: list[SuiteTest] = []
    for route in adapter.routes:
        if adapter.script_template(route.frontend) is not None:
            name = f"{route.frontend}_{route.name.replace('-', '_')}"
            text = "typed(1)\n" + f"model = onnx.parser.parse_model({ONNX_TEXT!r})" if route.frontend == "onnx" else TORCH
            imports = ("import onnx",) if route.frontend == "onnx" else ("import torch",)
            failure = Failure(
                "tvm.error.InternalError", f"a long reason {'with many words ' * 20}", also=("AssertionError", "json.JSONDecodeError")
            )
            both = made(f"{name}_passes", text), replace(made(f"{name}_fails", text), failure=failure, more="1 more call fails")
            helpers = tuple(ast.parse(HELPERS + _STRIDED).body)
            tests += [replace(each, frontend=route.frontend, route=route.name, imports=imports, helpers=helpers) for each in both]
    assert tests
    return files_of(compiler, tests, {}, style, "suite")


@pytest.mark.parametrize("with_targets", [False, True], ids=["plain", "opera"])
@pytest.mark.parametrize("compiler", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in CONFIGURATIONS])
def test_the_linter_of_a_project_is_content(tmp_path: Path, compiler: str, with_targets: bool) -> None:
    configuration = tmp_path / "ruff.toml"
    configuration.write_text(CONFIGURATIONS[compiler])
    project = project_of(tmp_path / "suite")
    assert project is None
    (tmp_path / "pytest.ini").touch()
    project = project_of(tmp_path / "tests" / "suite")
    assert project is not None
    assert project.line_length is not None
    for name, data in suite_of(compiler, Style(line_length=project.line_length, with_targets=with_targets)).items():
        (tmp_path / "suite" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "suite" / name).write_bytes(data)
    for options in (("check",), ("format", "--diff")):
        command = [sys.executable, "-m", "ruff", *options, "--config", str(configuration), "--no-cache", str(tmp_path / "suite")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\nline-length = 100\n", 100),
        ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.black]\nline-length = 120\n", 120),
        ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\nselect = []\n", None),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", "none"),
        ("pyproject.toml", "[tool", "none"),
        ("pytest.ini", "", None),
        ("setup.cfg", "[tool:pytest]\n", None),
        ("setup.cfg", "[flake8]\n", "none"),
        ("tox.ini", "no section\n", "none"),
    ],
)
def test_a_project_is_where_pytest_finds_its_configuration(tmp_path: Path, name: str, text: str, length: int | str | None) -> None:
    (tmp_path / name).write_text(text)
    found = project_of(tmp_path / "tests" / "python" / "opera")
    assert (found.line_length if found is not None else "none") == length


@pytest.mark.parametrize("name", ["pytest.ini", "tests/conftest.py"])
def test_what_another_user_could_have_written_is_not_run(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tests").mkdir()
    for each in ("pytest.ini", "tests/conftest.py"):
        (tmp_path / each).touch(0o644)
    assert project_of(tmp_path / "tests" / "opera") is not None
    (tmp_path / name).chmod(0o666)
    assert project_of(tmp_path / "tests" / "opera") is None
    assert "another user could have written it" in capsys.readouterr().err


def test_a_likeness_has_all_but_the_suite(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "tests" / "opera").mkdir(parents=True)
    for name in ("pytest.ini", "tests/conftest.py", "tests/opera/old.py", "other.txt"):
        (root / name).write_text(name)
    project = project_of(root / "tests" / "opera")
    assert project is not None
    assert project.has_conftest
    place = project.likeness(tmp_path / "likeness")
    assert place == tmp_path / "likeness" / "tests" / "opera"
    assert list(place.iterdir()) == []
    (place / "new.py").write_text("new")
    assert (tmp_path / "likeness" / "tests" / "conftest.py").read_text() == "tests/conftest.py"
    assert not (root / "tests" / "opera" / "new.py").exists()


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tried]:
    """Runs a suite alone and in a project with *conftest*."""
    monkeypatch.setattr(plain, "plugin", lambda _: SimpleNamespace(load=lambda: FakeAdapter))

    def run(*tests: SuiteTest, conftest: str = "", configuration: str = "[pytest]\n") -> Tried:
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "pytest.ini").write_text(configuration)
        (tmp_path / "tests" / "conftest.py").write_text(conftest)

        def write(chosen: Sequence[SuiteTest]) -> Mapping[str, bytes]:
            return files_of("fake", chosen, {}, Style(), "suite")

        return try_out(tests, write, "fake", Config({}), tmp_path / "scratch", project_of(tmp_path / "tests" / "suite"))

    return run


RAISING = "import json\nmodel = lambda x: json.loads('{')"


def test_a_mark_fits_alone_and_below_the_conftest_of_a_project(trial: Callable[..., Tried]) -> None:
    tried = trial(made("good", SQUARE), made("raises", RAISING, RAISES), made("wrong", "model = lambda x: x", WRONG), conftest=CONFTEST)
    assert (tried.left_out, tried.notes) == ({}, ())
    assert [each.failure and each.failure.exceptions for each in tried.kept] == [
        None,
        ("json.decoder.JSONDecodeError", "AssertionError"),
        ("AssertionError",),
    ]
    again = trial(*tried.kept, conftest=CONFTEST)
    assert list(again.kept) == list(tried.kept)
    files = files_of("fake", tried.kept, {}, Style(), "suite")
    assert any(b"raises=(JSONDecodeError, AssertionError)" in data for data in files.values())


def test_a_test_that_passes_alone_only_is_left_out(trial: Callable[..., Tried]) -> None:
    uses = made("uses", "import json\nmodel = lambda x: x * x * json.loads('1')")
    tried = trial(uses, made("good", SQUARE), conftest=CONFTEST)
    assert [each.name for each in tried.kept] == ["test_good_00000000"]
    assert set(tried.left_out.values()) == {
        "below the project's conftest, it passed in the campaign, but its test fails: AssertionError: this project parses no JSON"
    }


@pytest.mark.parametrize("conftest", ["import no_such_module", "def pytest_configure(config): raise RuntimeError('no')"])
def test_a_project_that_cannot_run_is_noted(trial: Callable[..., Tried], conftest: str) -> None:
    tried = trial(made("good", SQUARE), conftest=conftest)
    assert len(tried.kept) == 1
    assert "not below the configuration of" in tried.notes[0]


def test_sources_in_the_root_of_a_project_do_not_hinder(trial: Callable[..., Tried], tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("import json.built")  # what the fake compiler needs
    tried = trial(made("good", SQUARE), conftest="import pytest")
    assert (len(tried.kept), tried.notes) == (1, ())


def test_options_of_a_project_do_not_hinder(trial: Callable[..., Tried]) -> None:
    tried = trial(made("good", SQUARE), configuration="[pytest]\naddopts = -n 4 --no-such-option\nxfail_strict = true\n")
    assert (len(tried.kept), tried.notes) == (1, ())


LARGE = "values = np.linspace(1, 2, 100, dtype=np.float32)\n"


def compared(name: str, error: str, failure: Failure | None = None) -> SuiteTest:
    """A test whose compiler is off by *error*, of a project that allows 1e-6."""
    text = f"{LARGE}error = {error}\nmodel = lambda x: values + error.astype(np.float32)"
    test = made(name, text, failure)
    body = (*test.body[:-1], *ast.parse("expected = [values]").body)
    reference = Reference([np.linspace(1, 2, 100, dtype=np.float32)])
    return replace(test, body=body, reference=reference, tolerance=(1e-6, 0.0), own_error=1e-5, arguments=("own_error=1e-05",))


def test_a_test_keeps_the_tolerance_of_the_project_where_it_holds(trial: Callable[..., Tried], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeAdapter, "test_tolerances", {"fake": (1e-6, 0.0)})
    few, all_but_few = "np.where(np.arange(100) < 3, 9.0, 0.0)", "np.where(np.arange(100) < 3, 9.0, 1e-5)"
    tried = trial(
        compared("exact", "np.zeros(100)"),
        compared("rounded", "np.full(100, 1e-5)"),
        compared("off", "np.full(100, 1.0)"),
        compared("few", few, WRONG),
        compared("others", all_but_few, WRONG),
    )
    assert {each.name[5:-9]: each.is_loose for each in tried.kept} == {"exact": False, "rounded": True, "few": False, "others": True}
    assert all(each.strict for each in tried.kept)
    assert list(tried.left_out) == ["test_off_00000000"]
    texts = "".join(data.decode() for name, data in files_of("fake", tried.kept, {}, Style(), "s").items() if "test_" in name)
    assert texts.count("# OPERA's tolerance: ") == texts.count('tolerance="opera", own_error=1e-05') == 2
    assert texts.count("own_error") == 2
