"""A finding keeps the id under which it was first reported, and no id of it is ever lost."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reporting import failure, relu, result

from opera.cli import command
from opera.cli.options import guarded
from opera.config import Config
from opera.instance import Instance, Occurrence, digest, encode_instance
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.campaigns import Reproduction
from opera.store.database import open_workspace
from opera.store.reductions import BY_HAND, Merge, Reductions, StoredReduction
from opera.triage.findings import Finding, findings_in
from opera.triage.reduction.properties import Property
from opera.triage.reduction.trigger import Trigger
from opera.triage.runner import Triage, TriageOptions

ONE, TWO, THREE = relu(1), relu(2), relu(3)


def crash(name: str, instance: Instance, message: str) -> StoredResult:
    return result(name, instance, "tvm", Verdict.CRASH, Stage.LOAD, converter="Relu", detail=failure(message))


FIRST, SECOND, OTHER = crash("c1", ONE, "cannot fold"), crash("a2", TWO, "cannot fold"), crash("b3", THREE, "no such layout")
F, G = str(FIRST.fingerprint), str(OTHER.fingerprint)
"""The fingerprints of the first two tests, and of the third."""


def write(space: Workspace, *results: StoredResult, campaign: str = "aaaaaaaaaaaa") -> None:
    Campaigns(space).begin(campaign, "tvm", "onnx", {"seed": 0}, {"compiler": {"tvm": campaign[:1]}})
    Campaigns(space).write(campaign, enumerate(results))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("opera.triage.runner.merges", lambda _candidates: [])  # these tests merge by hand
    with open_workspace(Path("ws"), write=True) as space:
        Corpus(space).add((each, Occurrence("node-tests", "test")) for each in (ONE, TWO, THREE))
        write(space, FIRST, SECOND, OTHER)
        yield space


def size(number: int) -> Trigger:
    return Trigger((Property("shape[0]", "X", "=", number),), ONE.api, ("X",))


def reduce(space: Workspace, test: StoredResult, part: str, trigger: Trigger) -> None:
    Reductions(space).keep(StoredReduction(str(test.fingerprint), test.test, part, None, encode_instance(ONE), trigger.document()))
    Reductions(space).assign([test.test], part)


def triage(space: Workspace) -> None:
    """The last step of triage: merges, and gives ids."""
    Triage(space, Config({}), TriageOptions(arbiters=False), lambda _reduction, _api: None).merge()


def of(space: Workspace, test: StoredResult) -> Finding:
    return next(each for each in findings_in(space) if test.test in {own.test for own in each.tests})


def opera(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert guarded(command, [*arguments, "--workspace", "ws"]) == 0, err.getvalue()
    return out.getvalue(), err.getvalue()


def document(*arguments: str) -> dict[str, Any]:
    return json.loads(opera(*arguments, "--json")[0])


def test_a_finding_begins_as_its_fingerprint_and_keeps_this_id_when_it_is_reduced(workspace: Workspace) -> None:
    assert of(workspace, FIRST).id == F
    reduce(workspace, FIRST, "1" * 16, size(1))
    triage(workspace)
    assert of(workspace, FIRST).id == F


def test_the_part_with_the_first_test_keeps_the_id_even_if_another_was_reduced_first(workspace: Workspace) -> None:
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    triage(workspace)
    assert (of(workspace, FIRST).id, of(workspace, SECOND).id) == (F, "2" * 16)


def test_an_id_that_the_report_prints_while_triage_still_runs_can_be_shown(workspace: Workspace) -> None:
    reduce(workspace, SECOND, F, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    ids = {each["id"] for each in document("report")["findings"]}
    assert ids - {F, G, "1" * 16}, "no stored id names one of the parts"
    for each in ids:
        assert document("show", each)["id"] == each


def test_another_triage_with_other_triggers_changes_no_id(workspace: Workspace) -> None:
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    triage(workspace)
    Reductions(workspace).forget([F])
    reduce(workspace, FIRST, "3" * 16, size(1))
    reduce(workspace, SECOND, "4" * 16, size(2))
    triage(workspace)
    assert (of(workspace, FIRST).id, of(workspace, SECOND).id) == (F, "2" * 16)


def test_a_merge_keeps_the_older_id_and_the_other_one_is_named(workspace: Workspace) -> None:
    workspace.database.execute("UPDATE finding_ids SET since = '2000-01-01' WHERE id = ?", (G,))
    workspace.database.commit()
    Reductions(workspace).keep_merges([Merge(F, G, BY_HAND)])
    merged = of(workspace, FIRST)
    assert (merged.id, merged.former_ids) == (G, (F,))
    assert document("show", F)["id"] == document("show", G)["id"] == G
    assert document("report")["findings"][0]["former_ids"] == [F]
    assert opera("show", F)[0].startswith(f"{F[:8]} is now part of {G[:8]}: same cause\n")


def test_a_split_off_part_keeps_its_id_when_it_is_merged_with_a_later_finding(workspace: Workspace) -> None:
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    triage(workspace)
    later = crash("d4", TWO, "a later message")
    write(workspace, later, campaign="bbbbbbbbbbbb")
    workspace.database.execute("UPDATE finding_ids SET since = '2999-01-01' WHERE id = ?", (later.fingerprint,))
    workspace.database.commit()
    Reductions(workspace).keep_merges([Merge("2" * 16, str(later.fingerprint), BY_HAND)])
    assert (of(workspace, later).id, of(workspace, later).former_ids) == ("2" * 16, (later.fingerprint,))


def test_ids_do_not_depend_on_what_is_selected(workspace: Workspace) -> None:
    reduce(workspace, FIRST, "1" * 16, size(1))
    reduce(workspace, SECOND, "2" * 16, size(2))
    triage(workspace)
    again = replace(SECOND, test=f"e5{'0' * 62}")
    write(workspace, again, campaign="bbbbbbbbbbbb")
    Reductions(workspace).keep_merges([Merge("2" * 16, G, BY_HAND)])
    (found,) = document("report", "--campaign", "b")["findings"]
    assert (found["id"], found["tests"]) == (of(workspace, again).id, 1)


def test_persons_take_findings_apart_and_together_by_any_of_their_ids(workspace: Workspace) -> None:
    workspace.close()
    joined = document("triage", "--join", F, G)
    (former,) = joined["joined"]
    assert {former["id"], former["finding"]} == {F, G}
    split = document("triage", "--split", F, G)
    assert (split["findings"], split["split_off"]) == (2, [{"id": former["id"], "from": former["finding"]}])
    assert {each["id"] for each in document("report")["findings"]} == {F, G}
    said = opera("triage", "--join", G, F)[0]
    assert f"{former['id'][:8]} is now part of {former['finding'][:8]}: same cause" in said


def test_what_was_verified_stays_verified_with_its_script(workspace: Workspace) -> None:
    (workspace.folder / "reproducers").mkdir()
    script = b"print('shown')\n"
    (workspace.folder / "reproducers" / f"{F}.py").write_bytes(script)
    ran = Reproduction(F, f"reproducers/{F}.py", True, FIRST.test, hashlib.sha256(script).hexdigest())
    Campaigns(workspace).keep_reproduction(ran, "same")
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    triage(workspace)
    found = {each["id"]: each["verified"] for each in document("report")["findings"]}
    assert (found[F], found["2" * 16]) == (True, False)
    Reductions(workspace).keep_merges([Merge("1" * 16, G, BY_HAND)])
    shown = document("show", G)
    assert (shown["verified"], shown["script"]) == (True, "print('shown')\n")


def test_a_script_of_a_part_that_was_split_off_goes_with_this_part(workspace: Workspace) -> None:
    Campaigns(workspace).keep_reproduction(Reproduction(F, f"reproducers/{F}.py", True, SECOND.test, "0" * 64), "same")
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    assert (of(workspace, FIRST).verified, of(workspace, SECOND).verified) == (False, True)


def test_a_test_names_the_finding_that_has_it(workspace: Workspace) -> None:
    reduce(workspace, SECOND, "2" * 16, size(2))
    reduce(workspace, FIRST, "1" * 16, size(1))
    assert document("show", SECOND.test[:12])["finding"] == "2" * 16
    assert [each["finding"] for each in document("show", digest(TWO))["tests"]] == ["2" * 16]


def test_a_baseline_of_before_triage_knows_everything_after_it(workspace: Workspace) -> None:
    workspace.close()
    opera("baseline", "update", "known.toml")
    with open_workspace(Path("ws"), write=True) as space:
        reduce(space, FIRST, "1" * 16, size(1))
        reduce(space, SECOND, "2" * 16, size(2))
        Reductions(space).keep_merges([Merge("1" * 16, G, BY_HAND)])
        triage(space)
    assert document("baseline", "check", "known.toml")["clean"]
    for line in Path("known.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("fingerprint"):
            assert document("show", json.loads(line.partition("= ")[2]))["kind"] == "finding"


def test_a_finding_says_in_how_many_tests_of_each_source_its_condition_is_met(workspace: Workspace) -> None:
    models = [("a", ONE), ("b", ONE), ("b", TWO), ("c", THREE), ("*", ONE)]
    Corpus(workspace).add((each, Occurrence("architectures", name)) for name, each in models)
    reduce(workspace, FIRST, F, size(1))
    assert document("show", F)["reach"] == [
        {"source": "architectures", "tests": 2, "of": 3},
        {"source": "node-tests", "tests": 1, "of": 1},
    ]
    assert "  architectures: 2 of 3\n" in opera("show", F)[0]
    assert document("show", G)["reach"] == [], "nothing is known of what was not reduced"
