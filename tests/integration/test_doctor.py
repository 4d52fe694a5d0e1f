"""`opera doctor` on compilers that are fine, absent, too old, broken, or in each other's way."""

from __future__ import annotations

import json
import re
import signal
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fake.harness import Lab, Outcome
from opera_fake.adapter import FakeAdapter

from opera.cli import doctor
from opera.difftest import compiler_worker
from opera.environments import checkup
from opera.environments.checkup import Check, Checkup, State, of_broken, of_lacks
from opera.environments.inventory import Distribution, Inventory, clashes, lacks
from opera.errors import EnvironmentBroken
from opera.plugins import Commands
from opera.workers.process import Broken, Lost

WORKING = ("fake", "fake-left", "fake-right", "fake-started")
FAILING = (
    "fake-absent", "fake-clashing", "fake-dead", "fake-missing", "fake-nonsense", "fake-old", "fake-uninstalled", "fake-wrong",
)  # fmt: skip


def examine(lab: Lab, *names: str, more: tuple[str, ...] = ("--json",)) -> Outcome:
    chosen = [part for name in names for part in ("--compiler", name)]
    return lab.opera("doctor", *chosen, "-j", "2", *more)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    lab = Lab(tmp_path_factory.mktemp("doctor"))
    chosen = [part for name in (*WORKING, *FAILING) for part in ("--compiler", name)]
    outcome = lab.finish(lab.start("doctor", *chosen, "-j", "2", "--json", module="opera"))
    assert lab.left_behind() == []
    return outcome


