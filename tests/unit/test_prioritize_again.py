"""A workspace that is ranked again, also when its corpus has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fake.corpora import Run, fill, runner, tensor, torch_call

from opera.compilers.registry import choose_route, plugin
from opera.prioritize.ranking import campaign_strategy, current_order
from opera.store import Corpus
from opera.store.database import open_workspace

CORPUS = [
    torch_call(f"op{api}", tensor(2, dim + 1, dtype=dtype), defaults={"dim": 0, "sizes": [1, None], "mode": "sum"}, dim=dim, mode=mode)
    for api in range(5)
    for dim in (-1, 0, 1)
    for dtype in ("float32", "int64")
    for mode in ("sum", "mean", None)
]
FIRST, LATER = CORPUS[7:], [*CORPUS[:7], torch_call("late", 1), torch_call("op1"), torch_call("op2", defaults={"dim": -1, "new": True})]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


def ranked(run: Run, folder: str, *options: str) -> list[tuple[str, str, float]]:
    """The ranking that `opera prioritize` makes in the workspace *folder*."""
    outcome = run("prioritize", "--compiler", "tvm", "--frontend", "pytorch", "--workspace", folder, "--show", "0", "--json", *options)
    assert outcome.code == 0, outcome.err
    with open_workspace(Path(folder), write=False) as space:
        corpus = Corpus(space)
        ranking = corpus.newest_ranking("pytorch", "tvm", int(options[1]) if options else 0)
        assert ranking is not None
        return corpus.placed(ranking.id)


@pytest.mark.parametrize("options", [(), ("--seed", "5")])
def test_a_workspace_that_grew_is_ranked_as_a_new_one(run: Run, options: Sequence[str]) -> None:
    fill("grown", *FIRST)
    ranked(run, "grown", *options)
    fill("grown", *LATER)
    fill("new", *FIRST, *LATER)
    assert ranked(run, "grown", *options) == ranked(run, "new", *options)


def test_what_left_the_corpus_is_not_ranked(run: Run) -> None:
    fill("ws", *CORPUS)
    ranked(run, "ws")
    gone = CORPUS[3]
    with open_workspace(Path("ws"), write=True) as space, space.transaction() as database:
        database.execute("UPDATE instances SET outcome = 'raised' WHERE api = ?", (gone.api,))
    fill("new", *(each for each in CORPUS if each.api != gone.api))
    assert ranked(run, "ws") == ranked(run, "new")


def strategy_of(folder: str) -> str:
    """The strategy of a campaign in the workspace *folder* that names none."""
    with open_workspace(Path(folder), write=True) as space:
        return campaign_strategy(Corpus(space), "tvm", choose_route(plugin("tvm").load(), "pytorch", None), 0)


def test_a_campaign_learns_unless_a_ranking_was_made_beforehand(run: Run) -> None:
    fill("ws", *FIRST)
    assert strategy_of("ws") == "opera-adaptive"
    ranked(run, "ws")
    assert strategy_of("ws") == "opera"
    fill("ws", *LATER)
    assert strategy_of("ws") == "opera"


def test_a_campaign_ranks_again_when_the_corpus_has_grown(run: Run) -> None:
    fill("ws", *FIRST)
    first = ranked(run, "ws")
    with open_workspace(Path("ws"), write=True) as space:
        corpus, route = Corpus(space), choose_route(plugin("tvm").load(), "pytorch", None)
        before = corpus.newest_ranking("pytorch", "tvm", 0)
        assert current_order(corpus, "tvm", route, "opera", 0) == [key for key, _, _ in first]
        assert corpus.newest_ranking("pytorch", "tvm", 0) == before
    fill("ws", *LATER)
    with open_workspace(Path("ws"), write=True) as space:
        corpus = Corpus(space)
        assert sorted(current_order(corpus, "tvm", route, "opera", 0)) == sorted(corpus.runnable("pytorch"))
