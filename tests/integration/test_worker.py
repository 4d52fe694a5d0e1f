"""Workers: the protocol, and what the driver's half promises of one child, whatever that child does."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake.harness
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import opera.difftest.specs  # noqa: F401  (says what the roles may answer)
from opera.workers import messages, processes
from opera.workers.failure import MAX_FRAMES, MAX_TEXT, cut, describe
from opera.workers.process import Broken, Done, Event, Limits, Lost, Raised, Ready, Worker, WorkerSpec
from opera.workers.processes import adopt_orphans, descendants, kill_orphans, resident
from opera.workers.program import passed_on
from opera.workers.protocol import MAX_MESSAGE, ProtocolError, Reader, pack, write_all
from opera.workers.session import session

FAKE = Path(fake.harness.__file__).parent


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        try:
            os.close(descriptor)
        except OSError:
            continue


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


DECODERS = pytest.mark.parametrize("decode", [json.loads, messages.parsed], ids=["trusting", "careful"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(st.lists(st.dictionaries(st.text(st.characters()), JSON, max_size=4), max_size=4), st.integers(1, 50))
def test_messages_arrive_as_they_were_sent_however_the_bytes_are_split(sent: list[dict[str, Any]], step: int) -> None:
    read, write = os.pipe()
    reader = Reader(read, messages.parsed)
    data = b"".join(map(pack, sent))
    arrived = []
    for start in range(0, len(data), step):
        os.write(write, data[start : start + step])
        reader.feed()
        while (message := reader.next()) is not None:
            arrived.append(message)
    os.close(write)
    os.close(read)
    assert arrived == sent


@DECODERS
def test_lone_surrogates_and_control_characters_travel(pipe: tuple[int, int], decode: Callable[[bytes], object]) -> None:
    write_all(pipe[1], pack({"text": "\udcff\x00\x1b"}))
    assert Reader(pipe[0], decode).wait() == {"text": "\udcff\x00\x1b"}


def test_a_message_larger_than_the_pipe_arrives(pipe: tuple[int, int]) -> None:
    message = {"text": "x" * 3_000_000}
    writer = threading.Thread(target=write_all, args=(pipe[1], pack(message)))
    writer.start()
    assert Reader(pipe[0]).wait() == message
    writer.join()


def test_the_end_of_the_stream_ends_waiting_even_in_the_middle_of_a_message(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], pack({"a": 1}) + pack({"b": 2})[:-1])
    os.close(pipe[1])
    reader = Reader(pipe[0])
    assert reader.wait() == {"a": 1}
    assert reader.wait() is None
    assert reader.closed


@pytest.mark.parametrize(
    "garbage",
    [
        b"Segmentation fault\n",
        struct.pack(">I", MAX_MESSAGE + 1),
        struct.pack(">I", 4) + b"\xff\xfe\x00{",
        struct.pack(">I", 3) + b"[1]",
        struct.pack(">I", 2) + b"{]",
        struct.pack(">I", 0),
        b"\xff" * 64,
    ],
)
@DECODERS
def test_bytes_that_are_no_message_are_an_error_and_never_a_message(
    pipe: tuple[int, int], garbage: bytes, decode: Callable[[bytes], object]
) -> None:
    os.write(pipe[1], garbage)
    with pytest.raises(ProtocolError):
        Reader(pipe[0], decode).wait()


@pytest.mark.parametrize(
    "value", ["1e999", "-1e999", "1" + "0" * 400 + ".0", "NaN", "Infinity", '["\\ud800", 1e999]', "[" * 300 + "]" * 300]
)
def test_a_worker_says_no_number_that_is_infinite_and_nothing_that_is_nested_deep(pipe: tuple[int, int], value: str) -> None:
    body = f'{{"value": {value}}}'.encode()
    os.write(pipe[1], struct.pack(">I", len(body)) + body)
    with pytest.raises(ProtocolError):
        Reader(pipe[0], messages.parsed).wait()


def test_a_message_beyond_the_limit_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.workers.protocol.MAX_MESSAGE", 100)
    with pytest.raises(ProtocolError):
        pack({"text": "x" * 100})


def test_numbers_that_json_does_not_know_are_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack({"number": float("nan")})


# Failures.


def _failure_of(function: Any) -> dict[str, Any]:
    try:
        function()
    except BaseException as error:
        return describe(error)
    raise AssertionError("it did not raise")


def test_a_failure_names_type_bases_message_cause_and_frames() -> None:
    def inner() -> None:
        raise FileNotFoundError("gone")

    def outer() -> None:
        try:
            inner()
        except OSError as error:
            raise ValueError("wrapped") from error

    failure = _failure_of(outer)
    assert (failure["type"], failure["message"]) == ("ValueError", "wrapped")
    assert failure["cause"]["type"] == "FileNotFoundError"
    assert failure["cause"]["frames"][-1][3].endswith("inner")
    assert failure["frames"][-1][0] == __name__
    assert "OSError" in _failure_of(inner)["bases"]
    json.dumps(failure)


def test_a_suppressed_context_is_no_cause() -> None:
    def suppressing() -> None:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second") from None

    assert "cause" not in _failure_of(suppressing)


def test_only_the_innermost_frames_of_an_endless_recursion_are_kept() -> None:
    def recurse() -> None:
        recurse()

    failure = _failure_of(recurse)
    assert failure["type"] == "RecursionError"
    assert len(failure["frames"]) == MAX_FRAMES


def test_frames_keep_no_more_than_the_end_of_a_path() -> None:
    for frame in _failure_of(lambda: int("x"))["frames"]:
        assert not frame[1].startswith("/")
        assert frame[1].count("/") <= 2


@given(st.text(max_size=200), st.integers(2, 50))
def test_cut_keeps_short_texts_and_both_ends_of_long_ones(text: str, limit: int) -> None:
    short = cut(text, limit)
    half = limit // 2
    assert short == text if len(text) <= limit else (short.startswith(text[:half]) and short.endswith(text[-half:]))
    assert len(cut("x" * 10 * MAX_TEXT)) < MAX_TEXT + 100


class Bench:
    """One worker, and the waiting that a pool does."""

    def __init__(self, scratch: Path, limits: Limits, **options: Any) -> None:
        environment = options.pop("environment", {})
        spec = WorkerSpec("bench", "obedient:Obedient", options, sys.executable, (str(FAKE),), environment)
        self.scratch = scratch
        self.worker = Worker(spec, limits, scratch)

    def event(self) -> Event:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if self.worker.alive and processes_readable(self.worker.fileno()):
                for event in self.worker.receive():
                    return event
            lost = self.worker.overdue()
            if lost is not None:
                return lost
        raise AssertionError("nothing happened")

    def do(self, code: str, *, fork: bool = False, stage: str = "work") -> Event:
        self.worker.submit({"do": code, "stage": stage}, fork=fork)
        return self.event()


def processes_readable(descriptor: int) -> bool:
    import select

    return bool(select.select([descriptor], [], [], 0.01)[0])


PATIENT = Limits(stage=20.0, start=30.0, memory=300 * 2**20)
IMPATIENT = replace(PATIENT, stage=1.0)
"""For tests that wait for the deadline; a slow machine may take longer than this to fill a process's memory."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, PATIENT)
    assert isinstance(bench.event(), Ready)
    yield bench
    bench.worker.close()
    assert list(tmp_path.iterdir()) == []


