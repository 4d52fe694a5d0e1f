"""Keeps the unit tests what they are: a test here that starts a process, or imports a DL library or a compiler, fails."""

from __future__ import annotations

import _posixsubprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LIBRARIES = frozenset({"iree", "jax", "keras", "onnx", "onnxruntime", "openvino", "tensorflow", "torch", "tvm"})
STARTS = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})

_forbids: list[list[str]] = []
"""What was tried, for each item that runs now; empty while no unit test runs, since an audit hook cannot be removed."""


def _refuse(what: str) -> None:
    if _forbids:
        _forbids[-1].append(what)
        raise RuntimeError(f"a unit test {what}; move it to tests/integration or tests/adapters")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in STARTS:
        _refuse("starts a process")
    elif event == "import" and (library := arguments[0].partition(".")[0]) in LIBRARIES:
        _refuse(f"imports {library}")


def _no_fork(*arguments: Any) -> int:
    _refuse("starts a process")
    return _fork_exec(*arguments)


_fork_exec = _posixsubprocess.fork_exec
_posixsubprocess.fork_exec = _no_fork  # multiprocessing calls it without an audit event
sys.addaudithook(_audit)


@contextmanager
def _forbidden() -> Iterator[None]:
    """Refuses processes and libraries; raises at the end where the code under test has swallowed the refusal."""
    tried: list[str] = []
    _forbids.append(tried)
    try:
        yield
    finally:
        _forbids.pop()
    if tried:
        pytest.fail(f"a unit test {tried[0]}; move it to tests/integration or tests/adapters", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Refuses processes and libraries while a file is imported, whose error is then the refusal."""
    _forbids.append([])
    try:
        return (yield)
    finally:
        _forbids.pop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Refuses processes and libraries while fixtures are made."""
    with _forbidden():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Refuses processes and libraries while a test runs."""
    with _forbidden():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Refuses processes and libraries while fixtures end."""
    with _forbidden():
        return (yield)
