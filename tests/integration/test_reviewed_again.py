"""A campaign under another revision of the review: failures are reviewed again, compilers do not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from opera.oracles.verdict import Verdict
from opera.store import Campaigns
from opera.store.database import open_workspace
from tests.fake.harness import Lab, instance

_REVIEW = "OPERA_FAKE_REVIEW"
"""Read when the fake library is imported: each campaign needs an interpreter that starts, as a further folder on the path makes one."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path / "lab")
    lab.add(
        instance("plain"),
        instance("wrong", "lie-value"),
        instance("edge", "lie-value", library="on-the-edge"),
        instance("raises", "raise"),
    )
    return lab


def _verdicts(lab: Lab) -> dict[str, tuple[Verdict, str | None]]:
    """Verdict and reason by operator, in the newest campaign."""
    with open_workspace(lab.workspace, write=False) as space:
        campaigns = Campaigns(space)
        newest = max(campaigns.all(), key=lambda each: each.versions["review"])
        names = {row[0]: row[1] for row in space.database.execute("SELECT id, operator FROM instances")}
        return {names[each.instance]: (each.verdict, each.reason) for each in campaigns.results(newest.id)}


def _compilations(lab: Lab) -> int:
    return sum(1 for event in lab.journal() if (event.what, event.edge) == ("compile", "begin") and event.api != "fake.canary")


@pytest.mark.parametrize(
    ("before", "after"),
    [pytest.param("1", "2", id="excused-before", marks=pytest.mark.slow), pytest.param("2", "3", id="excused-after")],
)
def test_only_the_review_runs_again(lab: Lab, monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    excused, wrong = (Verdict.UNDEFINED, "ill-conditioned"), (Verdict.INCONSISTENT, None)
    expected = {"1": excused, "2": wrong, "3": excused}
    monkeypatch.setenv(_REVIEW, before)
    lab.run_in_processes(extra_path=lab.folder)
    assert _verdicts(lab)["edge"] == expected[before]
    runs = _compilations(lab)
    assert runs
    monkeypatch.setenv(_REVIEW, after)
    outcome = lab.run_in_processes(extra_path=lab.folder)
    assert outcome.code == (1 if expected[after] == wrong else 0), outcome.stderr
    assert _verdicts(lab) == {
        "plain": (Verdict.PASS, None),
        "wrong": wrong,
        "edge": expected[after],
        "raises": (Verdict.CRASH, None),
    }
    assert _compilations(lab) == runs


@pytest.mark.slow
def test_a_compiler_runs_again_where_the_cache_lost_its_outputs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_REVIEW, "1")
    lab.run_in_processes(extra_path=lab.folder)
    runs = _compilations(lab)
    for file in (lab.workspace / "cache").rglob("*"):
        if file.is_file():
            file.unlink()
    monkeypatch.setenv(_REVIEW, "2")
    lab.run_in_processes(extra_path=lab.folder)
    assert _verdicts(lab)["edge"] == (Verdict.INCONSISTENT, None)
    assert _compilations(lab) > runs
