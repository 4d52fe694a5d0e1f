"""A report of very many results is small enough to open; `benchmarks/bench_findings.py` measures how soon it is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reporting import Tags, failure, fill, relu

from opera.cli import command
from opera.cli.options import guarded
from opera.instance import Occurrence, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace


@pytest.mark.slow
def test_a_hundred_thousand_results_stay_under_ten_megabytes(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "ws", write=True) as space:
        fill(space)
        corpus = [relu(size) for size in range(10, 2_010)]
        Corpus(space).add((each, Occurrence("node-tests", f"test_relu_{index}")) for index, each in enumerate(corpus))
        keys = [digest(each) for each in corpus]
        detail = failure("<" * 3_000)
        detail["failure"]["frames"] *= 20

        def results() -> Iterator[tuple[int, StoredResult]]:
            for index in range(100_000):
                outcome = (Verdict.PASS, None, None, "Relu", None, {})
                if index % 8 == 0:
                    outcome = (Verdict.CRASH, Stage.LOAD, None, "Relu", f"{index:016x}", detail)
                yield index, StoredResult(f"f{index:063x}", keys[index % len(keys)], "tvm", "onnx", "onnx", "runtime", 0, *outcome)

        Campaigns(space).write("aaaaaaaaaaaa", results())
    assert guarded(command, ["report", "--html", str(tmp_path / "page.html"), "--workspace", str(tmp_path / "ws"), "--no-scripts"]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 10_000_000
    assert "more findings not shown, because the page is full" in text
    assert "Details not shown, because the page is full" in text
    Tags(text)
