"""A subject that is ready for tests: its workers have passed the canary."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from opera.compilers.adapter import Fork, Route
from opera.compilers.canary import canaries, format_of, is_enough, least_precise
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.judge import Judgement, headline, needs_review
from opera.difftest.messages import Document, Request, to_json
from opera.difftest.protocol import Ask, DiffTest, Event, drive
from opera.difftest.settings import Settings
from opera.difftest.specs import compiler_spec, library_spec
from opera.difftest.test import Identity, Test
from opera.errors import EnvironmentBroken, UserError
from opera.instance import encode_instance
from opera.instance.libraries import facts_of
from opera.models.forms import InputForm, ModelForm
from opera.oracles import revisions
from opera.oracles.review import OPINIONS
from opera.oracles.verdict import Verdict
from opera.plugins import load, registered
from opera.workers.pool import WorkerPool
from opera.workers.pool_protocol import PoolProtocol, Role, WorkerConfig
from opera.workers.process import Done, Limits, Lost, Raised
from opera.workers.protocol import Message

_CANARY = "canary"
_FIRST_STAGE = 180.0
"""Seconds for each stage of the canary: the first model of a process also pays for what the compiler sets up, on a busy machine too."""
_KEPT = 1
"""Part of the identity of tests whose outputs are kept: their results hold what others do not."""


class SubjectSession:
    """The pool of a campaign, with everything that its tasks and identities are made of."""

    def __init__(self, settings: Settings, config: Config, cache: Path, scratch: Path, logs: Path | None = None) -> None:
        registered = plugin(settings.compiler)
        self.adapter = registered.load()
        self.route: Route = choose_route(self.adapter, settings.frontend, settings.route)
        known = facts_of(self.route.library).forms
        if InputForm.SYMBOLIC in settings.forms and ("symbolic" not in known or (self.route.artefact is None and not self.route.marks)):
            raise UserError(
                f"--input-form symbolic is for instances of ONNX, and of PyTorch by routes that save a module or mark sizes; the route"
                f" {self.route.name} of {settings.subject} has fixed sizes"
            )
        for form in (each for each in settings.forms if each.has_outcome and each.value not in known):
            raise UserError(f"--input-form {form.value} is for instances of PyTorch, not of {self.route.library}")
        if InputForm.REFUSED in settings.forms and self.route.artefact is not None:
            raise UserError(
                f"--input-form refused is for routes that take a live module; the route {self.route.name} of {settings.subject} saves one"
            )
        if settings.opsets and (self.route.library, self.route.artefact) != ("onnx", "onnx"):
            raise UserError(
                f"--opset is for instances of ONNX, but {settings.subject} takes instances of {self.route.library} by the route"
                f" {self.route.name}; leave --opset out, or use --frontend onnx"
            )
        self._settings = settings
        self.products: str | None = None
        self._own_settings = config.digest(settings.compiler)
        self._interrupted: Callable[[], bool] = lambda: False
        environment = dict(self.route.environment)
        library = library_spec(config, self.route.library, cache, environment)
        compiler = compiler_spec(
            config, registered, [self.route.library], cache, environment, chebyshev=settings.chebyshev, level=settings.level
        )
        configs = {
            Role.LIBRARY: WorkerConfig(library),
            Role.LIBRARY_FRESH: WorkerConfig(library),
            Role.LIBRARY_SPAWNED: WorkerConfig(library, forkable=False),
            Role.COMPILER: WorkerConfig(compiler),
            Role.COMPILER_FRESH: WorkerConfig(compiler, forkable=self.adapter.fork is not Fork.NEVER),
            Role.COMPILER_SPAWNED: WorkerConfig(compiler, forkable=False),
        }
        self.specs = {kind: each.spec for kind, each in configs.items()}
        limits = Limits(stage=settings.timeout, start=max(180.0, settings.timeout), memory=settings.memory)
        self.pool = _pool(configs, limits, settings, cache.parent, scratch, logs)

    def prove(self, interrupted: Callable[[], bool] = lambda: False) -> Identity:
        """Takes the canary through both workers; returns what the identities of tests are made of.

        Raises:
            EnvironmentBroken: a worker cannot start, or the canary does not pass.
            KeyboardInterrupt: *interrupted* says so.
        """
        self._interrupted = interrupted
        difftest, tests = canary_tests(self.route, self._settings.subject, self._settings.seed)
        asked: dict[Role, Message] = {}

        def ask(step: Ask) -> Event:
            asked.setdefault(step.worker, to_json(step.request))
            return self._one(step.worker, to_json(step.request))

        self.pool.limit_stages(max(_FIRST_STAGE, self._settings.timeout))
        self.pool.prepare(Role.LIBRARY, Role.COMPILER)
        judgements = [drive(difftest, difftest.begin(test), ask) for test in tests]
        self.pool.limit_stages(self._settings.timeout)
        for test, judgement in zip(tests, judgements, strict=True):
            fault = canary_fault(self._settings.compiler, self.adapter.precision, test, judgement)
            if fault is not None and Role.COMPILER not in asked:
                why = headline(judgement.verdict, judgement.detail, self._settings.compiler)
                raise EnvironmentBroken(f"{self.route.library} fails on the canary model: {why}; run `opera doctor`")
            if fault is not None:
                raise EnvironmentBroken(f"{self._settings.compiler} {fault}; no campaign starts on a broken adapter, so run `opera doctor`")
        self.products = products_of(judgements)
        if self.pool.infos[Role.LIBRARY]["forkable"]:
            self.pool.set_warmup(Role.LIBRARY_FRESH, asked[Role.LIBRARY])
        else:
            self.pool.never_copy(Role.LIBRARY_FRESH)
        if self.adapter.fork is Fork.WARM:
            self.pool.set_warmup(Role.COMPILER_FRESH, asked[Role.COMPILER])
        return self.identity()

    def ask(self, worker: Role, request: Request) -> Event:
        """What *worker* answers; a task that takes too long runs twice."""
        return self._one(worker, to_json(request))

    def _one(self, role: Role, task: Message) -> Done | Raised | Lost:
        """The outcome of *task*. A task that takes too long runs twice, because a compiler's first model is slow on a busy machine."""
        event = self._once(role, task)
        return self._once(role, task) if isinstance(event, Lost) and event.cause == "deadline" else event

    def _once(self, role: Role, task: Message) -> Done | Raised | Lost:
        deadline = time.monotonic() + 600
        assigned = False
        while time.monotonic() < deadline:
            assigned = assigned or self.pool.assign(role, _CANARY, task)
            events = [event for _, _, event in self.pool.wait()]
            if events:
                return events[0]
            if self._interrupted():
                raise KeyboardInterrupt
        raise EnvironmentBroken(f"{role.value} does not answer; run `opera doctor`")

    def identity(self) -> Identity:
        """What the identities of tests are made of, as the workers said it."""
        library = self.pool.infos[Role.LIBRARY]
        kept = {} if self._settings.suite is None else {"kept": _KEPT}
        return Identity(
            compiler=self._settings.compiler,
            route=self.route,
            template=str(library["template"]),
            library=self.library_versions(),
            versions=self.compiler_versions(),
            policy={
                "chebyshev": self._settings.chebyshev,
                "adapter": self.adapter.revision,
                "comparison": revisions.COMPARISON,
                **kept,
            },
            review=revisions.REVIEW,
        )

    def library_versions(self) -> Mapping[str, str]:
        """Versions on the library's side, with those of the exporter that makes the models of the route."""
        info = self.pool.infos[Role.LIBRARY]
        return {**info["versions"], **info.get("exporters", {}).get(self.route.artefact, {})}

    def compiler_versions(self) -> Mapping[str, str]:
        """Versions and settings on the compiler's side."""
        versions: Mapping[str, str] = self.pool.infos[Role.COMPILER]["versions"]
        own = {"build": self._settings.build, "opera.toml": self._own_settings}
        return {**versions, **{name: value for name, value in own.items() if value is not None}}

    def difftest(self, document: Callable[[str], Document]) -> DiffTest:
        """The steps of the subject's tests; *document* gives the JSON document of an instance by its hash."""
        route, settings = self.route, self._settings
        return DiffTest(
            subject=settings.subject,
            kind=route.artefact,
            route=(route.frontend, route.name),
            document=document,
            lowest=self.adapter.level_below(settings.level),
            computes_as=self.adapter.computes_as,
            confirm=settings.confirm,
            reviewed=reviewed_on(route) if settings.confirm else _never,
            keep=settings.suite is not None,
            is_slow=self.adapter.is_slow,
        )


