"""Visits the models of a campaign once more, in a worker of the compiler: what a campaign does not record is measured there."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from opera import bundle
from opera.compilers.adapter import Adapter, Subject
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.messages import KeptModel, KeptReference
from opera.difftest.test import Identity
from opera.errors import EnvironmentBroken, UserError
from opera.instance import decode_instance
from opera.models.forms import ModelForm
from opera.models.template import template_of
from opera.plugins import search_path
from opera.store import Campaign, Campaigns, Corpus, StoredResult, Workspace
from opera.workers.child import Stages
from opera.workers.process import Broken, Done, Limits, Lost, WorkerSpec
from opera.workers.protocol import Message
from opera.workers.session import WorkerSession
from opera.workers.supervision import working_folder


class VisitingWorker:
    """Handles `{"document", "route": [frontend, name], "bundle", "artefact"}`; a subclass says what it answers."""

    spent = False

    def __init__(self, options: Message) -> None:
        self._options = options
        self._cache = Path(options["cache"])

    def ready(self) -> Message:
        """Starts the compiler; answers its versions."""
        module, _, attribute = str(self._options["adapter"]).partition(":")
        factory: type[Adapter] = getattr(importlib.import_module(module), attribute)
        self.adapter = factory({})
        return {"versions": dict(self.adapter.start())}

    def handle(self, task: Message, stages: Stages) -> Message:
        """Reads a model, and answers what is measured of it."""
        stages.enter("read")
        tree = bundle.parse(bundle.fetch_made(self._cache, task["bundle"]))
        data = bundle.fetch_made(self._cache, task["artefact"])
        frontend, name = task["route"]
        route = next(each for each in self.adapter.routes if (each.frontend, each.name) == (frontend, name))
        instance = decode_instance(task["document"], lambda blob: bundle.fetch(self._cache.parent / "blobs", blob))
        return self.visit(Subject(route, data, tree["inputs"], len(tree["outputs"]), lambda: instance), stages)

    def visit(self, subject: Subject, stages: Stages) -> Message:
        """What is measured of one model."""
        raise NotImplementedError


def visits(
    workspace: Workspace,
    config: Config,
    campaign: Campaign,
    setup: str,
    options: Mapping[str, Any],
    *,
    timeout: float = 60.0,
    sample: tuple[int, int] | None = None,
) -> Iterator[tuple[str, Message | str]]:
    """The instances of *campaign* whose models the cache has, each with what a worker answers, or why it does not.

    Args:
        workspace: Holds the campaign.
        config: Says which Python each compiler has.
        campaign: Its models are visited.
        setup: The `VisitingWorker`, as `module:class`.
        options: For the worker.
        timeout: Seconds for each stage of a visit.
        sample: The most models that are visited, and the seed by which they are drawn; None visits all.

    Raises:
        UserError: the campaign's models are gone from the cache.
        EnvironmentBroken: the worker cannot start.
    """
    results = list(Campaigns(workspace).results(campaign.id))
    if sample is not None and sample[0] < len(results):
        results = random.Random(sample[1]).sample(results, sample[0])
    tasks = _tasks(workspace, campaign, results)
    if not tasks:
        raise UserError(f"the models of campaign {campaign.id} are no longer in the cache of {workspace.folder}; run the campaign again")
    session: WorkerSession | None = None
    with working_folder("visit", workspace.folder / "scratch") as scratch, ExitStack() as stack:
        spec = _spec(workspace, config, campaign, setup, {**options, "scratch": str(scratch)})
        for instance, task in tasks:
            session = session or stack.enter_context(closing(_session(spec, campaign, timeout, scratch)))
            event = session.ask(task)
            if isinstance(event, Lost):
                session.close()
                session = None
            yield (
                instance,
                event.result if isinstance(event, Done) else event.detail if isinstance(event, Lost) else event.failure["message"],
            )


def _spec(workspace: Workspace, config: Config, campaign: Campaign, setup: str, options: Mapping[str, Any]) -> WorkerSpec:
    registered = plugin(campaign.compiler)
    return WorkerSpec(
        label=campaign.compiler,
        setup=setup,
        options={"adapter": registered.target, "cache": str(workspace.cache), **options},
        python=config.python("compiler", campaign.compiler),
        path=(*registered.search_path(), *search_path(template_of(campaign.library))),
        environment={**registered.load().worker_environment(workspace.cache), **config.environment(campaign.compiler)},
        search_first=config.search_first(campaign.compiler),
    )


def _session(spec: WorkerSpec, campaign: Campaign, timeout: float, scratch: Path) -> WorkerSession:
    session = WorkerSession(spec, Limits(timeout), scratch)
    event = session.start()
    if isinstance(event, Broken | Lost):
        session.close()
        why = event.failure["message"][:300] if isinstance(event, Broken) else event.detail
        raise EnvironmentBroken(
            f"{campaign.compiler} cannot be measured here ({why}); install coverage.py in the environment of the compiler"
        )
    return session


def _tasks(workspace: Workspace, campaign: Campaign, results: Sequence[StoredResult]) -> list[tuple[str, Message]]:
    """The tests whose models the cache has, each with the message for the worker."""
    route = choose_route(plugin(campaign.compiler).load(), campaign.frontend, str(campaign.versions["route"]))
    versions: Mapping[str, Any] = campaign.versions
    identity = Identity(campaign.compiler, route, str(versions["template"]), versions["library"], versions["compiler"], {}, 0)
    campaigns, corpus = Campaigns(workspace), Corpus(workspace)
    found: list[tuple[str, Message]] = []
    for result in results:
        form = ModelForm.parse(result.form)
        reference = campaigns.kept(identity.reference_key(result.instance, result.seed, form))
        artefact = campaigns.kept(identity.artefact_key(result.instance, result.seed, form))
        if not isinstance(reference, KeptReference) or not isinstance(artefact, KeptModel) or artefact.model is None:
            continue
        document = json.loads(corpus.document(result.instance))
        task = {"document": document, "route": [route.frontend, route.name], "bundle": reference.bundle, "artefact": artefact.model}
        found.append((result.instance, task))
    return found
