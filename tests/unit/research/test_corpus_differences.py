"""The promises of `opera diff`: comparisons of two corpora."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.corpora import BIG, VARIOUS, Run, fill, runner, torch_call

from opera.store import Corpus
from opera.store.corpus import Extraction
from opera.store.database import open_workspace


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command of `opera` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


def test_diff_lists_what_is_new_gone_and_changed_and_which_defaults_moved(run: Run) -> None:
    fill("a", *VARIOUS[:3], torch_call("f", 1, defaults={"p": 0, "q": 1}), torch_call("f", 2, defaults={"p": 0, "q": 1}))
    fill("b", *VARIOUS[1:4], torch_call("f", 2, defaults={"p": False, "r": None}), torch_call("f", 3, defaults={"p": False, "r": None}))
    fill("b", torch_call("f", 4))
    found = run("diff", "a", "b", "--json")
    assert found.code == 0
    assert found.json["a"] == {"path": "a", "instances": 5, "operators": 4, "sources": [], "problems": 0}
    assert found.json["libraries"] == [
        {
            "library": "pytorch", "operators": {"new": 1, "gone": 1, "common": 3}, "instances": {"new": 3, "gone": 2, "common": 3},
            "new": [{"api": "torch.index", "instances": 1}], "gone": [{"api": "torch.add", "instances": 1}],
            "changed": [{"api": "torch.f", "a": 2, "b": 3, "new": 2, "gone": 1}],
            "defaults": [
                {"api": "torch.f", "parameter": "p", "a": "0", "b": "false"}, {"api": "torch.f", "parameter": "q", "a": "1", "b": None},
                {"api": "torch.f", "parameter": "r", "a": None, "b": "null"},
            ],
        }
    ]  # fmt: skip
    table = run("diff", "a", "b").out
    assert all(title in table for title in ("new operators", "gone operators", "changed operators", "changed defaults"))


def test_diff_takes_files_and_workspaces_alike_and_names_versions(run: Run) -> None:
    fill("a", *VARIOUS)
    fill("b", *VARIOUS[2:], BIG)
    with open_workspace(Path("a"), write=True) as space:
        Corpus(space).record_extraction(Extraction("pytorch", "suite", "2.13.0", 3, 1, 1, {}, 0.1))
    for name in ("a", "b"):
        run("export", "jsonl", f"{name}.jsonl", "--workspace", name)
    expected = run("diff", "a", "b", "--json").json["libraries"]
    assert expected[1]["instances"] == {"new": 0, "gone": 2, "common": 4}
    for pair in (("a.jsonl", "b"), ("a", "b.jsonl"), ("a.jsonl", "b.jsonl")):
        assert run("diff", *pair, "--json").json["libraries"] == expected
    assert "pytorch/suite 2.13.0" in run("diff", "a", "b").out
    assert "pytorch/suite 2.13.0" in run("diff", "a.jsonl", "b").out


def test_diff_narrows_down_and_refuses_what_is_not_there(run: Run) -> None:
    fill("a", *VARIOUS)
    fill("b", *VARIOUS[1:])
    (only,) = run("diff", "a", "b", "--lib", "onnx", "--json").json["libraries"]
    assert only["operators"] == {"new": 0, "gone": 0, "common": 1}
    assert run("diff", "a", "b", "-k", "add", "--json").json["libraries"][0]["gone"] == [{"api": "torch.add", "instances": 1}]
    assert run("diff", "a", "b", "--lib", "keras").code == 4
    missing = run("diff", "a", "nowhere")
    assert (missing.code, missing.out) == (2, "")
    assert "nowhere does not exist" in missing.err
