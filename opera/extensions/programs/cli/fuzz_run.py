"""`opera fuzz run`: generates programs, tests compilers with them, and reduces what fails."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.options import JOBS, Count, Duration, common
from opera.cli.triage import tell_untried
from opera.compilers.adapter import Route
from opera.compilers.registry import known_adapter, plugin, plugins
from opera.console import doing, echo, one_line, option, plural, print_json, say
from opera.difftest.settings import Settings
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.extensions.programs.batch import OtherPrograms, generate_file
from opera.extensions.programs.cli.policies import LANGUAGE, coverage_of, policy_named, recorded
from opera.extensions.programs.instances import ILL_TYPED
from opera.extensions.programs.known_calls import known_calls
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.probing import declined_calls, probes_of
from opera.oracles.verdict import Verdict
from opera.pipeline import Pipeline
from opera.report.terminal import print_finding
from opera.run.campaign import Summary
from opera.run.progress import CampaignProgress, clock
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.triage.runner import TriageOptions, Untried
from opera.workers.cores import usable_cores
from opera.workers.folders import own_folder

SCHEMA = "fuzz-run/1"
_FILE = "fuzz-{name}-{seed}.jsonl"
_KEYWORD = "program"
_PROBED = 0.1
"""Share of the budget that may go into each round of probes."""
_PROBE_SECONDS = 20.0
"""Time limit of each stage of a probe."""
_SPENT = "the budget is spent"


@dataclass(frozen=True)
class _Subject:
    """A route to test: one that compares nothing takes all programs."""

    compiler: str
    route: Route
    chosen: bool
    level: str | None = None

    @property
    def name(self) -> str:
        return f"{self.compiler}/{self.route.frontend}:{self.route.name}" + ("" if self.level is None else f" at {self.level}")


@click.command("run", cls=HeadedCommand)
@click.option("--policy", default="general", show_default=True, metavar="NAME|FILE", help="A shipped policy, or a TOML or JSON file.")
@LANGUAGE
@click.option("--count", "-n", type=Count(most=100_000_000), default=1000, show_default=True, metavar="N", help="Test N programs.")
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="COMPILER[:ROUTE]",
    help="Test this compiler, or one of its routes; by default every compiler that works here and takes the policy's language.",
)
@click.option("--skip-known", is_flag=True, help="Draw no call that a finding of these compilers in the workspace explains alone.")
@click.option("--all-levels", is_flag=True, help="Also test each compiler at each other of its optimisation levels.")
@click.option("--builds", type=Count(), metavar="N", help="Compile at most N programs with each subject, in ranked order; by default all.")
@click.option("--budget", type=Duration(), help="Stop testing after this time, e.g. 30m; by default, after the last program.")
@click.option("--timeout", type=Duration(), default=60.0, show_default="60s", help="Time limit of each stage of a test.")
@click.option("--triage/--no-triage", default=True, show_default=True, help="Reduce what fails, and group it by cause.")
@click.option(
    "--causes",
    type=Count(),
    default=16,
    show_default=True,
    metavar="N",
    help="Look for at most N triggers of one symptom, such as a wrong result.",
)
@click.option("-j", "--jobs", type=JOBS, default=usable_cores, show_default="the cores", metavar="N", help="Number of parallel processes.")
@common
def command(
    policy: str,
    language: str | None,
    count: int,
    subjects: tuple[str, ...],
    skip_known: bool,
    all_levels: bool,
    builds: int | None,
    budget: float | None,
    timeout: float,
    triage: bool,
    causes: int,
    jobs: int,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Test compilers with generated programs, and reduce what fails.

    The short form of `opera fuzz generate --record`, `opera run` for each subject, and `opera triage`. Oracles that compile nothing, such
    as round trips, test all programs; --builds limits those that compile. The same command, typed again, continues an interrupted one.
    Exit with 1 when there are new findings.
    """
    chosen = policy_named(policy, language)
    began = time.monotonic()
    routes = _subjects(chosen, subjects)
    if all_levels:
        routes = [each for route in routes for each in (route, *_at_other_levels(route))]
    name = Path(policy).stem + (f"-{language}" if language else "")
    known = _known(workspace, routes, chosen.language) if skip_known else ()
    if known:
        say(f"not drawn, because they are known to fail: {one_line(', '.join(known), 300)}")
    workspace.mkdir(parents=True, exist_ok=True)
    declined = _declined(chosen, routes, count, workspace, seed, budget, jobs)
    if declined:
        say(f"not drawn, because no subject takes them: {one_line(', '.join(declined), 300)}")
    if known or declined:
        chosen = replace(chosen, without=tuple(dict.fromkeys((*chosen.without, *known, *declined))))
        name += f"-without-{hashlib.sha256(repr((known, declined)).encode()).hexdigest()[:8]}"
    until = "without a time limit" if budget is None else f"for at most {clock(budget)}"
    say(f"{plural(count, 'program')} of the policy {name}, {until}, on {', '.join(each.name for each in routes)}")
    file = workspace / _FILE.format(name=name, seed=seed)
    try:
        counts = generate_file(chosen, seed, count, file, jobs, lambda done: doing(f"{done:,} of {count:,} programs"))
    except OtherPrograms as error:
        raise UserError(f"{one_line(str(error), 300)}; remove it, or choose another --seed") from error
    except OSError as error:
        raise UserError(f"{one_line(str(file))} cannot be written: {error.strerror or error}") from error
    say(f"{plural(count, 'program')}, {recorded(file, chosen.language, workspace):,} of them new in the workspace")
    if chosen.cover and counts.programs:
        say(coverage_of(chosen, counts))
    runs: dict[str, Summary] = {}
    left_out: dict[str, str] = {}
    for index, each in enumerate(routes):
        seconds = None if budget is None else (budget - (time.monotonic() - began)) / (len(routes) - index)
        if seconds is not None and seconds <= 0:
            left_out[each.name] = _SPENT
            continue
        say(f"{index + 1} of {len(routes)}: {each.name}")
        try:
            runs[each.name] = _run(each, workspace, seed, seconds, jobs, timeout, builds)
        except (EnvironmentBroken, NothingSelected) as error:
            if each.chosen:
                raise
            left_out[each.name] = str(error)
            continue
        if runs[each.name].stopped_by == "interrupt":
            raise KeyboardInterrupt
    if not runs and set(left_out.values()) == {_SPENT}:
        raise NothingSelected("the budget was spent before a test ran; raise --budget, or ask for fewer programs")
    if not runs:
        raise EnvironmentBroken(f"no subject could be tested ({one_line('; '.join(left_out.values()), 300)}); run `opera doctor`")
    untried: list[Untried] = []
    if triage and any(each.findings for each in runs.values()):
        for compiler in dict.fromkeys(each.compiler for each in routes if each.name in runs):
            say(f"triage of what {compiler} fails")
            tally = Pipeline(workspace).triage(TriageOptions(compiler, chosen.language, causes=causes, jobs=jobs))
            untried += tally.untried
            for problem in tally.problems:
                say(f"not triaged: {one_line(problem, 300)}")
    _print(runs, left_out, untried, workspace, as_json)
    tell_untried(untried, causes, option(workspace))
    if all(each.is_silent for each in runs.values()):
        raise NothingSelected(f"no program passed or failed on any subject; `opera report{option(workspace)}` has the reasons")
    return Exit.NEW_FINDINGS if any(each.new_findings for each in runs.values()) else Exit.CLEAN


