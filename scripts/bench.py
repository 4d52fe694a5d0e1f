"""Benchmarks of the pipeline. Each line gives a figure and how it was measured; `make bench` runs all.

python scripts/bench.py worker     warm worker on the ONNX node tests, and a bare loop over the same tests
python scripts/bench.py cli        `opera --help`
python scripts/bench.py messages   where the time of a test goes in a campaign with a filled cache, step by step
python scripts/bench.py extract    extraction of every shipped source
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from opera import bundle
from opera.cli.extract import command as extract_command
from opera.compilers.adapter import Route, Subject
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.messages import KeptModel, KeptReference, kept_of
from opera.difftest.protocol import DiffTest
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.instance import Instance
from opera.models.forms import InputForm
from opera.prioritize.ranking import rank
from opera.run.campaign import _Campaign, _ResultWriter, run_campaign  # pyright: ignore[reportPrivateUsage]
from opera.run.plan import make_plan
from opera.run.scheduler import Scheduler
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.workers.process import PINNED_ENVIRONMENT, Done, Event, Worker
from opera.workers.protocol import Message

COMPILERS = ("openvino", "tvm", "onnxruntime")
HARNESS_STAGES = ("read", "compare", "reference", "export")


class Silent:
    """Progress that says nothing."""

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int) -> None: ...

    def result(self, result: StoredResult, api: str, call: str | None) -> None: ...

    def tick(self, busy: list[tuple[str, str, str]]) -> None: ...

    def ended(self) -> None: ...


def main() -> None:
    """Runs the benchmarks that are named, or all."""
    if sys.argv[1:2] == ["_bare"]:
        bare_loop(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["worker", "messages", "cli", "extract"])
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; medians are printed")
    parser.add_argument("--compiler", choices=COMPILERS, action="append")
    arguments = parser.parse_args()
    chosen = arguments.what or ["cli", "extract", "worker"]
    if "cli" in chosen:
        bench_cli(arguments.repeat)
    if "extract" in chosen:
        bench_extract()
    if "worker" in chosen:
        bench_worker(arguments.compiler or COMPILERS, arguments.repeat)
    if "messages" in arguments.what:
        bench_messages(arguments.compiler or ["onnxruntime"])


def bench_cli(repeat: int) -> None:
    """Seconds of `opera --help`."""
    opera = Path(sys.executable).with_name("opera")
    seconds = [timed(lambda: subprocess.run([opera, "--help"], capture_output=True, check=True)) for _ in range(max(5, repeat))]
    print(f"opera --help: {statistics.median(seconds):.3f} s, median of {len(seconds)} (limit 0.3 s)   [scripts/bench.py cli]")


def bench_extract() -> None:
    """Seconds of the extraction of each library, as the extract command reports them."""
    with tempfile.TemporaryDirectory() as folder:
        for library, limits in (("onnx", {"node-tests": 45}), ("pytorch", {"opinfo": 90, "moduleinfo": 90})):
            command = [sys.executable, "-m", "opera.extract", "--lib", library, "--json", "-q", "--workspace", f"{folder}/w"]
            document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            for source, figures in document["sources"].items():
                counts = f"{figures['calls']:,} calls, {figures['distinct']:,} distinct over {figures['operators']} operators"
                seconds = f"{figures['seconds']:.1f} s (limit {limits[source]} s)"
                print(f"extract {library}/{source}: {seconds}, {counts}   [scripts/bench.py extract]")


def bench_worker(compilers: tuple[str, ...] | list[str], repeat: int) -> None:
    """Tests per second of a campaign with one busy process and a filled cache, and of a bare loop, alternately, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        extract_command.main(["--lib", "onnx", "-q", "--workspace", folder], standalone_mode=False)
        for compiler in compilers:
            harness: list[float] = []
            bare: list[float] = []
            shares: list[float] = []
            tests = 0
            warm(folder, compiler)
            ready = ready_tests(folder, compiler)
            for _ in range(repeat):
                rate, share, tests = campaign_rate(folder, compiler)
                harness.append(rate)
                shares.append(share)
                bare.append(bare_rate(folder, compiler, ready))
            one, other = statistics.median(harness), statistics.median(bare)
            print(
                f"{compiler}: {one:.0f} tests/s in a campaign, {other:.0f} in a bare loop over the same {tests} tests,"
                f" ratio {one / other:.2f}; {statistics.median(shares):.0%} of the wall time inside the compiler"
                f" (medians of {repeat})   [scripts/bench.py worker]"
            )


