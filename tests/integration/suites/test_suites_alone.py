"""Exported suites run alone: below a hostile conftest, with a compiler that aborts, hangs, and takes all memory."""

from __future__ import annotations

import ast
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from parameters import quick

from opera.compilers.adapter import Adapter, Route
from opera.extensions.suites import plain
from opera.extensions.suites.cases import Failure
from opera.extensions.suites.folder import write_folder
from opera.extensions.suites.plain import Style, files_of, header_of
from opera.extensions.suites.refresh import refresh
from opera.extensions.suites.tests import SuiteTest
from opera.models.template import Reference
from opera.oracles.verdict import Verdict
from opera.report.reproducer import ScriptCase
from opera.store import StoredResult


class FakeAdapter(Adapter):
    """A compiler that runs a Python function."""

    name: ClassVar[str] = "fake"
    routes: ClassVar[tuple[Route, ...]] = (Route("fake", "direct", None), Route("fake", "other", None))
    target: ClassVar[str] = "cpu"
    reproducer = {
        "fake": """\
import json

{{ to_compile }}compiled = model if json.dumps(1) else None
{{ to_run }}actual = [compiled(*inputs){% if route == "other" %} + 1{% endif %}]
"""
    }


RESULT = StoredResult("t" * 64, "i" * 64, "fake", "fake", "direct", "runtime", 0, Verdict.PASS)
HOSTILE = """
import pytest

@pytest.fixture
def check_fake():
    raise RuntimeError("theirs")

@pytest.fixture
def data():
    raise RuntimeError("theirs")

@pytest.fixture(autouse=True)
def always(request):
    assert request.node.path.name.startswith("test_")

@pytest.fixture
def target():
    return "theirs"
"""
INI = """
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider
xfail_strict = false
filterwarnings = error
markers = nightly: theirs
"""


def made(name: str, text: str, failure: Failure | None = None, route: str = "direct", expected: bool = True) -> SuiteTest:
    body = ast.parse(f"{text}\ninputs = (np.array(2.0),)" + ("\nexpected = [np.array(4.0)]" if expected else "")).body
    return SuiteTest(
        name=f"test_{name}_00000000",
        identity="0" * 16,
        api=name,
        family="other",
        frontend="fake",
        route=route,
        imports=("import math",),
        body=tuple(body),
        helpers=(),
        arguments=(),
        has_expected=expected,
        arrays={},
        failure=failure,
        trigger="",
        link="",
        case=ScriptCase(RESULT, {}, "key"),
        reference=Reference([np.array(4.0)]),
    )


SQUARE = "model = lambda x: x * x"
WRONG, RAISES = Failure("AssertionError", "values"), Failure("json.decoder.JSONDecodeError", "no JSON")
DIES = {
    "abort": ("model = lambda x: __import__('os').abort()", Failure("ChildProcessError", "SIGABRT", in_child=True)),
    "exit": ("model = lambda x: __import__('os')._exit(0)", Failure("ChildProcessError", "exit", in_child=True)),
    "hang": ("model = lambda x: __import__('time').sleep(600)", Failure("TimeoutError", "hang", in_child=True)),
    "oom": ("model = lambda x: (bytearray(10**9), __import__('time').sleep(600))", Failure("MemoryError", "memory", in_child=True)),
}
"""Models that end their process, and the failure that this is."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a suite into a project with a configuration of its own."""
    monkeypatch.setattr(plain, "plugin", lambda _: SimpleNamespace(load=lambda: FakeAdapter))
    (tmp_path / "pytest.ini").write_text(INI)
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text(HOSTILE)

    def write(*tests_of: SuiteTest, style: Style | None = None) -> Path:
        folder = tests / "opera"
        files = files_of("fake", tests_of, {}, style or Style(), "opera")
        write_folder(folder, files, {each.identity + each.name: each.name for each in tests_of}, {"style": "plain", "line_length": 88})
        return folder

    return write


