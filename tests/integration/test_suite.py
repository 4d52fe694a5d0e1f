"""What watching a test suite promises: on small suites of real PyTorch calls, whose files are run by real hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opera.errors import UserError
from opera.extract import Again, ExtractOptions, FileEnded, Item, Recorded, SourceSummary, extract
from opera.extract.host import Host

CONFTEST = """
import pytest
from torch import add  # bound before any test begins

@pytest.fixture
def prepared(): return add
"""

OUTCOMES = """
import unittest
import pytest, torch

def test_passes(prepared): assert prepared(torch.ones(2), 1).tolist() == [2, 2]
def test_fails(): assert torch.sin(torch.zeros(2))[0] == 1
@pytest.mark.skip(reason="no")
def test_skipped(): torch.cosh(torch.ones(2))
@pytest.mark.xfail(reason="known")
def test_expected(): torch.cos(torch.zeros(2)).missing()
@pytest.mark.xfail(reason="known")
def test_unexpected(): torch.cos(torch.zeros(3))
@pytest.fixture
def broken(): raise ValueError("the fixture is broken")
def test_error(broken): pass

class TestClass:
    @pytest.mark.parametrize("n", [1, 2])
    def test_method(self, n): torch.tan(torch.ones(n))

class Cases(unittest.TestCase):
    def test_case(self): torch.atan(torch.ones(2))
    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n): self.assertEqual(torch.relu(torch.ones(1)).item(), 1)
    @unittest.expectedFailure
    def test_expected(self): self.fail()
"""

LEAVINGS = """
import ctypes, os, pathlib, random, subprocess, sys, threading, time
import numpy, torch
pathlib.Path("left behind").write_text("x")
os.environ["LEFT"] = "yes"

def test_settings():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1234)
    random.seed(1234)
    os.mkdir("folder"), os.chdir("folder")

def test_children(pytestconfig):
    ended = []
    for code in (0, 7):
        child = os.fork()
        if not child:
            torch.acosh(torch.ones(2))
            if code: os._exit(code)
            sys.stdout.flush()
            os.execv(sys.executable, [sys.executable, "-c", "pass"])
        ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert ended == [0, 7]

def test_daemons():
    where = pathlib.Path(PIDS)
    one = subprocess.Popen(["sleep", "600"])
    code = "import os, sys, time\\nif os.fork(): sys.exit()\\nos.setsid()\\n"
    code += "open(sys.argv[1], 'w').write(str(os.getpid()))\\ntime.sleep(600)"
    subprocess.run([sys.executable, "-c", code, str(where / "two")], check=True)
    (where / "one").write_text(str(one.pid))
    torch.erf(torch.ones(2))
    while not (where / "two").exists() or not (where / "two").read_text(): time.sleep(0.02)
"""

CLEAN = """
import os, torch
def test_nothing_is_left():
    assert (os.listdir("."), os.environ.get("LEFT")) == ([], None)
    assert (torch.get_default_dtype(), torch.initial_seed() != 1234) == (torch.float32, True)
    torch.erf(torch.ones(2))
