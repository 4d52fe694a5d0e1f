"""How much of a second core a compiler can use at all: its work in two processes against one, with no campaign around it.

python benchmarks/bench_alone.py --compiler openvino --frontend onnx --lib onnx --source node-tests [--limit 1500] [--repeat 3]

A campaign is run once for the models and references. Then what its compiler's workers were told is done again by processes that nobody
drives: all of it on one core, and each half on a core of its own, started together. What two such processes gain over one is the most
that a campaign can gain, and less than two where they wait for the same memory.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from opera.cli.run import command as run
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.compiler_worker import CompilerWorker
from opera.difftest.messages import Compile, to_json
from opera.difftest.protocol import Ask, DiffTest, TestState
from opera.difftest.specs import compiler_spec
from opera.oracles.verdict import Verdict
from opera.store.database import open_workspace
from opera.workers.child import Stages
from opera.workers.process import PINNED_ENVIRONMENT
from opera.workers.protocol import Message

WARM_UP = 2
"""Tests before the clock starts."""


def main() -> None:
    """Prints what the compiler gains from a second core."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--frontend", required=True)
    parser.add_argument("--limit", type=int, default=1500, help="tests")
    parser.add_argument("--repeat", type=int, default=3, help="medians are printed")
    parser.add_argument("--share", nargs=3, metavar=("FILE", "K", "N"), help=argparse.SUPPRESS)
    arguments, source = parser.parse_known_args()
    if arguments.share:
        work(Path(arguments.share[0]), *map(int, arguments.share[1:]))
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        count = record(Path(folder) / "ws", told, arguments, source)
        one: list[float] = []
        two: list[float] = []
        for _ in range(arguments.repeat):
            one.append(seconds(told, cores[:1], Path(folder), arguments.compiler))
            two.append(seconds(told, cores, Path(folder), arguments.compiler))
            print(f"  {count:,} tests: {one[-1]:.1f} s on core {cores[0]}, {two[-1]:.1f} s on cores {cores[0]} and {cores[1]}", flush=True)
        ratio = statistics.median(one) / statistics.median(two)
        print(
            f"alone {arguments.compiler}/{arguments.frontend}: {ratio:.2f} times on two cores; medians of {arguments.repeat}"
            f"   [benchmarks/bench_alone.py {' '.join(sys.argv[1:])}]"
        )


def record(workspace: Path, told: Path, arguments: argparse.Namespace, source: list[str]) -> int:
    """Runs a campaign, and writes down what its workers were told of each test that passed; returns how many these are."""
    command = [sys.executable, "-m", "opera", "extract", *source, "--workspace", str(workspace), "-q"]
    subprocess.run(command, check=True, capture_output=True)
    messages: dict[str, Message] = {}
    ask = DiffTest.ask

    def ask_and_keep(self: DiffTest, state: TestState) -> Ask:
        step = ask(self, state)
        if isinstance(step.request, Compile):
            messages.setdefault(state.test.instance, to_json(step.request))
        return step

    options = ["--compiler", arguments.compiler, "--frontend", arguments.frontend, "--limit", str(arguments.limit)]
    with mock.patch.object(DiffTest, "ask", ask_and_keep):
        run.main([*options, "-q", "--exit-zero", "--workspace", str(workspace)], standalone_mode=False)
    with open_workspace(workspace, write=True) as space, space.transaction() as database:
        passed = [row[0] for row in database.execute("SELECT instance FROM results WHERE verdict = ?", (Verdict.PASS.value,))]
    registered = plugin(arguments.compiler)
    route = choose_route(registered.load(), arguments.frontend, None)
    spec = compiler_spec(Config({}), registered, [route.library], workspace / "cache", dict(route.environment))
    options = dict(spec.options)
    told.write_text(json.dumps({"options": options, "messages": [messages[key] for key in passed if key in messages]}))
    return len(passed)


def seconds(told: Path, cores: list[int], folder: Path, compiler: str) -> float:
    """Seconds until the last of the processes is through with its share, one process to a core; their starts are left out."""
    own = Path(tempfile.mkdtemp(dir=folder))  # what a compiler keeps on disk is not there yet
    environment = {**os.environ, **PINNED_ENVIRONMENT, **plugin(compiler).load().script_environment(own)}
    shares = [
        subprocess.Popen(
            [sys.executable, __file__, "--compiler", "-", "--frontend", "-", "--share", str(told), str(index), str(len(cores))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
        )
        for index, core in enumerate(cores)
    ]  # fmt: skip
    for share in shares:
        assert share.stdout is not None
        share.stdout.readline()
    began = time.perf_counter()
    for share in shares:
        assert share.stdin is not None
        share.stdin.write("\n")
        share.stdin.flush()
    for share in shares:
        if share.wait():
            raise SystemExit("the compiler's process died on a test that had passed")
    return time.perf_counter() - began


def work(told: Path, place: int, count: int) -> None:
    """Does every *count*-th task, beginning with that at *place*, when it is told so."""
    document = json.loads(told.read_text())
    worker = CompilerWorker(document["options"])
    worker.ready()
    for message in document["messages"][:WARM_UP]:
        worker.handle(message, Stages(lambda _: None))
    print(flush=True)
    sys.stdin.readline()
    for message in document["messages"][place::count]:
        worker.handle(message, Stages(lambda _: None))


if __name__ == "__main__":
    main()
