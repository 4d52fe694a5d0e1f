"""What reduction promises: smaller instances that are never larger, triggers that hold where the failure is, findings by root cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from instances import tensor

from opera.cli.triage import tell_untried
from opera.compilers.registry import noise_of
from opera.config import Config
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, digest
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.store.reductions import BY_HAND, Merge, Reductions, StoredReduction
from opera.triage.candidate import Candidate, normalised_message, origin_of
from opera.triage.causes import finding_id, unions
from opera.triage.findings import Finding, group, knowledge_of
from opera.triage.merge import merges
from opera.triage.reduction.aspects import aspects
from opera.triage.reduction.candidates import steps_for
from opera.triage.reduction.complexity import complexity
from opera.triage.reduction.properties import Property, View, canonical
from opera.triage.reduction.trigger import ALWAYS, Trigger, covering, trigger_of
from opera.triage.runner import Triage, TriageOptions, Untried, settings_of


def pool(x: Tensor, **attributes: object) -> Instance:
    init = tuple(Argument(name, value, keyword=True) for name, value in attributes.items())
    return Instance("pytorch", "torch.pool", Kind.FUNCTION, call=(Argument("x", x), *init), defaults=(("ceil", False), ("mode", "max")))


def smallest(instance: Instance, fails: Callable[[Instance], bool]) -> Instance:
    """What the steps make of *instance*, where the failure is known exactly."""
    current, progress = instance, True
    while progress:
        progress = False
        for step in steps_for(current):
            size = complexity(current)
            found = next((each for each in step(current) if complexity(each) < size and fails(each)), None)
            if found is not None:
                current, progress = found, True
    return current


def test_everything_that_the_failure_does_not_need_is_taken_away() -> None:
    start = pool(tensor(np.random.default_rng(0).normal(size=(4, 3, 8, 8))), kernel=[3, 3], pads=[1, 1, 1, 1], ceil=True, mode="average")
    left = smallest(start, lambda each: any(a.name == "ceil" and a.value is True for a in each.call))
    assert [argument.name for argument in left.call] == ["ceil"]


def test_rank_size_and_values_shrink_as_far_as_the_failure_allows() -> None:
    def fails(each: Instance) -> bool:
        x = next((a.value for a in each.call if a.name == "x"), None)
        return isinstance(x, Tensor) and len(x.shape) >= 2 and bool((np.frombuffer(x.data or b"", x.dtype) < 0).any())

    left = smallest(pool(tensor(np.random.default_rng(1).normal(size=(5, 6, 7)), "float64"), kernel=3), fails)
    (argument,) = left.call
    assert sorted(argument.value.shape) == [1, 2]
    assert argument.value.dtype == "int64" or argument.value.dtype == "float32"
    assert sorted(np.frombuffer(argument.value.data, argument.value.dtype).tolist()) in ([-1, 0], [-1, 1])


def test_a_size_shrinks_in_all_shapes_and_parameters_that_agree() -> None:
    def fails(each: Instance) -> bool:
        named = {a.name: a.value for a in each.call}
        if not {"x", "w", "channels"} <= named.keys():
            return False
        return named["x"].shape[1:2] == named["w"].shape[:1] == (named["channels"],)

    start = pool(tensor(np.ones((2, 12))), w=tensor(np.ones((12, 4))), channels=12)
    left = {a.name: a.value for a in smallest(start, fails).call}
    assert (left["x"].shape, left["w"].shape, left["channels"]) == ((2, 1), (1,), 1)


def values(instance: Instance) -> dict[str, Any]:
    """The elements of every argument that is a tensor, nested lists of them, and other arguments as they are."""

    def read(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [read(each) for each in value]
        return np.frombuffer(value.data or b"", value.dtype).reshape(value.shape).tolist() if isinstance(value, Tensor) else value

    return {argument.name: read(argument.value) for argument in instance.call}


def operator(*given: tuple[str, Any]) -> Instance:
    return Instance("pytorch", "torch.operator", Kind.FUNCTION, call=tuple(Argument(name, value) for name, value in given))


@pytest.mark.parametrize("x", [np.ones(()), np.ones((1,)), np.zeros((0,)), np.full((2,), 7.5)])
def test_what_fails_on_any_input_is_shown_on_an_ordinary_one(x: Any) -> None:
    assert values(smallest(operator(("x", tensor(x))), lambda each: bool(each.call))) == {"x": [1.0, 2.0]}


def test_operands_are_told_apart() -> None:
    left = values(smallest(operator(("x", tensor([1.0])), ("y", tensor([1.0]))), lambda each: len(each.call) == 2))
    assert left in ({"x": [1.0, 2.0], "y": [2.0, 1.0]}, {"x": [1.0, 2.0], "y": [2.0, 3.0]})


def test_a_sequence_has_several_tensors_where_the_failure_allows() -> None:
    left = values(smallest(operator(("tensors", (tensor([1.0]),))), lambda each: bool(each.call and each.call[0].value)))
    assert left == {"tensors": [[1.0, 2.0], [2.0, 1.0]]}


def test_an_odd_input_stays_where_the_failure_needs_it() -> None:
    """Without a dimension, without an element, of one element, of elements that are alike."""
    needs: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
        (np.ones(()), lambda x: not x.shape),
        (np.ones((2, 0)), lambda x: not x.size),
        (np.ones((1, 1)), lambda x: x.size == 1),
        (np.ones((2,)), lambda x: len(x.shape) == 1 and len(set(np.frombuffer(x.data or b"", x.dtype).tolist())) == 1),
    )
    for x, need in needs:
        left = smallest(operator(("x", tensor(x))), lambda each, need=need: bool(each.call) and need(each.call[0].value))
        assert need(left.call[0].value)


def test_indices_stay_integers_beside_other_numbers() -> None:
    left = smallest(operator(("x", tensor([0.5, 1.5])), ("index", tensor([0, 1], "int64"))), lambda each: len(each.call) == 2)
    assert [argument.value.dtype for argument in left.call] == ["float32", "int64"]


def test_numbers_that_must_stay_have_few_digits() -> None:
    x = np.random.default_rng(0).normal(size=3) * 1e-3

    def fails(each: Instance) -> bool:
        return bool(each.call) and 0 < abs(np.frombuffer(each.call[0].value.data or b"", each.call[0].value.dtype)).max(initial=0) < 0.01

    (left,) = values(smallest(operator(("x", tensor(x, "float64"))), fails)).values()
    assert all(len(f"{float(f'{each:.6g}')}".strip("-").replace("0", "").replace(".", "")) <= 3 for each in np.ravel(left))


def test_the_trigger_is_the_most_general_set_that_tells_failures_from_passes() -> None:
    small = pool(tensor([-1.0]), stride=2)

    def fails(view: View) -> bool:
        named = {a.name: a.value for a in view.instance.call}
        x = named.get("x")
        negative = isinstance(x, Tensor) and x.data is not None and bool((np.frombuffer(x.data, x.dtype) < 0).any())
        return negative and named.get("stride", 1) > 1

    found = list(aspects(View(small, "runtime")))
    removals = [removal for aspect in found for removal in aspect.removals]
    failing = [View(small, "runtime"), *(each for each in removals if fails(each))]
    passing = [each for each in removals if not fails(each)]
    ladder = [p for aspect in found for p in reversed(aspect.properties) if all(p.holds(each) for each in failing)]
    trigger = Trigger(canonical(set(covering(ladder, passing))), small.api, ("x",))
    assert trigger.text() == "stride>1, x has a value <0"
    assert trigger.holds(pool(tensor([[5.0, -2.0]]), stride=3), "baked")
    assert not trigger.holds(pool(tensor([[5.0, 2.0]]), stride=3), "baked")
    assert not trigger.holds(pool(tensor([-1.0])), "baked")
    assert trigger_of(trigger.document()) == trigger


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ((("is", "integer"), ("≠", "float32")), "dtype(x) is integer"),
        ((("is not", "floating-point"), ("≠", "float32")), "dtype(x) is not floating-point"),
        ((("is", "integer"), ("is not", "floating-point")), "dtype(x) is integer"),
        ((("=", "uint8"), ("is", "integer"), ("≠", "float32")), "dtype(x)=uint8"),
        ((("is", "floating-point"), ("≠", "float32")), "dtype(x) is floating-point, dtype(x)≠float32"),
    ],
)
def test_a_trigger_says_of_a_dtype_only_what_the_rest_does_not_say(properties: tuple[tuple[str, str], ...], text: str) -> None:
    trigger = Trigger(canonical({Property("dtype", "x", *each) for each in properties}), "torch.f", ("x",))
    assert trigger.text() == text


@pytest.mark.parametrize(
    ("dtypes", "text"),
    [(("int", "bool"), "dtype(x) is not floating-point"), (("int",), "dtype(x) is integer"), (("bool",), "dtype(x)=bool")],
)
def test_floating_point_dtypes_that_pass_are_told_from_all_others(dtypes: tuple[str, ...], text: str) -> None:
    start = View(operator(("x", tensor([1], "bool" if dtypes == ("bool",) else "int64"))), "runtime")

    def fails(view: View) -> bool:
        return view.tensors["x"].dtype.startswith(dtypes)

    found = [aspect for aspect in aspects(start) if any(each.kind == "dtype" for each in aspect.properties)]
    removals = [removal for aspect in found for removal in aspect.removals]
    failing, passing = [start, *filter(fails, removals)], [each for each in removals if not fails(each)]
    ladder = [p for aspect in found for p in reversed(aspect.properties) if all(p.holds(each) for each in failing)]
    chosen = canonical(set(covering(ladder, passing)))
    assert Trigger(chosen, start.instance.api, ("x",)).text() in (text, text.replace("=", " is "))


def test_a_trigger_holds_for_another_operator_by_the_places_of_its_tensors() -> None:
    trigger = Trigger((Property("dtype", "X", "differs from", "Y"),), "ai.onnx.Pow", ("X", "Y"))
    other = Instance("onnx", "ai.onnx.Mod", Kind.NODE, call=(Argument("A", tensor(1.0)), Argument("B", tensor(1, "int32"))))
    assert trigger.holds(other, "runtime")
    assert trigger.anonymous() == "dtype(x0)≠dtype(x1)"


def test_values_that_were_not_kept_are_believed_to_be_what_their_constraint_allows() -> None:
    negative = Property("element", "x", "<", 0)
    drawn = Instance("pytorch", "torch.f", Kind.FUNCTION, call=(Argument("x", Tensor((3,), "float32")),))
    assert negative.holds(View(drawn, "runtime"))


# Findings by root cause.

FLOAT, INTEGER = tensor([1.0]), tensor([1], "int32")


def pow_of(x: Tensor, y: Tensor) -> Instance:
    return Instance("onnx", "ai.onnx.Pow", Kind.NODE, call=(Argument("X", x), Argument("Y", y)), context=(("opset", 13),))


def crash(name: str, instance: Instance, message: str, function: str = "Pow.convert", line: int = 9) -> StoredResult:
    frames = [
        ["tvm.relax.frontend.onnx", "frontend/onnx.py", 1, "from_onnx"],
        ["tvm.relax.frontend.onnx", "frontend/onnx.py", line, function],
    ]
    detail = {"failure": {"type": "TypeError", "bases": [], "message": message, "frames": frames}}
    fingerprint = symptom_of("tvm/onnx", Verdict.CRASH, Stage.LOAD, function, detail, noise_of("tvm")).fingerprint
    test = f"{name}{'0' * 64}"[:64]
    return StoredResult(
        test, digest(instance), "tvm", "onnx", "onnx", "runtime", 0, Verdict.CRASH, Stage.LOAD, None, function, fingerprint, detail, {}
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "ws", write=True) as space:
        yield space


def fill(space: Workspace, *pairs: tuple[StoredResult, Instance]) -> None:
    Corpus(space).add((instance, Occurrence("node-tests", "test")) for _, instance in pairs)
    Campaigns(space).begin("aaaaaaaaaaaa", "tvm", "onnx", {"seed": 0}, {})
    Campaigns(space).write("aaaaaaaaaaaa", enumerate(result for result, _ in pairs))


def findings(space: Workspace) -> list[Finding]:
    return group(Campaigns(space).results(failures=True), knowledge_of(space))


def reduced(result: StoredResult, finding: str, trigger: Trigger) -> StoredReduction:
    return StoredReduction(str(result.fingerprint), result.test, finding, None, {"schema": "none"}, trigger.document())


def test_a_trigger_splits_a_fingerprint_and_the_part_with_the_first_test_keeps_the_id(workspace: Workspace) -> None:
    mixed, plain = pow_of(FLOAT, INTEGER), pow_of(FLOAT, FLOAT)
    one, two = crash("a", mixed, "bad"), crash("b", plain, "bad")
    assert one.fingerprint == two.fingerprint
    fill(workspace, (one, mixed), (two, plain))
    assert [each.id for each in findings(workspace)] == [one.fingerprint]
    trigger = Trigger((Property("dtype", "X", "differs from", "Y"),), mixed.api, ("X", "Y"))
    Reductions(workspace).keep(reduced(one, "f" * 16, trigger))
    first, other = sorted(findings(workspace), key=lambda each: each.tests[0].test)
    assert (first.id, first.trigger) == (one.fingerprint, "dtype(X)≠dtype(Y)")
    assert [test.test for test in other.tests] == [two.test]
    assert other.id not in (one.fingerprint, "f" * 16)


class Slipping(Triage):
    """Reduces every test to a call of a dtype that the test did not have."""

    def __init__(self, space: Workspace, causes: int = 4, jobs: int = 1) -> None:
        super().__init__(space, Config({}), TriageOptions(arbiters=False, causes=causes, jobs=jobs), lambda _reduction, _api: None)
        self.asked: list[str] = []

    def _place(self, settings: object) -> Any:
        return SimpleNamespace(cancel=lambda: None, close=lambda: None)

    def _reduced(self, place: object, task: Any) -> StoredReduction:
        self.asked.append(task.test.test)
        return reduced(task.test, "f" * 16, Trigger((Property("dtype", "X", "=", "int64"),), task.instance.api, ("X", "Y")))


def test_other_seeds_of_a_call_that_was_reduced_are_not_reduced_again(workspace: Workspace) -> None:
    call = pow_of(FLOAT, INTEGER)
    one = crash("a", call, "bad")
    fill(workspace, *((replace(one, test=f"{name}{'0' * 63}", seed=seed), call) for seed, name in enumerate("abc")))
    triage = Slipping(workspace)
    triage.run()
    triage.run()
    assert len(triage.asked) == 1
    assert [(each.id, len(each.tests)) for each in findings(workspace)] == [(one.fingerprint, 3)]


class Together(Slipping):
    """Starts workers only while others start, and says how many are open."""

    def __init__(self, space: Workspace) -> None:
        super().__init__(space, jobs=2)
        self.open = 0
        self._both = Barrier(2)

    def _place(self, settings: object) -> Any:
        self._both.wait(60)
        self.open += 1
        return SimpleNamespace(cancel=lambda: None, close=self._closed)

    def _closed(self) -> None:
        self.open -= 1


def test_the_workers_of_all_reductions_start_together_and_end_with_the_triage(workspace: Workspace) -> None:
    calls = [pow_of(FLOAT, INTEGER), pow_of(INTEGER, FLOAT)]
    fill(workspace, *((crash(name, call, name), call) for name, call in zip("ab", calls, strict=True)))
    triage = Together(workspace)
    tally = triage.run()
    assert (tally.reduced, tally.problems, triage.open) == (2, [], 0)


class Apart(Slipping):
    """Finds for every test that its own dtype is its trigger."""

    def _reduced(self, place: object, task: Any) -> StoredReduction:
        self.asked.append(task.test.test)
        trigger = Trigger((Property("dtype", "X", "=", task.instance.call[0].value.dtype),), task.instance.api, ("X", "Y"))
        return reduced(task.test, finding_id(str(task.test.fingerprint), trigger), trigger)


def test_causes_beyond_the_limit_are_counted_and_their_tests_kept(workspace: Workspace) -> None:
    names = ("float16", "float32", "float64", "int32", "int64")
    calls = [pow_of(Tensor((2,), name), Tensor((2,), name)) for name in names]
    fill(workspace, *((crash(letter, call, "bad"), call) for letter, call in zip("abcde", calls, strict=True)))
    limited = Apart(workspace, causes=2)
    [left] = limited.run().untried
    fingerprint = str(crash("a", calls[0], "bad").fingerprint)
    assert (left.fingerprint, len(left.tests), left.causes) == (fingerprint, 3, 2)
    assert not set(left.tests) & set(limited.asked)
    again = Apart(workspace, causes=2)
    assert [each.tests for each in again.run().untried] == [left.tests], "also in a triage that has nothing to do"
    assert not again.asked
    more = Apart(workspace, causes=8)
    assert (more.run().untried, set(more.asked)) == ([], set(left.tests))


def test_a_program_that_no_trigger_explains_is_a_finding_of_its_own() -> None:
    """All wrong results of programs share a fingerprint, so it says nothing of the cause; that of a single operator does."""
    result = crash("a", pow_of(FLOAT, FLOAT), "bad")
    fingerprint = str(result.fingerprint)
    for needs, joined in ((Property("calls", "", "has", "add(float32, float32)"), 0), (Property("dtype", "X", "=", "float32"), 1)):
        trigger = Trigger((needs,), "opera.program", ())
        known = Candidate("f" * 16, fingerprint, result, reduced(result, "f" * 16, trigger))
        found = merges([known, Candidate(fingerprint, fingerprint, replace(result, test="b" * 64), None)])
        assert len(found) == joined


def test_the_limits_of_triage_are_said_with_the_command_that_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    tell_untried([Untried("f" * 16, ("a", "b", "c"), 4), Untried("e" * 16, ("d",), 0)], 4, " --workspace w")
    one, other = capsys.readouterr().err.splitlines()
    assert "ffffffff  3 failing tests with none of its 4 triggers; look further: opera triage --causes 8 --workspace w" in one
    assert "eeeeeeee  1 failing test not reduced, because of a limit; look further: opera triage --causes 8 --workspace w" in other


def test_one_message_raised_at_one_place_is_one_finding_until_a_person_says_otherwise(workspace: Workspace) -> None:
    message = "Binary operators must have the same dtypes. However, the call is {}"
    mixed, other = pow_of(FLOAT, INTEGER), pow_of(INTEGER, FLOAT)
    one, two = crash("a", mixed, message.format("R.power(X, Y)")), crash("b", other, message.format("R.power(X, R.add(Y))"))
    assert one.fingerprint != two.fingerprint
    fill(workspace, (one, mixed), (two, other))
    candidates = [Candidate(str(each.fingerprint), str(each.fingerprint), each, None, ("tvm.",)) for each in (one, two)]
    Reductions(workspace).replace_merges(merges(candidates))
    (merged,) = findings(workspace)
    assert set(merged.fingerprints) == {one.fingerprint, two.fingerprint}
    assert "same-exception: " in merged.merged_because[0]
    Reductions(workspace).keep_merges([Merge(str(one.fingerprint), str(two.fingerprint), BY_HAND, apart=True)])
    assert len(findings(workspace)) == 2
    Reductions(workspace).replace_merges(merges(candidates))
    assert len(findings(workspace)) == 2


def test_another_converter_with_the_same_message_is_another_finding() -> None:
    instance = pow_of(FLOAT, INTEGER)
    pair = [
        crash("a", instance, "dtypes differ: float32", "Pow.convert", 9),
        crash("b", instance, "dtypes differ: int32", "Mod.convert", 30),
    ]
    candidates = [Candidate(str(each.fingerprint), str(each.fingerprint), each, None, ("tvm.",)) for each in pair]
    assert merges(candidates) == []


def test_what_must_stay_apart_stays_apart_through_third_parties() -> None:
    pairs = [Merge("a", "b", "same"), Merge("b", "c", "same"), Merge("a", "c", BY_HAND, apart=True)]
    assert unions(["a", "b", "c"], pairs) == {"a": "a", "b": "a", "c": "c"}


def test_a_trigger_without_properties_covers_a_fingerprint_whose_instances_are_gone(workspace: Workspace) -> None:
    instance = pow_of(FLOAT, INTEGER)
    gone = crash("b", pow_of(INTEGER, INTEGER), "bad")
    one = crash("a", instance, "bad")
    fill(workspace, (one, instance))
    Campaigns(workspace).write("aaaaaaaaaaaa", [(1, gone)])
    trigger = Trigger((), instance.api, ("X", "Y"))
    Reductions(workspace).keep(reduced(one, "e" * 16, trigger))
    (found,) = findings(workspace)
    assert (found.id, found.trigger, len(found.tests)) == (one.fingerprint, None, 2)
    Reductions(workspace).keep(replace(reduced(one, "e" * 16, trigger), detail={"fails": [gone.test], "against": 0}))
    (found,) = findings(workspace)
    assert (found.id, found.trigger, len(found.tests)) == (one.fingerprint, ALWAYS, 2)


def test_a_normalised_message_is_without_the_fields_of_objects_and_their_number() -> None:
    one = "received nothing but empty tensors with args '[[Symbol(name='add1', type=Tensor(INT64), shape=Shape([2]))]]'"
    two = "received nothing but empty tensors with args '[[Symbol(name='mul', type=Tensor(BOOL)), Symbol(name='x', index=1)]]'"
    assert normalised_message(one) == normalised_message(two) == "received nothing but empty tensors with args '[[OBJECT]]'"
    said = normalised_message
    illegal = "{}: error: failed to legalize operation '{}' that was explicitly marked illegal"
    assert said(illegal.format("<stdin>:4:10", "torch.constant.int")) == said(illegal.format("<unknown>:0", "torch.vtensor.literal"))
    assert said(illegal.format("<stdin>:4:10", "torch.constant.int")) != said(illegal.format("<stdin>:4:10", "torch.aten.fft_fft"))
    dump = "LLVM ERROR: Unhandled type: {}\nType properties:\n  Is unsigned: {}\nStack dump:\n #0 0x12 main"
    assert normalised_message(dump.format("ui4", "yes")) == normalised_message(dump.format("si4", "no"))
    linker = "Diagnostics:\niree-lld: error: undefined symbol: {}\n>>> referenced by -:2\n<stdin>:3:10: error: failed to link {}"
    assert normalised_message(linker.format("sin", "a")) == normalised_message(linker.format("fmod", "b"))
    assert normalised_message(linker.format("sin", "a")) != normalised_message(linker.format("own_kernel", "a"))
    assert normalised_message("Shape([2]) is no Type(1)") != normalised_message("Type(1) is no Shape([2])")


@pytest.mark.parametrize(
    "message", ["x" * 2**20, "f(" * 50_000, "\x00\udcff\x1b[31m" * 1000, "", "a.b(" * 20_000 + ")" * 20_000, "A(b=" * 20_000]
)
def test_hostile_messages_are_short_when_normalised(message: str) -> None:
    assert len(normalised_message(message)) <= 2000
    assert origin_of({"message": message, "frames": [["m"], [1, 2, 3, 4]]}, ("tvm.",), NO_NOISE).raised == "2:3"


@pytest.mark.parametrize("number", [2_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_thousands_of_failures_are_grouped_one_by_one(workspace: Workspace, number: int) -> None:
    instance = pow_of(FLOAT, INTEGER)
    results = [crash(f"{index:08x}", instance, f"message {'abcdefghij'[index % 10]} of kind {index % 7}") for index in range(number)]
    Corpus(workspace).add([(instance, Occurrence("node-tests", "test"))])
    trigger = Trigger((Property("dtype", "X", "differs from", "Y"),), instance.api, ("X", "Y"))
    Reductions(workspace).keep(reduced(results[0], "d" * 16, trigger))
    found = group(results, knowledge_of(workspace))
    assert sum(len(each.tests) for each in found) == number
    assert Counter(each.id for each in found).most_common(1)[0][1] == 1


def test_what_any_wrong_result_needs_in_order_to_be_seen_tells_no_causes_apart() -> None:
    seen = Trigger((Property("dtype", "x", "=", "float8_e5m2"), Property("element", "x", "≠", 0)), "a.Cast", ("x",))
    plain = Trigger((Property("dtype", "x", "=", "float8_e5m2"),), "a.Cast", ("x",))
    other = Trigger((Property("value", "mode", "=", "cubic"), Property("distinct elements", "x", ">", 1)), "a.Resize", ("x",))
    assert seen.anonymous() == plain.anonymous() == "dtype(x0)=float8_e5m2"
    assert other.anonymous() == "mode=cubic"
    assert Trigger((Property("size", "x", ">", 1),), "a.Sum", ("x",)).anonymous() == ""


@pytest.mark.parametrize(
    ("verdict", "seconds", "timeout"),
    [
        (Verdict.CRASH, {}, 15),
        (Verdict.CRASH, {"load": 3.0, "compile": 3.7}, 15),
        (Verdict.CRASH, {"load": 0.1, "compile": 20.0}, 120),
        (Verdict.HANG, {"compile": 60.0}, 15),
    ],
)
def test_a_probe_has_the_time_that_the_failing_test_needed(verdict: Verdict, seconds: dict[str, float], timeout: float) -> None:
    test = replace(crash("a", pool(tensor((2,))), "boom"), verdict=verdict, seconds=seconds)
    assert settings_of(test, None).timeout == timeout
