"""What `opera export opidiff` writes loads in OpiDiff itself: by its own loader, with its own validator.

OPERA_TEST_OPIDIFF names a checkout of https://github.com/0xShug0/opdiff, and, after `:`, the folder in which Python finds pydantic.
Without it, the tests are skipped: OpiDiff is no package that `pip` installs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SAMPLE = Path(__file__).parents[3] / "corpora" / "samples" / "pytorch.jsonl"
WHERE = os.environ.get("OPERA_TEST_OPIDIFF", "")
LOAD = """
import json, os, sys
folders = os.environ["OPERA_TEST_OPIDIFF"].split(os.pathsep)
sys.path[:0], sys.path[len(sys.path):] = folders[:1], folders[1:]
import yaml
yaml.safe_load = lambda file: yaml.load(file, Loader=yaml.CSafeLoader)  # the same by libyaml, ten times as fast
from testgen.test_loader import load_config
print(json.dumps([len(load_config(path).tests) for path in sys.argv[1:]]))
"""

pytestmark = pytest.mark.skipif(not WHERE, reason="OPERA_TEST_OPIDIFF names no checkout of OpiDiff")


def opera(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "opera", *map(str, arguments)], check=True)


def loaded(files: list[Path]) -> list[int]:
    """How many tests OpiDiff finds in each of *files*; raises where it refuses one."""
    folder = files[0].parent  # paths of the companion are relative to the current folder
    done = subprocess.run([sys.executable, "-c", LOAD, *map(str, files)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def written(workspace: Path, folder: Path, *options: object) -> list[Path]:
    """The suites that hold the tests of an export, without the file that includes them."""
    opera("export", "opidiff", folder / "suite.yaml", "--workspace", workspace, *options)
    return [path for path in sorted(folder.glob("*.yaml")) if "include" not in path.read_text(encoding="utf-8")[:200]]


def counted(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return len(yaml.load(file, Loader=yaml.CSafeLoader)["tests"])


def test_a_suite_of_the_sample_loads_in_opidiff(tmp_path: Path) -> None:
    opera("import", SAMPLE, "--workspace", tmp_path / "ws")
    files = written(tmp_path / "ws", tmp_path / "out")
    assert loaded(files) == [counted(each) for each in files]
    assert sum(map(counted, files)) > 100


def test_a_suite_that_is_none_is_refused_by_opidiff(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("tests:\n  - {id: a, op: 'aten::relu', in: [{type: tensor, shape: [N], kind: floating}]}\n")
    with pytest.raises(AssertionError, match="floating"):
        loaded([tmp_path / "s.yaml"])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_suites_of_all_of_pytorchs_databases_load_in_opidiff(tmp_path: Path) -> None:
    for source in ("opinfo", "moduleinfo"):
        opera("extract", "--lib", "pytorch", "--source", source, "--quiet", "--workspace", tmp_path / "ws")
    files = written(tmp_path / "ws", tmp_path / "out")
    assert loaded(files) == [counted(each) for each in files]
    assert sum(map(counted, files)) > 100_000
