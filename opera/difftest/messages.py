"""The requests to the two workers of a test, and their replies: one class for each message.

A worker imports this module where neither OPERA's driver nor msgspec is installed: only the standard library is used here. The driver
checks each answer by the types of these classes, see `opera.workers.messages`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast

from opera.oracles.verdict import DifferenceFacts, Failure, KeptFacts, LostFacts

NOTHING_COMPARED = "nothing-compared"
"""The reason of a test that passes on a route that compares no results."""
SAME_SIGNATURE = "same-signature"
"""The reason of a test that passes where compiled models cannot run: they state the dtypes and shapes of the library's outputs."""
BUILDS_ONLY: Mapping[str, str] = {"runs": "no"}
"""What a worker's versions also say where compiled models cannot run."""
REJECTED = "rejected"
"""The reason of a test that passes because the compiler rejects its ill-typed model."""
Document = str
"""An `instance/1` document as JSON text: the driver passes it on as the workspace has it."""

_BLOB = re.compile(r"[0-9a-f]{64}", re.ASCII)


def to_json(message: Any) -> dict[str, Any]:
    """The JSON form of a request or an answer; its class is named under `is`."""
    document = {each.name: getattr(message, each.name) for each in fields(message)}
    return {"is": _TAGS[type(message)], **{name: _plain(value) for name, value in document.items()}}


def tag_of(kind: type[Any]) -> str:
    """The value of the key `is` in messages of this class."""
    return _TAGS[kind]


def from_json(document: Mapping[str, Any]) -> Any:
    """Inverse of `to_json`, for documents that are trusted or were checked; keys that the class does not know are left out."""
    kind = _CLASSES[document["is"]]
    return kind(**{each.name: _typed(document[each.name]) for each in fields(kind) if each.name in document})


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return to_json(value) if type(value) in _PARTS else value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return [_typed(each) for each in cast("list[Any]", value)]
    return from_json(cast("dict[str, Any]", value)) if isinstance(value, dict) and "is" in value else cast(object, value)


def _check_blob(*names: str | None) -> None:
    for name in names:
        if name is not None and _BLOB.fullmatch(name) is None:
            raise ValueError(f"{name[:40]!r} is no name of a stored file")


# Requests to the library's worker.


@dataclass(frozen=True)
class Materialise:
    """Make the model of an instance.

    Attributes:
        instance: An `instance/1` document.
        key: Decides, with *seed*, what is drawn for values that were not kept.
        seed: Seed of the inputs.
        kind: Kind of artefact; None where the compiler takes the live module.
        form: Input form.
        with_reference: Whether inputs and reference outputs are wanted as well.
    """

    instance: Document
    key: str
    seed: int
    kind: str | None
    form: str
    with_reference: bool


@dataclass(frozen=True)
class WriteSource:
    """Write the model as a script of its library."""

    instance: Document
    key: str
    seed: int
    form: str


@dataclass(frozen=True)
class Review:
    """Asks the library's worker to review a confirmed failure.

    Attributes:
        instance, key, seed, kind: As the model was made.
        outputs: The bundle of the compiler's outputs; None where it gave none.
        bundle: Inputs and reference outputs.
        model: The artefact that the compiler was given.
        computes_as: The dtypes that the compiler declares to compute as others.
        of_values: Whether the values that the compiler was given may be the reason of the failure.
    """

    instance: Document
    key: str
    seed: int
    kind: str | None
    outputs: str | None
    bundle: str
    model: str | None
    computes_as: dict[str, str]
    of_values: bool = True


@dataclass(frozen=True)
class CallRecorded:
    """Call recorded instances once each. *calls* are pairs of an instance as JSON text, and its key."""

    calls: list[tuple[str, str]]
    seed: int


# Requests to the compiler's worker.


@dataclass(frozen=True)
class Compile:
    """Load, compile, run and compare a model.

    Attributes:
        instance, key, seed: As the model was made.
        route: Frontend and name of the route.
        bundle: Inputs and reference outputs.
        model: The artefact; None where the live module is rebuilt.
        level: Optimisation level; None for the campaign's.
        keep: Whether to keep the outputs, whatever the verdict.
    """

    instance: Document
    key: str
    seed: int
    route: tuple[str, str]
    bundle: str
    model: str | None
    level: str | None
    keep: bool = False


@dataclass(frozen=True)
class TimeCompiled:
    """Load and compile *model*, run it *repeats* times, and time each run."""

    model: Compile
    repeats: int


@dataclass(frozen=True)
class BlamePass:
    """Name the first pass of the compiler without which *model* does not fail."""

    model: Compile


@dataclass(frozen=True)
class TimeCalls:
    """Call the library *repeats* times, and time each call."""

    instance: Document
    key: str
    seed: int
    repeats: int


Request = Materialise | WriteSource | Review | CallRecorded | TimeCalls | Compile | TimeCompiled | BlamePass


# Answers of the library's worker.


@dataclass(frozen=True)
class KeptReference:
    """Inputs and reference outputs of an instance.

    Attributes:
        bundle: Their name in the cache.
        undefined: Why the outputs are no reference; None where they are one.
        origin: Who says so: `library`, or `declared`.
        structure: How the library nests its outputs, as text.
    """

    bundle: str
    undefined: str | None = None
    origin: str = "library"
    structure: str = "tuple"

    def __post_init__(self) -> None:
        _check_blob(self.bundle)


@dataclass(frozen=True)
class KeptModel:
    """A model in a form that compilers load.

    Attributes:
        model: Its name in the cache; None where the compiler rebuilds the live module.
        suspect: The exporter that made it, where it is no model by the rules of its format, or does not take the inputs.
    """

    model: str | None = None
    suspect: str | None = None

    def __post_init__(self) -> None:
        _check_blob(self.model)


