"""Parts of a campaign on several machines, joined afterwards, and campaigns that are run every night."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import reporting
from fake.harness import Lab, Outcome, essence, instance

from opera.difftest.settings import Shard
from opera.errors import UserError
from opera.instance import Occurrence
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus
from opera.store.combine import Combined, combine
from opera.store.database import open_workspace
from opera.workers.machine import machine_of

STATIC = ("--strategy", "opera")
"""An order that does not depend on results: parts that learn, each from its own tests, number their tests differently."""
NAMES = [f"plain-{number}" for number in range(24)]


def filled(folder: Path) -> Lab:
    lab = Lab(folder)
    lab.add(*map(instance, NAMES), *(instance(name, name) for name in ("raise", "abort", "lie-value", "decline")))
    return lab


def combined(lab: Lab, *others: Lab) -> dict[str, Any]:
    """What `opera combine` says of joining *others* in the workspace of *lab*."""
    outcome = lab.opera("combine", *(str(other.workspace) for other in others), "--json")
    assert outcome.code == 0, outcome.stderr
    return outcome.json


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Lab, Outcome]]:
    """Three machines, each with one part of three of the same campaign."""
    folder = tmp_path_factory.mktemp("parts")
    labs = [filled(folder / str(number)) for number in (1, 2, 3)]
    return [(lab, lab.run(*STATIC, "--shard", f"{number}/3")) for number, lab in enumerate(labs, 1)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Outcome]:
    lab = filled(tmp_path_factory.mktemp("whole"))
    return lab, lab.run(*STATIC)


def rows(lab: Lab, campaign: str) -> list[tuple[Any, ...]]:
    with open_workspace(lab.workspace, write=False) as space:
        return space.database.execute("SELECT test, place FROM campaign_tests WHERE campaign = ? ORDER BY place", (campaign,)).fetchall()


def test_parts_are_disjoint_and_together_the_whole(parts: list[tuple[Lab, Outcome]], whole: tuple[Lab, Outcome]) -> None:
    tests = [set(essence(lab.stored())) for lab, _ in parts]
    assert sum(map(len, tests)) == len(set().union(*tests))
    assert set().union(*tests) == set(essence(whole[0].stored()))
    assert len({outcome.json["campaign"] for _, outcome in parts} | {whole[1].json["campaign"]}) == 4


def test_combined_parts_are_the_campaign_that_one_machine_would_have_run(
    tmp_path: Path, parts: list[tuple[Lab, Outcome]], whole: tuple[Lab, Outcome]
) -> None:
    lab, outcome = Lab(tmp_path), whole[1]
    document = combined(lab, *(part for part, _ in parts))
    assert essence(lab.stored()) == essence(whole[0].stored())
    (campaign,) = document["campaigns"]
    assert (campaign["id"], campaign["complete"], campaign["parts"]) == (outcome.json["campaign"], True, ["1/3", "2/3", "3/3"])
    assert rows(lab, campaign["id"]) == rows(whole[0], campaign["id"])
    again = lab.run(*STATIC)
    assert {**again.json, "seconds": 0, "new_findings": 0} == {**outcome.json, "seconds": 0, "new_findings": 0}
    assert [event.api for event in lab.journal() if event.api != "fake.canary"] == []


def test_the_order_of_combining_and_combining_twice_change_nothing(tmp_path: Path, parts: list[tuple[Lab, Outcome]]) -> None:
    one, other = Lab(tmp_path / "one"), Lab(tmp_path / "other")
    labs = [lab for lab, _ in parts]
    combined(one, *labs)
    combined(other, labs[2], labs[0])
    assert not combined(other, labs[2])["campaigns"][0]["complete"]
    assert combined(other, labs[1], labs[2])["campaigns"][0]["complete"]
    assert dump(one) == dump(other)


def dump(lab: Lab) -> dict[str, Any]:
    """All that a workspace holds, apart from the numbers that rankings happen to have."""
    with open_workspace(lab.workspace, write=False) as space:
        tables = ("instances", "occurrences", "results", "campaigns", "campaign_tests", "machines", "results_elsewhere")
        return {table: sorted(space.database.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in tables}


def test_a_missing_part_leaves_the_campaign_incomplete_and_a_run_of_the_whole_completes_it(
    tmp_path: Path, parts: list[tuple[Lab, Outcome]], whole: tuple[Lab, Outcome]
) -> None:
    lab = Lab(tmp_path)
    document = combined(lab, parts[0][0], parts[2][0])
    assert not document["campaigns"][0]["complete"]
    assert lab.run().json["complete"]
    assert essence(lab.stored()) == essence(whole[0].stored())


def test_results_of_machines_of_another_kind_are_kept_apart(tmp_path: Path) -> None:
    one, other, out = filled(tmp_path / "one"), filled(tmp_path / "other"), Lab(tmp_path / "out")
    for lab in (one, other):
        lab.run("--limit", "6")
    with open_workspace(other.workspace, write=True) as space, space.transaction() as database:
        database.execute("UPDATE results SET machine = 'ffffffffffff'")
        database.execute("UPDATE machines SET id = 'ffffffffffff'")
        (changed,) = database.execute("SELECT min(test) FROM results WHERE verdict = 'pass'").fetchone()
        detail = json.dumps({"difference": {"kind": "values", "output": 0, "expected": "1", "actual": "2"}})
        database.execute("UPDATE results SET verdict = 'inconsistent', fingerprint = 'f', detail = ? WHERE test = ?", (detail, changed))
    document = combined(out, other, one)
    assert (document["apart"], document["disagreements"]) == (6, [changed])
    assert essence(out.stored()) == essence(one.stored())
    with open_workspace(out.workspace, write=False) as space:
        assert len(Campaigns(space).machines()) == 2
        elsewhere = dict(space.database.execute("SELECT test, verdict FROM results_elsewhere WHERE machine = 'ffffffffffff'").fetchall())
    assert len(elsewhere) == 6
    assert elsewhere[changed] == "inconsistent"


def test_a_workspace_is_not_combined_with_itself(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = lab.opera("combine", str(lab.workspace))
    assert outcome.code == 2
    assert "name another workspace" in outcome.stderr


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "x", "1/", "-1/3", "1/3/4"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="3/8"):
        Shard.parse(text)


def test_machines_are_of_one_kind_when_their_processors_can_do_the_same() -> None:
    text = "processor : 0\nmodel name : A\nflags : avx sse avx512f\n"
    one = machine_of("x86_64", text, 4, "Linux")
    assert machine_of("x86_64", text.replace("A\n", "B\n").replace("avx sse", "sse avx"), 64, "Linux").id == one.id
    assert machine_of("x86_64", text.replace("avx512f", ""), 4, "Linux").id != one.id
    assert machine_of("aarch64", text, 4, "Linux").id != one.id


# Every night.


def compiled(lab: Lab) -> list[str]:
    return [event.api for event in lab.journal() if (event.what, event.edge) == ("compile", "begin") and event.api != "fake.canary"]


def test_a_new_build_runs_what_failed_first_then_what_is_new_then_the_rest(lab: Lab) -> None:
    lab.add(*(instance(name) for name in NAMES[:10]), instance("raise", "raise"), instance("lie-value", "lie-value"))
    lab.run("--nightly", "--build", "monday", jobs=1)
    before = len(compiled(lab))
    lab.add(*(instance(name) for name in NAMES[10:14]))
    outcome = lab.run("--nightly", "--build", "tuesday", jobs=1)
    assert outcome.json["executed"] == 16
    assert outcome.json["versions"]["compiler"]["build"] == "tuesday"
    order = list(dict.fromkeys(compiled(lab)[before:]))
    assert set(order[:2]) == {"fake.raise", "fake.lie-value"}
    assert set(order[2:6]) == {f"fake.{name}" for name in NAMES[10:14]}
    assert outcome.json["new_findings"] == 0


def test_a_night_in_which_nothing_changed_runs_nothing_and_one_with_new_instances_only_those(lab: Lab) -> None:
    lab.add(*(instance(name) for name in NAMES[:6]))
    first = lab.run("--nightly", "--build", "monday")
    noted = len(compiled(lab))
    assert dataclasses.replace(lab.run("--nightly", "--build", "monday"), stdout="", stderr="").code == first.code == 0
    assert len(compiled(lab)) == noted
    lab.add(instance("late"))
    assert lab.run("--nightly", "--build", "monday").json["executed"] == 7
    assert compiled(lab)[noted:] == ["fake.late"]


def test_a_night_has_no_limit_but_a_budget(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = lab.run("--nightly", "--limit", "3")
    assert outcome.code == 2
    assert "--budget" in outcome.stderr


# Watching.


def top(lab: Lab, *arguments: str) -> Outcome:
    return lab.opera("top", *arguments)


@pytest.mark.slow
def test_a_running_campaign_says_how_it_stands_and_a_finished_one_what_it_cost(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(60)), instance("raise", "raise"))
    process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json")
    lab.wait_for(lambda: status(lab).get("tests", {}).get("done", 0) > 5)
    running = top(lab, "--json").json
    assert (running["schema"], running["state"], running["pid"]) == ("status/1", "running", process.pid)
    assert running["tests"]["total"] == 61
    assert {each["state"] for each in running["workers"]} <= {"busy", "idle", "starting", "warming"}
    started = [each for each in running["workers"] if each["state"] in ("busy", "idle")]
    assert started
    assert all(each["resident"] > 2**20 and Path(each["log"]).exists() for each in started)
    document = lab.finish(process).json
    ended = top(lab, "--json").json
    assert (ended["state"], ended["verdicts"], ended["new_findings"]) == ("complete", document["verdicts"], 1)
    stored = top(lab, document["campaign"][:6], "--json").json
    assert stored["verdicts"] == ended["verdicts"]
    assert stored["cost"]["stages"].keys() == ended["cost"]["stages"].keys() >= {"reference", "export", "load", "run", "compare"}
    for name, seconds in ended["cost"]["stages"].items():
        assert stored["cost"]["stages"][name] == pytest.approx(seconds, abs=0.01)
    table = top(lab, document["campaign"], "--operators", "100").stdout
    assert all(word in table for word in ("fake/fake", "61 of 61", "fake.raise", "operator", "stage"))


def status(lab: Lab) -> dict[str, Any]:
    path = lab.workspace / "status.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_killed_driver_is_seen_to_be_gone(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(60)))
    process = lab.start("--compiler", "fake", "--frontend", "fake")
    lab.wait_for(lambda: status(lab).get("state") == "running")
    process.kill()
    process.wait()
    assert top(lab, "--json").json["state"] == "lost"
    assert "lost" in top(lab).stdout


def test_the_journal_tells_of_workers_results_and_findings_in_order(lab: Lab) -> None:
    lab.add(instance("abort", "abort"), instance("pass"), instance("fail-noisily", "fail-noisily"))
    campaign = lab.run_in_processes().json["campaign"]
    lines = [json.loads(line) for line in (lab.workspace / "log.jsonl").read_text().splitlines()]
    events = [line["event"] for line in lines]
    assert (events[0], events[-1]) == ("campaign-starting", "campaign-ended")
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    starts = [(line["event"], line["role"]) for line in lines if line["event"] in ("worker-started", "worker-ready")]
    assert starts[:2] == [("worker-started", "library"), ("worker-started", "compiler")], "one imports while the other does"
    lost = {(line["api"], line["cause"], line["detail"], line["stage"]) for line in lines if line["event"] == "worker-lost"}
    assert {("fake.abort", "signal", "SIGABRT", "load"), ("fake.fail-noisily", "signal", "SIGABRT", "load")} <= lost
    results = {line["api"]: line["verdict"] for line in lines if line["event"] == "result"}
    assert results == {"fake.abort": "abort", "fake.pass": "pass", "fake.fail-noisily": "abort"}
    assert {line["campaign"] for line in lines if line["event"] == "campaign-began"} == {campaign}
    assert any("the last words" in log.read_text() for log in (lab.workspace / "logs").glob("fake-*.log"))


def test_top_without_a_campaign_says_what_starts_one(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = top(lab)
    assert outcome.code == 2
    assert "opera run" in outcome.stderr
    outcome = top(lab, "abc")
    assert outcome.code == 2
    assert "choose one of: none" in outcome.stderr


def test_combined_workspaces_agree_on_the_ids_of_findings_in_any_order(tmp_path: Path) -> None:
    failing = [
        reporting.result(name, reporting.relu(1), "tvm", Verdict.CRASH, Stage.LOAD, detail=reporting.failure("no")) for name in ("a1", "b2")
    ]
    fingerprint = str(failing[0].fingerprint)
    for name, result, since in (("one", failing[0], "2000-01-02 00:00:00"), ("other", failing[1], "2000-01-01 00:00:00")):
        with open_workspace(tmp_path / name, write=True) as space:
            Corpus(space).add([(reporting.relu(1), Occurrence("node-tests", "test"))])
            Campaigns(space).begin("a" * 12, "tvm", "onnx", {}, {})
            Campaigns(space).write("a" * 12, [(0, result)])
            space.database.execute("UPDATE finding_ids SET since = ?", (since,))
            space.database.commit()
    found: list[list[tuple[str, str]]] = []
    for order in (("one", "other"), ("other", "one")):
        with open_workspace(tmp_path / "-".join(order), write=True) as target:
            for each in order:
                combine(target, tmp_path / each, lambda settings, _: ("a" * 12, settings, None), Combined())
            found.append(target.database.execute("SELECT id, test FROM finding_ids").fetchall())
    assert found == [[(fingerprint, failing[1].test)]] * 2
