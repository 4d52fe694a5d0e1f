"""Makes findings of what a check of a model found: runs these instances alone, triages them, and writes scripts and tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.config import Config
from opera.difftest.settings import Settings, campaign_id
from opera.errors import EnvironmentBroken, NothingSelected
from opera.extensions.models.api import CheckedModel
from opera.extensions.suites.cases import Request, candidates
from opera.extensions.suites.export import Exported, Form, export
from opera.extensions.suites.plain import LINE_LENGTH, Style
from opera.instance import Occurrence
from opera.models.forms import InputForm
from opera.pipeline import Pipeline
from opera.store import Corpus
from opera.store.combine import Combined, combine
from opera.store.database import open_workspace
from opera.triage.findings import Finding
from opera.triage.runner import TriageOptions
from opera.workers.folders import own_folder

_SOURCE = "check"
_FORMS = (InputForm.RUNTIME, InputForm.BAKED, InputForm.CONSTANT)
"""A model may have any of its values as a constant."""


@dataclass(frozen=True)
class Tests:
    """The tests of findings: their folder, and what became of them; *problem* where none could be written."""

    folder: Path
    exported: Exported | None
    problem: str = ""


def findings_of(
    checked: CheckedModel, workspace: Path, scratch: Path, *, jobs: int, timeout: float, memory: int, tell: Callable[[str], None]
) -> tuple[Finding, ...]:
    """The findings of what fails in a model on the first of its compilers, reduced; the workspace has them, too.

    Args:
        checked: The checked model.
        workspace: Folder of the workspace that gets instances, results and findings.
        scratch: A folder for working files.
        jobs: Reductions at a time.
        timeout: Seconds for each stage of a test.
        memory: Bytes that a worker may take.
        tell: Takes lines that say how it goes.

    Raises:
        KeyboardInterrupt: Ctrl-C; the workspace has nothing of it then.
    """
    own = Pipeline(scratch / "findings")
    name = Path(checked.name).name
    with open_workspace(own.workspace, write=True, make=True) as space:
        Corpus(space).add([(each, Occurrence(_SOURCE, f"{name}::{place}")) for place, each in checked.failing.items()])
    settings = Settings(checked.reports[0].compiler, "onnx", forms=_FORMS, jobs=jobs, timeout=timeout, memory=memory)
    tell("testing what fails alone")
    if own.run(settings).stopped_by == "interrupt":
        raise KeyboardInterrupt
    tell("reducing what fails")
    own.triage(TriageOptions(jobs=jobs))
    found = own.findings()
    with open_workspace(workspace, write=True) as space:
        combine(space, own.workspace, _as_it_is, Combined())
    return found


def _as_it_is(selection: Mapping[str, Any], versions: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], None]:
    """A campaign that is no part of another one."""
    return campaign_id(selection, versions), selection, None


def tests_of(found: Sequence[str], name: str, workspace: Path, config: Config, seed: int) -> Tests:
    """Writes a test for pytest, marked as an expected failure, for each finding, into `localized/NAME` of the workspace."""
    with open_workspace(workspace, write=False) as space:
        folder = own_folder(space.folder / "localized") / re.sub(r"[^\w.-]+", "-", name).strip(".-")
        try:
            chosen = candidates(space, Request(tuple(found)), seed)
            return Tests(folder, export(space, config, folder, chosen, Form.PLAIN, Style("", (), LINE_LENGTH)))
        except (EnvironmentBroken, NothingSelected) as error:
            return Tests(folder, None, str(error))
