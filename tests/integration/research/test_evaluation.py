"""Promises of the evaluation: its figures are those of their definitions, and anyone gets the same ones from the recorded data."""

from __future__ import annotations

import gzip
import json
import re
import statistics
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fake.harness import Lab, Outcome, instance

from opera.errors import Exit, UserError
from opera.extensions.research.artifact import read_artifact, subjects_in
from opera.extensions.research.cli.evaluate import command
from opera.extensions.research.compare import available, evaluate, order_of, spread
from opera.extensions.research.metrics import apfd, apfdc, detect, rauc
from opera.extensions.research.recording import RecordedRun, read_campaign, read_recorded, write_recorded
from opera.instance import Kind
from opera.prioritize import Candidate, Context, History, get_strategy, record
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

DATA = Path(__file__).parents[3] / "data"
PUBLISHED = DATA / "published"
CAMPAIGNS = sorted((DATA / "campaigns").glob("*.jsonl.gz"))
SMALLEST = min(CAMPAIGNS, key=lambda path: path.stat().st_size)


@pytest.fixture(scope="module")
def paper() -> RecordedRun:
    return read_artifact(PUBLISHED, "tvm-onnx")


def positions(order: list[str], recorded: RecordedRun) -> list[int]:
    return list(detect(order, recorded.failing, {}).positions)


