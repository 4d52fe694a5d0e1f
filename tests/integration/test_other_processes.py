"""What another process gives from the same data, and what it does not do to ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from reporting import fill

from opera.cli import command as opera
from opera.cli.options import guarded
from opera.instance import Argument, Instance, Kind, Tensor, decode_instance, digest, encode_instance
from opera.instrumentation.stream import Stream
from opera.prioritize import Candidate, Context, get_strategy, strategy_names
from opera.store.database import open_workspace

SMALL = [
    Instance(
        "pytorch", f"torch.op{api}", Kind.FUNCTION, defaults=(("dim", 0),),
        call=(Argument("x", Tensor((2, dim + 1), dtype)), Argument("dim", dim), Argument("mode", mode)),
    )
    for api in range(4)
    for dim in (-1, 0, 1)
    for dtype in ("float32", "int64")
    for mode in ("sum", "mean")
]  # fmt: skip


@pytest.mark.slow
def test_another_process_gives_the_same_rankings_byte_for_byte() -> None:
    script = (
        "import json, sys\n"
        "from opera.instance import decode_instance, digest\n"
        "from opera.prioritize import Candidate, Context, get_strategy\n"
        "corpus = [Candidate(digest(item), item) for item in map(decode_instance, json.load(sys.stdin))]\n"
        "coverage = {each.id: frozenset(range(int(each.id[:2], 16) % 7, int(each.id[:2], 16) % 11 + 3)) for each in corpus}\n"
        f"for name in {strategy_names()!r}:\n"
        "    ranking = get_strategy(name).rank(corpus, Context({}, 3, coverage=coverage))\n"
        "    print([(place.id, place.score) for place in ranking])\n"
    )
    documents = [encode_instance(item) for item in SMALL]
    assert [decode_instance(document) for document in documents] == SMALL
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(documents),
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1", "4242")
    ]
    corpus = [Candidate(digest(item), item) for item in SMALL]
    coverage = {each.id: frozenset(range(int(each.id[:2], 16) % 7, int(each.id[:2], 16) % 11 + 3)) for each in corpus}
    rankings = [get_strategy(name).rank(corpus, Context({}, 3, coverage=coverage)) for name in strategy_names()]
    here = "".join(f"{[(place.id, place.score) for place in ranking]}\n" for ranking in rankings)
    assert outputs == [here] * 3


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    code = (
        "import hashlib, sys; from opera.instance import Constraint, Tensor; from opera.models.sampling import sample\n"
        "from opera.arrays import to_bytes\n"
        "kinds = ['float32', 'bfloat16', 'complex64', 'int8', 'uint64', 'bool', 'string', 'float64', 'int4']\n"
        "make = lambda kind: Tensor((3, 3), kind, constraint=Constraint(-3.0, 1e6, True, True, ('symmetric',)))\n"
        "print(hashlib.sha256(b''.join(to_bytes(sample(make(kind), f'key:{kind}', 3)) for kind in kinds)).hexdigest())"
    )
    seen = {
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True).stdout
        for seed in ("1", "2")
    }
    (digest,) = seen
    assert len(digest) == 65


@pytest.mark.slow
def test_same_results_give_the_same_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_workspace(Path("ws"), write=True) as space:
        fill(space)
    assert guarded(opera, ["report", "--workspace", "ws", "--html", "here.html"]) == 0
    pages = {Path("here.html").read_bytes()}
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "opera", "report", "--workspace", "ws", "--html", f"{seed}.html"]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        pages.add(Path(f"{seed}.html").read_bytes())
    assert len(pages) == 1


def test_colours_of_our_own_arrive() -> None:
    program = "from rich.text import Text; from opera.console import terminal; terminal().print(Text('go', style='red'))"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}, capture_output=True)
    assert done.stdout == b"\x1b[31mgo\x1b[0m\n"


def document(number: int) -> dict[str, object]:
    return {"schema": "instance/1", "library": "pytorch", "api": f"a{number}", "kind": "function", "call": []}


def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Stream(str(path), "pytorch", "1", "s") as stream:
        stream.record(document(1))
        child = os.fork()
        if not child:
            try:
                stream.record(document(2))
                stream.enter(9, "child")
                stream.__exit__(None, None, None)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        stream.record(document(3))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["instance"]["api"] for line in lines if "instance" in line] == ["a1", "a3"]
    assert [line for line in lines if "entry" in line] == []
