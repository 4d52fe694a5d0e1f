"""The exporter runs what it writes: a test that does something else than it promises is left out, with the reason."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_suites_alone import RAISES, SQUARE, WRONG, FakeAdapter, made

from opera.config import Config, Setting
from opera.errors import EnvironmentBroken
from opera.extensions.suites import plain
from opera.extensions.suites.cases import Failure
from opera.extensions.suites.plain import Style, files_of
from opera.extensions.suites.project import Project
from opera.extensions.suites.tests import SuiteTest
from opera.extensions.suites.trial import Tried, try_out


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tried]:
    """Writes a suite, and runs it."""
    monkeypatch.setattr(plain, "plugin", lambda _: SimpleNamespace(load=lambda: FakeAdapter))

    def run(*tests: SuiteTest, with_targets: bool = False, config: Config | None = None, project: Project | None = None) -> Tried:
        def write(chosen: Sequence[SuiteTest]) -> Mapping[str, bytes]:
            return files_of("fake", chosen, {}, Style(with_targets=with_targets), "suite")

        return try_out(tests, write, "fake", config or Config({}), tmp_path / "scratch", project)

    return run


def names(tried: Tried) -> list[str]:
    return [each.name.removeprefix("test_").removesuffix("_00000000") for each in tried.kept]


GOOD = made("good", SQUARE)
KNOWN = made("known", "model = lambda x: x + 1", WRONG)


@pytest.mark.parametrize("with_targets", [False, True], ids=["plain", "opera"])
def test_tests_that_do_what_they_promise_are_kept(trial: Callable[..., Tried], with_targets: bool) -> None:
    tried = trial(GOOD, KNOWN, made("raises", "import json\nmodel = lambda x: json.loads('{')", RAISES), with_targets=with_targets)
    assert (names(tried), tried.left_out) == (["good", "known", "raises"], {})
    assert all(each.strict for each in tried.kept)


def test_a_test_that_does_something_else_is_left_out_with_the_reason(trial: Callable[..., Tried]) -> None:
    tried = trial(
        GOOD,
        made("fails", "model = lambda x: x + 1"),
        made("wrong_name", "model = strided"),
        made("mended", SQUARE, WRONG),
        made("otherwise", "model = lambda x: x + 1", RAISES),
        made("hidden", "model = lambda x: 1 / 0", WRONG),
    )
    assert names(tried) == ["good"]
    assert {name.removeprefix("test_").removesuffix("_00000000"): why for name, why in tried.left_out.items()} == {
        "fails": "it passed in the campaign, but its test fails: AssertionError: output[0]: expected 4.0, got 3.0 at (); 4.01e-07 is"
        " allowed (1 of 1 elements differ)",
        "wrong_name": "it passed in the campaign, but its test fails: NameError: name 'strided' is not defined",
        "mended": "it is a known failure, but its test passes",
        "otherwise": "it is a known failure, but its test fails in another way: AssertionError: output[0]: expected 4.0, got 3.0 at"
        " (); 4.01e-07 is allowed (1 of 1 elements differ)",
        "hidden": "it is a known failure, but its test fails in another way: ZeroDivisionError: division by zero",
    }


@pytest.mark.slow
@pytest.mark.parametrize("end", ["__import__('os').abort()", "__import__('os')._exit(3)"])
def test_a_test_that_ends_the_process_costs_only_itself(trial: Callable[..., Tried], end: str) -> None:
    tests = [made(f"good{index}", SQUARE) for index in range(5)]
    tried = trial(*tests[:2], made("dies", f"model = lambda x: {end}"), *tests[2:])
    assert len(tried.kept) == 5
    (why,) = tried.left_out.values()
    assert "the process ended with" in why


@pytest.mark.slow
def test_many_tests_run_in_several_processes(trial: Callable[..., Tried]) -> None:
    tests = [made(f"good{index}", SQUARE) for index in range(40)]
    assert len(trial(*tests).kept) == 40


@pytest.mark.slow
def test_a_failure_that_depends_on_memory_that_nobody_wrote_is_not_strict(trial: Callable[..., Tried]) -> None:
    text = "model = lambda x: np.array(float(np.empty(10**5, np.uint8)[-9]))"
    tried = trial(KNOWN, made("unwritten", text, WRONG))
    assert {each.name: each.strict for each in tried.kept} == {"test_known_00000000": True, "test_unwritten_00000000": False}


def test_nothing_is_called_green_where_nothing_can_run(trial: Callable[..., Tried], tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'no such module: pytest'\nexit 1\n")
    for mode, words in ((0o644, "does not start"), (0o755, "no such module: pytest")):
        os.chmod(broken, mode)
        config = Config({("compiler", "fake", "python"): Setting(str(broken), "a test")})
        with pytest.raises(EnvironmentBroken, match=words):
            trial(GOOD, config=config)


def test_an_absent_library_is_said(trial: Callable[..., Tried]) -> None:
    absent = made("absent", SQUARE)
    absent = type(absent)(**{**vars(absent), "imports": ("import no_such_library",)})
    tried = trial(absent)
    (why,) = tried.left_out.values()
    assert why.startswith("it passed in the campaign, but its test is skipped here")
    assert "no_such_library" in why


@pytest.mark.slow
def test_a_failure_without_a_message_needs_no_second_run(trial: Callable[..., Tried]) -> None:
    dies = made("dies", "model = lambda x: __import__('os').abort()", Failure("ChildProcessError", "SIGABRT", in_child=True))
    assert names(trial(dies)) == ["dies"]


def test_a_suite_that_is_written_again_is_the_same(trial: Callable[..., Tried]) -> None:
    """The export writes twice: once to run all tests, and once without those that differ."""
    numbers = ", ".join(str(index / 7) for index in range(200))
    text = (
        f"""
class Model:
    def __init__(self):
        self.table = np.array([{numbers}], np.float64)
    def __call__(self, x):
        return x * x + 0 * self.table[0]
"""
        + "\n".join(f"unused{index} = {index}" for index in range(20))
        + "\nmodel = Model()"
    )
    test = made("long", text)
    first = files_of("fake", [test], {}, Style(), "suite")
    assert files_of("fake", [test], {}, Style(), "suite") == first
    assert any(name.endswith(".npz") for name in first)
    assert names(trial(test)) == ["long"]
