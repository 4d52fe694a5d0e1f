"""The interface of an adapter. Subclass `Adapter`, override attributes and methods, and register the class as an entry point.

An adapter is imported by the driver for its declarations (name, routes, packages), so its module must not import the compiler at the
top. Everything from `start` on runs in a worker process of the compiler's own.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from opera.arrays import Outputs, Signature
from opera.instance import Instance
from opera.models.opsets import NEWEST_CLAIMED
from opera.oracles.verdict import Failure


class CannotFeed(Exception):
    """The compiler's Python API has no way to pass or fetch such a value. Nothing is learned of the compiler: counted as unsupported."""


class CannotCapture(Exception):
    """The library's own capture of a live module failed before the compiler saw it. The message names it; the test is invalid."""


Stage = Callable[[str], None]


class Fork(enum.Enum):
    """When a process of this compiler may be copied, so that a test gets a fresh one cheaply. Threads do not survive the copying."""

    WARM = "warm"
    """After the canary has gone through it."""
    STARTED = "started"
    """Before it has compiled anything: the compiler keeps a thread pool."""
    NEVER = "never"


@dataclass(frozen=True)
class Route:
    """A chain from a library to the compiler.

    Attributes:
        frontend: The model format that the compiler loads (`onnx`, `pytorch`, `keras`, `tflite`).
        name: `onnx`, `exported-program`, `torchscript`, `dynamo` ...
        artefact: Kind of artefact that the compiler loads; None when it needs the live module, built in its own worker.
        library: The library whose instances become such models; by default it is called as the frontend is.
        environment: Environment variables of both workers, as pairs: the backend on which Keras runs, for instance.
        compares: Whether the compiled model runs, and its results are compared. Otherwise a test passes if `load` and `compile` do not
            raise: the route is an oracle of its own, e.g. a round trip.
        rejects: Whether models are ill-typed: a test passes if the compiler raises what the adapter's `rejections` name.
        marks: Whether the adapter can mark sizes of a live module's inputs as open.
    """

    frontend: str
    name: str
    artefact: str | None
    library: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    compares: bool = True
    rejects: bool = False
    marks: bool = False

    def __post_init__(self) -> None:
        if not self.library:
            object.__setattr__(self, "library", self.frontend)


REJECTS = "rejects"
"""Name of the routes on which models are ill-typed."""


def rejecting(frontend: str) -> Route:
    """The route on which a compiler has to reject ill-typed models of *frontend*."""
    return Route(frontend, REJECTS, "ill-typed", rejects=True)


def on_backend(backend: str) -> tuple[tuple[str, str], ...]:
    """The environment in which Keras runs on *backend* (`torch`, `tensorflow`, `jax`)."""
    return (("KERAS_BACKEND", backend),)


@dataclass(frozen=True)
class Subject:
    """One model as a compiler gets it.

    Attributes:
        route: How it came here.
        data: The artefact; empty on a live route.
        inputs: Name to value, in the model's order: an array, a list of arrays, or None.
        outputs: Number of outputs that the library gives.
        source: Gives the instance that it was made from.
        module: The live module on a live route.
    """

    route: Route
    data: bytes
    inputs: Mapping[str, Any]
    outputs: int
    source: Callable[[], Instance]
    module: Any = None

    @cached_property
    def instance(self) -> Instance:
        """What it was made from; it is decoded when it is first asked for, because few tests need it."""
        return self.source()


