"""`-k` expressions, as pytest has them: words that must occur in an API's name, joined by `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable

from opera.errors import UserError

Predicate = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:(\()|(\))|([^\s()]+))")


def selector(expression: str | None) -> Predicate:
    """The predicate on API names that *expression* describes; everything passes without one.

    Raises:
        UserError: the expression is malformed.
    """
    if expression is None or not expression.strip():
        return lambda name: True
    tokens = [next(part for part in match.groups() if part) for match in _TOKEN.finditer(expression)]
    parser = _Parser(tokens, expression)
    predicate = parser.either()
    if parser.tokens:
        raise parser.wrong()
    return predicate


class _Parser:
    def __init__(self, tokens: list[str], text: str) -> None:
        self.tokens = tokens[::-1]
        self._text = text

    def wrong(self) -> UserError:
        return UserError(f"-k {self._text!r} is not an expression; write e.g. -k 'conv and not transpose'")

    def _accept(self, word: str) -> bool:
        if self.tokens and self.tokens[-1] == word:
            self.tokens.pop()
            return True
        return False

    def either(self) -> Predicate:
        left = self._both()
        while self._accept("or"):
            left = _or(left, self._both())
        return left

    def _both(self) -> Predicate:
        left = self._single()
        while self._accept("and"):
            left = _and(left, self._single())
        return left

    def _single(self) -> Predicate:
        if self._accept("not"):
            inner = self._single()
            return lambda name: not inner(name)
        if self._accept("("):
            inner = self.either()
            if not self._accept(")"):
                raise self.wrong()
            return inner
        if not self.tokens or self.tokens[-1] in (")", "and", "or"):
            raise self.wrong()
        word = self.tokens.pop().lower()
        return lambda name: word in name.lower()


def _or(left: Predicate, right: Predicate) -> Predicate:
    return lambda name: left(name) or right(name)


def _and(left: Predicate, right: Predicate) -> Predicate:
    return lambda name: left(name) and right(name)
