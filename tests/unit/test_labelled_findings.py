"""The merge rules on labelled findings: each rule pays, and the documentation has the figures. No compiler is needed."""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

import pytest

from opera.triage.merge import RULES

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import bench_merge_rules as BENCH

CAMPAIGNS = BENCH.read()
WORTH = BENCH.ablation(CAMPAIGNS, RULES)


def test_merged_findings_have_one_cause_and_causes_have_one_finding() -> None:
    score = BENCH.score(CAMPAIGNS, RULES)
    assert score.precision >= 0.99
    assert score.recall >= 0.945


@pytest.mark.parametrize("name", [each.name for each in RULES])
def test_a_rule_is_needed_and_joins_more_than_it_spoils(name: str) -> None:
    assert WORTH[name].pays


@pytest.mark.slow
def test_the_page_has_the_rules_and_their_figures() -> None:
    """`python benchmarks/bench_merge_rules.py --write` brings it up to date."""
    page = BENCH.PAGE.read_text(encoding="utf-8")
    assert BENCH.with_tables(page, CAMPAIGNS, RULES) == page


def test_the_file_names_no_folder_of_the_machine_that_wrote_it() -> None:
    text = gzip.decompress(BENCH.CANDIDATES.read_bytes()).decode()
    assert re.findall(r"/(?:home|root|tmp|work|Users)/.{20}", text) == []