"""

SKIPPED = 'import pytest\npytest.skip("not here", allow_module_level=True)\n'
UNREADY = 'import torch\ntorch.log1p(torch.ones(2))\nraise ValueError("not today")\ndef test_never(): pass\n'
LEAVES = "import os, torch\ndef test_first(): torch.expm1(torch.ones(2))\ndef test_exit(): os._exit(0)\ndef test_never(): pass\n"
DIES = "import os, signal, torch\ndef test_first(): torch.log2(torch.ones(2))\ndef test_dies(): os.kill(os.getpid(), signal.SIGSEGV)\n"
STOPS = (
    "import pytest, torch\ndef test_first(): torch.exp2(torch.ones(2))\ndef test_stops(): pytest.exit('enough')\ndef test_never(): pass\n"
)


def run(scratch: Path, source: str = "suite", **how: Any) -> list[Item]:
    scratch.mkdir(exist_ok=True)
    return list(extract("pytorch", scratch=scratch, sources=[source], how=ExtractOptions(**{"jobs": 2, **how})))


@dataclass
class Seen:
    """The items of an extraction, sorted."""

    items: list[Item]

    @property
    def summary(self) -> SourceSummary:
        (found,) = [item for item in self.items if isinstance(item, SourceSummary)]
        return found

    @property
    def tests(self) -> dict[str, int]:
        assert self.summary.tests is not None
        return dict(self.summary.tests.outcomes)

    @property
    def errors(self) -> dict[str, str]:
        assert self.summary.tests is not None
        return dict(self.summary.tests.errors)

    def apis(self, test: str) -> list[str]:
        """The APIs that *test* was the first to call."""
        return [item.instance.api for item in self.items if isinstance(item, Recorded) and item.occurrence.test == test]


def files(folder: Path, **content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in content.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def tree(folder: Path) -> list[tuple[str, bytes]]:
    return sorted((str(path.relative_to(folder)), path.read_bytes()) for path in folder.rglob("*") if path.is_file())


# A suite of many files, some of which misbehave


@dataclass
class Whole:
    """A suite that was run once by OPERA."""

    root: Path
    pids: Path
    before: list[tuple[str, bytes]]
    seen: Seen


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("suite")
    pids = folder / "pids"
    pids.mkdir()
    root = files(
        folder / "suite",
        conftest=CONFTEST, deep__er__test_outcomes=OUTCOMES, test_a_leavings=LEAVINGS.replace("PIDS", repr(str(pids))), test_b_clean=CLEAN,
        test_dies=DIES, test_leaves=LEAVES, test_skipped=SKIPPED, test_stops=STOPS, test_unready=UNREADY, helper="raise SystemError\n",
    )  # fmt: skip
    before = tree(root)
    return Whole(root, pids, before, Seen(run(folder / "scratch", suite=root)))


def test_every_file_of_the_suite_is_run_and_no_other(whole: Whole) -> None:
    names = ("a_leavings", "b_clean", "dies", "leaves", "skipped", "stops", "unready")
    ended = [item.entry for item in whole.seen.items if isinstance(item, FileEnded)]
    assert ended == ["deep/er/test_outcomes.py", *(f"test_{name}.py" for name in names)]
    assert whole.seen.summary.files == 8


@pytest.mark.slow
def test_outcomes_are_those_of_plain_pytest(whole: Whole) -> None:
    facts = {item.entry: dict(item.facts["outcomes"]) for item in whole.seen.items if isinstance(item, FileEnded)}
    name = "deep/er/test_outcomes.py"
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(whole.root / name)]
    plain = subprocess.run(command, capture_output=True, text=True, check=False, cwd=whole.root).stdout.splitlines()[-1]
    counted = {word.removesuffix("s") if word == "errors" else word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", plain)}
    counted = {word: number for word, number in counted.items() if word in {"passed", "failed", "skipped", "error", "xfailed", "xpassed"}}
    assert facts[name] == counted
    assert facts[name] == {"passed": 5, "failed": 1, "skipped": 1, "error": 1, "xfailed": 2, "xpassed": 1}


def test_provenance_names_file_class_and_test(whole: Whole) -> None:
    place = "suite::deep/er/test_outcomes.py"
    assert whole.seen.apis(f"{place}::TestClass::test_method[2]") == ["torch.tan"]
    assert whole.seen.apis(f"{place}::Cases::test_case") == ["torch.atan"]
    assert whole.seen.apis(f"{place}::test_passes") == ["torch.ones", "torch.add"], "fixtures work, and names bound early are seen"


def test_calls_while_a_file_is_imported_are_recorded_too(whole: Whole) -> None:
    assert "torch.log1p" in whole.seen.apis("suite::test_unready.py::<import>")


def test_a_file_that_does_not_import_is_an_error_with_its_message(whole: Whole) -> None:
    assert whole.seen.errors["suite::test_unready.py"] == "ValueError: not today"
    assert whole.seen.errors["suite::deep/er/test_outcomes.py::test_error"] == "ValueError: the fixture is broken"


def test_a_test_that_ends_the_whole_run_is_an_error_of_the_file(whole: Whole) -> None:
    assert "enough" in whole.seen.errors["suite::test_stops.py"]
    assert "torch.exp2" in whole.seen.apis("suite::test_stops.py::test_first")


def test_a_file_whose_process_ends_early_is_named_and_keeps_what_it_had_called(whole: Whole) -> None:
    failed = {each.entry: each.cause for each in whole.seen.summary.failed_shards}
    assert failed == {"test_leaves.py": "ended without finishing its recording", "test_dies.py": "killed by SIGSEGV"}
    assert "torch.expm1" in whole.seen.apis("suite::test_leaves.py::test_first")
    assert "torch.log2" in whole.seen.apis("suite::test_dies.py::test_first")


def test_what_one_file_changes_does_not_reach_the_next(whole: Whole) -> None:
    assert "torch.erf" in [
        *whole.seen.apis("suite::test_a_leavings.py::test_daemons"),
        *whole.seen.apis("suite::test_b_clean.py::test_nothing_is_left"),
    ]
    passed = {item.entry: item.facts["outcomes"] for item in whole.seen.items if isinstance(item, FileEnded)}
    assert passed["test_b_clean.py"] == {"passed": 1}
    assert passed["test_a_leavings.py"] == {"passed": 3}


def test_the_calls_of_forked_children_do_not_disturb_the_recording(whole: Whole) -> None:
    assert "torch.acosh" not in {item.instance.api for item in whole.seen.items if isinstance(item, Recorded)}
    assert "malformed-line" not in whole.seen.summary.dropped


def test_processes_that_outlive_their_test_are_killed(whole: Whole) -> None:
    pids = [int((whole.pids / name).read_text()) for name in ("one", "two")]
    assert [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"] == []


def test_the_folder_of_the_suite_stays_as_it_was(whole: Whole) -> None:
    assert tree(whole.root) == whole.before


def test_counts_add_up(whole: Whole) -> None:
    summary = whole.seen.summary
    recorded = [item for item in whole.seen.items if isinstance(item, Recorded)]
    again = sum(item.occurrence.calls for item in whole.seen.items if isinstance(item, Again))
    assert summary.calls == len(recorded) + again + sum(summary.dropped.values())
    assert summary.distinct == len({item.digest for item in recorded})
    assert sum(sum(item.facts["outcomes"].values()) for item in whole.seen.items if isinstance(item, FileEnded)) == sum(
        whole.seen.tests.values()
    )


# Scripts, unittest, arguments


SCRIPT = """
import sys, torch
from neighbour import function
if __name__ == "__main__":
    function(torch.ones(2))
    sys.exit(int(sys.argv[1]) if sys.argv[1:] else 0)
