"""What `opera top` says of a status file that is not what a campaign wrote."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from instances import torch_call

from opera.cli import command
from opera.cli.options import guarded
from opera.errors import UserError
from opera.instance import Occurrence, digest
from opera.oracles.verdict import Verdict
from opera.run.status import read_status
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace

STATUS: dict[str, Any] = {
    "schema": "status/1", "state": "complete", "stopped_by": None, "campaign": "f9fb9721da17", "subject": "tvm/onnx", "shard": None,
    "pid": 7, "started": "2026-11-23T10:00:00", "updated": None, "seconds": 1.5, "tests": {"total": 3, "done": 3, "before": 0},
    "rate": {"now": 0.0, "mean": 2.0}, "seconds_left": None, "verdicts": {"pass": 2, "crash": 1}, "new_findings": 1,
    "findings": [{"finding": "ab", "api": "ai.onnx.Relu", "verdict": "crash"}],
    "workers": [
        {"label": "tvm", "role": "compiler", "pid": 8, "state": "busy", "api": "ai.onnx.Relu", "stage": "load", "seconds": 0.1,
         "resident": 1, "tasks": 2, "log": ""}
    ],
    "cost": {"stages": {"load": 1.0}, "operators": [{"api": "ai.onnx.Relu", "seconds": 1.0, "tests": 3}]}, "driver": None,
}  # fmt: skip


def shown(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = guarded(command, ["top", "--once", "--workspace", str(folder), *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_sound_status_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "status.json").write_text(json.dumps(STATUS))
    code, out, _ = shown(tmp_path, capsys)
    assert code == 0
    assert "ai.onnx.Relu" in out


DAMAGED: dict[str, bytes] = {
    "empty": b"", "cut": json.dumps(STATUS).encode()[:200], "binary": bytes(range(256)), "nested": b"[" * 100_000, "a list": b"[]",
    "null": b"null", "a number": b"3", "nothing in it": b"{}",
    "no number": json.dumps(STATUS).replace("1.5", "NaN").encode(),
    "a large number": json.dumps(STATUS).replace("1.5", "1" * 400).encode(),
    "nothing but spaces": b" " * 2**23,
}  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_status_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (tmp_path / "status.json").write_bytes(content)
    code, out, err = shown(tmp_path, capsys)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "status.json is damaged" in err


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_status_that_is_no_file_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Any) -> None:
    make(tmp_path / "status.json")
    assert shown(tmp_path, capsys)[0] == 2


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


@pytest.mark.slow
def test_wherever_a_value_is_of_another_type_it_is_refused_or_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(0)
    wrong: list[Any] = [None, True, -1, 1.5, "text", [], {}, [None], {"a": None}, [[]], 10**30, "\x1b]52;c;AAAA\x07[/red]"]
    codes = set()
    for place in places(STATUS):
        for value in wrong:
            document = copy.deepcopy(STATUS)
            inner: Any = document
            for key in place[:-1]:
                inner = inner[key]
            if chance.random() < 0.2:
                del inner[place[-1]]
            else:
                inner[place[-1]] = value
            (tmp_path / "status.json").write_text(json.dumps(document))
            code, out, err = shown(tmp_path, capsys)
            assert code in (0, 2), (place, value, err)
            assert "\x1b]" not in out + err
            codes.add(code)
    assert codes == {0, 2}


def test_another_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text(json.dumps({**STATUS, "schema": "status/9"}))
    with pytest.raises(UserError, match="another version"):
        read_status(tmp_path)


def test_the_slowest_tests_are_listed_with_their_longest_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = {"torch.a": {"load": 1.0, "run": 2.0}, "torch.b": {"export": 60.0, "run": 4.0}, "torch.c": {"load": 0.5}, "torch.d": {}}
    with open_workspace(tmp_path, write=True) as space:
        instances = {api: torch_call(api) for api in seconds}
        Corpus(space).add((each, Occurrence("hand", "test")) for each in instances.values())
        keys = {api: digest(each) for api, each in instances.items()}
        Campaigns(space).begin("f9fb", "tvm", "pytorch", {}, {})
        results = [
            StoredResult(key, key, "tvm", "pytorch", "route", "runtime", 0, Verdict.PASS, seconds=seconds[api]) for api, key in keys.items()
        ]
        Campaigns(space).write("f9fb", enumerate(results))
    code = guarded(command, ["top", "f9", "--slowest", "2", "--json", "--workspace", str(tmp_path)])
    document = json.loads(capsys.readouterr().out)
    assert (code, document["schema"], document["campaign"]) == (0, "slowest/1", "f9fb")
    assert document["tests"] == [
        {"instance": keys["torch.b"], "api": "torch.b", "verdict": "pass", "seconds": 64.0, "stage": "export", "stage_seconds": 60.0},
        {"instance": keys["torch.a"], "api": "torch.a", "verdict": "pass", "seconds": 3.0, "stage": "run", "stage_seconds": 2.0},
    ]
    assert guarded(command, ["top", "f9", "--slowest", "9", "--workspace", str(tmp_path)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["64.00", "3.00", "0.50"]