@dataclass(frozen=True)
class UnsupportedRule:
    """When an exception means that the compiler declines the operator, in its own typed way.

    Attributes:
        types: Fully qualified exception types, any of which must be the exception's own or one of its bases.
        reason: Short code under which such tests are counted.
        pattern: Must match somewhere in the message, where given.
        module: Prefix of the module of the innermost Python frame, where given: the check must be the compiler's own.
        stages: Stages in which the rule holds.
    """

    types: tuple[str, ...]
    reason: str
    pattern: str | None = None
    module: str | None = None
    stages: tuple[str, ...] = ("load",)

    def applies(self, failure: Failure, stage: str) -> bool:
        """Whether *failure*, as `opera.workers.failure.describe` makes it, says *unsupported* in *stage*."""
        if stage not in self.stages or not {failure["type"], *failure.get("bases", ())} & set(self.types):
            return False
        modules = [str(frame[0]) for frame in failure.get("frames", ()) if frame[0]]
        if self.module is not None and not (modules and modules[-1].startswith(self.module)):
            return False
        return self.pattern is None or re.search(self.pattern, str(failure["message"])) is not None


GENERAL_FORM = "general"
"""The issue form for a project without a form of its own."""
_SCRIPTS = Path(__file__).parent.parent / "templates" / "reproducers"


