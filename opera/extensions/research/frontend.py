"""The statements of a compiler's frontend that each test of a campaign runs, for the strategies `total` and `additional`.

Every model is loaded once more, in a worker of the compiler, under coverage.py with a context of its own. Only loading counts: that is
what a frontend does. A frontend in C++ has no statements that coverage.py could see, and is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from opera.compilers.adapter import Subject
from opera.compilers.registry import known_adapter, plugin, plugins
from opera.config import Config
from opera.console import say
from opera.errors import UserError
from opera.extensions.research.visits import VisitingWorker, visits
from opera.store import Campaign, Workspace
from opera.workers.child import Stages
from opera.workers.protocol import Message

_EVERY = 500
"""Tests between two lines of progress."""


class CoverageWorker(VisitingWorker):
    """Answers `{"lines": {file: [number, ...]}}`."""

    def ready(self) -> Message:
        versions = super().ready()
        self._recorder = Recorder(self._options["packages"])
        return versions

    def visit(self, subject: Subject, stages: Stages) -> Message:
        stages.enter("load")
        return {"lines": self._recorder.lines(lambda: self.adapter.load(subject, stages.enter))}


class Recorder:
    """Records the statements of *packages* that calls run."""

    def __init__(self, packages: Sequence[str]) -> None:
        from coverage import Coverage

        self._coverage = Coverage(data_file=None, source_pkgs=list(packages), messages=False, config_file=False)
        self._calls = 0

    def lines(self, call: Callable[[], object]) -> dict[str, list[int]]:
        """The lines that *call* runs by file, which is relative to its top package; what it raises ends it."""
        self._calls += 1
        context = f"call {self._calls}"
        self._coverage.start()
        self._coverage.switch_context(context)
        try:
            call()
        except Exception:
            pass  # what ran until then counts
        finally:
            self._coverage.stop()
        found = self._coverage.get_data()
        found.set_query_context(context)
        lines = {_short(file): sorted(found.lines(file) or ()) for file in found.measured_files()}
        return {file: numbers for file, numbers in lines.items() if numbers}


def _short(file: str) -> str:
    """*file* from its top package on."""
    folders = [folder for folder in sys.path if folder and file.startswith(f"{folder}/")]
    return file[len(max(folders, key=len)) + 1 :] if folders else file


def measure(workspace: Workspace, config: Config, campaign: Campaign, timeout: float = 60.0) -> dict[str, frozenset[int]]:
    """The statements that the tests of each instance of *campaign* ran, numbered; nothing for one whose model could not be made.

    Raises:
        UserError: the frontend is not in Python, or the campaign's models are gone from the cache.
        EnvironmentBroken: the compiler does not work here, or coverage.py is not installed in its environment.
    """
    packages = plugin(campaign.compiler).load().python_frontend
    if not packages:
        known = ", ".join(name for name in plugins() if (adapter := known_adapter(name)) is not None and adapter.python_frontend)
        raise UserError(
            f"the frontend of {campaign.compiler} is not written in Python, so coverage.py cannot measure it; choose one of: {known}"
        )
    found: dict[str, set[tuple[str, int]]] = {}
    answers = visits(
        workspace, config, campaign, "opera.extensions.research.frontend:CoverageWorker", {"packages": list(packages)}, timeout=timeout
    )
    for number, (instance, answer) in enumerate(answers, 1):
        if not isinstance(answer, str):
            found.setdefault(instance, set()).update((file, line) for file, numbers in answer["lines"].items() for line in numbers)
        if number % _EVERY == 0:
            say(f"coverage of {number:,} tests")
    numbers = {line: number for number, line in enumerate(sorted(set[tuple[str, int]]().union(*found.values())))}
    return {instance: frozenset(numbers[line] for line in lines) for instance, lines in found.items()}
