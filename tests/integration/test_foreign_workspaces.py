"""A workspace from elsewhere is data: it is read, nothing in it is believed or changed, and it leads nowhere else."""

from __future__ import annotations

import contextlib
import grp
import json
import os
import pwd
import re
import shutil
import sqlite3
import struct
from pathlib import Path

import pytest
from instances import node, tensor

from opera.atomic import append, replacing
from opera.config import config_file
from opera.corpus.files import Problem
from opera.corpus.readers import ImportOrigin
from opera.errors import UserError
from opera.instance import Instance, Occurrence, Tensor, digest
from opera.run import campaign as leftovers
from opera.store import Campaigns, Corpus, Workspace, queries, signing
from opera.store.combine import Combined, combine
from opera.store.corpus import Extraction
from opera.store.database import open_workspace
from opera.store.reductions import Reductions, StoredReduction
from opera.store.rows import ReductionFacts
from opera.triage.reduction.trigger import trigger_of
from opera.untrusted import Malformed, parsed_json
from opera.workers import folders

LARGE = Tensor((2_000,), "int64", bytes(16_000))


def filled(folder: Path, *instances: Instance) -> Path:
    """A workspace with *instances*."""
    with open_workspace(folder, write=True) as space:
        Corpus(space).add((each, Occurrence("s", "t")) for each in instances)
    return folder


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Another workspace, with one small and one large instance."""
    return filled(tmp_path / "theirs", node("Relu", 14, X=tensor([1.0])), node("Abs", 13, X=LARGE))


@pytest.fixture
def ours(tmp_path: Path) -> Workspace:
    """The workspace of the command."""
    return open_workspace(tmp_path / "ours", write=True)


def change(folder: Path, statement: str, *values: object) -> None:
    """Changes a database behind the back of every check."""
    with sqlite3.connect(folder / "opera.db") as database:
        database.execute(statement, values)
    (folder / "checked").unlink(missing_ok=True)


def no_parts(selection: object, versions: object) -> tuple[str, dict[str, object], None]:
    """No campaign is a part of another."""
    return "c", {}, None


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of every file, but those that SQLite itself keeps for readers."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def test_combining_and_importing_change_nothing_there(theirs: Path, ours: Workspace) -> None:
    (blob,) = (theirs / "blobs").glob("??/*")
    blob.write_bytes(b"damaged")
    before = state(theirs)
    into = Combined()
    combine(ours, theirs, no_parts, into)
    found = list(ImportOrigin(theirs, "workspace").entries())
    assert state(theirs) == before
    assert [f"instances {digest(node('Abs', 13, X=LARGE))[:12]}: " in line and "damaged" in line for line in into.left_out] == [True]
    assert [type(each) is Problem for each in found].count(True) == 1
    assert Corpus(ours).counts("onnx") == (1, 1)


def test_operators_that_were_dropped_there_are_known_here_too(theirs: Path, ours: Workspace) -> None:
    with open_workspace(theirs, write=True) as space:
        extraction = Extraction("onnx", "node-tests", "1", 5, 2, 2, {"too-large": 3}, 0.1)
        Corpus(space).record_extraction(extraction, {("ai.onnx.Scan", "too-large"): 3})
    change(theirs, "INSERT INTO drops VALUES ('onnx', 'node-tests', 'ai.onnx.Loop', 'excluded', -1)")
    into = Combined()
    combine(ours, theirs, no_parts, into)
    assert queries.drops(ours) == [("onnx", "ai.onnx.Scan", 3)]
    assert ["drops" in line for line in into.left_out] == [True]


def test_an_instance_under_another_identity_is_left_out(theirs: Path, ours: Workspace) -> None:
    small, large = digest(node("Relu", 14, X=tensor([1.0]))), digest(node("Abs", 13, X=LARGE))
    change(theirs, "UPDATE instances SET document = (SELECT document FROM instances WHERE id = ?) WHERE id = ?", small, large)
    into = Combined()
    combine(ours, theirs, no_parts, into)
    assert ["another instance than its identity says" in line for line in into.left_out] == [True]
    assert [key for key, _ in Corpus(ours).instances("onnx")] == [small]


def left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What reading *folder* says of rows that it leaves out; writing to the folder is refused in the same words."""
    capsys.readouterr()
    with open_workspace(folder, write=False) as space:
        space.database.execute("SELECT * FROM results").fetchall()
    told = capsys.readouterr().err
    with pytest.raises(UserError, match=r"rows that OPERA did not write .*opera combine"):
        open_workspace(folder, write=True)
    return told


