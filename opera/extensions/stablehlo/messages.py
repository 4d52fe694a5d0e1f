"""What the interpreter's worker is asked, and what it answers, as JSON. The driver checks each answer by the types of these classes.

A worker imports this module where msgspec is not installed: it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Which: TypeAlias = Literal["reference", "readable"]
"""An interpreter: that of jaxlib, or OPERA's own."""


@dataclass(frozen=True)
class RawTensor:
    """A tensor: its type as MLIR writes it, and its elements in base64: C order, little-endian, whole bytes.

    *data* is None for what cannot be kept, e.g. a token, or where only the checks were wanted.
    """

    type: str
    data: str | None


@dataclass(frozen=True)
class RawArray:
    """An input from a file: its dtype and shape as numpy has them, and its elements in base64."""

    name: str
    dtype: str
    shape: list[int]
    data: str


@dataclass(frozen=True)
class Interpret:
    """Evaluate the functions of a program.

    Attributes:
        text: The program, with its checks in generic form.
        function: The only function to evaluate; None for all that no other function calls.
        without: Places among these functions that are left out: they ended the process before.
        arguments: Inputs as an array attribute of MLIR; None for none.
        arrays: Inputs from a file; None for none.
        with_results: Whether the results are wanted, and not the checks alone.
        interpreter: Which one evaluates.
        passes: Passes of StableHLO that the program goes through first.
    """

    text: str
    function: str | None = None
    without: tuple[int, ...] = ()
    arguments: str | None = None
    arrays: tuple[RawArray, ...] | None = None
    with_results: bool = False
    interpreter: Which = "reference"
    passes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The request as a task of a worker."""
        return {"is": "interpret", **asdict(self), "without": list(self.without), "passes": list(self.passes)}


@dataclass(frozen=True)
class Checked:
    """A check that was evaluated, once for each time that the program came by.

    Attributes:
        check: What it demands.
        line: Line of the text, counted from 1; 0 where that is not known.
        times: How often it was evaluated; 0 where the program never came by.
        mismatch: What is wrong, as one line; None where it holds.
        index, actual, expected: The first element that differs.
    """

    check: str
    line: int
    times: int
    mismatch: str | None = None
    index: list[int] | None = None
    actual: str | None = None
    expected: str | None = None


@dataclass(frozen=True)
class Printed:
    """A value that the program prints, under the name that it has there."""

    name: str
    value: RawTensor


@dataclass(frozen=True)
class Evaluated:
    """A function.

    Attributes:
        name: Its symbol, without the sign.
        line: On which it begins.
        inputs: The types of its inputs.
        checks: Its checks, and those of the functions that it calls.
        results: Its results, where they were wanted and it ended.
        printed: What it prints, in the order of time.
        failure: Why it has none: what the interpreter said.
        kind: Kind of the failure. `raised`: by the interpreter. `inputs`: they do not fit. `type`: it cannot be taken out of a program.
            `unknown`: the interpreter does not know an operation. `left-out`: the request said so.
    """

    name: str
    line: int
    inputs: list[str]
    checks: list[Checked]
    results: list[RawTensor]
    printed: list[Printed]
    failure: str | None = None
    kind: Literal["raised", "inputs", "type", "unknown", "left-out"] | None = None


@dataclass(frozen=True)
class Interpreted:
    """The program was read; *names* are those of all of its functions."""

    functions: list[Evaluated]
    names: list[str]


@dataclass(frozen=True)
class Refused:
    """The program, or the inputs, are not what they should be.

    Attributes:
        message: What is wrong.
        line: Where, counted from 1 in the text; 0 where the text is not at fault.
        unknown: The operation or pass of StableHLO that this version does not know, if that is the reason.
    """

    message: str
    line: int
    unknown: str | None = None


@dataclass(frozen=True)
class Fold:
    """Replace operations of a program whose operands are constants by their results.

    Attributes:
        text: The program, with its checks in generic form.
        interpreter: Which one evaluates.
        most: Elements that a result may have.
    """

    text: str
    interpreter: Which
    most: int

    def to_json(self) -> dict[str, Any]:
        """The request as a task of a worker."""
        return {"is": "fold", **asdict(self)}


@dataclass(frozen=True)
class Folded:
    """A program after folding; *operations* were replaced, by name, and *kept* were not, by reason."""

    text: str
    operations: dict[str, int]
    kept: dict[str, int]


@dataclass(frozen=True)
class Compose:
    """Write a model with its inputs and outputs as a self-checking program.

    Attributes:
        text: A module with a function `main`.
        name: Name of the function in the program.
        inputs: Its inputs.
        expected: What it has to give.
        tolerances: The largest difference of each result; None for one that has to be equal bit by bit.
    """

    text: str
    name: str
    inputs: list[RawTensor]
    expected: list[RawTensor]
    tolerances: list[float | None]

    def to_json(self) -> dict[str, Any]:
        """The request as a task of a worker."""
        return {"is": "compose", **asdict(self)}


@dataclass(frozen=True)
class Composed:
    """The text of a self-checking program."""

    text: str


def to_answer(answer: Interpreted | Composed | Folded | Refused) -> dict[str, Any]:
    """The answer as a message."""
    return {"is": type(answer).__name__.lower(), **asdict(answer)}
