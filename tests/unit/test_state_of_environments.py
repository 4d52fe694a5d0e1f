"""What says that a worker would call itself the same again."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from opera.environments.state import state_of
from opera.workers.process import WorkerSpec


@pytest.fixture
def spec(tmp_path: Path) -> WorkerSpec:
    """A worker of a virtual environment with one package, and a plug-in of one module."""
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    (packages / "tvm-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    (tmp_path / "plugin").mkdir()
    (tmp_path / "plugin" / "adapter.py").write_text("")
    return WorkerSpec("tvm", "a:b", {"level": "0"}, str(tmp_path / "venv" / "bin" / "python"), (str(tmp_path / "plugin"),))


def packages(spec: WorkerSpec) -> Path:
    return Path(spec.python).parent.parent / "lib" / "python3.11" / "site-packages"


def test_the_state_is_the_same_while_nothing_changes(spec: WorkerSpec) -> None:
    assert state_of(spec) is not None
    assert state_of(spec) == state_of(spec)


def test_an_upgrade_changes_the_state(spec: WorkerSpec) -> None:
    before = state_of(spec)
    (packages(spec) / "tvm-1.0.dist-info").rename(packages(spec) / "tvm-1.1.dist-info")
    assert state_of(spec) not in (None, before)


def test_the_same_version_installed_again_changes_the_state(spec: WorkerSpec) -> None:
    before = state_of(spec)
    os.utime(packages(spec) / "tvm-1.0.dist-info", (1, 1))
    assert state_of(spec) not in (None, before)


def test_the_code_of_a_plug_in_changes_the_state(spec: WorkerSpec) -> None:
    before = state_of(spec)
    os.utime(Path(spec.path[0]) / "adapter.py", (1, 1))
    assert state_of(spec) not in (None, before)


def test_options_and_variables_change_the_state(spec: WorkerSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state_of(spec)
    assert state_of(replace(spec, options={"level": "1"})) not in (None, before)
    assert state_of(replace(spec, environment={"KERAS_BACKEND": "jax"})) not in (None, before)
    monkeypatch.setenv("TVM_LOG_DEBUG", "1")
    assert state_of(spec) not in (None, before)


def test_files_do_not_tell_of_builds_of_ones_own(spec: WorkerSpec) -> None:
    assert state_of(replace(spec, search_first=("build",))) is None
    (packages(spec) / "__editable__.tvm-1.0.pth").write_text("")
    assert state_of(spec) is None


def test_files_do_not_tell_of_packages_outside_the_environment(spec: WorkerSpec) -> None:
    (Path(spec.python).parent.parent / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    assert state_of(spec) is None
    (Path(spec.python).parent.parent / "pyvenv.cfg").unlink()
    assert state_of(spec) is None
