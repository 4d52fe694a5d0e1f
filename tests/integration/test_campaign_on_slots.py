"""A campaign whose workers stand behind Ray's interface gives the results of one machine; Ray itself is played by an in-process double.

tests/adapters/ray/test_ray.py runs such campaigns on real clusters.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.harness import Lab, essence, instance

RAY = Path(__file__).parent.parent / "fake" / "ray_site"
TESTS = ("pass", "raise", "segfault", "lie-value", "decline", "noise")


def filled(folder: Path) -> Lab:
    lab = Lab(folder)
    rest = (instance(f"library-{name}", library=name) for name in ("rejects", "export-fails", "undefined"))
    lab.add(*(instance(name, name) for name in TESTS), *rest)
    return lab


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = filled(tmp_path_factory.mktemp("alone"))
    assert lab.run_in_processes().code == 1
    return lab


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--shared-folder",)], ids=["files-travel", "one-folder"])
def test_tests_have_the_results_of_one_machine(alone: Lab, tmp_path: Path, options: tuple[str, ...]) -> None:
    lab = filled(tmp_path)
    outcome = lab.run_in_processes("--executor", "ray", "--address", "here", *options, extra_path=RAY)
    assert outcome.code == 1, outcome.stderr[-2000:]
    assert essence(lab.stored()) == essence(alone.stored())
    assert lab.left_behind() == []
