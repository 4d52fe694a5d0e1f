"""Whatever the database of another workspace holds, a command takes it or says what to do: none ends with a traceback."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as xml

import hostile
import pytest
from hostile import SOUND
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting import stands_alone
from sarif import objections

from opera.difftest.settings import Settings, Shard
from opera.errors import UserError
from opera.instance import Occurrence, digest, encode_instance
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.campaigns import Reproduction
from opera.store.corpus import Extraction
from opera.store.database import open_workspace
from opera.store.reductions import Merge, Reductions, StoredReduction
from opera.store.rows import TABLES, ReductionFacts, TriggerFacts

FAILURE = {
    "type": "E", "message": "m", "bases": ["Exception"], "frames": [["m", "f.py", 3, "f"]],
    "cause": {"type": "C", "message": "c", "frames": [["m", "f.py", None, "g"]]},
}  # fmt: skip
DIFFERENCE = {"kind": "values", "output": 0, "expected": "1.0", "actual": "2.0", "distance": 1.0, "allowed": "nan", "dtype": "float32"}
LOST = {"cause": "signal", "detail": "SIGSEGV"}
KEPT = {"outputs": None, "reference": "b"}
DETAILS: list[tuple[Verdict, dict[str, Any]]] = [
    (Verdict.CRASH, {"failure": FAILURE, "lowest_level": {"name": "0", "verdict": "pass", "vanishes": True}}),
    (Verdict.INCONSISTENT, {"difference": DIFFERENCE, "kept": KEPT}),
    (Verdict.ABORT, {"lost": LOST, "log": "last words"}),
    (Verdict.UNDEFINED, {"excuse": "ties", "difference": DIFFERENCE}),
]
TRIGGER = {
    "properties": [
        ["dtype", "x0", "=", "float32"], ["rank", "x0", "=", 1], ["shape[0]", "x0", "=", 1], ["value", "ceil_mode", "=", 1],
        ["context", "opset", "=", 13], ["opset", "", "≥", 12],
    ],
    "api": "ai.onnx.MaxPool", "tensors": ["X"],
}  # fmt: skip
FACTS = {
    "form": "runtime", "probes": 3, "seconds": 0.5, "complete": True, "confirmed": 2,
    "evidence": {"failure": FAILURE}, "passes": {"rank(x0)=1": "MaxPool(X)"}, "fails": ["a" * 64], "against": 0, "untried": 1,
    "arbiters": [["openvino/onnx", "library"], ["onnxruntime/onnx", "compiler"]], "first_pass": "FuseOps",
}  # fmt: skip
SETTINGS = Settings("tvm", "onnx", shard=Shard(1, 2), opsets=(13,)).selection()
VERSIONS = {"template": "onnx/4", "library": {"onnx": "1"}, "compiler": {"tvm": "0.27", "build": "b"}, "route": "onnx", "adapter": 1}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a row in every table, and every key in every document."""
    folder = tmp_path_factory.mktemp("sound") / "ws"
    with open_workspace(folder, write=True) as space:
        corpus, campaigns = Corpus(space), Campaigns(space)
        corpus.add((each, Occurrence("s", "t")) for each in SOUND)
        keys = [digest(each) for each in SOUND]
        corpus.record_extraction(Extraction("onnx", "s", "1", 2, 2, 2, {"flood": 1}, 0.5), {("a", "flood"): 1})
        corpus.add_ranking("onnx", "tvm", "opera", 0, 0.5, [(key, 0.5) for key in keys])
        campaigns.begin("c1", "tvm", "onnx", SETTINGS, VERSIONS)
        results = [
            StoredResult(
                str(place) * 64, keys[0], "tvm", "onnx", "onnx", "runtime", 0, verdict, Stage.LOAD, "r", "C._impl",
                f"f{place}" * 8 if verdict.is_failure else None, cast(Detail, detail), {"load": 0.5}, "ab",
            )
            for place, (verdict, detail) in enumerate(DETAILS)
        ]  # fmt: skip
        campaigns.write("c1", enumerate(results))
        campaigns.pause("c1", 1.0, complete=True, stopped_by=None)
        campaigns.keep_machine("ab", {"cores": 2, "memory": 1, "processor": "p", "features": ["f"]})
        campaigns.keep_reproduction(Reproduction("f0" * 8, "reproducers/f0.py", True, "0" * 64, "0" * 64), "m")
        stored = Reductions(space)
        for place in (0, 1):
            fingerprint, document = f"f{place}" * 8, encode_instance(SOUND[0])
            facts, trigger = cast(ReductionFacts, FACTS), cast(TriggerFacts, TRIGGER)
            stored.keep(StoredReduction(fingerprint, str(place) * 64, fingerprint, None, document, trigger, facts))
            stored.assign([str(place) * 64], fingerprint)
        stored.keep_merges([Merge("f0" * 8, "f1" * 8, "one trigger")])
        with space.transaction() as database:
            digests = zlib.compress(bytes.fromhex(keys[0]))
            database.execute("INSERT INTO extraction_progress VALUES ('onnx', 's', 'e', 'm', '{}', ?)", (digests,))
            columns = "test, machine, verdict, stage, detail, seconds, finished"
            values = ("0" * 64, "cd", "crash", "load", json.dumps({"failure": FAILURE}), '{"load": 0.5}', "now")
            database.execute(f"INSERT INTO results_elsewhere ({columns}) VALUES ({', '.join('?' * len(values))})", values)
    with contextlib.closing(sqlite3.connect(folder / "opera.db")) as database:
        empty = [table for table in TABLES if database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)]
    assert empty == ["artefacts"], "nothing of this table is believed without a signature"
    return folder


