"""What a workspace holds: sources, operators and how unevenly instances fall on them, campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opera.errors import NothingSelected, UserError
from opera.report import queries
from opera.store import Campaign, Campaigns, Corpus, Workspace

_TOPS = (1, 5, 10)


@dataclass(frozen=True)
class Source:
    """What one source has given: *calls* seen by its newest extraction, None when it was imported; *dropped* of them."""

    library: str
    name: str
    instances: int
    operators: int
    calls: int | None
    dropped: int


@dataclass(frozen=True)
class Share:
    """The share of a library's instances, 0 to 1, that its *top* most frequent operators have."""

    top: int
    share: float


@dataclass(frozen=True)
class OperatorCount:
    """Distinct instances of an API."""

    api: str
    instances: int


@dataclass(frozen=True)
class Library:
    """The instances of a library. *operators* are all of them, the most frequent first."""

    name: str
    instances: int
    operators: tuple[OperatorCount, ...]
    skew: tuple[Share, ...]


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
    """Everything that a workspace holds."""

    libraries: tuple[Library, ...]
    sources: tuple[Source, ...]
    campaigns: tuple[Ran, ...]


def census(workspace: Workspace, library: str | None) -> Census:
    """Counts what *workspace* holds, of one library where given.

    Raises:
        UserError: there is no instance of *library*.
        NothingSelected: the workspace is empty.
    """
    names = Corpus(workspace).libraries()
    if library is not None and library not in names:
        raise UserError(f"no instance of {library!r}; {_there(names)}")
    chosen = names if library is None else [library]
    stored = Campaigns(workspace)
    ran = tuple(Ran(each, stored.verdicts(each.id)) for each in stored.all() if library in (None, each.frontend))
    if not chosen and not ran:
        raise NothingSelected("the workspace is empty; `opera extract --lib onnx` fills it")
    return Census(tuple(_library(workspace, name) for name in chosen), _sources(workspace, chosen), ran)


def _there(names: list[str]) -> str:
    return f"the workspace has {', '.join(names)}" if names else "the workspace is empty, `opera extract` fills it"


def _library(workspace: Workspace, name: str) -> Library:
    counts = queries.operator_counts(workspace, name)
    total = sum(count for _, count in counts)
    skew = tuple(Share(top, sum(count for _, count in counts[:top]) / total) for top in _TOPS)
    return Library(name, total, tuple(OperatorCount(*each) for each in counts), skew)


def _sources(workspace: Workspace, libraries: list[str]) -> tuple[Source, ...]:
    newest = {(each.library, each.source): each for each in queries.extractions(workspace)}
    sources: list[Source] = []
    for each in queries.source_counts(workspace):
        if each.library in libraries:
            extraction = newest.get((each.library, each.source))
            calls, dropped = (None, 0) if extraction is None else (extraction.calls, sum(extraction.dropped.values()))
            sources.append(Source(each.library, each.source, each.instances, each.operators, calls, dropped))
    return tuple(sources)
