"""What extraction promises, with real hosts in real child processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import opera.extract.source as source_module
from opera.errors import EnvironmentBroken, UserError
from opera.extract import (
    Again,
    ExtractOptions,
    Item,
    LibraryDescription,
    Progress,
    Recorded,
    Request,
    SourceDescription,
    SourceSummary,
    describe,
    extract,
    libraries,
    recording,
    shards,
)
from opera.instance import Kind

DOCUMENT = '{"schema": "instance/1", "library": "onnx", "api": "a.Op%d", "kind": "node", "call": []}'
LINE = f'{{"instance": {DOCUMENT}, "source": "fake", "test": "t%d"}}'


def run(scratch: Path, library: str = "onnx", sources: list[str] | None = None, progress: Any = None, **how: Any) -> list[Item]:
    return list(extract(library, scratch=scratch, sources=sources, how=ExtractOptions(**how), progress=progress))


def recorded(items: list[Item]) -> list[Recorded]:
    return [item for item in items if isinstance(item, Recorded)]


def summary(items: list[Item]) -> SourceSummary:
    (found,) = [item for item in items if isinstance(item, SourceSummary)]
    return found


class Script:
    """A source of a third party: a small Python program that writes a recording."""

    library = "onnx"
    name = "fake"

    def __init__(self, body: str, stall: float = 30.0, timeout: float = 60.0) -> None:
        self.description = SourceDescription("fake", "fake", "for tests", shards=4, stall=stall, timeout=timeout)
        self._body = body

    def command(self, request: Request) -> list[str]:
        head = "import os, signal, subprocess, sys, time\nafter, path, shard = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])\n"
        head += f"LINE = {LINE!r}\nout = open(path, 'w', buffering=1)\n"
        head += "def say(text): out.write(text + '\\n')\n"
        head += """say('{"recording": 1, "library": "onnx", "version": "1", "source": "fake"}')\n"""
        return [request.python, "-c", head + self._body, str(request.after), str(request.recording), str(request.shard)]


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(source: Any) -> None:
        class Entry:
            name = "fake"
            value = "fake:Source"

            def load(self) -> Any:
                if isinstance(source, Exception):
                    raise source
                return source

        monkeypatch.setattr(source_module, "entry_points", lambda group: [Entry()])

    return install


FIVE_ENTRIES = """
for number in range(5):
    if number <= after: continue
    say('{"entry": %d, "name": "entry%d"}' % (number, number))
    say(LINE % (number, number))
    if number == 2: REACTION
    say(LINE % (10 + number, number))
