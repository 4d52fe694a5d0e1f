"""Runs the tests of an OpiDiff suite on several backends, as campaigns, and gives a result for each id.

Tests that are the same instance share a result; each id still has its own row. A campaign of the suite resumes as every campaign does.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opera import bundle
from opera.compilers.adapter import Adapter, Route
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.console import one_line, quoted
from opera.difftest.judge import headline
from opera.difftest.settings import Settings
from opera.environments.inventory import inventory, lacks
from opera.errors import EnvironmentBroken, NothingSelected
from opera.extensions.opidiff.instances import Classes, Scalars, both_sides, has_scalars, instance_of, objections
from opera.extensions.opidiff.latency import Latency, measure
from opera.extensions.opidiff.metrics import MetricFacts, all_nan, metrics
from opera.extensions.opidiff.nodes import TestCase
from opera.instance import Instance, Occurrence, digest
from opera.oracles.compare import Policy, compare
from opera.oracles.verdict import KeptFacts, Stage, Verdict
from opera.run.campaign import Summary, run_campaign
from opera.run.observers import ProgressListener
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.untrusted import Malformed, typed

LIBRARY = "pytorch"
"""The library of all suites, and the name of the baseline that stands for it."""
NO_DEVICE = "no-device"
FOREIGN_CLASS = "foreign-class"
SCALAR_AS_TENSOR = "scalar-as-tensor"
NO_BASELINE = "no-baseline"
ALL_NAN = "all elements of the outputs are NaN on both sides, so no number was compared"
_SIDES = ("a", "b")


@dataclass(frozen=True)
class Backend:
    """A compiler with the route by which it loads the library's models."""

    name: str
    adapter: type[Adapter]
    route: Route

    @property
    def exports(self) -> bool:
        """Whether models are exported for it; else it takes the live module."""
        return self.route.artefact is not None


def backends_of(names: Sequence[str], config: Config) -> list[Backend]:
    """The backends called `NAME` or `NAME/ROUTE`.

    Raises:
        UserError: an unknown name or route.
        EnvironmentBroken: some are not installed; the message names all of them.
    """
    found: list[Backend] = []
    for text in dict.fromkeys(names):
        name, _, route = text.partition("/")
        adapter = plugin(name).load()
        found.append(Backend(text, adapter, choose_route(adapter, LIBRARY, route or None)))
    absent = {
        each.name: missing
        for each in found
        if not config.search_first(each.adapter.name)
        and (missing := lacks(each.adapter.packages, inventory(config.python("compiler", each.adapter.name))))
    }
    if absent:
        what = "; ".join(f"{name} ({', '.join(map(str, missing))})" for name, missing in absent.items())
        raise EnvironmentBroken(f"not installed: {what}; install these, or leave them out of --backend")
    return found


@dataclass(frozen=True)
class SuiteRow:
    """The result of one test of a suite on one backend.

    Attributes:
        test: The test, or side *a* of a pair.
        id: Id of the test or the pair.
        seed: Seed of its inputs.
        backend: Its name as the command gave it.
        verdict: None where the test has not run yet.
        stage, reason: As results have them.
        summary: What went wrong, on one line.
        metrics: How far the outputs are from the baseline's.
        seconds: Wall time of the stages of the test; 0 for a test that did not run.
        instance: Hash of the instance; None for a test without an instance.
        fingerprint: Fingerprint of a failure.
        is_pair: Whether the row compares the sides of a pair.
        outputs, reference: Names in the cache.
    """

    test: TestCase
    id: str
    seed: int
    backend: str
    verdict: Verdict | None
    stage: Stage | None = None
    reason: str | None = None
    summary: str = ""
    metrics: MetricFacts | None = None
    instance: str | None = None
    fingerprint: str | None = None
    is_pair: bool = False
    outputs: str | None = None
    reference: str | None = None
    seconds: float = 0.0

    @property
    def state(self) -> str:
        """The verdict as text."""
        return "not run" if self.verdict is None else self.verdict.value

    @property
    def compared(self) -> bool:
        """Whether the backend was judged: it failed, or its outputs were compared with others."""
        return self.verdict is not None and (self.verdict.is_failure or self.metrics is not None or self.reference is not None)


@dataclass(frozen=True)
class SuiteRun:
    """What a run of a suite came to: rows by backend, seed and test, and one summary per campaign."""

    rows: tuple[SuiteRow, ...]
    summaries: tuple[Summary, ...]
    interrupted: bool


@dataclass
class _Planned:
    """The instances of one backend and seed: the key of each test, and each instance once."""

    keys: dict[str, str] = field(default_factory=dict[str, str])
    instances: dict[str, Instance] = field(default_factory=dict[str, Instance])


