"""Exports a suite: selects the tests, asks the libraries for their models, and writes the folder."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opera.compilers.registry import plugin
from opera.config import Config
from opera.console import doing, one_line
from opera.errors import EnvironmentBroken, NothingSelected, UserError
from opera.extensions.suites.cases import Candidate, Candidates
from opera.extensions.suites.folder import check_folder, manifest_of, write_folder
from opera.extensions.suites.iree_import import imported
from opera.extensions.suites.native import NativeSuite, iree, onnx_backend
from opera.extensions.suites.plain import Style, files_of
from opera.extensions.suites.project import project_of
from opera.extensions.suites.tests import SuiteTest, build
from opera.extensions.suites.trial import try_out
from opera.report.scripts import ModelSources, WorkerLost
from opera.store import Workspace


class Form(enum.Enum):
    """The forms of a suite."""

    PLAIN = "plain"
    OPERA = "opera"
    IREE = "iree"
    ONNX_BACKEND = "onnx-backend"


@dataclass(frozen=True)
class Exported:
    """The outcome of an export.

    Attributes:
        green: Number of tests that pass.
        failing: Number of known failures.
        left_out: Why tests were left out, and how many for each reason.
        elsewhere: Number of findings of exporters and libraries, which a compiler's suite does not have.
        lost: Why tests were lost, of which nothing is known, and how many for each reason.
        ran: Whether each test ran, as it was written, and did what it promises.
        notes: What could not be tried, in words.
    """

    green: int
    failing: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    elsewhere: int = 0
    lost: Mapping[str, int] = field(default_factory=dict[str, int])
    ran: bool = True
    notes: tuple[str, ...] = ()


def built(
    workspace: Workspace, config: Config, found: Iterable[Candidate], names: Mapping[str, str], taken: set[str], *, recompute: bool
) -> tuple[list[SuiteTest], Counter[str], Counter[str]]:
    """The tests for *found*, why others cannot be written, and why others were lost.

    One worker of each library makes all of them.

    Args:
        workspace: Holds the instances.
        config: Says which interpreter has which library.
        found: What to test.
        names: Names that earlier exports gave, by identity.
        taken: Names of other tests of the suite; those of the new tests are added.
        recompute: Whether tests compute the expected outputs with the library.
    """
    tests: list[SuiteTest] = []
    left_out: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    with ModelSources(workspace, config) as sources:
        for number, each in enumerate(found, 1):
            doing(f"writing test {number:,}")
            known = next((names[key] for key in (each.identity, *each.former) if key in names), None)
            try:
                test = build(each, sources, recompute=recompute, name=known)
            except WorkerLost as error:
                lost[_reason(str(error), each)] += 1
                continue
            except (EnvironmentBroken, UserError) as error:
                left_out[_reason(str(error), each)] += 1
                continue
            if test.name in taken:
                left_out["its name is that of another test"] += 1
                continue
            taken.add(test.name)
            tests.append(test)
    return tests, left_out, lost


def _reason(message: str, candidate: Candidate) -> str:
    """A message without the id of its test, so that equal reasons are counted together."""
    for case in candidate.cases:
        message = message.replace(f" of {case.result.test[:12]}", "").replace(f" for {case.result.test[:12]}", "")
    return one_line(message.partition(";")[0])


def export(
    workspace: Workspace,
    config: Config,
    folder: Path,
    found: Candidates,
    form: Form,
    style: Style,
    *,
    recompute: bool = False,
    run: bool = True,
) -> Exported:
    """Writes the tests *found* into *folder*.

    Args:
        workspace: Holds the instances.
        config: Says which interpreter has which library and compiler.
        folder: New, empty, or of an earlier export.
        found: What to test.
        form: Form of the suite.
        style: How Python files look.
        recompute: Whether tests compute the expected outputs with the library.
        run: Whether each test runs before it is exported, and is left out if it does something else than it did in its campaign.

    Raises:
        EnvironmentBroken: the tests cannot be run here; nothing is written.
        UserError: the folder holds other people's files, or changed ones; or the compiler's tests have no such form.
        NothingSelected: no test can be written.
    """
    check_folder(folder)
    if form is Form.IREE and found.compiler != "iree":
        raise UserError(
            f"the form iree is for tests of iree, and these are of {found.compiler}; choose --compiler iree, or another --style"
        )
    manifest = manifest_of(folder)
    names: Mapping[str, str] = manifest.names if manifest is not None else {}
    name = folder.resolve().name
    look = replace(style, with_targets=form is Form.OPERA)
    project = project_of(folder) if form in (Form.PLAIN, Form.OPERA) else None

    def write(tests: Sequence[SuiteTest]) -> Mapping[str, bytes]:
        return files_of(found.compiler, tests, found.versions, look, name)

    tests: list[SuiteTest] = []
    left_out, lost = Counter[str](), Counter[str]()
    notes: list[str] = []
    pending = list(found.tests)
    while pending:
        taken = {each.name for each in tests}
        made, refused, gone = built(workspace, config, pending, names, taken, recompute=recompute)
        left_out.update(refused)
        lost.update(gone)
        if not run or not made:
            tests += made
            break
        tried = try_out(made, write, found.compiler, config, workspace.scratch, project)
        tests += tried.kept
        notes += tried.notes
        pending, given_up = _further(pending, made, tried.left_out)
        left_out.update(given_up)
    check_any(tests, left_out, lost)
    files: Mapping[str, bytes]
    if form in (Form.PLAIN, Form.OPERA):
        files = files_of(found.compiler, tests, found.versions, look, name, {**left_out, **lost}, ran=run)
    else:
        suite = _native(workspace, config, form, tests, found, name)
        left_out.update(suite.left_out.values())
        tests = [each for each in tests if each.name not in suite.left_out]
        check_any(tests, left_out, lost)
        files = suite.files
    settings = {"style": form.value, "compiler": found.compiler, "line_length": style.line_length}
    write_folder(folder, files, {each.identity: each.name for each in tests}, settings)
    return replace(outcome(tests, left_out, found, lost, ran=run), notes=tuple(dict.fromkeys(notes)))


def _further(pending: Iterable[Candidate], made: Iterable[SuiteTest], refused: Mapping[str, str]) -> tuple[list[Candidate], list[str]]:
    """What else can show the causes of tests that do something else than they promise, and the reasons of those without a further case."""
    cases = {each.identity: each for each in pending}
    further: list[Candidate] = []
    given_up: list[str] = []
    for test in made:
        if test.name not in refused:
            continue
        candidate = cases[test.identity]
        rest = candidate.cases[candidate.cases.index(test.case) + 1 :]
        if rest:
            further.append(replace(candidate, cases=rest))
        else:
            given_up.append(refused[test.name])
    return further, given_up


def _native(workspace: Workspace, config: Config, form: Form, tests: Sequence[SuiteTest], found: Candidates, name: str) -> NativeSuite:
    if form is Form.ONNX_BACKEND:
        return onnx_backend(tests, found.compiler, found.versions, name)
    models = {each.name: each.proto for each in tests if each.proto}
    texts = imported(plugin("iree").load(), models, config, workspace.folder / "scratch")
    return iree(tests, texts, found.versions, name)


def check_any(tests: Sequence[SuiteTest], left_out: Mapping[str, int], lost: Mapping[str, int]) -> None:
    """Raises NothingSelected if no test can be written, and EnvironmentBroken if that is because they were lost."""
    if not tests and lost:
        raise EnvironmentBroken(f"all tests were lost: {next(iter(lost))}")
    if not tests:
        raise NothingSelected(f"no test can be written: {next(iter(left_out), 'nothing is selected')}")


def outcome(tests: Sequence[SuiteTest], left_out: Mapping[str, int], found: Candidates, lost: Mapping[str, int], *, ran: bool) -> Exported:
    """What an export of *tests* came to."""
    failing = sum(each.failure is not None for each in tests)
    return Exported(len(tests) - failing, failing, dict(left_out), found.elsewhere, dict(lost), ran)
