"""A strategy that learns while the campaign runs: what it has seen decides what comes next, and stopping changes nothing of that."""

from __future__ import annotations

import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from fake.harness import Lab, Outcome, essence, instance

from opera.compilers.registry import choose_route, plugin
from opera.difftest.settings import Shard
from opera.difftest.test import Identity, Test
from opera.instance import Argument, Instance
from opera.models.forms import InputForm
from opera.oracles.verdict import Verdict
from opera.prioritize import Adaptive, Context, get_strategy
from opera.run.adaptive import Adaptation, Draws
from opera.run.plan import Plan, make_plan
from opera.store import Corpus, Step, StoredResult
from opera.store.database import open_workspace

ADAPTIVE = ("--strategy", "opera-adaptive")
FAMILIES = 8
IN_EACH = 10
TOTAL = FAMILIES * IN_EACH


def of_family(family: int, number: int, compiler: str) -> Instance:
    """An operator of its own whose parameters are those of its family."""
    one = instance(f"f{family}-op{number}", compiler)
    return replace(one, init=(*one.init, Argument(f"of-family-{family}", 1)))


def clustered(broken: int, compiler: str = "pass") -> list[Instance]:
    """Families of operators, one of which is *broken*: each of its operators shows a fault of its own."""
    return [of_family(family, number, "raise" if family == broken else compiler) for family in range(FAMILIES) for number in range(IN_EACH)]


def filled(folder: Path, broken: int = 3, compiler: str = "pass") -> Lab:
    lab = Lab(folder)
    lab.add(*clustered(broken, compiler))
    return lab


def places(lab: Lab, campaign: str) -> list[tuple[int, str, str | None]]:
    """Place, instance and fingerprint of the tests of a campaign, in the order of their places."""
    with open_workspace(lab.workspace, write=False) as space:
        return space.database.execute(
            "SELECT place, instance, fingerprint FROM campaign_tests c JOIN results r ON r.test = c.test WHERE campaign = ? ORDER BY place",
            (campaign,),
        ).fetchall()


def order(lab: Lab, campaign: str) -> list[str]:
    return [instance for _, instance, _ in places(lab, campaign)]


def until_all_faults(lab: Lab, outcome: Outcome) -> int:
    return max(rank for rank, (_, _, fingerprint) in enumerate(places(lab, outcome.json["campaign"]), 1) if fingerprint is not None)