def bench_messages(compilers: tuple[str, ...] | list[str]) -> None:
    """Microseconds of each step of a test on the ONNX node tests: medians, which work beside the benchmark does not move much."""
    with tempfile.TemporaryDirectory() as folder:
        extract_command.main(["--lib", "onnx", "-q", "--workspace", folder], standalone_mode=False)
        for compiler in compilers:
            warm(folder, compiler)
            with Course() as course:
                campaign_rate(folder, compiler)
            print(f"{compiler}: microseconds of a test, medians of {course.tests:,}   [scripts/bench.py messages --compiler {compiler}]")
            for step, micros in course.table():
                print(f"  {step:72}{micros:8.0f}")


class Course:
    """Notes when the compiler's worker is given each task and when its answer is there, and what the driver does meanwhile."""

    PARTS = (
        (Scheduler, "_take_cached", "driver, beside it: chooses a test, and finds its model"),
        (Scheduler, "_prepare", "driver, beside it: makes the next request"),
        (DiffTest, "answered", "driver, beside it: judges the answer"),
        (_ResultWriter, "flush", "driver, beside it: writes to the database (mean)"),
        (_Campaign, "_result", "driver, beside it: keeps result and journal"),
    )

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {name: [] for *_, name in self.PARTS}
        self._turns: list[tuple[float, float, Mapping[str, float]]] = []
        self._patches = contextlib.ExitStack()
        self._sent = 0.0

    def __enter__(self) -> Course:
        for owner, name, step in self.PARTS:
            self._patches.enter_context(mock.patch.object(owner, name, self._timed(getattr(owner, name), self._spent[step])))
        submit, receive = Worker.submit, Worker.receive

        def noting_submit(worker: Worker, task: Message, *, fork: bool = False) -> None:
            submit(worker, task, fork=fork)
            if worker.tasks > 1:
                self._sent = time.perf_counter()

        def noting_receive(worker: Worker) -> Iterator[Event]:
            heard = time.perf_counter()
            for event in receive(worker):
                if isinstance(event, Done) and worker.tasks > 1:
                    self._turns.append((self._sent, heard, event.seconds))
                yield event

        self._patches.enter_context(mock.patch.object(Worker, "submit", noting_submit))
        self._patches.enter_context(mock.patch.object(Worker, "receive", noting_receive))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    @staticmethod
    def _timed(function: Callable[..., Any], into: list[float]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                into.append(time.perf_counter() - began)

        return timed

    @property
    def tests(self) -> int:
        """Number of tests."""
        return len(self._turns)

    def table(self) -> Iterator[tuple[str, float]]:
        """Steps, and microseconds of each."""
        stages: dict[str, list[float]] = {}
        for *_, seconds in self._turns:
            for stage, each in seconds.items():
                stages.setdefault(stage, []).append(each)
        whole = [after[1] - before[1] for before, after in pairwise(self._turns)]
        yield "whole test", 1e6 * statistics.median(whole)
        gaps = [after[0] - before[1] for before, after in pairwise(self._turns)]
        yield "worker idle, while the driver reads its answer and sends the next task", 1e6 * statistics.median(gaps)
        between = [heard - sent - sum(seconds.values()) for sent, heard, seconds in self._turns]
        yield "both: pipe, JSON in the worker, wake-ups", 1e6 * statistics.median(between)
        for stage, each in stages.items():
            yield f"worker: {stage}", 1e6 * statistics.median(each)
        for step, each in self._spent.items():
            if each:
                yield step, 1e6 * (statistics.fmean(each) * len(each) / self.tests if "mean" in step else statistics.median(each))


def settings_for(compiler: str, *, confirm: bool) -> Settings:
    """One busy process, inputs at run time."""
    return Settings(compiler, "onnx", forms=(InputForm.RUNTIME,), jobs=1, confirm=confirm)


def warm(folder: str, compiler: str) -> None:
    """Fills the cache of models and references."""
    with open_workspace(Path(folder), write=True) as space:
        run_campaign(space, Config({}), settings_for(compiler, confirm=False), order_of(space, compiler), Silent())


def order_of(space: Workspace, compiler: str) -> Callable[[], Iterator[tuple[str, Instance]]]:
    """Hash and instance of the corpus in ranked order."""
    corpus = Corpus(space)
    found = corpus.newest_ranking("onnx", compiler, 0) or rank(corpus, compiler, Route("onnx", "onnx", "onnx"), "round-robin", 0)
    keys = corpus.ranked(found.id)
    return lambda: ((key, corpus.get(key)) for key in keys)


def campaign_rate(folder: str, compiler: str) -> tuple[float, float, int]:
    """Tests per second, share of the wall time inside the compiler, number of tests. The start of the workers is not counted."""
    with open_workspace(Path(folder), write=True) as space:
        with space.transaction() as database:
            database.execute("DELETE FROM campaign_tests")
            database.execute("DELETE FROM results WHERE compiler = ?", (compiler,))
        watch = Stopwatch()
        summary = run_campaign(space, Config({}), settings_for(compiler, confirm=False), order_of(space, compiler), watch)
        wall = watch.stopped - watch.started
        inside = 0.0
        for result in Campaigns(space).results(summary.campaign):
            inside += sum(seconds for stage, seconds in result.seconds.items() if stage not in HARNESS_STAGES)
        return summary.executed / wall, inside / wall, summary.executed


class Stopwatch(Silent):
    """Times a campaign from its plan to its last result."""

    started = stopped = 0.0

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int) -> None:
        self.started = time.perf_counter()

    def result(self, result: StoredResult, api: str, call: str | None) -> None:
        self.stopped = time.perf_counter()


