"""A command that a message or a page names exists, with its options and its number of arguments."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence

import click
import pytest
from trees import ROOT, modules, nodes

from opera.cli import command as opera

_COMMAND = re.compile(r"`opera ([a-z][^`]*)`")
_WORD = "VALUE"


def texts(of_module: Sequence[ast.AST]) -> Iterator[str]:
    """The texts of a module; a value that is put into a text stands there as one word."""
    within = {id(part) for node in of_module if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    for node in of_module:
        if id(node) in within:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else _WORD for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def objection(text: str) -> str:
    """What is wrong with *text*, a command without `opera`; empty if nothing is."""
    try:
        words = shlex.split(re.split(r"\s[|>]\s", text.replace("\\", ""))[0].replace("...", " ").replace("…", " "))
    except ValueError as error:
        return str(error)
    current: click.Command = opera
    while isinstance(current, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        choices = [current.get_command(click.Context(current), each) for each in name.split("|")]
        found = choices[0]
        if found is None or None in choices:
            return "" if _WORD in name or name.isupper() else f"there is no command {name!r}"
        current = found
    options = {name: each for each in current.params if isinstance(each, click.Option) for name in (*each.opts, *each.secondary_opts)}
    arguments = [each for each in current.params if isinstance(each, click.Argument)]
    given = 0
    while words:
        word = words.pop(0)
        name, _, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            given += 1
        elif name not in options and name != "--help":
            return f"there is no option {name}"
        elif name != "--help" and not value and not options[name].is_flag and not options[name].count:
            words[:1] = []
    most = -1 if any(each.nargs < 0 for each in arguments) else sum(each.nargs for each in arguments)
    return f"it takes {most} arguments" if 0 <= most < given else ""


def test_a_command_that_a_message_names_exists() -> None:
    wrong = {
        (name, match[1]): why
        for name, path in modules().items()
        for text in texts(nodes(path))
        for match in _COMMAND.finditer(text)
        if (why := objection(match[1]))
    }
    assert wrong == {}


def test_a_command_that_a_page_names_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    wrong = {
        (str(page.relative_to(ROOT)), match[1]): why
        for page in pages
        for match in _COMMAND.finditer(page.read_text(encoding="utf-8"))
        if (why := objection(match[1]))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "text", ["doctor tensorrt", "doctor --compilers tvm", "docter", "env mend x", "show a --no-such", "report 'x", "fuzz run a b c d e"]
)
def test_a_command_that_does_not_exist_is_noticed(text: str) -> None:
    assert objection(text)


@pytest.mark.parametrize(
    "text", ["doctor --compiler tensorrt", "env create VALUE --again", "run", "opidiff run FILE --backend NAMES", "show"]
)
def test_a_command_that_exists_is_none(text: str) -> None:
    assert objection(text) == ""
