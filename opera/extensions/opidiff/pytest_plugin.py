"""A plug-in for pytest that runs OpiDiff suites: `pytest -p opera.extensions.opidiff.pytest_plugin s.yaml --opidiff-backend onnxruntime`.

It collects the suites that the command line names, with an item for each id and backend. All selected tests of a suite run as campaigns of
`opera opidiff run`, before the first of them is reported. Where pytest-xdist has several processes, the first one runs them, and the others
take the results from the workspace.
"""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from opera.atomic import lock_file
from opera.cli.trusting import with_trust
from opera.config import load_config
from opera.console import one_line
from opera.difftest.settings import Settings
from opera.errors import OperaError
from opera.extensions.opidiff.instances import classes_of
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.running import LIBRARY, Backend, SuiteRow, SuiteRunner, backends_of
from opera.extensions.opidiff.suite import Suite, load_suite
from opera.oracles.verdict import Verdict
from opera.run.progress import CampaignProgress
from opera.store.database import open_workspace
from opera.workers.cores import usable_cores

_SUFFIXES = (".yaml", ".yml")
_BACKEND, _VERDICT, _COMPARED = "opidiff-backend", "opidiff-verdict", "opidiff-compared"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the plug-in's options to pytest."""
    group = parser.getgroup("opidiff", "OpiDiff suites")
    group.addoption("--opidiff-backend", metavar="NAMES", help="Backends with commas between: tvm, or tvm/ROUTE.")
    group.addoption("--opidiff-trust", metavar="DIR|PACKAGE", action="append", default=[], help="Run code of this folder, file or package.")
    group.addoption("--opidiff-workspace", metavar="DIR", type=Path, help="Workspace for the results; by default a new one.")


@dataclass
class _Session:
    """What the items of a run share.

    Attributes:
        backends: On which tests run.
        rows: The result of each id and backend, by suite.
        verdicts: Verdicts of all reports, by backend: how many have each verdict.
        compared: How many of them were compared with the library, or failed.
    """

    backends: list[Backend] = field(default_factory=list[Backend])
    rows: dict[Path, dict[tuple[str, str], SuiteRow]] = field(default_factory=dict[Path, dict[tuple[str, str], SuiteRow]])
    verdicts: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    compared: Counter[str] = field(default_factory=Counter[str])


_KEY = pytest.StashKey[_Session]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes what the items share."""
    config.stash[_KEY] = _Session()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects a suite that the command line names."""
    if file_path.suffix in _SUFFIXES and parent.session.isinitpath(file_path):
        return cast(Any, SuiteFile).from_parent(parent, path=file_path)
    return None


class SuiteFile(pytest.File):
    """An OpiDiff suite, as a file that pytest collects."""

    suite: Suite

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each id and backend; the row of a pair is an item of its own."""
        names = self.config.getoption("--opidiff-backend")
        if not names:
            raise pytest.UsageError("name the backends of the suite: --opidiff-backend onnxruntime,openvino")
        shared = self.config.stash[_KEY]
        try:
            shared.backends = shared.backends or backends_of([each.strip() for each in str(names).split(",")], load_config())
            self.suite = load_suite([self.path])
        except InvalidSuite as error:
            raise self.CollectError("\n".join(each.text for each in error.problems if not each.warning)) from None
        except OperaError as error:
            raise pytest.UsageError(str(error)) from None
        ids = dict.fromkeys(name for test in self.suite.tests for name in (test.id, test.pair) if name is not None)
        for backend in shared.backends:
            for name in ids:
                shown = name if len(shared.backends) == 1 else f"{name}[{backend.name}]"
                yield cast(Any, SuiteItem).from_parent(self, name=shown, test=name, backend=backend.name)

    def row(self, test: str, backend: str) -> SuiteRow | None:
        """The result of an id; the first call runs the selected tests of the suite."""
        shared = self.config.stash[_KEY]
        if self.path not in shared.rows:
            wanted = {each.test for each in self.session.items if isinstance(each, SuiteItem) and each.parent is self}
            shared.rows[self.path] = {(each.id, each.backend): each for each in self._run(wanted, shared.backends)}
        return shared.rows[self.path].get((test, backend))

    def _run(self, wanted: set[str], backends: list[Backend]) -> tuple[SuiteRow, ...]:
        tests = [each for each in self.suite.tests if each.id in wanted or each.pair in wanted]
        config = with_trust(load_config(), LIBRARY, cast("list[str]", self.config.getoption("--opidiff-trust")), None, self.suite.folders)
        with _alone(self._workspace()) as folder, open_workspace(folder, write=True) as space:
            settings = Settings("", LIBRARY, jobs=usable_cores())
            runner = SuiteRunner(space, config, settings, None, classes_of(self.suite, config.trust))
            outcome = runner.run(tests, backends, LIBRARY, lambda subject: CampaignProgress(subject, str(folder), quiet=True))
        if outcome.interrupted:
            raise KeyboardInterrupt
        return outcome.rows

    def _workspace(self) -> Path:
        """The workspace that all processes of the session share."""
        given: Path | None = self.config.getoption("--opidiff-workspace")
        if given is not None:
            return given
        base: Path = cast(Any, self.config)._tmp_path_factory.getbasetemp()
        return (base.parent if hasattr(self.config, "workerinput") else base) / "opidiff"


@contextmanager
def _alone(folder: Path) -> Generator[Path]:
    """Waits until no other process of the session uses the workspace *folder*."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(folder.with_name(f".{folder.name}.turn")) as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield folder