"""
CASES = """
import unittest, torch
class First(unittest.TestCase):
    def test_a(self): torch.sin(torch.ones(2))
    def test_b(self): self.fail()
    @unittest.skip("no")
    def test_c(self): pass
    @unittest.expectedFailure
    def test_d(self): self.assertTrue(True)
class Second(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError("no class")
    def test_e(self): pass
"""


@pytest.mark.slow
def test_scripts_run_as_python_would_run_them(tmp_path: Path) -> None:
    root = files(tmp_path / "s", script=SCRIPT, neighbour="import torch\ndef function(x): return torch.atanh(x / 2)\n", wrong="def (:\n")
    seen = Seen(run(tmp_path / "w", "scripts", suite=root, only=("script.py", "wrong.py")))
    assert (seen.summary.files, seen.tests) == (2, {"passed": 1, "error": 1})
    assert "torch.atanh" in seen.apis("scripts::script.py")
    assert "SyntaxError" in seen.errors["scripts::wrong.py"]
    failing = Seen(run(tmp_path / "w2", "scripts", suite=root / "script.py", arguments=("3",)))
    assert failing.tests == {"failed": 1}, "arguments reach the script, and its exit status is its outcome"


@pytest.mark.slow
def test_unittest_runs_without_pytest(tmp_path: Path) -> None:
    root = files(tmp_path / "s", test_cases=CASES)
    seen = Seen(run(tmp_path / "w", suite=root / "test_cases.py", runner="unittest"))
    assert seen.tests == {"passed": 1, "failed": 2, "skipped": 1, "error": 1}
    assert "torch.sin" in seen.apis("suite::test_cases.py::First::test_a")
    assert "no class" in seen.errors["suite::test_cases.py"]


@pytest.mark.slow
def test_arguments_reach_pytest(tmp_path: Path) -> None:
    root = files(
        tmp_path / "s", test_x="import torch\ndef test_one(): torch.sin(torch.ones(2))\ndef test_two(): torch.cos(torch.ones(2))\n"
    )
    seen = Seen(run(tmp_path / "w", suite=root, arguments=("-k", "two")))
    assert seen.tests == {"passed": 1}
    assert seen.apis("suite::test_x.py::test_two") == ["torch.ones", "torch.cos"]


@pytest.mark.slow
def test_a_conftest_that_fails_is_told_with_its_message(tmp_path: Path) -> None:
    root = files(tmp_path / "s", conftest="raise ImportError('no such plug-in')\n", test_x="def test_one(): pass\n")
    seen = Seen(run(tmp_path / "w", suite=root / "test_x.py"))
    assert "no such plug-in" in seen.errors["suite::test_x.py"]


@pytest.mark.slow
def test_a_file_that_hangs_is_killed_and_keeps_what_it_had_called(tmp_path: Path) -> None:
    root = files(tmp_path / "s", test_x="import time, torch\ndef test_one():\n    torch.sin(torch.ones(2))\n    time.sleep(600)\n")
    seen = Seen(run(tmp_path / "w", suite=root, timeout=15.0))
    assert [each.cause for each in seen.summary.failed_shards] == ["longer than 15 s"]
    assert "torch.sin" in seen.apis("suite::test_x.py::test_one")


@pytest.mark.parametrize(("folder", "only"), [("nowhere", ()), ("s", ("test_z*",))])
def test_a_suite_without_files_is_the_users_error(tmp_path: Path, folder: str, only: tuple[str, ...]) -> None:
    files(tmp_path / "s", test_x="")
    with pytest.raises(UserError, match=r"nowhere|test_z"):
        run(tmp_path / "w", suite=tmp_path / folder, only=only)


# Limits of a host


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("while True: print('x' * 1_000_000)", "printed more than 256 MiB"),
        ("kept = []\nwhile True: kept.append(bytearray(1 << 24))", "more than 0.25 GiB of memory"),
        (
            "import os, time\nif os.fork(): time.sleep(600)\nkept = []\nwhile True: kept.append(bytearray(1 << 24))",
            "more than 0.25 GiB of memory",
        ),
    ],
)
def test_a_host_without_measure_is_stopped(tmp_path: Path, code: str, cause: str) -> None:
    host = Host([sys.executable, "-c", code], tmp_path / "r.jsonl", timeout=60, stall=60, memory=1 << 28)
    try:
        while (ended := host.poll()) is None:
            pass
    finally:
        host.kill()
    assert ended == cause


# An environment of its own


@pytest.mark.slow
def test_the_library_can_live_where_opera_is_not_installed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    installed = Path(pytest.__file__).parents[1]
    for path in installed.iterdir():
        if not path.name.startswith(("opera", "__editable__", "_opera")) and path.suffix != ".pth":
            (site / path.name).symlink_to(path)
    python = tmp_path / "env" / "bin" / "python"
    assert subprocess.run([python, "-c", "import opera"], capture_output=True, check=False, cwd=tmp_path).returncode == 1
    (tmp_path / "opera.toml").write_text(f"[library.pytorch]\npython = '{python}'\n")
    text = "import sys, torch\ndef test_one():\n    torch.sin(torch.ones(2))\n"
    text += "    assert sys.prefix.endswith('env') and 'opera' not in sys.modules\n"
    files(tmp_path / "s", test_x=text)
    command = [sys.executable, "-m", "opera.extract", "--lib", "pytorch", "--suite", "s", "--json", "-q"]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert '"tests": {"passed": 1}' in re.sub(r"\s+", " ", done.stdout).replace("{ ", "{").replace(" }", "}")