def test_a_worker_gets_its_options_a_folder_of_its_own_and_a_fixed_hash_seed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Limits(), text="ü", number=1)
    event = bench.event()
    assert isinstance(event, Ready)
    assert event.info["options"] == {"text": "ü", "number": 1}
    assert event.info["pid"] == bench.worker.pid
    assert event.info["seed"] == "0"
    assert Path(event.info["cwd"]).is_relative_to(tmp_path)
    bench.worker.close()
    assert list(tmp_path.iterdir()) == []


def test_a_role_that_cannot_be_set_up_is_broken_and_says_why(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Limits(), broken="no such compiler")
    event = bench.event()
    assert isinstance(event, Broken)
    assert (event.failure["type"], event.failure["message"]) == ("ImportError", "no such compiler")
    assert not bench.worker.alive


def test_a_worker_that_starts_for_ever_is_lost_to_its_deadline(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Limits(start=0.5), start="import time; time.sleep(100)")
    event = bench.event()
    assert isinstance(event, Lost)
    assert (event.cause, event.stage) == ("deadline", "")


def test_a_task_ends_with_its_result_and_the_seconds_of_its_stages(bench: Bench) -> None:
    event = bench.do("import time; time.sleep(0.05); stages.enter('more'); value = 7")
    assert isinstance(event, Done)
    assert event.result["value"] == 7
    assert event.seconds.keys() == {"work", "more"}
    assert 0.05 <= event.seconds["work"] < 1


