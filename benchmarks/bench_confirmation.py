"""What a fresh process costs, compiler by compiler: a newly started one, and a copy of one that has everything imported.

python benchmarks/bench_confirmation.py [--compiler tvm ...] [--repeat 5]

The test is the canary. Each figure is CPU time of the process, its threads and its children, in milliseconds: other
work changes it less than wall time. `start` is a process until it is ready, with its imports; `first` the first test in it; `warm` the
same test again. `copy` is the test in a copy, as confirmations have it: of a process that has run the canary (fork `warm`), or that has
compiled nothing (fork `started`).
"""

from __future__ import annotations

import argparse
import select
import statistics
import tempfile
from pathlib import Path
from typing import Any

from opera.compilers.adapter import Fork
from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.messages import to_json
from opera.difftest.protocol import TestState
from opera.difftest.session import canary_tests
from opera.difftest.specs import compiler_spec, library_spec
from opera.workers.process import Done, Event, Limits, Ready, Worker
from opera.workers.protocol import Message
from opera.workers.session import session
from opera.workers.supervision import supervised

SUBJECTS = (
    "onnxruntime/onnx", "openvino/onnx", "tvm/onnx", "iree/onnx", "openvino/pytorch", "tvm/pytorch", "inductor/pytorch", "xla/keras",
    "litert/tensorflow",
)  # fmt: skip


def main() -> None:
    """Prints a row for each subject."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, help="as compiler/frontend or compiler/frontend/route")
    parser.add_argument("--repeat", type=int, default=5, help="starts, and copies of each; medians are printed")
    arguments = parser.parse_args()
    print("| subject | fork | start | first | warm | copy |")
    print("|---|---|---|---|---|---|")
    for subject in arguments.subjects:
        print(row(subject, arguments.repeat), flush=True)


def row(subject: str, repeat: int) -> str:
    """The row of a subject, with medians."""
    compiler, frontend, *named = subject.split("/")
    with tempfile.TemporaryDirectory() as folder, supervised():
        spec, task = prepared(compiler, frontend, named[0] if named else None, Path(folder))
        fork = plugin(compiler).load().fork
        figures: dict[str, list[float]] = {"start": [], "first": [], "warm": [], "copy": []}
        for _ in range(repeat):
            measure(Worker(spec, Limits(), Path(folder)), task, fork, figures)
    texts = (f"{1e3 * statistics.median(each):,.0f}" if each else "no copies" for each in figures.values())
    return f"| {subject} | {fork.value} | {' | '.join(texts)} |"


def prepared(compiler: str, frontend: str, name: str | None, folder: Path) -> tuple[Any, Message]:
    """How to start the compiler's worker, and its request for the canary."""
    registered = plugin(compiler)
    route = choose_route(registered.load(), frontend, name)
    cache = folder / "ws" / "cache"
    cache.mkdir(parents=True)
    environment = dict(route.environment)
    difftest, tests = canary_tests(route, f"{compiler}/{frontend}", 0)
    state = difftest.begin(tests[0])
    assert isinstance(state, TestState)
    with session(library_spec(Config({}), route.library, cache, environment), Limits(), folder) as library:
        ready = library.start()
        assert isinstance(ready, Ready), ready
        after = difftest.answered(state, library.ask(to_json(difftest.ask(state).request)))
    assert isinstance(after, TestState), after
    return compiler_spec(Config({}), registered, [route.library], cache, environment), to_json(difftest.ask(after).request)


def measure(worker: Worker, task: Message, fork: Fork, figures: dict[str, list[float]]) -> None:
    """One process from its start to its end."""
    try:
        ready = following(worker)
        assert isinstance(ready, Ready), ready
        figures["start"].append(spent(worker.pid))
        if fork is Fork.STARTED:
            figures["copy"].append(done(worker, task, fork=True))
        figures["first"].append(done(worker, task))
        figures["warm"].append(done(worker, task))
        if fork is Fork.WARM:
            figures["copy"].append(done(worker, task, fork=True))
    finally:
        worker.close()


def done(worker: Worker, task: Message, *, fork: bool = False) -> float:
    """CPU seconds of one task."""
    before = spent(worker.pid)
    worker.submit(task, fork=fork)
    event = following(worker)
    assert isinstance(event, Done), event
    return spent(worker.pid) - before


def following(worker: Worker) -> Event:
    """The next event of a worker."""
    while True:
        select.select([worker], [], [], 0.05)
        for event in worker.receive():
            return event
        lost = worker.overdue()
        if lost is not None:
            return lost


def spent(pid: int) -> float:
    """CPU seconds of a process, and of its children that have ended."""
    schedstat = Path(f"/proc/{pid}/task")
    own = sum(int((each / "schedstat").read_text().split()[0]) for each in schedstat.iterdir()) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return own + (int(fields[13]) + int(fields[14])) / TICKS


TICKS = 100
"""Ticks per second of the clock in which Linux gives the times of ended children."""


if __name__ == "__main__":
    main()