class Adapter:
    """Base of all adapters. The class attributes are declarations; the methods run in the worker."""

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    """Raise it when a change of the adapter may change a verdict: results of an earlier revision do not count."""
    routes: ClassVar[tuple[Route, ...]]
    """The first route of a frontend is its default."""
    packages: ClassVar[tuple[str, ...]]
    """Distributions that must be installed in the worker's environment, as requirements: with the lowest version that will do."""
    unsupported: ClassVar[tuple[UnsupportedRule, ...]] = ()
    rejections: ClassVar[tuple[UnsupportedRule, ...]] = ()
    """When an exception means that the compiler rejects an ill-typed model, in its own typed way."""
    computes_as: ClassVar[Mapping[str, str]] = {}
    """dtype to the dtype that the compiler declares to compute it as."""
    environment: ClassVar[Mapping[str, str]] = {}
    """Environment variables of its worker that may decide a result."""
    housekeeping: ClassVar[Mapping[str, str]] = {}
    """Environment variables of its worker, and of scripts, that decide no result: threads, caches, noise. `{cache}` in a value stands for
    a folder that it may write to."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Libraries that its package imports wherever they are installed, and needs for routes from PyTorch alone."""
    project: ClassVar[tuple[str, ...]] = ()
    """Prefixes of modules and parts of file paths that belong to the compiler: the importer is found by them."""
    levels: ClassVar[tuple[str, ...]] = ()
    """Names of its optimisation levels, the default first; `options["level"]` is one of them."""
    lowest_level: ClassVar[str | None] = None
    """The level that optimises least; None for the last of *levels*."""
    is_slow: ClassVar[bool] = False
    """Whether it is written to be read, not to be fast: a test that reaches its time limit is declined as `too-slow`, and is no finding."""
    is_interpreter: ClassVar[bool] = False
    """Whether it interprets the specification of its format, so that its results count for more than a compiler's."""
    gives_references: ClassVar[bool] = False
    """Whether the library of its frontend computes results with it."""
    fork: ClassVar[Fork] = Fork.WARM
    """When a process may be copied for a test of its own."""
    message_noise: ClassVar[tuple[str, ...]] = ()
    """Regular expressions of whole lines of its messages that say nothing of a failure: fingerprints and summaries leave them out."""
    message_prefixes: ClassVar[tuple[str, ...]] = ()
    """Regular expressions of what stands before the message proper: summaries leave it out."""
    python_frontend: ClassVar[tuple[str, ...]] = ()
    """Python packages that hold its frontends, where these are written in Python and load models that are kept as files."""
    issue_form: ClassVar[str] = GENERAL_FORM
    """Form of an issue for its project: the name of one of OPERA's, or else the text of a Jinja template, which has several lines."""
    target: ClassVar[str] = "cpu"
    """What scripts and exported suites compile for, by the compiler's own name."""
    test_tolerances: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """By frontend, absolute and relative tolerance of float32 in the project's own tests: exported suites keep to it where they can."""
    remarks: ClassVar[tuple[str, ...]] = ()
    """What a user may look for in vain, one line each: `opera doctor` prints them."""
    newest_opset: int = NEWEST_CLAIMED
    """The newest opset of ONNX that it says to load: it may refuse models of a newer one, and a wrong result of such a model is no fault of
    an operator. `start` sets it where a version of the compiler says so itself."""
    precision: ClassVar[str] = "float32"
    """The format in which it computes products of float32: `float32`, `TF32`, `float16` or `bfloat16`. In less, no campaign starts."""
    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    """The devices on which a suite may ask for a test: `cpu`, `cuda` or `mps`."""
    reproducer: ClassVar[Mapping[str, str]] = {}
    """By frontend, how a stand-alone script loads, compiles and runs a model: the text of a Jinja template."""

    builds_only: str = ""
    """Why compiled models cannot run on this machine, which `start` finds out: a test then ends after `compile` and `signature`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options

    @classmethod
    def level_below(cls, level: str | None) -> str | None:
        """The lowest level, where *level* (None being the default) is a higher one."""
        lowest = cls.lowest_level or (cls.levels[-1] if cls.levels else None)
        return lowest if lowest != (level or next(iter(cls.levels), None)) else None

    @classmethod
    def worker_environment(cls, cache: Path) -> dict[str, str]:
        """All environment variables that its worker has of its own; *cache* is a folder that it may write to."""
        return {**cls.script_environment(cache), **cls.environment}

    @classmethod
    def script_environment(cls, cache: Path) -> dict[str, str]:
        """The environment variables that scripts have as well; *cache* is a folder that they may write to."""
        return {name: value.replace("{cache}", str(cache)) for name, value in cls.housekeeping.items()}

    @classmethod
    def script_template(cls, frontend: str) -> str | None:
        """Returns the adapter's `reproducer` for *frontend*, else the built-in template of that name, else None."""
        own = _SCRIPTS / f"{cls.name}_{frontend}.py.j2"
        return cls.reproducer.get(frontend) or (own.read_text(encoding="utf-8") if own.is_file() else None)

    def start(self) -> Mapping[str, str]:
        """Imports the compiler, pins its settings, and returns versions and settings; raises where it cannot work."""
        raise NotImplementedError

    def load(self, subject: Subject, stage: Stage) -> Any:
        """Stage `load`: the model in the compiler's own representation."""
        raise NotImplementedError

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        """Stages `optimize` and `codegen`, entered with *stage*: something that can run."""
        raise NotImplementedError

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        """The dtype and the shape of each output as the compiled model states them, before it runs; None where it does not say."""
        return None

    def is_spent(self) -> bool:
        """Whether this process can test nothing more; asked after a failure. A GPU that stops one kernel refuses all later ones."""
        return False

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        """Stage `run`: one entry per output, as numpy arrays, lists of arrays, or None."""
        raise NotImplementedError

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object] | None:
        """A call of the model whose inputs have been fed, for timing; None where each run converts its inputs."""
        return None

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The conversion function that a failure belongs to; *failure* is None for an inconsistency."""
        return subject.instance.operator

    def converters(self, subject: Subject) -> Sequence[str]:
        """The conversion functions that a model goes through, as `opera fuzz assess` counts them."""
        return (self.converter(subject, None),)

    def watched(self, scratch: Path) -> AbstractContextManager[dict[str, None]]:
        """The names of the passes that change a model while the context is open, in order; none of a compiler that does not tell.

        Args:
            scratch: A folder to write to.
        """
        return nullcontext(dict[str, None]())

    def without(self, name: str) -> AbstractContextManager[None]:
        """While the context is open, the compiler leaves out the pass *name*, which `watched` gave."""
        return nullcontext()


@dataclass(frozen=True)
class Declined:
    """An `UnsupportedRule` that applied."""

    reason: str
    rule: UnsupportedRule = field(repr=False)


def declined(rules: Sequence[UnsupportedRule], failure: Failure, stage: str) -> Declined | None:
    """The first rule that applies to *failure*, if any."""
    return next((Declined(rule.reason, rule) for rule in rules if rule.applies(failure, stage)), None)
