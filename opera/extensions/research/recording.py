"""Campaigns over a whole corpus, in the form for the evaluation of strategies: from a workspace, or from a recorded file.

A file is gzipped JSON Lines: the first line says what the file is; each other line is one instance with its document, seconds and faults.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import msgspec

from opera.atomic import output
from opera.errors import UserError
from opera.instance import Argument, Instance, Tensor, decode_instance, encode_instance
from opera.prioritize import Candidate, History, equipped_counts, record
from opera.prioritize.features import integer_data
from opera.store import Campaign, Campaigns, Corpus, Workspace
from opera.triage.findings import findings_in
from opera.untrusted import Count, Document, JsonObject, Line, Malformed, Name, Seconds, from_json, lines_of, parsed_json, typed


@dataclass(frozen=True)
class RecordedTest:
    """All tests of one operator instance: its input forms run one after the other, and count as one.

    Attributes:
        id: Id of the instance.
        instance: What a strategy needs of it; values of large tensors may be gone.
        seconds: Wall time of all its tests; 0 where it was not measured.
        faults: Findings that its tests revealed.
        coverage: Numbers of the frontend's statements that its tests ran; None where that was not measured.
        verdicts: Verdict of each input form; `exporter` if the exporter before the compiler failed; empty where that was not recorded.
    """

    id: str
    instance: Instance
    seconds: float = 0.0
    faults: frozenset[str] = frozenset()
    coverage: frozenset[int] | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict[str, str])


def _nothing() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class RecordedRun:
    """A subject, the tests that were run on it, and what they revealed.

    Attributes:
        subject: `compiler/frontend`.
        tests: In the order of their ids.
        faults: What is known of each fault, as one line, by its id.
        equipped: Number of equipped tests by operator.
        equipped_tests: Those tests as instances, where they are known.
        facts: Versions, origin and date of the campaign, as text.
        order: Ids in the order in which the campaign ran them; empty where that is not known.
    """

    subject: str
    tests: Sequence[RecordedTest]
    faults: Mapping[str, str]
    equipped: Mapping[str, int] = field(default_factory=_nothing)
    equipped_tests: Sequence[Instance] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    order: Sequence[str] = ()

    @cached_property
    def candidates(self) -> Sequence[Candidate]:
        """The candidates for a strategy."""
        return [Candidate(test.id, test.instance) for test in self.tests]

    @cached_property
    def timed(self) -> bool:
        """Whether seconds were measured."""
        return any(test.seconds > 0 for test in self.tests)

    @cached_property
    def failing(self) -> Mapping[str, frozenset[str]]:
        """The faults that an instance revealed, by id, for those that revealed any."""
        return {test.id: test.faults for test in self.tests if test.faults}

    @cached_property
    def coverage(self) -> Mapping[str, frozenset[int]] | None:
        """Statements of the frontend by id; None where they were not measured."""
        return {test.id: test.coverage for test in self.tests if test.coverage is not None} or None


SCHEMA = "recorded-campaign/1"
_MOST_STATEMENTS = 10_000_000


def write_recorded(recorded: RecordedRun, path: Path) -> None:
    """Writes *recorded*; the same campaign gives the same bytes."""
    with output(path) as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=9, mtime=0) as packed:
        for document in _documents(recorded):
            packed.write((json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n").encode())


def _documents(recorded: RecordedRun) -> Iterator[JsonObject]:
    yield {
        "schema": SCHEMA,
        "subject": recorded.subject,
        "tests": len(recorded.tests),
        "faults": dict(recorded.faults),
        "equipped": dict(recorded.equipped),
        "facts": dict(recorded.facts),
    }
    places = {name: index for index, name in enumerate(recorded.order)}
    for test in recorded.tests:
        document: JsonObject = {"id": test.id, "instance": encode_instance(test.instance), "seconds": test.seconds}
        if test.id in places:
            document["place"] = places[test.id]
        if test.faults:
            document["faults"] = sorted(test.faults)
        if test.coverage is not None:
            document["coverage"] = _runs(sorted(test.coverage))
        if test.verdicts:
            document["verdicts"] = dict(test.verdicts)
        yield document


class _Head(msgspec.Struct):
    """The first line of a recorded campaign: its subject and what holds for all tests."""

    schema: str
    subject: Name
    tests: Count
    faults: dict[str, Line]
    equipped: dict[str, Count]
    facts: dict[str, Line]


class _Row(msgspec.Struct):
    """A line of a recorded campaign: one test."""

    id: Name
    instance: Document
    seconds: Seconds
    place: Count | None = None
    faults: list[Name] = []
    coverage: list[tuple[Count, Count]] | None = None
    verdicts: dict[Name, Name] = {}

    def test(self) -> RecordedTest:
        """Raises ValueError if the instance is malformed, or the coverage has more statements than any compiler."""
        runs = self.coverage
        if runs is not None and sum(length for _, length in runs) > _MOST_STATEMENTS:
            raise Malformed(f"coverage of more than {_MOST_STATEMENTS:,} statements")
        statements = None if runs is None else frozenset(number for first, length in runs for number in range(first, first + length))
        return RecordedTest(self.id, decode_instance(self.instance), self.seconds, frozenset(self.faults), statements, self.verdicts)


def read_recorded(path: Path) -> RecordedRun:
    """The campaign in *path*.

    Raises:
        UserError: the file is not there, damaged, or of another form; the message names the line.
    """
    number = 1
    try:
        lines = lines_of(path)
        head = parsed_json(next(lines, (1, b"{}"))[1])
        if not isinstance(head, dict) or cast(Document, head).get("schema") != SCHEMA:
            raise UserError(f"{path} is not a recorded campaign ({SCHEMA}); `opera evaluate --record FILE` writes one")
        about = typed(cast(object, head), _Head)
        rows: list[_Row] = []
        tests: list[RecordedTest] = []
        for at, line in lines:
            number = at
            rows.append(from_json(line, _Row))
            unknown = set(rows[-1].faults) - about.faults.keys()
            if unknown:
                raise Malformed(f"a fault that the first line does not have: {min(unknown)[:40]!r}")
            tests.append(rows[-1].test())
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; correct the path") from error
    except (ValueError, OSError) as error:
        raise UserError(f"{path}:{number}: damaged, or not a recorded campaign ({error}); record the campaign again") from error
    if len(tests) != about.tests:
        raise UserError(f"{path} ends after {len(tests)} of {about.tests} tests; record the campaign again")
    placed = sorted((row.place, row.id) for row in rows if row.place is not None)
    return RecordedRun(about.subject, tests, about.faults, about.equipped, facts=about.facts, order=[name for _, name in placed])


def history_in(paths: Sequence[Path]) -> History:
    """What the recorded campaigns in files showed.

    Raises:
        UserError: a file does not exist, or is not a recorded campaign.
    """
    return history_of(read_recorded(path) for path in paths)


def history_of(runs: Iterable[RecordedRun]) -> History:
    """What *runs* showed; those of one subject, such as several versions of a compiler, are one record."""
    subjects: dict[str, list[RecordedRun]] = {}
    for each in runs:
        subjects.setdefault(each.subject, []).append(each)
    return History(
        tuple(
            record((test.id, (test.instance.library, test.instance.api), test.faults) for run in same for test in run.tests)
            for same in subjects.values()
        )
    )


def _runs(numbers: list[int]) -> list[list[int]]:
    """First number and length of each run of consecutive *numbers*, which rise."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs


