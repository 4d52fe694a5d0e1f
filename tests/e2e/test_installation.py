"""OPERA works where only its wheel is installed, as the container installs it: from an empty folder to a finding and its script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT, copy_of_sources

pytestmark = pytest.mark.slow

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
"""Dependencies come from the environment of the tests, because tests use no network. pip reads the 0 as `--no-build-isolation`."""


def container(image: Path) -> list[str]:
    """The RUN lines of the container, with its folders below *image*."""
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    return [
        line.removeprefix("RUN ").replace("/src", str(image / "src")).replace("/dist", str(image / "dist"))
        for line in lines
        if line.startswith("RUN ")
    ]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that has OPERA's wheel, and nothing of the checkout."""
    image = tmp_path_factory.mktemp("image")
    subprocess.run([sys.executable, "-m", "venv", image / "usr"], check=True)
    python = image / "usr" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"], check=True
    )  # a new environment may have an old one
    [packages] = (image / "usr").glob("lib/python*/site-packages")
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "shared.pth").write_text("\n".join(shared) + "\n", encoding="utf-8")
    copy_of_sources(image / "src")
    (image / "dist").mkdir()
    shutil.copy2(ROOT / "constraints.txt", image / "dist")
    environment = {**os.environ, **OFFLINE, "EXTRAS": "onnxruntime,onnx", "PATH": f"{python.parent}:{os.environ['PATH']}"}
    for line in container(image):
        subprocess.run(["sh", "-ec", line], env=environment, cwd=image, check=True)
    return python


def test_the_installed_opera_is_that_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    command = [installed, "-c", "import opera; print(opera.__file__)"]
    found = Path(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip())
    assert found.is_relative_to(installed.parents[1])
    assert not any(path.is_symlink() for path in found.parent.rglob("*"))


def test_a_finding_is_reached_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [installed, ROOT / "scripts" / "try_installation.py", "--folder", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reproduced: RuntimeException" in done.stdout
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".opera", "report.html"]
