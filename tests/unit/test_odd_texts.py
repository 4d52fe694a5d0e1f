"""Words that once said something else than what had happened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from instances import node, tensor, torch_call
from reporting import fill

from opera.cli import command
from opera.cli.options import guarded
from opera.difftest.judge import headline
from opera.difftest.messages import NOTHING_COMPARED, REJECTED
from opera.difftest.settings import Settings
from opera.instance import Instance, Occurrence, Outcome
from opera.oracles.verdict import Verdict
from opera.report.terminal import accepted_line
from opera.run.campaign import Summary
from opera.run.status import Status, running_campaign
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class IdlePool:
    """A pool without workers."""

    def workers(self) -> list[object]:
        return []

    def jobs(self) -> list[object]:
        return []


def test_a_campaign_is_called_running_while_its_process_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
        (other, *_) = [each.id for each in Campaigns(space).all() if not each.complete]
    status = Status(Path("ws"), Settings("openvino", "onnx"), IdlePool())  # type: ignore[arg-type]
    status.began(other, 9, {}, 0)
    assert running_campaign(Path("ws").resolve()) == other
    assert guarded(command, ["ls", "--workspace", "ws"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(other))
    assert "running" in line
    text = Path("ws/status.json").read_text().replace(f'"pid": {os.getpid()}', '"pid": 4194999')
    Path("ws/status.json").write_text(text)
    assert running_campaign(Path("ws")) is None
    assert guarded(command, ["ls", "--workspace", "ws"]) == 0
    assert "running" not in next(line for line in capsys.readouterr().out.splitlines() if line.startswith(other))


@pytest.mark.parametrize(
    ("cause", "detail", "says"),
    [
        ("deadline", "5 s", "no answer within 5 s"), ("memory", "4 GiB", "more than 4 GiB resident"),
        ("signal", "SIGSEGV", "the process ended with SIGSEGV"), ("exit", "code 3", "the process ended with code 3"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verdict", [Verdict.HANG, Verdict.OOM, Verdict.ABORT, Verdict.INVALID])
def test_the_end_of_a_process_is_told_by_its_cause(verdict: Verdict, cause: str, detail: str, says: str) -> None:
    assert headline(verdict, {"lost": {"cause": cause, "detail": detail}}, "tvm") == says


@pytest.mark.parametrize("strategy", ["opera", "opera-adaptive"])
@pytest.mark.parametrize(
    ("instances", "says"), [((), "has no pytorch instances"), ((1,), "1 instance of pytorch, and the library refused")]
)
def test_a_workspace_of_refused_calls_says_so(
    strategy: str, instances: tuple[int, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = [Instance(**{**vars(torch_call("torch.add", tensor([1.0]))), "outcome": Outcome.RAISED}) for _ in instances]
    with open_workspace(Path("ws"), write=True) as space:
        Corpus(space).add((each, Occurrence("s", "t")) for each in (*refused, node("Relu", 14, X=tensor([1.0]))))
    words = ["prioritize", "--compiler", "tvm", "--frontend", "pytorch", "--strategy", strategy, "--workspace", "ws"]
    assert guarded(command, words) == 4
    assert says in capsys.readouterr().err


def test_what_passes_without_a_comparison_is_not_called_the_librarys_result() -> None:
    assert "compares no results" in accepted_line(3, NOTHING_COMPARED)
    assert "rejects their ill-typed models" in accepted_line(1, REJECTED)


def test_a_campaign_of_which_no_test_passed_or_failed_is_silent() -> None:
    def summary(**verdicts: int) -> Summary:
        return Summary("c", 3, 3, 1.0, verdicts, 0, 0, 0, 0, {}, True, None, {})

    assert summary(unsupported=1, invalid=1, undefined=1, flaky=1).is_silent
    assert not any(summary(unsupported=2, **{each: 1}).is_silent for each in ("pass", "crash", "abort", "hang", "oom", "inconsistent"))
