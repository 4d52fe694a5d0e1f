"""Measures what `opera.testing` costs for each test, in one run: the time in its own functions, without pytest's.

    python benchmarks/bench_testing_plugin.py [TESTS]

The suite takes a parameter, a cached fixture and a target in each test.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from opera.testing import fixtures, plugin

CONFTEST = """
def pytest_opera_targets(config): return ["llvm"]
def pytest_opera_device(target): return target
"""
MODULE = """
import opera.testing
size = opera.testing.parameter(*range({tests}))
@opera.testing.fixture(cache_return_value=True)
def table(): return list(range(50))
def test_it(size, table, target, dev): assert len(table) == 50
"""
spent: dict[str, float] = {}


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, whose time counts under *name*; what it waits for in a yield does not count."""

    def call(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - began

    return call


def instrument() -> None:
    """Times the functions of the plug-in that do its work."""
    for name in ("_prepared", "_targets_of", "_explicit", "functions_of", "widest_user", "part_of_row"):
        setattr(plugin, name, timed(name, getattr(plugin, name)))
    users: Any = plugin._Users
    users.done = timed("done", users.done)
    users.__init__ = timed("users", users.__init__)
    for name in ("_key", "_check_copyable", "is_disabled"):
        setattr(fixtures, name, timed(name, getattr(fixtures, name)))
    fixtures.copy.deepcopy = timed("deepcopy", fixtures.copy.deepcopy)


def main() -> Generator[str]:
    """Yields the lines of the report."""
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    instrument()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "conftest.py").write_text(CONFTEST)
        Path(folder, "test_it.py").write_text(MODULE.format(tests=tests))
        began = time.perf_counter()
        code = pytest.main(["-q", "-p", "opera.testing.plugin", "-p", "no:cacheprovider", "--no-header", "-o", "addopts=", folder])
        whole = time.perf_counter() - began
    own = sum(spent.values())
    yield f"exit {int(code)}: {tests:,} tests in {whole:.2f} s; the plug-in took {own:.3f} s, {1000 * own / tests:.3f} ms a test"
    for name, seconds in sorted(spent.items(), key=lambda each: -each[1]):
        yield f"  {name}: {seconds:.3f} s"


if __name__ == "__main__":
    print("\n".join(main()))
