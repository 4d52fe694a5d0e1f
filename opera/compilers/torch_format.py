"""What several compilers need of saved PyTorch programs."""

from __future__ import annotations

import importlib
import io
from typing import Any

from opera.compilers.adapter import Subject

_MOST_NAMED = 3


def operators_of(subject: Subject) -> str:
    """The ATen operators of a saved exported program, joined by `+`; the instance's own operator where they are many."""
    torch: Any = importlib.import_module("torch")
    nodes = torch.export.load(io.BytesIO(subject.data)).graph.nodes
    names = [str(node.target.__name__) for node in nodes if node.op == "call_function"]
    distinct = [name for name in dict.fromkeys(names) if name != "getitem"]
    if len(distinct) > _MOST_NAMED:
        return f"{subject.instance.operator} (decomposed)"
    return "+".join(distinct) or "identity"
