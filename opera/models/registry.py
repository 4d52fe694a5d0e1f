"""Which template makes models of which library."""

from __future__ import annotations

from opera.errors import UserError

_TEMPLATES = {
    "onnx": "opera.templates.onnx_model:OnnxTemplate",
    "pytorch": "opera.templates.pytorch_model:PyTorchTemplate",
}


def template_of(library: str) -> str:
    """`module:attribute` of the template for *library*, to be imported in a worker beside it."""
    if library not in _TEMPLATES:
        raise UserError(f"no model template for library {library!r}; there are: {', '.join(_TEMPLATES)}")
    return _TEMPLATES[library]
