"""The suites of `data/suites` are as the exporter of today writes them: drivers and conftests do not drift, file by file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opera.compilers.registry import plugin
from opera.extensions.suites import plain
from opera.extensions.suites.driver import helper, route_function
from opera.extensions.suites.folder import MANIFEST, Manifest, manifest_of
from opera.extensions.suites.plain import Style

SUITES = Path(__file__).parents[3] / "data" / "suites"
KEPT = sorted(path for path in SUITES.iterdir() if path.is_dir())
RENEW = "renew it with `opera export pytest`, as data/suites/README.md says"


@pytest.fixture(params=KEPT, ids=lambda path: path.name)
def suite(request: pytest.FixtureRequest) -> Path:
    return request.param


def manifest(suite: Path) -> Manifest:
    found = manifest_of(suite)
    assert found is not None
    return found


def versions(suite: Path) -> dict[str, str]:
    """The versions and settings that the README names."""
    line = re.search(r"^Seen with (.*?)\. Each test ran", (suite / "README.md").read_text(), re.M)
    assert line is not None, "its tests did not run before they were exported"
    return dict(each.split(" ", 1) for each in line[1].split(", "))


def style(suite: Path) -> Style:
    return Style(line_length=manifest(suite).settings["line_length"])


def test_the_driver_is_as_the_exporter_writes_it(suite: Path) -> None:
    adapter = plugin(manifest(suite).settings["compiler"]).load()
    driver = (suite / "opera_suite.py").read_text()
    routes = re.findall(r'"""Runs a model of (\w+) by the route (\S+), and', driver)
    assert routes
    functions = [route_function(adapter, frontend, route, versions(suite)) for frontend, route in sorted(routes)]
    written = plain._python(helper(adapter, functions, with_targets=False), style(suite)).decode()
    assert driver.splitlines() == written.splitlines(), RENEW


def test_the_conftest_is_as_the_exporter_writes_it(suite: Path) -> None:
    files = [path for tier in (plain.GREEN, plain.BURN_DOWN) for path in sorted((suite / tier).glob("test_*.py"))]
    checks = {(each, isolated) for path in files for each, isolated in re.findall(r"\bcheck_([a-z]+)(_in_child)?\b", path.read_text())}
    variables = re.findall(r'os\.environ\.setdefault\("(\w+)", "(\w*)"\)', (suite / "conftest.py").read_text())
    tests: list[Any] = [
        SimpleNamespace(frontend=each, failure=SimpleNamespace(in_child=True) if isolated else None, environment=tuple(variables))
        for each, isolated in checks
    ]
    written = plain._python(plain._conftest(tests, style(suite)), style(suite)).decode()
    assert (suite / "conftest.py").read_text().splitlines() == written.splitlines(), RENEW


def test_no_file_was_changed_by_hand(suite: Path) -> None:
    found = {str(path.relative_to(suite)): hashlib.sha256(path.read_bytes()).hexdigest() for path in suite.rglob("*") if path.is_file()}
    others = {name for name in found if "__pycache__" in name} | {MANIFEST}
    assert {name: digest for name, digest in found.items() if name not in others} == dict(manifest(suite).files)


def test_the_table_of_suites_is_complete() -> None:
    named = re.findall(r"^\| `(\w+)/` \|", (SUITES / "README.md").read_text(), re.M)
    assert sorted(named) == [path.name for path in KEPT]
