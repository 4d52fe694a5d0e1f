"""The arguments and exit codes of `opera.run`, by the real command on the fake compiler."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fake.harness import SITE, Event, Lab, essence, instance

from opera.instance import Argument, Constraint, Kind, Tensor
from opera.store import Corpus
from opera.store.database import open_workspace


def many(count: int, compiler: str = "pass") -> list[object]:
    return [instance("many", compiler, number=number) for number in range(count)]


def most_at_once(events: list[Event]) -> int:
    """The largest number of processes that were between a begin and an end at a time."""
    busy: set[tuple[int, str]] = set()
    most = 0
    for event in events:
        if event.edge == "begin":
            busy.add((event.pid, event.what))
        elif event.what != "artefact":
            busy.discard((event.pid, event.what))
        most = max(most, len(busy))
    return most


def compiled(lab: Lab) -> list[str]:
    return [event.api for event in lab.journal() if (event.what, event.edge) == ("compile", "begin") and event.api != "fake.canary"]


@pytest.mark.alone
@pytest.mark.parametrize("jobs", [1, 2])
def test_no_more_children_work_at_a_time_than_jobs_allow(lab: Lab, jobs: int) -> None:
    lab.add(*many(20, "slow"), *(instance(f"lies-{letter}", "lie-value") for letter in "abc"))
    assert lab.run_in_processes(jobs=jobs).json["verdicts"] == {"inconsistent": 3, "pass": 20}
    assert most_at_once(lab.journal()) == jobs


@pytest.mark.alone
def test_at_most_64_tests_are_materialised_ahead_of_the_compiler(lab: Lab) -> None:
    lab.add(*many(120, "slow"))
    assert lab.run_in_processes("--strategy", "opera", jobs=2).json["verdicts"] == {"pass": 120}
    ahead = most = 0
    for event in lab.journal():
        ahead += {("artefact", "end"): 1, ("compile", "begin"): -1}.get((event.what, event.edge), 0)
        most = max(most, ahead)
    handed_over = 2
    assert 32 < most <= 64 + handed_over


def test_every_test_is_compiled_once_and_every_reference_computed_once(lab: Lab) -> None:
    lab.add(*many(30))
    lab.run()
    events = [(event.what, event.edge) for event in lab.journal() if event.api == "fake.many"]
    assert events.count(("compile", "begin")) == events.count(("reference", "begin")) == events.count(("artefact", "end")) == 30


def test_limit_takes_the_first_of_the_ranking_and_a_higher_limit_adds_only_the_rest(lab: Lab) -> None:
    lab.add(*many(12))
    five = lab.run("--limit", "5")
    assert (five.json["executed"], five.json["planned"], five.json["stopped_by"]) == (5, 5, "limit")
    first = essence(lab.stored())
    eight = lab.run("--limit", "8")
    assert (eight.json["executed"], eight.json["planned"]) == (8, 8)
    assert set(first) < set(essence(lab.stored()))
    assert len(compiled(lab)) == 8


def test_keyword_selects_operators_by_name(lab: Lab) -> None:
    lab.add(instance("conv1d"), instance("conv2d"), instance("conv_transpose2d"), instance("relu"))
    outcome = lab.run("-k", "Conv and not transpose")
    assert outcome.code == 0
    assert lab.results().keys() == {"conv1d", "conv2d"}


def test_a_budget_stops_the_campaign_and_the_same_command_goes_on_until_it_is_complete(lab: Lab) -> None:
    lab.add(*many(40, "slow"))
    first = lab.run("--budget", "1s", jobs=1)
    assert (first.json["complete"], first.json["stopped_by"]) == (False, "budget")
    assert first.json["executed"] < 40
    parts, budget = [first.json["executed"]], 1.5
    while not (outcome := lab.run("--budget", f"{budget}s", jobs=1)).json["complete"]:
        parts.append(outcome.json["executed"])
        assert parts[-1] >= parts[-2]
        budget *= 1.5
    assert parts[-1] > 0
    assert outcome.json["campaign"] == first.json["campaign"]
    assert outcome.json["executed"] == outcome.json["verdicts"]["pass"] == 40
    assert outcome.json["seconds"] > first.json["seconds"]
    assert len(compiled(lab)) < 40 + len(parts) + 1


def test_a_campaign_that_executed_nothing_is_no_success(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = lab.run("--budget", "1ms")
    assert outcome.code == 4
    assert outcome.json["executed"] == 0
    assert not outcome.json["complete"]


@pytest.mark.parametrize(("option", "most"), [(("-x",), 1), (("--maxfail", "3"), 3)])
def test_maxfail_stops_after_that_many_distinct_findings(lab: Lab, option: tuple[str, ...], most: int) -> None:
    lab.add(*(instance(f"raise-{letter}", "raise") for letter in "abcdefghijkl"), *many(30, "slow"))
    document = lab.run(*option, jobs=1).json
    assert document["stopped_by"] == "maxfail"
    assert most <= document["findings"] <= most + 1
    assert not document["complete"]


def test_exit_code_0_when_all_is_well_and_one_document_is_all_there_is_on_standard_output(lab: Lab) -> None:
    lab.add(instance("noise", "noise"), instance("pass"), instance("library-noise", library="noise"))
    outcome = lab.run_in_processes()
    assert outcome.code == 0
    assert outcome.json["schema"] == "run/1"
    assert {"executed", "seconds", "verdicts", "findings", "new_findings", "complete", "stopped_by"} <= outcome.json.keys()
    assert outcome.json["verdicts"] == {"pass": 3}
    assert "garbage" not in outcome.stderr


def test_exit_code_1_for_new_findings_unless_exit_zero_is_given(lab: Lab) -> None:
    lab.add(instance("raise", "raise"))
    assert lab.run().code == 1
    assert lab.run("--exit-zero").code == 0


def test_findings_that_an_earlier_campaign_has_made_are_not_new(lab: Lab) -> None:
    lab.add(*many(2, "raise"))
    assert lab.run("--limit", "1").json["new_findings"] == 1
    assert lab.run("--limit", "1", "--cap", "9").json["new_findings"] == 0
    second = lab.run()
    assert (second.code, second.json["findings"], second.json["new_findings"], second.json["undecided"]) == (1, 1, 1, 1)
    third = lab.run("--cap", "9")
    assert (third.code, third.json["findings"], third.json["new_findings"]) == (0, 1, 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--compiler", "fakk", "--frontend", "fake"), "did you mean 'fake'"),
        (("--compiler", "fake", "--frontend", "fakke"), "did you mean 'fake'"),
        (("--compiler", "fake", "--frontend", "fake", "--route", "air"), "choose one of: text, live"),
        (("--compiler", "fake", "--frontend", "fake", "-k", "a and"), "not an expression"),
        (("--compiler", "fake", "--frontend", "fake", "--timeout", "soon"), "not a duration"),
        (("--compiler", "fake", "--frontend", "fake", "--memory", "lots"), "not a size"),
        (("--compiler", "fake", "--frontend", "fake", "--limit", "0"), "--limit"),
        (("--compiler", "fake", "--frontend", "fake", "--strategy", "best"), "choose one of"),
        (("--compiler", "fake", "--frontend", "fake", "--opset", "17,0"), "not a list of opsets from 13 to"),
        (
            ("--compiler", "fake", "--frontend", "fake", "--opset", "17"),
            "--opset is for instances of ONNX, but fake/fake takes instances of",
        ),
        (("--frontend", "fake"), "--compiler"),
    ],
)
def test_exit_code_2_for_a_wrong_argument_with_a_message_and_no_traceback(lab: Lab, arguments: tuple[str, ...], says: str) -> None:
    lab.add(instance("pass"))
    outcome = lab.opera(*arguments, "--json", module="opera.run")
    assert outcome.code == 2
    assert says in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("compiler", "says"),
    [
        pytest.param("fake-absent", "No module named 'no_such_compiler'", marks=pytest.mark.slow),
        ("fake-dead", "SIGABRT"),
        pytest.param("fake-wrong", "canary", marks=pytest.mark.slow),
        ("fake-missing", "cannot be imported"),
        ("fake-nonsense", "not a subclass"),
    ],
)
def test_exit_code_3_for_a_broken_adapter_that_was_asked_for(lab: Lab, compiler: str, says: str) -> None:
    lab.add(instance("pass"))
    outcome = lab.run_in_processes(compiler=compiler)
    assert outcome.code == 3
    assert says in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""
    assert lab.left_behind() == []
    assert lab.scratch() == []


@pytest.mark.slow
def test_a_compiler_that_is_slow_only_at_first_is_not_broken(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = lab.run_in_processes("--timeout", "1.5s", compiler="fake-cold")
    assert outcome.code == 0, outcome.stderr
    assert outcome.json["executed"] == 1


def test_an_interpreter_that_does_not_exist_is_named(lab: Lab) -> None:
    lab.add(instance("pass"))
    (lab.folder / "opera.toml").write_text('[compiler.fake]\npython = "no/such/python"\n')
    outcome = lab.run_in_processes()
    assert outcome.code == 3
    assert "no/such/python" in outcome.stderr
    assert lab.left_behind() == []


def test_exit_code_4_when_nothing_is_selected(lab: Lab) -> None:
    lab.add(instance("pass"))
    outcome = lab.run("-k", "absent")
    assert (outcome.code, outcome.stdout) == (4, "")


def test_exit_code_4_when_the_workspace_has_no_instance(lab: Lab) -> None:
    lab.add()
    outcome = lab.run()
    assert outcome.code == 4
    assert "opera extract" in outcome.stderr


@pytest.mark.parametrize("module", ["opera.run", "opera.prioritize"])
def test_a_folder_without_a_workspace_stays_without_one(lab: Lab, module: str) -> None:
    outcome = lab.opera("--compiler", "fake", "--frontend", "fake", module=module)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "no workspace at" in outcome.stderr
    assert not lab.workspace.exists()


def test_a_second_writer_is_turned_away_with_exit_code_3(lab: Lab) -> None:
    lab.add(instance("pass"))
    with open_workspace(lab.workspace, write=True):
        outcome = lab.run_in_processes()
    assert outcome.code == 3
    assert "writing" in outcome.stderr


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [pytest.param("fake-started", marks=pytest.mark.slow), "fake-unforkable"])
def test_failures_are_confirmed_in_a_fresh_process_however_the_compiler_can_be_copied(lab: Lab, compiler: str) -> None:
    lab.add(
        instance("raise", "raise"), instance("abort", "abort"), instance("flaky", "flaky"), instance("lies", "lie-value"),
        instance("detached", "detached"), instance("pass"), instance("dies", "die-after-answering"),
    )  # fmt: skip
    lab.run_in_processes(compiler=compiler)
    assert {name: result.verdict.value for name, result in lab.results().items()} == {
        "raise": "crash", "abort": "abort", "flaky": "flaky", "lies": "inconsistent", "detached": "pass", "pass": "pass", "dies": "pass",
    }  # fmt: skip
    runs = [event.pid for event in lab.journal() if (event.what, event.api, event.edge) == ("compile", "fake.raise", "begin")]
    assert len(set(runs)) == 2
    assert lab.left_behind() == []


@pytest.mark.slow
def test_a_process_that_a_failure_has_spoilt_gets_no_further_test(lab: Lab) -> None:
    lab.add(*(instance(f"spoils-{letter}", "spoil") for letter in "abcd"), *many(8))
    assert lab.run_in_processes(jobs=1).json["verdicts"] == {"crash": 4, "pass": 8}


def test_a_live_route_rebuilds_the_model_in_the_compilers_own_process(lab: Lab) -> None:
    lab.add(instance("pass"), instance("abort", "abort"), instance("rejected", library="rejects"))
    lab.run("--route", "live")
    assert {name: result.verdict.value for name, result in lab.results().items()} == {
        "pass": "pass", "abort": "abort", "rejected": "invalid",
    }  # fmt: skip
    assert {result.route for result in lab.results().values()} == {"live"}


def test_what_a_compiler_declares_to_compute_in_less_precision_is_no_inconsistency(lab: Lab) -> None:
    lab.add(instance("narrow", "lie-float32", dtype="float64"), instance("wrong", "lie-value", dtype="float64"))
    lab.run()
    results = lab.results()
    assert (results["narrow"].verdict.value, results["narrow"].reason) == ("undefined", "precision-policy")
    assert results["wrong"].verdict.value == "inconsistent"


def test_the_papers_threshold_makes_a_campaign_of_its_own(lab: Lab) -> None:
    lab.add(instance("lies", "lie-value"))
    assert lab.run().json["verdicts"] == {"inconsistent": 1}
    assert lab.run("--chebyshev", "1000").json["verdicts"] == {"pass": 1}


def test_a_damaged_or_deleted_cache_is_made_again(lab: Lab) -> None:
    lab.add(*many(6))
    assert lab.run().json["verdicts"] == {"pass": 6}
    for index, path in enumerate(path for path in (lab.workspace / "cache").rglob("*") if path.is_file()):
        if index % 2:
            path.unlink()
        else:
            path.write_bytes(b"damaged" + path.read_bytes())
    outcome = lab.run("--chebyshev", "0.5")
    assert outcome.json["verdicts"] == {"pass": 6}


def test_a_cache_that_takes_no_file_stops_the_campaign_and_blames_no_test(lab: Lab) -> None:
    lab.add(*many(10), instance("full", library="full"))
    outcome = lab.run_in_processes()
    assert outcome.code == 3
    assert "cache cannot be written" in outcome.stderr
    assert "No space left" in outcome.stderr
    assert {result.verdict.value for result in lab.stored()} <= {"pass"}
    assert lab.left_behind() == []


def test_a_cache_from_which_files_vanish_ends_the_campaign_instead_of_making_them_for_ever(lab: Lab) -> None:
    lab.add(instance("vanish", library="vanish"))
    outcome = lab.run_in_processes()
    assert outcome.code == 3
    assert "disappear from the cache" in outcome.stderr
    assert lab.stored() == []


def test_a_full_disk_under_the_database_ends_with_exit_code_3_and_keeps_what_was_written(lab: Lab) -> None:
    lab.add(*many(40))
    assert lab.run_in_processes("--limit", "5").code == 0
    before = essence(lab.stored())
    (lab.folder / "sitecustomize.py").write_text(
        "import opera.store.database as d\nprepare = d._prepare\n"
        "def full(connection, path, write):\n"
        "    prepare(connection, path, write)\n"
        "    (pages,) = connection.execute('PRAGMA page_count').fetchone()\n"
        "    connection.execute(f'PRAGMA max_page_count = {pages + 2}')\n"
        "d._prepare = full\n"
    )
    outcome = lab.run_in_processes(extra_path=lab.folder)
    assert outcome.code == 3
    assert "no space left" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert set(before) <= set(essence(lab.stored()))
    assert lab.left_behind() == []
    assert lab.run_in_processes().json["verdicts"] == {"pass": 40}


def test_a_disk_that_is_full_under_the_compiler_is_no_failure_of_the_compiler(lab: Lab) -> None:
    lab.add(*many(10), instance("no-space", "no-space"))
    outcome = lab.run_in_processes()
    assert outcome.code == 3
    assert "no space left" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert {result.verdict.value for result in lab.stored()} <= {"pass"}
    assert lab.left_behind() == []
    assert lab.run_in_processes("-k", "many").json["verdicts"] == {"pass": 10}


@pytest.mark.slow
def test_tests_are_handed_out_in_the_order_of_the_plan(lab: Lab) -> None:
    lab.add(*many(80, "slow"))
    lab.run_in_processes(jobs=4)
    with open_workspace(lab.workspace, write=False) as space:
        (latest,) = space.database.execute(
            "SELECT max(abs(place - row)) FROM (SELECT place, row_number() OVER (ORDER BY finished, place) - 1 AS row FROM campaign_tests c"
            " JOIN results r ON r.test = c.test)"
        ).fetchone()
    assert latest <= 40


def test_inputs_are_the_same_byte_for_byte_for_the_same_seed_and_others_for_another(tmp_path: Path) -> None:
    caches = []
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        lab = Lab(tmp_path / name)
        drawn = Argument("input", Tensor((2, 3), "float32"))
        lab.add(*(replace(instance("drawn", number=number), call=(drawn,)) for number in range(2)))
        lab.run("--seed", seed)
        caches.append({path.name for path in (lab.workspace / "cache").rglob("*") if path.is_file()})
    assert caches[0] == caches[1]
    assert caches[0] != caches[2]


def test_without_json_a_table_is_printed_with_the_command_that_shows_the_findings(lab: Lab) -> None:
    lab.add(instance("raise", "raise"), instance("pass"))
    outcome = lab.opera("--compiler", "fake", "--frontend", "fake", module="opera.run")
    assert outcome.code == 1
    assert "crash" in outcome.stdout
    assert re.search(r"new finding: fake.raise: crash at \w+.*\n  .*\n  fake\.raise\(.*\)\n  show: opera show ", outcome.stderr)
    assert f"opera report --campaign {_campaign(lab)} --workspace {lab.workspace}" in outcome.stdout


def _campaign(lab: Lab) -> str:
    with open_workspace(lab.workspace, write=False) as space:
        return space.database.execute("SELECT id FROM campaigns").fetchone()[0]


def test_quiet_prints_no_progress(lab: Lab) -> None:
    lab.add(instance("raise", "raise"))
    outcome = lab.run("-q")
    assert outcome.stderr == ""
    assert json.loads(outcome.stdout)["findings"] == 1


def test_quiet_names_what_is_new_at_the_end(lab: Lab) -> None:
    lab.add(instance("raise", "raise"))
    quiet = ("--compiler", "fake", "--frontend", "fake", "-q")
    first = lab.opera(*quiet, module="opera.run")
    assert first.stderr == ""
    assert re.search(r"^findings: 1, new: 1\n[0-9a-f]{8}  fake.raise: crash at \w+\n {10}ValueError: ", first.stdout, re.MULTILINE)
    lab.add(instance("pass"))
    second = lab.opera(*quiet, "--seed", "1", module="opera.run")
    assert second.stdout.count("fake.raise: crash") == second.stdout.count("new: 1")


def test_the_corpus_stays_as_it_was(lab: Lab) -> None:
    instances = [instance("pass"), instance("abort", "abort")]
    lab.add(*instances)
    lab.run()
    with open_workspace(lab.workspace, write=False) as space:
        assert sorted(repr(each) for _, each in Corpus(space).instances("fake")) == sorted(map(repr, instances))


def test_more_seeds_run_again_what_is_drawn_and_nothing_else(lab: Lab) -> None:
    kept = Tensor((2, 3), "float32", data=bytes(24))
    drawn = Tensor((2, 3), "float32", constraint=Constraint(-1.0, 1.0))
    for name, tensor in (("kept", kept), ("drawn", drawn)):
        lab.add(replace(instance(name), kind=Kind.FUNCTION, call=(Argument("input", tensor),)))
    assert lab.run("--seed", "7", "--seeds", "3").json["verdicts"] == {"pass": 4}
    with open_workspace(lab.workspace, write=False) as space:
        seeds = sorted((Corpus(space).get(each.instance).operator, each.seed) for each in lab.stored())
    assert seeds == [("drawn", 7), ("drawn", 8), ("drawn", 9), ("kept", 7)]
    more = lab.run("--seed", "7", "--seeds", "4")
    assert (more.json["executed"], len(lab.stored())) == (5, 5)


# The compiler's own search path and variables.


@pytest.mark.slow
def test_a_folder_of_opera_toml_comes_first_and_makes_another_campaign(lab: Lab) -> None:
    lab.add(instance("pass"))
    first = lab.run_in_processes().json
    build = lab.folder / "build"
    shutil.copytree(SITE / "opera_fake", build / "opera_fake")
    adapter = build / "opera_fake" / "adapter.py"
    text = adapter.read_text(encoding="utf-8")
    adapter.write_text(text.replace('{"fake": "1.0", "level"', '{"fake": os.environ["FAKE_BUILD"], "level"'), encoding="utf-8")
    (lab.folder / "opera.toml").write_text('[compiler.fake]\npath = ["build"]\nenv = {FAKE_BUILD = "mine"}\n', encoding="utf-8")
    second = lab.run_in_processes().json
    assert second["versions"]["compiler"]["fake"] == "mine"
    (lab.folder / "opera.toml").write_text('[compiler.fake]\npath = ["build"]\nenv = {FAKE_BUILD = "mine", X = "1"}\n', encoding="utf-8")
    third = lab.run_in_processes().json
    assert len({each["campaign"] for each in (first, second, third)}) == 3
    assert "opera.toml" not in first["versions"]["compiler"]


def test_a_folder_that_is_gone_is_named_with_the_file_that_names_it(lab: Lab) -> None:
    lab.add(instance("pass"))
    (lab.folder / "opera.toml").write_text('[compiler.fake]\npath = ["gone"]\n', encoding="utf-8")
    outcome = lab.run()
    assert outcome.code == 3
    assert f"the folder {lab.folder / 'gone'} does not exist; correct `path` of fake in {lab.folder / 'opera.toml'}" in outcome.stderr


def test_a_build_is_shown_by_ls_compare_and_the_page(lab: Lab) -> None:
    lab.add(instance("pass"))
    ids = [lab.run("--build", name).json["campaign"] for name in ("monday", "tuesday")]
    listed = lab.opera("ls").stdout
    words = [[word for word in line.split() if word in ("build", "monday", "tuesday")] for line in listed.splitlines()[-4:]]
    assert words[:2] == [["build"], []]
    assert sorted(words[2:]) == [["monday"], ["tuesday"]]  # both may have begun in one second
    assert {each["build"] for each in lab.opera("ls", "--json").json["campaigns"]} == {"monday", "tuesday"}
    compared = lab.opera("compare", *ids).stdout
    assert "build monday" in compared.splitlines()[0]
    assert "build tuesday" in compared.splitlines()[1]
    page = lab.opera("report", "--html", "-").stdout
    assert page.count('<span class="dim">build monday</span>') == 1


def test_a_new_finding_is_printed_with_a_command_that_works(lab: Lab) -> None:
    lab.add(instance("crashes", "raise"))
    said = lab.run().stderr
    (finding,) = lab.opera("report", "--json").json["findings"]
    assert f"  show: opera show {finding['id']} --workspace {lab.workspace}\n" in said  # this adapter has no template for a script
    assert "opera reproduce" not in said
    assert lab.opera("show", finding["id"]).code == 0


def test_a_complete_campaign_starts_no_worker_until_something_around_it_changes(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.add(*many(5), instance("wrong", "lie-value"))
    first = lab.run()
    noted = len(lab.journal())
    again = lab.run()
    assert lab.journal()[noted:] == []
    assert {**again.json, "seconds": 0} == {**first.json, "seconds": 0}
    monkeypatch.setenv("OMP_PROC_BIND", "close")
    lab.run()
    assert {event.api for event in lab.journal()[noted:]} == {"fake.canary"}, "a variable of the workers has changed"
    lab.add(instance("later"))
    noted = len(lab.journal())
    assert lab.run().json["executed"] == 7
    assert {event.api for event in lab.journal()[noted:]} == {"fake.canary", "fake.later"}
