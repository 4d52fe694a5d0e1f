"""Figures of the machinery around compilers. Each line gives a figure, its limit, and the command that measures it again.

    python benchmarks/bench_campaign.py overhead   time of a test outside library and compiler
    python benchmarks/bench_campaign.py scaling    tests per second with one and two busy processes on two cores, empty and filled cache
    python benchmarks/bench_campaign.py recovery   from the death of a worker to the next one that is ready
    python benchmarks/bench_campaign.py store      results written per second
    python benchmarks/bench_campaign.py memory     the driver's memory with a million results (writes 2 GB into a temporary folder)

Figures depend on what else the machine does; nothing here is part of the tests.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from opera.instance import Instance, Occurrence, digest, encode_instance
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace

ROOT = Path(__file__).parents[1]
SITE = ROOT / "tests" / "fake" / "site"
THEIRS = ("load", "optimize", "codegen", "run", "reference", "export", "review", "release")
"""Stages in which library or compiler work; the others are ours."""
KILLS = 3
"""Losses at work whose recovery is measured."""


@dataclass(frozen=True)
class Scaled:
    """A subject, a number of tests that take one process half a minute or more, the same for a filled cache, and their source."""

    compiler: str
    frontend: str
    limit: int
    filled: int
    source: tuple[str, ...] = ()

    def tests(self, state: str) -> int:
        """Tests of a campaign with an `empty` or a `filled` cache."""
        return self.filled if state == "filled" else self.limit


ONNX_TESTS = ("--lib", "onnx", "--source", "node-tests")
OPINFO_A_TO_H = ("--lib", "pytorch", "--source", "opinfo", "--option", "dtypes=float32", "--only", "[a-h]*")
ONNXRUNTIME = Scaled("onnxruntime", "onnx", 5000, 5000, ONNX_TESTS)
SCALED = (
    Scaled("fake", "fake", 300, 300),
    Scaled("openvino", "onnx", 2500, 2500, ONNX_TESTS),
    Scaled("tvm", "onnx", 700, 700, ONNX_TESTS),
    Scaled("inductor", "pytorch", 500, 2400, OPINFO_A_TO_H),
)


def main() -> None:
    """Runs the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchmarks: dict[str, Callable[[argparse.Namespace], None]] = {
        "overhead": overhead, "scaling": scaling, "recovery": recovery, "store": store, "memory": memory,
    }  # fmt: skip
    parser.add_argument("what", nargs="*", choices=[[], *benchmarks])
    parser.add_argument("--results", type=int, default=1_000_000, help="results for `memory`")
    parser.add_argument("--compiler", action="append", help="of `overhead` and `scaling`, repeatable; all by default")
    parser.add_argument("--tests", type=int, help="of each subject in these two; by default half a minute of one process or more")
    parser.add_argument("--repeat", type=int, default=1, help="repetitions of `scaling`; medians are printed")
    arguments = parser.parse_args()
    for name in arguments.what or benchmarks:
        benchmarks[name](arguments)


def fake(number: int, compiler: str = "pass") -> Instance:
    """An instance of the tests' fake library."""
    sys.path.append(str(SITE))
    return importlib.import_module("opera_fake.canary").instance("bench", compiler, number=number)


def fill(workspace: Path, library: str) -> None:
    """Puts tests of the tests' own library into a workspace: fast ones, or such as take 50 ms asleep."""
    count, behaviour = (3000, "pass") if library == "fake" else (300, "slow")
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((fake(number, behaviour), Occurrence("bench", "bench")) for number in range(count))


def extract(workspace: Path, subject: Scaled) -> None:
    """Puts the tests that the subject's library has itself into a workspace."""
    command = [sys.executable, "-m", "opera", "extract", *subject.source, "--workspace", str(workspace), "-q"]
    subprocess.run(command, check=True, capture_output=True)