def ran(folder: Path, *options: str, **variables: str) -> dict[str, str]:
    """The outcome of each test, of a pytest that sees neither OPERA nor this test's plug-ins."""
    junit = folder.parent / "junit.xml"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONSAFEPATH": "1", "OPERA_SUITE_SECONDS": "4", "OPERA_SUITE_GIBIBYTES": "0.4", **variables}
    command = [sys.executable, "-m", "pytest", f"--junitxml={junit}", *options, str(folder)]
    done = subprocess.run(command, cwd=folder.parents[1], capture_output=True, text=True, check=False, env=environment, timeout=200)
    found: dict[str, str] = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        child = next(iter(case), None)
        kind = "passed" if child is None else f"{child.tag} {child.get('type') or ''} {child.get('message')} {child.text}".strip()
        found[str(case.get("name"))] = kind
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.parametrize("mode", quick(["prepend", "importlib"]))
def test_a_suite_runs_below_a_hostile_conftest(place: Callable[..., Path], mode: str) -> None:
    folder = place(
        made("good", SQUARE),
        made("wrong", "model = lambda x: x", WRONG),
        made("raises", "model = lambda x: __import__('json').loads('{')", RAISES),
        made("route", "model = lambda x: x + 1", route="other"),
        made("silent", "model = lambda x: x", expected=False),
        style=Style(marks=("nightly",)),
    )
    found = ran(folder, f"--import-mode={mode}")
    assert found["test_good_00000000"] == found["test_route_00000000"] == found["test_silent_00000000"] == "passed"
    assert found["test_wrong_00000000"].startswith("skipped pytest.xfail")
    assert found["test_raises_00000000"].startswith("skipped pytest.xfail")
    assert len(ran(folder, "-m", "nightly")) == 5


@pytest.mark.slow
def test_a_dying_test_fails_strictly_in_a_child_process(place: Callable[..., Path]) -> None:
    folder = place(
        *(made(name, text, failure) for name, (text, failure) in DIES.items()),
        *(made(f"mended_{name}", SQUARE, failure) for name, (_, failure) in DIES.items() if name != "exit"),
        made("otherwise", "model = lambda x: 1 / 0", DIES["abort"][1]),
    )
    found = ran(folder)
    for name in DIES:
        assert found[f"test_{name}_00000000"].startswith("skipped pytest.xfail"), name
    for name in ("abort", "hang", "oom"):
        assert "XPASS(strict)" in found[f"test_mended_{name}_00000000"], name
    assert "ZeroDivisionError" in found["test_otherwise_00000000"]


@pytest.mark.slow
def test_a_mark_follows_the_results(place: Callable[..., Path]) -> None:
    folder = place(made("good", "model = lambda x: x"), made("mended", SQUARE, WRONG), made("other", "model = lambda x: 1 / 0", WRONG))
    ran(folder)
    done = refresh(folder, [folder.parent / "junit.xml"])
    assert (done.added, done.removed, done.changed) == (("test_good_00000000",), ("test_mended_00000000",), ("test_other_00000000",))
    found = ran(folder)
    assert found["test_mended_00000000"] == "passed"
    assert found["test_good_00000000"].startswith("skipped pytest.xfail")
    assert found["test_other_00000000"].startswith("skipped pytest.xfail")


@pytest.mark.slow
def test_a_suite_with_the_plug_in_runs_for_each_target(place: Callable[..., Path]) -> None:
    abort, failure = DIES["abort"]
    folder = place(
        made("good", SQUARE),
        made("wrong", "model = lambda x: x", WRONG),
        made("abort", abort, failure),
        style=Style(with_targets=True),
    )
    for mode in ("prepend", "importlib"):
        found = ran(folder, f"--import-mode={mode}")
        assert found["test_good_00000000[cpu]"] == "passed"
        assert found["test_wrong_00000000[cpu]"].startswith("skipped pytest.xfail")
        assert found["test_abort_00000000[cpu]"].startswith("skipped pytest.xfail")
    found = ran(folder, OPERA_TEST_TARGETS="cpu -fast;cpu")
    assert found["test_good_00000000[cpu -fast]"] == "passed"


