"""What is read from the command line and from opera.toml, and how errors become exit codes."""

from __future__ import annotations

import ast
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.cli import command
from opera.cli.options import Duration, Size, guarded
from opera.config import load_config
from opera.corpus.selection import check_keyword, selector
from opera.difftest.settings import Settings
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError

# -k.


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        (None, {"nn.Conv2d", "nn.ConvTranspose2d", "relu", "notable"}),
        ("", {"nn.Conv2d", "nn.ConvTranspose2d", "relu", "notable"}),
        ("conv", {"nn.Conv2d", "nn.ConvTranspose2d"}),
        ("CONV and not transpose", {"nn.Conv2d"}),
        ("not conv", {"relu", "notable"}),
        ("not not relu", {"relu"}),
        ("relu or conv and transpose", {"relu", "nn.ConvTranspose2d"}),
        ("(relu or conv) and not (transpose or relu)", {"nn.Conv2d"}),
        ("notable", {"notable"}),
        ("nn.conv2d", {"nn.Conv2d"}),
        ("absent", set()),
    ],
)
def test_keywords_choose_by_name(expression: str | None, chosen: set[str]) -> None:
    wanted = selector(expression)
    assert {name for name in ("nn.Conv2d", "nn.ConvTranspose2d", "relu", "notable") if wanted(name)} == chosen


@pytest.mark.parametrize("expression", ["and", "a and", "or a", "(a", "a)", "()", "a b", "not", "a or or b", "a (b)", ")("])
def test_a_malformed_expression_is_the_users_error(expression: str) -> None:
    with pytest.raises(UserError, match="-k"):
        selector(expression)


@given(st.lists(st.sampled_from(["a", "b", "and", "or", "not", "(", ")"]), max_size=8))
def test_an_expression_means_what_python_means_by_it_or_is_refused(tokens: list[str]) -> None:
    text = " ".join(tokens)
    try:
        wanted = selector(text)
    except UserError:
        assert not _is_boolean(text)
        return
    if tokens:
        for name, scope in (("a", {"a": True, "b": False}), ("b", {"a": False, "b": True}), ("ab", {"a": True, "b": True})):
            assert wanted(name) == eval(text, dict(scope))


