"""Absurd arguments: every command refuses each of them with one message."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from reporting import fill

from opera.cli import command
from opera.cli.options import Count, Distance, Duration, Pattern, Size, guarded
from opera.corpus.selection import selector
from opera.errors import UserError
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor
from opera.store import Corpus
from opera.store.database import open_workspace

RELU = Instance("onnx", "ai.onnx.Relu", Kind.NODE, call=(Argument("X", Tensor((2,), "float32")),))
LEAST: dict[str, tuple[str, ...]] = {
    "extract": ("--lib", "onnx", "--only", "none"), "prioritize": ("--compiler", "tvm", "--frontend", "onnx"),
    "run": ("--compiler", "tvm", "--frontend", "onnx"), "top": ("--once",), "combine": ("other",), "triage": (), "report": (), "matrix": (),
    "show": ("abc",), "reproduce": ("abc",), "issue": ("abc",), "env create": ("tvm",), "env list": (), "env remove": ("tvm",),
    "baseline update": ("known.toml",), "baseline check": ("known.toml",), "evaluate": (), "compare": ("a", "b"), "verify": (),
    "upstream": ("none.jsonl",), "repairs": (),
    "bisect": ("abc",),
    "check": ("model.onnx",), "localize": ("model.onnx", "--compiler", "none"),
    "doctor": ("--compiler", "none"), "replay": ("--lib", "onnx"), "export jsonl": ("out.jsonl",),
    "export ranking": ("out.jsonl", "--compiler", "tvm", "--frontend", "onnx"), "export pytest": ("suite",),
    "export stablehlo": ("programs",),
    "export opidiff": ("out.yaml",),
    "import": ("corpus.jsonl",), "diff": ("a", "b"), "ls": (),
    "equipped": ("--compiler", "tvm", "--frontend", "onnx", "--suite", "suite"), "config show": (),
    "stablehlo interpret": ("none.mlir",), "stablehlo test": ("none.mlir",), "stablehlo fold": ("none.mlir",),
    "fuzz assess": (), "fuzz generate": ("out.jsonl",),
    "fuzz mutate": ("model.onnx", "out.jsonl"), "fuzz run": (),
    "fuzz seeds": ("seeds.jsonl",),
    "opidiff check": ("none.yaml",), "opidiff expand": ("none.yaml",), "opidiff schema": (),
    "opidiff run": ("none.yaml", "--backend", "tvm"),
}  # fmt: skip
"""Every command with the arguments that it cannot do without."""
WITHOUT = (
    "env create", "env list", "env remove", "doctor", "diff", "config show", "equipped", "stablehlo interpret", "stablehlo test",
    "stablehlo fold", "verify", "upstream",
    "check", "fuzz generate", "fuzz mutate", "fuzz run", "opidiff check", "opidiff expand", "opidiff schema", "opidiff run",
)  # fmt: skip
"""Commands that look at no workspace, or at a file before it."""


def every() -> Iterator[tuple[str, click.Command]]:
    """Every command with its name."""
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from ((f"{name} {inner}", each) for inner in found.list_commands(context) if (each := found.get_command(context, inner)))
        else:
            yield name, found


COMMANDS = dict(every())


def options(*kinds: type) -> list[tuple[str, str]]:
    """Commands with their options of a type."""
    return [
        (name, parameter.opts[0])
        for name, each in COMMANDS.items()
        for parameter in each.params
        if isinstance(parameter, click.Option) and isinstance(parameter.type, kinds)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three workspaces with one instance each, a corpus, a baseline and an empty suite."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("other", "a", "b"):
        with open_workspace(folder / name, write=True) as space:
            Corpus(space).add([(RELU, Occurrence("node-tests", "test_relu"))])
    assert guarded(command, ["export", "jsonl", str(folder / "corpus.jsonl"), "--workspace", str(folder / "other")]) == 0
    (folder / "known.toml").touch()
    (folder / "suite").mkdir()
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> str:
    """What the command says as it refuses *arguments*."""
    code = guarded(command, [*name.split(), *LEAST[name], *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err, captured.err
    assert (code, captured.out) == (2, ""), captured
    assert len(captured.err) < 2_500
    return captured.err


def test_the_table_has_every_command() -> None:
    assert set(LEAST) == set(COMMANDS)


def test_no_number_is_without_bounds() -> None:
    """Each is of a type whose bounds are tested below."""
    plain = {type(click.INT), type(click.FLOAT)}
    for name, each in COMMANDS.items():
        for parameter in each.params:
            assert type(parameter.type) not in {*plain, click.IntRange, click.FloatRange}, (name, parameter.name)


@pytest.mark.parametrize(("name", "option"), options(Count))
def test_a_count_out_of_bounds(capsys: pytest.CaptureFixture[str], name: str, option: str) -> None:
    for value in (str(2**70), str(2**31 * 3), "-1", "9" * 5000, "1e3", "nan", "", "٣٣٣٣٣٣٣٣٣٣٣"):
        assert option in refused(capsys, name, option, value), value


@pytest.mark.parametrize(("name", "option"), options(Duration, Size, Distance))
def test_a_duration_a_size_or_a_distance_out_of_bounds(capsys: pytest.CaptureFixture[str], name: str, option: str) -> None:
    for value in ("9" * 400, "99999999999999999h", "9" * 30 + "T", "-1", "nan", "inf", "soon"):
        text = "1e999" if option == "--chebyshev" and value == "9" * 400 else value
        assert option in refused(capsys, name, option, text), value


@pytest.mark.parametrize(("name", "option"), options(Pattern))
def test_a_pattern_of_a_megabyte(capsys: pytest.CaptureFixture[str], name: str, option: str) -> None:
    assert option in refused(capsys, name, option, "*a" * 500_000)


EXPRESSIONS = {
    "2,000 words": " or ".join(["relu"] * 1000), "1,000 parentheses": "(" * 1000 + "relu" + ")" * 1000,
    "245 parentheses": "(" * 245 + "relu" + ")" * 245,
    "cut": "(" * 1000,
    "2,000 times not": "not " * 2000 + "relu", "a megabyte": "x" * 1_000_000 + " (", "no end": ")" * 2000,
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if any("-k" in parameter.opts for parameter in each.params)])
@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_expression_that_is_too_long_or_too_deep(place: Path, capsys: pytest.CaptureFixture[str], name: str, expression: str) -> None:
    workspace = ("--workspace", "other") if any("--workspace" in each.opts for each in COMMANDS[name].params) else ()
    assert "-k" in refused(capsys, name, "-k", expression, *workspace)


def test_an_expression_within_the_bounds_means_what_it_says() -> None:
    wanted = selector(" or ".join(["absent"] * 200) + " or relu")
    assert wanted("relu")
    assert not wanted("conv")
    assert selector("(" * 50 + "relu" + ")" * 50)("relu")
    assert selector("not " * 101 + "relu")("conv")
    with pytest.raises(UserError, match="at most"):
        selector("relu " * 501)


@pytest.mark.parametrize("name", LEAST)
def test_a_workspace_whose_name_is_too_long(place: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    if name in WITHOUT:
        return
    said = refused(capsys, name, "--workspace", "w" * 5000)
    assert "name" in said.lower()


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("argument", ["a\0b", "\0"])
def test_an_argument_with_a_nul(place: Path, capsys: pytest.CaptureFixture[str], name: str, argument: str) -> None:
    assert "NUL" in refused(capsys, name, "--workspace", argument)


def texts() -> list[tuple[str, str]]:
    return [
        (name, parameter.opts[0])
        for name, each in COMMANDS.items()
        for parameter in each.params
        if isinstance(parameter, click.Option) and parameter.type is click.STRING and parameter.nargs == 1
    ]


@pytest.mark.parametrize(("name", "option"), texts())
def test_a_text_that_is_no_unicode(place: Path, capsys: pytest.CaptureFixture[str], name: str, option: str) -> None:
    assert "UTF-8" in refused(capsys, name, option, "a\udcffb")


def test_a_pattern_that_tries_everything_comes_to_an_end(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_workspace(place / "other", write=True) as space:
        Corpus(space).add([(RELU, Occurrence("node-tests", "a" * 300))])
    for name in ("ls", "export jsonl"):
        arguments = [*name.split(), "--workspace", "other", "--test", "*a" * 60 + "*b", *LEAST[name]]
        assert guarded(command, arguments) == 4
        assert guarded(command, [*arguments, "--test", "*a" * 60]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("pattern", "chosen"), [("test_[r]*", 1), ("test_[^r]*", 0), ("test_[!r]*", 0), ("TEST*", 0), ("*relu", 1), ("t?st*", 1)]
)
def test_shell_patterns_mean_what_they_meant(place: Path, pattern: str, chosen: int) -> None:
    assert guarded(command, ["ls", "--workspace", "other", "--test", pattern, "--json"]) == (0 if chosen else 4)


@pytest.mark.parametrize("target", ["known.toml/x", "a/" + "x" * 300, "a/" * 2500 + "x"])
@pytest.mark.parametrize("form", ["--html", "--junit", "--sarif", "--markdown"])
def test_a_file_that_cannot_be_there(place: Path, capsys: pytest.CaptureFixture[str], form: str, target: str) -> None:
    with open_workspace(place / "full", write=True) as space:
        fill(space)
    assert "name" in refused(capsys, "report", form, target, "--workspace", "full")


def test_seeds_that_were_taken_before_are_taken(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (0, 1, 20261123, 2**32 - 1):
        assert guarded(command, ["export", "jsonl", f"{seed}.jsonl", "--workspace", "other", "--seed", str(seed)]) == 0
    capsys.readouterr()


def test_a_number_that_is_too_small_is_refused_with_the_least() -> None:
    with pytest.raises(click.BadParameter, match="3 is too small; write at least 80"):
        Count(80, 320).convert("3", None, None)
