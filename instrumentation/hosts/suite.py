"""Runs one file of tests, or one script, under a recorder: as pytest, unittest or Python would run it, and unedited."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.util
import os
import runpy
import sys
import time
import traceback
import unittest
import warnings
from typing import Any, List, Optional, Sequence, Tuple, cast

from ..recorders import recording
from ..stream import Stream
from . import arguments

MESSAGE = 300
_ORDERLY = (0, 1, 5)
"""Exit statuses of pytest: all passed, some failed, none was there. Others mean that it gave up."""


def prepare(argv: Sequence[str]) -> None:
    """Imports what the files of a suite need; what cannot be imported is for the files to find."""
    parser = argparse.ArgumentParser(prog="suite", description=prepare.__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--shim")
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="MODULE")
    options = parser.parse_args(argv)
    with contextlib.suppress(Exception):
        if options.shim:
            importlib.import_module(f"..shims.{options.shim}", __package__)
        recording(options.library).version()
    for module in options.imports:
        with contextlib.suppress(Exception):
            importlib.import_module(module)


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one file."""
    own, extra = _split(argv)
    parser = arguments.parser("suite")
    parser.add_argument("--library", required=True)
    parser.add_argument("--root", required=True, help="folder of the suite")
    parser.add_argument("--file", required=True, help="path of the file within it")
    parser.add_argument("--runner", choices=("auto", "pytest", "unittest", "script"), default="auto")
    parser.add_argument("--pytest", action="append", default=[], metavar="ARGUMENT", help="of pytest only; what follows -- is for any")
    parser.add_argument("--shim", help="pytest plug-in in instrumentation/shims that is loaded first")
    parser.add_argument("--unwatched", action="store_true", help="run the file without a recorder, to compare")
    options = parser.parse_args(own)
    path = os.path.join(str(options.root), str(options.file))
    plugins = [importlib.import_module(f"..shims.{options.shim}", __package__)] if options.shim else []
    told = [argument for plugin in plugins if hasattr(plugin, "arguments") for argument in plugin.arguments(options.root)]
    library = recording(options.library)
    with Stream(options.recording, options.library, library.version(), options.source) as stream:
        stream.enter(options.shard[0], options.file)
        test = f"{options.source}::{options.file}"
        stream.begin(f"{test}::<import>")
        sys.path.append(options.root)
        sys.argv = [path, *extra]
        watch: Any = contextlib.nullcontext() if options.unwatched else _watch(library, stream, arguments.filters(options))
        with watch:
            runner = _runner(path) if options.runner == "auto" else options.runner
            if runner == "pytest":
                _pytest(path, options.root, [*options.pytest, *told, *extra], [*plugins, _Watcher(stream, test)])
            elif runner == "unittest":
                _unittest(path, stream, test, extra)
            else:
                _script(path, stream, test)


@contextlib.contextmanager
def _watch(library: Any, stream: Stream, filters: Any) -> Any:
    with library.Recorder(stream, filters) as recorder, recorder.watching():
        yield


def _split(argv: Sequence[str]) -> Tuple[List[str], List[str]]:
    """The host's own arguments and, after `--`, those of pytest or of the script."""
    at = list(argv).index("--") if "--" in argv else len(argv)
    return list(argv[:at]), list(argv[at + 1 :])