say('{"calls": {"fake": 10}}')
"""


# Descriptions


@pytest.mark.parametrize("library", libraries())
def test_every_checked_in_description_is_valid_and_every_exception_has_a_reason(library: str) -> None:
    description = describe(library)
    assert description.library == library
    assert description.sources
    assert all(len(row.reason) > 10 for row in description.noise)
    assert all(len(row.reason) > 10 for source in description.sources for row in source.exclude)


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ('[[noise]]\ngroup = "g"\napis = ["a"]\n', "lib.toml: noise row 1: 'reason' is missing"),
        ('[[noise]]\ngroup = "g"\napis = ["a"]\nreason = "  "\n', "lib.toml: noise row 1: 'reason' must be a non-empty text"),
        ('[[noise]]\ngroup = "g"\napis = ["a"]\nreason = "r"\nreasn = "r"\n', "did you mean 'reason'"),
        ('[[source]]\nname = "s"\nhost = "nowhere"\nsummary = "s"\n', "lib.toml: source row 1: instrumentation/hosts has no host"),
        ('[[source]]\nname = "s"\nhost = "opinfo"\nsummary = "s"\nshards = "two"\n', "source row 1: 'shards' must be a positive number"),
        ("= 1", "lib.toml: not a TOML file"),
    ],
)
def test_a_malformed_description_is_reported_with_file_and_row(tmp_path: Path, addition: str, message: str) -> None:
    (tmp_path / "lib.toml").write_text(f'schema = 1\nlibrary = "lib"\nmodules = ["lib"]\ninstall = "pip install lib"\n{addition}')
    with pytest.raises(UserError, match=r".") as error:
        describe("lib", tmp_path)
    assert message in str(error.value)


def test_unknown_names_are_answered_with_the_nearest_and_all_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'pytorhc' .did you mean 'pytorch'.*choose one of: .*onnx"):
        run(tmp_path, "pytorhc")
    with pytest.raises(UserError, match=r"'opinof' .did you mean 'opinfo'"):
        run(tmp_path, "pytorch", sources=["opinof"])
    with pytest.raises(UserError, match=r"'dtype' .did you mean 'dtypes'"):
        run(tmp_path, "pytorch", options={"dtype": "int8"})


def test_an_interpreter_without_the_library_is_answered_with_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {os.path.realpath(sys.executable)} -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(EnvironmentBroken, match=r"no module torch.*pip install"):
        run(tmp_path, "pytorch", python=str(bare))
    with pytest.raises(EnvironmentBroken, match="cannot start"):
        run(tmp_path, "pytorch", python=str(tmp_path / "absent"))


# Real libraries


@pytest.mark.slow
def test_onnx_node_tests(tmp_path: Path) -> None:
    seen: list[Progress] = []
    items = run(tmp_path, only=["test_add*", "test_gelu_*"], progress=seen.append, options={"inner": "no"})
    assert {item.instance.api for item in recorded(items)} == {"ai.onnx.Add", "ai.onnx.Gelu"}
    assert {item.instance.kind for item in recorded(items)} == {Kind.NODE, Kind.GRAPH}
    assert all(item.occurrence.test.startswith("node-tests::test_") for item in recorded(items))
    assert summary(items).calls >= summary(items).distinct == len(recorded(items))
    assert seen[-1].shards_done == seen[-1].shards == 1
    assert not list(tmp_path.rglob("*.jsonl")), "recordings that were read to the end are removed"


OPINFO: dict[str, Any] = {"sources": ["opinfo"], "only": ["clamp", "nn.functional.conv1d", "gather", "nn.functional.dropout", "matmul"]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    return run(tmp_path_factory.mktemp("whole"), "pytorch", jobs=1, **OPINFO)


@pytest.mark.slow
def test_opinfo_covers_the_dtypes_and_counts_noise(whole: list[Item]) -> None:
    found = recorded(whole)
    assert {"torch.clamp", "torch.gather", "torch.matmul", "torch.nn.functional.conv1d"} <= {item.instance.api for item in found}
    dtypes = {tensor.dtype for item in found for tensor in item.instance.tensors()}
    assert dtypes >= {"float32", "float64", "int64", "bool"}
    assert found[0].occurrence.test.startswith("opinfo::")
    assert not summary(whole).failed_shards


def test_each_digest_comes_once_and_further_occurrences_refer_to_it(whole: list[Item]) -> None:
    known: set[str] = set()
    for item in whole:
        if isinstance(item, Recorded):
            assert item.digest not in known
            known.add(item.digest)
        elif isinstance(item, Again):
            assert item.digest in known
    calls = sum(item.occurrence.calls for item in whole if isinstance(item, (Recorded, Again)))
    assert calls + sum(summary(whole).dropped.values()) == summary(whole).calls


@pytest.mark.slow
def test_two_shards_give_the_corpus_of_one_value_for_value(whole: list[Item], tmp_path: Path) -> None:
    parts = run(tmp_path, "pytorch", jobs=2, **OPINFO)
    assert [(item.digest, item.instance) for item in recorded(parts)] == [(item.digest, item.instance) for item in recorded(whole)]


@pytest.mark.slow
def test_moduleinfo_builds_and_calls_modules(tmp_path: Path) -> None:
    items = run(tmp_path, "pytorch", sources=["moduleinfo"], only=["torch.nn.Linear", "torch.nn.BatchNorm1d"])
    assert {item.instance.api for item in recorded(items)} == {"torch.nn.Linear", "torch.nn.BatchNorm1d"}
    assert {item.instance.kind for item in recorded(items)} == {Kind.MODULE}
    modes = {item.instance.context_value("training") for item in recorded(items) if item.instance.operator == "BatchNorm1d"}
    assert modes == {True, False}


# Hosts that misbehave


@pytest.mark.parametrize(
    ("reaction", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("print('the last words', flush=True); sys.exit(9)", "exit code 9"),
        ("time.sleep(600)", "no progress for 0.5 s"),
    ],
)
def test_a_host_that_dies_is_reported_its_records_are_kept_and_the_rest_still_runs(
    tmp_path: Path, plug: Any, reaction: str, cause: str
) -> None:
    plug(Script(FIVE_ENTRIES.replace("REACTION", reaction), stall=0.5))
    items = run(tmp_path, sources=["fake"])
    assert [item.instance.api for item in recorded(items)] == [f"a.Op{n}" for n in (0, 10, 1, 11, 2, 3, 13, 4, 14)]
    (failure,) = summary(items).failed_shards
    assert (failure.cause, failure.entry, failure.resumed, failure.shard) == (cause, "entry2", True, "0/1")
    assert "last words" in failure.log or "exit" not in cause


MANY_ENTRIES = """
for number in range(NUMBER):
    if number <= after: continue
    say('{"entry": %d, "name": "entry%d"}' % (number, number))
    if number % EVERY == 0: os._exit(9)
    say(LINE % (number, number))