def read_campaign(workspace: Workspace, prefix: str | None = None, coverage: Mapping[str, frozenset[int]] | None = None) -> RecordedRun:
    """The campaign whose identity begins with *prefix*; without one, the only complete campaign that has findings.

    Its faults are the findings as triage groups them so far; its tests are those that the campaign has run. *coverage*, by instance,
    is kept with them.

    Raises:
        UserError: there is no such campaign, or more than one, or it has not run all its tests.
    """
    campaign = choose(Campaigns(workspace).all(), prefix)
    corpus = Corpus(workspace)
    seconds: dict[str, float] = defaultdict(float)
    failures = list(Campaigns(workspace).results(campaign.id, failures=True))
    verdicts: dict[str, dict[str, str]] = defaultdict(dict)
    for result in Campaigns(workspace).results(campaign.id):
        seconds[result.instance] += sum(result.seconds.values())
        by_exporter = result.exporter is not None and result.verdict.is_failure
        verdicts[result.instance][result.form] = "exporter" if by_exporter else result.verdict.value
    instances = {key: slim(instance) for key, instance in corpus.instances(campaign.library) if key in seconds}
    lost = len(seconds) - len(instances)
    if lost:
        raise UserError(f"{lost} of {len(seconds)} instances of campaign {campaign.id} are no longer in the workspace; extract them again")
    faults: dict[str, str] = {}
    revealed: dict[str, set[str]] = defaultdict(set)
    for finding in findings_in(workspace, lambda key: instances[key].api, failures):
        faults[finding.id] = f"{', '.join(finding.operators[:3])}: {finding.verdict.value}: {finding.summary}"[:200]
        for test in finding.tests:
            revealed[test.instance].add(finding.id)
    return RecordedRun(
        subject=f"{campaign.compiler}/{campaign.frontend}",
        tests=[
            RecordedTest(
                id=key,
                instance=instances[key],
                seconds=round(seconds[key], 4),
                faults=frozenset(revealed.get(key, ())),
                coverage=None if coverage is None else coverage.get(key, frozenset()),
                verdicts=verdicts[key],
            )
            for key in sorted(instances)
        ],
        faults=faults,
        equipped=equipped_counts(campaign.compiler, campaign.frontend),
        facts=_facts(campaign),
        order=list(dict.fromkeys(step.instance for step in Campaigns(workspace).course(campaign.id))),
    )


