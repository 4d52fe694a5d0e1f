"""Every table of every command is as wide as the terminal at most."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run
from fake.harness import Lab, instance
from parameters import quick

CORPUS = {"works": "pass", "crashes": "raise", "lies": "lie-value", "declines_models_of_this_long_name": "decline"}
"""Commands and what they print tables of, with `{0}` and `{1}` for campaigns."""
PRINTED = {
    "report": ("report",),
    "ls": ("ls", "--operators"),
    "show an operator": ("ls", "-k", "lies"),
    "compare": ("compare", "{0}", "{1}"),
    "baseline check": ("baseline", "check", "known.toml", "--campaign", "{1}"),
    "matrix": ("matrix",),
    "top": ("top", "{0}", "--slowest", "5"),
    "prioritize": ("prioritize", "--compiler", "fake", "--frontend", "fake", "--show", "3"),
    "diff": ("diff", "corpus.jsonl", "other.jsonl"),
    "import": ("import", "corpus.jsonl"),
    "doctor": ("doctor", "--quick"),
    "config": ("config", "show"),
    "env": ("env", "list"),
    "evaluate": ("evaluate", "--campaign", "{0}", "--seeds", "2", "--strategy", "opera", "--strategy", "random"),
    "run": ("run", "--compiler", "fake", "--frontend", "fake", "-j", "1", "--build", "tuesday"),
    "replay": ("replay", "--lib", "fake"),
    "verify": ("verify", "findings"),
    "repairs": ("repairs", "findings"),
    "bisect": ("bisect", "findings", "--versions", "a,b"),
}
NEED_MORE = {"check", "extract", "equipped", "fuzz_assess", "report", "stablehlo"}
"""Modules of tables that need a real library, a suite or a real compiler."""
_FINDINGS = """
compiler = "tvm"
frontend = "onnx"
[[finding]]
name = "an-operator-with-a-long-name-01234567"
verdict = "crash"
summary = "ValueError: no such size"
operators = ["ai.onnx.Relu"]
"""
_WIDE = ("opera ", "/", "reproduce", "--")
"""What a line of a command or of a path has, which nobody may break."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("widths"))
    made.add(*(instance(name, behaviour) for name, behaviour in CORPUS.items()))
    made.run("--build", "monday")
    assert made.opera("export", "jsonl", "corpus.jsonl").code == 0
    made.opera("baseline", "update", "known.toml")
    made.add(instance("another_operator_with_quite_a_long_name_that_fails", "panic"))
    assert made.opera("export", "jsonl", "other.jsonl").code == 0
    made.run("--build", "tuesday")
    (made.folder / "findings" / "tvm-onnx").mkdir(parents=True)
    (made.folder / "findings" / "tvm-onnx" / "an-operator-with-a-long-name-01234567.py").write_text("raise SystemExit('word ' * 40)")
    (made.folder / "findings" / "tvm-onnx.toml").write_text(_FINDINGS)
    (made.folder / "opera.toml").write_text("[compiler.tvm.versions]\n" + "".join(f'{each} = {{path = ["."]}}\n' for each in "ab"))
    return made


@pytest.mark.parametrize("width", quick([60, 80, 100, 120]))
@pytest.mark.parametrize("name", PRINTED)
def test_a_table_is_as_wide_as_the_terminal(lab: Lab, name: str, width: int) -> None:
    campaigns = [each["id"] for each in lab.opera("ls", "--json").json["campaigns"]]
    arguments = [each.format(*campaigns) for each in PRINTED[name]]
    variables = {"COLUMNS": str(width)}
    alone = name in (
        "env",
        "verify",
        "repairs",
        "bisect",
    )  # which look at no workspace; `env` asks every adapter, a broken one of the fake compilers too
    outcome = run(*arguments, folder=lab.folder, variables=variables) if alone else lab.opera(*arguments, variables=variables)
    assert outcome.stdout, outcome.stderr
    assert outcome.code in (0, 1), outcome.stderr
    wide = [line for line in outcome.stdout.splitlines() if len(line) > width and not any(part in line for part in _WIDE)]
    assert wide == []


def test_each_command_with_a_table_is_looked_at() -> None:
    """A module that prints tables belongs to one of the commands above."""
    root = Path(__file__).parents[2] / "opera"
    printing = [path for path in root.rglob("*.py") if "print_table(" in path.read_text(encoding="utf-8")]
    modules = {"env" if path.parent.name == "environments" else path.stem for path in printing}
    looked_at = {"terminal" if arguments[0] == "report" else arguments[0].replace("import", "import_") for arguments in PRINTED.values()}
    assert modules - looked_at == {"console", *NEED_MORE}
