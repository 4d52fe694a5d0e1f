"""What all tests share."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

import recordings
from fake.harness import SITE, Lab

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs us in the background has it ignored, in our children as well
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and so has nohup

settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=1_000, deadline=None)
settings.load_profile("quick")  # make test-slow names the other one

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # jsonschema would take 4 s to import it, for a format that no schema here has

os.environ.pop("COLUMNS", None)  # set where several processes run tests, and tables would be cut to it


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """An empty workspace, and commands that know the fake library and compilers."""
    return Lab(tmp_path)


@pytest.fixture
def fake_site(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the fake library and compilers visible in this process, as their installation would."""
    monkeypatch.syspath_prepend(str(SITE))
    return SITE


@pytest.fixture(scope="session")
def node_tests(pytestconfig: pytest.Config) -> list[Any]:
    """The lines of the recording of ONNX's node tests; to be read only."""
    assert pytestconfig.cache is not None
    return recordings.node_tests(pytestconfig.cache.mkdir("recordings"))


@pytest.fixture(params=[25, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def attacks(request: pytest.FixtureRequest) -> settings:
    """How many documents are tried."""
    return settings(max_examples=request.param, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuses a test that `make alone` would not find."""
    for each in items:
        if each.get_closest_marker("alone") and "integration" not in each.path.parts:
            raise pytest.UsageError(f"{each.nodeid} is marked alone; move it to tests/integration, where `make alone` finds it")
