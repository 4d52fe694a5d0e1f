"""`-k` expressions, as pytest has them: words that must occur in an API's name, joined by `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable

from opera.console import one_line
from opera.errors import UserError

Predicate = Callable[[str], bool]

_MOST_WORDS = 500
_DEEPEST = 50
_TOKEN = re.compile(r"\s*(?:(\()|(\))|([^\s()]+))")


def selector(expression: str | None) -> Predicate:
    """The predicate on API names that *expression* describes; everything passes without one.

    Raises:
        UserError: the expression is malformed.
    """
    if expression is None or not expression.strip():
        return lambda name: True
    tokens = [next(part for part in match.groups() if part) for match in _TOKEN.finditer(expression)]
    if len(tokens) > _MOST_WORDS:
        raise UserError(f"-k has {len(tokens):,} words; write an expression of at most {_MOST_WORDS:,}")
    parser = _Parser(tokens, expression)
    predicate = parser.either()
    if parser.tokens:
        raise parser.wrong()
    return predicate


class _Parser:
    def __init__(self, tokens: list[str], text: str) -> None:
        self.tokens = tokens[::-1]
        self._text = text
        self._depth = 0

    def wrong(self) -> UserError:
        return UserError(f"-k {one_line(self._text, 80)!r} is not an expression; write e.g. -k 'conv and not transpose'")

    def _accept(self, word: str) -> bool:
        if self.tokens and self.tokens[-1] == word:
            self.tokens.pop()
            return True
        return False

    def either(self) -> Predicate:
        parts = [self._both()]
        while self._accept("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda name: any(part(name) for part in parts)

    def _both(self) -> Predicate:
        parts = [self._single()]
        while self._accept("and"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else lambda name: all(part(name) for part in parts)

    def _single(self) -> Predicate:
        negated = False
        while self._accept("not"):
            negated = not negated
        inner = self._unsigned()
        return (lambda name: not inner(name)) if negated else inner

    def _unsigned(self) -> Predicate:
        if self._accept("("):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise UserError(f"-k has more than {_DEEPEST} parentheses inside each other; write a simpler expression")
            inner = self.either()
            if not self._accept(")"):
                raise self.wrong()
            self._depth -= 1
            return inner
        if not self.tokens or self.tokens[-1] in (")", "and", "or"):
            raise self.wrong()
        word = self.tokens.pop().lower()
        return lambda name: word in name.lower()
