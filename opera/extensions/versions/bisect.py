"""`opera bisect`: since which version of its compiler a failure is there, and which version mends it."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from opera.atomic import replacing
from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, OutputFile, common
from opera.cli.reproduce import cases_of
from opera.compilers.registry import known_adapter
from opera.config import Config, load_config
from opera.console import STDOUT, check_outputs, doing, echo, one_line, plural, print_json, print_table, print_text, say
from opera.corpus.selection import selector
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.environments.inventory import inventory, wanted
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.extensions.environments.build import EnvironmentFolder, made_at
from opera.extensions.environments.releases import compilers, in_order
from opera.extensions.findings.recorded import Row, Table, tables
from opera.extensions.versions.search import Answer, Outcome, Search, State
from opera.extensions.versions.steps import EngineStep, ScriptStep
from opera.instance import decode_instance
from opera.oracles.verdict import Verdict
from opera.report.details import campaigns_of, titles_in
from opera.report.overview import overview, with_known
from opera.report.reproducer import run_script
from opera.report.words import inline
from opera.store import Workspace
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.supervision import working_folder

SCHEMA = "bisect/1"
_ID = re.compile(r"[0-9a-fA-F]{1,64}")
_SAID = 200


@dataclass
class Bisected:
    """A failure, and what is known of its versions.

    Attributes:
        name: A finding's id, or subject and name of a recorded one.
        compiler: Its compiler.
        search: The versions that were tried, with their outcomes.
        step: How one version is tried.
        settings: The settings of the workers; None for a script.
        title: What fails, for a person.
    """

    name: str
    compiler: str
    search: Search
    step: EngineStep | ScriptStep
    settings: Settings | None = None
    title: str = ""

    @property
    def answer(self) -> Answer:
        """What the outcomes say so far."""
        return self.search.answer


@dataclass(frozen=True)
class Versions:
    """The versions of one compiler that are set up here, the oldest first.

    Attributes:
        compiler: Its name.
        config: The settings without a version.
        names: Names of the versions; one of them may be what the compiler's usual environment has.
        usual: That one; None if it cannot be told.
    """

    compiler: str
    config: Config
    names: tuple[str, ...]
    usual: str | None = None

    @staticmethod
    def of(compiler: str, config: Config, chosen: Sequence[str] = ()) -> Versions:
        """The versions of *compiler*, or those that are *chosen*, in their order.

        Raises:
            UserError: fewer than two are here, or a chosen one is not.
        """
        named = [version for each, version in config.versions if each == compiler]
        usual = _installed(compiler, config)
        known = list(dict.fromkeys([*named, *([usual] if usual else [])]))
        missing = next((each for each in chosen if each not in known), None)
        if missing is not None:
            config.at(compiler, missing)
        pythons = {
            version: entries["python"].value
            for (each, version), entries in config.versions.items()
            if each == compiler and "python" in entries
        }
        made = {version: made_at(EnvironmentFolder(version, Path(python).parent.parent)) for version, python in pythons.items()}
        names = list(chosen) or in_order(known, made)
        if len(names) < 2:
            raise UserError(f"{plural(len(names), 'version')} of {compiler} is here; `opera env create {compiler}==VERSION ...` makes more")
        return Versions(compiler, config, tuple(names), None if usual in named else usual)

    def at(self, version: str) -> Config:
        """The settings of a version."""
        return self.config if version == self.usual else self.config.at(self.compiler, version)


def _installed(compiler: str, config: Config) -> str | None:
    """The version in the usual environment of *compiler*; None if it is not installed, or is a build of one's own."""
    adapter, exporter = known_adapter(compiler), compilers().get(compiler)
    if (adapter is None and exporter is None) or config.search_first(compiler):
        return None
    try:
        held = inventory(config.python("compiler", compiler))
    except EnvironmentBroken:
        return None
    package = re.match(
        r"[\w.-]+", exporter.package if adapter is None and exporter else wanted(adapter.packages if adapter else (), held)[0]
    )
    found = held.find(package[0]) if package else None
    return None if found is None else found.version