@pytest.mark.parametrize("fork", [False, True])
def test_an_exception_belongs_to_the_stage_it_escaped_from_and_the_worker_goes_on(bench: Bench, fork: bool) -> None:
    event = bench.do("stages.enter('later'); raise SystemExit('enough')", fork=fork)
    assert isinstance(event, Raised)
    assert (event.stage, event.failure["type"], event.failure["message"]) == ("later", "SystemExit", "enough")
    assert isinstance(bench.do("", fork=fork), Done)


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize(
    ("code", "cause", "detail"),
    [
        ("import os; os.abort()", "signal", "SIGABRT"),
        ("import os; os._exit(0)", "exit", "0"),
        ("import os; os._exit(9)", "exit", "9"),
        ("import time; time.sleep(100)", "deadline", "1 s"),
        ("import ctypes, signal; signal.pthread_sigmask(0, signal.valid_signals()); ctypes.PyDLL(None).pause()", "deadline", "1 s"),
        ("import time; kept = [bytearray(b'x') * 2**26 for _ in range(5)]; time.sleep(100)", "memory", "0.292969 GiB"),
    ],
)
def test_a_lost_process_says_how_it_was_lost_and_where(bench: Bench, code: str, cause: str, detail: str, fork: bool) -> None:
    if cause == "deadline":
        bench.worker.limits = IMPATIENT
    event = bench.do(f"print('last words')\n{code}", fork=fork, stage="deep")
    assert isinstance(event, Lost)
    assert (event.cause, event.detail, event.stage) == (cause, detail, "deep")
    assert "last words" in event.log
    assert event.seconds.keys() == {"deep"}
    assert bench.worker.alive == fork
    if fork:
        assert isinstance(bench.do("", fork=True), Done)


def test_a_forked_task_changes_nothing_in_the_worker_it_was_copied_from(bench: Bench) -> None:
    forked = bench.do("self.options['mark'] = 1; import os; os.chdir('/'); value = os.getpid()", fork=True)
    after = bench.do("import os; value = [self.options.get('mark'), os.getcwd() == '/']")
    assert isinstance(forked, Done)
    assert forked.result["value"] != bench.worker.pid
    assert isinstance(after, Done)
    assert after.result["value"] == [None, False]


def test_the_deadline_is_for_each_stage_and_not_for_their_sum(bench: Bench) -> None:
    bench.worker.limits = IMPATIENT
    event = bench.do("import time\nfor n in range(4):\n    stages.enter(str(n)); time.sleep(0.4)")
    assert isinstance(event, Done)


def test_a_warm_up_has_the_time_of_a_start_and_the_next_task_that_of_a_stage(bench: Bench) -> None:
    """The first compilation of a process takes longer than later ones, the more so on a busy machine."""
    bench.worker.limits = Limits(stage=0.2, start=30.0)
    bench.worker.submit({"do": "import time; time.sleep(0.6)", "stage": "warm"}, warmup=True)
    assert isinstance(bench.event(), Done)
    event = bench.do("import time; time.sleep(100)")
    assert isinstance(event, Lost)
    assert (event.cause, event.detail) == ("deadline", "0.2 s")


def test_memory_is_that_of_the_whole_tree(bench: Bench) -> None:
    grab = "x = bytearray(b'x') * (2**20 * 150); import time; time.sleep(100)"
    start = f"subprocess.Popen([sys.executable, '-c', {grab!r}])"
    event = bench.do(f"import subprocess, sys, time\n{start}\n{start}\ntime.sleep(100)")
    assert isinstance(event, Lost)
    assert event.cause == "memory"


def test_what_is_printed_is_kept_out_of_the_protocol_and_in_the_log(bench: Bench) -> None:
    event = bench.do("import os; print('to stdout'); os.write(1, b'\\x00\\x00\\x00\\x02{}'); os.write(2, b'raw'); value = 1")
    assert isinstance(event, Done)
    log = bench.worker.log_tail()
    assert "to stdout" in log
    assert "raw" in log


def test_a_log_cannot_fill_the_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.workers.process.LOG_LIMIT", 2**20)
    bench.worker.limits = IMPATIENT
    event = bench.do("import os\nwhile True:\n    os.write(1, b'x' * 65536)")
    assert isinstance(event, Lost)
    assert not list(bench.scratch.iterdir())
    assert len(event.log) <= 8192


