"""What campaigns, extraction and start cost: each figure next to that of a bare loop and the last recorded one. `make bench` prints all.

    python benchmarks/bench.py                      all figures, about twenty minutes
    python benchmarks/bench.py tvm/pytorch start    some of them
    python benchmarks/bench.py --record             also adds them to data/bench/figures.jsonl, with the machine
    python benchmarks/bench.py --page               only puts the recorded figures into the documentation: a table and a plot

A *fresh* campaign makes every model first; for a *filled* one the cache has them. Both have one busy process, test inputs at run time,
confirm nothing, and are timed from the plan to the last result. The bare loop is what a person would write: one process that does the
same for the same instances without OPERA's workers, oracles and workspace, and with torch's own functions. For a fresh campaign it builds,
calls, exports, compiles and runs each model; for a filled one it only compiles and runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from opera import bundle
from opera.compilers.adapter import Route, Subject
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.messages import KeptModel, KeptReference
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.instance import Instance
from opera.models import torch_tables
from opera.models.forms import InputForm
from opera.models.template import Invalid, template_of
from opera.oracles.verdict import Verdict
from opera.prioritize.ranking import rank
from opera.run.campaign import run_campaign
from opera.run.plan import make_plan
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.workers.process import PINNED_ENVIRONMENT

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "data" / "bench" / "figures.jsonl"
PAGE = ROOT / "docs" / "explanation" / "speed.md"
PLOT = ROOT / "docs" / "pictures" / "speed.svg"
BEGIN, END = "<!-- benchmarks/bench.py: begin -->\n", "<!-- end of figures -->\n"
HARNESS_STAGES = ("read", "compare", "reference", "export")
ENDS_PROCESS = frozenset({Verdict.ABORT, Verdict.HANG, Verdict.OOM})
WARM_UP = 2
"""Instances that a bare loop does before its clock starts."""


@dataclass(frozen=True)
class Corpora:
    """Where the instances of a frontend come from, and how many of them a benchmark takes."""

    command: tuple[str, ...]
    fresh: int | None
    filled: int | None


ONNX = Corpora(("extract", "--lib", "onnx"), None, None)
PYTORCH = Corpora(
    ("extract", "--lib", "pytorch", "--source", "opinfo", "--option", "dtypes=float32,int64,bool", "--option", "variants="), 150, 600
)
KERAS = Corpora(("import", str(ROOT / "corpora" / "samples" / "keras.jsonl")), 40, 120)
SUBJECTS: Mapping[str, Corpora] = {
    "tvm/onnx": ONNX, "openvino/onnx": ONNX, "onnxruntime/onnx": ONNX,
    "tvm/pytorch": PYTORCH, "openvino/pytorch": PYTORCH, "onnxruntime/pytorch": PYTORCH,
    "tvm/keras": KERAS,
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        name: What was measured.
        value: Value of OPERA; a median where it was measured several times.
        unit: `tests/s` or `s`.
        bare: The figure of the bare loop; None if the figure has no bare loop, or if a compiler ended its process.
        tests: Number of tests; 0 where there are none.
    """

    name: str
    value: float
    unit: str
    bare: float | None = None
    tests: int = 0

    @property
    def ratio(self) -> float | None:
        """How much better than the bare loop it is: above 1 is better."""
        if self.bare is None:
            return None
        return self.value / self.bare if self.unit == "tests/s" else self.bare / self.value


@dataclass(frozen=True)
class Recorded:
    """A figure as it was recorded: on which day, on which machine, and how busy that was before the benchmark began."""

    figure: Figure
    date: str
    machine: str
    load: float


class Silent:
    """Progress that says nothing."""

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int, products: str | None) -> None: ...

    def result(self, result: StoredResult, api: str, call: str | None) -> None: ...

    def tick(self, busy: list[tuple[str, str, str]]) -> None: ...

    def ended(self) -> None: ...


class Stopwatch(Silent):
    """Times a campaign from its plan to its last result."""

    started = stopped = 0.0

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int, products: str | None) -> None:
        self.started = time.perf_counter()

    def result(self, result: StoredResult, api: str, call: str | None) -> None:
        self.stopped = time.perf_counter()


