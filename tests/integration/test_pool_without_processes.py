"""The pool without processes gives each test the result that workers give it, and refuses what only processes survive."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.harness import GENTLE, Lab, essence, instance

OF_A_LIBRARY = (
    "rejects", "undefined", "imprecise", "on-the-edge", "captured-wrong", "capture-fails", "export-fails", "export-flaky", "export-aborts",
)  # fmt: skip
OF_BOTH = ("raise", "panic", "abort", "exit-0", "library-abort-once")


def filled(folder: Path) -> Lab:
    lab = Lab(folder)
    lab.add(
        *(instance(name, name) for name in sorted(GENTLE - {*OF_A_LIBRARY, "library-abort-once", "no-space"})),
        *(instance(f"library-{name}", library=name) for name in (*OF_A_LIBRARY, *OF_BOTH)),
        *(instance(f"{stage}-{name}", name, stage=stage) for stage in ("optimize", "run") for name in ("raise", "abort")),
    )
    return lab


@pytest.mark.slow
def test_each_test_has_the_result_of_a_campaign_with_processes(tmp_path: Path) -> None:
    ours, theirs = filled(tmp_path / "ours"), filled(tmp_path / "theirs")
    one, other = ours.run("--strategy", "opera", jobs=1), theirs.run_in_processes("--strategy", "opera", jobs=1, timeout="30s")
    assert essence(ours.stored()) == essence(theirs.stored())
    assert {**one.json, "seconds": 0} == {**other.json, "seconds": 0}
    assert one.code == other.code == 1


@pytest.mark.parametrize("behaviour", ["segfault", "hang", "leak", "children"])
def test_a_campaign_that_only_processes_survive_is_refused(lab: Lab, behaviour: str) -> None:
    lab.add(instance("wild", behaviour))
    with pytest.raises(AssertionError, match="use run_in_processes"):
        lab.run()


def test_nothing_left_behind_is_no_answer_where_there_were_no_processes(lab: Lab) -> None:
    lab.add(instance("pass"))
    lab.run()
    with pytest.raises(AssertionError, match="no command had a process"):
        lab.left_behind()