def fits_a_cell(value: Any) -> bool:
    """Whether SQLite takes *value*."""
    return not isinstance(value, (list, dict)) and value != "\ud800" and not (isinstance(value, int) and not -(2**63) <= value < 2**63)


CELLS: list[Any] = [
    *filter(fits_a_cell, hostile.SCALARS), b"", b"\xff", b"x\x9c\x03\x00\x00\x00\x00\x01", json.dumps(hostile.nested(600)), "[]", "{}",
    '{"failure": 1}', zlib.compress(b"{}"),
]  # fmt: skip


def spoilt_cell(data: st.DataObject, value: Any) -> Any:
    """What stands in the place of *value*: anything, or the document that it holds with parts exchanged, dropped or repeated."""
    tree: Any = None
    with contextlib.suppress(ValueError, TypeError, zlib.error):
        tree = json.loads(zlib.decompress(value) if isinstance(value, bytes) else value)
    if not isinstance(tree, (dict, list)) or data.draw(st.integers(0, 4)) == 0:
        return data.draw(st.sampled_from(CELLS))
    text = json.dumps(data.draw(hostile.spoilt(tree)))
    return zlib.compress(text.encode()) if isinstance(value, bytes) else text


def spoil(data: st.DataObject, database: sqlite3.Connection) -> None:
    """Changes one to three cells."""
    for _ in range(data.draw(st.integers(1, 3))):
        table = data.draw(st.sampled_from(sorted(TABLES)))
        column = data.draw(st.sampled_from(TABLES[table].__struct_fields__))
        rows = database.execute(f"SELECT {column} FROM {table}").fetchall()
        old = data.draw(st.sampled_from(rows))[0] if rows else None
        with contextlib.suppress(sqlite3.IntegrityError, OverflowError):
            database.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} IS ?", (spoilt_cell(data, old), old))


COMMANDS = [
    "report", "ls", "ls --operators", "show f", "show 0000", "show 1111", "show f0f0", "matrix", "top", "export jsonl -",
    "report --json", "show f1 --json", "diff", "import", "combine", "compare", "prioritize", "baseline", "page", "page with scripts",
]  # fmt: skip
FILES = {"html": "page.html", "junit": "j.xml", "sarif": "s.json", "markdown": "m.md"}
"""Each form of a report, and the name of its file."""


def arguments_of(command: str, sound: Path, other: Path, folder: Path) -> list[str]:
    """The words of a command that reads the workspace *other*."""
    ours = str(folder / "ours")
    if command in ("diff", "compare"):
        return [command, str(sound), str(other), "--workspace", ours]
    if command in ("import", "combine"):
        return [command, str(other), "--workspace", ours]
    page = ["report", "--json", *(word for form, name in FILES.items() for word in (f"--{form}", str(folder / name)))]
    words = {
        "prioritize": ["prioritize", "--compiler", "tvm", "--frontend", "onnx"],
        "baseline": ["baseline", "update", str(folder / "known.toml")],
        "page": [*page, "--no-scripts"],
        "page with scripts": page,
    }
    return [*words.get(command, command.split()), "--workspace", str(other)]


def written(folder: Path) -> dict[str, str]:
    """The text of each form of a report that is in *folder*."""
    return {form: (folder / name).read_text(encoding="utf-8") for form, name in FILES.items() if (folder / name).exists()}


def only_text(files: Mapping[str, str], printed: str) -> None:
    """Checks that foreign text is text in each form of a report, and that each form can be read."""
    for form, text in {**files, "json": printed}.items():
        assert not re.search(r"[\x00-\x08\x0e-\x1f\u202a-\u202e\ud800-\udfff]", text), form
    stands_alone(files["html"])
    xml.fromstring(files["junit"])
    assert list(objections(json.loads(files["sarif"]))) == []
    assert "<img" not in re.sub(r"(`+).*?\1", "", files["markdown"])
    json.loads(printed, parse_constant=pytest.fail)


