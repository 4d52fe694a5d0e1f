"""One campaign in which library and compiler do whatever they can: every test gets its verdict, and nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake.harness import Lab, Outcome, instance

from opera.difftest.protocol import MOST_RUNS
from opera.store import StoredResult

COMPILER = {
    "pass": ("pass", None, None),
    "raise": ("crash", "load", None),
    "panic": ("crash", "load", None),
    "sys-exit": ("crash", "load", None),
    "megabyte": ("crash", "load", None),
    "unicode": ("crash", "load", None),
    "mute": ("crash", "load", None),
    "recurse": ("crash", "load", None),
    "decline": ("unsupported", "load", "no-converter"),
    "no-array": ("unsupported", "load", "no-array-interface"),
    "abort": ("abort", "load", None),
    "segfault": ("abort", "load", None),
    "overflow": ("abort", "load", None),
    "kill-itself": ("abort", "load", None),
    "exit-0": ("abort", "load", None),
    "exit-3": ("abort", "load", None),
    "fail-noisily": ("abort", "load", None),
    "fork-and-abort": ("abort", "load", None),
    "hang": ("hang", "load", None),
    "hang-native": ("hang", "load", None),
    "stop": ("hang", "load", None),
    "fork-and-hang": ("hang", "load", None),
    "leak": ("oom", "load", None),
    "noise": ("pass", None, None),
    "die-after-answering": ("pass", None, None),
    "children": ("pass", None, None),
    "detached": ("pass", None, None),
    "detached-unmarked": ("pass", None, None),
    "fork-and-return": ("pass", None, None),
    "two-return": ("pass", None, None),
    "wander": ("pass", None, None),
    "litter": ("pass", None, None),
    "flood": ("pass", None, None),
    "redirect": ("pass", None, None),
    "environ": ("pass", None, None),
    "signals": ("pass", None, None),
    "close-streams": ("pass", None, None),
    "threads": ("pass", None, None),
    "flaky": ("flaky", "load", "pass in a fresh process"),
    "abort-once": ("flaky", "load", "pass in a fresh process"),
    "moody": ("flaky", "load", "fails in another way each time"),
    "lie-value": ("inconsistent", "compare", None),
    "lie-shape": ("inconsistent", "compare", None),
    "lie-dtype": ("inconsistent", "compare", None),
    "lie-odd-dtype": ("inconsistent", "compare", None),
    "lie-nan": ("inconsistent", "compare", None),
    "lie-count": ("inconsistent", "compare", None),
    "lie-structure": ("inconsistent", "compare", None),
    "lie-nothing": ("inconsistent", "compare", None),
    "lie-otherwise": ("inconsistent", "compare", None),
}
LATER = {
    ("raise", "optimize"): "crash", ("raise", "codegen"): "crash", ("raise", "run"): "crash", ("abort", "optimize"): "abort",
    ("segfault", "codegen"): "abort", ("exit-0", "run"): "abort", ("leak", "run"): "oom", ("hang-native", "run"): "hang",
    ("segfault", "release"): "abort", ("hang-native", "release"): "hang",
}  # fmt: skip
LIBRARY = {
    "rejects": ("invalid", None, "eager"),
    "raise": ("invalid", None, "template-error"),
    "panic": ("invalid", None, "template-error"),
    "abort": ("invalid", None, "library-abort"),
    "exit-0": ("invalid", None, "library-abort"),
    "hang-native": ("invalid", None, "library-hang"),
    "leak": ("invalid", None, "library-oom"),
    "export-aborts": ("invalid", None, "library-abort"),
    "capture-fails": ("invalid", None, "capture-failed"),
    "export-fails": ("crash", "export", None),
    "export-flaky": ("flaky", "export", "pass in a fresh process"),
    "undefined": ("undefined", "compare", "nondeterministic"),
    "imprecise": ("pass", None, None),
    "library-abort-once": ("pass", None, None),
    "noise": ("pass", None, None),
    "children": ("pass", None, None),
    "detached": ("pass", None, None),
    "die-after-answering": ("pass", None, None),
    "wander": ("pass", None, None),
    "flood": ("pass", None, None),
    "redirect": ("pass", None, None),
    "environ": ("pass", None, None),
    "signals": ("pass", None, None),
}
OTHERS = {
    "lie-while-undefined": (("lie-value", "load", "undefined"), ("undefined", "compare", "nondeterministic")),
    "lie-while-imprecise": (("lie-value", "load", "imprecise"), ("undefined", "compare", "ill-conditioned")),
    "lie-on-the-edge": (("lie-value", "load", "on-the-edge"), ("undefined", "compare", "ill-conditioned")),
    "lie-of-the-capture": (("lie-value", "load", "captured-wrong"), ("inconsistent", "compare", None)),
}
PLAIN = [f"plain-{number}" for number in range(20)]
DYING = [f"dying-{number}" for number in range(6)]
EXPECTED = {
    **COMPILER,
    **{f"{behaviour}-in-{stage}": (verdict, stage, None) for (behaviour, stage), verdict in LATER.items()},
    **{f"library-{name}": expected for name, expected in LIBRARY.items()},
    **{name: expected for name, (_, expected) in OTHERS.items()},
    **dict.fromkeys((*PLAIN, *DYING), ("pass", None, None)),
}


class Wild:
    """The campaign, its outcome and its results."""

    def __init__(self, lab: Lab, outcome: Outcome) -> None:
        self.lab = lab
        self.outcome = outcome
        self.left_behind = lab.left_behind()
        self.results: dict[str, StoredResult] = lab.results()


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Wild:
    lab = Lab(tmp_path_factory.mktemp("wild"))
    lab.add(
        *(instance(name, name) for name in COMPILER),
        *(instance(f"{behaviour}-in-{stage}", behaviour, stage) for behaviour, stage in LATER),
        *(instance(f"library-{name}", library=name) for name in LIBRARY),
        *(instance(name, *behaviour) for name, (behaviour, _) in OTHERS.items()),
        *(instance(name) for name in PLAIN),
        *(instance(name, "die-after-answering") for name in DYING),
    )
    return Wild(lab, lab.run_in_processes("--memory", "400M", timeout="3s"))


@pytest.mark.parametrize("name", EXPECTED)
def test_every_test_gets_its_own_verdict_stage_and_reason(wild: Wild, name: str) -> None:
    result = wild.results[name]
    assert (result.verdict.value, result.stage and result.stage.value, result.reason) == EXPECTED[name]


def test_the_campaign_ends_with_a_result_for_every_test(wild: Wild) -> None:
    assert wild.results.keys() == EXPECTED.keys()
    document = wild.outcome.json
    assert document["complete"]
    assert document["stopped_by"] is None
    assert document["executed"] == document["planned"] == len(EXPECTED)
    assert wild.outcome.code == 1


def test_the_figures_are_those_of_the_results(wild: Wild) -> None:
    verdicts = [verdict for verdict, _, _ in EXPECTED.values()]
    assert wild.outcome.json["verdicts"] == {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    findings = {result.fingerprint for result in wild.results.values() if result.fingerprint}
    assert wild.outcome.json["findings"] == wild.outcome.json["new_findings"] == len(findings)


def test_no_process_outlives_the_campaign(wild: Wild) -> None:
    assert wild.left_behind == []


def test_no_process_outlives_the_campaign_even_with_an_environment_of_its_own(wild: Wild) -> None:
    assert wild.results["detached-unmarked"].verdict.value == "pass"
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [command for command in commands if command == b"sleep\x00987654\x00"]


def test_no_scratch_folder_and_no_half_written_file_outlives_the_campaign(wild: Wild) -> None:
    assert wild.lab.scratch() == []
    assert not list(wild.lab.workspace.rglob(".part-*"))
    assert {path.name for path in wild.lab.workspace.iterdir()} <= {
        "opera.db", "checked", "lock", "cache", "blobs", "scratch", "logs", "log.jsonl", "status.json",
    }  # fmt: skip
    assert {path.name for path in wild.lab.folder.iterdir()} == {"ws", "state"}


def test_only_confirmed_failures_have_a_fingerprint(wild: Wild) -> None:
    failures = {"crash", "abort", "hang", "oom", "inconsistent"}
    for result in wild.results.values():
        assert (result.fingerprint is not None) == (result.verdict.value in failures)


def test_a_failure_is_confirmed_in_another_process(wild: Wild) -> None:
    for name in ("raise", "abort", "hang-native", "leak-in-run", "lie-value", "sys-exit"):
        runs = [event.pid for event in wild.lab.journal() if (event.what, event.api, event.edge) == ("compile", f"fake.{name}", "begin")]
        # A busy machine may stop one run by its deadline and another by its memory; then a third run decides.
        assert len(runs) == len(set(runs)), name
        assert 2 <= len(runs) <= MOST_RUNS, name


def test_a_passing_test_runs_once(wild: Wild) -> None:
    for name in PLAIN:
        assert sum(1 for event in wild.lab.journal() if (event.what, event.api, event.edge) == ("compile", f"fake.{name}", "begin")) == 1


def test_the_reference_of_a_failing_test_is_computed_once(wild: Wild) -> None:
    runs = [event for event in wild.lab.journal() if (event.what, event.api, event.edge) == ("reference", "fake.abort", "begin")]
    assert len(runs) == 1


def test_a_result_says_by_what_the_process_was_lost(wild: Wild) -> None:
    lost = {name: wild.results[name].detail["lost"] for name in ("abort", "segfault", "exit-3", "hang", "leak", "fork-and-abort")}
    assert {name: (each["cause"], each["detail"]) for name, each in lost.items()} == {
        "abort": ("signal", "SIGABRT"), "segfault": ("signal", "SIGSEGV"), "exit-3": ("exit", "3"), "hang": ("deadline", "3 s"),
        "leak": ("memory", "0.390625 GiB"), "fork-and-abort": ("signal", "SIGABRT"),
    }  # fmt: skip


def test_the_log_of_a_lost_process_holds_its_last_words_and_stays_small(wild: Wild) -> None:
    log = wild.results["fail-noisily"].detail["log"]
    assert "the last words" in log
    assert len(log) <= 8192


def test_a_long_message_is_cut_to_its_beginning_and_end(wild: Wild) -> None:
    message = wild.results["megabyte"].detail["failure"]["message"]
    assert message.startswith("begin")
    assert message.endswith("end")
    assert len(message) < 40_000


def test_a_message_of_any_characters_survives(wild: Wild) -> None:
    assert wild.results["unicode"].detail["failure"]["message"] == "bytes \udcff\udc80 nul \x00 escape \x1b[31m done"


def test_a_message_that_cannot_be_had_is_replaced(wild: Wild) -> None:
    assert "RuntimeError" in wild.results["mute"].detail["failure"]["message"]


def test_no_path_of_this_machine_gets_into_a_failure(wild: Wild) -> None:
    for name in ("raise", "sys-exit", "lie-value", "library-rejects"):
        assert str(wild.lab.folder) not in json.dumps(wild.results[name].detail)
        assert "/tests/fake/site" not in json.dumps(wild.results[name].detail)


def test_the_same_failure_of_two_processes_has_one_fingerprint_although_addresses_differ(wild: Wild) -> None:
    assert wild.results["raise"].verdict.value == "crash"
    assert "0x" in wild.results["raise"].detail["failure"]["message"]


def test_a_wrong_result_that_the_librarys_own_capture_gives_is_the_captures(wild: Wild) -> None:
    assert wild.results["lie-of-the-capture"].exporter == "fake.capture"
    assert wild.results["lie-value"].exporter is None


def test_an_excused_failure_says_why(wild: Wild) -> None:
    assert "rounding error" in wild.results["lie-on-the-edge"].detail["excuse"]


def test_an_exporters_failure_is_the_exporters(wild: Wild) -> None:
    assert wild.results["library-export-fails"].exporter == "fake.exporter"


def test_a_test_pays_for_every_stage_it_went_through(wild: Wild) -> None:
    stages = {"reference", "export", "read", "load", "optimize", "codegen", "run", "compare", "release"}
    assert wild.results["plain-0"].seconds.keys() == stages
    assert 2.9 < wild.results["hang"].seconds["load"] < 10
