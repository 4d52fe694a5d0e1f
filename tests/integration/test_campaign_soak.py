"""A long campaign, in which every hundredth test ends its process, leaves nothing on the machine."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from fake.harness import Lab, instance

TESTS = 10_000
MISBEHAVING = ("abort", "segfault", "children", "detached", "litter", "raise")
SHARED = Path("/dev/shm")


def in_use() -> str:
    """The memory maps of all living processes."""
    texts: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            texts.append(entry.read_text(errors="replace"))
    return "\n".join(texts)


@pytest.mark.slow
def test_ten_thousand_tests_leave_no_process_no_file_and_no_shared_memory(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    before = {path.name for path in SHARED.iterdir()}
    lab.add(
        *(instance("plain", number=number) for number in range(TESTS - TESTS // 100)),
        *(instance("odd", MISBEHAVING[number % len(MISBEHAVING)], number=number) for number in range(TESTS // 100)),
    )
    stdout, _ = lab.start("--compiler", "fake", "--frontend", "fake", "-j", "2", "--json").communicate()
    assert json.loads(stdout)["executed"] == TESTS
    assert list(temporary.iterdir()) == []
    assert lab.scratch() == []
    assert list(lab.workspace.rglob(".part-*")) == []
    mark = f"OPERA_DRIVER={lab.drivers[0]}".encode()
    assert not [entry for entry in Path("/proc").glob("[0-9]*") if mark in environment_of(entry)]
    used = in_use()
    assert [path.name for path in SHARED.iterdir() if path.name not in before and str(path) not in used] == []


def environment_of(process: Path) -> list[bytes]:
    """The environment of a process; empty when it is gone."""
    with suppress(OSError):
        return (process / "environ").read_bytes().split(b"\0")
    return []
