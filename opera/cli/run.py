"""`python -m opera.run`: runs a ranked corpus through one compiler, and reports failing tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click

from opera.cli.help import HeadedCommand, heading
from opera.cli.names import COMPILER, FRONTEND, LEVEL, ROUTE, STRATEGY
from opera.cli.options import JOBS, SEEDS, Count, Distance, Duration, Opsets, Size, common, history_option
from opera.cli.report_files import report_files
from opera.compilers.registry import choose_route, plugin
from opera.config import named_build
from opera.console import STDOUT, echo, option, plural, print_json, print_table, say
from opera.corpus.samples import add_sample, sample_of
from opera.difftest.settings import Settings, Shard
from opera.errors import Exit, NothingSelected, UserError
from opera.models.forms import InputForm
from opera.oracles.verdict import Verdict
from opera.pipeline import Pipeline
from opera.report.details import described
from opera.report.html import ReportFiles
from opera.report.overview import overview, with_known
from opera.report.terminal import accepted_line, meaning_of, print_finding
from opera.run.campaign import Summary
from opera.run.progress import CampaignProgress
from opera.store import Campaigns
from opera.store.database import DATABASE, open_workspace
from opera.store.queries import Scope
from opera.triage.baseline import Baseline
from opera.triage.findings import Finding
from opera.triage.known_failures import failures_of, match
from opera.workers.cores import usable_cores
from opera.workers.pool_protocol import Cluster

SCHEMA = "run/1"
_FORMS = {"both": (InputForm.RUNTIME, InputForm.BAKED), **{each.value: (each,) for each in InputForm}}
_subject = heading("What to test")
_tests = heading("Which tests, in which order")
_stop = heading("When to stop")
_workers = heading("Workers")
_verdicts = heading("Verdicts and exit code")
_output = heading("Output")


@click.command("run", cls=HeadedCommand)
@_subject("--compiler", type=COMPILER, metavar="NAME", required=True, help="Compiler to test, or a version of it, e.g. tvm==0.26.0.")
@_subject("--frontend", type=FRONTEND, metavar="NAME", required=True, help="Model format to load, e.g. onnx, pytorch, keras.")
@_subject("--route", type=ROUTE, metavar="NAME", help="Chain of conversions; by default the first route of the adapter.")
@_subject("--level", type=LEVEL, metavar="NAME", help="Optimisation level of the compiler; by default the adapter's default level.")
@_subject(
    "--build",
    metavar="TEXT",
    help="Name of the compiler build, part of every test's identity, if the version does not identify the build; by default BUILD of"
    " --compiler NAME==BUILD.",
)
@_subject(
    "--input-form",
    type=click.Choice(list(_FORMS)),
    default="both",
    show_default=True,
    help="How to give inputs: at run time, shape-like ones as constants in the model (baked), both, all but the first as constants, "
    "shape-like ones as constants and other sizes open (symbolic), at run time with writes after the call (written), or the "
    "calls that the library refuses (refused).",
)
@_subject(
    "--opset",
    "opsets",
    type=Opsets(),
    metavar="N,...",
    help="Opsets that models of ONNX declare, e.g. 13,17,21,25; by default the lowest at which each model is valid.",
)
@_tests(
    "--strategy",
    type=STRATEGY,
    metavar="NAME",
    help="Strategy of the ranking; by default the strategy of the newest ranking, or opera-adaptive.",
)
@history_option(_tests)
@_tests("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@_tests("--samples", is_flag=True, help="First add the sample instances of the library that OPERA ships, up to 200.")
@_tests("--limit", type=Count(), metavar="N", help="Run at most N tests; by default all.")
@_tests("--cap", type=Count(), metavar="N", help="Run at most N instances of each operator, the first in ranked order; by default all.")
@_tests(
    "--seeds",
    type=SEEDS,
    metavar="N",
    default=1,
    show_default=True,
    help="Number of input seeds, from --seed on; tests with recorded inputs run once.",
)
@_tests("--shard", metavar="I/N", help="Run only part I of N of the campaign, e.g. 1/4; `opera combine` joins the parts.")
@_tests("--nightly", is_flag=True, help="Run earlier failures first, then new tests, then the rest; not with --limit.")
@_stop(
    "--budget", type=Duration(), help="Stop after this time, e.g. 30m or 2h; by default, after the last test. The same command continues."
)
@_stop("--maxfail", type=Count(), metavar="N", help="Stop after N findings; by default, after the last test.")
@_stop("-x", "exit_first", is_flag=True, help="Stop after the first finding.")
@_workers("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel workers.")
@_workers("--timeout", type=Duration(), default=60.0, show_default="60s", help="Time limit of each stage of a test.")
@_workers(
    "--memory", type=Size(), default=4 * 2**30, show_default="4G", help="Memory limit of each worker, with all processes that it starts."
)
@_workers(
    "--executor",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Place of the workers: this machine (local) or a Ray cluster (ray).",
)
@_workers(
    "--address", metavar="ADDRESS", help="Address of the Ray cluster, e.g. auto or 10.0.0.1:6379; by default OPERA starts a local cluster."
)
@_workers("--shared-folder", is_flag=True, help="Send no files: every machine of the cluster has the workspace at the same path.")
@_verdicts(
    "--chebyshev",
    type=Distance(),
    metavar="D",
    help="Use the paper's oracle: one threshold on the largest absolute difference, e.g. 0.01; by default, a tolerance for each dtype.",
)
@_verdicts(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Count failures as new only if this file does not list them; by default, if the workspace has none like them.",
)
@_verdicts("--exit-zero", is_flag=True, help="Exit with 0 even if there are new findings.")
@report_files
@_output("-q", "--quiet", is_flag=True, help="Show no progress.")
@common
def command(
    compiler: str,
    frontend: str,
    route: str | None,
    input_form: str,
    opsets: tuple[int, ...] | None,
    strategy: str | None,
    history: tuple[str, ...],
    keyword: str | None,
    samples: bool,
    limit: int | None,
    cap: int | None,
    budget: float | None,
    maxfail: int | None,
    exit_first: bool,
    jobs: int,
    timeout: float,
    memory: int,
    chebyshev: float | None,
    level: str | None,
    seeds: int,
    shard: str | None,
    nightly: bool,
    build: str | None,
    executor: str,
    address: str | None,
    shared_folder: bool,
    baseline: Path | None,
    files: ReportFiles,
    exit_zero: bool,
    quiet: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Run the extracted instances through a compiler, and report the tests that fail.

    The same command, typed again, continues an interrupted campaign. OPERA uses the newest ranking of the subject under --seed, and renews
    it if the corpus has changed since; without a ranking, opera-adaptive orders the tests while they run. Exit with 1 when there are new
    findings.
    """
    if nightly and limit is not None:
        raise UserError(
            "--nightly orders the tests differently each night, so --limit would select different tests each night; use --budget"
        )
    if executor == "local" and (address is not None or shared_folder):
        raise UserError("--address and --shared-folder need a cluster; add --executor ray")
    files.check(as_json=as_json)
    known = None if baseline is None else Baseline.existing(baseline)
    settings = Settings(
        compiler, frontend, route, _FORMS[input_form], opsets or (), seed, strategy, keyword, limit, cap, budget,
        1 if exit_first else maxfail, jobs, timeout, memory, chebyshev, level, seeds=seeds,
        shard=None if shard is None else Shard.parse(shard), build=build or named_build(compiler),
        cluster=Cluster(address, shared_folder) if executor == "ray" else None,
    )  # fmt: skip
    _prepare(settings, workspace, samples=samples, quiet=quiet or as_json)
    progress = CampaignProgress(settings.subject, str(workspace), quiet=quiet, describe=described)
    summary = Pipeline(workspace).run(settings, nightly=nightly, history=history, progress=progress)
    if known is not None:
        with open_workspace(workspace, write=False) as space:
            found = match(known.failures, failures_of(Campaigns(space).results(summary.campaign, failures=True), space))
        summary = replace(summary, new_findings=len(found.unknown), undecided=len(found.undecided))
    new: tuple[Finding, ...] = ()
    if summary.executed and (files.paths or (quiet and summary.new_findings)):
        with open_workspace(workspace, write=False) as space:
            view = overview(space, Scope(summary.campaign))
            marked = with_known(view, known, space)
            new = marked.new_findings if quiet else ()
            if files.paths and summary.stopped_by != "interrupt":
                files.write(space, str(workspace), view if known is None else marked, scripts=True)
    if as_json:
        print_json({"schema": SCHEMA, **asdict(summary), "seconds": round(summary.seconds, 3)})
    elif STDOUT not in files.paths:
        _print(settings, summary, str(workspace), new)
    if summary.stopped_by == "interrupt":
        raise KeyboardInterrupt
    if summary.executed == 0:
        raise NothingSelected("the campaign was stopped before its first test; run the same command to continue")
    if summary.is_silent:
        where = f"`opera report{option(workspace)}` has the reasons"
        raise NothingSelected(f"none of {plural(summary.executed, 'test')} passed or failed; {where}")
    return Exit.NEW_FINDINGS if summary.new_findings and not exit_zero else Exit.CLEAN


