"""`opera verify`: a script fails as its row says, fails otherwise, is mended, or cannot run here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest

SCRIPTS = {
    "values": ("inconsistent", "values: expected 1.0, got 2.0", "raise AssertionError('Mismatched elements: 1 / 1')", "fails as said"),
    "crash": ("crash", "ValueError: no size 3 in v17", "raise ValueError('no size 8 in v4')", "fails as said"),
    "abort": ("abort", "the process ended with SIGABRT", "import os; os.abort()", "fails as said"),
    "gone": ("crash", "ValueError: no size", "print('all is well')", "mended"),
    "other": ("crash", "ValueError: no size", "raise ValueError('something else')", "fails otherwise"),
    "dies": ("inconsistent", "values: expected 1.0, got 2.0", "import os; os.abort()", "fails otherwise"),
    "absent": ("inconsistent", "values: expected 1.0, got 2.0", "import a_package_that_is_not_there", "environment missing"),
}


def written(folder: Path, subject: str = "tvm-onnx", **rows: tuple[str, ...]) -> Path:
    """A folder of findings with these rows."""
    (folder / subject).mkdir(parents=True)
    compiler, frontend = subject.split("-")
    lines = [f'compiler = "{compiler}"', f'frontend = "{frontend}"']
    for name, (verdict, summary, script, *_) in rows.items():
        lines += ["[[finding]]", f'name = "{name}"', f'verdict = "{verdict}"', f'summary = "{summary}"', 'operators = ["ai.onnx.Relu"]']
        (folder / subject / f"{name}.py").write_text(script)
    (folder / f"{subject}.toml").write_text("\n".join(lines))
    return folder


def verify(folder: Path, *options: str) -> commands.Outcome:
    return commands.run("verify", str(folder), *options, folder=folder.parent)


def test_each_finding_has_one_of_four_states(tmp_path: Path) -> None:
    done = verify(written(tmp_path / "findings", **SCRIPTS), "--json", "-j", "2")
    assert done.code == 1, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert {each["name"]: each["state"] for each in document["findings"]} == {name: row[3] for name, row in SCRIPTS.items()}
    assert document["counts"] == {"fails as said": 3, "mended": 1, "fails otherwise": 2, "environment missing": 1}


def test_findings_that_fail_as_said_end_well_also_where_some_cannot_run(tmp_path: Path) -> None:
    rows = {name: SCRIPTS[name] for name in ("values", "absent")}
    done = verify(written(tmp_path / "findings", **rows))
    assert done.code == 0, done.stderr
    assert "tvm-onnx/absent: environment missing: ModuleNotFoundError" in done.stdout
    assert "2 findings: fails as said: 1, environment missing: 1" in done.stderr
    assert verify(tmp_path / "findings", "-k", "nothing").code == 4


def test_a_finding_that_a_newer_version_fixes_may_be_gone(tmp_path: Path) -> None:
    folder = written(tmp_path / "findings", gone=SCRIPTS["gone"], crash=SCRIPTS["crash"])
    table = folder / "tvm-onnx.toml"
    table.write_text(table.read_text().replace('name = "gone"', 'name = "gone"\nversions = "bad 0.25.0, good 0.26.0"'))
    done = verify(folder, "--json")
    assert done.code == 0, done.stdout
    assert json.loads(done.stdout)["counts"] == {"fails as said": 1, "fixed as said": 1}
    table.write_text(table.read_text().replace("bad 0.25.0, good 0.26.0", "good 0.25.0, bad 0.26.0"))
    assert verify(folder).code == 1


ROW = 'compiler = "tvm"\nfrontend = "onnx"\n[[finding]]\nname = "{}"\nverdict = "{}"\nsummary = ""\noperators = ["ai.onnx.Relu"]'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compiler = [", "is no table of findings"),
        ('compiler = "tvm"\nfrontend = "pytorch"', "'tvm-pytorch' names neither it nor a script of it"),
        (ROW.format("../x", "crash"), "'../x' names neither it nor a script of it"),
        (ROW.format("x", "crash"), "x.py is missing"),
        (ROW.format("x", "odd"), "is no table of findings"),
    ],
)
def test_a_folder_of_others_is_read_with_care(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "findings").mkdir()
    (tmp_path / "findings" / "tvm-onnx.toml").write_text(text)
    done = verify(tmp_path / "findings")
    assert done.code == 2
    assert said in done.stderr


def test_recorded_findings_of_a_real_compiler_fail_as_said() -> None:
    folder = Path(__file__).parents[3] / "data" / "findings"
    done = verify(folder, "--compiler", "onnxruntime", "-k", "identity", "--json", "-j", "1")
    assert done.code == 0, done.stdout
    found = json.loads(done.stdout)["findings"]
    assert found
    assert {each["state"] for each in found} == {"fails as said"}
