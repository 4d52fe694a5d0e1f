"""A failure that is gone at the compiler's lowest optimisation level is labelled as the optimiser's."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.harness import Lab, instance

from opera.run.scheduler import MOST_LOWERED

COMPILER = "fake-levelled"
APIS = {"optimised": "lie-optimised", "always": "lie-value", "loading": "raise"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("levels"))
    made.add(*(instance(name, behaviour) for name, behaviour in APIS.items()))
    assert made.run(compiler=COMPILER).code == 1
    return made


def test_a_finding_says_whether_it_vanishes_at_the_lowest_level(lab: Lab) -> None:
    report = lab.opera("report", "--json").json
    levels = {each["operators"][0].rpartition(".")[2]: each["lowest_level"] for each in report["findings"]}
    assert levels == {
        "optimised": {"name": "plain", "verdict": "pass"},
        "always": {"name": "plain", "verdict": "inconsistent"},
        "loading": None,
    }


def test_the_label_is_there_for_a_reader(lab: Lab) -> None:
    text = lab.opera("report").stdout
    assert sum("vanishes at the lowest optimisation level" in line for line in text.splitlines()) == 1


def test_a_campaign_at_the_lowest_level_has_nothing_to_compare_with(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.add(instance("optimised", "lie-optimised"), instance("always", "lie-value"))
    assert lab.run("--level", "plain", compiler=COMPILER).json["verdicts"] == {"inconsistent": 1, "pass": 1}
    assert all("lowest_level" not in each.detail for each in lab.stored())


def test_only_the_first_tests_of_a_kind_are_run_at_the_lowest_level(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.add(*(instance("always", "lie-value", number=number) for number in range(MOST_LOWERED + 2)))
    assert lab.run(compiler=COMPILER).json["findings"] == 1
    assert sum("lowest_level" in each.detail for each in lab.stored()) == MOST_LOWERED