@dataclass(frozen=True)
class Made:
    """The model is in the cache. Without *reference*, none was asked for."""

    artefact: KeptModel
    reference: KeptReference | None = None


@dataclass(frozen=True)
class InstanceRejected:
    """The library rejects the instance at *stage*, or its own capture fails."""

    reason: str
    stage: str
    failure: Failure
    reference: KeptReference | None = None


@dataclass(frozen=True)
class ExporterFailed:
    """An exporter failed. *unsupported* says that it declines such models; the driver finds that out."""

    exporter: str
    failure: Failure
    unsupported: str | None = None
    reference: KeptReference | None = None


@dataclass(frozen=True)
class Unwritable:
    """The cache takes no file, which says nothing of the instance."""

    failure: Failure


@dataclass(frozen=True)
class ModelSource:
    """A script: its imports, what makes model and inputs, what computes the expected outputs, and whether these are always the same."""

    imports: list[str]
    text: str
    expected: str
    repeatable: bool = True


@dataclass(frozen=True)
class Reviewed:
    """The excuse of the failure, or the project at fault instead of the compiler; None without either."""

    reason: str | None = None
    why: str | None = None
    culprit: str | None = None


@dataclass(frozen=True)
class Refusal:
    """Why a call did not return."""

    reason: str
    type: str
    message: str


@dataclass(frozen=True)
class CallAnswers:
    """One entry per call: None for one that returned."""

    answers: list[Refusal | None]


@dataclass(frozen=True)
class LibraryLost:
    """The library's process ended. The driver says so, no worker does.

    Attributes:
        reason: `library-hang`, `library-oom` or `library-abort`.
        stage: Where it was.
        lost: `cause` and `detail`, as `opera.workers.process.Lost` has them.
        log: The end of what it printed.
    """

    reason: str
    stage: str
    lost: LostFacts
    log: str = ""


Answer = Made | InstanceRejected | ExporterFailed | LibraryLost
"""The reply to a request for a model."""
Kept = KeptReference | KeptModel | InstanceRejected | ExporterFailed | LibraryLost
"""The stored parts of a reply: one under the key of the reference, one under the key of the model."""


# Answers of the compiler's worker.


@dataclass(frozen=True)
class FirstPass:
    """The first pass of a compiler without which a model does not fail; None where no pass alone is to blame."""

    name: str | None


@dataclass(frozen=True)
class Compared:
    """The compiler did what it has to do, or gives other outputs.

    Attributes:
        difference: None where the outputs are the library's, or where no outputs are wanted.
        converter: The conversion function, with a difference.
        outputs: Names the bundle of the compiler's outputs, with a difference.
        kept: Names of all outputs, if the request was to keep them.
        how: What passing means where no outputs are wanted: `SAME_SIGNATURE`, `NOTHING_COMPARED` or `REJECTED`.
    """

    difference: DifferenceFacts | None
    converter: str | None = None
    outputs: str | None = None
    kept: KeptFacts | None = None
    how: str | None = None

    def __post_init__(self) -> None:
        _check_blob(self.outputs)
        if self.kept is not None:
            _check_blob(self.kept["outputs"], self.kept["reference"])
        if self.difference is not None and self.converter is None:
            raise ValueError("a difference without a converter")


@dataclass(frozen=True)
class Timed:
    """Seconds of each warm call. *with_feeding* says that they contain the conversion of inputs and outputs."""

    seconds: list[float]
    with_feeding: bool = False


@dataclass(frozen=True)
class CompilerRaised:
    """The compiler raised at *stage*.

    Attributes:
        unsupported: The rule by which the compiler says that it cannot do this.
        converter: The conversion function.
        is_ours: Whether the adapter's own code is at fault, which says nothing of the compiler.
    """

    stage: Literal["export", "load", "optimize", "codegen", "run", "compare", "release"]
    failure: Failure
    unsupported: str | None
    converter: str
    is_ours: bool = False


@dataclass(frozen=True)
class NotCaptured:
    """The library cannot capture the live module."""

    reason: str
    failure: Failure


@dataclass(frozen=True)
class Damaged:
    """A file of the cache has to be made again."""

    reason: str


FROM_LIBRARY = (Made, InstanceRejected, ExporterFailed, Unwritable, ModelSource, Reviewed, CallAnswers, Timed)
FROM_COMPILER = (Compared, Timed, FirstPass, CompilerRaised, NotCaptured, Damaged)
_TAGS: dict[type[Any], str] = {
    Materialise: "materialise",
    WriteSource: "write-source",
    Review: "review",
    CallRecorded: "call",
    TimeCalls: "time",
    Timed: "timed",
    FirstPass: "first-pass",
    Compile: "compile",
    TimeCompiled: "time-compiled",
    BlamePass: "blame-pass",
    KeptReference: "reference",
    KeptModel: "artefact",
    Made: "made",
    InstanceRejected: "rejected",
    ExporterFailed: "export-failed",
    Unwritable: "unwritable",
    ModelSource: "source",
    Reviewed: "reviewed",
    CallAnswers: "called",
    Refusal: "refusal",
    LibraryLost: "library-lost",
    Compared: "compared",
    CompilerRaised: "raised",
    NotCaptured: "not-captured",
    Damaged: "damaged",
}
_CLASSES = {tag: kind for kind, tag in _TAGS.items()}
_PARTS = (KeptReference, KeptModel, Refusal, Compile)
"""Messages that are parts of other messages."""