def test_figures_are_those_of_their_definitions() -> None:
    # Of five tests, the second reveals x, the fourth x and y.
    found = detect(list("abcde"), {"b": {"x"}, "d": {"x", "y"}}, {"a": 1.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": 2.0})
    assert found.positions == [2, 4]
    assert apfd(found.positions, 5) == pytest.approx(1 - (2 + 4) / (5 * 2) + 1 / 10)
    # Ten seconds; x is there after 4, in a test of 3, y after 8, in a test of 2.
    assert apfdc(found) == pytest.approx(((10 - 4 + 1.5) + (10 - 8 + 1)) / (10 * 2))
    # Up to test 4 the best order has areas 3.5 and 2.5, this one 2.5 and 0.5.
    assert rauc(found.positions, 5, 80) == pytest.approx(3 / 6)


def test_the_best_order_has_a_rauc_of_one_at_every_quarter() -> None:
    assert [rauc([1, 2, 3], 40, percent) for percent in (25, 50, 75, 100)] == [1.0] * 4


def test_no_interval_of_a_share_leaves_it() -> None:
    every = spread([0.999, 1.0, 0.995], 1)
    assert (every.low < every.mean, every.high) == (True, 1)
    assert spread([0.0, 0.01], 1).low == 0
    assert spread([30.0, 40.0]).high > 40


def test_an_order_that_leaves_a_revealing_test_out_is_no_order() -> None:
    with pytest.raises(ValueError, match="not in the order"):
        detect(["a"], {"b": {"x"}}, {})


def test_the_released_order_has_the_published_apfd(paper: RecordedRun) -> None:
    order = [str(number) for number in json.loads((PUBLISHED / "orders" / "onnx_tvm_opera.json").read_text())]
    order += [test.id for test in paper.tests if test.id not in set(order)]
    assert apfd(positions(order, paper), 1013) == pytest.approx(0.727, abs=0.0005)


@pytest.mark.slow
def test_the_artifacts_strategy_reaches_the_released_order_within_ties(paper: RecordedRun) -> None:
    found = evaluate(paper, ["opera-artifact"], 30)["opera-artifact"].apfd
    assert abs(found.mean - 0.727) < found.sd


@pytest.mark.slow
def test_the_default_strategy_is_the_best_on_the_papers_data(paper: RecordedRun) -> None:
    found = {name: each.apfd.mean for name, each in evaluate(paper, available(paper), 30).items()}
    assert found["opera"] >= 0.80
    others = {name for name in found if not name.startswith("opera") or name in ("opera-paper", "opera-artifact")}
    assert all(found["opera"] > found[name] + 0.05 for name in others)


@cache
def mean_apfd(path: Path, strategy: str) -> float:
    """Of a recorded campaign, over two seeds."""
    return evaluate(read_recorded(path), [strategy], 2)[strategy].apfd.mean


@pytest.mark.parametrize(
    "path",
    [pytest.param(each, id=each.name.partition(".")[0], marks=[pytest.mark.slow] * (each != SMALLEST)) for each in CAMPAIGNS],
)
def test_the_default_strategy_is_the_best_without_coverage_on_recorded_campaigns(path: Path) -> None:
    """On two campaigns of Keras it is not, as the page says; the reason is not known."""
    names = ["opera", "opera-paper", "opera-artifact", "operator-only", "parameter-only", "round-robin", "random"]
    found = {name: each.apfd.mean for name, each in evaluate(read_recorded(path), names, 4).items()}
    assert (max(found, key=lambda name: found[name]) == "opera") is not path.name.startswith(("tvm-keras", "openvino-keras"))


@pytest.mark.slow
def test_the_page_has_the_figures_of_the_recorded_campaigns() -> None:
    """`scripts/prioritisation_table.py --write` brings it up to date."""
    page = (DATA.parent / "docs" / "reference" / "prioritisation.md").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = {}
    for part in re.findall(r"^\| mean APFD over.*?(?=^$)", page, re.MULTILINE | re.DOTALL):
        head, _, *rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in part.splitlines()]
        table |= {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
    for path in CAMPAIGNS:
        recorded, written = read_recorded(path), table[path.name.partition(".")[0]]
        assert int(written["findings"]) == len(recorded.faults)
        strategies = {"opera": "opera", "opera-adaptive": "adaptive", "parameter-only": "parameter"}
        if len(recorded.faults) < 10:
            del strategies["parameter-only"]  # two seeds of a strategy that draws differ by more than the tolerance
        for strategy, name in strategies.items():
            assert float(written[name]) == pytest.approx(mean_apfd(path, strategy), abs=0.05)


@pytest.mark.slow
def test_feedback_finds_faults_sooner_on_average_and_much_later_nowhere() -> None:
    gains = [mean_apfd(path, "opera-adaptive") - mean_apfd(path, "opera") for path in CAMPAIGNS]
    assert min(gains) > -0.02
    assert statistics.fmean(gains) > 0.008


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures_whatever_the_number_of_processes(paper: RecordedRun) -> None:
    names = ["opera", "random", "fast"]
    assert evaluate(paper, names, 3) == evaluate(paper, names, 3, jobs=2)


@pytest.mark.slow
def test_known_failures_of_other_campaigns_help(paper: RecordedRun) -> None:
    half = History((record((test, ("onnx", "ai.onnx.Abs"), [test]) for test in sorted(paper.failing)[::2]),))
    plain = evaluate(paper, ["opera"], 10)["opera"].apfd.mean
    assert evaluate(paper, ["opera"], 10, half)["opera"].apfd.mean > plain


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = Lab(tmp_path)
    made.add(instance("crashes", "raise"), instance("lies", "lie-value"), *(instance(f"works{number}") for number in range(4)))
    assert made.run().code == Exit.NEW_FINDINGS
    return made


def test_a_campaign_is_recorded_and_evaluated_alike_without_its_workspace(lab: Lab) -> None:
    file = lab.folder / "campaign.jsonl.gz"
    written = lab.opera("evaluate", "--record", str(file))
    assert written.code == Exit.CLEAN, written.stderr
    direct = lab.opera("evaluate", "--json", "--seeds", "3")
    again = lab.opera("evaluate", str(file), "--json", "--seeds", "3")
    assert direct.json == again.json
    document = direct.json
    assert 0 < document["as_run"]["apfd"]["mean"] < 1
    assert document["as_run"]["apfd"]["sd"] == 0
    assert (document["schema"], document["tests"], document["faults"]) == ("evaluate/1", 6, 2)
    assert "additional" not in document["strategies"]
    figures = document["strategies"]["opera"]
    assert set(figures["apfd"]) == {"mean", "sd", "low", "high"}
    assert 0 < figures["apfdc"]["mean"] < 1
    assert len(figures["tests_to_fault"]) == len(figures["seconds_to_fault"]) == 2


def test_the_table_says_when_half_and_when_four_fifths_of_the_findings_are_there(paper: RecordedRun) -> None:
    printed = run("--artifact", str(PUBLISHED), "--subject", "tvm-onnx", "--strategy", "random", "--seeds", "2", "-j", "1").stdout
    counts = [figure.mean for figure in evaluate(paper, ["random"], 2)["random"].tests]
    assert "to 7 findings" in printed
    assert "to 12 findings" in printed  # of 14
    assert [f"{counts[6]:,.0f} tests", f"{counts[11]:,.0f} tests"] == re.findall(r"[\d,]+ tests", printed.splitlines()[2])


def test_a_recorded_campaign_ranks_as_its_workspace_does(lab: Lab) -> None:
    with open_workspace(lab.workspace, write=False) as space:
        recorded = read_campaign(space)
        corpus = [Candidate(key, each) for key, each in Corpus(space).instances(recorded.tests[0].instance.library)]
    for strategy in ("opera", "opera-paper", "fast"):
        assert order_of(get_strategy(strategy), recorded, 1) == [each.id for each in get_strategy(strategy).rank(corpus, Context(seed=1))]


@pytest.mark.parametrize(
    "path", [pytest.param(each, id=each.name.partition(".")[0], marks=[pytest.mark.slow] * (each != SMALLEST)) for each in CAMPAIGNS]
)
def test_recording_loses_nothing(path: Path, tmp_path: Path) -> None:
    first = read_recorded(path)
    write_recorded(first, tmp_path / "a.jsonl.gz")
    write_recorded(read_recorded(tmp_path / "a.jsonl.gz"), tmp_path / "b.jsonl.gz")
    assert read_recorded(tmp_path / "a.jsonl.gz") == first
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_an_unfinished_campaign_is_refused(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.add(instance("crashes", "raise"), instance("lies", "lie-value"), instance("works"))
    lab.run("--maxfail", "1", "-j", "1")
    outcome = lab.opera("evaluate")
    assert outcome.code == Exit.USER_ERROR
    assert "not complete" in outcome.stderr


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--artifact", str(PUBLISHED)], "--artifact needs --subject; choose one of: tvm-onnx"),
        (["--artifact", str(PUBLISHED), "--subject", "iree-onnx"], "no faults of the subject 'iree-onnx'; choose one of: tvm-onnx"),
        (["--subject", "tvm-onnx"], "--subject belongs to --artifact"),
        (["nothing.gz"], "nothing.gz does not exist"),
        (["x.gz", "--artifact", str(PUBLISHED)], "FILE and --artifact name different campaigns"),
        (["--artifact", str(PUBLISHED), "--subject", "tvm-onnx", "--strategy", "opra"], "did you mean 'opera'"),
        (["--artifact", str(PUBLISHED), "--subject", "tvm-onnx", "--strategy", "total"], "a frontend in C\\+\\+ cannot be measured"),
        (["--coverage"], "add --record FILE"),
    ],
)
def test_what_cannot_be_evaluated_is_answered_with_what_to_do(arguments: list[str], message: str) -> None:
    outcome = run(*arguments)
    assert isinstance(outcome.exception, UserError)
    with pytest.raises(UserError, match=message):
        raise outcome.exception


@pytest.mark.parametrize(
    "content",
    [b"", b"not gzip", gzip.compress(b"{}\n"), gzip.compress(b'{"schema": "recorded-campaign/1"}\nx')],
    ids=["empty", "not-gzip", "no-schema", "not-json"],  # gzip writes the time: without names, every process would have other ids
)
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "campaign.jsonl.gz"
    file.write_bytes(content)
    with pytest.raises(UserError, match=str(file)):
        read_recorded(file)


@pytest.mark.slow
def test_a_cut_file_is_not_taken_for_a_shorter_campaign(tmp_path: Path) -> None:
    lines = gzip.decompress(CAMPAIGNS[0].read_bytes()).splitlines(keepends=True)
    file = tmp_path / "campaign.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join(lines[:-1])))
    with pytest.raises(UserError, match="ends after"):
        read_recorded(file)


def test_a_folder_in_the_form_of_the_papers_data_is_read_under_either_name_of_a_compiler(tmp_path: Path) -> None:
    (tmp_path / "onnx.jsonl").write_text("".join((PUBLISHED / "onnx.jsonl").read_text().splitlines(keepends=True)[:40]))
    (tmp_path / "ov_onnx_faults.json").write_text(json.dumps({"faults": {"f": {"key": "Expand", "tests": [2, 3]}}}))
    assert subjects_in(tmp_path) == ["ov-onnx"]
    recorded = read_artifact(tmp_path, "openvino-onnx")
    assert (recorded.subject, len(recorded.tests), set(recorded.failing)) == ("openvino/onnx", 40, {"2", "3"})
    assert recorded.equipped == {}
    assert statistics.fmean([apfd(positions(order_of(get_strategy("opera"), recorded, seed), recorded), 40) for seed in range(3)]) > 0.5


def test_the_papers_instances_have_slots_and_defaults_of_the_schema(paper: RecordedRun) -> None:
    found = next(test.instance for test in paper.tests if test.instance.operator == "Conv")
    assert found.kind is Kind.NODE
    assert [argument.name for argument in found.call[:2]] == ["X", "W"]
    assert dict(found.defaults)["group"] == 1


def test_a_ranking_is_exported_as_it_was_made_byte_for_byte(lab: Lab) -> None:
    def export(name: str, *options: str) -> bytes:
        file = lab.folder / name
        outcome = lab.finish(
            lab.start("export", "ranking", str(file), "--compiler", "fake", "--frontend", "fake", *options, module="opera")
        )
        assert outcome.code == Exit.CLEAN, outcome.stderr
        return file.read_bytes()

    def rank() -> Outcome:
        return lab.opera("prioritize", "--compiler", "fake", "--frontend", "fake", "--json")

    rank()
    first = export("a.jsonl")
    ranked = rank()
    assert export("b.jsonl") == first
    lines = [json.loads(line) for line in first.splitlines()]
    assert (lines[0]["schema"], lines[0]["ranked"]) == ("ranking/1", 6)
    assert [line["instance"][:12] for line in lines[1:]] == [each["instance"] for each in ranked.json["first"]]
    assert lab.opera("export", "ranking", "-", "--compiler", "fake", "--frontend", "fake", "--seed", "9").code == Exit.USER_ERROR


def test_a_place_in_a_ranking_is_explained(lab: Lab) -> None:
    subject = ("--compiler", "fake", "--frontend", "fake")
    first = lab.opera("prioritize", *subject, "--json").json["first"][0]["instance"]
    told = lab.opera("prioritize", *subject, "--explain", first)
    assert "place 1, score" in told.stdout
    document = lab.opera("prioritize", *subject, "--explain", first, "--json").json
    assert (document["schema"], document["place"]) == ("explain/1", 1)
    assert ["", "operator"] in document["new"]


def test_a_recorded_campaign_is_history_for_a_ranking_and_for_a_campaign(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "campaign.jsonl.gz"
    assert lab.opera("evaluate", "--record", str(file)).code == Exit.CLEAN
    other = Lab(tmp_path / "other")
    other.add(instance("crashes", "raise"), instance("lies", "lie-value"), *(instance(f"works{number}") for number in range(4)))
    assert other.run("--history", str(file), jobs=1).code == Exit.NEW_FINDINGS
    with open_workspace(other.workspace, write=False) as space:
        (campaign,) = Campaigns(space).all()
        first = [step.instance for step in Campaigns(space).course(campaign.id)][:2]
        assert {Corpus(space).get(each).api.rpartition(".")[2] for each in first} == {"crashes", "lies"}
    missing = other.run("--history", str(tmp_path / "missing"))
    assert missing.code == Exit.USER_ERROR
    assert "does not exist" in missing.stderr


def test_earlier_failures_come_first_where_history_counts(lab: Lab) -> None:
    ranked = lab.opera("prioritize", "--compiler", "fake", "--frontend", "fake", "--history", "--json")
    assert {each["api"].rpartition(".")[2] for each in ranked.json["first"][:2]} == {"crashes", "lies"}
