"""The interface of a library's model template. Templates are in `templates/`, and run in the library's worker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from opera.arrays import ModelValue, Outputs
from opera.errors import EnvironmentBroken, UserError
from opera.instance import Instance
from opera.oracles.blame import Undefined
from opera.plugins import registered

LIBRARY_RAISED = "library-raised"
"""Reason code of a call that the library itself rejects, by raising the exception that is the cause."""


class Invalid(Exception):
    """The instance cannot become a model of its library. The message is the reason code, the cause the library's exception."""


class ExportFailed(Exception):
    """An exporter that stands between library and compiler failed; it is under test itself. The cause is its exception.

    Attributes:
        exporter: Its name (`torch.onnx`).
    """

    def __init__(self, exporter: str) -> None:
        super().__init__(f"{exporter} failed")
        self.exporter = exporter


@dataclass(frozen=True)
class Reference:
    """The library's own result.

    Attributes:
        outputs: One entry per output: an array, or a nested list of arrays for a sequence, or None for an absent optional.
        precise: The same in double precision; None where it cannot be had.
        undefined: Why the outputs are no reference (`nondeterministic`, ...); None when they are one.
        origin: Who says so: `library`, or `declared` for outputs that the source itself declares.
        structure: How the library nests its outputs, as text.
    """

    outputs: Outputs
    precise: Outputs | None = None
    undefined: str | None = None
    origin: str = "library"
    structure: str = "tuple"


@dataclass(frozen=True)
class Artefact:
    """A model in a form that compilers load.

    Attributes:
        data: Its bytes.
        suspect: The exporter that made it, when it is no model by the rules of its format, or one that does not take the inputs.
    """

    data: bytes
    suspect: str | None = None


class Model(Protocol):
    """A single-operator model in its library's own format."""

    @property
    def inputs(self) -> Sequence[tuple[str, ModelValue]]:
        """Name and value of every input; a value is an array, a list of arrays, or None."""
        ...

    def run_once(self) -> object:
        """Calls the library once with the inputs: no second run, no comparison. The caller ignores the result.

        Raises:
            Invalid: with reason `library-raised` and the library's exception as its cause where the call raises; with another reason
                where the call cannot be made.
        """
        ...

    def reference(self) -> Reference:
        """Runs the library; raises `Invalid` where it rejects the instance."""
        ...

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> Outputs | None:
        """The outputs in double precision for floating-point inputs that are off by the relative amount *scale*; None where they fail.

        *draw* says in which directions: all up, all down, or at random. Of a graph, some draws are computed in its own precision.
        *computes_as* names dtypes to which the inputs are rounded before.
        """
        ...

    def exact(self, dtype: str) -> Outputs | None:
        """The outputs where all integers that *dtype* holds are *dtype*; None where the library does not take these.

        As int64, which signed ones become, few overflow; as float64 nothing is rounded.
        """
        ...

    def shapes_elsewhere(self) -> Sequence[tuple[int, ...]] | None:
        """The shapes of the outputs on another kind of device, as the library itself has them; None where it does not say."""
        ...

    def captured(self, kind: str, data: bytes) -> tuple[str, Outputs | Undefined | None] | None:
        """The result of an artefact without a compiler, and the name of its exporter; None if nothing here can run it.

        The library runs what it captured itself; what an exporter made is run by the reference implementation of its format. The outputs
        are None where that says that the model has none, and `Undefined` where the format does not say what they are.
        """
        ...

    def artefact(self, kind: str, form: str) -> Artefact:
        """The model as *kind*; raises `Invalid` where the library cannot capture it, `ExportFailed` where an exporter fails."""
        ...

    def source(self, form: str) -> PythonSource:
        """The model as a person would write it."""
        ...


@runtime_checkable
class Chained(Protocol):
    """A model of several operators."""

    @property
    def dtypes(self) -> Collection[str]:
        """The dtypes of all values that it computes."""
        ...


@runtime_checkable
class Prepared(Protocol):
    """A model whose calls can be timed."""

    def prepared(self) -> Callable[[], object]:
        """A call with inputs that are made before."""
        ...


@dataclass(frozen=True)
class PythonSource:
    """A model as Python source.

    Attributes:
        imports: Import lines that *text* needs in addition to numpy.
        text: Defines `model` and `inputs`.
        expected: Defines `expected`, for scripts that compare.
    """

    imports: tuple[str, ...]
    text: str
    expected: str


class Template(Protocol):
    """Makes models of one library."""

    library: str
    revision: int
    """Changes whenever the same instance and seed would give another model."""
    forkable: bool
    """Whether a process that has made models may be copied: not where the library keeps threads, as TensorFlow and JAX do."""

    def versions(self) -> Mapping[str, str]:
        """The versions of the library and of its exporters."""
        ...

    def build(self, instance: Instance, key: str, seed: int) -> Model:
        """The model of *instance*; raises `Invalid`."""
        ...


GROUP = "opera.templates"


def template_of(library: str) -> str:
    """`module:attribute` of the template for *library*, which the library's worker imports."""
    known = registered(GROUP)
    if not known:
        raise EnvironmentBroken("no model template is registered, because OPERA is not installed here; run `make setup` or `pip install .`")
    if library not in known:
        raise UserError(f"no model template for library {library!r}; there are: {', '.join(known)}")
    return known[library]


def libraries_with_templates() -> list[str]:
    """The libraries that instances can be made models of."""
    return list(registered(GROUP))