def ready_tests(folder: str, compiler: str) -> list[tuple[str, str, str]]:
    """Instance, bundle and artefact of every test whose model is in the cache: what the compiler's worker gets in a campaign."""
    settings = settings_for(compiler, confirm=False)
    with open_workspace(Path(folder), write=True) as space, tempfile.TemporaryDirectory(dir=space.scratch) as scratch:
        workers = SubjectSession(settings, Config({}), space.cache, Path(scratch))
        try:
            tests = make_plan(order_of(space, compiler)(), workers.prove(), settings.forms, lambda api: True)
        finally:
            workers.pool.close()
        campaigns = Campaigns(space)
        answers = [
            (test.instance, kept_of(campaigns.artefact(test.reference_key)), kept_of(campaigns.artefact(test.artefact_key)))
            for test in tests
        ]
    return [
        (instance, reference.bundle, artefact.model)
        for instance, reference, artefact in answers
        if isinstance(reference, KeptReference) and isinstance(artefact, KeptModel) and artefact.model is not None
    ]


def bare_rate(folder: str, compiler: str, tests: list[tuple[str, str, str]]) -> float:
    """Tests per second of a loop that only loads, compiles and runs, in a process of its own with the same environment."""
    work = Path(folder, "bare.json")
    work.write_text(json.dumps(tests), encoding="utf-8")
    environment = {**os.environ, **PINNED_ENVIRONMENT}
    command = [sys.executable, "-W", "ignore", __file__, "_bare", folder, compiler]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, env=environment)
    return float(run.stdout.split()[-1])


def bare_loop(folder: str, compiler: str) -> None:
    """The loop itself: everything is in memory before the clock starts; nothing is compared or stored."""
    adapter = plugin(compiler).load()({})
    adapter.start()
    route = choose_route(type(adapter), "onnx", None)
    space = open_workspace(Path(folder), write=False)
    corpus = Corpus(space)
    subjects: list[Subject] = []
    for key, bundle_name, artefact in json.loads(Path(folder, "bare.json").read_text(encoding="utf-8")):
        tree = bundle.parse(bundle.fetch(space.cache, bundle_name))
        data = bundle.fetch(space.cache, artefact)
        subjects.append(Subject(route, data, tree["inputs"], len(tree["outputs"]), partial(corpus.get, key)))
    started = time.perf_counter()
    for subject in subjects:
        with contextlib.suppress(Exception):
            adapter.run(adapter.compile(adapter.load(subject, ignore), subject, ignore), subject, ignore)
    print(len(subjects) / (time.perf_counter() - started))


def ignore(stage: str) -> None:
    """Takes the name of a stage and does nothing."""


def timed(action: Callable[[], Any]) -> float:
    """Seconds that *action* takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
