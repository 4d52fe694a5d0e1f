"""The operator support table: the outcome of every operator on every subject."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from opera.oracles.verdict import Verdict
from opera.store import Workspace, queries


class Support(enum.Enum):
    """The outcome of an operator on a subject, the worst first."""

    CRASH = "crash"
    INCONSISTENT = "inconsistent"
    EXPORT = "export"
    """The exporter between library and compiler failed."""
    PASS = "pass"
    UNSUPPORTED = "unsupported"


_KINDS: Mapping[Verdict, Support] = {
    Verdict.PASS: Support.PASS,
    Verdict.CRASH: Support.CRASH,
    Verdict.ABORT: Support.CRASH,
    Verdict.HANG: Support.CRASH,
    Verdict.OOM: Support.CRASH,
    Verdict.INCONSISTENT: Support.INCONSISTENT,
    Verdict.UNSUPPORTED: Support.UNSUPPORTED,
}
"""Verdicts that say something of a subject; the others say that nothing could be learned."""


@dataclass(frozen=True)
class Cell:
    """One operator on one subject.

    Attributes:
        instances: Distinct instances that were tested and have a verdict that says something of the subject.
        counts: Number of instances of each kind. An instance that was tested in several input forms counts by its worst.
    """

    instances: int
    counts: Mapping[Support, int]

    @property
    def support(self) -> Support:
        """The worst kind of all instances; unsupported only if no instance has another kind."""
        return next(kind for kind in Support if self.counts.get(kind))

    def share(self, kind: Support) -> float:
        """The share of the instances with *kind*, between 0 and 1."""
        return self.counts.get(kind, 0) / self.instances


@dataclass(frozen=True)
class Column:
    """A subject by one route."""

    compiler: str
    frontend: str
    route: str

    @property
    def name(self) -> str:
        """`compiler/frontend`, with the route where it is called otherwise than the frontend."""
        return f"{self.compiler}/{self.frontend}" + ("" if self.route == self.frontend else f" {self.route}")


@dataclass(frozen=True)
class Matrix:
    """Operators by subjects. A pair without a cell was not tested."""

    columns: tuple[Column, ...]
    operators: tuple[str, ...]
    cells: Mapping[tuple[str, Column], Cell]

    def totals(self, column: Column) -> Mapping[Support, int]:
        """Number of operators of each kind on a subject."""
        supports = [cell.support for (_, each), cell in self.cells.items() if each == column]
        return {kind: supports.count(kind) for kind in Support if kind in supports}


def matrix(workspace: Workspace, wanted: Callable[[str], bool], compiler: str | None = None, library: str | None = None) -> Matrix:
    """The table of everything in *workspace*; where an instance was tested with several versions, the newest result counts.

    Args:
        workspace: Open.
        wanted: On the API of an operator.
        compiler: Only this one's subjects.
        library: Only operators of this library.
    """
    worst: dict[tuple[str, Column], dict[str, Support]] = {}
    for row in queries.newest_results(workspace, compiler, library):
        kind = Support.EXPORT if row.exporter is not None and Verdict(row.verdict).is_failure else _KINDS.get(Verdict(row.verdict))
        if not wanted(row.api) or kind is None:
            continue
        kinds = worst.setdefault((row.api, Column(row.compiler, row.frontend, row.route)), {})
        kinds[row.instance] = min(kind, kinds.get(row.instance, kind), key=list(Support).index)
    cells = {key: Cell(len(kinds), Counter(kinds.values())) for key, kinds in worst.items()}
    columns = sorted({column for _, column in cells}, key=lambda column: (column.frontend, column.compiler, column.route))
    return Matrix(tuple(columns), tuple(sorted({api for api, _ in cells})), cells)
