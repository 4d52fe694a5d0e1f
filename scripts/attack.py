"""Attacks OPERA as a stranger would, and counts what held: python scripts/attack.py [--tree DIR] [--only CLASS].

Each attack gets an empty folder and drives the commands from outside. It has held when no file outside the workspace was touched, nothing
of the attacker's was run, no process is left, and every command ended with a documented exit code and without a traceback.
`--tree` names another checkout, so that two versions can be compared.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import json
import os
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DOCUMENTED = frozenset({0, 1, 2, 3, 4, 130})
TIMEOUT = 120
NESTED: Any = functools.reduce(lambda inner, _: [inner], range(480), 1)
TEXT = "\x1b]0;owned\x07\x1b[2J\u202ename\x9b31m"


class Failed(Exception):
    """The attack went through; the message says how."""


@dataclass
class Arena:
    """An empty folder with a victim outside of the workspace."""

    folder: Path
    tree: Path
    calls: int = 0
    victims: dict[Path, str] = field(default_factory=dict[Path, str])

    def __post_init__(self) -> None:
        self.ws = self.folder / "ws"
        self.marker = self.folder / "MARKER"
        self.home = self.folder / "victims"
        self.home.mkdir()
        for name in ("letter.txt", "log.log", ".part-mine", "crew-notes"):
            (self.home / name).write_text("mine")
        self.home.chmod(0o755)
        self.before = self.state()

    def state(self) -> str:
        """What the victim's folder is like."""
        rows = [(str(path), path.lstat().st_mode, path.is_file() and path.read_bytes()) for path in sorted(self.home.rglob("*"))]
        return hashlib.sha256(repr([self.home.stat().st_mode, rows]).encode()).hexdigest()

    def opera(self, *words: str, expect: frozenset[int] = DOCUMENTED, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command and looks at how it ended."""
        module = {"extract": "opera.extract", "prioritize": "opera.prioritize", "run": "opera.run"}.get(words[0])
        command = [sys.executable, "-m", *([module, *words[1:]] if module else ["opera", *words])]
        self.calls += 1
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=self.environment(),
            text=True,
            errors="surrogateescape",
            capture_output=True,
            timeout=TIMEOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if "Traceback (most recent call last)" in done.stderr or done.returncode not in expect:
            raise Failed(f"{' '.join(words)[:60]}: exit {done.returncode}: {done.stderr.strip()[-160:]!r}")
        return done

    def environment(self) -> dict[str, str]:
        """As a user's shell has it, with the tree first."""
        return {**os.environ, "PYTHONPATH": str(self.tree), "OPERA_ARENA": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}

    def check(self) -> None:
        """Raises Failed where something was touched, run or left."""
        if self.state() != self.before:
            raise Failed("a file outside the workspace was changed")
        if self.marker.exists():
            raise Failed("the attacker's code was run")

    def corpus(self, *instances: dict[str, Any], name: str = "c.jsonl") -> str:
        """Writes a corpus file of *instances*, and returns its name."""
        rows = [{"schema": "corpus/1"}, *({"instance": each} for each in instances)]
        (self.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    def workspace(self, *instances: dict[str, Any], path: str = "ws") -> Path:
        """A workspace with *instances*."""
        self.opera("import", self.corpus(*instances), "--workspace", path)
        return self.folder / path


def instance(api: str, library: str = "pytorch", kind: str = "function", **more: Any) -> dict[str, Any]:
    """A sound instance with one tensor."""
    tensor = {"tensor": {"shape": [2], "dtype": "float32", "data": "AACAPwAAAEA="}}
    return {"schema": "instance/1", "library": library, "api": api, "kind": kind, "call": [{"name": "x", "value": tensor}], **more}


def node(operator: str = "ai.onnx.Relu", name: str = "X", **more: Any) -> dict[str, Any]:
    """A sound ONNX node."""
    found = instance(operator, "onnx", "node", context=[["opset", 14], ["outputs", [True]]], **more)
    found["call"][0]["name"] = name
    return found


def large() -> dict[str, Any]:
    """An instance whose data lie in a file of their own."""
    found = node()
    found["call"][0]["value"] = {"tensor": {"shape": [1500], "dtype": "int64", "data": "AAAAAAAA" * 2000}}
    return found


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Changes the documents of a workspace's instances."""
    with contextlib.closing(sqlite3.connect(path / "opera.db")) as database, database:
        for key, packed in database.execute("SELECT id, document FROM instances").fetchall():
            text = change(zlib.decompress(packed).decode())
            database.execute("UPDATE instances SET document = ? WHERE id = ?", (zlib.compress(text.encode()), key))


def add_failure(path: Path, verdict: str = "crash") -> str:
    """Makes every instance of a workspace a failing test of ONNX Runtime; returns the first."""
    detail = json.dumps({"failure": {"type": "RuntimeError", "message": "m", "frames": []}})
    test = ""
    with contextlib.closing(sqlite3.connect(path / "opera.db")) as database, database:
        for key, library in database.execute("SELECT id, library FROM instances").fetchall():
            test = hashlib.sha256(key.encode()).hexdigest()
            finding = finding_of(test)
            values = (test, key, "onnxruntime", library, "onnx", "runtime", 0, verdict, "load", finding, detail, '{"load": 0.1}', "Relu")
            database.execute(
                "INSERT INTO results (test, instance, compiler, frontend, route, form, seed, verdict, stage, fingerprint, detail, seconds,"
                f" converter) VALUES ({', '.join('?' * len(values))})",
                values,
            )
        database.execute(
            "INSERT INTO campaigns (id, compiler, frontend, settings, versions, known, seconds, complete, started)"
            " VALUES ('ab12', 'onnxruntime', 'onnx', '{\"seed\": 0}', '{}', '[]', 1, 1, '2026')"
        )
        database.execute("INSERT INTO campaign_tests SELECT 'ab12', test, 0 FROM results")
    return test


def finding_of(test: str) -> str:
    """The finding of a failing test that `add_failure` made."""
    return hashlib.sha256(test.encode()).hexdigest()[:16]


Attack = Callable[[Arena], None]
ATTACKS: dict[str, list[tuple[str, Attack]]] = {}


def attack(kind: str, name: str) -> Callable[[Attack], Attack]:
    """Registers an attack of a class."""

    def register(function: Attack) -> Attack:
        ATTACKS.setdefault(kind, []).append((name, function))
        return function

    return register


# Files: names, links, folders.


def _blob_names() -> Iterator[tuple[str, str]]:
    yield "absolute", "{victim}"
    yield "upwards", "../../../victims/letter.txt"
    yield "short", "ab"
    yield "empty", ""
    yield "folder", "."
    yield "newline", "0" * 63 + "\\n"


for _label, _name in _blob_names():
    for _command in (
        "import {other} --workspace ws",
        "combine {other} --workspace ws",
        "diff {other} {other}",
        "replay --lib onnx --workspace {other}",
        "prioritize --compiler onnxruntime --frontend onnx --workspace {other}",
    ):

        def _blob(arena: Arena, name: str = _name, command: str = _command) -> None:
            other = arena.workspace(large(), path="other")
            blob = name.format(victim=arena.home / "letter.txt")
            rewrite(other, lambda text: text.replace(text.partition('"blob": "')[2][:64], blob) if '"blob"' in text else text)
            arena.opera(*command.format(other=other).split())

        attack("files", f"blob name {_label}: {_command.split()[0]}")(_blob)

for _folder in ("scratch", "logs", "cache", "blobs"):
    for _command in ("run --compiler onnxruntime --frontend onnx --limit 1", "run --compiler onnxruntime --frontend onnx -k nothing"):

        def _link(arena: Arena, folder: str = _folder, command: str = _command) -> None:
            ws = arena.workspace(node())
            with contextlib.suppress(OSError):
                (ws / folder).rename(arena.folder / "aside")
            (ws / folder).symlink_to(arena.home)
            for name in (".part-mine",):
                (arena.home / name).write_text("mine")
            kept = {path.name: path.read_bytes() for path in arena.home.iterdir()}
            mode = arena.home.stat().st_mode
            arena.opera(*command.split(), "--workspace", "ws")
            lost = [name for name, data in kept.items() if not (arena.home / name).exists() or (arena.home / name).read_bytes() != data]
            if lost or arena.home.stat().st_mode != mode:
                raise Failed(f"{folder} is a link: {lost or 'its mode'} is gone")
            arena.before = arena.state()  # new files may lie in a folder that the user linked there

        attack("files", f"{_folder} is a link: {' '.join(_command.split()[-2:])}")(_link)

for _kind in ("link", "folder", "pipe", "device link", "huge sparse"):
    for _command in ("combine", "import"):

        def _odd_blob(arena: Arena, kind: str = _kind, command: str = _command) -> None:
            other = arena.workspace(large(), path="other")
            (blob,) = (path for path in (other / "blobs").glob("??/*"))
            blob.unlink()
            if kind == "link":
                blob.symlink_to("/etc/hostname")
            elif kind == "folder":
                blob.mkdir()
            elif kind == "pipe":
                os.mkfifo(blob)
            elif kind == "device link":
                blob.symlink_to("/dev/zero")
            else:
                with blob.open("wb") as file:
                    file.truncate(2**40)
            arena.opera(command, "other", "--workspace", "ws")
            copies = [path for path in (arena.ws / "blobs").glob("??/*") if path.is_file()]
            if copies:
                raise Failed("a file that is no blob was copied")

        attack("files", f"a blob is a {_kind}: {_command}")(_odd_blob)

for _thing in ("lock", "scratch", "opera.db", "cache", "checked"):
    for _kind in ("file", "folder", "pipe", "dangling link"):

        def _in_the_way(arena: Arena, thing: str = _thing, kind: str = _kind) -> None:
            ws = arena.workspace(node())
            path = ws / thing
            if path.is_dir():
                path.rename(arena.folder / "aside")
            path.unlink(missing_ok=True)
            {
                "file": path.touch,
                "folder": path.mkdir,
                "pipe": lambda: os.mkfifo(path),
                "dangling link": lambda: path.symlink_to("/nonexistent/x"),
            }[kind]()
            arena.opera("ls", "--workspace", "ws")
            arena.opera("run", "--compiler", "onnxruntime", "--frontend", "onnx", "-k", "nothing", "--workspace", "ws")

        attack("files", f"{_thing} is a {_kind}")(_in_the_way)


for _thing in ("lock", "log.jsonl", "status.json", "checked", "reproducers/{finding}.py"):

    def _written(arena: Arena, thing: str = _thing) -> None:
        ws = arena.workspace(node())
        test = add_failure(ws)
        path = ws / thing.format(finding=finding_of(test))
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(arena.home / "letter.txt")
        arena.opera("run", "--compiler", "onnxruntime", "--frontend", "onnx", "--limit", "1", "--workspace", "ws")
        arena.opera("reproduce", test[:12], "--workspace", "ws")

    attack("files", f"{_thing} leads to a file of the user")(_written)


@attack("files", "a report shows a file of the user")
def _spied(arena: Arena) -> None:
    ws = arena.workspace(node())
    test = add_failure(ws)
    (arena.home / "letter.txt").write_text("my-secret-words")
    arena.before = arena.state()
    with contextlib.closing(sqlite3.connect(ws / "opera.db")) as database, database:
        database.execute(
            "INSERT INTO reproductions (finding, script, reproduced, message, test, digest, code)"
            " VALUES (?, '../victims/letter.txt', 1, 'm', ?, ?, '')",
            (finding_of(test), test, hashlib.sha256(b"my-secret-words").hexdigest()),
        )
    for words in (["report", "--html", "/dev/stdout"], ["show", test[:12]], ["report"], ["show", finding_of(test)]):
        done = arena.opera(*words, "--workspace", "ws")
        if "my-secret-words" in done.stdout:
            raise Failed(f"{words[0]} shows it")


@attack("files", "a journal that names a file of the user")
def _journal(arena: Arena) -> None:
    ws = arena.workspace(node())
    data = (ws / "opera.db").read_bytes()
    size = int.from_bytes(data[16:18], "big")
    name = os.fsencode(arena.home / "letter.txt")
    magic = bytes.fromhex("d9d505f920a163d7")
    head = (magic + struct.pack(">IIIII", 0, 0, len(data) // size, 512, size)).ljust(512, b"\0")
    tail = struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (ws / "opera.db-journal").write_bytes(head + tail)
    for words in (["ls"], ["import", "c.jsonl"]):
        arena.opera(*words, "--workspace", "ws")


for _there in (False, True):

    def _linked_database(arena: Arena, there: bool = _there) -> None:
        if there:
            (arena.home / "new").touch()
            arena.before = arena.state()
        arena.corpus(node())
        arena.ws.mkdir()
        (arena.ws / "opera.db").symlink_to(arena.home / "new")
        arena.opera("import", "c.jsonl", "--workspace", "ws")

    attack("files", f"the database is a link to {'an empty file' if _there else 'nothing'}")(_linked_database)

for _thing in (".opera-envs/tvm", ".opera-envs/.tvm.lock"):

    def _environment(arena: Arena, thing: str = _thing) -> None:
        (arena.home / "opera-environment.json").write_text('{"name": "tvm"}')
        arena.before = arena.state()
        path = arena.folder / thing
        path.parent.mkdir()
        (arena.folder / "opera.toml").touch()
        if thing.endswith("lock"):
            (arena.folder / ".opera-envs" / "tvm").mkdir()
            (arena.folder / ".opera-envs" / "tvm" / "x").touch()
        path.symlink_to(arena.home / "letter.txt" if thing.endswith("lock") else arena.home)
        for command in ("create", "remove"):
            arena.opera("env", command, "tvm")

    attack("files", f"{_thing} is a link")(_environment)


@attack("files", "another workspace is only read")
def _only_read(arena: Arena) -> None:
    other = arena.workspace(large(), node(name="Y"), path="other")
    (blob,) = (path for path in (other / "blobs").glob("??/*"))
    blob.write_bytes(b"damaged")
    before = {str(path): (path.lstat().st_mode, path.read_bytes()) for path in sorted(other.rglob("*")) if path.is_file()}
    for words in (["import", "other"], ["combine", "other"], ["diff", "other", "other"], ["compare", "other", "other"]):
        arena.opera(*words, "--workspace", "ws")
    after = {str(path): (path.lstat().st_mode, path.read_bytes()) for path in sorted(other.rglob("*")) if path.is_file()}
    ignored = (str(other / "opera.db-shm"), str(other / "opera.db-wal"))
    if {name: value for name, value in before.items() if name not in ignored} != {
        name: value for name, value in after.items() if name not in ignored
    }:
        raise Failed("the other workspace was changed")


@attack("files", "opera.toml of another user")
def _settings(arena: Arena) -> None:
    program = arena.folder / "python"
    program.write_text(f"#!/bin/sh\ntouch {arena.marker}\n")
    program.chmod(0o755)
    settings = arena.folder / "opera.toml"
    settings.write_text(f'[library.onnx]\npython = "{program}"\n[compiler.onnxruntime]\npython = "{program}"\n')
    if os.geteuid() == 0:
        os.chown(settings, 65534, 65534)
    else:
        settings.chmod(0o666)
    (arena.folder / "below").mkdir()
    arena.opera("extract", "--lib", "onnx", "--option", "inner=no", "--only", "test_relu*", "--workspace", "ws", cwd=arena.folder / "below")


# Code: what an instance may make run.

SHELL = "open('{marker}', 'w')"
"""Without a dot, at which names are taken apart."""
CALLS: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "torch.hub.load",
        [{"name": "a", "value": "{folder}"}, {"name": "b", "value": "entry"}, {"name": "source", "value": "local", "keyword": True}],
    ),
    ("torch.load", [{"name": "a", "value": "{folder}/evil.pkl"}, {"name": "weights_only", "value": False, "keyword": True}]),
    ("torch.ops.load_library", [{"name": "a", "value": "{folder}/evil.so"}]),
    ("torch.ops.aten.from_file", [{"name": "a", "value": "{marker}"}, {"name": "shared", "value": True}, {"name": "size", "value": 4}]),
    ("torch.from_file", [{"name": "a", "value": "{marker}"}, {"name": "shared", "value": True}, {"name": "size", "value": 4}]),
    ("torch.save", [{"name": "a", "value": 1}, {"name": "f", "value": "{marker}"}]),
    ("torch.utils.cpp_extension.load_inline", [{"name": "a", "value": "x"}, {"name": "cpp_sources", "value": "int x;", "keyword": True}]),
    ("torch.os.system", [{"name": "a", "value": "touch {marker}"}]),
    ("torch.serialization.os.system", [{"name": "a", "value": "touch {marker}"}]),
    ("torch.jit.load", [{"name": "a", "value": "{folder}/evil.pt"}]),
    ("torch.package.PackageImporter", [{"name": "a", "value": "{folder}/evil.pt"}]),
    ("torch.classes.load_library", [{"name": "a", "value": "{folder}/evil.so"}]),
    ("torch.Tensor.tofile", [{"name": "f", "value": "{marker}"}]),
    ("torch.Tensor.__reduce_ex__", [{"name": "p", "value": 2}]),
    ("torch.nn.Module.__class__", [{"name": "a", "value": "x"}]),
    ("builtins.eval", [{"name": "a", "value": SHELL}]),
    ("builtins.exec", [{"name": "a", "value": SHELL}]),
    ("builtins.open", [{"name": "a", "value": "{marker}"}, {"name": "b", "value": "w"}]),
    ("builtins.__import__", [{"name": "a", "value": "evil"}]),
    ("operator.attrgetter", [{"name": "a", "value": "x"}]),
    ("torch.compile", [{"name": "a", "value": {"name": "builtins.eval"}}]),
    ("torch.vmap", [{"name": "a", "value": {"name": "torch.os.system"}}]),
    ("torch.func.functional_call", [{"name": "a", "value": {"name": "torch.os.system"}}]),
    ("torch.add", [{"name": "a", "value": {"call": ["torch.hub.load", [[None, "{folder}"], [None, "entry"], ["source", "local"]]]}}]),
    ("torch.add", [{"name": "a", "value": {"call": ["builtins.exec", [[None, SHELL]]]}}]),
    ("torch.nn.functional.relu", [{"name": "a", "value": {"enum": ["torch", "hub"]}}]),
    ("torch.zeros_like", [{"name": "dtype", "value": {"dtype": "hub"}, "keyword": True}]),
]
KERAS: list[tuple[str, list[dict[str, Any]]]] = [
    ("keras.saving.load_model", [{"name": "a", "value": "{folder}/evil.keras"}]),
    ("keras.utils.get_file", [{"name": "a", "value": "{marker}"}, {"name": "origin", "value": "file:///etc/hostname"}]),
    ("keras.layers.TFSMLayer", [{"name": "a", "value": "{folder}"}]),
    ("keras.layers.Lambda", [{"name": "a", "value": {"name": "builtins.eval"}}]),
    ("keras.src.utils.io_utils.os.system", [{"name": "a", "value": "touch {marker}"}]),
    (
        "keras.activations.deserialize",
        [{"name": "a", "value": {"dict": [["class_name", "function"], ["config", "system"], ["module", "os"]]}}],
    ),
    ("keras.activations.get", [{"name": "a", "value": {"dict": [["class_name", "function"], ["config", "system"], ["module", "os"]]}}]),
    ("tf.io.write_file", [{"name": "a", "value": "{marker}"}, {"name": "b", "value": "x"}]),
    ("tf.load_op_library", [{"name": "a", "value": "{folder}/evil.so"}]),
    ("tf.saved_model.load", [{"name": "a", "value": "{folder}"}]),
    ("tf.py_function", [{"name": "a", "value": {"name": "builtins.eval"}}]),
    (
        "tf.raw_ops.WriteFile",
        [{"name": "filename", "value": "{marker}", "keyword": True}, {"name": "contents", "value": "x", "keyword": True}],
    ),
]


def _filled(tree: Any, arena: Arena) -> Any:
    text = json.dumps(tree)
    inner = SHELL.format(marker=arena.marker)
    return json.loads(
        text.replace(json.dumps(SHELL)[1:-1], json.dumps(inner)[1:-1])
        .replace("{marker}", str(arena.marker))
        .replace("{folder}", str(arena.folder))
    )


def _traps(arena: Arena) -> None:
    """Files that write the marker where they are loaded."""
    (arena.folder / "hubconf.py").write_text(f"open({str(arena.marker)!r}, 'w')\ndef entry(*a, **k): pass\n")
    (arena.folder / "evil.py").write_text(f"open({str(arena.marker)!r}, 'w')\n")
    (arena.folder / "evil.pkl").write_bytes(b"cos\nsystem\n(S'touch " + str(arena.marker).encode() + b"'\ntR.")


for _library, _calls in (("pytorch", CALLS), ("keras", KERAS[:7]), ("tensorflow", KERAS[7:])):
    for _number, (_api, _arguments) in enumerate(_calls):

        def _called(arena: Arena, library: str = _library, api: str = _api, arguments: Any = _arguments) -> None:
            _traps(arena)
            made = instance(api, library)
            made["call"] = [*_filled(arguments, arena), *made["call"]]
            made["call"].sort(key=lambda each: each.get("keyword", False))
            arena.workspace(made)
            arena.opera("replay", "--lib", library, "--workspace", "ws")

        attack("code", f"call {_number}: {_api}")(_called)


def _set(path: Path, column: str, value: str) -> None:
    """Changes a column of every result."""
    with contextlib.closing(sqlite3.connect(path / "opera.db")) as database, database:
        database.execute(f"UPDATE results SET {column} = ?", (value,))


def _importing(domain: str) -> dict[str, Any]:
    """A node whose model imports one domain more."""
    found = node()
    found["context"].append(["opsets", {"dict": [["ai.onnx", 14], [f"x{domain}", 1]]}])
    return found


QUOTES = [
    '"',
    "'",
    "\\",
    '"""',
    "'''",
    "\n",
    "{code}",
    '", {code}, "',
    '"); {code}; ("',
    "'''\n{code}\n'''",
    '"""\n{code}\n"""',
    "${{HOME}}",
    "{{{{7*7}}}}",
]
for _place in ("input", "api", "domain", "imported domain", "attribute", "converter", "message", "route"):
    for _text in QUOTES:

        def _named(arena: Arena, place: str = _place, text: str = _text) -> None:
            hostile = text.replace("{{", "{").replace("}}", "}").replace("{code}", SHELL.format(marker=arena.marker))
            made = {
                "input": lambda: node(name=f"X{hostile}"),
                "api": lambda: node(f"ai.onnx.Relu{hostile}"),
                "domain": lambda: node(f"x{hostile}.Relu"),
                "imported domain": lambda: _importing(hostile),
                "attribute": lambda: node("ai.onnx.LeakyRelu", init=[{"name": f"alpha{hostile}", "value": 0.5}]),
            }.get(place, node)()
            ws = arena.workspace(made)
            test = add_failure(ws)
            if place in ("converter", "route"):
                _set(ws, place, hostile)
            elif place == "message":
                _set(ws, "detail", json.dumps({"failure": {"type": f"E{hostile}", "message": hostile, "frames": []}}))
            if test:
                arena.opera("reproduce", test[:12], "--workspace", "ws")
                arena.opera("issue", test[:12], "--workspace", "ws")

        attack("code", f"a script with {_text!r} in the {_place}")(_named)


# Documents: sound ones with one part of a wrong type.

PARTS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("nested 480 deep", lambda row: row["call"].append({"name": "y", "value": NESTED})),
    ("layout an object", lambda row: row["call"][0]["value"]["tensor"].update(layout={"a": 1})),
    ("layout unknown", lambda row: row["call"][0]["value"]["tensor"].update(layout="x")),
    ("shape text", lambda row: row["call"][0]["value"]["tensor"].update(shape="12")),
    ("shape of texts", lambda row: row["call"][0]["value"]["tensor"].update(shape=["2"])),
    ("shape of fractions", lambda row: row["call"][0]["value"]["tensor"].update(shape=[1.7])),
    ("shape of truth", lambda row: row["call"][0]["value"]["tensor"].update(shape=[True], data="AACAPw==")),
    ("shape beyond", lambda row: row["call"][0]["value"]["tensor"].update(shape=[2**70], data=None)),
    ("base64 with others", lambda row: row["call"][0]["value"]["tensor"].update(data="AACAPw!AAAEA=")),
    (
        "low above high",
        lambda row: row["call"][0]["value"].update(tensor={"shape": [2], "dtype": "float32", "constraint": {"low": 5, "high": 1}}),
    ),
    ("low a text", lambda row: row["call"][0]["value"].update(tensor={"shape": [2], "dtype": "float32", "constraint": {"low": "x"}})),
    (
        "structure unknown",
        lambda row: row["call"][0]["value"].update(tensor={"shape": [2], "dtype": "float32", "constraint": {"structure": ["x"]}}),
    ),
    (
        "structure a number",
        lambda row: row["call"][0]["value"].update(tensor={"shape": [2], "dtype": "float32", "constraint": {"structure": 5}}),
    ),
    ("strides of texts", lambda row: row["call"][0]["value"]["tensor"].update(strides=["1"])),
    ("dtype a list", lambda row: row["call"][0]["value"]["tensor"].update(dtype=["float32"])),
    ("name a number", lambda row: row["call"][0].update(name=5)),
    ("keyword a text", lambda row: row["call"][0].update(keyword="yes")),
    ("context a number", lambda row: row.update(context=5)),
    ("context odd pairs", lambda row: row.update(context=[[1, 2, 3]])),
    ("defaults nested", lambda row: row.update(defaults=[["x", NESTED]])),
    ("expected a number", lambda row: row.update(expected=[5, {"x": 1}])),
    ("outcome unknown", lambda row: row.update(outcome=[1])),
    ("exception an object", lambda row: row.update(exception={"a": 1})),
    ("range endless", lambda row: row["call"].append({"name": "r", "value": {"range": [0, 2**80, 1]}})),
    ("number of 300 bits", lambda row: row["call"].append({"name": "n", "value": 2**300})),
    ("dict with list keys", lambda row: row["call"].append({"name": "d", "value": {"dict": [[[1], 2]]}})),
    ("api of 1 MB", lambda row: row.update(api="torch." + "a" * 2**20)),
    ("library a path", lambda row: row.update(library="../../x")),
]
for _label, _change in PARTS:

    def _poison(arena: Arena, change: Callable[[dict[str, Any]], object] = _change) -> None:
        bad = instance("torch.relu")
        change(bad)
        arena.opera("import", arena.corpus(instance("torch.abs"), bad, instance("torch.neg")), "--workspace", "ws")
        arena.opera("prioritize", "--compiler", "tvm", "--frontend", "pytorch", "--workspace", "ws", expect=frozenset({0}))

    attack("documents", f"a line: {_label}")(_poison)

FILES: list[tuple[str, str, bytes]] = [
    ("status.json", "top --workspace ws", b"[" * 9000),
    ("status.json", "top --workspace ws", b'{"workers": 5}'),
    ("status.json", "top --workspace ws", b"\xff\xfe"),
    ("../known.toml", "baseline check known.toml --workspace ws", b"failure = [1, 2]"),
    ("../known.toml", "baseline check known.toml --workspace ws", b"a = " + b"[" * 9000),
    ("../known.toml", "baseline check known.toml --workspace ws", b"[[failure]]\nfingerprint = {}\n"),
    ("../opera.toml", "config", b"a = " + b"[" * 9000),
    ("../opera.toml", "config", b"library = 5"),
    ("../opera.toml", "config", b"[compiler.tvm]\npython = [1]"),
    ("../opera.toml", "config", b"[library]\nx = 1"),
    ("../r.gz", "evaluate --recorded r.gz", b"[" * 9000),
    ("../r.gz", "evaluate --recorded r.gz", b'{"schema": "recorded-campaign/1"}\n'),
    (
        "../r.gz",
        "evaluate --recorded r.gz",
        b'{"schema": "recorded-campaign/1", "subject": 1, "tests": 0, "faults": 1, "equipped": 1, "facts": 1}\n',
    ),
    ("../torch.add.json", "import torch.add.json --format freefuzz --workspace ws", b"[" * 9000),
    ("../torch.add.json", "import torch.add.json --format freefuzz --workspace ws", json.dumps([{"parameter:0": NESTED}]).encode()),
    ("../torch.add.bson", "import torch.add.bson --format freefuzz --workspace ws", b"\x14\0\0\0\x02a\0\xf6\xff\xff\xffxxxxxxxx\0"),
    ("../c.jsonl", "import c.jsonl --workspace ws", b"\x1f\x8b" + b"x" * 50),
    ("../c.jsonl", "import c.jsonl --workspace ws", b'{"schema": "corpus/1"}\n' + b"[" * 9000),
]
for _number, (_file, _command, _data) in enumerate(FILES):

    def _file_attack(arena: Arena, file: str = _file, command: str = _command, data: bytes = _data) -> None:
        ws = arena.workspace(node())
        (ws / file).resolve().write_bytes(data)
        arena.opera(*command.split())

    attack("documents", f"{_number}: {Path(_file).name}, {_data[:24]!r}")(_file_attack)

for _label, _words in {
    "-k of 2,000 words": ["run", "--compiler", "tvm", "--frontend", "onnx", "-k", " or ".join(["a"] * 2000)],
    "-k of 1,000 brackets": ["run", "--compiler", "tvm", "--frontend", "onnx", "-k", "(" * 1000 + "a" + ")" * 1000],
    "a seed of 70 bits": ["run", "--compiler", "tvm", "--frontend", "onnx", "--seed", str(2**70)],
    "a workspace of 5,000 letters": ["ls", "--workspace", "w" * 5000],
    "a workspace that is a file": ["ls", "--workspace", "c.jsonl"],
    "a limit of 70 bits": ["run", "--compiler", "tvm", "--frontend", "onnx", "--limit", str(2**70)],
}.items():

    def _absurd(arena: Arena, words: list[str] = _words) -> None:
        arena.workspace(node())
        arena.opera(*words, *([] if "--workspace" in words else ["--workspace", "ws"]))

    attack("documents", f"the command line: {_label}")(_absurd)

TABLES: list[tuple[str, str]] = [
    ("a missing table", "DROP TABLE merges"),
    ("a view", "CREATE VIEW v AS SELECT 1"),
    ("a trigger", "CREATE TRIGGER t AFTER INSERT ON occurrences BEGIN DELETE FROM instances; END"),
    ("a damaged document", "UPDATE instances SET document = x'00'"),
    ("a verdict", "UPDATE results SET verdict = 'x'"),
    ("seconds", "UPDATE results SET seconds = '[]'"),
    ("a detail", "UPDATE results SET detail = '{}'"),
    ("a detail nested", f"UPDATE results SET detail = '{json.dumps(NESTED)}'"),
    ("an api of bytes", "UPDATE instances SET api = x'ff'"),
    ("calls", "UPDATE occurrences SET calls = 'x'"),
    ("a part of a campaign", 'UPDATE campaigns SET settings = \'{"shard": "x"}\''),
    (
        "a trigger document",
        f"INSERT INTO reductions VALUES (1, 'ab', '{'0' * 64}', 'ab', NULL, NULL, '{{\"properties\": [[\"a\", \"b\", 1]]}}', '{{}}')",
    ),
    ("a route", "UPDATE results SET route = x'00ff'"),
]
for _label, _statement in TABLES:

    def _database(arena: Arena, statement: str = _statement) -> None:
        ws = arena.workspace(node())
        add_failure(ws)
        with contextlib.closing(sqlite3.connect(ws / "opera.db")) as database, database:
            database.execute(statement)
        with contextlib.suppress(FileNotFoundError):
            (ws / "checked").unlink()  # as it comes from another machine
        for words in (
            ["report"],
            ["ls"],
            ["matrix"],
            ["show", "a"],
            ["triage", "--compiler", "onnxruntime", "--frontend", "onnx", "--budget", "1s"],
        ):
            arena.opera(*words, "--workspace", "ws")
        arena.opera("combine", "ws", "--workspace", "other")

    attack("documents", f"a database with {_label}")(_database)


# Processes: what tests start and write.


def _suite(arena: Arena, text: str) -> None:
    folder = arena.folder / "suite"
    folder.mkdir()
    (folder / "test_it.py").write_text(f"import onnx, os, sys, subprocess, time\nfrom onnx import helper\ndef test_it():\n{text}\n")


def _left(arena: Arena) -> list[str]:
    """Processes that the attack has left, by the folder that they were told."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if str(arena.folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
    return found


for _label, _given in {"its own environment": "None", "an empty environment": "{}"}.items():

    def _with_daemon(arena: Arena, environment: str = _given) -> None:
        sleeper = f"import time; time.sleep(60)  # {arena.folder}"
        _suite(arena, f"    subprocess.Popen([sys.executable, '-c', {sleeper!r}], start_new_session=True, env={environment})")
        arena.opera("extract", "--lib", "onnx", "--suite", "suite", "--source", "suite", "--workspace", "ws")
        time.sleep(0.3)
        left = _left(arena)
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)
        if left:
            raise Failed("a daemon of a test is left")

    attack("processes", f"a test starts a daemon with {_label}")(_with_daemon)

LINES = [
    "[" * 100_000,
    "5",
    '{"again": 99, "test": "t", "calls": 1}',
    '{"entry": "x"}',
    '{"recording": 7}',
    '{"calls": 5}',
    '{"instance": 5, "test": 1}',
    '{"dropped": [], "calls": "x"}',
    '{"outcome": {}}',
    "NaN",
    '{"entry": 1e300, "name": []}',
    "\x00\xff",
]
for _number, _line in enumerate(LINES):

    def _wrong_line(arena: Arena, line: str = _line) -> None:
        code = f"""
    for fd in range(3, 60):
        try:
            if 'jsonl' in os.readlink('/proc/self/fd/%d' % fd): os.write(fd, {(line + chr(10)).encode("latin-1")!r})
        except OSError: pass"""
        _suite(arena, code)
        (arena.folder / "suite" / "test_other.py").write_text("def test_fine():\n    pass\n")
        arena.opera("extract", "--lib", "onnx", "--suite", "suite", "--source", "suite", "--workspace", "ws", expect=frozenset({0, 4}))

    attack("processes", f"a test writes to the recording: {_line[:30]!r}")(_wrong_line)


@attack("processes", "kill -9 of reproduce")
def _killed(arena: Arena) -> None:
    ws = arena.workspace(node())
    test = add_failure(ws)
    before = set(Path(tempfile.gettempdir()).iterdir())
    child = subprocess.Popen(
        [sys.executable, "-m", "opera", "reproduce", test[:12], "--workspace", "ws"],
        cwd=arena.folder,
        env=arena.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(2.5)
    child.kill()
    child.wait()
    time.sleep(1.5)
    left = _left(arena)
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    folders = [
        path.name
        for path in set(Path(tempfile.gettempdir()).iterdir()) - before
        if stat.S_ISDIR(path.lstat().st_mode) and path.name.startswith("tmp")
    ]
    if left or folders:
        raise Failed(f"{len(left)} processes and {len(folders)} temporary folders are left")


# Text: what is shown.

for _command in (
    "ls",
    "show {test}",
    "report",
    "matrix",
    "matrix --csv -",
    "issue {test} --no-run",
    "diff ws ws",
    "export jsonl -",
    "report --markdown -",
    "report --junit -",
):

    def _shown(arena: Arena, command: str = _command) -> None:
        ws = arena.workspace(node(f"ai.onnx.={TEXT}Relu"), node())
        test = add_failure(ws)
        words = [*command.format(test=test[:12]).split(), *([] if command.startswith("diff") else ["--workspace", "ws"])]
        done = arena.opera(*words)
        shown = done.stdout + done.stderr
        if any(each in shown for each in ("\x1b", "\x07", "\u202e", "\x9b")):
            raise Failed(f"{command.split()[0]} shows a terminal sequence")
        if "csv" in command and any(cell.lstrip('"').startswith("=") for row in done.stdout.splitlines() for cell in row.split(",")):
            raise Failed("a cell of the table is a formula")

    attack("text", f"terminal sequences: {_command}")(_shown)


@attack("text", "a printed command can be typed")
def _typed(arena: Arena) -> None:
    name = f"my ws $(touch {arena.marker.name})"
    arena.opera("import", arena.corpus(node()), "--workspace", name)
    add_failure(arena.folder / name)
    shown = arena.opera("report", "--workspace", name).stdout
    for part in shown.split("`")[1::2]:
        if part.startswith("opera ") and "--workspace" in part:
            line = part.replace("opera ", f"{sys.executable} -m opera ", 1).replace("reproduce", "show")
            subprocess.run(["sh", "-c", line], cwd=arena.folder, env=arena.environment(), capture_output=True, check=False, timeout=TIMEOUT)


def main() -> int:
    """Runs the attacks and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="the checkout to attack")
    parser.add_argument("--only", choices=sorted(ATTACKS), help="one class of attacks")
    parser.add_argument("-k", default="", help="attacks whose name has this text")
    parser.add_argument("-v", "--verbose", action="store_true", help="name what held as well")
    options = parser.parse_args()
    held: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for kind, attacks in ATTACKS.items():
        for name, run in attacks:
            if (options.only and kind != options.only) or options.k not in name:
                continue
            tried[kind] += 1
            with tempfile.TemporaryDirectory(prefix="opera-attack-", ignore_cleanup_errors=True) as folder:
                arena = Arena(Path(folder), options.tree.resolve())
                try:
                    run(arena)
                    arena.check()
                except (Failed, subprocess.TimeoutExpired) as error:
                    sys.stdout.write(f"NOT HELD  {kind}: {name}: {str(error)[:200]!r}\n")
                else:
                    held[kind] += 1
                    if options.verbose:
                        sys.stdout.write(f"held      {kind}: {name}\n")
                sys.stdout.flush()
    for kind in tried:
        sys.stdout.write(f"{kind:10} {held[kind]:4} of {tried[kind]:4} held\n")
    sys.stdout.write(f"{'all':10} {held.total():4} of {tried.total():4} held\n")
    return 0 if held == tried else 1


if __name__ == "__main__":
    sys.exit(main())