def _prepare(settings: Settings, workspace: Path, *, samples: bool, quiet: bool) -> None:
    """Adds the sample instances if they are asked for; otherwise says how to get a first corpus where there is no workspace."""
    library = choose_route(plugin(settings.compiler).load(), settings.frontend, settings.route).library
    shipped = sample_of(library)
    if not samples:
        if shipped is not None and not (workspace / DATABASE).exists():
            raise UserError(
                f"no workspace at {workspace}; add --samples to run the sample instances of {library} that OPERA ships,"
                f" or record the tests of {library} with `opera extract --lib {library}{option(workspace)}`"
            )
        return
    if shipped is None:
        raise UserError(f"OPERA ships no sample instances of {library}; record some with `opera extract --lib {library}`")
    with open_workspace(workspace, write=True) as space:
        say(f"{plural(add_sample(space, shipped), 'sample instance')} of {library} added to {workspace}", quiet=quiet)


def _print(settings: Settings, summary: Summary, workspace: str, new: Sequence[Finding]) -> None:
    """The table of verdicts; *new* findings were not printed before."""
    counts = {verdict: count for verdict in Verdict if (count := summary.verdicts.get(verdict.value, 0))}
    rows = [[verdict.value, f"{count:,}", meaning_of(verdict, count, summary.accepted)] for verdict, count in counts.items()]
    print_table(["verdict", "tests", "meaning"], rows)
    for reason, count in summary.accepted.items():
        echo(accepted_line(count, reason))
    state = "complete" if summary.complete else f"{summary.planned - summary.executed:,} tests left"
    stopped = f"{' within the' if summary.complete else ', stopped by'} {summary.stopped_by}" if summary.stopped_by else ""
    echo(f"{settings.subject}: {summary.executed:,} tests in {summary.seconds:.0f} s, {state}{stopped}")
    undecided = f", {summary.undecided} of them undecided" if summary.undecided else ""
    echo(f"findings: {summary.findings}, new: {summary.new_findings}{undecided}")
    if undecided:
        echo(f"undecided: the message of a known failure, on other calls; `opera triage{option(workspace)}` tells whether it is the same")
    if summary.harness_errors:
        echo(f"{plural(summary.harness_errors, 'test')} ended in the adapter's own code, not in the compiler: a bug of the adapter")
    for finding in new:
        print_finding(finding)
    if summary.findings:
        echo(f"see them: opera report --campaign {summary.campaign}{option(workspace)}")
