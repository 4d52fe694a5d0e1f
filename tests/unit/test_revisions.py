"""Code that judges tests does not change without its revision."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def revisions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("revisions", ROOT / "scripts" / "revisions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_code_and_revisions_are_the_noted_ones(revisions: ModuleType) -> None:
    noted = json.loads(revisions.NOTED.read_text(encoding="utf-8"))
    now = revisions.current()
    assert revisions.changed(noted, now) == [], "raise these revisions, then run scripts/revisions.py"
    assert now == noted, "run scripts/revisions.py"


@pytest.mark.parametrize("name", ["comparison", "review", "adapter tvm", "template onnx"])
def test_other_code_under_the_same_revision_is_noticed(revisions: ModuleType, name: str) -> None:
    noted = json.loads(revisions.NOTED.read_text(encoding="utf-8"))
    other = {**noted, name: {**noted[name], "code": "other"}}
    assert revisions.changed(noted, other) == [name]
    other[name]["revision"] += 1
    assert revisions.changed(noted, other) == []


def test_only_code_counts(revisions: ModuleType) -> None:
    plain = "def double(x):\n    return 2 * x\n"
    told = '"""Doubles."""\nimport os\n\n\ndef double(x):\n    """Twice x."""\n    return 2 * x  # twice\n'
    assert revisions.bare(plain) == revisions.bare(told)
    assert revisions.bare(plain) != revisions.bare(plain.replace("2 *", "3 *"))


def test_helpers_and_base_classes_belong_to_an_adapter(revisions: ModuleType) -> None:
    reached = revisions.reached("opera.extensions.stablehlo.compilers.readable", revisions.OF_ADAPTERS)
    assert "opera.extensions.stablehlo.compilers.reference" in reached
    assert "opera.compilers.adapter" in revisions.COMPARISON
    assert revisions.revision_in("opera.templates.onnx.model", "OnnxTemplate") > 1


def test_every_module_of_its_package_that_an_adapter_uses_belongs_to_it(revisions: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {name: each["code"] for name, each in revisions.current().items()}
    monkeypatch.setattr(revisions, "code_of", lambda name: "other" if name == "opera.extensions.tensorrt.memory" else "same")
    without = {name: each["code"] for name, each in revisions.current().items()}
    monkeypatch.setattr(revisions, "code_of", lambda name: "same")
    now = {name: each["code"] for name, each in revisions.current().items()}
    assert {name for name in own if without[name] != now[name]} == {"adapter tensorrt"}


def test_a_class_has_the_revision_of_a_base_class_of_another_module(
    revisions: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.py").write_text("class Base:\n    revision = 7\n")
    (tmp_path / "other.py").write_text(
        "from one import Base as B\n\nclass Own(B):\n    pass\n\nclass Another(Own):\n    revision: int = 8\n"
    )
    monkeypatch.setattr(revisions, "ROOT", tmp_path)
    for cached in (revisions.tree_of, revisions.path_of):
        cached.cache_clear()
    assert [revisions.revision_in("other", name) for name in ("Own", "Another", "Unknown")] == [7, 8, 1]
    for cached in (revisions.tree_of, revisions.path_of):
        cached.cache_clear()


def test_every_filter_and_condition_belongs_to_the_review(revisions: ModuleType) -> None:
    files = {f"opera.oracles.filters.{path.stem}" for path in (ROOT / "opera" / "oracles" / "filters").glob("[a-z]*.py")}
    assert len(files) > 5
    assert files <= set(revisions.review())