class SuiteFailure(Exception):
    """A test that failed, or that is invalid."""


class SuiteItem(pytest.Item):
    """A test of a suite on a backend.

    Args:
        test: Its id.
        backend: As the command line names it.
    """

    def __init__(self, *, test: str, backend: str, **more: Any) -> None:
        cast(Any, super()).__init__(**more)
        self.test = test
        self.backend = backend
        self.result: SuiteRow | None = None

    def setup(self) -> None:
        """Runs the tests of the suite, and ends with an error for what is invalid."""
        assert isinstance(self.parent, SuiteFile)
        row = self.result = self.parent.row(self.test, self.backend)
        compared = row is not None and row.compared
        verdict = "not run" if row is None else row.state if row.reason is None else f"{row.state} ({one_line(row.reason, 60)})"
        self.user_properties += [(_BACKEND, self.backend), (_VERDICT, verdict), (_COMPARED, compared)]
        if row is None or row.verdict in (None, Verdict.INVALID):
            raise SuiteFailure("the test did not run" if row is None else _message(row))

    def runtest(self) -> None:
        """Fails or skips the test, as its verdict says."""
        row = self.result
        assert row is not None
        if row.verdict is not None and row.verdict.is_failure:
            raise SuiteFailure(_message(row))
        if row.verdict is not Verdict.PASS:
            pytest.skip(_message(row))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The verdict alone for what is no error of OPERA."""
        return str(excinfo.value) if isinstance(excinfo.value, (SuiteFailure, OperaError)) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the test in the suite."""
        assert isinstance(self.parent, SuiteFile)
        suite = self.parent.suite
        lines = (suite.line(each)[1] - 1 for each in suite.tests if self.test in (each.id, each.pair))
        return self.path, next(lines, None), self.name


def _message(row: SuiteRow) -> str:
    return one_line(": ".join(each for each in (f"{row.id} on {row.backend}", row.state, row.reason, row.summary) if each), 600)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Gives the report of a test its own seconds, and not those of the campaign."""
    report = yield
    if isinstance(item, SuiteItem):
        seconds = 0.0 if item.result is None else item.result.seconds
        ends = "call" if call.excinfo is None or call.when != "setup" else "setup"
        report.duration = seconds if report.when == ends else 0.0
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Lets a session end with 5, as one without tests does, where nothing was compared on a backend."""
    if exitstatus == pytest.ExitCode.OK and _nothing(session.config):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says on which backends nothing was compared."""
    for line in _nothing(config):
        terminalreporter.write_line(line, red=True)


def _nothing(config: pytest.Config) -> list[str]:
    shared = config.stash[_KEY]
    return [
        f"nothing was compared on {backend}: {', '.join(f'{count:,} {verdict}' for verdict, count in verdicts.most_common(5))}"
        for backend, verdicts in shared.verdicts.items()
        if not shared.compared[backend]
    ]


class _Counting:
    """Counts the reports of a session, those of other processes included."""

    def __init__(self, shared: _Session) -> None:
        self._shared = shared

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts a test by its last phase with a verdict."""
        known = dict(report.user_properties)
        backend = known.get(_BACKEND)
        if isinstance(backend, str) and (report.when == "call" or (report.when == "setup" and report.outcome != "passed")):
            self._shared.verdicts.setdefault(backend, Counter())[str(known.get(_VERDICT))] += 1
            self._shared.compared[backend] += bool(known.get(_COMPARED))


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Registers the plug-in that counts reports."""
    session.config.pluginmanager.register(_Counting(session.config.stash[_KEY]))
