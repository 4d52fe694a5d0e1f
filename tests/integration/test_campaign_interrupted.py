"""Stopping a campaign at any moment, in any way, loses nothing, leaves nothing, and the same command goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from fake.harness import Lab, Outcome, essence, instance

ARGUMENTS = ("--compiler", "fake", "--frontend", "fake", "-j", "2", "--timeout", "1.5s", "--json")
HANGS = ("hang-a", "hang-b")
TOTAL = 60 + 7 + 10 + len(HANGS)


def filled(folder: Path) -> Lab:
    lab = Lab(folder)
    lab.add(
        *(instance(f"slow-{number}", "slow") for number in range(60)),
        *(instance(name, name) for name in ("raise", "abort", "children", "lie-value", "decline", "wander")),
        *(instance(f"detached-{number}", "detached") for number in range(10)),
        instance("library-detached", library="detached"),
        *(instance(name, "hang-native") for name in HANGS),
    )
    return lab


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, list[tuple[Any, ...]]]:
    lab = filled(tmp_path_factory.mktemp("undisturbed"))
    outcome = lab.run_in_processes(timeout="1.5s")
    return outcome, essence(lab.stored())


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two documents say the same of two campaigns, apart from how long they took."""
    return {**one, "seconds": 0} == {**other, "seconds": 0}


def under_way(lab: Lab) -> bool:
    """Whether results are written, and orphaned processes of a compiler live."""
    return any("sleep 1000" in line for line in lab.left_behind()) and len(lab.stored()) >= 5


def test_a_killed_driver_leaves_no_process_and_the_same_command_completes_the_campaign(
    lab: Lab, tmp_path: Path, undisturbed: tuple[Outcome, list[tuple[Any, ...]]]
) -> None:
    lab = filled(tmp_path / "killed")
    process = lab.start(*ARGUMENTS)
    lab.wait_for(lambda: under_way(lab))
    process.send_signal(signal.SIGKILL)
    lab.finish(process)
    lab.wait_for(lambda: not lab.left_behind())
    before = essence(lab.stored())
    assert 0 < len(before) < TOTAL

    outcome, expected = undisturbed
    again = lab.finish(lab.start(*ARGUMENTS))
    after = essence(lab.stored())
    assert after == expected
    assert set(before) <= set(after)
    assert same(again.json, outcome.json)
    assert again.code == outcome.code == 1
    assert lab.scratch() == []


@pytest.mark.slow
def test_ctrl_c_ends_with_130_keeps_results_and_the_same_command_goes_on(
    tmp_path: Path, undisturbed: tuple[Outcome, list[tuple[Any, ...]]]
) -> None:
    lab = filled(tmp_path / "interrupted")
    process = lab.start(*ARGUMENTS)
    lab.wait_for(lambda: under_way(lab))
    os.killpg(process.pid, signal.SIGINT)
    interrupted = lab.finish(process)
    assert interrupted.code == 130
    assert "Traceback" not in interrupted.stderr
    assert lab.left_behind() == []
    assert lab.scratch() == []
    before = essence(lab.stored())
    document = interrupted.json
    assert document["executed"] == len(before) == sum(document["verdicts"].values())
    assert (document["complete"], document["stopped_by"]) == (False, "interrupt")
    assert 0 < len(before) < TOTAL

    outcome, expected = undisturbed
    again = lab.finish(lab.start(*ARGUMENTS))
    assert essence(lab.stored()) == expected
    assert same(again.json, outcome.json)
    assert again.json["seconds"] > document["seconds"]


def test_ctrl_c_while_a_compiler_is_still_being_imported_ends_at_once(lab: Lab) -> None:
    lab.add(instance("pass"))
    process = lab.start("--compiler", "fake-slow", "--frontend", "fake", "--json")
    lab.wait_for(lambda: any(event.what == "start" for event in lab.journal()))
    os.killpg(process.pid, signal.SIGINT)
    outcome = lab.finish(process)
    assert outcome.code == 130
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.stderr
    assert lab.left_behind() == []


def test_a_finished_campaign_run_again_does_nothing_and_says_the_same(undisturbed: tuple[Outcome, list[tuple[Any, ...]]], lab: Lab) -> None:
    lab.add(instance("pass"), instance("raise", "raise"))
    first = lab.run()
    noted = len(lab.journal())
    second = lab.run()
    assert same(first.json, second.json)
    assert first.code == second.code == 1
    assert [event.api for event in lab.journal()[noted:] if event.api != "fake.canary"] == []


def test_what_a_killed_driver_left_in_the_scratch_folder_is_removed_by_the_next(lab: Lab) -> None:
    lab.add(instance("pass"))
    leftover = lab.workspace / "scratch" / "crew-1-dead" / "deep"
    leftover.mkdir(parents=True)
    (leftover / "file").write_text("x")
    assert lab.run().code == 0
    assert lab.scratch() == []


def test_a_file_that_a_killed_worker_has_not_finished_is_gone_when_the_campaign_ends(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(8)))
    process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "1", "--json")
    lab.wait_for(lambda: any(event.what == "compile" for event in lab.journal()))
    part = lab.workspace / "cache" / ".part-abcdefgh"
    part.write_bytes(b"half of a model")
    assert lab.finish(process).code == 0
    assert not part.exists()
