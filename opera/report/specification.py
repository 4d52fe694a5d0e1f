"""Where the specification of an operator stands, for readers of an issue."""

from __future__ import annotations

import re

from opera.instance.libraries import facts_of

_NAME = re.compile(r"\w+(?:\.\w+)*")


def page_of(library: str, api: str) -> str | None:
    """The address of the documentation of operator *api* of *library*; None where the operator has no page of its own."""
    if not _NAME.fullmatch(api):
        return None
    domain, _, name = api.rpartition(".")
    if library == "onnx" and domain.startswith("ai.onnx"):
        return f"https://onnx.ai/onnx/operators/onnx_{domain.removeprefix('ai.onnx').replace('.', 'aionnx')}_{name}.html"
    if library == "pytorch" and api.startswith("torch.") and "._" not in api and not api.startswith("torch.ops."):
        page = f"special.html#{api}" if domain == "torch.special" else f"generated/{api}.html"
        return f"https://docs.pytorch.org/docs/stable/{page}"
    if library in ("keras", "tensorflow") and "._" not in api:
        root = "tf/keras" if library == "keras" else "tf"
        return f"https://www.tensorflow.org/api_docs/python/{root}/{'/'.join(api.split('.')[1:])}"
    return facts_of(library).page.format(name=name) or None
