"""`opera replay`: what calling recorded instances again says of them, and what a misbehaving library costs."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake.harness import Lab, Outcome, instance

from opera.instance import Argument, Call, Instance, Kind, Named, Occurrence, Tensor, digest
from opera.instance import Outcome as Recorded
from opera.store import Corpus
from opera.store.database import open_workspace

SAMPLES = Path(__file__).parents[3] / "corpora" / "samples"


def replay(lab: Lab, *arguments: str) -> Outcome:
    return lab.opera("replay", "--lib", "fake", "-j", "2", "-q", *arguments)


def replay_in_processes(lab: Lab, *arguments: str, library: str = "fake") -> Outcome:
    return lab.finish(lab.start("replay", "--lib", library, "-j", "2", "-q", *arguments, module="opera"))


def returned(name: str, library: str = "pass", number: int = 0) -> Instance:
    return replace(instance(name, library=library, number=number), outcome=Recorded.RETURNED)


def raised(name: str, library: str, exception: str) -> Instance:
    return replace(instance(name, library=library), outcome=Recorded.RAISED, exception=exception)


def shares(document: dict[str, Any]) -> dict[tuple[str | None, str], tuple[int, int]]:
    return {(row["source"], row["recorded"]): (row["as_recorded"], row["instances"]) for row in document["shares"]}


def causes(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Reason and exception by API of the example."""
    return {row["api"].removeprefix("fake."): (row["reason"], row["exception"]) for row in document["causes"]}


@pytest.mark.slow
def test_what_misbehaves_costs_itself_only_and_is_listed_with_its_cause(lab: Lab) -> None:
    bad = {name: returned(name, name) for name in ("rejects", "decline", "segfault", "hang", "exit-3", "panic", "sys-exit", "leak")}
    lab.add(*(returned("fine", number=number) for number in range(150)), *bad.values())
    done = replay_in_processes(lab, "--json", "--timeout", "2s", "--memory", "400M")
    assert done.code == 0, done.stderr
    assert shares(done.json) == {(None, "returned"): (150, 158), ("fake", "returned"): (150, 158)}
    assert causes(done.json) == {
        "rejects": ("library-raised", "ValueError"), "decline": ("not-rebuilt", "opera_fake.behaviour.Declined"),
        "segfault": ("process-signal", "SIGSEGV"), "hang": ("process-deadline", "2 s"), "exit-3": ("process-exit", "3"),
        "panic": ("library-raised", "opera_fake.behaviour.Panic"), "sys-exit": ("library-raised", "SystemExit"),
        "leak": ("process-memory", "0.390625 GiB"),
    }  # fmt: skip
    assert {row["example"] for row in done.json["causes"]} == {digest(each) for each in bad.values()}
    assert lab.left_behind() == []


def test_causes_are_counted_by_what_they_say_whatever_the_numbers_in_it(lab: Lab) -> None:
    lab.add(*(returned("odd", "raise", number) for number in range(7)), returned("other", "rejects"))
    rows = replay(lab, "--json").json["causes"]
    assert [(row["count"], row["exception"]) for row in rows] == [(7, "ValueError"), (1, "ValueError")]
    assert rows[0]["message"].startswith("cannot convert value")


def test_what_fails_only_where_another_call_went_before_counts_as_returned(lab: Lab) -> None:
    lab.add(returned("once", "flaky"), returned("dies-once", "abort-once"))
    assert shares(replay(lab, "--json").json)[None, "returned"] == (2, 2)


def test_a_recorded_exception_has_to_come_again_and_its_type_is_compared(lab: Lab) -> None:
    lab.add(raised("same", "rejects", "ValueError"), raised("other", "rejects", "TypeError"), raised("returns", "pass", "KeyError"))
    document = replay(lab, "--json").json
    (row,) = (row for row in document["shares"] if row["source"] is None)
    assert (row["recorded"], row["instances"], row["as_recorded"], row["same_exception"]) == ("raised", 3, 2, 1)
    assert causes(document) == {"other": ("other-exception", "ValueError"), "returns": ("returned", "KeyError")}


def test_an_instance_of_two_sources_counts_in_both(lab: Lab) -> None:
    with open_workspace(lab.workspace, write=True) as space:
        both = returned("both")
        Corpus(space).add(
            [(both, Occurrence("one", "t")), (both, Occurrence("two", "t")), (returned("b", "rejects"), Occurrence("two", "t"))]
        )
    found = shares(replay(lab, "--json").json)
    assert found == {(None, "returned"): (1, 2), ("one", "returned"): (1, 1), ("two", "returned"): (1, 2)}
    assert shares(replay(lab, "--json", "--source", "one").json)["one", "returned"] == (1, 1)


