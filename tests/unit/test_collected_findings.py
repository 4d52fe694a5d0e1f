"""What `scripts/collect_findings.py` writes into a folder of a finding."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def script() -> Any:
    spec = importlib.util.spec_from_file_location("collect_findings", ROOT / "scripts" / "collect_findings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_summary_says_what_the_head_of_the_script_says() -> None:
    text = '"""tvm/onnx: Pow: wrong values\n\nSeen with tvm 1.\nActual: TypeError: \\\\w is no "type"\n"""\n\nimport tvm\n'
    assert script().actual_of(text) == 'TypeError: \\w is no "type"'
