"""`opera fuzz generate`: the same bytes whatever the processes and interruptions; what cannot be used is refused with a hint."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import commands
import pytest

from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.document import decode
from opera.extensions.programs.languages import registry
from opera.extensions.programs.values import type_of


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


def test_the_bytes_do_not_depend_on_processes_or_interruptions(tmp_path: Path) -> None:
    one = opera("fuzz", "generate", "one.jsonl", "-n", "160", "-j", "1", "--seed", "7", "--json", cwd=tmp_path)
    figures = json.loads(one.stdout)
    assert (figures["schema"], figures["programs"], figures["generated"]) == ("fuzz-generate/1", 160, 160)
    assert len(figures["operators"]) > 60
    assert figures["broken"] == {}
    assert opera("fuzz", "generate", "two.jsonl", "-n", "160", "-j", "2", "--seed", "7", cwd=tmp_path).returncode == 0
    whole = (tmp_path / "one.jsonl").read_bytes()
    assert (tmp_path / "two.jsonl").read_bytes() == whole
    for size in (0, 40, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.jsonl").write_bytes(whole[:size])
        again = opera("fuzz", "generate", "cut.jsonl", "-n", "160", "--seed", "7", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert (tmp_path / "cut.jsonl").read_bytes() == whole
    for line in whole.splitlines()[:20]:
        made = decode(json.loads(line))
        check(made.program, registry())
        assert type_of(evaluate(made.program, made.inputs, registry())) == made.program.main.result


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "opera", "fuzz", "generate", "out.jsonl", "-n", "100000", "-j", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    while not (tmp_path / "out.jsonl").exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    done = (tmp_path / "out.jsonl").read_bytes().count(b"\n")
    again = opera("fuzz", "generate", "out.jsonl", "-n", str(done + 3), cwd=tmp_path)
    assert f"{done + 3:,} programs in out.jsonl; 3 of them generated now" in again.stderr


POLICIES = {
    "unknown.toml": ('base = "fusoin"', "unknown policy 'fusoin' (did you mean 'fusion'?)"),
    "key.json": ('{"operatos": 3}', "unknown key 'operatos' (did you mean 'operators'?)"),
    "list.json": ("[1]", "expected a table"),
    "broken.toml": ("a = [", "broken.toml: "),
    "language.toml": ('language = "relay"', "unknown language 'relay' (did you mean 'relax'?)"),
    "nothing.toml": ('only = ["add"]\nweights = {add = 0}', "leave no operator"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_cannot_be_used_is_refused_with_the_file_and_a_hint(tmp_path: Path, name: str) -> None:
    text, message = POLICIES[name]
    (tmp_path / name).write_text(text)
    refused = opera("fuzz", "generate", "out.jsonl", "--policy", name, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_with_something_else_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine\nmore\n")
    (tmp_path / "short.txt").write_text("mine")
    for name in ("notes.txt", "short.txt"):
        refused = opera("fuzz", "generate", name, "-n", "5", cwd=tmp_path)
        assert refused.returncode == 2
        assert "holds" in refused.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine\nmore\n"
    assert (tmp_path / "short.txt").read_text() == "mine"


def test_a_file_whose_last_program_was_edited_is_refused(tmp_path: Path) -> None:
    assert opera("fuzz", "generate", "out.jsonl", "-n", "3", "-j", "1", cwd=tmp_path).returncode == 0
    lines = (tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True)
    edited = b"".join((*lines[:2], lines[2].replace(b"main", b"mine")))
    (tmp_path / "out.jsonl").write_bytes(edited)
    refused = opera("fuzz", "generate", "out.jsonl", "-n", "4", "-j", "1", cwd=tmp_path)
    assert refused.returncode == 2
    assert "holds something else" in refused.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == edited


def test_links_devices_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to("other.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name, message in (("link.jsonl", "is a link"), ("pipe.jsonl", "is no regular file"), ("/dev/null", "is no regular file")):
        refused = opera("fuzz", "generate", name, "-n", "1", cwd=tmp_path)
        assert refused.returncode == 2
        assert message in refused.stderr
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize(("name", "message"), [("generall", "did you mean 'general'?"), ("none.toml", "cannot be read")])
def test_an_unknown_policy_is_refused(tmp_path: Path, name: str, message: str) -> None:
    refused = opera("fuzz", "generate", "out.jsonl", "--policy", name, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr


def test_a_policy_whose_operators_give_none_of_its_types_ends_with_4(tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text('only = ["matmul"]\ndtypes = ["bool"]')
    refused = opera("fuzz", "generate", "out.jsonl", "-n", "20", "--policy", "none.toml", cwd=tmp_path)
    assert refused.returncode == 4
    assert "no program has an operator" in refused.stderr