@pytest.fixture(scope="module")
def adapters(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in outcome.json["adapters"]:
        found.setdefault(entry["name"], []).append(entry)
    return found


@pytest.mark.slow
def test_one_broken_adapter_that_was_asked_for_is_exit_code_3_and_hides_no_other(outcome: Outcome, lab: Lab) -> None:
    assert outcome.code == 3
    assert examine(lab, "fake").code == 0


def test_every_route_is_checked(adapters: dict[str, list[dict[str, Any]]]) -> None:
    assert list(adapters) == [*WORKING, *FAILING]
    assert [(entry["frontend"], entry["route"]) for entry in adapters["fake"]] == [("fake", "text"), ("fake", "live")]
    for name in WORKING:
        for entry in adapters[name]:
            assert (entry["ok"], entry["state"], entry["version"], entry["reason"]) == (True, "pass", "1.0", "")


def test_a_worker_is_started_once_for_all_routes_from_a_library(lab: Lab) -> None:
    assert examine(lab, "fake").code == 0
    compiled = [event for event in lab.journal() if (event.what, event.edge) == ("compile", "begin")]
    assert len(compiled) == 2
    assert len({event.pid for event in compiled}) == 1


@pytest.mark.slow
def test_libraries_with_the_same_environment_share_the_worker_of_a_compiler(lab: Lab) -> None:
    entries = examine(lab, "fake-paired").json["adapters"]
    assert [(entry["frontend"], entry["route"], entry["library"], entry["state"]) for entry in entries] == [
        ("fake", "text", "fake", "pass"),
        ("fake", "live", "fake", "pass"),
        ("second", "text", "fake-second", "pass"),
        ("second", "live", "fake-second", "pass"),
    ]
    compiled = [event.pid for event in lab.journal() if (event.what, event.edge) == ("compile", "begin")]
    assert len(compiled) == 4
    assert len(set(compiled)) == 1


@pytest.mark.slow
def test_a_route_that_fails_only_beside_another_library_passes_alone(lab: Lab) -> None:
    outcome = examine(lab, "fake-estranged")
    assert outcome.code == 0
    assert {entry["state"] for entry in outcome.json["adapters"]} == {"pass"}
    assert len({event.pid for event in lab.journal() if event.what == "compile"}) == 2


def test_quick_starts_no_worker_and_names_what_is_not_installed(lab: Lab) -> None:
    outcome = examine(lab, "fake", "fake-wrong", "fake-old", "fake-uninstalled", "fake-missing", more=("--quick", "--json"))
    assert outcome.code == 3
    states = {entry["name"]: entry["state"] for entry in outcome.json["adapters"]}
    assert states == {
        "fake": "installed",
        "fake-wrong": "installed",
        "fake-old": "old",
        "fake-uninstalled": "absent",
        "fake-missing": "broken",
    }
    assert lab.journal() == []
    assert examine(lab, "fake", more=("--quick",)).code == 0


def test_rows_come_as_the_checks_end(lab: Lab) -> None:
    process = lab.start("doctor", "--compiler", "fake-old", "--compiler", "fake-slow", "-j", "1", module="opera")
    assert process.stdout is not None
    rows = iter(process.stdout.readline, "")
    assert any(row.startswith("OLD ") for row in rows), "the row of a compiler that needs no worker waits for others"
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(60) == 130


def test_compilers_that_clash_in_one_process_pass_side_by_side(adapters: dict[str, list[dict[str, Any]]]) -> None:
    assert adapters["fake-left"][0]["ok"]
    assert adapters["fake-right"][0]["ok"]


@pytest.mark.parametrize(
    ("name", "state", "says"),
    [
        ("fake-uninstalled", "absent", ["opera-fake-engine is not installed;", "-m pip install 'opera-fake-engine>=3.1'`"]),
        ("fake-old", "old", ["opera-fake 1.0 is too old: opera-fake>=2.0 is needed", "-m pip install --upgrade 'opera-fake>=2.0'`"]),
        ("fake-clashing", "broken", ["undefined symbol", "opera-fake-demanding 1.0 needs opera-fake>=2.0, and 1.0 is installed"]),
        ("fake-absent", "broken", ["cannot be loaded (ModuleNotFoundError: No module named 'no_such_compiler')"]),
        ("fake-dead", "broken", ["does not start (signal: SIGABRT)"]),
        ("fake-wrong", "broken", ["fails on the canary model (inconsistent: values: expected 10.0, got 5.0"]),
        ("fake-missing", "broken", ["opera_fake.no_such_module:Adapter", "reinstall it"]),
        ("fake-nonsense", "broken", ["not a subclass of opera.compilers.adapter.Adapter"]),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(adapters: dict[str, list[dict[str, Any]]], name: str, state: str, says: list[str]) -> None:
    for entry in adapters[name]:
        assert (entry["ok"], entry["state"]) == (False, state)
        for words in says:
            assert words in entry["reason"]
        if name not in ("fake-missing", "fake-nonsense"):
            assert f"`opera env create {name}` gives it a separate environment" in entry["reason"]


def absent(*names: str) -> Callable[[str], list[str]]:
    """What an installation says that a library requires, in which the libraries *names* are not installed."""
    return lambda library: ["no-such-distribution>=1"] if library in names else []


def test_a_library_that_nobody_asked_for_is_skipped_and_no_fault(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "requirements_of", absent("fake-second"))
    outcome = examine(lab, "fake-paired")
    assert outcome.code == 0
    assert [(each["library"], each["state"], each["ok"]) for each in outcome.json["adapters"]] == [
        ("fake", "pass", True), ("fake", "pass", True), ("fake-second", "skipped", False), ("fake-second", "skipped", False),
    ]  # fmt: skip
    told = lab.opera("doctor", "--compiler", "fake-paired")
    (line,) = [line for line in told.stdout.splitlines() if "is not installed" in line]
    assert line.startswith("fake-second: the library fake-second is not installed; `")
    assert line.endswith(" -m pip install 'opera-dl[fake-second]'` installs it")
    assert "BROKEN" not in told.stdout
    assert examine(lab, "fake-paired", more=("--quick", "--json")).code == 0


def test_a_compiler_without_any_library_does_not_work(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "requirements_of", absent("fake", "fake-second"))
    outcome = examine(lab, "fake-paired")
    assert outcome.code == 3
    assert {each["state"] for each in outcome.json["adapters"]} == {"skipped"}
    assert not lab.journal()


def test_a_backend_of_a_library_that_is_not_installed_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "is_required", lambda name: name == "warm")
    monkeypatch.setattr(
        FakeAdapter, "routes", (FakeAdapter.routes[0], replace(FakeAdapter.routes[1], environment=(("KERAS_BACKEND", "warm"),)))
    )
    first, second = examine(lab, "fake").json["adapters"]
    assert (first["state"], second["state"]) == ("pass", "skipped")
    assert re.fullmatch(r"fake needs warm here, which is not installed; `\S+ -m pip install warm` installs it", second["reason"])


def test_the_file_of_each_compiler_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler_worker._imported({"json": "1", "level": "x"}) == json.__file__
    assert compiler_worker._imported({"no such module": "1"}) == ""
    monkeypatch.setitem(sys.modules, "parts", types.ModuleType("parts"))
    sys.modules["parts"].__path__ = ["/here/parts"]
    assert compiler_worker._imported({"parts": "1"}) == "/here/parts"
    seen: list[Check] = [Check("own", None, State.PASS, imported="/here/own.py"), Check("other", None, State.ABSENT, "why")]
    assert [doctor.entry_of(each)["imported"] for each in seen] == ["/here/own.py", ""]
    monkeypatch.setattr(Checkup, "adapters", lambda self, chosen: seen)
    assert [line for line in lab.opera("doctor").stdout.splitlines() if "is imported from" in line] == ["own is imported from /here/own.py"]


def failure(kind: str, message: str, module: str) -> Broken:
    return Broken({"type": kind, "message": message, "text": "", "frames": [("a", "a.py", 1, "f"), (module, "b.py", 2, "g")], "causes": []})


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (
            failure("ModuleNotFoundError", "No module named 'x'", "x"),
            "is installed and cannot be loaded (ModuleNotFoundError: No module named 'x')",
        ),
        (failure("ValueError", "wrong", "engine.core"), "is installed and cannot be loaded (ValueError: wrong)"),
        (failure("RuntimeError", "no device", "engine.core"), "is installed and cannot be loaded (RuntimeError: no device)"),
        (Lost("signal", "SIGSEGV", "", "the last words", {}), "does not start (signal: SIGSEGV) the last words"),
    ],
)
def test_a_compiler_that_cannot_be_used_gets_one_sentence_that_says_what_to_do(failure: Broken | Lost, said: str) -> None:
    told = of_broken("fake", FakeAdapter, held(opera_fake=("1.0", ())), failure)
    assert told == f"fake {said}; if something around it is in its way, `opera env create fake` gives it a separate environment"