@pytest.mark.parametrize("command", [pytest.param(each, marks=[pytest.mark.slow] * each.endswith("scripts")) for each in COMMANDS])
def test_a_database_with_spoilt_cells_ends_with_no_traceback(
    command: str, workspace: Path, capsys: pytest.CaptureFixture[str], attacks: settings
) -> None:
    from opera.cli import command as cli
    from opera.cli.options import guarded

    cost = 100 if command == "page with scripts" else 10

    @settings(attacks, max_examples=max(10, attacks.max_examples // cost))
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "theirs"
            other.mkdir()
            with (
                contextlib.closing(sqlite3.connect(workspace / "opera.db")) as sound,
                contextlib.closing(sqlite3.connect(other / "opera.db")) as copy,
                copy,
            ):
                sound.backup(copy)
                spoil(data, copy)
            arguments = arguments_of(command, workspace, other, Path(folder))
            code = guarded(cli, arguments)
            told = capsys.readouterr()
            assert code in (0, 1, 2, 3, 4), (arguments, told.err[-2000:])
            files = written(Path(folder))
            if files:
                only_text(files, told.out)

    attack()


def test_one_bad_row_leaves_the_rest_of_a_report_standing(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from opera.cli import command as cli
    from opera.cli.options import guarded

    shutil.copytree(workspace, tmp_path / "w")
    with contextlib.closing(sqlite3.connect(tmp_path / "w" / "opera.db")) as database, database:
        database.execute("UPDATE results SET detail = '{}' WHERE verdict = 'crash'")
        database.execute("UPDATE reductions SET trigger = ?", (json.dumps({**TRIGGER, "properties": [["rank", "X", "≥", "two"]]}),))
    assert guarded(cli, ["report", "--json", "--workspace", str(tmp_path / "w")]) == 0
    told = capsys.readouterr()
    assert "results 000000000000: a result of verdict crash without failure" in told.err
    assert {each["verdict"] for each in json.loads(told.out)["findings"]} == {"inconsistent", "abort"}
    assert guarded(cli, ["show", "f1f1", "--workspace", str(tmp_path / "w")]) == 0
    assert "its stored trigger is damaged" in capsys.readouterr().out


def test_a_fingerprint_without_a_failure_is_a_bad_row(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from opera.cli import command as cli
    from opera.cli.options import guarded

    shutil.copytree(workspace, tmp_path / "w")
    with contextlib.closing(sqlite3.connect(tmp_path / "w" / "opera.db")) as database, database:
        database.execute("UPDATE results SET verdict = 'undefined' WHERE fingerprint IS NOT NULL")
    for command in ("show 0000", "report", "matrix"):
        assert guarded(cli, [*command.split(), "--workspace", str(tmp_path / "w")]) in (0, 2)
        assert "a result of verdict undefined with a fingerprint" in capsys.readouterr().err


@pytest.mark.parametrize("table", ["drops", "occurrences"])
def test_what_was_never_called_is_left_out(table: str, workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from opera.cli import command as cli
    from opera.cli.options import guarded

    shutil.copytree(workspace, tmp_path / "w")
    with contextlib.closing(sqlite3.connect(tmp_path / "w" / "opera.db")) as database, database:
        database.execute(f"UPDATE {table} SET calls = 0")
    assert guarded(cli, arguments_of("page", workspace, tmp_path / "w", tmp_path)) == 0
    told = capsys.readouterr()
    assert f"{table} " in told.err
    only_text(written(tmp_path), told.out)


def test_foreign_schemas_are_refused(workspace: Path, tmp_path: Path) -> None:

    attacks: Iterator[str] = iter(
        [
            "CREATE VIEW spy AS SELECT * FROM results",
            "CREATE TRIGGER spy AFTER UPDATE ON results BEGIN DELETE FROM instances; END",
            "CREATE VIRTUAL TABLE spy USING fts5(x)",
            "DROP TABLE merges",
            "ALTER TABLE results RENAME COLUMN verdict TO opinion",
        ]
    )
    for number, statement in enumerate(attacks):
        folder = tmp_path / str(number)
        folder.mkdir()
        with sqlite3.connect(workspace / "opera.db") as sound, sqlite3.connect(folder / "opera.db") as copy:
            sound.backup(copy)
            copy.execute(statement)
        with pytest.raises(UserError, match="damaged, or was not written by OPERA"):
            open_workspace(folder, write=False)
