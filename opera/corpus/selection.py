"""Selects a part of a corpus: `-k` expressions, limits, and the instances that a command uses."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TypeVar

from opera.console import one_line
from opera.errors import NothingSelected, UserError
from opera.instance import encode_instance
from opera.prioritize import Candidate, Context, get_strategy
from opera.store import Corpus, Workspace, queries
from opera.untrusted import JsonObject

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
    return _parsed(expression)[0]


def check_keyword(expression: str | None, names: Iterable[str]) -> None:
    """Refuses an expression that selects none of *names*, the names of APIs.

    Raises:
        UserError: the expression is malformed.
        NothingSelected: it selects none; the message suggests a name for a word that occurs in none.
    """
    if expression is None or not expression.strip():
        return
    wanted, words = _parsed(expression)
    known = {name.lower() for name in names}
    if not known or any(wanted(name) for name in known):
        return
    parts = {part for name in known for part in name.split(".")}
    for word in words:
        if not any(word in name for name in known):
            close = difflib.get_close_matches(word, sorted(parts), 1)
            hint = f" (did you mean {close[0]!r}?)" if close else "; `opera ls --operators` lists the operators"
            raise NothingSelected(f"no API has {one_line(word, 80)!r} in its name{hint}")
    raise NothingSelected(f"-k {one_line(expression, 80)!r} selects no API; `opera ls --operators` lists the operators")


def _parsed(expression: str) -> tuple[Predicate, Sequence[str]]:
    """The predicate, and the words that it looks for."""
    tokens = [next(part for part in match.groups() if part) for match in _TOKEN.finditer(expression)]
    if len(tokens) > _MOST_WORDS:
        raise UserError(f"-k has {len(tokens):,} words; write an expression of at most {_MOST_WORDS:,}")
    parser = _Parser(tokens, expression)
    predicate = parser.either()
    if parser.tokens:
        raise parser.wrong()
    return predicate, parser.words


class _Parser:
    def __init__(self, tokens: list[str], text: str) -> None:
        self.tokens = tokens[::-1]
        self._text = text
        self._depth = 0
        self.words: list[str] = []

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
                raise UserError(f"-k has more than {_DEEPEST} nested parentheses; write a simpler expression")
            inner = self.either()
            if not self._accept(")"):
                raise self.wrong()
            self._depth -= 1
            return inner
        if not self.tokens or self.tokens[-1] in (")", "and", "or"):
            raise self.wrong()
        word = self.tokens.pop().lower()
        if re.search(r"[*?\[\]]", word):
            plain = re.sub(r"[*?\[\]]+", " ", word).split()
            instead = f"; write {' and '.join(plain)!r}" if plain else ""
            raise UserError(f"-k takes words that occur in a name, not patterns such as {one_line(word, 80)!r}{instead}")
        self.words.append(word)
        return lambda name: word in name.lower()


Item = TypeVar("Item")


def at_most(items: Iterable[Item], cap: int | None, kind: Callable[[Item], Hashable]) -> Iterator[Item]:
    """The first *cap* of *items* of each *kind*, in their order; all of them when *cap* is None."""
    taken: Counter[Hashable] = Counter()
    for item in items:
        of = kind(item)
        if cap is None or taken[of] < cap:
            taken[of] += 1
            yield item


@dataclass(frozen=True)
class Selection:
    """The selection of a command.

    Attributes:
        library: Only this library.
        source: Only instances that this source has given.
        keyword: A `-k` expression on the names of APIs.
        test: A shell pattern; only instances that such a test has given.
        outcome: Only instances with this recorded outcome.
        cap: Most instances per API.
        limit: Most instances.
        max_size: Most bytes of an instance's document.
        besides: Select only instances that another source than this one has.
    """

    library: str | None = None
    source: str | None = None
    keyword: str | None = None
    test: str | None = None
    outcome: str | None = None
    cap: int | None = None
    limit: int | None = None
    max_size: int | None = None
    besides: str | None = None

    def wanted(self) -> queries.Wanted:
        """The part that the store knows."""
        return queries.Wanted(self.library, self.outcome, self.source, self.test, self.besides)

    def document(self) -> JsonObject:
        """The given options, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Chosen:
    """An instance of a selection, by its id, with its library, API and recorded outcome."""

    id: str
    library: str
    api: str
    outcome: str


def choose(workspace: Workspace, selection: Selection, seed: int = 0) -> list[Chosen]:
    """The instances that *selection* describes, by library, API and hash.

    Where `cap` or `limit` leave some out, those stay that come first in the ranking of the strategy `opera` under *seed*. It covers
    dtypes, ranks and settings of an operator first, and families of operators take turns.

    Raises:
        UserError: there is no such library or source, or the keyword is no expression.
        NothingSelected: nothing is left.
    """
    check(workspace, selection.library, selection.source)
    rows = _matching(workspace, selection)
    if selection.max_size is not None or _leaves_out(rows, selection):
        rows = most_varied(workspace, rows, selection, seed)
    readable = {key for key, _ in Corpus(workspace).readable(row.id for row in rows)}
    rows = [row for row in rows if row.id in readable]
    if not rows:
        check_keyword(selection.keyword, (row[2] for row in queries.chosen(workspace, selection.wanted())))
        raise NothingSelected("no instance is selected; `opera ls --operators` lists the operators")
    return sorted(rows, key=lambda row: (row.library, row.api, row.id))


def check(workspace: Workspace, library: str | None, source: str | None) -> None:
    """Refuses names that the workspace does not have; raises UserError that lists those it has."""
    names = Corpus(workspace).libraries()
    if library is not None and library not in names:
        raise UserError(f"no instance of {library!r}; {_there(names)}")
    if source is None:
        return
    sources = queries.sources(workspace, library)
    if source not in sources:
        raise UserError(f"no instance of source {source!r}; {_there(sources)}")


def _there(names: list[str]) -> str:
    return f"the workspace has {', '.join(names)}" if names else "the workspace is empty, `opera extract` fills it"


def _matching(workspace: Workspace, selection: Selection) -> list[Chosen]:
    wanted = selector(selection.keyword)
    return [Chosen(*row) for row in queries.chosen(workspace, selection.wanted()) if wanted(row[2])]


def _leaves_out(rows: list[Chosen], selection: Selection) -> bool:
    capped = sum(1 for _ in at_most(rows, selection.cap, lambda row: (row.library, row.api)))
    return capped < len(rows) or (selection.limit is not None and selection.limit < len(rows))


def most_varied(workspace: Workspace, rows: Sequence[Chosen], selection: Selection, seed: int) -> list[Chosen]:
    """The first of *rows* in the ranking of the strategy `opera` under *seed*, as many and as large as *selection* allows."""
    candidates: list[Candidate] = []
    for key, instance in Corpus(workspace).readable(row.id for row in rows):
        if selection.max_size is None or len(json.dumps(encode_instance(instance), separators=(",", ":"))) <= selection.max_size:
            candidates.append(Candidate(key, instance))
    by_id = {row.id: row for row in rows}
    ranked = get_strategy("opera").rank(candidates, Context(seed=seed))
    order = at_most((by_id[each.id] for each in ranked), selection.cap, lambda row: (row.library, row.api))
    return list(islice(order, selection.limit))
