"""Runs the tests of a suite, as they were written, before the export calls one of them green or known."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opera.config import Config
from opera.console import doing, one_line
from opera.errors import EnvironmentBroken
from opera.extensions.suites import trial_plugin
from opera.extensions.suites.tests import SuiteTest
from opera.report.reproducer import surroundings
from opera.workers import clock
from opera.workers.cores import usable_cores
from opera.workers.process import signal_name
from opera.workers.program import LOOK_SECONDS, Program
from opera.workers.supervision import working_folder

_TESTS_OF_A_PROCESS = 8
"""Number of tests from which on a further process, which imports the compiler once more, saves time."""
_SECONDS = 60.0
"""After which a test in a child process is taken for one that does not end."""
_SILENCE = 3 * _SECONDS
"""Seconds without an outcome after which the process is ended."""
_MEMORY = 12 * 2**30
_MESSAGE = 120
_FUNCTION = re.compile(r"(?m)^def (test_\w+)\(")
_PERTURBED = ("165", "90")
"""What glibc fills memory with, in two runs: a value that differs comes from memory that nobody has written."""
_GOT = re.compile(r"got (.*?) at ")


@dataclass(frozen=True)
class Ran:
    """The outcome of a test: passed, xfailed, xpassed, failed, skipped, or lost with its process."""

    outcome: str
    message: str = ""


@dataclass(frozen=True)
class Tried:
    """The tests of a suite that do what they promise, and the others, each with the reason."""

    kept: Sequence[SuiteTest]
    left_out: Mapping[str, str]


def try_out(files: Mapping[str, bytes], tests: Sequence[SuiteTest], compiler: str, config: Config, scratch: Path) -> Tried:
    """Runs *tests*, whose suite has *files*, in the compiler's environment, in parallel.

    A known failure runs twice, with memory filled in two ways: if its values differ, its mark is not strict.

    Raises:
        EnvironmentBroken: nothing can be run here, or tests were lost: of these nothing is known.
    """
    with working_folder("suite", scratch) as folder:
        place = folder / "suite"
        try:
            for name, data in files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(data)
            (folder / "opera_trial.py").write_bytes(Path(trial_plugin.__file__).read_bytes())
            (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        except OSError as error:
            raise EnvironmentBroken(f"the tests cannot be run: {folder} takes no files ({error.strerror}); free some space") from error
        modules = {name: data.decode() for name, data in files.items() if Path(name).match("*/test_*.py")}
        where = {found[1]: name for name, text in modules.items() for found in _FUNCTION.finditer(text)}
        runner = _Runner(folder, {name: f"suite/{where[name]}::{name}" for name in (each.name for each in tests)}, compiler, config)
        first = runner.run([each.name for each in tests], _PERTURBED[0])
        differing = [each.name for each in tests if each.failure is not None and _GOT.search(first[each.name].message) is not None]
        again = runner.run(differing, _PERTURBED[1])
    kept: list[SuiteTest] = []
    left_out: dict[str, str] = {}
    for each in tests:
        why = _objection(each, first[each.name])
        if why is not None:
            left_out[each.name] = why
            continue
        other = again.get(each.name)
        kept.append(each if other is None or _values(other) == _values(first[each.name]) else replace(each, strict=False))
    return Tried(kept, left_out)


def _values(ran: Ran) -> str:
    found = _GOT.search(ran.message)
    return ran.outcome if found is None else found[1]


def _objection(test: SuiteTest, ran: Ran) -> str | None:
    """Why *test* must not be exported; None if it does what it promises."""
    wanted = "passed" if test.failure is None else "xfailed"
    if ran.outcome == wanted:
        return None
    what = "it passed in the campaign" if test.failure is None else "it is a known failure"
    message = one_line(ran.message, _MESSAGE)
    if ran.outcome == "passed" or message.startswith("[XPASS(strict)]"):
        return f"{what}, but its test passes"
    if ran.outcome == "skipped":
        return f"{what}, but its test is skipped here: {message}"
    return f"{what}, but its test fails: {message}" if test.failure is None else f"{what}, but its test fails in another way: {message}"


class _Runner:
    """Runs tests in the environment of a compiler."""

    def __init__(self, folder: Path, ids: Mapping[str, str], compiler: str, config: Config) -> None:
        self._folder = folder
        self._ids = ids
        self._python, self._environment = surroundings(config, compiler, folder)
        for name in ("OPERA_TEST_TARGETS", "TVM_TEST_TARGETS"):
            self._environment.pop(name, None)
        self._environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        self._environment["OPERA_SUITE_SECONDS"] = f"{_SECONDS:g}"
        self._environment["PYTHONPATH"] = ":".join(filter(None, (str(folder), self._environment.get("PYTHONPATH", ""))))

    def run(self, names: Sequence[str], perturbed: str) -> dict[str, Ran]:
        """The outcomes of the tests *names*."""
        count = max(1, min(usable_cores(), len(names) // _TESTS_OF_A_PROCESS))
        shares = [names[place::count] for place in range(count)]
        doing(f"running {len(names):,} tests")
        with ThreadPoolExecutor(count) as pool:
            parts = [pool.submit(self._share, share, f"{perturbed}-{place}", perturbed) for place, share in enumerate(shares)]
            return {name: ran for part in parts for name, ran in part.result().items()}

    def _share(self, names: Sequence[str], label: str, perturbed: str) -> dict[str, Ran]:
        """The outcomes of *names*, in one process after the other: a new one follows after one that died."""
        found: dict[str, Ran] = {}
        left = list(names)
        number = 0
        while left:
            notes = self._folder / f"outcomes-{label}-{number}"
            how, output = self._process(left, notes, perturbed)
            rows = list(_rows(notes))
            number += 1
            begun = _take(rows, found)
            if not rows:
                raise EnvironmentBroken(f"the tests cannot be run: {self._python} -m pytest ended with {how}: {_last(output)}")
            if rows[-1].get("outcome") == "ended":
                why = next((str(row.get("message", "")) for row in rows if "file" in row), "pytest did not run it")
                outcome = next((str(row["outcome"]) for row in rows if "file" in row), "failed")
                of_file = {str(row["file"]): Ran(str(row["outcome"]), str(row.get("message", ""))) for row in rows if "file" in row}
                for name in left:
                    found.setdefault(name, of_file.get(self._ids[name].partition("::")[0], Ran(outcome, why)))
            elif begun is None:
                raise EnvironmentBroken(f"the tests cannot be run: pytest ended with {how}: {_last(output)}")
            else:
                found.setdefault(begun, Ran("lost", f"the process ended with {how}"))
            left = [name for name in left if name not in found]
        return found

    def _process(self, names: Sequence[str], notes: Path, perturbed: str) -> tuple[str, str]:
        """Runs one process; returns how it ended and what it printed last."""
        log = notes.with_suffix(".log")
        command = [self._python, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "opera_trial"]
        command += ["-c", str(self._folder / "pytest.ini"), "--rootdir", str(self._folder), *(self._ids[name] for name in names)]
        environment = {**self._environment, "OPERA_TRIAL": str(notes), "MALLOC_PERTURB_": perturbed}
        try:
            with log.open("wb") as output:
                program = Program(command, output, self._folder, environment)
        except OSError as error:
            raise EnvironmentBroken(f"the tests cannot be run: {self._python} does not start ({error.strerror})") from error
        try:
            how = _ended(program, notes)
        finally:
            program.end()
        return how, log.read_bytes()[-4000:].decode("utf-8", "replace")


def _ended(program: Program, notes: Path) -> str:
    size, since = -1, clock.now()
    while (code := program.wait(10 * LOOK_SECONDS)) is None:
        now = notes.stat().st_size if notes.exists() else 0
        if now != size:
            size, since = now, clock.now()
        if clock.now() - since > _SILENCE:
            return f"no outcome for {_SILENCE:g} s"
        if program.resident() > _MEMORY:
            return f"more than {_MEMORY >> 30} GiB of memory"
    return signal_name(-code) if code < 0 else f"status {code}"


def _rows(notes: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file of outcomes."""
    if notes.exists():
        for line in notes.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield json.loads(line)
            except ValueError:  # cut off with its process
                return


def _take(rows: Sequence[Mapping[str, Any]], found: dict[str, Ran]) -> str | None:
    """Takes the outcomes in *rows* into *found*; returns the test that had begun and has none."""
    begun: str | None = None
    for row in rows:
        if "test" not in row:
            continue
        name = str(row["test"]).rpartition("::")[2].partition("[")[0]
        if row["outcome"] == "begun":
            begun = name
            continue
        begun = None if begun == name else begun
        if found.get(name, Ran("passed")).outcome in ("passed", "xfailed"):
            found[name] = Ran(str(row["outcome"]), str(row.get("message", "")))
    return begun


def _last(output: str) -> str:
    return one_line(next((line for line in reversed(output.splitlines()) if line.strip()), "nothing was printed"), 200)
