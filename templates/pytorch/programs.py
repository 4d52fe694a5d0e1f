"""PyTorch's own captures of a module: made, saved, and run again by PyTorch itself."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from opera.models.template import Invalid

torch: Any = importlib.import_module("torch")


def captured_by(what: str, capture: Callable[[], Any]) -> Any:
    """Runs the library's own capture; its failure makes the instance invalid, not a compiler wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return capture()
    except Invalid:
        raise
    except Exception as error:
        raise Invalid(f"capture-failed:{what}") from error


def saved(program: Any) -> bytes:
    """An exported program as bytes."""
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def run_saved(kind: str, data: bytes, tensors: Sequence[Any]) -> tuple[str, list[Any]] | None:
    """What PyTorch makes of an artefact of its own, and the name of what captured it; None for kinds that it cannot run."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "torchscript":
            return "torch.jit.trace", list(torch.jit.load(io.BytesIO(data))(*tensors))
        if kind in ("exported-program", "exported-program-decomposed"):
            return "torch.export", list(torch.export.load(io.BytesIO(data)).module()(*tensors))
    return None


def open_shapes(program: Any) -> list[list[int]]:
    """The shapes of the inputs of an exported program, in order; -1 for a size that is left open."""
    own = set(program.graph_signature.user_inputs)
    values = [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in own]
    return [[-1 if _is_open(size) else int(size) for size in value.shape] for value in values]


def _is_open(size: Any) -> bool:
    """Whether a size is a symbol that PyTorch has not fixed, as it does where a module compares it with a number."""
    return not isinstance(size, int) and bool(size.node.expr.free_symbols)
