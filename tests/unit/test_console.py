"""What the one module that prints makes of foreign text, and that it is the only one."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
import threading
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown import ATTACKS, is_safe
from trees import OPERA, dotted, nodes

from opera import console
from opera.console import LiveLine, doing, print_table, say, wrapped


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_what_a_terminal_obeys_is_not_shown(attack: str) -> None:
    shown = console.clean(f"before {attack} after")
    assert is_safe(shown)
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert not set("\ufe0f\u3164\U000e0101") & set(shown)


@given(st.text(st.characters()) | st.text("\x1b[]PX\\;m8\x07\x9c\n\ra\u0301é\ud800"))
def test_whatever_the_text_is_it_is_safe_and_cleaned_once(text: str) -> None:
    shown = console.clean(text)
    assert is_safe(shown)
    assert console.clean(shown) == shown
    shown.encode()


@pytest.mark.parametrize("text", ["torch.nn.Conv2d", "naïve café", "行列", "λμπ ≤ … ✓", "a\n\tb", "नमस्ते", "e\u0301"])
def test_ordinary_text_stays(text: str) -> None:
    assert console.clean(text) == text


def test_a_flood_of_marks_stays_on_its_line() -> None:
    shown = console.clean("Z" + "\u0301" * 1000 + "algo")
    assert len(shown) < 12
    assert shown.endswith("algo")


def printed(call: str, *arguments: object, encoding: str = "utf-8", **options: object) -> str:
    """What a function of the module writes to both streams."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        getattr(console, call)(*arguments, **options)
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("attack", ["x\nopera: all is well", *ATTACKS.values()])
def test_a_line_and_a_row_stay_one_line(attack: str) -> None:
    assert printed("echo", f"name {attack}").count("\n") == 1
    assert printed("say", f"name {attack}").count("\n") == 1
    table = printed("print_table", ["name", "n"], [[attack, "1"], ["ordinary", "2"]])
    assert table.count("\n") == 4
    assert is_safe(table)


def test_a_megabyte_is_cut() -> None:
    assert len(printed("echo", "x" * 1_000_000)) < 20_000
    assert len(printed("print_table", ["name"], [["x" * 1_000_000], ["y"]])) < 5_000


def test_a_terminal_of_another_encoding_gets_what_it_can_show() -> None:
    assert printed("echo", "a … b ✓", encoding="ascii") == "a ? b ?\n"


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_json_is_lossless_and_plain_ascii(attack: str) -> None:
    text = printed("print_json", {"name": attack})
    assert json.loads(text) == {"name": attack}
    assert is_safe(text)
    assert text.isascii()


@pytest.mark.parametrize("attack", [*ATTACKS.values(), "[/red]", "[link=file:///etc/passwd]x[/link]", ":bomb:"])
def test_a_coloured_table_shows_foreign_text_and_obeys_none(attack: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None)
    table.add_column("name")
    table.add_row(attack)
    table.add_row(Text(attack, style="red"))
    out = io.StringIO()
    screen = console.terminal()
    screen.file = out
    screen.print(table)
    assert is_safe(out.getvalue())
    if attack[0] in "[:":
        assert out.getvalue().count(attack) == 2


PRINTS = {"click.echo", "click.secho", "click.prompt", "click.confirm", "click.progressbar", "traceback.print_exc", "print", "rich.print"}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
ALLOWED = {
    "console.py": "prints for all others",
    "corpus/files.py": "corpus files to standard output, ASCII by their format",
    "extensions/findings/mending/driver.py": "as a program beside a script, answers the command that started it",
    "extensions/findings/wide.py": "as a program beside a script, answers the command that started it",
    "extensions/tensorrt/card.py": "as a program, answers the worker that started it",
    "workers/child.py": "moves the streams of a worker away from its protocol; what is written there is kept as a log",
}