say('{"calls": {"fake": 10}}')
"""


@pytest.mark.slow
def test_hosts_that_get_on_are_replaced_for_as_long_as_it_takes(tmp_path: Path, plug: Any) -> None:
    plug(Script(MANY_ENTRIES.replace("NUMBER", "60").replace("EVERY", "2")))
    items = run(tmp_path, sources=["fake"])
    assert [item.instance.api for item in recorded(items)] == [f"a.Op{n}" for n in range(1, 60, 2)]
    assert len(summary(items).failed_shards) == 30
    assert all(failure.resumed for failure in summary(items).failed_shards)


def test_a_source_whose_every_entry_kills_its_host_is_given_up(tmp_path: Path, plug: Any) -> None:
    plug(Script(MANY_ENTRIES.replace("NUMBER", "60").replace("EVERY", "1")))
    failures = summary(run(tmp_path, sources=["fake"])).failed_shards
    assert [failure.entry for failure in failures] == [f"entry{n}" for n in range(21)]
    assert [failure.resumed for failure in failures] == [True] * 20 + [False]


def test_the_hosts_of_one_shard_are_not_replaced_without_end(tmp_path: Path, plug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "RESTARTS", 4)
    plug(Script(MANY_ENTRIES.replace("NUMBER", "60").replace("EVERY", "2")))
    failures = summary(run(tmp_path, sources=["fake"])).failed_shards
    assert [failure.resumed for failure in failures] == [True] * 4 + [False]


def test_a_host_past_its_time_is_killed_with_everything_that_it_started(tmp_path: Path, plug: Any) -> None:
    body = "child = subprocess.Popen(['sleep', '600'])\nopen(os.path.dirname(path) + '/pid', 'w').write(str(child.pid))\n"
    body += "while True:\n    say(LINE % (1, 1)); time.sleep(0.05)\n"
    plug(Script(body, timeout=1.0))
    items = run(tmp_path, sources=["fake"])
    assert summary(items).failed_shards[0].cause == "longer than 1 s"
    assert summary(items).distinct == 1
    assert not alive(int((tmp_path / "fake" / "pid").read_text()))


def test_closing_the_extraction_leaves_no_process(tmp_path: Path, plug: Any) -> None:
    plug(Script("open(os.path.dirname(path) + '/pid', 'w').write(str(os.getpid()))\nsay(LINE % (1, 1)); time.sleep(600)\n"))
    items: Iterator[Item] = extract("onnx", scratch=tmp_path, sources=["fake"])
    assert isinstance(next(items), Recorded)
    items.close()
    assert not alive(int((tmp_path / "fake" / "pid").read_text()))


def test_half_a_line_and_garbage_are_counted_and_break_nothing(tmp_path: Path, plug: Any) -> None:
    plug(
        Script(
            'say(LINE % (1, 1)); say(\'not json\'); say(\'{"instance": {}, "test": "t"}\')\nout.write(\'{"instance": {"sch\'); out.flush()'
        )
    )
    items = run(tmp_path, sources=["fake"])
    assert len(recorded(items)) == 1
    assert dict(summary(items).dropped) == {"malformed-instance": 1, "malformed-line": 1}
    assert summary(items).failed_shards[0].cause == "ended without finishing its recording"


@pytest.mark.parametrize("damage", ["x" * 3000, ""], ids=["too-large", "cut-off"])
def test_an_instance_that_cannot_be_read_keeps_its_number(tmp_path: Path, plug: Any, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    """Otherwise the calls of all later instances would be counted for others."""
    monkeypatch.setattr(recording, "MAX_LINE", 1000)
    plug(Script(f"""say(LINE % (0, 0)); say('{{"instance": {damage}'); say(LINE % (2, 2))