def test_what_an_adapter_finds_out_itself_is_told_as_it_says_it() -> None:
    what = "needs a compiler; install one"
    assert of_broken("fake", FakeAdapter, held(), failure("RuntimeError", what, FakeAdapter.__module__)) == what
    theirs = type("Theirs", (FakeAdapter,), {"__module__": "their_plugin"})
    assert of_broken("fake", theirs, held(), failure("RuntimeError", what, FakeAdapter.__module__)) == what, "or its base class"


def test_an_extension_that_is_broken_or_has_a_command_twice_is_named_with_what_to_do(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    section = {"Own": {"run": ("opera.cli.run", "Run."), "mine": ("no_such.module", "Mine.")}}
    monkeypatch.setattr("opera.cli.lazy.extensions", lambda: {"theirs": Commands("Theirs", section["Own"])})
    monkeypatch.setattr(
        doctor, "broken", lambda group: {"ours": EnvironmentBroken("ours (a:b), of opera.pools, cannot be imported: x; reinstall it")}
    )
    problems = lab.opera("doctor", "--compiler", "fake", "--quick", "--json").json["extensions"]
    assert problems == [
        "ours (a:b), of opera.pools, cannot be imported: x; reinstall it",
        "extension theirs has a command 'run', as opera has: it is left out; uninstall theirs, or rename the command",
    ]


def test_a_person_reads_every_reason_once(lab: Lab) -> None:
    outcome = examine(lab, "fake", "fake-old", more=())
    assert outcome.stdout.count("is too old") == 1
    assert outcome.stdout.count("OLD") == 2


def test_an_interpreter_that_is_not_there_is_named_and_hides_no_other(lab: Lab) -> None:
    (lab.folder / "opera.toml").write_text('[compiler.fake-left]\npython = "gone/bin/python"\n')
    left, right = examine(lab, "fake-left", "fake-right").json["adapters"]
    assert right["ok"]
    assert f"the interpreter {lab.folder}/gone/bin/python does not exist" in left["reason"]
    (lab.folder / "opera.toml").write_text('[library.fake]\npython = "gone/bin/python"\n')
    for entry in examine(lab, "fake").json["adapters"]:
        assert "gone/bin/python does not exist" in entry["reason"]


@pytest.mark.slow
def test_a_torch_whose_tables_cannot_be_kept_is_named_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_FAKE_TORCH", "9.9")
    told = lab.opera("doctor", "--compiler", "fake")
    assert told.code == 0
    lines = [line for line in told.stdout.splitlines() if "internal functions of torch 9.9" in line]
    assert [line.partition(":")[0] for line in lines] == ["fake", "fake"]
    document = lab.opera("doctor", "--compiler", "fake", "--json").json
    assert [f"{each['name']}: {each['remark']}" for each in document["remarks"]] == lines


def test_an_unknown_compiler_is_the_users_error(lab: Lab) -> None:
    outcome = examine(lab, "fake-lft")
    assert outcome.code == 2
    assert "did you mean 'fake-left'?" in outcome.stderr


def test_ctrl_c_ends_it_at_once_with_everything_that_it_has_started(lab: Lab) -> None:
    process = lab.start("doctor", "--compiler", "fake-slow", "--compiler", "fake", "-j", "2", module="opera")
    lab.wait_for(lambda: any(event.what == "start" for event in lab.journal()))
    process.send_signal(signal.SIGINT)
    outcome = lab.finish(process)
    assert outcome.code == 130
    assert "Traceback" not in outcome.stderr
    assert lab.left_behind() == []
    assert not any(event.what == "started" for event in lab.journal()), "it has waited for what takes its time"


# What an environment lacks.

MARKERS = {"sys_platform": "linux", "python_version": "3.11", "python_full_version": "3.11.7", "platform_machine": "x86_64"}


def held(**distributions: tuple[str, tuple[str, ...]]) -> Inventory:
    found = {name.replace("_", "-"): Distribution(name, version, requires) for name, (version, requires) in distributions.items()}
    return Inventory("python", found, MARKERS)


def test_names_and_versions_are_compared_as_pip_compares_them() -> None:
    here = held(my_compiler=("2.10.dev3+cpu", ()))
    assert lacks(["My.Compiler>=2.9"], here) == []
    assert [lack.installed for lack in lacks(["my-compiler>=2.11", "other"], here)] == ["2.10.dev3+cpu", None]
    assert lacks(['windows-only; sys_platform == "win32"'], here) == []


def test_a_version_that_is_too_new_is_not_called_old() -> None:
    here = held(jaxlib=("0.10.2", ()), tvm=("0.20", ()))
    new = lacks(["jaxlib>=0.6,<0.8"], here)
    assert [str(each) for each in new] == ["jaxlib 0.10.2 is too new: jaxlib>=0.6,<0.8 is needed"]
    both = lacks(["jaxlib>=0.6,<0.8", "tvm>=0.25"], here)
    absent = lacks(["jaxlib>=0.6,<0.8", "tvm-stablehlo"], here)
    assert [of_lacks("fake", "python", found).state for found in (new, both, absent)] == ["new", "old", "absent"]
    assert "--upgrade" not in of_lacks("fake", "python", new).reason


def test_a_clash_is_found_below_what_the_adapter_needs() -> None:
    here = held(
        compiler=("1", ("middle[fast]>=1", "absent-here; extra == 'docs'")), middle=("2", ("base<3", "speedup>=2; extra == 'fast'")),
        base=("3", ()), speedup=("1", ()), unrelated=("1", ("base<1",)),
    )  # fmt: skip
    assert sorted(map(str, clashes(["compiler"], here))) == [
        "middle 2 needs base<3, and 3 is installed",
        "middle 2 needs speedup>=2, and 1 is installed",
    ]
    assert clashes(["base"], here) == []
