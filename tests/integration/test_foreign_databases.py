"""Whatever the database of another workspace holds, a command takes it or says what to do: none ends with a traceback."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile
import pytest
from hostile import SOUND
from hypothesis import given, settings
from hypothesis import strategies as st

from opera.errors import UserError
from opera.instance import Occurrence, digest
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.store.rows import TABLES


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a row in every table."""
    folder = tmp_path_factory.mktemp("sound") / "ws"
    with open_workspace(folder, write=True) as space:
        Corpus(space).add((each, Occurrence("s", "t")) for each in SOUND)
        key = digest(SOUND[0])
        test, detail = "a" * 64, json.dumps({"failure": {"type": "E", "message": "m", "frames": [["m", "f.py", 3, "f"]]}})
        with space.transaction() as database:
            database.execute("INSERT INTO extractions VALUES ('onnx', 's', '1', 2, 2, 2, '{\"flood\": 1}', 0.5)")
            database.execute("INSERT INTO rankings VALUES (1, 'onnx', 'tvm', 'opera', 0, 0.5, 'now')")
            database.execute("INSERT INTO ranked VALUES (1, 0, ?, 0.5)", (key,))
            campaign = ("c1", "tvm", "onnx", '{"seed": 0}', '{"template": "onnx/4"}', "[]", 1.0, 1, None, "now")
            database.execute(f"INSERT INTO campaigns VALUES ({', '.join('?' * len(campaign))})", campaign)
            columns = "(test, instance, compiler, frontend, route, form, seed, verdict, stage, fingerprint, detail, seconds)"
            values = (test, key, "tvm", "onnx", "onnx", "runtime", 0, "crash", "load", "f" * 16, detail, '{"load": 0.5}')
            database.execute(f"INSERT INTO results {columns} VALUES ({', '.join('?' * len(values))})", values)
            database.execute("INSERT INTO campaign_tests VALUES ('c1', ?, 0)", (test,))
            database.execute("INSERT INTO machines VALUES ('ab', '{\"cores\": 2}')")
            database.execute("INSERT INTO reductions VALUES (1, ?, ?, ?, 'x', NULL, NULL, '{\"probes\": 1}')", ("f" * 16, test, "f" * 16))
    return folder


def fits_a_cell(value: Any) -> bool:
    """Whether SQLite takes *value*."""
    return not isinstance(value, (list, dict)) and value != "\ud800" and not (isinstance(value, int) and not -(2**63) <= value < 2**63)


CELLS: list[Any] = [
    *filter(fits_a_cell, hostile.SCALARS), b"", b"\xff", b"x\x9c\x03\x00\x00\x00\x00\x01", json.dumps(hostile.nested(600)), "[]", "{}",
    '{"failure": 1}',
]  # fmt: skip


COMMANDS = [
    "report", "ls", "show f", "matrix", "top", "export jsonl -", "diff", "import", "combine", "compare", "prioritize",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_database_with_spoilt_cells_ends_with_no_traceback(
    command: str, workspace: Path, capsys: pytest.CaptureFixture[str], attacks: settings
) -> None:
    from opera.cli import command as cli
    from opera.cli.options import guarded
    from opera.cli.prioritize import command as prioritize

    @settings(attacks, max_examples=attacks.max_examples // 10)
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "theirs"
            other.mkdir()
            with sqlite3.connect(workspace / "opera.db") as sound, sqlite3.connect(other / "opera.db") as copy:
                sound.backup(copy)
                for _ in range(data.draw(st.integers(1, 3))):
                    table = data.draw(st.sampled_from(sorted(TABLES)))
                    column = data.draw(st.sampled_from(TABLES[table].__struct_fields__))
                    try:
                        copy.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (data.draw(st.sampled_from(CELLS)),))
                    except sqlite3.IntegrityError:
                        continue
            words = command.split()
            ours = str(Path(folder) / "ours")
            if command in ("diff", "compare"):
                arguments = [*words, str(workspace), str(other), "--workspace", ours]
            elif command in ("import", "combine"):
                arguments = [*words, str(other), "--workspace", ours]
            elif command == "prioritize":
                arguments = ["--compiler", "tvm", "--frontend", "onnx", "--workspace", str(other)]
            else:
                arguments = [*words, "--workspace", str(other)]
            code = guarded(prioritize if command == "prioritize" else cli, arguments)
            told = capsys.readouterr()
            assert code in (0, 1, 2, 3, 4), (arguments, told.err[-2000:])

    attack()


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
