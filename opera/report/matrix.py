"""The operator support table of each library: the outcome of every operator on every subject."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from opera.models.operators import FOLDER, operators_of
from opera.oracles.verdict import Verdict
from opera.store import Workspace, queries
from opera.store.queries import Scope


class Support(enum.Enum):
    """The outcome of an operator on a subject: the worst first, then those without a result."""

    CRASH = "crash"
    INCONSISTENT = "inconsistent"
    EXPORT = "export"
    """The exporter between library and compiler failed."""
    PARTLY = "partly"
    """Some instances pass, and the compiler declines the others. A cell has it, an instance does not."""
    PASS = "pass"
    UNSUPPORTED = "unsupported"
    FLAKY = "flaky"
    UNDEFINED = "undefined"
    INVALID = "invalid"
    UNTESTED = "untested"
    DROPPED = "dropped"
    """Extraction saw calls of the operator and recorded none of them."""

    @property
    def is_result(self) -> bool:
        """Whether it says something about the subject."""
        return self in _RESULTS

    @property
    def is_bad(self) -> bool:
        """Whether the compiler is wrong."""
        return self in (Support.CRASH, Support.INCONSISTENT)


_RESULTS = frozenset({Support.CRASH, Support.INCONSISTENT, Support.EXPORT, Support.PARTLY, Support.PASS, Support.UNSUPPORTED})
_KINDS: Mapping[Verdict, Support] = {
    Verdict.PASS: Support.PASS,
    Verdict.CRASH: Support.CRASH,
    Verdict.ABORT: Support.CRASH,
    Verdict.HANG: Support.CRASH,
    Verdict.OOM: Support.CRASH,
    Verdict.INCONSISTENT: Support.INCONSISTENT,
    Verdict.UNSUPPORTED: Support.UNSUPPORTED,
    Verdict.FLAKY: Support.FLAKY,
    Verdict.UNDEFINED: Support.UNDEFINED,
    Verdict.INVALID: Support.INVALID,
}
_ORDER = list(Support)


@dataclass(frozen=True)
class Cell:
    """One operator on one subject.

    Attributes:
        counts: Number of instances of each kind; of calls where extraction dropped them. An instance that was tested in several input
            forms counts by its worst.
    """

    counts: Mapping[Support, int]

    @property
    def instances(self) -> int:
        """Distinct instances with a result that says something about the subject."""
        return sum(count for kind, count in self.counts.items() if kind.is_result)

    @property
    def taken(self) -> int:
        """Those of them that the compiler gets and does not decline."""
        return self.instances - sum(self.counts.get(kind, 0) for kind in (Support.UNSUPPORTED, Support.EXPORT))

    @property
    def inconclusive(self) -> int:
        """Distinct instances that were tested and say nothing about the subject."""
        return sum(self.counts.get(kind, 0) for kind in (Support.FLAKY, Support.UNDEFINED, Support.INVALID))

    @property
    def passed(self) -> int:
        """Distinct instances that pass."""
        return self.counts.get(Support.PASS, 0)

    @property
    def support(self) -> Support:
        """The worst kind of all instances; one without a result only if no instance has another kind."""
        worst = next(kind for kind in Support if self.counts.get(kind))
        return Support.PARTLY if worst is Support.PASS and self.counts.get(Support.UNSUPPORTED) else worst


@dataclass(frozen=True)
class Column:
    """A subject by one route."""

    compiler: str
    frontend: str
    route: str

    @property
    def subject(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def name(self) -> str:
        """`compiler/frontend`, with the route where it is called otherwise than the frontend."""
        return self.subject + ("" if self.route == self.frontend else f" {self.route}")


@dataclass(frozen=True)
class Matrix:
    """All operators of a library by the subjects that ran its instances. Each pair has a cell."""

    library: str
    columns: tuple[Column, ...]
    operators: tuple[str, ...]
    cells: Mapping[tuple[str, Column], Cell]
    without_column: Mapping[str, Cell]
    """The cell of each operator that no subject has a test of."""

    def totals(self, column: Column) -> Mapping[Support, int]:
        """Number of operators of each kind on a subject."""
        found = Counter(self.cells[api, column].support for api in self.operators)
        return {kind: found[kind] for kind in Support if kind in found}

    def instances(self, column: Column) -> Cell:
        """All instances on a subject as one cell."""
        counts = Counter[Support]()
        for api in self.operators:
            counts.update(self.cells[api, column].counts)
        return Cell(counts)

    def state(self, api: str) -> Support:
        """The worst outcome of an operator on any subject."""
        kinds = [self.cells[api, column].support for column in self.columns] or [self.without_column[api].support]
        return min(kinds, key=_ORDER.index)

    def label(self, column: Column) -> str:
        """The name of *column*; the compiler alone where that tells it from the others."""
        alone = sum(each.compiler == column.compiler for each in self.columns) == 1
        return column.compiler if alone else column.name

    def only(self, wanted: Callable[[str], bool]) -> Matrix:
        """The same with those operators that are *wanted*."""
        return Matrix(self.library, self.columns, tuple(filter(wanted, self.operators)), self.cells, self.without_column)


def matrices(workspace: Workspace, wanted: Callable[[str], bool], scope: Scope | None = None, library: str | None = None) -> list[Matrix]:
    """The table of each library in *workspace*; where an instance was tested with several versions, the newest result counts.

    Args:
        workspace: Open.
        wanted: On the API of an operator.
        scope: Only these results.
        library: Only operators of this library.
    """
    worst: dict[str, dict[tuple[str, Column], dict[str, Support]]] = {}
    for row in queries.newest_results(workspace, scope or Scope(), library):
        verdict = Verdict(row.verdict)
        kind = Support.EXPORT if row.exporter is not None and verdict.is_failure else _KINDS[verdict]
        if wanted(row.api):
            place = row.api, Column(row.compiler, row.frontend, row.route)
            kinds = worst.setdefault(row.library, {}).setdefault(place, {})
            kinds[row.instance] = min(kind, kinds.get(row.instance, kind), key=_ORDER.index)
    known = _without_result(workspace, wanted, library)
    return [
        _matrix(name, {key: Cell(Counter(kinds.values())) for key, kinds in worst.get(name, {}).items()}, known[name]) for name in known
    ]


def _matrix(library: str, tested: Mapping[tuple[str, Column], Cell], known: Mapping[str, Cell]) -> Matrix:
    columns = sorted({column for _, column in tested}, key=lambda column: (column.frontend, column.compiler, column.route))
    cells = {(api, column): tested.get((api, column), cell) for api, cell in known.items() for column in columns}
    return Matrix(library, tuple(columns), tuple(sorted(known)), cells, known)


def _without_result(workspace: Workspace, wanted: Callable[[str], bool], library: str | None) -> dict[str, dict[str, Cell]]:
    """By library, the cell that each operator has where it was not tested."""
    known: dict[str, dict[str, Cell]] = {}
    for name, api, instances in _of(library, queries.operators(workspace)):
        if wanted(api):
            known.setdefault(name, {})[api] = Cell({Support.UNTESTED: instances})
    dropped = Counter[tuple[str, str]]()
    for name, api, calls in _of(library, queries.drops(workspace)):
        if wanted(api) and api not in known.get(name, {}) and _is_operator(name, api):
            dropped[name, api] += calls
    for (name, api), calls in dropped.items():
        known.setdefault(name, {})[api] = Cell({Support.DROPPED: calls})
    return dict(sorted(known.items()))


def _of(library: str | None, rows: Iterable[tuple[str, str, int]]) -> Iterable[tuple[str, str, int]]:
    return (row for row in rows if library in (None, row[0]))


def _is_operator(library: str, api: str) -> bool:
    """Whether an instance may call it; the library of a plug-in has no list."""
    return not (FOLDER / f"{library}.toml").is_file() or operators_of(library).objection(api) is None
