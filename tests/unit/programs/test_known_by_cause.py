"""What is known hides nothing new: baselines, `--new` and `compare` go by cause, since one message may have several causes."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from reporting import relu

from opera.cli import command
from opera.cli.options import guarded
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.known_calls import known_calls
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program
from opera.extensions.programs.types import TensorType
from opera.instance import Instance, Occurrence, encode_instance
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.reductions import Reductions, StoredReduction
from opera.store.rows import ReductionFacts
from opera.triage.known_failures import earlier, failures_of, match
from opera.triage.reduction.properties import calls_of
from opera.triage.reduction.trigger import Trigger
from tests.unit.test_finding_ids import FIRST, OTHER, SECOND, crash, size, write

INSTANCES = {1: relu(1), 2: relu(2), 3: relu(3), 7: relu(7), 8: relu(8)}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def folding(number: int) -> StoredResult:
    """A crash of one message, on a tensor of *number* elements: in these tests, another size is another cause."""
    return crash(f"f{number}", INSTANCES[number], "cannot fold")


def fill(space: Workspace, *numbers: int, campaign: str = "aaaaaaaaaaaa") -> None:
    Corpus(space).add((each, Occurrence("s", "t")) for each in INSTANCES.values())
    write(space, *(folding(number) for number in numbers), campaign=campaign)


def update(workspace: str) -> None:
    assert guarded(command, ["baseline", "update", "known.toml", "--workspace", workspace]) == 0


def reduce(space: Workspace, test: StoredResult, part: str, trigger: Trigger, **facts: Any) -> None:
    """Keeps a reduction of *test* that could make its instance no smaller."""
    document = encode_instance(INSTANCES[int(test.test[1])])
    detail = cast(ReductionFacts, {"form": test.form, **facts})
    Reductions(space).keep(StoredReduction(str(test.fingerprint), test.test, part, None, document, trigger.document(), detail))
    Reductions(space).assign([test.test], part)


@pytest.fixture
def baseline() -> str:
    """A baseline that knows the first cause."""
    with open_workspace(Path("old"), write=True) as space:
        fill(space, 1)
        reduce(space, folding(1), "1" * 16, size(1))
    update("old")
    return "known.toml"


@pytest.fixture
def ours() -> Iterator[Workspace]:
    with open_workspace(Path("ws"), write=True) as space:
        yield space


def told(*arguments: str) -> dict[str, Any]:
    """The JSON document of a command, whatever its exit code."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert guarded(command, [*arguments, "--json", "--workspace", "ws"]) in (0, 1)
    return json.loads(out.getvalue())


def checked(baseline: str) -> dict[str, Any]:
    found = told("baseline", "check", baseline)
    return {name: len(found[name]) for name in ("new", "undecided", "changed", "gone")} | {"known": found["known"]}


def code(*arguments: str) -> int:
    return guarded(command, [*arguments, "--workspace", "ws"])


def test_another_cause_with_a_known_message_is_new_once_it_is_reduced(baseline: str, ours: Workspace) -> None:
    fill(ours, 2)
    reduce(ours, folding(2), "2" * 16, size(2))
    assert checked(baseline) == {"new": 1, "undecided": 0, "changed": 0, "gone": 0, "known": 0}
    assert code("baseline", "check", baseline) == 1
    (found,) = told("report", "--baseline", baseline)["findings"]
    assert found["known"] is None