def run(workspace: Path, compiler: str, frontend: str, *options: str, cores: str | None = None) -> dict[str, Any]:
    """Runs a campaign; returns its last status."""
    command = [sys.executable, "-m", "opera.run", "--compiler", compiler, "--frontend", frontend, "-q", "--exit-zero"]
    environment = {**os.environ, "PYTHONPATH": str(SITE)}
    pinned = ["taskset", "-c", cores] if cores else []
    done = subprocess.run(
        [*pinned, *command, *options, "--workspace", str(workspace)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads((workspace / "status.json").read_text())


def forget(workspace: Path) -> None:
    """Drops all results, and keeps models and references."""
    with open_workspace(workspace, write=True) as space, space.transaction() as database:
        for table in ("campaign_tests", "campaigns", "results"):
            database.execute(f"DELETE FROM {table}")


def overhead(arguments: argparse.Namespace) -> None:
    """Wall time of a campaign with one busy process that is spent in neither library nor compiler, per test; the cache is filled.

    Failures are left out of the selection as far as possible: their confirmation is work of the compiler that a test's seconds lack.
    """
    for subject in chosen(arguments, (SCALED[0], ONNXRUNTIME, *SCALED[1:])):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "ws"
            fill(workspace, "fake") if subject.compiler == "fake" else extract(workspace, subject)
            options = () if subject.compiler == "fake" else ("--limit", str(subject.limit))
            run(workspace, subject.compiler, subject.frontend, "-j", "1", *options)
            keep_passing(workspace)
            forget(workspace)
            status = run(workspace, subject.compiler, subject.frontend, "-j", "1")
            tests = status["tests"]["done"]
            theirs = sum(seconds for stage, seconds in status["cost"]["stages"].items() if stage in THEIRS)
            spent = (status["seconds"] - theirs) / tests
            wall = status["seconds"] / tests
            slow = theirs / tests >= 0.02
            limit_text = "limit 10 % of wall time" if slow else "limit 1.5 ms"
            share = f"{spent * 1e3:.2f} ms a test, {spent / wall:.1%} of its {wall * 1e3:.1f} ms ({limit_text})"
            own = f"{status['driver']['busy_seconds'] / tests * 1e3:.2f} ms of the driver's own processor time"
            name = f"{subject.compiler}/{subject.frontend}"
            print(f"overhead {name}: {share}; {own}; {tests:,} tests   [benchmarks/bench_campaign.py overhead]", flush=True)


def chosen(arguments: argparse.Namespace, subjects: tuple[Scaled, ...]) -> list[Scaled]:
    """Those of *subjects* that the command line asks for, with as many tests as it asks for."""
    wanted = [each for each in subjects if not arguments.compiler or each.compiler in arguments.compiler]
    return wanted if arguments.tests is None else [replace(each, limit=arguments.tests, filled=arguments.tests) for each in wanted]


def keep_passing(workspace: Path) -> None:
    """Leaves only instances whose tests all pass."""
    with open_workspace(workspace, write=True) as space, space.transaction() as database:
        database.execute("PRAGMA foreign_keys = OFF")
        passing = "SELECT instance FROM results GROUP BY instance HAVING min(verdict) = 'pass' AND max(verdict) = 'pass'"
        database.execute(f"DELETE FROM occurrences WHERE instance NOT IN ({passing})")
        for table in ("ranked", "rankings"):
            database.execute(f"DELETE FROM {table}")
        database.execute(f"DELETE FROM instances WHERE id NOT IN ({passing})")


def scaling(arguments: argparse.Namespace) -> None:
    """Tests per second on two cores with one and with two busy processes, as far as a campaign that runs all night feels it.

    What each start of a process takes, which happens once, is told apart: every start keeps one slot busy, so that a campaign without
    them would have taken that much less, divided by its slots. The fake compiler sleeps: its figure is that of the scheduling alone.
    """
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    print(f"scaling: times of each campaign on cores {cores}, then the ratio; starts are the seconds that a slot waits for new processes")
    for subject in chosen(arguments, SCALED):
        with tempfile.TemporaryDirectory() as folder:
            corpus = Path(folder) / "corpus"
            fill(corpus, "asleep") if subject.compiler == "fake" else extract(corpus, subject)
            measured: dict[tuple[str, int], list[Pace]] = {}
            workspace = corpus
            for turn in range(arguments.repeat):
                for jobs in (1, 2):
                    workspace = Path(shutil.copytree(corpus, Path(folder) / f"ws-{turn}-{jobs}"))
                    keep(measured, "empty", workspace, subject, jobs, cores)
            pace_of(workspace, subject, 2, cores, subject.filled)  # fills what is left
            for _ in range(arguments.repeat):
                for jobs in (1, 2):
                    forget(workspace)
                    keep(measured, "filled", workspace, subject, jobs, cores)
        for state in ("empty", "filled"):
            one, two = ([pace.rate for pace in measured[state, jobs]] for jobs in (1, 2))
            ratio = statistics.median(two) / statistics.median(one)
            whole = statistics.median(pace.whole for pace in measured[state, 2]) / statistics.median(
                pace.whole for pace in measured[state, 1]
            )
            print(
                f"scaling {subject.compiler}/{subject.frontend}, {state} cache, two cores: {statistics.median(one):.1f} tests/s at -j 1,"
                f" {statistics.median(two):.1f} at -j 2, {ratio:.2f} times (wanted 1.8); {whole:.2f} times with all starts; medians of"
                f" {len(one)}   [benchmarks/bench_campaign.py scaling]",
                flush=True,
            )


def keep(measured: dict[tuple[str, int], list[Pace]], state: str, workspace: Path, subject: Scaled, jobs: int, cores: str) -> None:
    """Measures one campaign, and prints what it came to."""
    pace = pace_of(workspace, subject, jobs, cores, subject.tests(state))
    measured.setdefault((state, jobs), []).append(pace)
    print(f"  {subject.compiler}, {state} cache, -j {jobs}: {pace}", flush=True)


@dataclass(frozen=True)
class Pace:
    """How fast a campaign was: its tests, its wall seconds, and those that its slots waited for processes to start."""

    tests: int
    seconds: float
    starts: float
    jobs: int

    @property
    def rate(self) -> float:
        """Tests per second, starts left out."""
        return self.tests / (self.seconds - self.starts / self.jobs)

    @property
    def whole(self) -> float:
        """Tests per second, starts included."""
        return self.tests / self.seconds

    def __str__(self) -> str:
        return f"{self.tests:,} tests in {self.seconds:.1f} s, starts {self.starts:.1f} s, {self.rate:.1f} tests/s without them"


def pace_of(workspace: Path, subject: Scaled, jobs: int, cores: str, limit: int) -> Pace:
    """Runs the subject's campaign of *limit* tests on those cores."""
    (workspace / "log.jsonl").unlink(missing_ok=True)
    status = run(workspace, subject.compiler, subject.frontend, "-j", str(jobs), "--limit", str(limit), cores=cores)
    lines = journal(workspace)
    began = next(index for index, line in enumerate(lines) if line["event"] == "campaign-began")
    later = [line for line in lines[began:] if line["event"] == "worker-started"]
    starts = [until for line in later if (until := seconds(lines, line, "worker-ready", pid=line["pid"])) is not None]
    return Pace(status["tests"]["done"], status["seconds"], sum(starts), jobs)


def recovery(arguments: argparse.Namespace) -> None:
    """Seconds from the loss of a compiler's worker that is killed at work until the next is ready, and the time of a first start."""
    for subject in (ONNXRUNTIME, *SCALED[1:]):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "ws"
            extract(workspace, subject)
            command = [sys.executable, "-m", "opera.run", "--compiler", subject.compiler, "--frontend", subject.frontend, "-j", "1", "-q"]
            driver = subprocess.Popen([*command, "--workspace", str(workspace)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            killed: set[int] = set()
            losses: list[float] = []
            lines: list[dict[str, Any]] = []
            while len(losses) < KILLS and driver.poll() is None:
                time.sleep(0.7)
                lines = [line for line in journal(workspace) if line.get("role") == "compiler"]
                ready = [line["pid"] for line in lines if line["event"] == "worker-ready"]
                if ready and ready[-1] not in killed:
                    killed.add(ready[-1])
                    with suppress(ProcessLookupError):
                        os.kill(ready[-1], signal.SIGKILL)
                lost = [line for line in lines if line["event"] == "worker-lost" and line["stage"]]  # those between two tests wait for one
                losses = [until for line in lost if (until := seconds(lines, line, "worker-ready")) is not None]
            driver.send_signal(signal.SIGINT)
            driver.wait()
            starts = [until for line in lines if line["event"] == "worker-started" and (until := seconds(lines, line, "worker-ready"))]
            name = f"recovery {subject.compiler}/{subject.frontend}"
            if not losses:
                raise SystemExit(f"{name}: the campaign ended before a worker was lost at work")
            again, first = statistics.median(losses), starts[0]
            print(
                f"{name}: {again:.2f} s from a worker's death to the next that is ready, {again - first:.2f} s more than its start took"
                f" ({first:.2f} s; limit 2 s more); median of {len(losses)}   [benchmarks/bench_campaign.py recovery]",
                flush=True,
            )


def journal(workspace: Path) -> list[dict[str, Any]]:
    """The lines of a workspace's journal."""
    with suppress(OSError):
        return [json.loads(line) for line in (workspace / "log.jsonl").read_text().splitlines()]
    return []


def seconds(lines: list[dict[str, Any]], since: dict[str, Any], until: str, pid: int | None = None) -> float | None:
    """Seconds from one line to the next with the event *until*, of the process *pid* where it is given."""
    following = lines[lines.index(since) + 1 :]
    end = next((line for line in following if line["event"] == until and pid in (None, line["pid"])), None)
    if end is None:
        return None
    return (datetime.fromisoformat(end["time"]) - datetime.fromisoformat(since["time"])).total_seconds()


def store(arguments: argparse.Namespace) -> None:
    """Results written per second, in the batches of a campaign."""
    failure = {
        "failure": {"type": "ValueError", "message": "x" * 300, "frames": [["module", "a/b/c.py", 10, "function"]] * 20, "bases": []}
    }
    with tempfile.TemporaryDirectory() as folder, open_workspace(Path(folder), write=True) as space:
        campaigns = Campaigns(space)
        campaigns.begin("c", "fake", "fake", {}, {})
        count, batch = 100_000, 500
        began = time.perf_counter()
        for start in range(0, count, batch):
            campaigns.write("c", [(index, result(index, failure)) for index in range(start, start + batch)])
        rate = count / (time.perf_counter() - began)
    print(f"store: {rate:,.0f} results/s, one in ten a failure (limit 5,000)   [benchmarks/bench_campaign.py store]", flush=True)


def result(place: int, failure: Any) -> StoredResult:
    """A result; every tenth is a crash."""
    key = f"{place:064x}"
    crash = place % 10 == 0
    stages: Any = dict.fromkeys(("reference", "export", "read", "load", "optimize", "codegen", "run", "compare"), 0.001)
    return StoredResult(
        key, key, "fake", "fake", "text", "runtime", 0, Verdict.CRASH if crash else Verdict.PASS, None, None, None,
        f"{place % 50:016x}" if crash else None, failure if crash else {}, stages,
    )  # fmt: skip


def memory(arguments: argparse.Namespace) -> None:
    """Largest resident size of a driver whose campaign has that many results already, and goes on with the last hundred."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "ws"
        first = fake(0)
        with open_workspace(workspace, write=True) as space:
            Corpus(space).add([(first, Occurrence("bench", "bench"))])
            template = json.dumps(encode_instance(first))
            with space.transaction() as database:
                database.executemany("INSERT OR IGNORE INTO instances VALUES (?, 'fake', ?, 'bench', 'unknown', ?, '')", (
                    (key, "fake.bench", zlib.compress(template.replace('"value": 0', f'"value": {number}', 1).encode(), 1))
                    for number in range(1, arguments.results) for key in (digest_of(number),)
                ))  # fmt: skip
        run(workspace, "fake", "fake", "--limit", "1", "-j", "1", "--strategy", "random")
        finish_all(workspace, arguments.results - 100)
        began = time.perf_counter()
        status = run(workspace, "fake", "fake", "-j", "2", "--strategy", "random")
        print(
            f"memory: {status['driver']['resident'] / 1e6:,.0f} MB resident at most with {status['tests']['total']:,} tests, of which"
            f" {status['tests']['before']:,} had a result (limit 500 MB); {time.perf_counter() - began:.0f} s from start to end"
            "   [benchmarks/bench_campaign.py memory]",
            flush=True,
        )


def digest_of(number: int) -> str:
    """Stands for the identity of an instance."""
    return digest(fake(number)) if number < 100 else f"{number * 2654435761 % 2**64:064x}"


def finish_all(workspace: Path, count: int) -> None:
    """Gives *count* tests the result of the one that has been run, under the identities that the campaign will ask for."""
    from opera.compilers.registry import choose_route, plugin
    from opera.difftest.test import Identity
    from opera.models.forms import InputForm
    from opera.run.plan import make_plan

    sys.path.insert(0, str(SITE))
    adapter = plugin("fake").load()
    with open_workspace(workspace, write=True) as space:
        corpus, campaigns = Corpus(space), Campaigns(space)
        (campaign,) = campaigns.all()
        versions = campaign.versions
        identity = Identity(
            "fake", choose_route(adapter, "fake", None), versions["template"], versions["library"], versions["compiler"],
            {"chebyshev": None, "adapter": versions["adapter"], "comparison": versions["comparison"]}, versions["review"],
        )  # fmt: skip
        ranking = corpus.newest_ranking("fake", "fake", 0)
        assert ranking is not None
        one = fake(0)
        plan = make_plan(
            ((key, one) for key in corpus.ranked(ranking.id)), identity, (InputForm.RUNTIME, InputForm.BAKED), lambda api: True
        )
        done = next(iter(campaigns.results(campaign.id)))
        assert campaigns.is_finished(plan[0].id), "the identities of tests are made otherwise now"
        with space.transaction() as database:
            database.executemany(
                "INSERT OR IGNORE INTO results (test, instance, compiler, frontend, route, form, seed, verdict, seconds)"
                " VALUES (?, ?, 'fake', 'fake', ?, ?, 0, 'pass', ?)",
                ((identity, "", done.route, done.form, json.dumps(dict(done.seconds))) for _, identity in list(plan.identities())[:count]),
            )


if __name__ == "__main__":
    main()
