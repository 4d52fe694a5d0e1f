"""What a recording promises, whatever the host and its tests do: a size that does not depend on calls, and counts that add up."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from opera.extract.recording import RecordingReader, Repeated, Seen
from opera.instrumentation.sites import FLOODED, LOOK, Site
from opera.instrumentation.stream import FLOOD, OTHERS, TESTS, Stream


def document(number: int, **more: Any) -> dict[str, Any]:
    return {"schema": "instance/1", "library": "pytorch", "api": f"a{number}", "kind": "function", "call": [], **more}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def all_calls(path: Path) -> tuple[int, int]:
    """Calls by all lines but the last, and by the last."""
    found = lines(path)
    return sum(1 if "instance" in line else line["calls"] for line in found[2:-1] if "test" in line or "dropped" in line), found[-1][
        "calls"
    ]["s"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


def test_a_recording_does_not_grow_with_calls_nor_with_the_tests_of_an_instance(path: Path) -> None:
    with Stream(str(path), "pytorch", "1", "s") as stream:
        stream.enter(0, "file")
        for test in range(500):
            stream.begin(f"test{test}")
            for _ in range(20):
                stream.record(document(1))
                stream.drop("noise", "b")
    found = lines(path)
    again = [line for line in found if "again" in line]
    assert [line["test"] for line in again] == [*(f"test{n}" for n in range(TESTS)), OTHERS]
    assert [line["calls"] for line in again] == [19, *([20] * (TESTS - 1)), 20 * (500 - TESTS)]
    assert [line["calls"] for line in found if "dropped" in line] == [10_000]
    assert found[-1] == {"calls": {"s": 20_000}}


def test_counts_of_all_lines_add_up_to_the_last(path: Path) -> None:
    with Stream(str(path), "pytorch", "1", "s") as stream:
        stream.enter(0, "file")
        for test in range(30):
            stream.begin(f"test{test}")
            for call in range(test):
                stream.record(document(call % 7))
            stream.drop("noise", "b" if test % 2 else "c")
    counted, told = all_calls(path)
    assert counted == told == sum(range(30)) + 30


def test_threads_may_share_a_recording(path: Path) -> None:
    def work(number: int) -> None:
        for call in range(200):
            stream.write(document(1000 * number + call, defaults=["x" * 300]))
            stream.outcome(f"test{number}", "passed", 0.0)

    with Stream(str(path), "pytorch", "1", "s") as stream:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    kinds = Counter("instance" if "instance" in line else "outcome" for line in lines(path)[1:-1])
    assert kinds == {"instance": 1600, "outcome": 1600}
    assert lines(path)[-1] == {"calls": {"s": 1600}}


def test_what_a_dead_host_had_written_is_read_and_counted_as_incomplete(path: Path) -> None:
    stream = Stream(str(path), "pytorch", "1", "s")
    stream.begin("one")
    stream.record(document(1))
    stream.record(document(1))
    stream.begin("two")
    whole = path.read_bytes()
    stream.__exit__(None, None, None)
    path.write_bytes(whole + b'{"instance": {"schem')
    reader = RecordingReader(path)
    found = list(iter(reader.next, None))
    reader.close()
    assert [type(line) for line in found] == [Seen, Repeated]
    assert not reader.complete


def test_an_error_inside_leaves_the_recording_without_its_last_line(path: Path) -> None:
    stream = Stream(str(path), "pytorch", "1", "s")
    stream.record(document(1))
    stream.__exit__(KeyError, KeyError(), None)
    assert "calls" not in lines(path)[-1]


def test_each_outline_has_its_share_of_new_instances(path: Path) -> None:
    with Stream(str(path), "pytorch", "1", "s") as stream:
        taken = [[stream.flooded(("add", shape)) for _ in range(FLOOD + 50)] for shape in (1, 2)]
    assert [part.count(False) for part in taken] == [FLOOD, FLOOD]
    assert [part[:FLOOD].count(True) for part in taken] == [0, 0]


def test_texts_of_any_kind_stay_one_line(path: Path) -> None:
    odd = "line\nbreak \u2028 \ud800 \x00 ünicode"
    with Stream(str(path), "pytorch", "1", "s") as stream:
        stream.begin(odd)
        stream.record(document(1, defaults=[odd]))
        stream.outcome(odd, "error", 0.0, odd)
    found = lines(path)
    assert len(found) == 4
    assert (found[1]["test"], found[2]["message"]) == (odd, odd)


# Places


def site() -> Site:
    import sys

    return Site(sys._getframe())


def test_a_place_is_closed_to_one_function_of_one_test_and_looked_at_now_and_then() -> None:
    place, one, other, test, later = site(), max, min, "test", "later"
    for _ in range(FLOODED):
        assert not (place.floods and place.is_flooded(one, test))
        place.flood(one, test)
    closed = [place.is_flooded(one, test) for _ in range(3 * LOOK)]
    assert closed.count(False) == 3
    assert not place.is_flooded(other, test)
    for _ in range(FLOODED):
        place.flood(one, test)
    assert place.is_flooded(one, test)
    assert not place.is_flooded(one, later)


def test_a_call_from_a_place_has_its_file_and_line() -> None:
    import sys

    frame = sys._getframe()
    place, line = Site(frame), frame.f_lineno
    caller = place.call(lambda: sys._getframe(1), (), {})
    assert (caller.f_code.co_filename, caller.f_lineno, caller.f_globals["__name__"]) == (__file__, line - 0, __name__)
