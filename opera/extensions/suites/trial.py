"""Runs the tests of a suite, as they were written, before the export calls one of them green or known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opera.config import Config
from opera.console import doing, one_line
from opera.errors import EnvironmentBroken
from opera.extensions.suites import trial_plugin
from opera.extensions.suites.project import Project
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
_SHARE = re.compile(r"\d+ of \d+ elements differ")
_XPASS = "[XPASS(strict)]"


Write = Callable[[Sequence[SuiteTest]], Mapping[str, bytes]]
"""Gives the files of a suite of tests."""


@dataclass(frozen=True)
class Ran:
    """The outcome of a test: passed, xfailed, xpassed, failed, skipped, or lost with its process.

    Attributes:
        outcome: One of these words.
        message: Message of the exception, or the reason of a skip.
        raised: Dotted name of what the test itself raised; empty without an exception.
    """

    outcome: str
    message: str = ""
    raised: str = ""

    @property
    def share(self) -> str:
        """How many elements of which output differ; empty for any other outcome."""
        found = _SHARE.search(self.message)
        return f"{self.outcome} {self.message.partition(':')[0]} {found[0]}" if found is not None else ""

    @property
    def value(self) -> str:
        """The first wrong element; the outcome, where there is none."""
        found = _GOT.search(self.message)
        return self.outcome if found is None else found[1]


@dataclass(frozen=True)
class Tried:
    """The tests of a suite that do what they promise, and the others, each with the reason.

    Attributes:
        kept: With the tolerance, the exceptions and the strictness that fit.
        left_out: The reasons by name of the test.
        notes: What could not be tried, in words.
    """

    kept: Sequence[SuiteTest]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()


def try_out(
    tests: Sequence[SuiteTest], write: Write, compiler: str, config: Config, scratch: Path, project: Project | None = None
) -> Tried:
    """Runs *tests* in the compiler's environment, in parallel: alone, then in a likeness of *project*, below its conftest.

    A test whose outcome depends on the tolerance gets that of OPERA. A known failure runs twice, the second time with other bytes in fresh
    memory and after other tests, because a compiler's pool keeps what they left: if its values differ, its mark is not strict.

    Raises:
        EnvironmentBroken: nothing can be run here, or tests were lost: of these nothing is known.
    """
    notes: tuple[str, ...] = ()
    with working_folder("suite", scratch) as folder:
        runner = _Runner(folder, write, compiler, config)
        kept, left_out = _alone(tests, runner)
        if kept and project is not None and (project.has_conftest or project.configuration):
            try:
                kept, others = _below(kept, runner.run(kept, _PERTURBED[0], project))
                left_out.update(others)
            except EnvironmentBroken as error:
                notes = (f"the tests ran alone, but not below the configuration of {project.root}: {error}",)
    return Tried(kept, left_out, notes)


def _alone(tests: Sequence[SuiteTest], runner: _Runner) -> tuple[list[SuiteTest], dict[str, str]]:
    """The tests that do what they promise without a project, and why the others do not."""
    ran = runner.run(tests, _PERTURBED[0])
    doubtful = [each for each in tests if each.tolerance is not None and (_objection(each, ran[each.name]) or ran[each.name].share)]
    loose = runner.run([replace(each, is_loose=True) for each in doubtful], _PERTURBED[0])
    kept: list[SuiteTest] = []
    left_out: dict[str, str] = {}
    for each in tests:
        other = loose.get(each.name)
        if other is not None and _objection(each, other) is None and (other.share != ran[each.name].share or not other.share):
            ran[each.name], each = other, replace(each, is_loose=True)
        why = _objection(each, ran[each.name])
        if why is None:
            kept.append(each)
        else:
            left_out[each.name] = why
    differing = [each for each in kept if each.failure is not None and _GOT.search(ran[each.name].message) is not None]
    again = runner.run(differing[::-1], _PERTURBED[1])
    steady = {each.name for each in kept if each.name not in again or again[each.name].value == ran[each.name].value}
    return [each if each.name in steady else replace(each, strict=False) for each in kept], left_out


def _below(tests: Sequence[SuiteTest], ran: Mapping[str, Ran]) -> tuple[list[SuiteTest], dict[str, str]]:
    """The tests that do what they promise in a project too, as *ran* says; a conftest may let known failures raise something else."""
    kept: list[SuiteTest] = []
    left_out: dict[str, str] = {}
    for each in tests:
        found = ran[each.name]
        why = _objection(each, found)
        if why is None or found.outcome == "skipped":
            kept.append(each)
        elif each.failure is not None and found.raised and not found.message.startswith(_XPASS):
            kept.append(replace(each, failure=replace(each.failure, also=(found.raised,))))
        else:
            left_out[each.name] = f"below the project's conftest, {why}"
    return kept, left_out


def _objection(test: SuiteTest, ran: Ran) -> str | None:
    """Why *test* must not be exported; None if it does what it promises."""
    wanted = "passed" if test.failure is None else "xfailed"
    if ran.outcome == wanted:
        return None
    what = "it passed in the campaign" if test.failure is None else "it is a known failure"
    message = one_line(ran.message, _MESSAGE)
    if ran.outcome == "passed" or message.startswith(_XPASS):
        return f"{what}, but its test passes"
    if ran.outcome == "skipped":
        return f"{what}, but its test is skipped here: {message}"
    return f"{what}, but its test fails: {message}" if test.failure is None else f"{what}, but its test fails in another way: {message}"


@dataclass(frozen=True)
class _Plan:
    """How the tests of one run are called.

    Attributes:
        root: The folder that they run in.
        ids: Ids of the tests for pytest, relative to *root*, by name.
        options: Options of pytest.
        perturbed: What memory is filled with.
    """

    root: Path
    ids: Mapping[str, str]
    options: tuple[str, ...]
    perturbed: str


class _Runner:
    """Runs tests in the environment of a compiler."""

    def __init__(self, folder: Path, write: Write, compiler: str, config: Config) -> None:
        self._folder = folder
        self._write = write
        self._runs = 0
        self._python, self._environment = surroundings(config, compiler, folder)
        for name in ("OPERA_TEST_TARGETS", "TVM_TEST_TARGETS"):
            self._environment.pop(name, None)
        self._environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        self._environment["OPERA_SUITE_SECONDS"] = f"{_SECONDS:g}"
        self._environment["PYTHONPATH"] = ":".join(filter(None, (str(folder), self._environment.get("PYTHONPATH", ""))))

    def run(self, tests: Sequence[SuiteTest], perturbed: str, project: Project | None = None) -> dict[str, Ran]:
        """The outcomes of a suite of *tests*, by name, alone or in a likeness of *project*."""
        if not tests:
            return {}
        self._runs += 1
        root = self._folder / f"run{self._runs}"
        configuration = self._folder / "pytest.ini"
        try:
            configuration.write_text("[pytest]\n", encoding="utf-8")
            (self._folder / "opera_trial.py").write_bytes(Path(trial_plugin.__file__).read_bytes())
            place = root / "suite" if project is None else project.likeness(root)
            files = self._write(tests)
            for name, data in files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(data)
        except OSError as error:
            raise EnvironmentBroken(f"the tests cannot be run: {root} takes no files ({error.strerror}); free some space") from error
        if project is not None and project.configuration:
            configuration = root / project.configuration
        modules = {name: data.decode() for name, data in files.items() if Path(name).match("*/test_*.py")}
        inside = place.relative_to(root)
        ids = {found[1]: f"{inside / name}::{found[1]}" for name, text in modules.items() for found in _FUNCTION.finditer(text)}
        plan = _Plan(root, ids, ("-c", str(configuration), "--rootdir", str(root), "--confcutdir", str(root), "-o", "addopts="), perturbed)
        names = [each.name for each in tests]
        count = max(1, min(usable_cores(), len(names) // _TESTS_OF_A_PROCESS))
        shares = [names[place::count] for place in range(count)]
        doing(f"running {len(names):,} tests")
        with ThreadPoolExecutor(count) as pool:
            parts = [pool.submit(self._share, share, plan, f"{self._runs}-{number}") for number, share in enumerate(shares)]
            return {name: ran for part in parts for name, ran in part.result().items()}

    def _share(self, names: Sequence[str], plan: _Plan, label: str) -> dict[str, Ran]:
        """The outcomes of *names*, in one process after the other: a new one follows after one that died."""
        found: dict[str, Ran] = {}
        left = list(names)
        number = 0
        while left:
            notes = self._folder / f"outcomes-{label}-{number}"
            how, output = self._process(left, notes, plan)
            rows = list(_rows(notes))
            number += 1
            begun = _take(rows, found)
            if not rows:
                raise EnvironmentBroken(
                    f"the tests cannot be run: {self._python} -m pytest ended with {how}: {_last(output)}; --no-run writes them untried"
                )
            if rows[-1].get("outcome") == "ended":
                why = next((str(row.get("message", "")) for row in rows if "file" in row), "pytest did not run it")
                outcome = next((str(row["outcome"]) for row in rows if "file" in row), "failed")
                of_file = {str(row["file"]): Ran(str(row["outcome"]), str(row.get("message", ""))) for row in rows if "file" in row}
                for name in left:
                    found.setdefault(name, of_file.get(plan.ids[name].partition("::")[0], Ran(outcome, why)))
            elif begun is None:
                raise EnvironmentBroken(f"the tests cannot be run: pytest ended with {how}: {_last(output)}")
            else:
                found.setdefault(begun, Ran("lost", f"the process ended with {how}"))
            left = [name for name in left if name not in found]
        return found

    def _process(self, names: Sequence[str], notes: Path, plan: _Plan) -> tuple[str, str]:
        """Runs one process; returns how it ended and what it printed last."""
        log = notes.with_suffix(".log")
        command = [self._python, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "opera_trial"]
        command += [*plan.options, *(plan.ids[name] for name in names)]
        environment = {**self._environment, "OPERA_TRIAL": str(notes), "MALLOC_PERTURB_": plan.perturbed}
        environment["PYTHONSAFEPATH"] = "1"  # as the command `pytest`: a compiler's sources in the root of its project are not built
        try:
            with log.open("wb") as output:
                program = Program(command, output, plan.root, environment)
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
            found[name] = Ran(str(row["outcome"]), str(row.get("message", "")), str(row.get("raised", "")))
    return begun


def _last(output: str) -> str:
    return one_line(next((line for line in reversed(output.splitlines()) if line.strip()), "nothing was printed"), 200)
