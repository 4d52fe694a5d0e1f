"""Fixtures of the tests in this folder; README.md explains them."""

from __future__ import annotations

import functools
import importlib.util
import pathlib

import pytest

PHASES = ["import", "compile", "run"]


def _loaded():
    path = pathlib.Path(__file__).with_name("opera_suite.py")
    place = importlib.util.spec_from_file_location("opera_suite", path)
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


suite = _loaded()


def pytest_generate_tests(metafunc):
    """Measures each phase of a test, with --benchmark-enable."""
    config = metafunc.config
    if not config.pluginmanager.hasplugin("benchmark"):
        return
    if not config.getoption("benchmark_enable", False):
        return
    for name in metafunc.fixturenames:
        if name.startswith("check_") and not name.endswith("_in_child"):
            metafunc.parametrize(name, PHASES, indirect=True)


def _checker(request, frontend, **settings):
    if not hasattr(request, "param"):
        return functools.partial(suite.check, frontend, **settings)
    measure = functools.partial(suite.measure, frontend, **settings)
    benchmark = request.getfixturevalue("benchmark")
    return functools.partial(measure, benchmark, PHASES.index(request.param))


@pytest.fixture
def check_onnx(request):
    """Fails unless the compiler gives the expected outputs."""
    return _checker(request, "onnx")


@pytest.fixture
def data(request):
    """The arrays of a test that are too large for its text, by name."""
    return suite.arrays_of(request.function.__name__)
