"""Where the time of a test goes in a campaign with a filled cache, step by step.

python benchmarks/bench_messages.py [COMPILER ...]

Microseconds of each step on the ONNX node tests: medians, which other work on the machine hardly changes.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from bench import ONNX, campaign_rate, run_opera

from opera.difftest.protocol import DiffTest
from opera.run.campaign import _Campaign, _ResultWriter
from opera.run.scheduler import Scheduler
from opera.workers.process import Done, Event, Worker
from opera.workers.protocol import Message


def main() -> None:
    """Prints the table of each compiler."""
    with tempfile.TemporaryDirectory() as folder:
        run_opera(*ONNX.command, "--workspace", folder)
        for compiler in sys.argv[1:] or ["onnxruntime"]:
            campaign_rate(Path(folder), f"{compiler}/onnx", None)
            with Course() as course:
                campaign_rate(Path(folder), f"{compiler}/onnx", None)
            print(f"{compiler}: microseconds of a test, medians of {course.tests:,}   [benchmarks/bench_messages.py {compiler}]")
            for step, micros in course.table():
                print(f"  {step:72}{micros:8.0f}")


class Course:
    """Notes when the compiler's worker is given each task and when its answer is there, and what the driver does meanwhile."""

    PARTS = (
        (Scheduler, "_take_cached", "driver, while the worker is busy: chooses a test, and finds its model"),
        (Scheduler, "_prepare", "driver, while the worker is busy: makes the next request"),
        (DiffTest, "answered", "driver, while the worker is busy: judges the answer"),
        (_ResultWriter, "flush", "driver, while the worker is busy: writes to the database (mean)"),
        (_Campaign, "_result", "driver, while the worker is busy: keeps result and journal"),
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
        """Number of tests that the worker has done."""
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


if __name__ == "__main__":
    main()