def printing(of_module: Iterable[ast.AST]) -> list[str]:
    """The ways past the console in the nodes of a module."""
    found: list[str] = []
    for node in of_module:
        if isinstance(node, ast.Call) and (name := dotted(node.func)) in PRINTS:
            found.append(name)
        elif isinstance(node, ast.Attribute) and dotted(node.value) in STREAMS and node.attr not in ("isatty", "fileno"):
            found.append(dotted(node))
        elif isinstance(node, ast.ImportFrom):
            names = {each.name for each in node.names}
            if node.module == "rich.console" and "Console" in names:
                found.append("rich.console.Console")
            if node.module in ("click", "click.termui") and names & {"echo", "secho", "style", "prompt", "confirm"}:
                found.append(f"from {node.module}")
            if node.module == "sys" and names & {"stdout", "stderr"}:
                found.append("from sys")
    return found


def test_no_other_module_prints() -> None:
    inside = {"instrumentation", "templates", "corpora", "facts", "hosts"}  # what runs in other processes
    files = [path for path in sorted(OPERA.rglob("*.py")) if not inside & set(path.parts)]
    assert len(files) > 150
    found = {str(path.relative_to(OPERA)): printing(nodes(path)) for path in files}
    assert {name: ways for name, ways in found.items() if ways and name not in ALLOWED} == {}
    assert {name for name in ALLOWED if name in found} <= {name for name, ways in found.items() if ways}


@pytest.mark.parametrize(
    "source", ["print(1)", "sys.stdout.write(x)", "click.echo(x)", "from rich.console import Console", "sys.stdout.buffer"]
)
def test_this_check_would_notice(source: str) -> None:
    assert printing(ast.walk(ast.parse(source)))


def test_a_live_line_appears_is_rewritten_and_goes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(console, "_REDRAW", 0.001)
    drawn = threading.Event()
    monkeypatch.setattr(LiveLine, "_raw", staticmethod(lambda text: (sys.stderr.write(text), "second" in text and drawn.set())))
    with LiveLine("first", live=True):
        doing("second\x1b[31m")
        assert drawn.wait(30)
        say("a line")
    shown = capsys.readouterr().err
    assert "second (0 s)" in shown
    assert "\r\x1b[2Ka line\n" in shown, "a line stands where the live line was"
    assert shown.endswith("\r\x1b[2K") or shown.endswith("a line\n")
    assert "\x1b[31m" not in shown


def test_a_quiet_command_has_no_live_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(console, "_REDRAW", 0.001)
    with LiveLine("first", live=True, quiet=True):
        time.sleep(0.05)
        doing("second")
    doing("nothing shows this")
    assert capsys.readouterr().err == ""


def test_elsewhere_a_live_line_is_a_plain_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(console, "_PLAIN", 0.001)
    said = threading.Event()
    monkeypatch.setattr(console, "say", lambda message: (sys.stderr.write(message + "\n"), said.set()))
    with LiveLine("opera triage", live=False):
        assert said.wait(30)
    assert re.fullmatch(r"(opera triage \(\d+ s\)\n)+", capsys.readouterr().err)


def test_cells_that_differ_at_their_ends_do_not_look_the_same(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    names = [f"torch.nn.functional.conv2d__dtype_float32__stride_{number}" for number in (1, 2, 3)]
    print_table(["id", "state"], [[name, "pass"] for name in (*names, "short")], elastic=0)
    cells = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(set(cells)) == 4
    assert all(cell.endswith(str(number)) for number, cell in zip((1, 2, 3), cells[:3], strict=True))


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_a_table_is_as_wide_as_the_terminal_and_loses_nothing(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    header = ["campaign", "tests", "seen by the last test", "verdicts"]
    rows = [["706f4902d9cd", "7,177", "nothing at all", "pass 6,845, unsupported 301, undefined 14, crash 13, inconsistent 2"]]
    print_table(header, rows)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    assert sorted(re.findall(r"[\w,]+", shown.replace("-", ""))) == sorted(re.findall(r"[\w,]+", " ".join(header + rows[0])))


def test_a_sentence_is_wrapped_on_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = "word " * 60 + "/a/path/that/nobody/may/break/" + "x" * 80
    wrapped(text)
    assert capsys.readouterr().out == text + "\n"
    monkeypatch.setenv("COLUMNS", "60")
    wrapped(text)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 60] == ["  " + text.split()[-1]]
