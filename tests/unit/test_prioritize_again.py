"""A workspace that is ranked again: what was read of its instances is kept, and changes no ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fake.corpora import Run, fill, runner, tensor, torch_call

from opera.compilers.registry import choose_route, plugin
from opera.instance import Instance
from opera.prioritize import kept_features
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


def features(folder: str) -> Path:
    return Path(folder) / "cache" / "features-pytorch"


def read_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Will have the instances that are read from a workspace from now on."""
    found: list[str] = []
    get = Corpus.get

    def note(self: Corpus, key: str) -> Instance:
        found.append(key)
        return get(self, key)

    monkeypatch.setattr(Corpus, "get", note)
    return found


@pytest.mark.parametrize("options", [(), ("--seed", "5")])
def test_a_workspace_that_grew_is_ranked_as_a_new_one_and_only_what_is_new_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: Sequence[str]
) -> None:
    fill("grown", *FIRST)
    ranked(run, "grown", *options)
    fill("grown", *LATER)
    fill("new", *FIRST, *LATER)
    expected = ranked(run, "new", *options)
    read = read_of(monkeypatch)
    assert ranked(run, "grown", *options) == expected
    assert len(read) == len(LATER)
    read.clear()
    assert ranked(run, "grown", *options) == expected
    assert read == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_text(path: Path) -> None:
    path.write_text("no features at all, but long enough to have a head")


@pytest.mark.parametrize("damage", [cut, flip, empty, replace_by_text, Path.unlink])
def test_what_is_kept_can_be_damaged_or_deleted(run: Run, damage: Callable[[Path], None]) -> None:
    fill("ws", *CORPUS)
    expected = ranked(run, "ws")
    damage(features("ws"))
    assert ranked(run, "ws") == expected
    assert features("ws").stat().st_size > 1000


def test_what_another_version_has_read_is_read_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fill("ws", *CORPUS)
    expected = ranked(run, "ws")
    monkeypatch.setattr(kept_features, "_version", lambda: "another")
    read = read_of(monkeypatch)
    assert ranked(run, "ws") == expected
    assert len(read) == len(CORPUS)


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