class SuiteRunner:
    """Runs tests in an open workspace.

    Args:
        workspace: Open for writing.
        config: Says which interpreters to use.
        settings: Limits and numbers of workers; compiler, frontend, route and suite are set for each backend.
        scalars: How scalars among the inputs are given; None for what the format says: tensors where models are exported.
        classes: Those that are not the library's.
    """

    def __init__(self, workspace: Workspace, config: Config, settings: Settings, scalars: Scalars | None, classes: Classes) -> None:
        self._workspace = workspace
        self._config = config
        self._classes = classes
        self._settings = settings
        self._scalars = scalars

    def run(
        self, tests: Sequence[TestCase], backends: Sequence[Backend], baseline: str, progress: Callable[[str], ProgressListener]
    ) -> SuiteRun:
        """Runs *tests* on *backends* and compares with *baseline*: `pytorch`, or the name of one of the backends.

        *progress* makes the listener of a campaign of the subject of that name.
        """
        rows: list[SuiteRow] = []
        summaries: list[Summary] = []
        interrupted = False
        for backend in backends:
            for seed in range(self._settings.seed, self._settings.seed + self._settings.seeds):
                runnable = [each for each in tests if self._obstacle(each, backend) is None]
                planned = self._planned(runnable, backend, seed)
                results: dict[str, StoredResult] = {}
                if planned.instances and not interrupted:
                    summary = self._campaign(planned, backend, seed, progress)
                    summaries.append(summary)
                    interrupted = summary.stopped_by == "interrupt"
                    results = {each.instance: each for each in Campaigns(self._workspace).results(summary.campaign)}
                rows += [self._row(test, seed, backend, planned, results) for test in tests]
        if baseline != LIBRARY:
            rows = self._against(rows, baseline)
        by_name = {each.name: each for each in backends}
        pairs = self._pairs(rows, by_name)
        if not interrupted:
            pairs, more = self._findings(pairs, rows, by_name, progress)
            summaries += more
            interrupted = any(each.stopped_by == "interrupt" for each in more)
        return SuiteRun((*rows, *pairs), tuple(summaries), interrupted)

    def _planned(self, tests: Iterable[TestCase], backend: Backend, seed: int) -> _Planned:
        planned = _Planned()
        added: list[tuple[Instance, Occurrence]] = []
        for test in tests:
            instance = instance_of(test, seed, self._form(backend), self._classes)
            key = digest(instance)
            planned.keys[test.id] = key
            planned.instances[key] = instance
            added.append((instance, Occurrence("opidiff", test.id)))
        Corpus(self._workspace).add(added)
        return planned

    def _obstacle(self, test: TestCase, backend: Backend) -> tuple[str, str] | None:
        """Reason and summary of a test that cannot run on *backend*; None for one that can."""
        refused = objections(test, self._classes)
        if refused:
            return FOREIGN_CLASS, "; ".join(one_line(each, 300) for each in refused)
        if not _has_device(test, backend):
            return NO_DEVICE, f"{backend.name} has no {test.device} device here"
        return None

    def _form(self, backend: Backend) -> Scalars:
        return self._scalars or (Scalars.TENSOR if backend.exports else Scalars.PYTHON)

    def _campaign(self, planned: _Planned, backend: Backend, seed: int, progress: Callable[[str], ProgressListener]) -> Summary:
        keys = hashlib.sha256("".join(sorted(planned.instances)).encode()).hexdigest()[:16]
        settings = replace(self._of(backend, seed), suite=keys)
        listener = progress(settings.subject)
        return run_campaign(self._workspace, self._config, settings, lambda: planned.instances.items(), listener)

    def _of(self, backend: Backend, seed: int) -> Settings:
        route = backend.route.name
        return replace(self._settings, compiler=backend.adapter.name, frontend=LIBRARY, route=route, seed=seed, seeds=1, suite="")

    def latency(self, run: SuiteRun, backends: Sequence[Backend], baseline: str, repeats: int) -> dict[tuple[str, int, str], Latency]:
        """The latency of each test that passes, by id, seed and backend."""
        seeds = range(self._settings.seed, self._settings.seed + self._settings.seeds)
        found: dict[tuple[str, int, str], Latency] = {}
        for backend, seed in itertools.product(backends, seeds):
            rows = [each for each in run.rows if (each.backend, each.seed) == (backend.name, seed) and each.outputs is not None]
            wanted = {each.id: each.instance for each in rows if each.instance is not None and not each.is_pair}
            if wanted:
                timed = measure(self._workspace, self._config, self._of(backend, seed), wanted.values(), repeats)
                found |= {(name, seed, backend.name): timed[key] for name, key in wanted.items() if key in timed}
        if baseline == LIBRARY:
            return found
        base = {(name, seed): each.backend for (name, seed, backend), each in found.items() if backend == baseline}
        return {key: replace(each, baseline=base[key[:2]]) for key, each in found.items() if key[:2] in base}

    def _row(self, test: TestCase, seed: int, backend: Backend, planned: _Planned, results: dict[str, StoredResult]) -> SuiteRow:
        row = SuiteRow(test, test.id, seed, backend.name, None)
        key = planned.keys.get(test.id)
        if key is None:
            reason, summary = self._obstacle(test, backend) or (None, "")
            return replace(row, verdict=Verdict.UNSUPPORTED, reason=reason, summary=summary)
        result = results.get(key)
        if result is None:
            return replace(row, instance=key)
        kept = _kept(result)
        facts = self._facts(kept)
        reason, summary = result.reason, ""
        if result.verdict.is_failure or result.verdict is Verdict.INVALID or "failure" in result.detail:
            summary = headline(result.verdict, result.detail, result.compiler)
        elif facts is not None:
            summary = _remark(facts)
        if result.verdict is Verdict.INVALID and has_scalars(test) and self._form(backend) is Scalars.TENSOR:
            reason, summary = SCALAR_AS_TENSOR, f"{summary}; try --scalars python"
        return replace(
            row,
            verdict=result.verdict,
            stage=result.stage,
            reason=reason,
            summary=summary,
            metrics=facts,
            instance=key,
            fingerprint=result.fingerprint,
            outputs=None if kept is None else kept["outputs"],
            reference=None if kept is None else kept["reference"],
            seconds=sum(result.seconds.values()),
        )

    def _facts(self, kept: KeptFacts | None) -> MetricFacts | None:
        """How far the outputs are from the library's; None if they were not kept, or the cache has lost them."""
        if kept is None or kept["outputs"] is None:
            return None
        try:
            return metrics(self._outputs(kept["reference"])["outputs"], self._outputs(kept["outputs"]))
        except bundle.DamagedArtefact:
            return None

    def _outputs(self, name: str) -> Any:
        return bundle.parse(bundle.fetch(self._workspace.cache, name))

    def _against(self, rows: Sequence[SuiteRow], baseline: str) -> list[SuiteRow]:
        """The rows with the outputs of the backend *baseline* in place of the library's."""
        known = {(each.id, each.seed): each for each in rows if each.backend == baseline}

        def compared(row: SuiteRow) -> SuiteRow:
            own = row.backend == baseline or row.outputs is None
            return row if own else self._compared(row, known[row.id, row.seed])

        return [compared(each) for each in rows]

    def _compared(self, row: SuiteRow, other: SuiteRow) -> SuiteRow:
        if row.outputs is None or other.outputs is None:
            return replace(row, verdict=Verdict.UNDEFINED, reason=NO_BASELINE, metrics=None, summary=f"{other.backend}: {other.state}")
        try:
            expected, actual = self._outputs(other.outputs), self._outputs(row.outputs)
        except bundle.DamagedArtefact as error:
            return replace(row, verdict=Verdict.UNDEFINED, reason="outputs-lost", metrics=None, summary=str(error))
        difference = compare(expected, None, actual, Policy({}))
        facts = metrics(expected, actual)
        if difference is None or difference.explained is not None:
            return replace(row, verdict=Verdict.PASS, stage=None, reason=None, summary=_remark(facts), metrics=facts)
        summary = f"{difference.kind}: {other.backend} gives {difference.expected}, {row.backend} {difference.actual}"
        reason = "differs-from-baseline"
        return replace(row, verdict=Verdict.INCONSISTENT, stage=Stage.COMPARE, reason=reason, summary=summary, metrics=facts)

    def _pairs(self, rows: Iterable[SuiteRow], backends: dict[str, Backend]) -> list[SuiteRow]:
        """A row for each pair: its sides compared with each other."""
        sides: dict[tuple[str, int, str], dict[str, SuiteRow]] = {}
        for row in rows:
            if row.test.pair is not None and row.test.side is not None:
                sides.setdefault((row.test.pair, row.seed, row.backend), {})[row.test.side] = row
        whole = {key: found for key, found in sides.items() if len(found) == len(_SIDES)}
        return [self._pair(name, found["a"], found["b"], backends[backend]) for (name, _, backend), found in whole.items()]

    def _findings(
        self,
        pairs: Sequence[SuiteRow],
        rows: Iterable[SuiteRow],
        backends: Mapping[str, Backend],
        progress: Callable[[str], ProgressListener],
    ) -> tuple[list[SuiteRow], list[Summary]]:
        """Runs each pair whose sides differ as one model of both sides, so that the difference is confirmed, and triaged as others are."""
        second = {(each.id, each.seed, each.backend): each.test for each in rows if each.test.side == "b"}
        found: dict[tuple[str, int], dict[str, Instance]] = {}
        for row in pairs:
            if row.verdict is Verdict.INCONSISTENT:
                test = second[f"{row.id}__b", row.seed, row.backend]
                instance = both_sides(instance_of(test, row.seed, self._form(backends[row.backend]), self._classes))
                found.setdefault((row.backend, row.seed), {})[row.id] = instance
        confirmed: dict[tuple[str, int, str], SuiteRow] = {}
        rows_by_key = {(each.id, each.seed, each.backend): each for each in pairs}
        summaries: list[Summary] = []
        for (backend, seed), wanted in found.items():
            keys = {name: digest(instance) for name, instance in wanted.items()}
            Corpus(self._workspace).add((instance, Occurrence("opidiff", name)) for name, instance in wanted.items())
            planned = _Planned(instances={keys[name]: instance for name, instance in wanted.items()})
            summary = self._campaign(planned, backends[backend], seed, progress)
            summaries.append(summary)
            results = {each.instance: each for each in Campaigns(self._workspace).results(summary.campaign)}
            for name, key in keys.items():
                result = results.get(key)
                seconds = 0.0 if result is None else sum(result.seconds.values())
                row = replace(rows_by_key[name, seed, backend], instance=key, seconds=seconds)
                if result is not None and result.verdict.is_failure:
                    row = replace(row, fingerprint=result.fingerprint)
                else:
                    row = replace(row, summary=f"{row.summary}; not as one model of both sides")
                confirmed[name, seed, backend] = row
        return [confirmed.get(key, row) for key, row in rows_by_key.items()], summaries

    def _pair(self, name: str, one: SuiteRow, two: SuiteRow, backend: Backend) -> SuiteRow:
        row = SuiteRow(one.test, name, one.seed, one.backend, None, is_pair=True)
        for side, each in zip(_SIDES, (one, two), strict=True):
            if each.outputs is None or each.reference is None:
                verdict = Verdict.UNDEFINED if each.verdict is not None and each.verdict.is_failure else each.verdict
                why = f": {each.summary}" if each.summary else ""
                return replace(row, verdict=verdict, reason=f"side-{side}", summary=f"side {side}: {each.state}{why}")
        try:
            left, right = (self._outputs(str(each.outputs)) for each in (one, two))
            library = [self._outputs(str(each.reference)) for each in (one, two)]
        except bundle.DamagedArtefact as error:
            return replace(row, verdict=Verdict.UNDEFINED, reason="outputs-lost", summary=str(error))
        own = compare(library[0]["outputs"], library[0]["precise"], library[1]["outputs"], Policy({}))
        facts = metrics(left, right)
        if own is not None and own.explained is None:
            gives = f"side a gives {own.expected}, side b {own.actual}"
            summary = f"{own.kind}: in {LIBRARY} too, {gives}; they share only parameters of the same name and shape"
            return replace(row, verdict=Verdict.UNDEFINED, reason="sides-differ", summary=summary, metrics=facts)
        difference = compare(left, None, right, Policy(dict(backend.adapter.computes_as)))
        if difference is None or difference.explained is not None:
            return replace(row, verdict=Verdict.PASS, summary=_remark(facts), metrics=facts)
        summary = f"{difference.kind}: side a gives {difference.expected}, side b {difference.actual}; in {LIBRARY} they agree"
        return replace(row, verdict=Verdict.INCONSISTENT, stage=Stage.COMPARE, reason="pair", summary=summary, metrics=facts)


