"""The queries of commands and reports to a workspace. This module does not write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from opera.console import quoted
from opera.errors import UserError
from opera.store.campaigns import Campaign, Campaigns
from opera.store.corpus import OTHER_TESTS, Extraction
from opera.store.database import Workspace
from opera.untrusted import from_json


@dataclass(frozen=True)
class Matches:
    """The objects that begin with a prefix, each by its whole identity, at most a few of each kind."""

    findings: tuple[str, ...]
    tests: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True)
class NewestResult:
    """The outcome of an instance's newest test on a subject, by one route and input form."""

    library: str
    api: str
    compiler: str
    frontend: str
    route: str
    instance: str
    verdict: str
    exporter: str | None


def newest_results(workspace: Workspace, scope: Scope, library: str | None = None) -> Iterator[NewestResult]:
    """The newest result in *scope* of every instance, subject, route and input form, of one library where given."""
    columns = "library, api, compiler, frontend, route, instance, verdict, exporter"
    rows = workspace.database.execute(
        f"SELECT {columns} FROM (SELECT {columns}, row_number() OVER (PARTITION BY instance, compiler, frontend, route, form"
        " ORDER BY finished DESC, test) AS age FROM results JOIN instances ON id = instance"
        " WHERE (?1 IS NULL OR compiler = ?1) AND (?2 IS NULL OR frontend = ?2) AND (?3 IS NULL OR library = ?3) AND (?4 IS NULL OR"
        " test IN (SELECT test FROM campaign_tests WHERE substr(campaign, 1, length(?4)) = ?4))) WHERE age = 1",
        (scope.compiler, scope.frontend, library, scope.campaign),
    )
    return (NewestResult(*row) for row in rows)


def operators(workspace: Workspace) -> list[tuple[str, str, int]]:
    """Library, API and number of instances of each operator, in alphabetical order."""
    return workspace.database.execute("SELECT library, api, count(*) FROM instances GROUP BY library, api ORDER BY library, api").fetchall()


def drops(workspace: Workspace) -> list[tuple[str, str, int]]:
    """Library, API and number of the calls that the newest extractions dropped, noise apart."""
    return workspace.database.execute("SELECT library, api, sum(calls) FROM drops GROUP BY library, api ORDER BY library, api").fetchall()


def apis(workspace: Workspace) -> dict[str, str]:
    """The API of every instance by its hash."""
    return dict(workspace.database.execute("SELECT id, api FROM instances").fetchall())


def matching(workspace: Workspace, prefix: str, limit: int = 6) -> Matches:
    """Findings, tests and instances whose identity begins with *prefix*, hexadecimal digits."""

    def select(column: str, table: str) -> tuple[str, ...]:
        rows = workspace.database.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} >= ? AND {column} < ? ORDER BY 1 LIMIT ?", (prefix, prefix + "g", limit)
        )
        return tuple(row[0] for row in rows)

    findings = dict.fromkeys((*select("fingerprint", "results"), *select("finding", "reductions"), *select("id", "finding_ids")))
    return Matches(tuple(findings), select("test", "results"), select("id", "instances"))


def tests_of(workspace: Workspace, instance: str) -> list[str]:
    """The tests that were made of *instance* and have a result."""
    rows = workspace.database.execute("SELECT test FROM results WHERE instance = ? ORDER BY compiler, frontend, form, test", (instance,))
    return [row[0] for row in rows]


def campaigns_of(workspace: Workspace, test: str) -> list[str]:
    """The campaigns that contain *test*, the oldest first."""
    rows = workspace.database.execute(
        "SELECT id FROM campaigns WHERE EXISTS (SELECT 1 FROM campaign_tests WHERE campaign = id AND test = ?) ORDER BY started, id",
        (test,),
    )
    return [row[0] for row in rows]


def extractions(workspace: Workspace) -> list[Extraction]:
    """The newest extraction of each source, by library and name."""
    rows = workspace.database.execute(
        "SELECT library, source, version, calls, distinct_instances, operators, dropped, seconds FROM extractions ORDER BY library, source"
    )
    return [Extraction(*row[:6], dropped=from_json(row[6], dict[str, int]), seconds=row[7]) for row in rows]


def sources(workspace: Workspace, library: str | None) -> list[str]:
    """The sources of the instances of *library*, or of all libraries, in alphabetical order."""
    query = "SELECT DISTINCT source FROM occurrences JOIN instances ON id = instance WHERE ?1 IS NULL OR library = ?1 ORDER BY source"
    return [row[0] for row in workspace.database.execute(query, (library,))]


def sources_of(workspace: Workspace, instance: str) -> list[str]:
    """The sources that an instance comes from."""
    query = "SELECT DISTINCT source FROM occurrences WHERE instance = ? ORDER BY source"
    return [row[0] for row in workspace.database.execute(query, (instance,))]


def sources_by_instance(workspace: Workspace, library: str) -> dict[str, tuple[str, ...]]:
    """The sources of each instance of *library*."""
    query = "SELECT DISTINCT instance, source FROM occurrences JOIN instances ON id = instance WHERE library = ? ORDER BY source"
    found: dict[str, tuple[str, ...]] = {}
    for key, source in workspace.database.execute(query, (library,)):
        found[key] = (*found.get(key, ()), source)
    return found


