"""One task in one worker, for commands that need an answer and no campaign."""

from __future__ import annotations

import select
import time
from pathlib import Path

from opera.errors import EnvironmentBroken
from opera.worker.process import Broken, Done, Limits, Lost, Raised, Ready, Worker, WorkerSpec
from opera.worker.protocol import Message


def ask(spec: WorkerSpec, limits: Limits, scratch: Path, task: Message) -> Done | Raised | Lost:
    """Starts a worker, hands it *task*, and returns what came of it; the worker is gone afterwards.

    Raises:
        EnvironmentBroken: the worker cannot be set up.
    """
    worker = Worker(spec, limits, scratch)
    try:
        while True:
            select.select([worker], [], [], 0.05)
            for event in worker.receive():
                if isinstance(event, Ready):
                    worker.submit(task)
                elif isinstance(event, Broken):
                    raise EnvironmentBroken(
                        f"{spec.label} cannot be used here: {event.failure['message'][:300]}; `opera doctor` shows more"
                    )
                else:
                    return event
            lost = worker.overdue(time.monotonic())
            if lost is not None:
                return lost
    finally:
        worker.close()
