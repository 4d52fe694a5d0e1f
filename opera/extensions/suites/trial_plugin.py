"""A plug-in for pytest that notes the outcome of each test in the file that `OPERA_TRIAL` names."""

from __future__ import annotations

import json
import os
from typing import Any, cast

import pytest

_RAISED: dict[str, str] = {}
"""What tests raised, by their ids."""


def _note(**row: str) -> None:
    with open(os.environ["OPERA_TRIAL"], "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    """Notes a test that begins, so that a process that dies says in which."""
    _note(test=nodeid, outcome="begun")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Keeps the type of what a test itself raises."""
    if call.when == "call" and call.excinfo is not None:
        kind = call.excinfo.type
        _RAISED[item.nodeid] = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def pytest_runtest_logreport(report: Any) -> None:
    """Notes a call, and a set-up or an end that does not go well."""
    if report.when == "call" or report.outcome != "passed":
        outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(report.outcome) if hasattr(report, "wasxfail") else None
        raised = _RAISED.get(report.nodeid, "") if report.when == "call" else ""
        _note(test=report.nodeid, outcome=outcome or report.outcome, message=_message(report), raised=raised)


def pytest_collectreport(report: Any) -> None:
    """Notes a module that cannot be imported, or that needs what is absent."""
    if report.outcome != "passed":
        _note(file=report.nodeid, outcome=report.outcome, message=_message(report))


def pytest_sessionfinish() -> None:
    """Notes that there is no more to come."""
    _note(outcome="ended")


def _message(report: Any) -> str:
    shown: Any = report.longrepr
    crash = getattr(shown, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    if isinstance(shown, tuple):
        return str(cast("tuple[Any, ...]", shown)[-1])
    return str(shown or "")