def choose(campaigns: list[Campaign], prefix: str | None) -> Campaign:
    """The campaign that `read_campaign` reads."""
    found = [each for each in campaigns if each.id.startswith(prefix or "")]
    complete = [each for each in found if each.complete]
    there = "; ".join(
        f"{each.id} ({each.compiler}/{each.frontend}, {'complete' if each.complete else 'not complete'})" for each in campaigns
    )
    if prefix is not None and len(found) == 1 and not complete:
        raise UserError(f"campaign {found[0].id} has not run all its tests; continue it, or choose one of: {there}")
    if len(complete) != 1:
        raise UserError(
            f"the workspace does not have exactly one complete campaign; name one with --campaign ID: {there or 'none is complete'}"
        )
    return complete[0]


def _facts(campaign: Campaign) -> dict[str, str]:
    compiler = cast("Mapping[str, Any]", campaign.versions.get("compiler", {}))
    library = cast("Mapping[str, Any]", campaign.versions.get("library", {}))
    names = {**{str(name): value for name, value in library.items()}, **{str(name): value for name, value in compiler.items()}}
    return {"campaign": campaign.id, "started": campaign.started, **{name: str(value) for name, value in names.items()}}


def slim(instance: Instance) -> Instance:
    """*instance* without the values that no strategy reads: those of large tensors, of floating ones, and of graphs."""
    return dataclasses.replace(
        instance,
        init=tuple(_slim_argument(each) for each in instance.init),
        call=tuple(_slim_argument(each) for each in instance.call),
        context=tuple((name, _slim(value)) for name, value in instance.context),
        expected=None if instance.expected is None else tuple(_slim(value) for value in instance.expected),
    )


def _slim_argument(argument: Argument) -> Argument:
    return dataclasses.replace(argument, value=_slim(argument.value))


def _slim(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value if value.data is None or integer_data(value) is not None else dataclasses.replace(value, data=None)
    if isinstance(value, list):
        return [_slim(item) for item in cast("list[Any]", value)]
    if isinstance(value, tuple):
        return tuple(_slim(item) for item in cast("tuple[Any, ...]", value))
    if isinstance(value, dict):
        return {key: _slim(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value