def main() -> None:
    """Measures what is named, or everything."""
    if sys.argv[1:2] == ["_bare"]:
        bare_loop(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="FIGURE", help=f"{', '.join(SUBJECTS)}, start, extract; all by default")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; medians are printed")
    parser.add_argument("--limit", type=int, help="tests of each campaign at most")
    parser.add_argument("--record", action="store_true", help="add the figures to data/bench")
    parser.add_argument("--page", action="store_true", help="put the recorded figures into the documentation, and measure nothing")
    arguments = parser.parse_args()
    if arguments.page:
        write_page()
        return
    chosen = arguments.what or [*SUBJECTS, "start", "extract"]
    if unknown := set(chosen) - {*SUBJECTS, "start", "extract"}:
        parser.error(f"unknown figure {min(unknown)!r}")
    before = newest(recorded())
    when, machine, load = f"{datetime.now(UTC):%Y-%m-%d}", this_machine(), os.getloadavg()[0]
    print(f"{machine}, load {load:.1f}; figures recorded on other machines are no measure of these")
    print("".join(cell.ljust(width) for cell, width in zip(HEADER, WIDTHS, strict=True)))
    for name in chosen:
        for figure in measure(name, arguments.repeat, arguments.limit):
            print(
                "".join(cell.ljust(width) for cell, width in zip(cells(figure, before.get(figure.name)), WIDTHS, strict=True)), flush=True
            )
            if arguments.record:
                keep(Recorded(figure, when, machine, load))


HEADER = ("figure", "now", "bare loop", "ratio", "recorded", "day")
WIDTHS = (32, 16, 16, 8, 16, 12)


def cells(figure: Figure, before: Recorded | None) -> tuple[str, ...]:
    """One line of the table."""
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    bare = "" if figure.bare is None else shown(figure.bare, figure.unit)
    earlier = ("", "") if before is None else (shown(before.figure.value, figure.unit), before.date)
    return figure.name, shown(figure.value, figure.unit), bare, ratio, *earlier


def shown(value: float, unit: str) -> str:
    """`12.3 tests/s`: three digits."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def measure(name: str, repeat: int, limit: int | None) -> Iterator[Figure]:
    """The figures of one name."""
    if name == "start":
        yield Figure("opera --help", statistics.median(timed(partial(run_opera, "--help")) for _ in range(max(5, repeat))), "s")
    elif name == "extract":
        yield from extraction()
    else:
        yield from subject(name, SUBJECTS[name], repeat, limit)


def extraction() -> Iterator[Figure]:
    """Seconds of the extraction of each library's sources."""
    for library in ("onnx", "pytorch"):
        with tempfile.TemporaryDirectory() as folder:
            yield Figure(f"extract --lib {library}", timed(partial(run_opera, "extract", "--lib", library, "--workspace", folder)), "s")


def subject(name: str, corpora: Corpora, repeat: int, limit: int | None) -> Iterator[Figure]:
    """Tests per second of a fresh campaign, where it is measured, and of a filled one, each alternating with its bare loop."""
    with tempfile.TemporaryDirectory() as folder:
        origin = Path(folder, "corpus")
        run_opera(*corpora.command, "--workspace", str(origin))
        filled = Path(folder, "filled")
        shutil.copytree(origin, filled)
        if corpora.fresh is not None:
            count = min(corpora.fresh, limit or corpora.fresh)
            rates, bare, tests = [], [], 0
            for turn in range(repeat):
                space = Path(folder, f"fresh-{turn}")
                shutil.copytree(origin, space)
                rate, tests = campaign_rate(space, name, count)
                rates.append(rate)
                bare.append(bare_rate(space, name, ready_tests(space, name, count), fresh=True))
                shutil.rmtree(space)
            yield Figure(f"{name}, fresh", statistics.median(rates), "tests/s", median(bare), tests)
        count = min(corpora.filled, limit or corpora.filled) if corpora.filled else limit
        campaign_rate(filled, name, count)
        ready = ready_tests(filled, name, count)
        rates, bare, tests = [], [], 0
        for _ in range(repeat):
            rate, tests = campaign_rate(filled, name, count)
            rates.append(rate)
            bare.append(bare_rate(filled, name, ready, fresh=False))
        yield Figure(f"{name}, filled", statistics.median(rates), "tests/s", median(bare), tests)


