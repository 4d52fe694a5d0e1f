"""Exporters that stand between a library and a compiler: when their failure means that they decline an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opera.compilers.adapter import UnsupportedRule, declined

_RULES: Mapping[str, tuple[UnsupportedRule, ...]] = {
    "torch.onnx": (
        UnsupportedRule(
            ("torch.onnx.OnnxExporterError", "torch.onnx.errors.OnnxExporterError"), "no-converter", r"No ONNX function found for",
            stages=("export",),
        ),
        UnsupportedRule(("torch.onnx.errors.UnsupportedOperatorError",), "no-converter", stages=("export",)),
    ),
}  # fmt: skip


def declined_by_exporter(exporter: str, failure: Mapping[str, Any]) -> str | None:
    """The reason under which *exporter* declines, or None when its failure is a fault of it."""
    found = declined(_RULES.get(exporter, ()), failure, "export")
    return None if found is None else found.reason