def test_the_document_is_as_documented(lab: Lab) -> None:
    lab.add(returned("fine"), returned("bad", "rejects"))
    document = replay(lab, "--json", "--seed", "3").json
    assert list(document) == ["schema", "library", "versions", "seed", "instances", "seconds", "shares", "causes"]
    assert (document["schema"], document["library"], document["seed"], document["instances"]) == ("replay/1", "fake", 3, 2)
    assert document["versions"] == {"fake": "1.0"}
    assert document["shares"][0] == {
        "source": None, "recorded": "returned", "instances": 2, "as_recorded": 1, "same_exception": 0, "share": 0.5,
    }  # fmt: skip
    assert document["causes"] == [
        {
            "recorded": "returned", "reason": "library-raised", "exception": "ValueError", "message": "the library says no", "count": 1,
            "example": digest(returned("bad", "rejects")), "api": "fake.bad",
        }
    ]  # fmt: skip


def test_the_table_says_shares_and_causes(lab: Lab) -> None:
    lab.add(returned("fine"), returned("bad", "rejects"))
    done = replay(lab)
    assert "50.00%" in done.stdout
    assert "ValueError: the library says no" in done.stdout
    assert digest(returned("bad", "rejects"))[:12] in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("-k", "nothing"), 4, "no API has 'nothing' in its name"), (("--source", "nowhere"), 2, "the workspace has fake"),
        (("-k", "and and"), 2, "not an expression"),
    ],
)  # fmt: skip
def test_a_selection_of_nothing_is_no_success(lab: Lab, arguments: tuple[str, ...], code: int, says: str) -> None:
    lab.add(returned("fine"))
    done = replay(lab, *arguments)
    assert (done.code, done.stdout) == (code, "")
    assert says in done.stderr


def test_cap_and_limit_bound_what_is_called(lab: Lab) -> None:
    lab.add(*(returned(name, number=number) for name in ("a", "b", "c") for number in range(5)))
    assert replay(lab, "--json", "--cap", "2").json["instances"] == 6
    assert replay(lab, "--json", "--cap", "2", "--limit", "4").json["instances"] == 4


def test_an_interruption_leaves_nothing_behind(lab: Lab) -> None:
    lab.add(returned("stuck", "hang"))
    process = lab.start("replay", "--lib", "fake", module="opera")
    lab.wait_for(lambda: any(event.what == "call" for event in lab.journal()))
    process.send_signal(signal.SIGINT)
    assert lab.finish(process).code == 130
    assert lab.left_behind() == []


# The real libraries.


def tensor(*shape: int) -> Tensor:
    return Tensor(shape, "float32")


def torch_call(api: str, *values: Any, outcome: Recorded = Recorded.RETURNED, exception: str | None = None) -> Instance:
    arguments = tuple(Argument(f"a{index}", value) for index, value in enumerate(values))
    return Instance("pytorch", api, Kind.FUNCTION, call=arguments, outcome=outcome, exception=exception)


@pytest.mark.slow
def test_pytorch_calls_return_and_raise_as_they_did(lab: Lab) -> None:
    lab.add(
        torch_call("torch.add", tensor(2, 3), tensor(3)),
        torch_call("torch.Tensor.size", tensor(2, 3)),  # no model, and a call all the same
        torch_call("torch.add", tensor(2, 3), tensor(4), outcome=Recorded.RAISED, exception="RuntimeError"),
    )
    document = replay_in_processes(lab, "--json", library="pytorch").json
    assert shares(document) == {
        (None, "returned"): (2, 2), (None, "raised"): (1, 1), ("fake", "returned"): (2, 2), ("fake", "raised"): (1, 1),
    }  # fmt: skip
    assert document["causes"] == []


@pytest.mark.slow
def test_an_instance_reaches_nothing_but_the_library(lab: Lab) -> None:
    mark = lab.folder / "mark"
    touch = f"touch {mark}"
    lab.add(
        torch_call("torch.os.system", touch),
        torch_call("builtins.eval", f"open({str(mark)!r}, 'w')"),
        torch_call("torch.relu", Call("torch.os.system", ((None, touch),))),
        torch_call("torch.vmap", Named("torch.hub.urlopen")),
    )
    document = replay_in_processes(lab, "--json", library="pytorch").json
    assert shares(document)[None, "returned"] == (0, 4)
    assert not mark.exists()


LIBRARIES = sorted(path.stem for path in SAMPLES.glob("*.jsonl"))
STARTS_TENSORFLOW = pytest.mark.slow


def imported(lab: Lab, library: str) -> int:
    """Imports the sample corpus of *library*; returns how many instances its header announces."""
    sample = SAMPLES / f"{library}.jsonl"
    assert sample.stat().st_size <= 300_000
    announced = json.loads(sample.open().readline())["instances"]
    done = lab.opera("import", str(sample), "--json")
    (file,) = done.json["files"]
    assert (file["read"], file["new"], file["problems"]["count"]) == (announced, announced, 0)
    return announced


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_sample_corpora_import_whole(lab: Lab, library: str) -> None:
    assert imported(lab, library) >= 150


@pytest.mark.parametrize("library", [pytest.param(each, marks=[pytest.mark.slow] * (each != "onnx")) for each in LIBRARIES])
def test_the_sample_corpora_replay(lab: Lab, library: str) -> None:
    announced = imported(lab, library)
    whole = next(row for row in replay_in_processes(lab, "--json", library=library).json["shares"] if row["source"] is None)
    assert whole["instances"] == announced
    assert whole["share"] >= 0.97
