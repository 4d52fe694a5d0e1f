"""Folds constants of programs, in a worker that may die."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from opera.config import Config
from opera.conformance.files import SourceFile, Ungrammatical
from opera.conformance.runner import obituary, worker_pool
from opera.console import one_line
from opera.errors import OperaError, UserError
from opera.stablehlo.messages import Fold, Folded, Refused, Which
from opera.workers.messages import Message, checked
from opera.workers.pool import WorkerPool
from opera.workers.pool_protocol import WorkerKind
from opera.workers.process import Done, Limits, Lost, Raised

_BETWEEN = "\n// -----\n\n"


@dataclass(frozen=True)
class FoldedFile:
    """A file after folding.

    Attributes:
        text: Its programs, with the line between them that separates programs.
        operations: How many operations were replaced, by name.
        kept: How many operations with constant operands were not, by reason.
    """

    text: str
    operations: Counter[str]
    kept: Counter[str]


def fold_file(config: Config, scratch: Path, source: SourceFile, limits: Limits, interpreter: Which, most: int) -> FoldedFile:
    """Folds the constants of the programs of a file.

    Args:
        config: Says which interpreter of Python to use.
        scratch: A folder for working files.
        source: The file.
        limits: Of the worker; the time is that of one program.
        interpreter: Which one evaluates.
        most: Elements that a folded result may have.

    Raises:
        UserError: a program is no StableHLO.
        OperaError: the worker was lost.
        EnvironmentBroken: the interpreter does not start here.
    """
    pool = worker_pool(config, scratch, 1, limits)
    texts: list[str] = []
    operations, kept = Counter[str](), Counter[str]()
    try:
        for number, program in enumerate(source.programs):
            if isinstance(program, Ungrammatical):
                raise UserError(f"{source.name}:{program.line}: {program.message}; correct the program")
            task = Fold(program.text, interpreter, most).to_json()
            folded = _answer(source.name, program.line, _ended(pool, number, task))
            texts.append(folded.text)
            operations.update(folded.operations)
            kept.update(folded.kept)
    finally:
        pool.close()
    return FoldedFile(_BETWEEN.join(texts), operations, kept)


def _ended(pool: WorkerPool, number: int, task: Message) -> Done | Raised | Lost:
    """What came of *task*."""
    is_given = False
    while True:
        is_given = is_given or pool.assign(WorkerKind.LIBRARY, number, task)
        for _, _, event in pool.wait():
            return event


def _answer(name: str, line: int, event: Done | Raised | Lost) -> Folded:
    if isinstance(event, Lost):
        _, reason = obituary(event)
        raise OperaError(f"{name}:{line}: {reason}; choose the other interpreter with --interpreter")
    if isinstance(event, Raised):
        raise OperaError(f"{name}:{line}: {one_line(event.failure['message'])}")
    plain = {key: value for key, value in event.result.items() if key != "is"}
    if event.result.get("is") == "refused":
        refused = checked(plain, Refused)
        raise UserError(f"{name}:{line + max(refused.line - 1, 0)}: {one_line(refused.message)}; correct the program")
    return checked(plain, Folded)
