"""PyTorch programs for several compilers."""

from __future__ import annotations

import importlib
import io
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from opera.compilers.adapter import CannotCapture, Subject

_MOST_NAMED = 3
_DECOMPOSE = "run_decompositions"
"""The method of exported programs that compilers call."""


def functions_of(subject: Subject) -> list[str]:
    """Names of the functions that compute something, in order: `add.Tensor` of a saved program, `add` of a graph of a live module."""
    if subject.route.artefact is None:
        return [
            str(getattr(node.target, "__name__", node.target)) for node in graph_module(subject).graph.nodes if node.op == "call_function"
        ]
    nodes = saved_program(subject).graph.nodes
    return [str(node.target.__name__) for node in nodes if node.op == "call_function" and not _keeps_everything(node)]


def saved_program(subject: Subject) -> Any:
    """The exported program, read after the operators of quantised tensors are registered."""
    importlib.import_module("torch.ao.quantization.fx._decomposed")
    return importlib.import_module("torch").export.load(io.BytesIO(subject.data))


def operators_of(subject: Subject) -> str:
    """The ATen operators of a saved exported program, joined by `+`; the instance's own operator where they are many.

    Instances of several operators have one name, which a reduction keeps.
    """
    if subject.route.artefact is None or not subject.instance.kind.behaviour.has_one_operator:
        return subject.instance.operator
    distinct = [name for name in dict.fromkeys(functions_of(subject)) if name != "getitem"]
    if len(distinct) > _MOST_NAMED:
        return f"{subject.instance.operator} (decomposed)"
    return "+".join(distinct) or "identity"


def _keeps_everything(node: Any) -> bool:
    """Whether a call computes nothing: a check of a tensor's dtype, or a conversion to the dtype that the tensor has."""
    name = str(node.target.__name__)
    if name.startswith("_assert_"):
        return True
    if not name.startswith("to."):
        return False
    given, made = (getattr(each.meta.get("val"), "dtype", None) for each in (node.args[0], node))
    return given is not None and given == made


def graph_module(subject: Subject) -> Any:
    """The live module as a `torch.fx.GraphModule`; raises CannotCapture where the operator is no node of such a graph."""
    template: Any = importlib.import_module("opera.templates.pytorch.graph")
    try:
        return template.graph_module(subject.module)
    except Exception as error:
        raise CannotCapture("fx") from error


@contextmanager
def decomposed_by_compiler(subject: Subject) -> Generator[None]:
    """Raises `CannotCapture` in place of an exception of PyTorch's own decomposition: the program raises it without the compiler, too."""
    try:
        yield
    except Exception as error:
        if any(frame.name == _DECOMPOSE for frame in traceback.extract_tb(error.__traceback__)):
            try:
                saved_program(subject).run_decompositions()
            except type(error) as alone:
                raise CannotCapture("torch.export") from alone
        raise