def _is_boolean(text: str) -> bool:
    """Whether *text* is made of names, `and`, `or`, `not` and parentheses, as Python reads it."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    plain = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)
    return all(isinstance(node, plain) for node in ast.walk(tree))


# Units.


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("30s", 30), ("10m", 600), ("2h", 7200), ("1d", 86400), ("7", 7), ("1.5min", 90), (3.0, 3.0)]
)
def test_durations_have_units(text: Any, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize(("text", "size"), [("500M", 500 * 2**20), ("4G", 2**32), ("1GiB", 2**30), ("12", 12), ("1.5k", 1536), (9, 9)])
def test_sizes_have_units(text: Any, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1x", "1 s s", "nan"])
def test_nonsense_is_no_duration_and_no_size(text: str) -> None:
    for kind in (Duration(), Size()):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)


# A campaign's identity.


def test_what_decides_on_the_tests_makes_another_campaign_and_what_does_not_does_not() -> None:
    def identity(versions: str = "1", **changes: Any) -> str:
        return Settings(**{"compiler": "c", "frontend": "f", **changes}).campaign({"c": versions})

    same = {identity(), identity(jobs=9), identity(timeout=1.0), identity(memory=1), identity(budget=3.0), identity(maxfail=1)}
    assert len(same) == 1
    others = [
        identity("2"), identity(compiler="d"), identity(seed=1), identity(keyword="x"), identity(limit=3), identity(chebyshev=0.1),
        identity(level="O0"), identity(route="r"), identity(strategy="random"),
    ]  # fmt: skip
    assert len({*others, *same}) == len(others) + 1


# opera.toml.


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opera.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


def test_without_a_file_the_current_interpreter_is_used(tmp_path: Path) -> None:
    setting = load_config(tmp_path).setting("compiler", "tvm", "python")
    assert (setting.value, setting.origin) == (sys.executable, "default")


def test_the_nearest_file_counts_and_paths_are_relative_to_it(tmp_path: Path) -> None:
    written(tmp_path, '[compiler.tvm]\npython = "far/python"\n')
    inner = written(tmp_path / "a", '[compiler.tvm]\npython = "envs/bin/python"\n[library.onnx]\npython = "python3.12"\n')
    (inner / "b").mkdir()
    config = load_config(inner / "b")
    assert config.python("compiler", "tvm") == str(inner / "envs/bin/python")
    assert config.setting("compiler", "tvm", "python").origin == str(inner / "opera.toml")
    assert config.python("library", "onnx") == "python3.12"
    assert config.python("library", "pytorch") == sys.executable


def test_an_environment_variable_counts_more_than_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_COMPILER_MY_COMPILER_PYTHON", "elsewhere")
    config = load_config(written(tmp_path, '[compiler.my-compiler]\npython = "x"\n'))
    setting = config.setting("compiler", "my-compiler", "python")
    assert (setting.value, setting.origin) == ("elsewhere", "OPERA_COMPILER_MY_COMPILER_PYTHON")


def test_a_compiler_has_folders_and_variables_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build").mkdir()
    text = '[compiler.tvm]\npath = ["build"]\n[compiler.tvm.env]\nTVM_LIBRARY_PATH = "lib"\n[compiler.iree]\npython = "x"\n'
    config = load_config(written(tmp_path, text))
    assert config.search_first("tvm") == (str(tmp_path / "build"),)
    assert config.environment("tvm") == {"TVM_LIBRARY_PATH": "lib"}
    assert config.python("compiler", "tvm") == sys.executable
    assert (config.search_first("iree"), config.environment("iree"), config.digest("iree")) == ((), {}, None)
    digest = config.digest("tvm")
    monkeypatch.setenv("OPERA_COMPILER_TVM_PATH", str(tmp_path))
    assert load_config(tmp_path).search_first("tvm") == (str(tmp_path),)
    assert len({digest, load_config(tmp_path).digest("tvm"), None}) == 3


def test_config_shows_them_with_their_origin_and_hides_what_may_be_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build").mkdir()
    written(tmp_path, '[compiler.tvm]\npath = ["build"]\nenv = {TVM_LOG = "1", HF_TOKEN = "abcdef"}\n')
    monkeypatch.chdir(tmp_path)
    assert guarded(command, ["config", "show", "--json"]) == 0
    shown = {each["name"]: (each["value"], each["origin"]) for each in json.loads(capsys.readouterr().out)["settings"]}
    file = str(tmp_path / "opera.toml")
    assert shown["compiler.tvm.path"] == (str(tmp_path / "build"), file)
    assert shown["compiler.tvm.env.TVM_LOG"] == ("1", file)
    assert shown["compiler.tvm.env.HF_TOKEN"] == ("(hidden)", file)
    assert shown["compiler.tvm.python"] == (sys.executable, "default")
    assert "compiler.iree.path" not in shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[compiler", "not valid TOML"),
        ("\udcff", "not valid TOML"),
        ("[compilers.tvm]\npython = 'x'\n", r"unknown section \[compilers\]"),
        ("compiler = 3\n", "needs a name"),
        ("[compiler]\ntvm = 3\n", "has no key"),
        ("[compiler.tvm]\npython = 3\n", "needs a text"),
        ("[compiler.tvm]\n", "has no key"),
        ("[compiler.tvm]\npython = 'x'\nlevel = 'y'\n", "unknown key 'level'"),
        ("[library.onnx]\npath = ['x']\n", "unknown key 'path'"),
        ("[compiler.tvm]\npath = 'x'\n", "list of folders"),
        ("[compiler.tvm]\npath = ['x', 3]\n", "list of folders"),
        ("[compiler.tvm]\npath = ['x:y']\n", "list of folders"),
        ("[compiler.tvm]\nenv = ['x']\n", "table of texts"),
        ("[compiler.tvm]\nenv = {X = 3}\n", "table of texts"),
        ("[compiler.tvm]\nenv = {'a=b' = 'c'}\n", "table of texts"),
        ("[compiler.tvm]\nenv = {PYTHONPATH = 'x'}\n", "use `path`"),
        ("[compiler.tvm]\nenv = {OPERA_PASS_ENV = '*'}\n", "OPERA sets itself"),
    ],
)
def test_a_malformed_file_is_the_users_error_and_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        load_config(written(tmp_path, text))
    assert str(tmp_path / "opera.toml") in str(caught.value)


# Errors and exit codes.


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (UserError("mend it"), Exit.USER_ERROR, "opera: mend it"),
        (EnvironmentBroken("install it"), Exit.BROKEN_ENVIRONMENT, "opera: install it"),
        (NothingSelected("nothing"), Exit.NOTHING_SELECTED, "opera: nothing"),
        (click.UsageError("wrong"), Exit.USER_ERROR, "wrong"),
        (click.ClickException("wrong"), Exit.USER_ERROR, "opera: wrong"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "the same command continues"),
        (OSError(28, "No space left on device", "file"), Exit.BROKEN_ENVIRONMENT, "no space left"),
        (sqlite3.OperationalError("database or disk is full"), Exit.BROKEN_ENVIRONMENT, "no space left"),
        (sqlite3.DatabaseError("database disk image is malformed"), Exit.USER_ERROR, "opera.db is damaged"),
        (PermissionError(13, "Permission denied", "folder"), Exit.BROKEN_ENVIRONMENT, "--workspace"),
    ],
)
def test_every_error_of_user_and_machine_is_a_message_without_traceback(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: Exit, says: str
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    assert guarded(failing, []) == code
    captured = capsys.readouterr()
    assert says in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_a_bug_of_ours_is_a_traceback_and_exit_code_70(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def failing() -> None:
        raise ZeroDivisionError("ours")

    assert guarded(failing, []) == Exit.INTERNAL_ERROR == 70
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert "a bug in OPERA" in captured.err


def test_the_documented_exit_codes() -> None:
    assert {code.name: code.value for code in Exit} == {
        "CLEAN": 0, "NEW_FINDINGS": 1, "USER_ERROR": 2, "BROKEN_ENVIRONMENT": 3, "NOTHING_SELECTED": 4, "INTERNAL_ERROR": 70,
        "INTERRUPTED": 130,
    }  # fmt: skip


NAMES = ["torch.nn.MaxPool2d", "torch.nn.functional.relu", "ai.onnx.Conv"]


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("maxpol2d", "no API has 'maxpol2d' in its name (did you mean 'maxpool2d'?)"),
        ("relu and not zzzz and quux", "no API has 'zzzz' in its name; `opera ls --operators` lists the operators"),
        ("relu and conv", "-k 'relu and conv' selects no API; `opera ls --operators` lists the operators"),
    ],
)
def test_a_keyword_that_selects_nothing_names_the_word_and_the_nearest_name(expression: str, says: str) -> None:
    with pytest.raises(NothingSelected) as raised:
        check_keyword(expression, NAMES)
    assert str(raised.value) == says


@pytest.mark.parametrize("expression", [None, "", " ", "MAXPOOL", "not conv", "relu or zzzz"])
def test_a_keyword_that_selects_something_is_accepted(expression: str | None) -> None:
    check_keyword(expression, NAMES)
    check_keyword("absent", [])


@pytest.mark.parametrize(("pattern", "instead"), [("max*", "'max'"), ("*pool?d", "'pool and d'"), ("[ab]", "'ab'"), ("*", "")])
def test_a_pattern_is_no_keyword(pattern: str, instead: str) -> None:
    with pytest.raises(UserError, match="not patterns such as") as raised:
        selector(pattern)
    assert str(raised.value).endswith(f"; write {instead}" if instead else repr(pattern))