def reviewed_on(route: Route) -> Callable[[Judgement, Test], bool]:
    """Which failures are reviewed on *route*: none where the compiler has to reject the model, all where the library has other opinions."""
    return _never if route.rejects else _failures if route.library in registered(OPINIONS) else needs_review


def canary_tests(route: Route, subject: str, seed: int) -> tuple[DiffTest, tuple[Test, ...]]:
    """The steps of the canaries' tests on *route*, and these: no failure is confirmed or reviewed.

    Raises:
        EnvironmentBroken: the library has no canary.
    """
    instances = canaries(route.library, rejects=route.rejects)
    documents = {f"{_CANARY}-{index}": json.dumps(encode_instance(each)) for index, each in enumerate(instances)}
    form = ModelForm(InputForm.RUNTIME)
    tests = tuple(
        Test(index, name, name, each.api, form, name, name, seed)
        for index, (name, each) in enumerate(zip(documents, instances, strict=True))
    )
    steps = DiffTest(subject, route.artefact, (route.frontend, route.name), documents.__getitem__, confirm=False, reviewed=_never)
    return steps, tests


def products_of(judgements: Sequence[Judgement]) -> str | None:
    """The format in which products of float32 were computed, by the *judgements* on a library's canaries; None if they do not say it."""
    if len(judgements) == 1 or any(each.reason is not None for each in judgements):
        return None
    return least_precise(format_of(each.verdict, each.detail) for each in judgements)


def canary_fault(compiler: str, declared: str, test: Test, judgement: Judgement) -> str | None:
    """What is wrong with a compiler that gives *judgement* on a canary; None if it passes, or computes in what its adapter declares."""
    computed = format_of(judgement.verdict, judgement.detail)
    declines = judgement.verdict is Verdict.UNSUPPORTED and test.place > 0  # a compiler may be without convolutions of images
    if judgement.verdict is Verdict.PASS or declines or is_enough(computed, declared):
        return None
    if computed is not None:
        return f"computes {test.api} of float32 in {computed}, and its adapter declares {declared}"
    return f"fails on the canary model ({judgement.verdict.value}: {headline(judgement.verdict, judgement.detail, compiler)})"


def _never(judgement: Judgement, test: Test) -> bool:
    return False


def _failures(judgement: Judgement, test: Test) -> bool:
    return judgement.verdict.is_failure


def _pool(
    configs: Mapping[Role, WorkerConfig], limits: Limits, settings: Settings, workspace: Path, scratch: Path, logs: Path | None
) -> PoolProtocol:
    if settings.cluster is None:
        return WorkerPool(configs, limits, settings.jobs, scratch, logs)
    return load("opera.pools", "ray")(configs, limits, settings.jobs, workspace, settings.cluster)