def test_a_log_is_cut_while_a_task_is_still_writing_to_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.workers.process.LOG_LIMIT", 2**20)
    (log,) = bench.scratch.glob("*/log")
    bench.worker.submit({"do": "import os, time\nos.write(1, b'x' * 2**22)\ntime.sleep(0.3)"})
    sizes = []
    until = time.monotonic() + 10
    while bench.worker.busy and time.monotonic() < until:
        bench.worker.overdue()
        sizes.append(log.stat().st_size)
        if processes_readable(bench.worker.fileno()):
            list(bench.worker.receive())
    assert sizes[-1] <= 2**20


def frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


@pytest.mark.parametrize(
    "message",
    [
        b"\x00\x00\x00\x05hello",
        b"rubbish that is much longer than a header",
        frame(b"{}"),
        frame(b"[" * 100_000),
        frame(b'{"is":"done","task":1,"seconds":{},"result":{"x":' + b"[" * 500 + b"]" * 500 + b"}}"),
        frame(b'{"is":"done","task":1,"seconds":{},"result":{"x":NaN}}'),
        frame(b'{"is":"done","task":1,"seconds":{},"result":{"x":1e999}}'),
        frame(b'{"is":"done","task":1,"seconds":{"work":-1},"result":{}}'),
        frame(b'{"is":"done","task":1,"seconds":{"work":"1"},"result":{}}'),
        frame(b'{"is":"done","task":1,"seconds":{},"result":5}'),
        frame(b'{"is":"done","task":1,"seconds":{},"result":{},"more":1}'),
        frame(b'{"is":"done","task":0,"seconds":{},"result":{}}'),
        frame(b'{"is":"done","task":2,"seconds":{},"result":{}}'),
        frame(b'{"is":"done","task":true,"seconds":{},"result":{}}'),
        frame(b'{"is":"done","seconds":{},"result":{}}'),
        frame(b'{"is":"raised","task":1,"seconds":{},"stage":"x","failure":{"type":"E"}}'),
        frame(b'{"is":"raised","task":1,"seconds":{},"stage":"x","failure":{"type":"E","message":"","frames":[[1]]}}'),
        frame(b'{"is":"forked","task":1,"pid":1}'),
        frame(b'{"is":"forked","task":1,"pid":"x"}'),
        frame(b'{"is":"forked","task":1,"pid":4000000}'),
        frame(b'{"is":"died","task":1,"status":0}'),
        frame(b'{"is":"ready","info":{}}'),
        frame(b'{"is":"broken","failure":1}'),
        frame(b'{"is":"stage"}') + struct.pack(">I", 2**31),
    ],
)
def test_a_worker_that_talks_nonsense_is_lost_and_the_driver_lives(bench: Bench, message: bytes) -> None:
    event = bench.do(f"import os, sys; os.write(int(sys.argv[2]), {message!r}); import time; time.sleep(100)")
    assert isinstance(event, Lost)
    assert event.cause == "protocol"
    assert not bench.worker.alive