def test_an_absent_compiler_is_a_skip_with_its_reason(place: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    template = FakeAdapter.reproducer["fake"].replace("import json", "import a_compiler_that_is_not_there")
    monkeypatch.setattr(FakeAdapter, "reproducer", {"fake": template})
    found = ran(place(made("good", SQUARE)))
    assert all(outcome.startswith("skipped") for outcome in found.values()), found
    assert "could not import 'a_compiler_that_is_not_there'" in " ".join(found.values())


@pytest.mark.slow
def test_a_compiler_that_lacks_a_part_of_its_own_is_no_skip(place: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    template = FakeAdapter.reproducer["fake"].replace("import json", "import sources_of_a_compiler")
    monkeypatch.setattr(FakeAdapter, "reproducer", {"fake": template})
    folder = place(made("good", SQUARE))
    package = folder.parent / "sources_of_a_compiler"
    package.mkdir()
    (package / "__init__.py").write_text("import sources_of_a_compiler.built")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert done.returncode not in (0, 5), done.stdout
    assert "No module named 'sources_of_a_compiler.built'" in done.stdout + done.stderr


@pytest.mark.parametrize("limit", quick([80, 88, 100, 140]))
@pytest.mark.parametrize("with_targets", [False, True])
def test_ruff_is_content(place: Callable[..., Path], limit: int, with_targets: bool) -> None:
    abort, failure = DIES["abort"]
    long = "model = lambda value: np.einsum(value, [1.0, 2.0, 3.0, 4.0], another='text', third={'a': (1, 2), 'b': None}, last=[5, 6])"
    header = header_of("Licensed to nobody\n\nSPDX-License-Identifier: Apache-2.0")
    style = Style(header, ("nightly",), limit, with_targets)
    folder = place(made("good", SQUARE), made("long", long), made("abort", abort, failure), made("raises", SQUARE, RAISES), style=style)
    ruff = [sys.executable, "-m", "ruff"]
    checked = subprocess.run([*ruff, "check", "--isolated", "--no-cache", str(folder)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    options = ["--isolated", "--no-cache", "--diff", "--line-length", str(limit)]
    modules = [str(folder / "green"), str(folder / "burn_down"), str(folder / "conftest.py")]
    formatted = subprocess.run([*ruff, "format", *options, *modules], capture_output=True, text=True, check=False)
    assert formatted.returncode == 0, formatted.stdout
    assert all(path.read_text().startswith("# Licensed to nobody\n#\n# SPDX") for path in folder.rglob("*.py"))


@pytest.mark.slow
def test_a_target_that_is_an_object_reaches_a_child_process(place: Callable[..., Path]) -> None:
    text, failure = DIES["abort"]
    folder = place(made("square", SQUARE), made("dies", text, failure), style=Style(with_targets=True))
    found = ran(folder, OPERA_TEST_TARGETS='{"kind": "cpu", "cores": 2};cpu')
    assert [each.partition(" 0")[0] for each in sorted(found.values())] == ["passed"] * 2 + ["skipped pytest.xfail"] * 2


def test_reasons_are_whole_and_in_ascii(place: Callable[..., Path]) -> None:
    text = "when the axis is \u2265 1 and the size \u2260 2, " * 6
    known = made("known", "model = lambda x: x + 1", Failure("AssertionError", f"values: {text.strip()} end"))
    for limit in (80, 100):
        folder = place(known, style=Style(line_length=limit))
        source = next((folder / "burn_down").glob("*.py")).read_text()
        assert max(map(len, source.splitlines())) <= limit
        mark = next(each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.keyword) and each.arg == "reason")
        assert ast.literal_eval(mark.value).startswith("00000000: values: when the axis is >= 1 and the size != 2, when")
        assert ast.literal_eval(mark.value).endswith("end")
    assert ran(folder)["test_known_00000000"].startswith("skipped pytest.xfail")