def run_opera(*arguments: str) -> None:
    """Runs a command of OPERA."""
    subprocess.run([Path(sys.executable).with_name("opera"), *arguments], capture_output=True, check=True)


def settings_for(name: str, limit: int | None) -> Settings:
    """One busy process, inputs at run time, no confirmation."""
    compiler, _, frontend = name.partition("/")
    return Settings(compiler, frontend, forms=(InputForm.RUNTIME,), limit=limit, jobs=1, confirm=False)


def route_of(name: str) -> Route:
    """The default route of a subject."""
    compiler, _, frontend = name.partition("/")
    return choose_route(plugin(compiler).load(), frontend, None)


def order_of(space: Workspace, name: str) -> Callable[[], Iterator[tuple[str, Instance]]]:
    """Hash and instance of the corpus, operators in turn."""
    corpus, compiler, route = Corpus(space), name.partition("/")[0], route_of(name)
    found = corpus.newest_ranking(route.library, compiler, 0) or rank(corpus, compiler, route, "round-robin", 0)
    keys = corpus.ranked(found.id)
    return lambda: ((key, corpus.get(key)) for key in keys)


def campaign_rate(folder: Path, name: str, limit: int | None) -> tuple[float, int]:
    """Tests per second and number of tests. The start of the workers is not counted."""
    with open_workspace(folder, write=True) as space:
        with space.transaction() as database:
            database.execute("DELETE FROM campaign_tests")
            database.execute("DELETE FROM results")
        watch = Stopwatch()
        summary = run_campaign(space, Config({}), settings_for(name, limit), order_of(space, name), watch)
        return summary.executed / (watch.stopped - watch.started), summary.executed


def ready_tests(folder: Path, name: str, limit: int | None) -> list[tuple[str, str, str]]:
    """Instance, bundle and artefact of the tests whose model is in the cache: what the compiler's worker gets in a campaign.

    Tests that ended the worker of the campaign are left out, because they would end the bare loop.
    """
    settings = settings_for(name, limit)
    with open_workspace(folder, write=True) as space, tempfile.TemporaryDirectory(dir=space.scratch) as scratch:
        workers = SubjectSession(settings, Config({}), space.cache, Path(scratch))
        try:
            tests = make_plan(order_of(space, name)(), workers.prove(), settings.forms, lambda api: True)[:limit]
        finally:
            workers.pool.close()
        campaigns = Campaigns(space)
        deadly = {each.instance for each in campaigns.results() if each.verdict in ENDS_PROCESS}
        answers = [
            (test.instance, campaigns.kept(test.reference_key), campaigns.kept(test.artefact_key))
            for test in tests
            if test.instance not in deadly
        ]
    return [
        (instance, reference.bundle, artefact.model)
        for instance, reference, artefact in answers
        if isinstance(reference, KeptReference) and isinstance(artefact, KeptModel) and artefact.model is not None
    ]


def bare_rate(folder: Path, name: str, tests: Sequence[tuple[str, str, str]], *, fresh: bool) -> float | None:
    """Tests per second of the bare loop, in a process of its own with the same environment; None if a test ends that process."""
    (folder / "bare.json").write_text(json.dumps(tests), encoding="utf-8")
    environment = {**os.environ, **PINNED_ENVIRONMENT, **dict(route_of(name).environment)}
    command = [sys.executable, "-W", "ignore", __file__, "_bare", str(folder), name, "fresh" if fresh else "filled"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, env=environment)
    if run.returncode:
        print(f"{name}: no bare loop, because its process ended with exit code {run.returncode}", file=sys.stderr)
        return None
    return float(run.stdout.split()[-1])


def median(rates: Sequence[float | None]) -> float | None:
    """The median; None if a rate is missing."""
    known = [rate for rate in rates if rate is not None]
    return statistics.median(known) if len(known) == len(rates) else None