def _runner(path: str) -> str:
    """What runs the file at *path*: tests by pytest where it is installed, else by unittest; anything else is a script."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(file.read()).body
    except (SyntaxError, ValueError):
        return "script"
    if not any(_is_test(node) for node in body):
        return "script"
    return "pytest" if importlib.util.find_spec("pytest") is not None else "unittest"


def _is_test(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") or any("TestCase" in ast.dump(base) for base in node.bases)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def _pytest(path: str, root: str, extra: Sequence[str], plugins: Sequence[Any]) -> None:
    pytest: Any = importlib.import_module("pytest")
    own = ["-p", "no:cacheprovider", "--rootdir", root, "--continue-on-collection-errors", "-q"]
    if importlib.util.find_spec("xdist") is not None:
        own += ["-n", "0"]  # OPERA would not watch its workers
    said = _Copy(sys.stderr)
    with contextlib.redirect_stderr(cast(Any, said)):
        status = int(pytest.main([path, *own, *extra], plugins=list(plugins)))
    watcher: _Watcher = plugins[-1]
    if status not in _ORDERLY or watcher.stopped:
        watcher.stop(said.text or f"pytest ended with exit status {status}")


class _Copy:
    """Standard error, and the end of what is written to it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        """As that of the stream."""
        self.text = (self.text + text)[-MESSAGE * 10 :]
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Watcher:
    """A pytest plug-in that says which test runs and how it ended."""

    def __init__(self, stream: Stream, file: str) -> None:
        self._stream = stream
        self._file = file
        self._outcome = ""
        self._message = ""
        self._seconds = 0.0
        self.stopped = ""

    def pytest_collectreport(self, report: Any) -> None:
        """A file or class that cannot be collected, or asks to be left out."""
        if report.failed or report.skipped:
            self._stream.outcome(self._file, "error" if report.failed else "skipped", 0.0, _last_line(report.longreprtext))

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Pytest itself, or a plug-in or conftest of the suite, has failed."""
        self.stopped = str(excrepr)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """A test has ended the whole run."""
        self.stopped = f"{excinfo.typename}: {excinfo.value}"

    def stop(self, message: str) -> None:
        """Says that the rest of the file was not run."""
        self._stream.outcome(self._file, "error", 0.0, _last_line(self.stopped or message))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Says that a test begins."""
        self._outcome, self._message, self._seconds = "passed", "", 0.0
        self._stream.begin(self._name(nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Set-up, call or tear-down of a test has ended."""
        self._seconds += report.duration
        if report.failed and self._outcome != "failed":
            self._outcome = "failed" if report.when == "call" else "error"
            self._message = _last_line(report.longreprtext)
        elif report.skipped:
            self._outcome = "skipped"
        if report.when == "call" and hasattr(report, "wasxfail") and not report.failed:
            self._outcome = "xfailed" if report.skipped else "xpassed"

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """All of a test has ended."""
        self._stream.outcome(self._name(nodeid), self._outcome, self._seconds, self._message)

    def _name(self, nodeid: str) -> str:
        return f"{self._file}::{nodeid.partition('::')[2]}"


class _Result(unittest.TestResult):
    """Says which test runs and how it ended."""

    def __init__(self, stream: Stream, file: str) -> None:
        super().__init__()
        self._recording = stream
        self._file = file
        self._began = 0.0
        self._outcome = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._began, self._outcome = time.monotonic(), "passed"
        self._recording.begin(self._name(test))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._recording.outcome(self._name(test), self._outcome, time.monotonic() - self._began)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._outcome = "failed"

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._outcome = "failed"
        if not hasattr(test, "_testMethodName"):
            self._recording.outcome(self._file, "error", 0.0, _last_line(repr(err[1])))

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._outcome = "xfailed"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._outcome = "failed"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._outcome = "skipped"
        if not hasattr(test, "_testMethodName"):
            self._recording.outcome(self._file, "skipped", 0.0, _last_line(reason))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._outcome = "failed"

    def _name(self, test: unittest.TestCase) -> str:
        return f"{self._file}::{'::'.join(test.id().split('.')[-2:])}"


def _unittest(path: str, stream: Stream, test: str, extra: Sequence[str]) -> None:
    """Runs the tests of a file as `python -m unittest` does."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    try:
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        unittest.main(module, argv=[path, *extra], testRunner=_Runner(stream, test), exit=False)
    except BaseException as error:
        _complain(error, stream, test)


class _Runner:
    """What `unittest` hands its tests to."""

    def __init__(self, stream: Stream, file: str) -> None:
        self._result = _Result(stream, file)

    def run(self, tests: Any) -> unittest.TestResult:
        """Runs *tests* on the result that this runner holds."""
        tests(self._result)
        return self._result


def _script(path: str, stream: Stream, test: str) -> None:
    """Runs a file as `python FILE` does."""
    sys.path.insert(0, os.path.dirname(path))
    began = time.monotonic()
    stream.begin(test)
    outcome, message = "passed", ""
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leave:
        if leave.code not in (None, 0):
            outcome, message = "failed", f"exit status {leave.code}"
    except BaseException as error:
        _complain(error, stream, test)
        return
    stream.outcome(test, outcome, time.monotonic() - began, _last_line(message))


def _complain(error: BaseException, stream: Stream, test: str) -> None:
    """Says that a file could not be run; what it had called until then is kept."""
    traceback.print_exc()
    message: Optional[str] = None
    with contextlib.suppress(Exception):
        message = f"{type(error).__name__}: {error}"
    stream.outcome(test, "error", 0.0, _last_line(message or type(error).__name__))


def _last_line(text: str) -> str:
    """What went wrong, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (told or lines or [""])[-1][:MESSAGE]