def test_a_known_message_on_another_call_is_undecided_until_it_is_reduced(
    baseline: str, ours: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(ours, 2)
    assert checked(baseline)["undecided"] == 1
    assert code("baseline", "check", baseline) == code("baseline", "check", "--allow-gone", baseline) == 1
    assert "`opera triage --workspace ws` reduces them" in capsys.readouterr().out
    reduce(ours, folding(2), "2" * 16, Trigger((), INSTANCES[2].api, ("X",)), fails=["f7"], against=0)
    assert checked(baseline)["new"] == 1, "any size fails here, and there only one size is known to"


def test_a_known_condition_explains_calls_that_nobody_has_seen(ours: Workspace) -> None:
    with open_workspace(Path("old"), write=True) as space:
        fill(space, 1)
        reduce(space, folding(1), "1" * 16, Trigger((), INSTANCES[1].api, ("X",)), fails=["f7"], against=0)
    update("old")
    fill(ours, 2, 3)
    assert checked("known.toml") == {"new": 0, "undecided": 0, "changed": 0, "gone": 0, "known": 1}
    assert code("baseline", "check", "known.toml") == 0


def test_the_same_calls_are_known_with_and_without_a_reduction(ours: Workspace) -> None:
    fill(ours, 1, 2)
    update("ws")
    assert code("baseline", "check", "known.toml") == 0
    reduce(ours, folding(2), "2" * 16, size(2))
    assert code("baseline", "check", "known.toml") == 0
    update("ws")
    text = Path("known.toml").read_text(encoding="utf-8")
    assert (text.count("[[failure]]"), text.count('condition = "shape(X)[0]=2"')) == (2, 1)
    assert code("baseline", "check", "known.toml") == 0


def test_a_part_of_the_corpus_forgets_no_known_call(ours: Workspace) -> None:
    fill(ours, 1, 2)
    update("ws")
    with open_workspace(Path("tonight"), write=True) as space:
        fill(space, 2, 3)
    update("tonight")
    assert Path("known.toml").read_text(encoding="utf-8").count("[[failure]]") == 1
    with open_workspace(Path("later"), write=True) as space:
        fill(space, 1, 2, 3)
    assert guarded(command, ["baseline", "check", "known.toml", "--workspace", "later"]) == 0


def test_new_and_compare_and_the_summary_of_a_run_go_by_cause_too(ours: Workspace) -> None:
    fill(ours, 1)
    fill(ours, 1, 2, campaign="bbbbbbbbbbbb")
    assert told("report", "--new", "--campaign", "b")["known_left_out"] == 0
    assert len(told("compare", "aaaa", "bbbb")["undecided"]) == 1
    assert code("compare", "aaaa", "bbbb") == 1
    second = Campaigns(ours).get("bbbbbbbbbbbb")
    assert second is not None
    found = match(earlier(second.known, ""), failures_of(Campaigns(ours).results(second.id), ours))
    assert [len(each.instances) for each in found.unknown] == [1]
    reduce(ours, folding(1), "1" * 16, size(1))
    reduce(ours, folding(2), "2" * 16, size(2))
    (new,) = told("report", "--new", "--campaign", "b")["findings"]
    assert new["id"] == "2" * 16
    assert [len(told("compare", "aaaa", "bbbb")[name]) for name in ("new", "added")] == [0, 1], "A has not run the call"
    assert code("compare", "aaaa", "bbbb") == 0
    Campaigns(ours).write("aaaaaaaaaaaa", [(9, replace(folding(2), test="f" * 40, verdict=Verdict.PASS, fingerprint=None))])
    assert [len(told("compare", "aaaa", "bbbb")[name]) for name in ("new", "added")] == [1, 0], "it passed there"
    assert code("compare", "aaaa", "bbbb") == 1


def test_a_changed_message_on_other_calls_too_may_be_another_bug(baseline: str, ours: Workspace) -> None:
    Corpus(ours).add((each, Occurrence("s", "t")) for each in INSTANCES.values())
    write(ours, crash("f1", INSTANCES[1], "can not fold"), crash("f7", INSTANCES[7], "can not fold"))
    assert checked(baseline) == {"new": 1, "undecided": 0, "changed": 0, "gone": 1, "known": 0}


def test_results_that_say_nothing_are_no_success(baseline: str, ours: Workspace) -> None:
    Corpus(ours).add((each, Occurrence("s", "t")) for each in INSTANCES.values())
    silent = (Verdict.UNSUPPORTED, Verdict.INVALID, Verdict.UNDEFINED, Verdict.FLAKY)
    write(
        ours, *(replace(folding(number), verdict=verdict, fingerprint=None) for number, verdict in zip((1, 2, 3, 7), silent, strict=True))
    )
    assert code("baseline", "check", baseline) == code("baseline", "update", "new.toml") == code("compare", "aaaa", "aaaa") == 4


@pytest.mark.parametrize("trigger", ["{}", "[]", '{"properties": [["rank", "X", "≥", "two"]], "api": "a", "tensors": []}', "nothing"])
def test_a_damaged_condition_in_a_baseline_is_the_users_to_mend(baseline: str, trigger: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path(baseline).read_text(encoding="utf-8").splitlines()
    text = "\n".join(f"trigger = {json.dumps(trigger)}" if line.startswith("trigger") else line for line in lines)
    Path(baseline).write_text(text, encoding="utf-8")
    assert guarded(command, ["baseline", "check", baseline, "--workspace", "old"]) == 2
    assert "is not a baseline" in capsys.readouterr().err


def test_tables_of_one_fingerprint_differ_in_their_conditions(baseline: str) -> None:
    text = Path(baseline).read_text(encoding="utf-8")
    table = text[text.index("[[failure]]") :]
    Path(baseline).write_text(text + table, encoding="utf-8")
    assert guarded(command, ["baseline", "check", baseline, "--workspace", "old"]) == 2
    assert FIRST.fingerprint == SECOND.fingerprint != OTHER.fingerprint


def program(*operators: str) -> Instance:
    """A chain of operators of Relax."""
    kind = TensorType((2,), "float32")
    names = ["a", *(f"v{index}" for index in range(len(operators)))]
    chain = tuple(
        Binding(result, kind, Call(name, (argument,), {})) for name, argument, result in zip(operators, names, names[1:], strict=False)
    )
    body = Block(chain, names[-1], dataflow=True)
    return instance_of(Generated(Program((Function("main", (Parameter("a", kind),), body, kind),)), (np.ones(2, np.float32),)), "relax")


@pytest.mark.parametrize(("operators", "known"), [(("exp",), ("exp(float32)",)), (("exp", "exp"), ()), (("exp", "abs"), ())])
def test_only_what_fails_with_one_call_is_no_longer_drawn(ours: Workspace, operators: tuple[str, ...], known: tuple[str, ...]) -> None:
    instance = program(*operators)
    Corpus(ours).add([(instance, Occurrence("s", "t"))])
    failing = replace(crash("p1", instance, "cannot fuse"), frontend="relax")
    write(ours, failing)
    trigger = Trigger((calls_of(instance, ()),), instance.api, ())
    facts = cast(ReductionFacts, {"form": failing.form})
    document = encode_instance(instance)
    Reductions(ours).keep(StoredReduction(str(failing.fingerprint), failing.test, "1" * 16, None, document, trigger.document(), facts))
    assert known_calls(ours, ["tvm"], "relax") == known


def test_a_larger_program_with_the_operators_of_a_known_failure_is_undecided(ours: Workspace) -> None:
    small, large = program("exp", "abs"), program("exp", "sqrt", "abs")
    trigger = Trigger((calls_of(small, ()),), small.api, ())
    assert trigger.holds(large, "runtime")
    with open_workspace(Path("old"), write=True) as space:
        Corpus(space).add([(small, Occurrence("s", "t"))])
        write(space, known := crash("p1", small, "cannot fuse"))
        stored = StoredReduction(str(known.fingerprint), known.test, "1" * 16, None, encode_instance(small), trigger.document())
        Reductions(space).keep(stored)
    update("old")
    Corpus(ours).add([(large, Occurrence("s", "t"))])
    write(ours, failing := crash("p2", large, "cannot fuse"))
    assert checked("known.toml")["undecided"] == 1
    Reductions(ours).keep(replace(stored, test=failing.test))
    Reductions(ours).assign([failing.test], "1" * 16)
    assert checked("known.toml") == {"new": 0, "undecided": 0, "changed": 0, "gone": 0, "known": 1}
