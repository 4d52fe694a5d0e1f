"""Folds constants of programs, in a worker that may die."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from opera.config import Config
from opera.console import one_line
from opera.errors import OperaError, UserError
from opera.extensions.stablehlo.conformance.files import SourceFile, Unreadable
from opera.extensions.stablehlo.conformance.worker import StableHloWorker
from opera.extensions.stablehlo.messages import Fold, Folded, Refused, Which
from opera.workers.process import Limits

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
        limits: Limits of the worker; the time is that of one program.
        interpreter: Which one evaluates.
        most: Elements that a folded result may have.

    Raises:
        UserError: a program is no StableHLO.
        OperaError: the worker was lost.
        EnvironmentBroken: the interpreter does not start here.
    """
    texts: list[str] = []
    operations, kept = Counter[str](), Counter[str]()
    with StableHloWorker(config, scratch, limits) as worker:
        for program in source.programs:
            if isinstance(program, Unreadable):
                raise UserError(f"{source.name}:{program.line}: {program.message}; correct the program")
            folded = worker.ask(Fold(program.text, interpreter, most).to_json())
            if isinstance(folded, Refused):
                line = program.line + max(folded.line - 1, 0)
                raise UserError(f"{source.name}:{line}: {one_line(folded.message)}; correct the program")
            if not isinstance(folded, Folded):
                raise OperaError(f"{source.name}:{program.line}: {folded}; choose the other interpreter with --interpreter")
            texts.append(folded.text)
            operations.update(folded.operations)
            kept.update(folded.kept)
    return FoldedFile(_BETWEEN.join(texts), operations, kept)
