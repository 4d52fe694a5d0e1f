"""The promises of export and import: corpora in files."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from fake.corpora import BIG, VARIOUS, Run, fill, held, runner, tensor, torch_call

from opera.compilers.adapter import Route
from opera.instance import Instance, Occurrence, Opaque, digest, encode_instance
from opera.prioritize.ranking import rank
from opera.store import Corpus
from opera.store.corpus import Extraction
from opera.store.database import open_workspace


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command of `opera` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="ascii").splitlines()]


# Export and import.


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_what_is_exported_and_imported_is_the_same_corpus(run: Run, name: str) -> None:
    fill("a", *VARIOUS, calls=7)
    fill("a", VARIOUS[0], source="docstrings", test="doc")
    assert run("export", "jsonl", name, "--workspace", "a").code == 0
    done = run("import", name, "--workspace", "b", "--json")
    assert done.code == 0
    assert held("b") == held("a")
    (file,) = done.json["files"]
    assert (done.json["schema"], file["format"], file["read"], file["new"], file["problems"]["count"]) == ("import/1", "jsonl", 7, 7, 0)
    assert run("import", name, "--workspace", "b", "--json").json["files"][0]["new"] == 0
    assert held("b") == held("a")


def test_the_same_corpus_and_options_give_the_same_bytes(run: Run) -> None:
    fill("a", *VARIOUS)
    fill("b", *reversed(VARIOUS))
    for name in ("a", "b"):
        run("export", "jsonl", f"{name}.gz", "--workspace", name, "--cap", "1", "--limit", "4")
    assert Path("a.gz").read_bytes() == Path("b.gz").read_bytes()


def test_the_header_says_what_is_in_the_file(run: Run) -> None:
    fill("a", *VARIOUS)
    with open_workspace(Path("a"), write=True) as space:
        Corpus(space).record_extraction(Extraction("onnx", "suite", "1.2", 3, 1, 1, {}, 0.1))
    done = run("export", "jsonl", "c.jsonl", "--workspace", "a", "--cap", "3", "--json")
    header, *entries = lines("c.jsonl")
    assert header == {
        "schema": "corpus/1", "opera": header["opera"], "identity": 1, "instances": 7, "operators": 7,
        "sources": [
            {"library": "onnx", "source": "suite", "version": "1.2", "instances": 1},
            {"library": "pytorch", "source": "suite", "version": None, "instances": 6},
        ],
        "selection": {"cap": 3, "seed": 0},
    }  # fmt: skip
    assert done.json["schema"] == "export/1"
    assert (done.json["file"], done.json["instances"]) == ("c.jsonl", 7)
    assert all(list(entry) == ["id", "instance", "provenance"] for entry in entries)
    assert entries[0]["id"] == digest(VARIOUS[5])
    assert entries[0]["provenance"] == [{"source": "suite", "test": "test_one", "calls": 1}]


def test_options_choose_what_is_exported(run: Run) -> None:
    fill("a", *VARIOUS)
    fill("a", VARIOUS[1], source="docstrings", test="doc::cat")

    def apis(*options: object) -> list[str]:
        assert run("export", "jsonl", "x.jsonl", "--workspace", "a", *options).code == 0
        return [entry["instance"]["api"].rpartition(".")[2] for entry in lines("x.jsonl")[1:]]

    assert apis("--lib", "onnx") == ["Relu"]
    assert apis("--source", "docstrings") == ["cat"]
    assert apis("--test", "doc::*") == ["cat"]
    assert apis("-k", "torch and not (add or cat)") == ["bad", "big", "index", "to"]
    assert apis("--outcome", "raised") == ["bad"]
    assert "big" not in apis("--max-size", "4K")
    assert len(apis("--limit", "3")) == 3


def test_a_cap_keeps_variety(run: Run) -> None:
    common = [torch_call("relu", tensor(size, 2)) for size in range(1, 40)]
    fill("a", *common, torch_call("relu", tensor(2, 2, dtype="int64")), torch_call("relu", tensor(2, 2), inplace=True))
    run("export", "jsonl", "x.jsonl", "--workspace", "a", "--cap", "3")
    kept = [json.dumps(entry["instance"]) for entry in lines("x.jsonl")[1:]]
    assert len(kept) == 3
    assert sum("int64" in text for text in kept) == sum("inplace" in text for text in kept) == 1


def test_standard_output_gets_the_corpus_and_nothing_else(run: Run) -> None:
    fill("a", *VARIOUS)
    done = run("export", "jsonl", "-", "--workspace", "a")
    run("export", "jsonl", "x.jsonl", "--workspace", "a")
    assert done.out == Path("x.jsonl").read_text()
    both = run("export", "jsonl", "-", "--workspace", "a", "--json")
    assert (both.code, both.out) == (2, "")


def test_a_file_that_is_gone_costs_the_instances_that_need_it_and_no_more(run: Run) -> None:
    fill("a", *VARIOUS)
    (blob,) = (path for path in Path("a/blobs").rglob("*") if path.is_file())
    blob.unlink()
    done = run("export", "jsonl", "x.jsonl", "--workspace", "a")
    assert (done.code, done.err.count("is gone from the cache")) == (0, 1)
    assert f"{len(VARIOUS) - 1} instances of" in done.err
    assert len(Path("x.jsonl").read_text().splitlines()) == len(VARIOUS)
    with open_workspace(Path("a"), write=True) as space:
        libraries = Corpus(space).libraries()
        ranked = [rank(Corpus(space), "tvm", Route(name, "r", None), "opera", 0).id for name in libraries]
        assert sum(len(Corpus(space).ranked(each)) for each in ranked) == len(VARIOUS) - 2, "one of them was refused in its own test"


def test_an_export_that_fails_leaves_the_old_file_as_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fill("a", *VARIOUS)
    Path("out").mkdir()
    Path("out/x.jsonl").write_text("precious")

    def full(*_: object) -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/x.jsonl")

    monkeypatch.setattr(Corpus, "provenance", full)
    assert run("export", "jsonl", "out/x.jsonl", "--workspace", "a").code == 3
    assert Path("out/x.jsonl").read_text() == "precious"
    assert [each.name for each in Path("out").iterdir()] == ["x.jsonl"]


def entry(instance: Instance | dict[str, Any], **others: Any) -> str:
    document = encode_instance(instance) if isinstance(instance, Instance) else instance
    return json.dumps({"instance": document, **others})


def with_value(value: Any) -> dict[str, Any]:
    return {"schema": "instance/1", "library": "p", "api": "p.f", "kind": "function", "call": [{"name": "x", "value": value}]}


def raw_tensor(**facts: Any) -> dict[str, Any]:
    return with_value({"tensor": {"shape": [2], "dtype": "float32", **facts}})


GOOD = VARIOUS[0]
BAD_LINES = {
    "not JSON": '{"instance": ',
    "NaN is no JSON": '{"instance": NaN}',
    "not a JSON object": "[1, 2]",
    "nested too deep": "[" * 100_000,
    "no `instance`": "{}",
    "expected schema 'instance/1'": entry({**with_value(1), "schema": "instance/9"}),
    "malformed instance": entry({"schema": "instance/1", "library": "p"}),
    "surrogates not allowed": entry({**with_value(1), "api": "p.\ud800"}),
    "expected a text": entry({**with_value(1), "exception": {"type": "E"}}),
    "unknown value tag 'pickle'": entry(with_value({"pickle": "gASVCg=="})),
    "cannot be rebuilt": entry(torch_call("f", Opaque("socket", "no form"))),
    "refers to a blob": entry(raw_tensor(blob="0" * 64)),
    "3 bytes of data": entry(raw_tensor(data=base64.b64encode(b"abc").decode())),
    "unknown tensor dtype": entry(raw_tensor(dtype="float33")),
    "negative dimension": entry(raw_tensor(shape=[-1])),
    "1 elements for a string tensor": entry(raw_tensor(dtype="string", data=base64.b64encode(b'["a"]').decode())),
    "`provenance`: Expected array": entry(GOOD, provenance={}),
    "[0]: Object missing required field test": entry(GOOD, provenance=[{"source": "s"}]),
    "`provenance`: [0].calls: Expected int >= 1": entry(GOOD, provenance=[{"source": "s", "test": "t", "calls": -1}]),
}  # fmt: skip


@pytest.mark.parametrize("says", BAD_LINES)
def test_a_line_that_is_no_instance_is_named_and_the_rest_imported(run: Run, says: str) -> None:
    fine = [entry(each, provenance=[{"source": "s", "test": "t", "calls": 2}]) for each in (GOOD, BIG)]
    Path("x.jsonl").write_text("\n".join(['{"schema": "corpus/1", "instances": 3}', fine[0], BAD_LINES[says], fine[1]]) + "\n")
    done = run("import", "x.jsonl", "--workspace", "w", "--json")
    assert done.code == 0
    assert done.err.startswith("x.jsonl:3: ")
    assert says in done.err
    (file,) = done.json["files"]
    assert (file["read"], file["new"], file["problems"]["count"]) == (2, 2, 1)
    assert file["problems"]["first"][0]["line"] == 3
    assert {key: seen for key, (_, seen) in held("w").items()} == {digest(each): [Occurrence("s", "t", 2)] for each in (GOOD, BIG)}


def test_an_identity_is_computed_and_never_believed(run: Run) -> None:
    Path("x.jsonl").write_text('{"schema": "corpus/1"}\n' + entry(GOOD, id=digest(BIG)) + "\n")
    assert run("import", "x.jsonl", "--workspace", "w").code == 0
    assert list(held("w")) == [digest(GOOD)]
    assert held("w")[digest(GOOD)][1] == [Occurrence("imported", "x.jsonl", 1)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a corpus file"), (b"hello\n", "not a corpus file"),
        (b'{"recording": 1, "library": "onnx"}\n', "a recording, not a corpus"),
        (b'{"schema": "corpus/9"}\n', "corpus/9"), (b"\x1f\x8bgarbage", "not a corpus file"), (b"\x00\xff\n", "not a corpus file"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_corpus_is_refused_before_anything_is_imported(run: Run, content: bytes, says: str) -> None:
    Path("good.jsonl").write_text('{"schema": "corpus/1"}\n' + entry(GOOD) + "\n")
    Path("x.jsonl").write_bytes(content)
    done = run("import", "good.jsonl", "x.jsonl", "--workspace", "w")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not Path("w").exists()


def test_a_file_that_was_cut_gives_what_is_left_and_says_so(run: Run) -> None:
    fill("a", *VARIOUS)
    run("export", "jsonl", "x.jsonl", "--workspace", "a")
    whole = Path("x.jsonl").read_bytes().splitlines(keepends=True)
    Path("x.jsonl").write_bytes(b"".join(whole[:3]))
    done = run("import", "x.jsonl", "--workspace", "b", "--json")
    assert (done.code, done.json["files"][0]["read"]) == (0, 2)
    assert "announces 7 instances, and there are 2" in done.err
    Path("y.jsonl.gz").write_bytes(gzip.compress(b"".join(whole))[:-20])
    done = run("import", "y.jsonl.gz", "--workspace", "c", "--json")
    assert "damaged from line 8 on" in done.err
    assert done.json["files"][0]["problems"]["count"] == 1


def test_files_put_one_behind_the_other_are_one_corpus(run: Run) -> None:
    for name, part in (("a", VARIOUS[:3]), ("b", VARIOUS[3:])):
        fill(name, *part)
        run("export", "jsonl", f"{name}.jsonl", "--workspace", name)
    Path("both.jsonl").write_bytes(Path("a.jsonl").read_bytes() + Path("b.jsonl").read_bytes())
    done = run("import", "both.jsonl", "--workspace", "w", "--json")
    assert (done.json["files"][0]["read"], done.json["files"][0]["problems"]["count"]) == (7, 0)
    assert set(held("w")) == {*held("a"), *held("b")}


def test_another_workspace_is_merged_with_its_provenance(run: Run) -> None:
    fill("a", *VARIOUS[:4], test="test_a")
    fill("b", *VARIOUS[3:], test="test_b", calls=5)
    done = run("import", "b", "--workspace", "a", "--json")
    (file,) = done.json["files"]
    assert (file["format"], file["read"], file["new"]) == ("workspace", 4, 3)
    assert done.json["libraries"] == [
        {"library": "onnx", "instances": 1, "operators": 1}, {"library": "pytorch", "instances": 6, "operators": 6},
    ]  # fmt: skip
    merged = held("a")
    assert len(merged) == 7
    assert merged[digest(VARIOUS[3])][1] == [Occurrence("suite", "test_a", 1), Occurrence("suite", "test_b", 5)]
    assert run("import", "b", "--workspace", "a").code == 0
    assert held("a") == merged


def test_of_what_is_imported_one_library_can_be_picked(run: Run) -> None:
    fill("a", *VARIOUS)
    done = run("import", "a", "--lib", "onnx", "--workspace", "b", "--json")
    assert done.json["files"][0]["read"] == 1
    assert list(held("b")) == [digest(VARIOUS[5])]


@pytest.mark.parametrize("format", ["freefuzz", "deeprel"])
def test_records_of_other_tools_come_in_under_their_name_and_what_cannot_be_rebuilt_is_counted(run: Run, format: str) -> None:
    Path("db").mkdir()
    call = {"parameter:0": {"shape": [2, 3], "dtype": "torch.float32"}, "dim": 1}
    Path("db/torch.softmax.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (call, call, {"parameter:0": {"shape": "?"}})))
    done = run("import", "db", "--format", format, "--workspace", "w", "--json")
    (file,) = done.json["files"]
    assert (done.code, file["format"], file["read"], file["new"], file["problems"]["count"]) == (0, format, 2, 1, 1)
    assert "1 call cannot be rebuilt" in done.err
    ((instance, seen),) = held("w").values()
    assert (instance.library, instance.api, [each.source for each in seen]) == ("pytorch", "torch.softmax", [format, format])
    assert run("import", "w", "--format", format, "--workspace", "w").code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("w",), "the target workspace itself"), (("none.jsonl",), "none.jsonl does not exist"), (("empty",), "is not a workspace"),
        (("w", "--format", "jsonl"), "cannot read w"), (("none.jsonl", "--format", "pickle"), "pickle"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_said(run: Run, arguments: tuple[str, ...], says: str) -> None:
    fill("w", GOOD)
    Path("empty").mkdir()
    done = run("import", *arguments, "--workspace", "w")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