def _known(workspace: Path, routes: Sequence[_Subject], language: str) -> tuple[str, ...]:
    """The calls that are known to fail on a compiler of *routes*; none in a workspace that is not there yet."""
    if not workspace.exists():
        return ()
    with open_workspace(workspace, write=True) as space:
        return known_calls(space, {each.compiler for each in routes}, language)


def _declined(
    policy: Policy, routes: Sequence[_Subject], count: int, workspace: Path, seed: int, budget: float | None, jobs: int
) -> tuple[str, ...]:
    """The calls that none of *routes* takes, sorted; asked only where more programs than probes are to run."""
    asked = [each for each in routes if each.route.compares and not each.route.rejects and each.level is None]
    probes = probes_of(policy) if asked and policy.ill_typed < 1 else {}
    if count <= len(probes):
        return ()
    left = set(probes)
    for each in asked:
        doing(f"{plural(len(probes), 'call')} on {each.name}")

        def run(folder: Path, subject: _Subject = each) -> Summary:
            seconds = None if budget is None else budget * _PROBED / len(asked)
            return _run(subject, folder, seed, seconds, jobs, _PROBE_SECONDS, None)

        try:
            left &= declined_calls(probes, own_folder(workspace / "probes") / policy.language, run)
        except (EnvironmentBroken, NothingSelected):  # the run itself says so
            continue
    return tuple(sorted(left)) if left < set(probes) else ()