@click.command("bisect", cls=HeadedCommand)
@click.argument("targets", nargs=-1, metavar="FINDING|FILE...")
@click.option(
    "--new", is_flag=True, help="Take the new findings of the newest campaign of each subject, as `opera report --new` lists them."
)
@click.option("--versions", "chosen", metavar="V,...", help="Try these versions, in this order; by default all of opera.toml, by age.")
@click.option("--every", is_flag=True, help="Try every version, also where a step takes longer than five seconds.")
@click.option("--compiler", type=COMPILER, metavar="NAME", help="The compiler of a script that no table names.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--markdown", type=OutputFile(), help="Write the answers as Markdown; - is standard output.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel scripts.")
@common
def command(
    targets: tuple[str, ...],
    new: bool,
    chosen: str | None,
    every: bool,
    compiler: str | None,
    keyword: str | None,
    markdown: Path | None,
    jobs: int,
    workspace: Path,
    as_json: bool,
) -> int:
    """Say since which version of a compiler a failure is there, and which version mends it.

    FINDING is an id of `opera report`, whose reduced instance runs on each version as in a campaign. FILE is a script, a table of scripts,
    or a folder of tables, as data/findings: scripts run as by `opera verify`. `opera env create NAME==VERSION ...` makes the versions.
    """
    selector(keyword)
    config = load_config()
    names = () if chosen is None else tuple(each.strip() for each in chosen.split(",") if each.strip())
    check_outputs(as_json, markdown)
    if bool(targets) == new:
        raise UserError("name findings or files, or else give --new")
    found = list[Bisected]()
    if new:
        with open_workspace(workspace, write=False) as space:
            recent = with_known(overview(space, Scope(newest=True)), None, space).new_findings
            found = [_campaigned(space, each.id, config, names) for each in recent if any(map(selector(keyword), each.operators))]
    for target in targets:
        if Path(target).exists():
            found += _recorded(Path(target), compiler, keyword, config, names)
        elif _ID.fullmatch(target):
            with open_workspace(workspace, write=False) as space:
                found.append(_campaigned(space, target, config, names))
        else:
            raise UserError(f"{one_line(target, 80)!r} is neither a finding of the workspace nor a file")
    if not found:
        raise NothingSelected("no finding is selected")
    for each in found:
        each.search.every = True if every else None
    try:
        with working_folder("bisect") as scratch:
            _search(found, config, names, jobs, scratch)
    finally:  # an interruption leaves what is known
        if markdown is not None:
            _write(markdown, found)
        if as_json:
            print_json(_document(found))
        elif markdown != STDOUT:
            _print(found)
    ran = any(outcome.state is not State.UNRUNNABLE for each in found for outcome in each.search.outcomes.values())
    return Exit.CLEAN if ran else Exit.BROKEN_ENVIRONMENT


def _campaigned(space: Workspace, identity: str, config: Config, names: Sequence[str]) -> Bisected:
    """A finding or failing test of the workspace; its reduced instance, if it has one."""
    name, cases = cases_of(space, identity)
    case = cases[0]
    result = case.result
    instance = decode_instance(dict(case.document), space.get_blob)
    campaigns = campaigns_of(space, result.test)
    known: Mapping[str, Any] = campaigns[-1].settings if campaigns else {}
    settings = Settings(result.compiler, result.frontend, result.route, level=known.get("level"), chebyshev=known.get("chebyshev"))
    step = EngineStep(TestCase(instance, result.form, case.key, result.seed), result.symptom)
    title = titles_in(space).get(result.test, "")
    return Bisected(name[:16], result.compiler, Search(Versions.of(result.compiler, config, names).names), step, settings, title)


def _recorded(path: Path, compiler: str | None, keyword: str | None, config: Config, names: Sequence[str]) -> Iterator[Bisected]:
    """The findings that *path* names: one script, the rows of a table, or all tables of a folder."""
    of_api, path = selector(keyword), path.absolute()
    folder = path if path.is_dir() else path.parent.parent if path.suffix == ".py" else path.parent
    table = path.parent.with_name(f"{path.parent.name}.toml") if path.suffix == ".py" else path
    chosen = [
        (each, row)
        for each in (tables(folder) if table.exists() and (path.suffix != ".py" or "-" in table.stem) else ())
        if path.is_dir() or f"{each.compiler}-{each.frontend}" == table.stem
        for row in each.finding
        if path.suffix != ".py" or row.name == path.stem
    ]
    if path.suffix == ".py" and not chosen:
        yield _unlisted(path, compiler, config, names)
    few = dict[str, str]()
    for each, row in chosen:
        if path.is_dir() and not names and each.compiler not in few:
            few[each.compiler] = _too_few(each.compiler, config, names)
            say(few[each.compiler]) if few[each.compiler] and compiler in (None, each.compiler) else None
        if not few.get(each.compiler) and compiler in (None, each.compiler) and any(map(of_api, row.operators)):
            yield _of_script(folder / f"{each.compiler}-{each.frontend}" / f"{row.name}.py", each, row, config, names)


def _too_few(compiler: str, config: Config, names: Sequence[str]) -> str:
    """Why the findings of a compiler are left out of those of a folder; empty if nothing is wrong."""
    try:
        Versions.of(compiler, config, names)
    except UserError as error:
        return f"findings of {compiler} are left out: {error}"
    return ""


def _of_script(script: Path, table: Table, row: Row, config: Config, names: Sequence[str]) -> Bisected:
    versions = Versions.of(table.compiler, config, names)
    step = ScriptStep(script, row, table.compiler, versions.at, config)
    title = f"{', '.join(row.operators)}: {row.summary}"
    return Bisected(f"{table.compiler}-{table.frontend}/{row.name}", table.compiler, Search(versions.names), step, None, title)


