"""The content of a workspace: sources, operators and the distribution of their instances, campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opera.corpus.selection import Selection, check, selector
from opera.errors import NothingSelected
from opera.store import Campaign, Campaigns, Corpus, Workspace, queries

_TOPS = (1, 5, 10)


@dataclass(frozen=True)
class SourceCensus:
    """The counts of one source: *calls* seen by its newest extraction, None for an import; *dropped* of them.

    *shapes* counts instances that differ in more than dtypes and tensor values.
    """

    library: str
    name: str
    instances: int
    shapes: int
    operators: int
    calls: int | None
    dropped: int


@dataclass(frozen=True)
class TopShare:
    """The share of a library's instances, 0 to 1, that its *top* most frequent operators have."""

    top: int
    share: float


@dataclass(frozen=True)
class OperatorCount:
    """Distinct instances of an API, and those of them that differ in more than dtypes and tensor values."""

    api: str
    instances: int
    shapes: int


@dataclass(frozen=True)
class LibraryCensus:
    """The instances of a library. *operators* are all of them, the most frequent first."""

    name: str
    instances: int
    shapes: int
    operators: tuple[OperatorCount, ...]
    skew: tuple[TopShare, ...]


@dataclass(frozen=True)
class Ran:
    """A campaign and the verdicts of its tests."""

    campaign: Campaign
    verdicts: Mapping[str, int]

    @property
    def tests(self) -> int:
        """Number of tests with a result."""
        return sum(self.verdicts.values())


@dataclass(frozen=True)
class Census:
    """The content of a workspace. *seen* is filled only if the command selects tests."""

    libraries: tuple[LibraryCensus, ...]
    sources: tuple[SourceCensus, ...]
    seen: tuple[queries.Occurred, ...]
    campaigns: tuple[Ran, ...]


def census(workspace: Workspace, selection: Selection) -> Census:
    """Counts what *workspace* holds of what is selected by library, source, keyword and test.

    Raises:
        UserError: there is no such library or source.
        NothingSelected: the workspace is empty, or nothing of it is selected.
    """
    check(workspace, selection.library, selection.source)
    stored = Campaigns(workspace)
    ran = tuple(Ran(each, stored.verdicts(each.id)) for each in stored.all() if selection.library in (None, each.library))
    if not Corpus(workspace).libraries() and not ran:
        raise NothingSelected("the workspace is empty; run e.g. `opera extract --lib onnx`")
    libraries = tuple(_libraries(workspace, selection))
    if not libraries and set(selection.document()) - {"library"}:
        raise NothingSelected(
            "no instance is selected; `opera ls --operators` lists the operators, and `opera show ID` the tests of an instance"
        )
    seen = () if selection.test is None else _seen(workspace, selection)
    return Census(libraries, tuple(_sources(workspace, selection)), seen, ran)


def _libraries(workspace: Workspace, selection: Selection) -> Iterable[LibraryCensus]:
    wanted = selector(selection.keyword)
    counts: dict[str, list[OperatorCount]] = {}
    for each in queries.counts(workspace, selection.wanted(), by_source=False):
        if wanted(each.api):
            counts.setdefault(each.library, []).append(OperatorCount(each.api, each.instances, each.shapes))
    for name, operators in sorted(counts.items()):
        operators.sort(key=lambda each: (-each.instances, each.api))
        total = sum(each.instances for each in operators)
        skew = tuple(TopShare(top, sum(each.instances for each in operators[:top]) / total) for top in _TOPS)
        yield LibraryCensus(name, total, sum(each.shapes for each in operators), tuple(operators), skew)


def _sources(workspace: Workspace, selection: Selection) -> Iterable[SourceCensus]:
    newest = {(each.library, each.source): each for each in queries.extractions(workspace)}
    wanted = selector(selection.keyword)
    counts: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for each in queries.counts(workspace, selection.wanted(), by_source=True):
        if wanted(each.api):
            counts.setdefault((each.library, each.source), []).append((each.instances, each.shapes))
    for (library, source), rows in sorted(counts.items()):
        extraction = newest.get((library, source))
        calls, dropped = (None, 0) if extraction is None else (extraction.calls, sum(extraction.dropped.values()))
        yield SourceCensus(library, source, sum(row[0] for row in rows), sum(row[1] for row in rows), len(rows), calls, dropped)


def _seen(workspace: Workspace, selection: Selection) -> tuple[queries.Occurred, ...]:
    wanted = selector(selection.keyword)
    return tuple(each for each in queries.occurrences(workspace, selection.wanted()) if wanted(each.api))