def api_of(workspace: Workspace, instance: str) -> str:
    """The API of an instance; empty where the instance is gone."""
    row = workspace.database.execute("SELECT api FROM instances WHERE id = ?", (instance,)).fetchone()
    return "" if row is None else str(row[0])


def campaigns_of_failures(workspace: Workspace) -> list[tuple[str, str]]:
    """Test and campaign for every failing test of every campaign."""
    query = "SELECT c.test, c.campaign FROM campaign_tests c JOIN results r ON r.test = c.test WHERE r.fingerprint IS NOT NULL"
    return workspace.database.execute(query).fetchall()


class Neighbour(NamedTuple):
    """A recorded test of the operator of another one; *fingerprint* is None unless it fails."""

    test: str
    instance: str
    form: str
    verdict: str
    fingerprint: str | None


def neighbours(workspace: Workspace, test: str, api: str, most: int) -> list[Neighbour]:
    """Tests of the operator *api* in the campaigns of *test*, at most that many, in the order of their identities."""
    query = (
        "SELECT DISTINCT r.test, r.instance, r.form, r.verdict, r.fingerprint FROM campaign_tests c JOIN results r ON r.test = c.test"
        " JOIN instances i ON i.id = r.instance WHERE i.api = ?1 AND r.test <> ?2"
        " AND c.campaign IN (SELECT campaign FROM campaign_tests WHERE test = ?2) ORDER BY r.test LIMIT ?3"
    )
    return [Neighbour(*row) for row in workspace.database.execute(query, (api, test, most))]


@dataclass(frozen=True)
class Wanted:
    """Which instances a query is about; None does not restrict.

    Attributes:
        library, outcome: Library and outcome of the instance.
        source: That the instance comes from.
        test: A shell pattern of the test that the instance comes from.
        besides: Select only instances that also come from another source than this one.
    """

    library: str | None = None
    outcome: str | None = None
    source: str | None = None
    test: str | None = None
    besides: str | None = None