def test_a_row_that_no_opera_writes_is_named_and_left_out(theirs: Path, ours: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    change(theirs, "UPDATE occurrences SET calls = 'many' WHERE instance = ?", digest(node("Relu", 14, X=tensor([1.0]))))
    assert re.search(r"\(occurrences [0-9a-f]{12}: calls: Expected int, got str\).*opera combine", left_out(theirs, capsys))
    with open_workspace(theirs, write=False) as space:
        assert (len(Corpus(space).provenance(digest(node("Relu", 14, X=tensor([1.0]))))), Corpus(space).counts("onnx")) == (0, (2, 2))
    into = Combined()
    combine(ours, theirs, no_parts, into)
    assert len(into.left_out) == 1
    assert Corpus(ours).counts("onnx") == (2, 2)


@pytest.mark.parametrize("key", sorted(ReductionFacts.__annotations__))
def test_every_fact_of_a_reduction_is_checked(theirs: Path, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    with open_workspace(theirs, write=True) as space:
        Reductions(space).keep(StoredReduction("f" * 16, "0" * 64, "f" * 16, "gone"))
    change(theirs, "UPDATE reductions SET detail = ?", json.dumps({key: [["only one"]]}))
    assert re.search(f"reductions .*{key}", left_out(theirs, capsys))


@pytest.mark.parametrize("way", ["copied", "written into", "replaced"])
def test_a_database_that_others_have_touched_is_checked_again(theirs: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    copy = Path(shutil.copytree(theirs, theirs.with_name("copy")))
    with contextlib.closing(sqlite3.connect(copy / "opera.db")) as database, database:
        database.execute("UPDATE occurrences SET source = x'ff'")
    if way == "written into":
        (theirs / "opera.db").write_bytes((copy / "opera.db").read_bytes())
    elif way == "replaced":
        shutil.copy(copy / "opera.db", theirs / "new")
        os.replace(theirs / "new", theirs / "opera.db")
    assert "occurrences" in left_out(copy if way == "copied" else theirs, capsys)


def test_a_database_that_only_opera_has_touched_is_checked_once(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opera.store.database.checked_rows", lambda *_: pytest.fail("rows were checked again"))
    with open_workspace(theirs, write=True) as space:
        Corpus(space).add([(node("Neg", 13, X=tensor([1.0])), Occurrence("s", "t"))])
        with open_workspace(theirs, write=False) as reader:
            assert Corpus(reader).counts("onnx") == (3, 3)
    with open_workspace(theirs, write=False) as space:
        assert Corpus(space).counts("onnx") == (3, 3)


def test_a_workspace_that_cannot_be_written_can_be_read(theirs: Path) -> None:
    for path in (*theirs.rglob("*"), theirs):
        path.chmod(0o500 if path.is_dir() else 0o400)
    with open_workspace(theirs, write=False) as space:
        assert Corpus(space).counts("onnx") == (2, 2)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            space.database.execute("DELETE FROM instances")


def test_what_workers_of_another_user_have_made_is_made_again(ours: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    campaigns = Campaigns(ours)
    campaigns.keep_artefacts([("k", {"status": "ready", "bundle": "0" * 64})])
    assert campaigns.artefact("k") == {"status": "ready", "bundle": "0" * 64}
    with ours.transaction() as database:
        database.execute("INSERT INTO artefacts SELECT 'other', document FROM artefacts")
        database.execute("INSERT INTO artefacts VALUES ('bare', ?)", (json.dumps({"status": "ready"}),))
    assert campaigns.artefact("other") is None, "an answer counts for the question that it was given to"
    assert campaigns.artefact("bare") is None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    signing._key.cache_clear()
    assert campaigns.artefact("k") is None
    monkeypatch.undo()
    signing._key.cache_clear()


def test_the_key_is_this_users_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    signing._key.cache_clear()
    first = signing.signature("a")
    assert (tmp_path / "opera" / "key").stat().st_mode & 0o777 == 0o600
    signing._key.cache_clear()
    assert signing.is_signed(first, "a")
    assert not signing.is_signed(first, "b")
    (tmp_path / "opera" / "key").chmod(0o644)
    signing._key.cache_clear()
    assert not signing.is_signed(first, "a"), "a key that others could read signs nothing"
    monkeypatch.undo()
    signing._key.cache_clear()


def test_a_link_in_the_place_of_a_folder_that_is_emptied_is_refused(ours: Workspace, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o755)
    (mine / "letter").write_text("dear")
    (ours.folder / "scratch").symlink_to(mine)
    with pytest.raises(UserError, match="scratch is a link"):
        leftovers.clear(ours)
    (ours.folder / "logs").symlink_to(mine)
    with pytest.raises(UserError, match="logs is a link"):
        leftovers.log_folder(ours)
    assert ((mine / "letter").read_text(), mine.stat().st_mode & 0o777) == ("dear", 0o755)


def test_only_what_bears_our_name_is_cleared(ours: Workspace) -> None:
    kept = [ours.scratch / name for name in ("notes", "crew-notes", "crew-x-1234", "data-1-abcdefgh")]
    gone = [ours.scratch / name for name in ("crew-1-abcdefgh", "extract-1-abcdefgh")]
    for path in (*kept, *gone):
        path.mkdir()
        (path / "file").touch()
    leftovers.clear(ours)
    assert [path.exists() for path in (*kept, *gone)] == [True] * 4 + [False] * 2


def test_removing_a_folder_follows_no_link_and_leaves_what_it_lies_in(tmp_path: Path) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "place" / "folder"
    mine.mkdir(mode=0o750)
    (mine / "letter").touch(mode=0o400)
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(mine)
    (folder / "shut").mkdir()
    (folder / "shut" / "file").touch()
    (folder / "shut").chmod(0o000)
    folder.parent.chmod(0o755)
    folders.remove(folder)
    assert not folder.exists()
    assert [path.stat().st_mode & 0o777 for path in (mine, mine / "letter", folder.parent)] == [0o750, 0o400, 0o755]
    linked = tmp_path / "linked"
    linked.symlink_to(mine)
    folders.remove(linked)
    assert (linked.is_symlink(), (mine / "letter").exists()) == (False, True)


def test_settings_that_another_user_could_have_written_are_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "opera.toml").write_text("")
    assert config_file(below) == tmp_path / "opera.toml"
    (below / "opera.toml").write_text("")
    (below / "opera.toml").chmod(0o666)
    assert config_file(below) == tmp_path / "opera.toml"
    assert "below/opera.toml is not used" in capsys.readouterr().err


def test_settings_that_a_group_of_several_could_have_written_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "opera.toml").write_text("")
    (tmp_path / "opera.toml").chmod(0o664)
    own = pwd.getpwuid(os.geteuid()).pw_name
    for name, members, used in ((own, [], True), (own, [own], True), (own, [own, "other"], False), ("staff", [], False)):
        monkeypatch.setattr(grp, "getgrgid", lambda gid, name=name, members=members: grp.struct_group((name, "x", gid, members)))
        assert (config_file(tmp_path) is not None) is used


def test_settings_of_another_user_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "opera.toml").write_text("")
    if os.geteuid() == 0:
        os.chown(tmp_path / "opera.toml", 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
    assert config_file(tmp_path) is None


def test_files_are_written_in_the_place_of_links_and_not_through_them(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("dear")
    link = tmp_path / "link"
    link.symlink_to(mine)
    with pytest.raises(OSError, match="symbolic links"):
        append(link, b"x")
    with replacing(link) as file:
        file.write(b"new")
    assert (mine.read_text(), link.read_text(), link.is_symlink()) == ("dear", "new", False)
    with replacing(Path("/dev/null")) as file:
        file.write(b"x")
    assert Path("/dev/null").is_char_device()


def test_a_journal_that_names_another_file_is_refused(theirs: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("dear")
    pages, size = (theirs / "opera.db").stat().st_size // 4096, 4096
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(mine)
    head = (magic + struct.pack(">IIIII", 0, 0, pages, 512, size)).ljust(512, b"\0")
    tail = struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (theirs / "opera.db-journal").write_bytes(head + tail)
    for write in (True, False):
        with pytest.raises(UserError, match=r"opera\.db-journal was not made by OPERA"):
            open_workspace(theirs, write=write)
    assert mine.read_text() == "dear"


@pytest.mark.parametrize("there", [False, True], ids=["dangling", "empty"])
def test_a_link_to_no_database_makes_none_elsewhere(tmp_path: Path, there: bool) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "ws"
    if there:
        mine.touch()
    folder.mkdir()
    (folder / "opera.db").symlink_to(mine)
    with pytest.raises(UserError, match="a link without a workspace behind it"):
        open_workspace(folder, write=True)
    assert (mine.exists(), there and mine.stat().st_size) == (there, 0)


def test_code_under_a_name_of_sqlite_is_refused(theirs: Path) -> None:
    with sqlite3.connect(theirs / "opera.db") as database:
        database.execute("PRAGMA writable_schema = ON")
        trigger = "CREATE TRIGGER sqlite_t AFTER INSERT ON occurrences BEGIN DELETE FROM instances; END"
        database.execute("INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_t', 'occurrences', 0, ?)", (trigger,))
    with pytest.raises(UserError, match="the trigger 'sqlite_t', which no workspace has"):
        open_workspace(theirs, write=False)


def test_pages_that_two_places_refer_to_are_refused(theirs: Path, ours: Workspace) -> None:
    path = theirs / "opera.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.executemany("INSERT INTO assignments VALUES (?, 'ab')", ((f"{number:064x}",) for number in range(2_000)))
        roots = dict(database.execute("SELECT name, rootpage FROM sqlite_master WHERE name IN ('assignments', 'merges')"))
    data = bytearray(path.read_bytes())
    one, other = ((roots[name] - 1) * 4096 for name in ("assignments", "merges"))
    data[other : other + 4096] = data[one : one + 4096]
    path.write_bytes(bytes(data))
    (theirs / "checked").unlink()
    with pytest.raises(UserError, match="is damaged"):
        open_workspace(theirs, write=False)
    with pytest.raises(UserError, match="is damaged"):
        combine(ours, theirs, no_parts, Combined())


def test_a_campaign_of_an_impossible_part_is_left_out(theirs: Path, ours: Workspace) -> None:
    values = ("c1", "tvm", "onnx", json.dumps({"shard": "x"}), "{}", "[]", 1.0, 1, None, "now")
    change(theirs, f"INSERT INTO campaigns VALUES ({', '.join('?' * len(values))})", *values)
    into = Combined()
    combine(ours, theirs, no_parts, into)
    assert ["campaigns c1: shard: " in line for line in into.left_out] == [True]


def test_a_document_of_millions_of_values_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(Malformed, match="more than 2,000,000 values"):
        parsed_json(b"[" + b"[]," * 2_000_000 + b"1]")


@pytest.mark.parametrize(
    "properties", [[["unknown", "x", "=", 1]], [["rank", "x", "like", 1]], [["rank"]], 5, [["dtype", "x", "is", {"a": [1]}, 2]]]
)
def test_a_trigger_that_is_malformed_is_the_users_to_mend(properties: object) -> None:
    with pytest.raises(UserError, match=r"stored trigger is damaged .*opera triage --again"):
        trigger_of({"properties": properties, "api": "ai.onnx.Relu", "tensors": []})
