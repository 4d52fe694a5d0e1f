"""An entry point that imports a module by its old name fails with the new name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from opera import plugins
from opera.compilers.registry import Plugin
from opera.errors import EnvironmentBroken


@pytest.mark.parametrize("old", plugins._MOVED)  # pyright: ignore[reportPrivateUsage]
def test_the_new_name_exists_and_the_old_one_does_not(old: str) -> None:
    error = ModuleNotFoundError(f"No module named {old!r}", name=old)
    new = plugins.advice(error).removeprefix(" (write ").removesuffix(")")
    assert importlib.util.find_spec(new) is not None
    assert importlib.util.find_spec(old) is None


def test_an_adapter_with_an_old_import_is_told_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "an_old_adapter.py").write_text("from opera.models.arrays import as_array\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EnvironmentBroken, match=r"write opera\.arrays"):
        Plugin("old", "an_old_adapter:Adapter").load()


def test_any_other_error_gets_no_advice() -> None:
    assert plugins.advice(ModuleNotFoundError("no", name="torch")) == ""
    assert plugins.advice(ValueError("no")) == ""