def chosen(workspace: Workspace, wanted: Wanted) -> list[tuple[str, str, str, str]]:
    """Hash, library, API and outcome of the wanted instances, by hash."""
    _bound_patterns(workspace)
    where, values = ["1"], list[str]()
    for column, value in (("library", wanted.library), ("outcome", wanted.outcome)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    seen = [("source = ?", wanted.source), ("test GLOB ?", wanted.test), ("source != ?", wanted.besides)]
    if given := [(condition, value) for condition, value in seen if value is not None]:
        conditions = " AND ".join(condition for condition, _ in given)
        where.append(f"EXISTS (SELECT 1 FROM occurrences WHERE instance = id AND {conditions})")
        values += [value for _, value in given]
    query = f"SELECT id, library, api, outcome FROM instances WHERE {' AND '.join(where)} ORDER BY id"
    return workspace.database.execute(query, values).fetchall()


@dataclass(frozen=True)
class ApiCount:
    """Distinct instances and shapes of an API; of one source of theirs where *source* is not empty."""

    library: str
    source: str
    api: str
    instances: int
    shapes: int


def counts(workspace: Workspace, wanted: Wanted, *, by_source: bool) -> list[ApiCount]:
    """The instances of each API, in all or by source, of a library, a source and a test."""
    _bound_patterns(workspace)
    if not by_source and wanted.source is None and wanted.test is None:
        query = (
            "SELECT library, '', api, count(*), count(DISTINCT shapes) FROM instances"
            " WHERE ?1 IS NULL OR library = ?1 GROUP BY library, api"
        )
        return [ApiCount(*row) for row in workspace.database.execute(query, (wanted.library,))]
    query = (
        f"SELECT library, {'source' if by_source else repr('')}, api, count(DISTINCT id), count(DISTINCT shapes)"
        " FROM occurrences JOIN instances ON id = instance"
        " WHERE (?1 IS NULL OR library = ?1) AND (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR test GLOB ?3) GROUP BY 1, 2, 3"
    )
    return [ApiCount(*row) for row in workspace.database.execute(query, (wanted.library, wanted.source, wanted.test))]


@dataclass(frozen=True)
class Occurred:
    """An instance in a test of a library."""

    instance: str
    library: str
    api: str
    source: str
    test: str
    calls: int


def occurrences(workspace: Workspace, wanted: Wanted) -> list[Occurred]:
    """Where the instances of a library, a source and a test occurred, by library, source, test and API."""
    _bound_patterns(workspace)
    query = (
        "SELECT id, library, api, source, test, calls FROM occurrences JOIN instances ON id = instance"
        " WHERE (?1 IS NULL OR library = ?1) AND (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR test GLOB ?3)"
        " ORDER BY library, source, test, api, id"
    )
    return [Occurred(*row) for row in workspace.database.execute(query, (wanted.library, wanted.source, wanted.test))]


def tests_by_source(workspace: Workspace, library: str) -> dict[str, int]:
    """How many tests of each source of *library* are known by name."""
    query = (
        "SELECT source, count(DISTINCT test) FROM occurrences JOIN instances ON id = instance"
        " WHERE library = ? AND test != ? GROUP BY source ORDER BY source"
    )
    return dict(workspace.database.execute(query, (library, OTHER_TESTS)))


def _bound_patterns(workspace: Workspace) -> None:
    """Lets GLOB in queries take a time that no pattern can blow up; SQLite's own is exponential in the asterisks."""

    def glob(pattern: str, name: str) -> bool:
        return fnmatchcase(name, pattern.replace("[^", "[!"))

    workspace.database.create_function("glob", 2, glob, deterministic=True)


@dataclass(frozen=True)
class Cost:
    """Seconds of workers that a campaign's tests took.

    Attributes:
        stages: Seconds by stage, the most expensive first.
        operators: API, seconds, number of tests; the most expensive first.
    """

    stages: dict[str, float]
    operators: list[tuple[str, float, int]]


def cost_of(workspace: Workspace, campaign: str, operators: int) -> Cost:
    """The cost of *campaign*, with its *operators* most expensive operators."""
    tests = "campaign_tests c JOIN results r ON r.test = c.test"
    stages = workspace.database.execute(
        f"SELECT j.key, sum(j.value) FROM {tests}, json_each(r.seconds) j WHERE c.campaign = ? GROUP BY 1 ORDER BY 2 DESC", (campaign,)
    ).fetchall()
    rows = workspace.database.execute(
        f"SELECT i.api, sum((SELECT sum(value) FROM json_each(r.seconds))), count(*) FROM {tests} JOIN instances i ON i.id = r.instance"
        " WHERE c.campaign = ? GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (campaign, operators),
    ).fetchall()
    return Cost(dict(stages), [(api, seconds or 0.0, count) for api, seconds, count in rows])


@dataclass(frozen=True)
class SlowTest:
    """A test and the seconds of workers that it took.

    Attributes:
        instance: Hash of its instance.
        api: What the instance calls.
        verdict: Verdict of the test.
        seconds: Seconds of all its stages.
        stage: Its most expensive stage.
        stage_seconds: Seconds of that stage.
    """

    instance: str
    api: str
    verdict: str
    seconds: float
    stage: str
    stage_seconds: float


def slowest_of(workspace: Workspace, campaign: str, count: int) -> list[SlowTest]:
    """The *count* tests of *campaign* that took longest, the slowest first."""
    rows = workspace.database.execute(
        "SELECT r.instance, i.api, r.verdict, (SELECT sum(value) FROM json_each(r.seconds)) AS total,"
        " (SELECT key FROM json_each(r.seconds) ORDER BY value DESC, key LIMIT 1), (SELECT max(value) FROM json_each(r.seconds))"
        " FROM campaign_tests c JOIN results r ON r.test = c.test JOIN instances i ON i.id = r.instance"
        " WHERE c.campaign = ? AND total IS NOT NULL ORDER BY total DESC, r.instance LIMIT ?",
        (campaign, count),
    ).fetchall()
    return [SlowTest(*row) for row in rows]


@dataclass(frozen=True)
class Scope:
    """The selected results; None does not restrict.

    Attributes:
        campaign: Prefix of an identity.
        compiler, frontend: The subject.
        newest: Whether to select only the newest campaign of each subject.
    """

    campaign: str | None = None
    compiler: str | None = None
    frontend: str | None = None
    newest: bool = False

    @property
    def options(self) -> str:
        """The same, as options of a command line."""
        named = (("campaign", self.campaign), ("compiler", self.compiler), ("frontend", self.frontend))
        return "".join(f" --{name} {quoted(value)}" for name, value in named if value is not None)


def campaigns_in(campaigns: Campaigns, scope: Scope) -> list[Campaign]:
    """The campaigns of *scope*, the oldest first; raises UserError where its prefix names none, or several."""
    found = [each for each in campaigns.all() if each.id.startswith(scope.campaign or "")]
    if scope.campaign is not None and len(found) != 1:
        among = found or campaigns.all()
        names = ", ".join(each.id for each in among[:8]) or "none"
        what = "several campaigns begin" if found else "no campaign begins"
        raise UserError(f"{what} with {scope.campaign!r}; choose one of: {names} (`opera ls` lists all campaigns)")
    chosen = [each for each in found if scope.compiler in (None, each.compiler) and scope.frontend in (None, each.frontend)]
    return list({(each.compiler, each.frontend): each for each in chosen}.values()) if scope.newest else chosen


def place_of(text: str) -> tuple[Path | None, Scope]:
    """The workspace and the campaigns that *text* names: `CAMPAIGN`, `WORKSPACE` or `WORKSPACE:CAMPAIGN`; None is the user's workspace."""
    folder, _, campaign = text.rpartition(":")
    if not folder and Path(text).is_dir():
        folder, campaign = text, ""
    return Path(folder) if folder else None, Scope(campaign or None)
