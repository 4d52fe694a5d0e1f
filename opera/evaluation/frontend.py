"""The statements of a compiler's frontend that each test of a campaign runs, for the strategies `total` and `additional`.

Every model is loaded once more, in a worker of the compiler, under coverage.py with a context of its own. Only loading counts: that is
what a frontend does. A frontend in C++ has no statements that coverage.py could see, and is refused.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from opera import bundle
from opera.compilers.adapter import Adapter, Subject
from opera.compilers.registry import choose_route, known_adapter, plugin, plugins
from opera.config import Config
from opera.console import say
from opera.difftest.messages import KeptModel, KeptReference, kept_of
from opera.difftest.test import Identity
from opera.errors import EnvironmentBroken, UserError
from opera.instance import decode_instance
from opera.models.forms import InputForm
from opera.models.template import template_of
from opera.plugins import search_path
from opera.store import Campaign, Campaigns, Corpus, Workspace
from opera.workers.child import Stages
from opera.workers.process import Broken, Done, Limits, Lost, WorkerSpec
from opera.workers.protocol import Message
from opera.workers.session import WorkerSession
from opera.workers.supervision import working_folder

_EVERY = 500
"""Tests between two lines of progress."""

Lines = frozenset[tuple[str, int]]
"""Files, relative to their package, and line numbers."""


class CoverageWorker:
    """Handles `{"document", "route": [frontend, name], "bundle", "artefact"}`; answers `{"lines": {file: [number, ...]}}`."""

    def __init__(self, options: Message) -> None:
        self._options = options
        self._cache = Path(options["cache"])
        self._tests = 0

    def ready(self) -> Message:
        from coverage import Coverage

        module, _, attribute = str(self._options["adapter"]).partition(":")
        factory: type[Adapter] = getattr(importlib.import_module(module), attribute)
        self._adapter = factory({})
        versions = self._adapter.start()
        self._coverage = Coverage(data_file=None, source_pkgs=list(self._options["packages"]), messages=False, config_file=False)
        return {"versions": dict(versions)}

    def handle(self, task: Message, stages: Stages) -> Message:
        stages.enter("read")
        tree = bundle.parse(bundle.fetch_made(self._cache, task["bundle"]))
        data = bundle.fetch_made(self._cache, task["artefact"])
        frontend, name = task["route"]
        route = next(each for each in self._adapter.routes if (each.frontend, each.name) == (frontend, name))
        instance = decode_instance(task["document"], lambda blob: bundle.fetch(self._cache.parent / "blobs", blob))
        subject = Subject(route, data, tree["inputs"], len(tree["outputs"]), instance, None)
        self._tests += 1
        context = f"test {self._tests}"
        self._coverage.start()
        self._coverage.switch_context(context)
        try:
            stages.enter("load")
            self._adapter.load(subject, stages.enter)
        except Exception:
            pass  # what ran until then counts
        finally:
            self._coverage.stop()
        found = self._coverage.get_data()
        found.set_query_context(context)
        lines = {_short(file): sorted(found.lines(file) or ()) for file in found.measured_files()}
        return {"lines": {file: numbers for file, numbers in lines.items() if numbers}}


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
    tasks = _tasks(workspace, campaign)
    if not tasks:
        raise UserError(f"the models of campaign {campaign.id} are no longer in the cache of {workspace.folder}; run the campaign again")
    found: dict[str, set[tuple[str, int]]] = {}
    session: WorkerSession | None = None
    with working_folder("evaluate", workspace.folder / "scratch") as scratch, ExitStack() as stack:
        for number, (instance, task) in enumerate(tasks, 1):
            session = session or stack.enter_context(closing(_session(workspace, scratch, config, campaign, packages, timeout)))
            event = session.ask(task)
            if isinstance(event, Lost):
                session.close()
                session = None
            elif isinstance(event, Done):
                lines = ((file, line) for file, numbers in event.result["lines"].items() for line in numbers)
                found.setdefault(instance, set()).update(lines)
            if number % _EVERY == 0:
                say(f"coverage of {number:,} of {len(tasks):,} tests")
    numbers = {line: number for number, line in enumerate(sorted(set[tuple[str, int]]().union(*found.values())))}
    return {instance: frozenset(numbers[line] for line in lines) for instance, lines in found.items()}


def _session(
    workspace: Workspace, scratch: Path, config: Config, campaign: Campaign, packages: tuple[str, ...], timeout: float
) -> WorkerSession:
    registered = plugin(campaign.compiler)
    template = template_of(campaign.library)
    spec = WorkerSpec(
        label=campaign.compiler,
        setup="opera.evaluation.frontend:CoverageWorker",
        options={"adapter": registered.target, "cache": str(workspace.cache), "packages": list(packages)},
        python=config.python("compiler", campaign.compiler),
        path=(*registered.search_path(), *search_path(template)),
        environment={**registered.load().worker_environment(workspace.cache), **config.environment(campaign.compiler)},
        search_first=config.search_first(campaign.compiler),
    )
    session = WorkerSession(spec, Limits(timeout), scratch)
    event = session.start()
    if isinstance(event, Broken | Lost):
        session.close()
        why = event.failure["message"][:300] if isinstance(event, Broken) else event.detail
        raise EnvironmentBroken(
            f"{campaign.compiler} cannot be measured here ({why}); install coverage.py in the environment of the compiler"
        )
    return session


def _tasks(workspace: Workspace, campaign: Campaign) -> list[tuple[str, Message]]:
    """The tests whose models the cache has, each with the message for the worker."""
    route = choose_route(plugin(campaign.compiler).load(), campaign.frontend, str(campaign.versions["route"]))
    versions: Mapping[str, Any] = campaign.versions
    identity = Identity(campaign.compiler, route, str(versions["template"]), versions["library"], versions["compiler"], {})
    campaigns, corpus = Campaigns(workspace), Corpus(workspace)
    found: list[tuple[str, Message]] = []
    for result in campaigns.results(campaign.id):
        reference = kept_of(campaigns.artefact(identity.reference_key(result.instance, result.seed)))
        artefact = kept_of(campaigns.artefact(identity.artefact_key(result.instance, result.seed, InputForm(result.form))))
        if not isinstance(reference, KeptReference) or not isinstance(artefact, KeptModel) or artefact.model is None:
            continue
        document = json.loads(corpus.document(result.instance))
        task = {"document": document, "route": [route.frontend, route.name], "bundle": reference.bundle, "artefact": artefact.model}
        found.append((result.instance, task))
    return found