def bare_loop(folder: str, name: str, way: str) -> None:
    """The loop itself: instances and models are in memory before the clock starts; nothing is compared or stored."""
    adapter = plugin(name.partition("/")[0]).load()({})
    adapter.start()
    route = route_of(name)
    space = open_workspace(Path(folder), write=False)
    corpus = Corpus(space)
    module, _, attribute = template_of(route.library).partition(":")
    template = getattr(import_module(module), attribute)() if way == "fresh" else None
    work: list[Callable[[], object]] = []
    for key, bundle_name, artefact in json.loads(Path(folder, "bare.json").read_text(encoding="utf-8")):
        instance = corpus.get(key)
        tree = bundle.parse(bundle.fetch(space.cache, bundle_name))
        data = bundle.fetch(space.cache, artefact)
        made = Subject(route, data, tree["inputs"], len(tree["outputs"]), partial(corpus.get, key))
        work.append(
            partial(build_and_run, template, instance, key, adapter, route) if template else partial(compile_and_run, adapter, made)
        )
    with torch_tables.without() if "torch" in sys.modules else contextlib.nullcontext():
        for step in work[:WARM_UP]:
            step()
        started = time.perf_counter()
        for step in work:
            step()
    print(len(work) / (time.perf_counter() - started))


def build_and_run(template: Any, instance: Instance, key: str, adapter: Any, route: Route) -> None:
    """Builds, calls, exports, compiles and runs one model."""
    with contextlib.suppress(Invalid):
        model = template.build(instance, key, 0)
        model.run_once()
        artefact = model.artefact(route.artefact, InputForm.RUNTIME.value)
        compile_and_run(adapter, Subject(route, artefact.data, dict(model.inputs), 1, lambda: instance))


def compile_and_run(adapter: Any, made: Subject) -> None:
    """Compiles and runs one model; what the compiler raises is no matter here."""
    with contextlib.suppress(Exception):
        adapter.run(adapter.compile(adapter.load(made, ignore), made, ignore), made, ignore)


def ignore(stage: str) -> None:
    """Takes the name of a stage and does nothing."""


def timed(action: Callable[[], Any]) -> float:
    """Seconds that *action* takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def this_machine() -> str:
    """Number and model of the processor's cores that this process may use."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"{len(os.sched_getaffinity(0))} cores of {model}"


def keep(row: Recorded) -> None:
    """Adds a figure to the recorded ones."""
    RECORDED.parent.mkdir(exist_ok=True)
    with RECORDED.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"schema": "bench/1", **asdict(row)}) + "\n")


def recorded() -> list[Recorded]:
    """All recorded figures, the oldest first."""
    if not RECORDED.exists():
        return []
    rows = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    return [Recorded(Figure(**row["figure"]), row["date"], row["machine"], row["load"]) for row in rows]


def newest(rows: Sequence[Recorded]) -> dict[str, Recorded]:
    """The last recorded figure of each name."""
    return {row.figure.name: row for row in rows}


def write_page() -> None:
    """Puts the last recorded figures into the page, and all of them into the plot."""
    rows = recorded()
    last = newest(rows)
    lines = ["| figure | OPERA | bare loop | ratio | day | machine, load |", "|---|---|---|---|---|---|"]
    for row in last.values():
        name, now, bare, ratio, *_ = cells(row.figure, None)
        lines.append(f"| {name} | {now} | {bare} | {ratio} | {row.date} | {row.machine}, {row.load:.1f} |")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text("".join([before, BEGIN, *(f"{line}\n" for line in lines), END, rest.partition(END)[2]]), encoding="utf-8")
    draw(rows)


def draw(rows: Sequence[Recorded]) -> None:
    """Draws the rates: of OPERA, of the bare loop, and of earlier recordings."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure as Canvas

    rcParams.update({"svg.hashsalt": "opera", "font.size": 9})
    rates = [row for row in rows if row.figure.unit == "tests/s"]
    names = list(dict.fromkeys(row.figure.name for row in rates))[::-1]
    last = newest(rates)
    axes = (canvas := Canvas(figsize=(7, 0.9 + 0.3 * len(names)), layout="constrained")).subplots()
    for index, name in enumerate(names):
        first, now = not index, last[name].figure
        earlier = [row.figure.value for row in rates if row.figure.name == name and row is not last[name]]
        axes.plot(earlier, [index] * len(earlier), "|", color="0.6", label="OPERA, earlier" if first and earlier else None)
        if now.bare is not None:
            axes.plot([now.bare], [index], "o", mfc="none", color="C1", label="bare loop" if first else None)
        axes.plot([now.value], [index], "o", color="C0", label="OPERA" if first else None)
    axes.set(xscale="log", xlabel="tests per second", yticks=range(len(names)), yticklabels=names)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    canvas.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