def _kept(result: StoredResult) -> KeptFacts | None:
    """The names of the outputs of a result; None if they were not kept, or the workspace holds something else in their place."""
    found = result.detail.get("kept")
    try:
        return None if found is None else typed(found, KeptFacts)
    except Malformed:
        return None


def _remark(facts: MetricFacts) -> str:
    """What a person has to know of a pass."""
    return ALL_NAN if all_nan(facts) else ""


def _has_device(test: TestCase, backend: Backend) -> bool:
    wanted = {"gpu": ("cuda", "mps")}.get(test.device, (test.device,))
    return any(each in backend.adapter.devices for each in wanted)


def selected(tests: Sequence[TestCase], patterns: Sequence[str], files: Sequence[Path]) -> list[TestCase]:
    """The tests whose id, or the id of whose pair, matches one of *patterns*; all without patterns.

    Raises:
        NothingSelected: there is no test, or none that one of the patterns matches.
    """
    if not tests:
        raise NothingSelected(f"{', '.join(map(str, files))} has no tests; add some to the list `tests`")
    names = [(each, [name for name in (each.id, each.pair) if name is not None]) for each in tests]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for _, own in names for name in own):
            listing = " ".join(quoted(str(each)) for each in files)
            raise NothingSelected(f"no id matches {pattern!r}; `opera opidiff expand {listing}` lists the ids")
    return [each for each, own in names if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns for name in own)]
