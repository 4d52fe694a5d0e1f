"""The examples of docs/reference/python-api.md run, and `import opera` stays cheap for workers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import opera
from opera import api

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
CAMPAIGN, EVALUATION = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def outcome(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_of_a_campaign_runs(tmp_path: Path) -> None:
    said = outcome(CAMPAIGN, tmp_path)
    assert re.search(r"node-tests: [1-9]\d* instances of [1-9]\d* calls", said)
    assert "first: ai.onnx.Resize" in said
    assert re.search(r"40 tests, \{.*'pass': \d+", said)
    assert re.search(r"[0-9a-f]{16} inconsistent Resize ", said)
    assert "tests of ai.onnx.Resize" in said


@pytest.mark.slow
def test_the_example_of_an_evaluation_runs() -> None:
    said = outcome(EVALUATION, ROOT)
    shares = {name: float(share) for name, share in re.findall(r"(\w+): APFD (0\.\d+)", said)}
    assert shares["opera"] > shares["random"]


def test_every_public_name_is_given_and_named_on_the_page() -> None:
    for name in api.__all__:
        assert getattr(opera, name) is getattr(api, name)
        assert f"`{name}" in PAGE or f"opera.{name}" in PAGE, name


def test_importing_the_package_imports_nothing_of_it(tmp_path: Path) -> None:
    assert outcome("import sys, opera; print([name for name in sys.modules if name.startswith('opera.')])", tmp_path).strip() == "[]"


def test_another_name_is_refused_with_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"opera\.api"):
        opera.pipelines  # noqa: B018
