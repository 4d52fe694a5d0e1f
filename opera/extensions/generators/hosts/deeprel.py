"""Replays the recorded calls of each API on the APIs that are like it and, as those calls show, behave like it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from opera.extensions.generators.deeprel.instances import Document, InstanceFile
from opera.extensions.generators.deeprel.matching import Match, match, slots_of
from opera.extensions.generators.deeprel.relation import Pair, Relation
from opera.extensions.generators.deeprel.similarity import ComparedApi, Likeness
from opera.extensions.generators.docter.constraints import TargetApi
from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.limits import Late, alarm, limit_memory
from opera.instrumentation.stream import Stream

SCOPE = ["functions", "methods", "modules"]
LIBRARIES = ("keras", "pytorch", "tensorflow")


class MatchingBudget(NamedTuple):
    """How much is tried for one source API.

    Attributes:
        relatives: APIs whose relation is verified, the likest first.
        verify: Recorded calls that verify one relation.
        least: The fewest of these that must be possible with both APIs.
        replays: Recorded calls that are replayed on each verified relative.
        likeness: The least score of a relative.
    """

    relatives: int
    verify: int
    least: int
    replays: int
    likeness: float


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("deeprel")
    parser.add_argument("--library", default="pytorch", choices=LIBRARIES)
    parser.add_argument("--instances", default="", help='JSON Lines file of recorded instances, {"id": ..., "instance": {...}}')
    parser.add_argument("--relatives", type=int, default=10, help="relatives that are tried per API")
    parser.add_argument("--verify", type=int, default=10, help="recorded calls that verify one relation")
    parser.add_argument("--least", type=int, default=3, help="the fewest of these that must show it")
    parser.add_argument("--replays", type=int, default=20, help="recorded calls that are replayed on each relative")
    parser.add_argument("--likeness", type=float, default=0.35, help="the least likeness of a relative, 0 to 1")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    filters = arguments.filters(options)
    bench: Any = importlib.import_module(f"opera.extensions.generators.deeprel.{options.library}").Relations()
    budget = MatchingBudget(options.relatives, options.verify, options.least, options.replays, options.likeness)
    with Stream(options.recording, bench.library, bench.version, options.source) as stream, bench.recorder(stream, filters) as recorder:
        if not options.instances:
            stream.drop("no-sample:NoInstances", "?")
            print("no file of recorded instances was given: --instances FILE", flush=True)
            return
        file = InstanceFile(options.instances, bench.library, max(budget.verify, budget.replays))
        apis = _apis(bench, [name for name in bench.names(SCOPE) if filters.noise(name) is None and not filters.excluded(name)])
        likeness = _likeness(bench, file, apis)
        chosen = sorted(name for name in file.apis if filters.selected(name) and file.apis[name].offsets)
        for index, name in arguments.select(chosen, options):
            stream.enter(index, name)
            limit_memory()
            if filters.excluded(name) or filters.noise(name) is not None:
                stream.drop("excluded", name)
                continue
            relatives = [(score, apis[other]) for score, other in likeness.ranked(name, 2 * budget.relatives) if other in apis]
            _Entry(bench, stream, recorder, file, name).run([item for item in relatives if item[0] >= budget.likeness], budget)


def _apis(bench: Any, names: list[str]) -> dict[str, TargetApi]:
    """Every operator whose parameters are known."""
    found = {name: bench.api(name) for name in names if _is_operator(bench, name)}
    return {name: api for name, api in found.items() if api is not None}


def _is_operator(bench: Any, name: str) -> bool:
    """Whether the library's list admits *name*: it will be called with arguments that were recorded for another API."""
    try:
        bench.resolve(name)
    except (ImportError, AttributeError):
        return False
    return True


def _likeness(bench: Any, file: InstanceFile, apis: dict[str, TargetApi]) -> Likeness:
    """All APIs of the library and of the file, ready to be compared."""
    subjects: dict[str, ComparedApi] = {}
    texts: dict[str, str] = {}
    for name, recorded in file.apis.items():
        subjects[name] = ComparedApi(name, recorded.slots(), recorded.behaviour)
    for name, api in apis.items():
        behaviour = subjects[name].behaviour if name in subjects else file.nothing
        subjects[name] = ComparedApi(name, slots_of(api), behaviour)
    for name in subjects:
        try:
            texts[name] = str(getattr(bench.resolve(name), "__doc__", None) or "")
        except (ImportError, AttributeError):
            texts[name] = ""
    return Likeness(list(subjects.values()), texts)


class _Entry:
    """The relatives of one source API."""

    def __init__(self, bench: Any, stream: Stream, recorder: Any, file: InstanceFile, name: str) -> None:
        self._bench = bench
        self._stream = stream
        self._recorder = recorder
        self._name = name
        self._slots = file.apis[name].slots()
        self._documents = [document for document in file.documents(name) if self._can_be_rebuilt(document)]

    def _can_be_rebuilt(self, document: Document) -> bool:
        self._bench.reset(0, self._name)
        try:
            with alarm():
                self._bench.arguments(document)
        except (Exception, Late) as error:
            self._stream.drop(f"no-sample:{type(error).__name__}", self._name)
            return False
        return True

    def run(self, relatives: list[tuple[float, TargetApi]], budget: MatchingBudget) -> None:
        """Verifies up to the budget's number of relatives and replays on those that pass."""
        tried = 0
        for score, api in relatives:
            found = match(self._slots, api) if tried < budget.relatives else None
            if found is None:
                continue
            tried += 1
            pair = Pair(self._bench, self._name, api, found, alarm)
            relation = self._verified(pair, budget)
            print(f"{self._name} -> {api.name}: {_told(score, found, relation)}", flush=True)
            if relation is not None:
                self._replay(pair, f"{self._name}->{api.name}::{relation.kind}", budget)

    def _verified(self, pair: Pair, budget: MatchingBudget) -> Optional[Relation]:
        step = max(1, len(self._documents) // budget.verify)
        try:
            return pair.verify(self._documents[::step][: budget.verify], min(budget.least, len(self._documents)))
        except (Exception, Late):
            return None

    def _replay(self, pair: Pair, relation: str, budget: MatchingBudget) -> None:
        for number, document in enumerate(self._documents[: budget.replays]):
            if pair.replay(document) is not None:
                self._record(pair, document, f"{self._stream.source}::{relation}::{number}")

    def _record(self, pair: Pair, document: Document, test: str) -> None:
        self._stream.begin(test)
        self._bench.reset(0, test)
        try:
            call = pair.prepared(document)
            with alarm(), self._recorder.watching():
                call()
        except (Exception, Late) as error:
            print(f"{test}: {type(error).__name__}", flush=True)


def _told(score: float, found: Match, relation: Optional[Relation]) -> str:
    kind = "not related" if relation is None else f"{relation.kind} in {relation.verified} calls"
    return f"likeness {score:.2f}, {kind}, match {found.score:.2f} ({found.text()})"