for number in (1, 2): say('{{"again": %d, "test": "late%d", "calls": 5}}' % (number, number))
say('{{"calls": {{"fake": 13}}}}')
"""))  # fmt: skip
    items = run(tmp_path, sources=["fake"])
    first, second = recorded(items)
    assert [each.instance.api for each in (first, second)] == ["a.Op0", "a.Op2"]
    (again,) = [each for each in items if isinstance(each, Again)]
    assert (again.digest, again.occurrence.test, again.occurrence.calls) == (second.digest, "late2", 5)
    assert dict(summary(items).dropped) == {"malformed-line": 6}
    assert summary(items).calls == 13


def test_further_calls_of_what_is_no_instance_are_dropped_as_the_first_was(tmp_path: Path, plug: Any) -> None:
    plug(Script("""say('{"instance": {}, "test": "t"}'); say('{"again": 0, "test": "late", "calls": 5}')"""))
    assert dict(summary(run(tmp_path, sources=["fake"])).dropped) == {"malformed-instance": 6}


def test_hosts_run_apart_from_the_user(tmp_path: Path, plug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    body = "names = ['PYTHONHASHSEED', 'OMP_NUM_THREADS', 'CUDA_VISIBLE_DEVICES']\n"
    body += (
        "print([os.environ[n] for n in names], os.getsid(0) == os.getpid(), os.listdir('.'), sys.stdin.read(), flush=True); sys.exit(3)\n"
    )
    plug(Script(body))
    assert "['0', '1', ''] True [] " in summary(run(tmp_path, sources=["fake"])).failed_shards[0].log


@pytest.mark.alone
def test_more_shards_than_jobs_take_turns(tmp_path: Path, plug: Any) -> None:
    plug(Script('time.sleep(0.2); say(\'{"entry": %d, "name": "e"}\' % shard); say(LINE % (shard, 1)); say(\'{"calls": {"fake": 1}}\')\n'))
    began = time.monotonic()
    items = run(tmp_path, sources=["fake"], jobs=4)
    assert [item.instance.api for item in recorded(items)] == ["a.Op0", "a.Op1", "a.Op2", "a.Op3"]
    assert time.monotonic() - began < 10


def test_a_third_partys_source_that_does_not_load_breaks_nothing_else(tmp_path: Path, plug: Any) -> None:
    plug(ImportError("no module named gone"))
    with pytest.raises(EnvironmentBroken, match=r"'fake'.*does not load.*gone"):
        run(tmp_path, sources=["fake"])
    description: LibraryDescription = describe("onnx")
    assert "node-tests" in source_module.sources_of(description)


def alive(pid: int) -> bool:
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True
