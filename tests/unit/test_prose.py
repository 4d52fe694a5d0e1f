"""A docstring says what the thing is, in more than three words, and a sentence of a docstring or a page has at most 35 words."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_pages import PAGES, ROOT
from trees import sources, tree

FOLDERS = ("opera", "instrumentation", "templates", "scripts", "benchmarks")
_LISTING = re.compile(r"(?<=\n\n)(?:^    .*\n?)+", re.MULTILINE)
_ENTRY = re.compile(r"^    (?=[*\w]+: )", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.)\s)|\Z")
_MARK = re.compile(r"\s*(?:(?:[-*>]|\d+\.)\s+)?")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\.\.\.)[\"')*]*\s+(?=\S)|\Z")
_JOINED = "\0"
"""A line break within code, which is one word."""

Objection = tuple[int, str]
"""A line of a file, and what is wrong there."""


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each sentence outside of code, tables and headings. A link counts as its words, and code as one word."""
    text = _FENCED.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _LINK.sub(r"\1", _CODE.sub(lambda found: "code" + _JOINED * found[0].count("\n"), text))
    line, counted, start = 1, 0, 0
    for gap in _BREAK.finditer(text):
        block = text[start : gap.start()]
        if not re.match(r"\s*[|#<]", block):
            mark = _MARK.match(block)
            begin = mark.end() if mark else 0
            for end in _END.finditer(block, begin):
                line += sum(text.count(each, counted, start + begin) for each in ("\n", _JOINED))
                counted = start + begin
                if words := block[begin : end.start()].replace(_JOINED, "").split():
                    yield line, " ".join(words)
                begin = end.end()
        start = gap.end()


def long_sentences(text: str) -> Iterator[Objection]:
    """The sentences of a page that have more than 35 words."""
    for line, sentence in sentences(text):
        if (count := len(sentence.split())) > 35:
            yield line, f"a sentence of {count} words: {sentence[:60]} ..."


def docstrings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring: of the module, its classes and functions, and what follows an assignment."""
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, inspect.cleandoc(node.value.value)
        for name in ("body", "orelse", "handlers", "finalbody"):
            pending += getattr(node, name, ()) if not isinstance(node, ast.Expr) else ()


def in_docstrings(module: ast.Module) -> Iterator[Objection]:
    """The docstrings of at most three words, and the long sentences of the others. An entry of `Args:` is a sentence of its own."""
    for first, text in docstrings(module):
        if (count := len(text.split())) <= 3:
            yield first, f"a docstring of {count} words: {text}"
        prose = _ENTRY.sub("  - ", _LISTING.sub(lambda found: "\n" * found[0].count("\n"), text))
        yield from ((first + line - 1, what) for line, what in long_sentences(prose))


def report(path: Path, objections: Iterator[Objection]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in objections]


def test_docstrings_say_what_the_thing_is_in_sentences_of_at_most_35_words() -> None:
    files = sources(*FOLDERS)
    assert len(files) > 300
    assert [each for path in files for each in report(path, in_docstrings(tree(path)))] == []


def test_sentences_of_pages_have_at_most_35_words() -> None:
    pages = [*PAGES, *sorted((ROOT / "data").glob("*/README.md"))]
    assert [each for path in pages for each in report(path, long_sentences(path.read_text(encoding="utf-8")))] == []


def test_a_sentence_ends_with_a_full_stop_and_not_within_an_abbreviation_code_or_a_table() -> None:
    text = "# A. B.\n\nOne `a.\nb`, e.g. [two. three](x.md). *Four.* Five ... six\nend.\n\n- 7\n- 8\n\n| a. |\n|---|\n```\nx.\n```\n9\n"
    found = [(3, "One code, e.g. two."), (4, "three."), (4, "*Four."), (4, "Five ... six end."), (7, "7"), (8, "8"), (15, "9")]
    assert list(sentences(text)) == found


LONG = "word " * 35 + "end."
MODULE = f'''"""Says what the module is.

    {LONG}

Args:
    one: {"word " * 20}
    two: {"word " * 20}
"""
A = 1
"""What A stands for."""


def f() -> None:
    """{"word " * 35}"""
'''


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda text: text, []),
        (lambda text: text.replace("What A stands for", "The A"), [10]),
        (lambda text: text.replace("word " * 35 + '"', 'Does it."'), [14]),
        (lambda text: text.replace("word " * 35 + '"', LONG + '"'), [14]),
        (lambda text: text.replace(f"    {LONG}", LONG), [3]),
        (lambda text: text.replace("    two", "        two"), [6]),
    ],
    ids=["nothing", "attribute", "function", "sentence", "paragraph", "entry"],
)
def test_a_short_docstring_and_a_long_sentence_are_noticed_at_their_line(change: Callable[[str], str], where: list[int]) -> None:
    assert [line for line, _ in in_docstrings(ast.parse(change(MODULE)))] == where
    assert [line for line, _ in long_sentences(f"Short.\n\nShort\ntoo. {LONG}\n")] == [4]
