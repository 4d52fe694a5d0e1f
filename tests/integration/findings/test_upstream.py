"""`opera upstream` and `opera issue SUBJECT/NAME`: recorded findings in a tracker's words, and in its form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import commands
import pytest

POOL = {
    "name": "maxpool-0123abcd",
    "verdict": "inconsistent",
    "summary": "values: expected 1.0, got 2.0",
    "operators": ["ai.onnx.MaxPool"],
    "trigger": "ceil_mode=1, dilations≠1",
    "converter": "MaxPool",
    "seen_with": "onnx 1.23.2, tvm 0.27.0.post1, target llvm",
    "cause": "tvm-pool-ceil",
    "why": "the importer reads ceil_mode after the dilations",
    "fails": ["ai.onnx.MaxPool(float32[1,1,4], ceil_mode=1)"],
}
ISSUES: list[Any] = [
    {"number": 7, "title": "[Bug] Softmax on Vulkan", "state": "open", "html_url": "https://github.com/o/r/issues/7", "body": None},
    {
        "number": 8,
        "title": "[Bug] MaxPool ignores dilations with ceil_mode",
        "state": "closed",
        "html_url": "https://github.com/o/r/issues/8",
        "body": "from_onnx gives another size",
    },
    {"number": 9, "title": "MaxPool\x1b[31m\u202e red", "state": "open", "html_url": "javascript:alert(1)", "body": "x" * 100_000},
]


def place(folder: Path, script: str = "raise AssertionError('Mismatched elements: 1 / 1')") -> Path:
    subject = folder / "data" / "findings" / "tvm-onnx"
    subject.mkdir(parents=True)
    lines = ['compiler = "tvm"', 'frontend = "onnx"', "[[finding]]", *(f"{name} = {json.dumps(text)}" for name, text in POOL.items())]
    lines += ["[finding.passes]", '"ceil_mode=1" = "ai.onnx.MaxPool(float32[1,1,4])"']
    subject.with_name("tvm-onnx.toml").write_text("\n".join(lines), encoding="utf-8")
    (subject / f"{POOL['name']}.py").write_text(
        f'"""tvm/onnx: MaxPool: wrong result with ceil_mode and dilations"""\n{script}\n', encoding="utf-8"
    )
    return folder


def dump(folder: Path, *lines: str) -> str:
    path = folder / "tracker.jsonl"
    path.write_text("\n".join(lines or map(json.dumps, ISSUES)), encoding="utf-8")
    return path.name


def opera(folder: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=folder)


def test_the_likest_issue_comes_first_and_what_is_confirmed_is_shown(tmp_path: Path) -> None:
    file = dump(place(tmp_path))
    found = json.loads(opera(tmp_path, "upstream", file, "--json").stdout)
    assert [each["number"] for each in found["findings"][0]["issues"]] == [8, 9]
    about = ("--about", f"tvm-onnx/{POOL['name']}")
    stored = opera(tmp_path, "upstream", file, *about, "--store", "8", "--as", "family known")
    assert (stored.code, "tvm-pool-ceil: family known, https://github.com/o/r/issues/8 (closed)" in stored.stderr) == (0, True)
    shown = opera(tmp_path, "upstream", file)
    assert "family known, https://github.com/o/r/issues/8" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout
    text = opera(tmp_path, "issue", f"tvm-onnx/{POOL['name']}", "--no-run").stdout
    assert "A similar issue of the project: `https://github.com/o/r/issues/8 (closed)`." in text


def test_pages_of_issues_and_packed_files_are_read_too(tmp_path: Path) -> None:
    place(tmp_path)
    packed = tmp_path / "tracker.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(ISSUES).encode()))
    found = json.loads(opera(tmp_path, "upstream", packed.name, "--json").stdout)
    assert found["findings"][0]["issues"][0]["number"] == 8


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (["not json", json.dumps(ISSUES[1])], 0, "line 1"),
        (["[" * 100_000, json.dumps(ISSUES[1])], 0, "1 line left out"),
        ([json.dumps({"number": "eight", "title": 1})], 2, "has no issue"),
        (["3"], 2, "has no issue"),
        ([json.dumps({"message": "API rate limit exceeded"})], 2, "has no issue"),
        ([json.dumps({"number": 8, "title": '" OR MaxPool* NEAR(', "state": "open"})], 0, ""),
    ],
)
def test_foreign_text_is_left_out_with_its_place(tmp_path: Path, lines: list[str], code: int, said: str) -> None:
    done = opera(place(tmp_path), "upstream", dump(tmp_path, *lines))
    assert done.code == code, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--store", "8"), "--store needs --about"),
        (("--about", f"tvm-onnx/{POOL['name']}", "--store", "99"), "has no issue 99"),
        (("--about", f"tvm-onnx/{POOL['name']}", "--store", "9"), "no address"),
    ],
)
def test_only_an_issue_with_an_address_is_kept(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = opera(place(tmp_path), "upstream", dump(tmp_path), *options)
    assert (done.code, said in done.stderr) == (2, True)
    assert not (tmp_path / "data" / "findings" / "families").exists()


def test_that_nobody_filed_it_is_kept_too(tmp_path: Path) -> None:
    options = ("--about", f"tvm-onnx/{POOL['name']}", "--store", "0")
    assert "tvm-pool-ceil: not found, " in opera(place(tmp_path), "upstream", dump(tmp_path), *options).stderr
    assert opera(tmp_path, "upstream", "tracker.jsonl", "-k", "Relu").code == 4


def test_a_recorded_finding_has_an_issue_in_the_form_of_its_project(tmp_path: Path) -> None:
    done = opera(place(tmp_path), "issue", f"tvm-onnx/{POOL['name']}", "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    assert (done.code, document["form"], document["reproduced"]) == (0, "tvm", True)
    text = document["text"]
    assert text.startswith("# [Bug] MaxPool: wrong result with ceil_mode and dilations\n")
    for part in (
        "### Expected behavior",
        "### Steps to reproduce",
        "- tvm: 0.27.0.post1",
        "Mismatched elements",
        "Without “ceil_mode=1”",
        'File "',
    ):
        assert part in text
    assert str(tmp_path) not in text
    assert "/tmp/" not in text
    by_path = opera(tmp_path, "issue", f"data/findings/tvm-onnx/{POOL['name']}.py", "--no-run")
    assert (by_path.code, "did not run yet" in by_path.stdout) == (0, True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("pass", "does NOT show the failure here (mended)"),
        ("import not_there_at_all", "does NOT show the failure here (environment missing)"),
    ],
)
def test_a_script_that_shows_nothing_here_is_said_first(tmp_path: Path, script: str, said: str) -> None:
    done = opera(place(tmp_path, script), "issue", f"tvm-onnx/{POOL['name']}")
    assert done.code == 1
    assert said in "".join(done.stdout.splitlines()[:4])


@pytest.mark.parametrize("name", ["tvm-onnx/relu-0123abcd", "nothing/at-all", "../secret.py", "data/findings/tvm-onnx.toml/x"])
def test_what_no_table_has_is_named(tmp_path: Path, name: str) -> None:
    done = opera(place(tmp_path), "issue", name)
    assert done.code == 2
    assert "no script" in done.stderr


def test_the_issue_of_several_findings_has_their_title_and_all_their_operators(tmp_path: Path) -> None:
    table = place(tmp_path) / "data" / "findings" / "tvm-onnx.toml"
    second = {**POOL, "name": "avgpool-4567cdef", "operators": ["ai.onnx.AveragePool"], "cause": "tvm-avg-pool-ceil"}
    lines = ["", "[[finding]]", *(f"{name} = {json.dumps(text)}" for name, text in second.items())]
    table.write_text(table.read_text(encoding="utf-8") + "\n".join(lines), encoding="utf-8")
    (table.with_suffix("") / "avgpool-4567cdef.py").write_text(
        '"""tvm/onnx: AveragePool: wrong result with ceil_mode"""\n', encoding="utf-8"
    )
    families = table.parent / "families" / "fixes.toml"
    families.parent.mkdir()
    families.write_text(
        '[[fix]]\nname = "pools"\ntitle = "Pools: ceil_mode is read too late"\ncauses = ["tvm-pool-ceil", "tvm-avg-pool-ceil"]\n'
        'place = "onnx_frontend.py: Pool"\nchange = "Read it first."\n'
    )
    text = opera(tmp_path, "issue", f"tvm-onnx/{POOL['name']}", "--no-run").stdout
    assert text.startswith("# [Bug] Pools: ceil_mode is read too late\n")
    assert "Operators: `MaxPool`, `AveragePool`." in text
    assert "One change may mend this finding and others: Read it first. Place: `onnx_frontend.py: Pool`." in text
    assert "AveragePool: wrong result with ceil_mode (tvm-onnx/avgpool-4567cdef)" in text
