"""The workspace: what it refuses and how it says so, and that what goes in comes out."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake.harness import instance

from opera.cli.options import explain
from opera.errors import EnvironmentBroken, UserError
from opera.extract.items import SourceTally
from opera.instance import Argument, Instance, Kind, Occurrence, Outcome, Tensor, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.campaigns import KNOWN_DIGITS
from opera.store.corpus import Extraction
from opera.store.database import open_workspace

BIG = np.arange(5000, dtype=np.float32)


def big(number: int = 0) -> Instance:
    data = (BIG + number).tobytes()
    return Instance("onnx", "ai.onnx.Big", Kind.NODE, call=(Argument("x", Tensor((5000,), "float32", data)), Argument("n", number)))


def result(test: str, verdict: Verdict = Verdict.PASS, fingerprint: str | None = None, number: int = 0) -> StoredResult:
    return StoredResult(
        test, f"i{number}", "fake", "fake", "text", "runtime", 0, verdict, Stage.RUN if fingerprint else None, None, "add", fingerprint,
        {"failure": {"type": "E", "message": "\udcff\x00"}} if fingerprint else {}, {"run": 0.5},
    )  # fmt: skip


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path / "ws", write=True)


# Opening.


def test_reading_needs_a_workspace_and_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="opera extract"):
        open_workspace(tmp_path / "none", write=False)
    assert not (tmp_path / "none").exists()


def _newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(8192))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("harm", "says"),
    [(_newer, "another version of OPERA"), (_foreign, "another program"), (_garbage, "damaged, or not a workspace"), (_cut, "damaged")],
)
def test_a_database_that_is_none_of_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, harm: Callable[[Path], None], says: str, write: bool
) -> None:
    open_workspace(tmp_path, write=True).close()
    path = tmp_path / "opera.db"
    harm(path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=says):
        open_workspace(tmp_path, write=write)
    assert path.read_bytes() == before
    open_workspace(tmp_path / "other", write=True).close()


def test_a_refused_workspace_is_not_locked(tmp_path: Path) -> None:
    open_workspace(tmp_path, write=True).close()
    _newer(tmp_path / "opera.db")
    for _ in range(2):
        with pytest.raises(UserError, match="another version"):
            open_workspace(tmp_path, write=True)


def test_a_file_in_the_place_of_the_folder_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="not a folder"):
        open_workspace(tmp_path / "file", write=True)


def test_a_second_writer_is_told_who_writes_and_readers_are_let_in(tmp_path: Path) -> None:
    with open_workspace(tmp_path, write=True) as first:
        Corpus(first).add([(instance("a"), Occurrence("s", "t"))])
        with pytest.raises(EnvironmentBroken, match=f"process {os.getpid()} is writing"):
            open_workspace(tmp_path, write=True)
        with open_workspace(tmp_path, write=False) as reader:
            assert Corpus(reader).counts("fake") == (1, 1)
    open_workspace(tmp_path, write=True).close()


def test_a_transaction_is_written_whole_or_not_at_all(space: Workspace) -> None:
    def failing() -> object:
        yield instance("a"), Occurrence("s", "t")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        Corpus(space).add(failing())  # type: ignore[arg-type]
    assert Corpus(space).counts("fake") == (0, 0)


def test_a_full_database_is_explained_as_lack_of_space(space: Workspace) -> None:
    (pages,) = space.database.execute("PRAGMA page_count").fetchone()
    space.database.execute(f"PRAGMA max_page_count = {pages}")
    Corpus(space)
    with pytest.raises(sqlite3.OperationalError) as caught:
        Corpus(space).add((instance(f"a{number}"), Occurrence("s", "t" * 500)) for number in range(200))
    explained = explain(caught.value)
    assert isinstance(explained, EnvironmentBroken)
    assert "no space left" in str(explained)
    assert Corpus(space).counts("fake") == (0, 0)


def test_a_full_disk_under_the_blobs_is_explained_and_leaves_nothing(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opera.bundle.os.replace", refuse)
    with pytest.raises(OSError, match="No space") as caught:
        Corpus(space).add([(big(), Occurrence("s", "t"))])
    assert isinstance(explain(caught.value), EnvironmentBroken)
    assert Corpus(space).counts("onnx") == (0, 0)
    assert [path for path in space.blobs.rglob("*") if path.is_file()] == []


# The corpus.


def test_instances_come_back_as_they_went_in_and_large_tensors_are_put_aside(space: Workspace) -> None:
    corpus = Corpus(space)
    instances = [instance("a"), instance("b", number=7), big(), big(1)]
    assert corpus.add((each, Occurrence("s", "t")) for each in instances) == 4
    for each in instances:
        assert corpus.get(digest(each)) == each
    assert {key for key, _ in corpus.instances("onnx")} == {digest(big()), digest(big(1))}
    assert len([path for path in space.blobs.rglob("*") if path.is_file()]) == 2
    assert all(size < 2000 for size in corpus.sizes(map(digest, instances)).values())
    assert corpus.libraries() == ["fake", "onnx"]


def test_an_instance_seen_again_adds_provenance_and_nothing_else(space: Workspace) -> None:
    corpus = Corpus(space)
    assert corpus.add([(instance("a"), Occurrence("s", "t1", 2))]) == 1
    assert Corpus(space).add([(instance("a"), Occurrence("s", "t2", 3)), (instance("a"), Occurrence("s", "t1", 9))]) == 0
    assert corpus.provenance(digest(instance("a"))) == [Occurrence("s", "t1", 9), Occurrence("s", "t2", 3)]
    assert corpus.counts("fake") == (1, 1)


def test_a_lost_or_damaged_blob_is_noticed(space: Workspace) -> None:
    corpus = Corpus(space)
    corpus.add([(big(), Occurrence("s", "t"))])
    (blob,) = (path for path in space.blobs.rglob("*") if path.is_file())
    blob.write_bytes(blob.read_bytes()[:-1] + b"?")
    for _ in range(2):  # reading removes nothing
        with pytest.raises(UserError, match=f"instance {digest(big())[:12]} .*damaged.*extract or import it again"):
            corpus.get(digest(big()))
    corpus.add([(big(), Occurrence("s", "t"))])
    assert corpus.get(digest(big())) == big()
    blob.unlink()
    with pytest.raises(UserError, match="gone"):
        corpus.get(digest(big()))


def test_an_unknown_instance_is_a_key_error(space: Workspace) -> None:
    with pytest.raises(KeyError):
        Corpus(space).get("0" * 64)


def test_calls_that_raised_in_their_own_test_are_not_runnable(space: Workspace) -> None:
    raised = Instance("fake", "fake.bad", Kind.FUNCTION, outcome=Outcome.RAISED, exception="ValueError")
    Corpus(space).add([(raised, Occurrence("s", "t")), (instance("good"), Occurrence("s", "t"))])
    assert Corpus(space).runnable("fake") == {digest(instance("good")): "fake.good"}


def test_a_ranking_is_current_as_long_as_it_has_what_can_be_run(space: Workspace) -> None:
    corpus = Corpus(space)
    raised = Instance("fake", "fake.bad", Kind.FUNCTION, outcome=Outcome.RAISED, exception="ValueError")
    corpus.add((each, Occurrence("s", "t")) for each in (raised, instance("good"), instance("better")))
    keys = [digest(instance(name)) for name in ("good", "better")]
    whole, half, more = (
        corpus.add_ranking("fake", "c", f"strategy-{index}", 0, 0.1, [(key, 1.0) for key in each])
        for index, each in enumerate((keys, keys[:1], [*keys, digest(raised)]))
    )
    assert [corpus.is_current(ranking, "fake") for ranking in (whole, half, more)] == [True, False, False]
    corpus.add([(instance("new"), Occurrence("s", "t"))])
    assert not corpus.is_current(whole, "fake")


def test_a_ranking_keeps_its_order_and_the_newest_of_a_kind_replaces_the_older(space: Workspace) -> None:
    corpus = Corpus(space)
    corpus.add_ranking("fake", "c", "random", 0, 0.1, [("b", 2.0), ("a", 1.0)])
    newest = corpus.add_ranking("fake", "c", "random", 0, 0.1, [("a", 2.0), ("b", 1.0), ("c", 0.0)])
    other = corpus.add_ranking("fake", "c", "opera", 0, 0.1, [("c", 1.0)])
    assert corpus.ranked(newest) == ["a", "b", "c"]
    found = corpus.newest_ranking("fake", "c", 0)
    assert found is not None
    assert found.id == other
    named = corpus.newest_ranking("fake", "c", 0, "random")
    assert named is not None
    assert named.id == newest
    assert corpus.newest_ranking("fake", "d", 0) is None
    assert space.database.execute("SELECT count(*) FROM ranked").fetchone() == (4,)


def test_the_figures_of_an_extraction_are_kept_once_per_source(space: Workspace) -> None:
    for calls in (1, 2):
        Corpus(space).record_extraction(Extraction("fake", "s", "1", calls, 1, 1, {"noise": 3}, 0.5))
    assert space.database.execute("SELECT calls, dropped FROM extractions").fetchall() == [(2, '{"noise": 3}')]


def test_the_newest_extraction_of_a_source_says_which_operators_it_dropped(space: Workspace) -> None:
    for reason in ("too-large", "excluded"):
        tally = SourceTally()
        for dropped, api in ((reason, "fake.f"), ("noise:printing", "fake.print"), (reason, "an <odd> name")):
            tally.drop(dropped, api, 2)
        kept = SourceTally.of_facts(tally.facts(), frozenset())
        Corpus(space).record_extraction(Extraction("fake", "s", "1", 6, 1, 1, kept.dropped, 0.5), kept.drops)
    assert kept.dropped == {"excluded": 4, "noise:printing": 2}
    assert space.database.execute("SELECT * FROM drops").fetchall() == [("fake", "s", "fake.f", "excluded", 2)]


# Campaigns.


def test_a_result_comes_back_as_it_went_in(space: Workspace) -> None:
    campaigns = Campaigns(space)
    campaigns.begin("c1", "fake", "fake", {"seed": 0}, {"fake": "1"})
    failing = replace(result("t1", Verdict.CRASH, "f1"), machine="m1", exporter="torch.onnx")
    campaigns.write("c1", [(1, failing), (0, result("t0"))])
    assert list(campaigns.results("c1")) == [result("t0"), failing]
    assert list(campaigns.results("c1", failures=True)) == [failing]
    assert campaigns.verdicts("c1") == {"crash": 1, "pass": 1}
    assert [campaigns.is_finished(test) for test in ("t0", "t1", "t2")] == [True, True, False]
    assert campaigns.result("t") == [result("t0"), failing]


def test_a_result_written_twice_counts_once(space: Workspace) -> None:
    campaigns = Campaigns(space)
    campaigns.begin("c1", "fake", "fake", {}, {})
    for verdict in (Verdict.CRASH, Verdict.PASS):
        campaigns.write("c1", [(0, result("t0", verdict))])
    assert campaigns.verdicts("c1") == campaigns.verdicts() == {"pass": 1}


def test_a_campaign_knows_what_was_found_before_it_began_and_only_for_its_subject(space: Workspace) -> None:
    campaigns = Campaigns(space)
    campaigns.begin("c1", "fake", "fake", {}, {})
    campaigns.write("c1", [(0, result("t0", Verdict.CRASH, "f1"))])
    assert campaigns.begin("c1", "fake", "fake", {}, {}).known == {}
    assert campaigns.begin("c2", "fake", "fake", {}, {}).known == {"f1": [result("t0").instance[:KNOWN_DIGITS]]}
    assert campaigns.begin("c3", "other", "fake", {}, {}).known == {}


def test_campaigns_share_the_results_of_the_tests_they_share(space: Workspace) -> None:
    campaigns = Campaigns(space)
    for name in ("c1", "c2"):
        campaigns.begin(name, "fake", "fake", {}, {})
    campaigns.write("c1", [(0, result("t0")), (1, result("t1"))])
    campaigns.adopt("c2", [(5, "t1")])
    assert [each.test for each in campaigns.results("c2")] == ["t1"]


def test_the_parts_of_a_campaign_add_up(space: Workspace) -> None:
    campaigns = Campaigns(space)
    campaigns.begin("c1", "fake", "fake", {}, {})
    campaigns.pause("c1", 1.5, complete=False, stopped_by="budget")
    campaigns.pause("c1", 2.0, complete=True, stopped_by=None)
    found = campaigns.get("c1")
    assert found is not None
    assert (found.seconds, found.complete, found.stopped_by) == (3.5, True, None)
    assert campaigns.get("c9") is None
    assert [each.id for each in campaigns.all()] == ["c1"]


def test_the_materialisers_answers_are_kept_and_replaced(space: Workspace) -> None:
    campaigns = Campaigns(space)
    campaigns.keep_artefacts([("k", {"status": "lost"}), ("l", {"status": "ready"})])
    campaigns.keep_artefacts([("k", {"status": "ready", "bundle": "x"})])
    assert campaigns.artefact("k") == {"status": "ready", "bundle": "x"}
    assert campaigns.artefact("m") is None


def test_a_new_ranking_replaces_places_that_belong_to_none(space: Workspace) -> None:
    corpus = Corpus(space)
    corpus.add([(big(), Occurrence("s", "t"))])
    number = corpus.add_ranking("onnx", "fake", "opera", 0, 0.1, [(digest(big()), 1.0)])
    space.database.execute("PRAGMA foreign_keys = OFF")
    space.database.execute("DELETE FROM rankings")
    assert corpus.add_ranking("onnx", "fake", "opera", 0, 0.1, [(digest(big()), 2.0)]) == number
    assert corpus.ranked(number) == [digest(big())]


def test_tables_that_contradict_each_other_are_called_damaged(space: Workspace) -> None:
    with pytest.raises(sqlite3.IntegrityError) as caught:
        space.database.executemany("INSERT INTO machines VALUES (?, ?)", [("a", "{}"), ("a", "{}")])
    assert isinstance(known := explain(caught.value), UserError)
    assert "damaged" in str(known)