def _run(each: _Subject, workspace: Path, seed: int, budget: float | None, jobs: int, timeout: float, builds: int | None) -> Summary:
    settings = Settings(
        each.compiler,
        each.route.frontend,
        each.route.name,
        seed=seed,
        keyword=ILL_TYPED if each.route.rejects else _KEYWORD,
        limit=builds if each.route.compares else None,
        budget=budget,
        jobs=jobs,
        timeout=timeout,
        level=each.level,
    )
    return Pipeline(workspace).run(settings, progress=CampaignProgress(each.name, str(workspace), quiet=True))


def _subjects(policy: Policy, names: Sequence[str]) -> list[_Subject]:
    """The routes to test, those that compile nothing first; those for ill-typed programs only if the policy draws such ones.

    Raises:
        UserError: a name is that of no compiler, or of no route for the language.
    """
    found = [each for name in names for each in _named(name, policy.language)] or list(_all(policy.language))
    drawn = [each for each in found if (policy.ill_typed > 0 if each.route.rejects else policy.ill_typed < 1)]
    if not drawn:
        raise UserError(f"the policy has 'ill_typed' = {policy.ill_typed:g}, and these subjects test other programs")
    return sorted(drawn, key=lambda each: each.route.compares)


def _at_other_levels(each: _Subject) -> Iterator[_Subject]:
    """*each* at the optimisation levels that are not the default; what is not optimised has none."""
    levels = plugin(each.compiler).load().levels if each.route.compares and not each.route.rejects else ()
    for level in levels[1:]:
        yield replace(each, level=level)


def _named(name: str, language: str) -> list[_Subject]:
    compiler, _, route = name.partition(":")
    there = [each for each in plugin(compiler).load().routes if each.library == each.frontend == language]
    found = [_Subject(compiler, each, chosen=True) for each in there if route in ("", each.name)]
    if not there:
        raise UserError(f"{one_line(compiler)} takes no programs of {language}; choose a compiler that does, or another policy")
    if not found:
        routes = ", ".join(each.name for each in there)
        raise UserError(f"{one_line(compiler)} has no route {one_line(repr(route))} for {language}; there are: {routes}")
    return found


def _all(language: str) -> Iterator[_Subject]:
    for name in plugins():
        adapter = known_adapter(name)
        for route in () if adapter is None else adapter.routes:
            if route.library == route.frontend == language:
                yield _Subject(name, route, chosen=False)


def _print(runs: dict[str, Summary], left_out: dict[str, str], untried: Sequence[Untried], workspace: Path, as_json: bool) -> None:
    pipeline = Pipeline(workspace)
    found = [finding for each in runs.values() for finding in pipeline.findings(Scope(each.campaign))]
    findings = list({each.id: each for each in found}.values())
    if as_json:
        subjects = {name: {**asdict(each), "seconds": round(each.seconds, 3)} for name, each in runs.items()}
        listed = [{"id": each.id, "subject": each.subject, "summary": each.summary, "trigger": each.trigger} for each in findings]
        print_json(
            {
                "schema": SCHEMA,
                "subjects": subjects,
                "left_out": left_out,
                "findings": listed,
                "untried": [asdict(each) for each in untried],
            }
        )
        return
    for name, each in runs.items():
        failing = sum(number for verdict, number in each.verdicts.items() if Verdict(verdict).is_failure)
        state = "" if each.complete else f", {each.planned - each.executed:,} left"
        echo(f"{name}: {plural(each.executed, 'program')} in {each.seconds:.0f} s, {failing:,} fail{state}")
    for name, why in left_out.items():
        say(f"{name} was left out: {one_line(why, 200)}")
    for each in findings:
        print_finding(each)
    echo(f"findings: {len(findings)}")
    if findings:
        echo(f"see them: opera report{option(workspace)}")