def _unlisted(script: Path, compiler: str | None, config: Config, names: Sequence[str]) -> Bisected:
    """A script of which no table says how it fails: it fails as it does in the usual environment."""
    if compiler is None:
        raise UserError(f"no table has a row for {script}; name its compiler with --compiler")
    ended, output = run_script(script, config, compiler)
    if ended == 0:
        raise UserError(f"{script} ends without a failure in the usual environment of {compiler}, so nothing says what to look for")
    if not isinstance(ended, int):
        verdict, said = ended
    else:
        said = next((line for line in reversed(output.splitlines()) if line.strip()), "")
        verdict = Verdict.ABORT if ended < 0 else Verdict.INCONSISTENT if "AssertionError" in output else Verdict.CRASH
    row = Row(script.stem, verdict, said if verdict is Verdict.CRASH else "", ())
    return _of_script(script, Table(compiler, ""), row, config, names)


def _search(found: Sequence[Bisected], config: Config, names: Sequence[str], jobs: int, scratch: Path) -> None:
    """Tries versions until each search is at its end."""
    scripts = [each for each in found if each.settings is None]
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for number, _ in enumerate(pool.map(lambda each: _by_script(each, stop), scripts), 1):
                doing(f"{number:,} of {plural(len(scripts), 'script')}")
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    groups: dict[Settings, list[Bisected]] = defaultdict(list)
    for each in found:
        if each.settings is not None:
            groups[each.settings].append(each)
    for settings, group in groups.items():
        _by_engine(settings, group, Versions.of(settings.compiler, config, names), scratch)


def _by_script(each: Bisected, stop: threading.Event) -> None:
    """Tries versions until the search is at its end, then both sides of each change once more."""
    assert isinstance(each.step, ScriptStep)
    while (wanted := each.search.wanted()) and not stop.is_set():
        each.search.outcomes[wanted[0]] = each.step.run(wanted[0])
    sure = set[str]()
    while (doubtful := _sides(each.answer) - sure) and not stop.is_set():
        version = min(doubtful, key=each.search.versions.index)
        sure.add(version)
        seen, again = each.search.outcomes[version], each.step.run(version, again=True)
        if again.state is not seen.state:
            said = f"contradicts itself: {seen.state.value}, then {again.state.value}"
            each.search.outcomes[version] = Outcome(State.UNRUNNABLE, said, seen.seconds)


def _sides(answer: Answer) -> set[str]:
    """The versions on both sides of each change."""
    return {version for change in answer.changes if change.last is not None for version in (change.last, change.first)}


def _by_engine(settings: Settings, group: Sequence[Bisected], versions: Versions, scratch: Path) -> None:
    """Starts the workers of the version that most searches want, and tries it for these, until none wants any."""
    while wanted := Counter(version for each in group for version in each.search.wanted()):
        version = wanted.most_common(1)[0][0]
        doing(f"{settings.subject} {version}: {plural(wanted[version], 'test')}")
        asking = [each for each in group if version in each.search.wanted()]
        try:
            with TestRunner(settings, versions.at(version), scratch) as runner:
                for each in asking:
                    assert isinstance(each.step, EngineStep)
                    each.search.outcomes[version] = each.step.run(runner)
        except EnvironmentBroken as error:
            for each in asking:
                each.search.outcomes.setdefault(version, Outcome(State.UNRUNNABLE, str(error)))


def _document(found: Sequence[Bisected]) -> JsonObject:
    return {"schema": SCHEMA, "findings": [_entry(each) for each in found]}


def _entry(each: Bisected) -> JsonObject:
    answer = each.answer
    return {
        "name": each.name,
        "compiler": each.compiler,
        "answer": answer.text,
        "runs": answer.runs,
        "changes": [{"state": change.state.value, "last": change.last, "first": change.first} for change in answer.changes],
        "outcomes": [
            {"version": version, "state": outcome.state.value, "said": one_line(outcome.said, _SAID), "seconds": round(outcome.seconds, 2)}
            for version, outcome in answer.tried
        ],
    }


def _write(path: Path, found: Sequence[Bisected]) -> None:
    """The answers as a table of Markdown."""
    rows = [f"| {each.name} | {inline(one_line(each.title, _SAID))} | {each.answer.text} |" for each in found]
    text = "\n".join(["| finding | what fails | versions |", "|---|---|---|", *rows]) + "\n"
    if path == STDOUT:
        print_text(text)
    else:
        with replacing(path) as file:
            file.write(text.encode())


def _print(found: Sequence[Bisected]) -> None:
    if len(found) == 1:
        _print_one(found[0])
        return
    print_table(["finding", "answer"], [[each.name, each.answer.text] for each in found])
    oldest = sum(any(change.last is None and change.state is State.BAD for change in each.answer.changes) for each in found)
    later = sum(any(change.last is not None and change.state is State.BAD for change in each.answer.changes) for each in found)
    mended = sum(any(change.state is State.GOOD for change in each.answer.changes[-1:]) for each in found)
    say(
        f"{plural(len(found), 'finding')}: {oldest} in the oldest version that runs, {later} since a later one, {mended} good in the newest"
    )


def _print_one(each: Bisected) -> None:
    known = compilers().get(each.compiler)
    rows = list[list[str]]()
    for version, outcome in each.answer.tried:
        release = known.find(version) if known else None
        rows.append([version, str(release.date) if release else "", outcome.state.value, one_line(outcome.said, _SAID)])
    print_table(["version", "date", "outcome", "message"], rows)
    echo(f"{each.name}: {each.answer.text}")