def test_a_worker_cannot_have_a_stranger_killed(bench: Bench) -> None:
    """It says that a foreign process does its task, and hangs until the deadline."""
    stranger = subprocess.Popen(["sleep", "300"])
    said = f'{{"is":"forked","task":1,"pid":{stranger.pid}}}'.encode()
    code = f"import os, sys; os.write(int(sys.argv[2]), {frame(said)!r}); import time; time.sleep(100)"
    bench.worker.limits = IMPATIENT
    event = bench.do(code, fork=True)
    assert isinstance(event, Lost)
    assert event.cause == "deadline"
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_only_what_descends_from_this_process_can_be_killed_with_its_tree(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    subprocess.run(["sh", "-c", f"setsid sleep 300 > /dev/null 2>&1 & echo $! > {note}"], check=True)
    stranger = int(note.read_text())
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    if not processes.is_below(stranger, os.getpid()):  # it is ours where an earlier test has made us a reaper
        processes.kill_tree(stranger)
        assert _lives(stranger)
    processes.kill_tree(os.getppid())
    processes.kill_tree(child.pid)
    assert child.wait() == -9
    processes.kill_tree(child.pid)
    os.kill(stranger, 9)


def test_a_worker_that_changes_its_stage_all_the_time_holds_nobody_up(bench: Bench) -> None:
    code = "import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: stages.enter('a')"
    assert isinstance(bench.do(code), Done)


@pytest.mark.parametrize(
    ("role", "result"),
    [
        ("opera.difftest.model_worker:Materialiser", {"is": "made", "artefact": {}, "reference": {"bundle": "../../etc/passwd"}}),
        ("opera.difftest.model_worker:Materialiser", {"is": "made", "artefact": {"model": "0" * 64 + "\n"}}),
        ("opera.difftest.model_worker:Materialiser", {"is": "rejected", "reason": "x", "stage": "y"}),
        ("opera.difftest.model_worker:Materialiser", {"is": "called", "answers": [5]}),
        ("opera.difftest.model_worker:Materialiser", {"is": "new"}),
        ("opera.difftest.model_worker:Materialiser", {"is": ["made"]}),
        ("opera.difftest.model_worker:Materialiser", {"is": "library-lost", "reason": "", "stage": "", "lost": {}}),
        ("opera.difftest.model_worker:Materialiser", {}),
        ("opera.difftest.compiler_worker:CompilerWorker", {"is": "compared"}),
        ("opera.difftest.compiler_worker:CompilerWorker", {"is": "compared", "difference": {"kind": "values"}}),
        (
            "opera.difftest.compiler_worker:CompilerWorker",
            {"is": "compared", "difference": {"kind": "values", "output": 0, "expected": "1", "actual": "2"}},
        ),
        (
            "opera.difftest.compiler_worker:CompilerWorker",
            {"is": "raised", "stage": "lunch", "failure": {"type": "E", "message": ""}, "unsupported": None, "converter": "c"},
        ),
        ("opera.difftest.compiler_worker:CompilerWorker", {"is": "source", "imports": [], "text": "", "expected": ""}),
    ],
)
def test_an_answer_that_no_worker_of_the_role_gives_is_a_protocol_error(role: str, result: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match="unexpected message"):
        messages.said({"is": "done", "task": 1, "seconds": {}, "result": result}, role)


def test_what_a_role_says_of_itself_is_checked() -> None:
    for info in ({}, {"versions": {"x": 1}}, {"versions": []}):
        with pytest.raises(ProtocolError):
            messages.said({"is": "ready", "info": info}, "opera.difftest.compiler_worker:CompilerWorker")


def test_a_worker_gets_what_compilers_need_and_no_secrets() -> None:
    passed = {
        "PATH": "/bin", "HOME": "/root", "LC_ALL": "C", "LD_LIBRARY_PATH": "/x", "CUDA_VISIBLE_DEVICES": "0", "TVM_LOG_DEBUG": "1",
        "OV_CPU_X": "1", "ORT_X": "1", "TORCH_LOGS": "x", "OMP_NUM_THREADS": "1", "CC": "gcc", "CXXFLAGS": "-O", "XLA_FLAGS": "x",
        "HIP_VISIBLE_DEVICES": "", "https_proxy": "http://proxy:80", "OPERA_FAKE_STATE": "/x", "PYTHONPATH": "/x", "KERAS_BACKEND": "jax",
    }  # fmt: skip
    kept_back = {
        "AWS_ACCESS_KEY_ID": "x", "GITHUB_TOKEN": "x", "HF_TOKEN": "x", "OPERA_TOKEN": "x", "TORCH_API_KEY": "x", "TF_PASSWORD": "x",
        "KERAS_SECRET": "x", "JAX_CREDENTIALS": "x", "HTTP_PROXY": "http://me:word@proxy:80", "SSH_AUTH_SOCK": "/x", "ANYTHING": "x",
        "TVM_PAT": "x", "ONNX_LOGIN": "x", "OPENVINO_API": "x", "TORCH_PASS": "x",
    }  # fmt: skip
    assert passed_on({**passed, **kept_back}) == passed
    assert passed_on({"HF_TOKEN": "x", "MY_A": "1", "MY_B": "2", "OTHER": "3", "OPERA_PASS_ENV": "HF_TOKEN, MY_*"}) == {
        "HF_TOKEN": "x", "MY_A": "1", "MY_B": "2", "OPERA_PASS_ENV": "HF_TOKEN, MY_*",
    }  # fmt: skip


@pytest.mark.alone
def test_a_process_that_keeps_the_pipe_open_does_not_hide_the_death_of_the_worker(bench: Bench) -> None:
    started = time.monotonic()
    bench.worker.limits = Limits(stage=20.0)
    code = "import os, sys, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(100)\nos.abort()"
    event = bench.do(code)
    assert isinstance(event, Lost)
    assert event.detail == "SIGABRT"
    assert time.monotonic() - started < 15


def test_a_copy_that_comes_back_from_a_task_says_nothing_to_the_driver(bench: Bench) -> None:
    for _ in range(3):
        event = bench.do("import os; os.fork()")
        assert isinstance(event, Done)
        assert event.result["pid"] == bench.worker.pid
    assert isinstance(bench.do("", fork=True), Done)


def test_closing_a_worker_ends_all_it_has_started_and_removes_what_it_has_left(tmp_path: Path) -> None:
    adopt_orphans()
    bench = Bench(tmp_path, Limits())
    assert isinstance(bench.event(), Ready)
    event = bench.do(
        "import os, subprocess, tempfile\n"
        "a = subprocess.Popen(['sleep', '1000']).pid\n"
        "b = subprocess.Popen(['sleep', '1000'], start_new_session=True).pid\n"
        "c = int(subprocess.check_output(['sh', '-c', 'setsid sleep 1000 >/dev/null 2>&1 & echo $!']))\n"
        "tempfile.mkdtemp(); open('here', 'w').close()\n"
        "value = [a, b, c]"
    )
    assert isinstance(event, Done)
    started = event.result["value"]
    assert all(Path(f"/proc/{pid}").exists() for pid in started)
    assert set(started[:2]) <= set(descendants(bench.worker.pid))
    bench.worker.close()
    kill_orphans(())
    until = time.monotonic() + 10
    while any(_lives(pid) for pid in started) and time.monotonic() < until:
        time.sleep(0.01)
    assert [pid for pid in started if _lives(pid)] == []
    assert list(tmp_path.iterdir()) == []


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_orphans_of_others_are_left_alone(tmp_path: Path) -> None:

    adopt_orphans()
    mine = subprocess.Popen(["sleep", "1000"])
    ended = subprocess.Popen(["true"])
    time.sleep(0.1)
    kill_orphans(())
    assert mine.poll() is None
    assert ended.wait() == 0
    mine.kill()
    mine.wait()


def test_orphans_that_have_ended_are_reaped(tmp_path: Path) -> None:
    adopt_orphans()
    bench = Bench(tmp_path, Limits())
    assert isinstance(bench.event(), Ready)
    event = bench.do("import subprocess; value = int(subprocess.check_output(['sh', '-c', 'setsid sleep 0.1 >/dev/null 2>&1 & echo $!']))")
    assert isinstance(event, Done)
    orphan = Path(f"/proc/{event.result['value']}")
    until = time.monotonic() + 10
    while _lives(event.result["value"]) and time.monotonic() < until:
        time.sleep(0.02)
    assert orphan.exists()
    kill_orphans([bench.worker.pid])
    assert not orphan.exists()
    assert bench.worker.alive
    bench.worker.close()


def test_resident_size_is_that_of_a_living_process_and_zero_afterwards(bench: Bench) -> None:
    assert 2**20 < bench.worker.resident() < 2**30
    pid = bench.worker.pid
    bench.worker.close()
    assert resident(pid) == 0


def test_the_environment_of_a_worker_carries_the_mark_one_thread_and_no_python_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    bench = Bench(tmp_path, Limits(), environment={"EXTRA": "1"})
    assert isinstance(bench.event(), Ready)
    event = bench.do("import os; value = dict(os.environ)")
    assert isinstance(event, Done)
    environment = event.result["value"]
    assert environment[processes.MARK] == str(os.getpid())
    assert (environment["OMP_NUM_THREADS"], environment["EXTRA"]) == ("1", "1")
    assert "PYTHONPATH" not in environment
    assert Path(environment["TMPDIR"]).is_relative_to(tmp_path)
    bench.worker.close()


def test_a_workers_code_comes_after_that_of_its_own_environment(bench: Bench) -> None:
    event = bench.do("import sys; value = sys.path")
    assert isinstance(event, Done)
    assert event.result["value"][-1] == str(FAKE)


def test_who_needs_a_few_answers_and_no_campaign_gets_them_and_is_told_of_a_worker_that_hangs(tmp_path: Path) -> None:
    spec = WorkerSpec("bench", "obedient:Obedient", {}, sys.executable, (str(FAKE),))
    with session(spec, Limits(stage=0.5), tmp_path) as answers:
        assert isinstance(answers.start(), Ready)
        assert isinstance(done := answers.ask({"do": "value = 1"}), Done)
        assert done.result["value"] == 1
        lost = answers.ask({"do": "import time; time.sleep(100)"})
    assert isinstance(lost, Lost)
    assert lost.cause == "deadline"