@pytest.mark.parametrize("jobs", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_faults_that_lie_together_are_found_sooner_than_by_an_order_made_beforehand(tmp_path: Path, jobs: int) -> None:
    static = filled(tmp_path / "static")
    before = static.run("--strategy", "opera", jobs=jobs)
    adaptive = filled(tmp_path / "adaptive")
    now = adaptive.run(*ADAPTIVE, jobs=jobs)
    assert essence(static.stored()) == essence(adaptive.stored())
    assert now.json["findings"] == before.json["findings"] == IN_EACH
    assert until_all_faults(static, before) > TOTAL * 0.8
    assert until_all_faults(adaptive, now) < TOTAL * 0.5
    assert [place for place, _, _ in places(adaptive, now.json["campaign"])] == list(range(TOTAL))


def test_the_same_seed_and_results_give_the_same_order_and_another_seed_another(tmp_path: Path) -> None:
    orders: list[list[str]] = []
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        lab = filled(tmp_path / name)
        orders.append(order(lab, lab.run(*ADAPTIVE, "--seed", seed, jobs=1).json["campaign"]))
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


@pytest.mark.slow
def test_a_ranking_made_beforehand_by_the_adaptive_strategy_is_asked_again_while_the_campaign_runs(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    ranked = lab.opera("--compiler", "fake", "--frontend", "fake", *ADAPTIVE, "--json", module="opera.prioritize")
    assert ranked.code == 0
    outcome = lab.run(jobs=1)
    assert until_all_faults(lab, outcome) < TOTAL * 0.5


def test_a_campaign_that_orders_its_tests_itself_makes_no_ranking_first(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    lab.run("--limit", "3")
    with open_workspace(lab.workspace, write=False) as space:
        assert Corpus(space).newest_ranking("fake", "fake", 0) is None
    lab.run("--limit", "3", "--cap", "1")
    with open_workspace(lab.workspace, write=False) as space:
        assert Corpus(space).newest_ranking("fake", "fake", 0) is not None


def test_a_campaign_that_was_stopped_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    first = lab.run(*ADAPTIVE, "--maxfail", "3", jobs=1)
    assert (first.json["complete"], first.json["stopped_by"]) == (False, "maxfail")
    done = first.json["executed"]
    again = lab.run(*ADAPTIVE, jobs=1)
    assert again.json["campaign"] == first.json["campaign"]
    assert (again.json["complete"], again.json["executed"]) == (True, TOTAL)
    later = [fingerprint for _, _, fingerprint in places(lab, again.json["campaign"])[done:]]
    missing = IN_EACH - first.json["findings"]
    assert all(later[: missing - 1]), "the family that was known to fail in new ways did not come next"


@pytest.mark.slow
def test_a_killed_campaign_comes_to_the_same_results(tmp_path: Path) -> None:
    undisturbed = filled(tmp_path / "undisturbed", compiler="slow")
    expected = undisturbed.run(*ADAPTIVE)
    lab = filled(tmp_path / "killed", compiler="slow")
    process = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json", *ADAPTIVE)
    lab.wait_for(lambda: (lab.workspace / "opera.db").exists() and len(lab.stored()) >= TOTAL // 3)
    process.send_signal(signal.SIGKILL)
    lab.finish(process)
    lab.wait_for(lambda: not lab.left_behind())
    before = lab.stored()
    assert TOTAL // 3 <= len(before) < TOTAL
    again = lab.run(*ADAPTIVE)
    assert {**again.json, "seconds": 0} == {**expected.json, "seconds": 0}
    assert essence(lab.stored()) == essence(undisturbed.stored())
    assert len({place for place, _, _ in places(lab, again.json["campaign"])}) == TOTAL


@pytest.mark.slow
def test_a_budget_stops_it_and_the_same_command_goes_on(tmp_path: Path) -> None:
    lab = filled(tmp_path, compiler="slow")
    first = lab.run(*ADAPTIVE, "--budget", "1500ms", jobs=1)
    assert first.json["stopped_by"] == "budget"
    assert lab.run(*ADAPTIVE, jobs=1).json["executed"] == TOTAL
    assert len(lab.stored()) == TOTAL


@pytest.mark.slow
def test_a_limit_counts_the_tests_that_were_drawn(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    ten = lab.run(*ADAPTIVE, "--limit", "20")
    assert (ten.json["executed"], ten.json["planned"], ten.json["complete"], ten.json["stopped_by"]) == (20, 20, True, "limit")
    assert lab.run(*ADAPTIVE, "--limit", "20").json["executed"] == 20
    assert len(lab.stored()) == 20
    more = lab.run(*ADAPTIVE, "--limit", "30")
    assert (more.json["executed"], more.json["planned"]) == (30, 30)
    assert 30 <= len(lab.stored()) <= 40
    assert more.json["new_findings"] + ten.json["new_findings"] <= IN_EACH
    assert lab.run(*ADAPTIVE, "--limit", "1000").json["executed"] == TOTAL


def test_a_cap_takes_the_first_instances_of_each_operator(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.add(*(instance(f"op{each % 4}", number=each) for each in range(40)))
    assert lab.run(*ADAPTIVE, "--cap", "3").json["executed"] == 12


@pytest.mark.slow
def test_parts_have_no_test_in_common_and_are_combined_to_the_whole(tmp_path: Path) -> None:
    labs = [filled(tmp_path / str(number)) for number in (1, 2, 3)]
    outcomes = [lab.run(*ADAPTIVE, "--shard", f"{number}/3", jobs=1) for number, lab in enumerate(labs, 1)]
    assert sum(outcome.json["executed"] for outcome in outcomes) == TOTAL
    whole = Lab(tmp_path / "whole")
    combined = whole.opera("combine", *(str(lab.workspace) for lab in labs), "--json")
    (campaign,) = combined.json["campaigns"]
    assert campaign["complete"]
    assert len({place for place, _, _ in places(whole, campaign["id"])}) == TOTAL
    again = whole.run(*ADAPTIVE)
    assert (again.json["campaign"], again.json["executed"], again.json["complete"]) == (campaign["id"], TOTAL, True)
    assert [event.api for event in whole.journal() if event.api != "fake.canary"] == []


def test_the_parts_of_a_limit_add_up_to_it(tmp_path: Path) -> None:
    executed = [
        filled(tmp_path / str(number)).run(*ADAPTIVE, "--limit", "10", "--shard", f"{number}/3").json["executed"] for number in (1, 2, 3)
    ]
    assert executed == [4, 3, 3]


def test_a_night_begins_with_what_failed_before_and_goes_on_with_what_is_new(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    monday = lab.run(*ADAPTIVE, "--nightly", "--build", "monday")
    failed = {instance for _, instance, fingerprint in places(lab, monday.json["campaign"]) if fingerprint is not None}
    known = set(order(lab, monday.json["campaign"]))
    lab.add(*(of_family(FAMILIES, number, "pass") for number in range(5)))
    tuesday = lab.run(*ADAPTIVE, "--nightly", "--build", "tuesday")
    drawn = order(lab, tuesday.json["campaign"])
    assert len(drawn) == TOTAL + 5
    assert set(drawn[:IN_EACH]) == failed
    assert not known & set(drawn[IN_EACH : IN_EACH + 5])


# The order alone, with results that come as they like.


@pytest.fixture
def identity(fake_site: Path) -> Identity:
    return Identity("fake", choose_route(plugin("fake").load(), "fake", None), "fake/1", {}, {}, {}, 1)


def drawn_inputs(family: int, number: int) -> Instance:
    """An operator whose inputs are drawn, so that another seed makes another test."""
    one = of_family(family, number, "pass")
    return replace(one, call=tuple(replace(each, value=replace(each.value, data=None)) for each in one.call))


class Bench:
    """Runs draws as a scheduler with several workers would: results come late and in any order, and it may be cut off."""

    def __init__(self, identity: Identity, seeds: int, shard: Shard | None = None, limit: int | None = None) -> None:
        instances = {f"{family}{number}": drawn_inputs(family, number) for family in range(5) for number in range(4)}
        self.plan: Plan = make_plan(instances.items(), identity, (InputForm.RUNTIME,), lambda _: True, seeds=range(seeds), shard=shard)
        self.instances, self.shard, self.limit = instances, shard, limit
        self.course: list[Step] = []
        self.adopted: list[Test] = []

    def go_on(self, ways: random.Random, most: int = 10**6, known: dict[str, StoredResult] | None = None) -> Draws:
        strategy = get_strategy("opera-adaptive")
        assert isinstance(strategy, Adaptive)
        draws = Draws(
            Adaptation(strategy, Context()), self.plan, self.instances, 0, self.limit, self.shard, (known or {}).get,
            lambda test, _: self.adopted.append(test),
        )  # fmt: skip
        draws.replay(sorted(self.course, key=lambda step: step.place))
        tests, under_way = iter(draws), list[Test]()
        for number in range(most):
            while len(under_way) < 4 and (test := next(tests, None)) is not None:
                under_way.append(test)
            if not under_way:
                break
            test = under_way.pop(ways.randrange(len(under_way)))
            fingerprint = f"{test.instance}" if test.instance.startswith("2") else None
            draws.observe(test, fingerprint)
            self.course.append(Step(test.place, test.id, test.instance, fingerprint, f"{number // 3:09}"))
        return draws


@pytest.mark.parametrize("way", range(12))
def test_each_test_is_run_once_however_often_the_campaign_is_cut_off(identity: Identity, way: int) -> None:
    ways = random.Random(way)
    shard = Shard(1 + way % 3, 3) if way % 2 else None
    bench = Bench(identity, seeds=1 + way % 3, shard=shard)
    while len(bench.course) < len(bench.plan):
        bench.go_on(ways, most=ways.randint(1, 9))
    assert sorted(step.test for step in bench.course) == sorted(test.id for test in bench.plan)
    assert len({step.place for step in bench.course}) == len(bench.plan)
    assert bench.go_on(ways).planned == len(bench.plan)
    assert len(bench.course) == len(bench.plan)


def test_other_seeds_come_after_all_instances(identity: Identity) -> None:
    bench = Bench(identity, seeds=3)
    bench.go_on(random.Random(0))
    seeds = {test.id: test.seed for test in bench.plan}
    later = [seeds[step.test] for step in sorted(bench.course, key=lambda step: step.place)]
    assert later == sorted(later)
    assert set(later) == {0, 1, 2}


def test_what_another_campaign_has_run_is_counted_and_learnt_from_when_its_turn_comes(identity: Identity) -> None:
    bench = Bench(identity, seeds=1, limit=12)
    known = {
        test.id: StoredResult(
            test.id, test.instance, "fake", "fake", "text", "runtime", 0, Verdict.CRASH, fingerprint=test.instance
        )
        for test in bench.plan
        if test.instance.startswith("2")
    }  # fmt: skip
    bench.go_on(random.Random(0), known=known)
    assert {test.id for test in bench.adopted} == set(known)
    assert len(bench.course) + len(bench.adopted) == 12
