"""Which versions a bisection tries, and what it says of them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from opera.extensions.versions.search import Outcome, Search, State

LETTERS = {"b": State.BAD, "g": State.GOOD, "o": State.OTHER, "u": State.UNRUNNABLE}


def searched(truth: str, every: bool | None = False, seconds: float = 0.0) -> Search:
    """The search among versions 0, 1, 2 ... that show *truth*, a letter for each, at its end."""
    search = Search([str(index) for index in range(len(truth))], every)
    while wanted := search.wanted():
        for version in wanted:
            assert version not in search.outcomes
            search.outcomes[version] = Outcome(LETTERS[truth[int(version)]], "", seconds)
    return search


def test_halving_finds_one_change_and_tries_both_its_neighbours() -> None:
    for count in range(2, 40):
        for first in range(1, count):
            search = searched("g" * first + "b" * (count - first))
            assert search.answer.text == f"since {first} (last good {first - 1})"
            assert {str(each) for each in (first - 2, first - 1, first, first + 1) if 0 <= each < count} <= set(search.outcomes)
            assert len(search.outcomes) <= count.bit_length() + 4


def test_trying_every_version_says_what_they_all_show() -> None:
    draw = random.Random(0)
    for _ in range(200):
        truth = "".join(draw.choice("bgou") for _ in range(draw.randint(2, 12)))
        search = searched(truth, every=True)
        assert "".join(outcome.state.value[0] for _, outcome in search.answer.tried) == truth
        decided = [each for each in truth if each in "bg"]
        changes = search.answer.changes
        assert len(changes) == sum(one != other for one, other in pairwise(decided)) + bool(decided)
        assert all(one.state is not other.state for one, other in pairwise(changes))


def test_cheap_steps_are_taken_for_every_version_and_dear_ones_are_not() -> None:
    assert len(searched("g" * 10 + "b" * 10, None, 1.0).outcomes) == 20
    assert len(searched("g" * 10 + "b" * 10, None, 9.0).outcomes) < 10


@pytest.mark.parametrize("truth", ["uubbu", "ogbbo", "ggbbg", "gggbg", "uuuub", "ooboo"])
def test_halving_does_not_end_before_a_bad_version_is_found(truth: str) -> None:
    """The finding is there: versions that show the same at both ends say nothing of those between them."""
    search = searched(truth, None, 9.0)
    assert any(outcome.state is State.BAD for outcome in search.outcomes.values()), search.answer.runs
    assert "no version" not in search.answer.text


def test_no_version_is_said_to_show_it_before_all_were_tried() -> None:
    for truth in ("ggggggg", "ugugogu"):
        search = searched(truth, None, 9.0)
        assert set(search.outcomes) == set(search.versions)


def test_a_version_that_cannot_run_is_never_good() -> None:
    search = searched("uuuuubbbb")
    assert search.answer.text == "in 5 or earlier (older ones cannot run it)"
    assert not any(change.state is State.GOOD for change in search.answer.changes)
    assert searched("ggubb", every=True).answer.text == "since 3 (last good 1)"
    assert searched("uuu", every=True).answer.text == "no version shows it: 0 of 3 are good"


@pytest.mark.parametrize(
    ("truth", "text", "runs"),
    [
        ("bbb", "in 0 or earlier", "bad 0 to 2"),
        ("obb", "in 1 (older ones fail otherwise)", "other 0, bad 1 to 2"),
        ("gbg", "since 1 (last good 0), fixed in 2 (last bad 1)", "good 0, bad 1, good 2"),
        ("bgb", "in 0 or earlier, fixed in 1 (last bad 0), came back in 2 (last good 1)", "bad 0, good 1, bad 2"),
        ("ggg", "no version shows it: 3 of 3 are good", "good 0 to 2"),
    ],
)
def test_the_answer_in_words(truth: str, text: str, runs: str) -> None:
    answer = searched(truth, every=True).answer
    assert (answer.text, answer.runs) == (text, runs)
