"""The workers in which StableHLO programs are read and evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opera.compilers.registry import plugin
from opera.config import Config
from opera.console import one_line
from opera.errors import EnvironmentBroken
from opera.extensions.stablehlo.messages import Composed, Folded, Interpreted, Refused
from opera.workers.messages import ROLES, Answers, Message, checked
from opera.workers.process import Broken, Done, Limits, Lost, WorkerSpec
from opera.workers.session import WorkerSession

JUDGE = "stablehlo-reference"
"""The adapter whose interpreter and environment are used."""
_ROLE = "opera.extensions.stablehlo.templates.interpreter:Interpreter"
_ANSWERS = {"interpreted": Interpreted, "folded": Folded, "composed": Composed, "refused": Refused}


@dataclass(frozen=True)
class Info:
    """What a worker says of itself: the versions of jaxlib and StableHLO."""

    versions: dict[str, str]


ROLES[_ROLE] = Answers(Info, _ANSWERS)


def spec_of(config: Config, scratch: Path) -> WorkerSpec:
    """How a worker starts. Parallel programs wait for each other, so it is bound to no core."""
    python = config.python("compiler", JUDGE)
    environment = {**plugin(JUDGE).load().worker_environment(scratch), **config.environment(JUDGE)}
    return WorkerSpec(JUDGE, _ROLE, {}, python, environment=environment, search_first=config.search_first(JUDGE), is_pinned=False)


def answer_of(event: Done) -> Interpreted | Folded | Composed | Refused:
    """The answer in a message of a worker."""
    plain = {key: value for key, value in event.result.items() if key != "is"}
    return checked(plain, _ANSWERS[str(event.result.get("is"))])


class StableHloWorker:
    """One worker, which is asked one thing after the other, and starts again where it was lost. To be used as a context manager.

    Args:
        config: Says which interpreter of Python to use.
        scratch: A folder for working files.
        limits: Limits of the worker.
    """

    def __init__(self, config: Config, scratch: Path, limits: Limits) -> None:
        self._start = lambda: WorkerSession(spec_of(config, scratch), limits, scratch)
        self._session: WorkerSession | None = None

    def __enter__(self) -> StableHloWorker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            self._session.close()

    def ask(self, task: Message) -> Folded | Composed | Interpreted | Refused | str:
        """The answer to *task*; where there is none, why.

        Raises:
            EnvironmentBroken: the interpreter does not start here.
        """
        event = self._open().ask(task)
        if isinstance(event, Done):
            return answer_of(event)
        if isinstance(event, Lost):
            self._open().close()
            self._session = None
            return one_line(f"the interpreter's process was lost: {event.cause}, {event.detail}")
        return one_line(f"{event.failure['type']}: {event.failure['message']}", 300)

    def _open(self) -> WorkerSession:
        if self._session is None:
            self._session = self._start()
            event = self._session.start()
            if isinstance(event, Broken | Lost):
                why = event.failure["message"] if isinstance(event, Broken) else "its process ended"
                raise EnvironmentBroken(f"the interpreter of StableHLO does not start: {one_line(why, 300)}; `opera doctor` shows more")
        return self._session
