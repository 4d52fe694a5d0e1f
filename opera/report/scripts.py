"""Writes the scripts of many findings for a report: the worker of each library starts once, when it is first needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from opera import bundle
from opera.arrays import ModelValue
from opera.compilers.adapter import Route
from opera.config import Config
from opera.console import one_line
from opera.difftest.messages import (
    ExporterFailed,
    InstanceRejected,
    Made,
    Materialise,
    ModelSource,
    Unwritable,
    WriteSource,
    from_json,
    to_json,
)
from opera.difftest.specs import library_spec
from opera.errors import EnvironmentBroken, UserError
from opera.models.forms import ModelForm, document_in
from opera.models.template import Reference
from opera.report.reproducer import ScriptCase, original, reduced, render
from opera.store import Campaign, Workspace
from opera.triage.findings import Finding
from opera.workers.process import Broken, Done, Limits, Lost
from opera.workers.session import WorkerSession
from opera.workers.supervision import working_folder

_NO_VERSIONS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class MadeModel:
    """A model as the library's worker made it: inputs by name, reference, and the artefact; empty if none was asked for."""

    inputs: Mapping[str, ModelValue]
    reference: Reference
    artefact: bytes


class WorkerLost(EnvironmentBroken):
    """A library's worker that died, or that could not write: nothing is known of the model."""


def _not_rebuilt(case: ScriptCase, route: Route, answer: object) -> EnvironmentBroken:
    """Why *answer* is no model: what the library says of it, or what happened to its worker."""
    about = f"the model of {case.result.test[:12]}"
    if isinstance(answer, InstanceRejected):
        return EnvironmentBroken(f"{route.library} does not make {about} again ({answer.reason}); `opera doctor` shows its state")
    if isinstance(answer, ExporterFailed):
        return EnvironmentBroken(f"the exporter {answer.exporter} makes nothing of {about}; `opera doctor` shows its state")
    if isinstance(answer, Lost):
        return WorkerLost(f"the worker of {route.library} ended while it made {about} ({answer.detail}); export again")
    if isinstance(answer, Unwritable):
        return WorkerLost(f"the workspace takes no files ({answer.failure['message']}); free some space")
    return WorkerLost(f"the worker of {route.library} failed while it made {about}; `opera doctor` shows its state")


def _document(case: ScriptCase) -> str:
    return document_in(json.dumps(case.document), ModelForm.parse(case.result.form))


class ModelSources:
    """Asks libraries for the source code of models. To be used as a context manager.

    Args:
        workspace: Holds the blobs of the instances.
        config: Says which interpreter has which library.
    """

    def __init__(self, workspace: Workspace, config: Config) -> None:
        self._workspace = workspace
        self._config = config
        self._sessions: dict[tuple[str, tuple[tuple[str, str], ...]], WorkerSession | EnvironmentBroken] = {}
        self._stack = ExitStack()
        self._scratch: Path | None = None

    def __enter__(self) -> ModelSources:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def __call__(self, case: ScriptCase, route: Route) -> ModelSource:
        """The source of the model of *case*.

        Raises:
            EnvironmentBroken: the library does not work here, or cannot build the model again.
        """
        source = self._ask(case, route, WriteSource(_document(case), case.key, case.result.seed, case.result.form))
        if not isinstance(source, ModelSource):
            raise _not_rebuilt(case, route, source)
        return source

    def made(self, case: ScriptCase, route: Route, kind: str | None = None) -> MadeModel:
        """Inputs, reference and artefact of *case*.

        Args:
            case: What to make.
            route: Its library and environment.
            kind: Kind of artefact; None for no artefact.

        Raises:
            EnvironmentBroken: as for a source.
        """
        result = case.result
        request = Materialise(_document(case), case.key, result.seed, kind, result.form, with_reference=True)
        made = self._ask(case, route, request)
        kept = made.reference if isinstance(made, (Made, InstanceRejected, ExporterFailed)) else None
        if kept is None or (kind is not None and not isinstance(made, Made)):
            raise _not_rebuilt(case, route, made)
        tree = bundle.parse(bundle.fetch_made(self._workspace.cache, kept.bundle))
        reference = Reference(tree["outputs"], tree["precise"], kept.undefined, kept.origin, kept.structure)
        model = made.artefact.model if isinstance(made, Made) else None
        return MadeModel(tree["inputs"], reference, b"" if model is None else bundle.fetch_made(self._workspace.cache, model))

    def _ask(self, case: ScriptCase, route: Route, request: Materialise | WriteSource) -> object:
        session = self._session(route)
        event = session.ask(to_json(request))
        if isinstance(event, Lost):
            session.close()
            del self._sessions[route.library, route.environment]
        return from_json(event.result) if isinstance(event, Done) else event

    def _session(self, route: Route) -> WorkerSession:
        key = route.library, route.environment
        if key not in self._sessions:
            self._sessions[key] = self._start(route)
        session = self._sessions[key]
        if isinstance(session, EnvironmentBroken):
            raise session
        return session

    def _start(self, route: Route) -> WorkerSession | EnvironmentBroken:
        if self._scratch is None:
            self._scratch = self._stack.enter_context(working_folder("reproduce", self._workspace.folder / "scratch"))
        spec = library_spec(self._config, route.library, self._workspace.cache, dict(route.environment))
        session = WorkerSession(spec, Limits(), self._scratch)
        self._stack.callback(session.close)
        event = session.start()
        if isinstance(event, Broken):
            message = event.failure["message"][:300]
            return EnvironmentBroken(f"{route.library} cannot be used here: {message}; `opera doctor` shows more")
        if isinstance(event, Lost):
            return EnvironmentBroken(f"{route.library} cannot be used here: its process ended; `opera doctor` shows more")
        return session


@dataclass(frozen=True)
class WrittenScript:
    """The script of a finding; empty where none can be written, and then *note* says why."""

    text: str
    note: str


def write_script(workspace: Workspace, sources: ModelSources, finding: Finding, campaign: Campaign | None) -> WrittenScript:
    """The script for the reduced instance of *finding*, else for its smallest failing test. It is not run.

    Args:
        workspace: Holds the instances.
        sources: Open.
        finding: What the script shows.
        campaign: One that the failing test belongs to.
    """
    versions = _NO_VERSIONS if campaign is None else campaign.versions
    why = ""
    for is_reduced in (True, False):
        try:
            case = reduced(finding) if is_reduced else original(workspace, finding.representative)
            if case is not None:
                return WrittenScript(render(sources, case, versions), "The script has not run yet; opera reproduce runs it.")
        except (EnvironmentBroken, UserError) as error:
            why = one_line(str(error).partition(";")[0])
    return WrittenScript("", why)
