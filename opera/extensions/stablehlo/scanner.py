"""Reads the text of MLIR far enough to find programs and statements: comments, strings, names, brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SPLIT = re.compile(r"^// -----[ \t]*\r?$", re.MULTILINE)
"""The line that separates the programs of one file."""
_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*)
  | (?P<string>@?"(?:\\.|[^"\\\n])*")
  | (?P<name>[%@\#!^][\w$.\-]+(?:\#\d+)?)
  | (?P<word>[A-Za-z_][\w$.]*)
  | (?P<number>\d[\w.]*(?:(?<=[eE])[-+]\d+)?)
  | (?P<arrow>->)
  | (?P<sign>[^\s\w])
    """,
    re.VERBOSE,
)
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSING = frozenset(_OPENING.values())


class TextError(ValueError):
    """A text outside the grammar.

    Attributes:
        line: Where, counted from 1 in the text that was scanned.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Program:
    """One program of a file.

    Attributes:
        text: Its text, without the separators.
        line: The line of the file on which it begins, counted from 1.
    """

    text: str
    line: int


def programs_of(text: str) -> list[Program]:
    """The programs of a file, which lines `// -----` separate; parts with nothing but comments are left out."""
    found: list[Program] = []
    start, line = 0, 1
    for end, following in [*((match.start(), match.end()) for match in SPLIT.finditer(text)), (len(text), len(text))]:
        part = text[start:end]
        if next(tokens(part), None) is not None:
            found.append(Program(part, line))
        line += text.count("\n", start, following)
        start = following
    return found


@dataclass(frozen=True)
class Token:
    """A piece of the text.

    Attributes:
        kind: `string`, `name` (with its sign, e.g. `%0#1`), `word`, `number`, `arrow` or `sign`.
        start, end: Its place in the text.
        text: Its characters.
    """

    kind: str
    start: int
    end: int
    text: str


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of *text* from *start* on, without space and comments."""
    for match in _TOKEN.finditer(text, start):
        kind = str(match.lastgroup)
        if kind != "comment":
            yield Token(kind, match.start(), match.end(), match[0])


def line_at(text: str, place: int) -> int:
    """The line on which *place* lies, counted from 1."""
    return 1 + text.count("\n", 0, place)


class Cursor:
    """Reads tokens one after the other."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.end = start
        """Where the last token that was taken ends."""
        self._tokens = tokens(text, start)
        self._next = next(self._tokens, None)

    def peek(self) -> str:
        """The next token; empty at the end."""
        return "" if self._next is None else self._next.text

    def kind(self) -> str:
        """The kind of the next token; empty at the end."""
        return "" if self._next is None else self._next.kind

    def take(self) -> str:
        """The next token, which is passed over.

        Raises:
            TextError: the text ends here.
        """
        if self._next is None:
            raise self.error("the text ends within a statement")
        token, self._next = self._next, next(self._tokens, None)
        self.end = token.end
        return token.text

    def accept(self, text: str) -> bool:
        """Passes over the next token if it is *text*."""
        if self.peek() != text:
            return False
        self.take()
        return True

    def expect(self, *texts: str) -> None:
        """Passes over the tokens *texts*; raises TextError where the text has others."""
        for each in texts:
            if not self.accept(each):
                raise self.error(f"expected {each!r}, found {self.peek()[:40]!r}" if self.peek() else f"expected {each!r} at the end")

    def group(self) -> str:
        """A bracketed text, which begins with the next token, brackets included."""
        start = self.start()
        waiting: list[str] = []
        while True:
            token = self.take()
            if token in _OPENING:
                waiting.append(_OPENING[token])
            elif token in _CLOSING:
                if not waiting or token != waiting.pop():
                    raise self.error(f"a bracket {token!r} that none opens")
                if not waiting:
                    return self.text[start : self.end]
            if not waiting:
                raise self.error(f"expected a bracket, found {token[:40]!r}")

    def type(self) -> str:
        """A type: a name, with what stands in angle brackets behind it."""
        start = self.start()
        if self.kind() not in ("word", "name"):
            raise self.error(f"expected a type, found {self.peek()[:40]!r}")
        self.take()
        if self.peek() == "<":
            self.group()
        return self.text[start : self.end]

    def error(self, message: str) -> TextError:
        """An error at the next token."""
        return TextError(message, line_at(self.text, self.start()))

    def start(self) -> int:
        """Where the next token begins."""
        return self.end if self._next is None else self._next.start

    def skip_to(self, place: int) -> None:
        """Passes over all tokens that begin before *place*."""
        while self._next is not None and self._next.start < place:
            self.take()


def first_function(text: str) -> str:
    """The name of the function with which a program begins: `main`, if there is one, else the first; empty without any."""
    names: list[str] = []
    found = tokens(text)
    for token in found:
        if token.text == "func.func":
            name = next((each.text for each in found if each.kind in ("name", "string") or each.text == "("), "")
            names.append(name.removeprefix("@").strip('"') if name.startswith("@") else "")
    return "main" if "main" in names else next(iter(names), "")
