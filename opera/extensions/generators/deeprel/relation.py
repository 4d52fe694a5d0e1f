"""Verifies that an API behaves like another: the recorded calls of one, made with both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Optional, Protocol

from opera.extensions.generators.deeprel.instances import Document
from opera.extensions.generators.deeprel.matching import Match
from opera.extensions.generators.docter.constraints import TargetApi

VALUE, STATUS = "value", "status"


class Library(Protocol):
    """What a relation needs of a library."""

    def resolve(self, api: str) -> Any:
        """The function or class called *api*."""
        ...

    def arguments(self, document: Document) -> Any:
        """The rebuilt arguments of a recorded call."""
        ...

    def built(self, factory: Any, positional: list[Any], keywords: dict[str, Any], context: dict[str, Any]) -> Any:
        """The object of a class, in the state that the context of a recorded call says."""
        ...

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two results are the same."""
        ...

    def reset(self, seed: int, entry: str) -> None:
        """Seeds the library's generators."""
        ...


class CallResult(NamedTuple):
    """How one call ended: whether it returned, and what."""

    returned: bool
    result: Any


class Relation(NamedTuple):
    """A verified relation.

    Attributes:
        kind: `value` where all results are equal, `status` where both APIs return and raise alike.
        verified: The number of calls that show it.
    """

    kind: str
    verified: int


class Pair:
    """A source API, a target API, and the match of their arguments."""

    def __init__(self, library: Library, source: str, target: TargetApi, match: Match, guard: Callable[[], Any]) -> None:
        """*guard* makes a context in which each call is made."""
        self._library = library
        self._source = source
        self._target = target
        self._match = match
        self._guard = guard

    def verify(self, documents: list[Document], least: int) -> Optional[Relation]:
        """The relation that *documents* show.

        None without a call, if both can make fewer than *least* calls, and if both raise at every call.
        """
        values = made = returned = 0
        for document in documents:
            replay = self.replay(document)
            if replay is None:
                continue
            one, other = self._outcome(lambda document=document: self.source_call(document)), self._outcome(replay)
            if one.returned != other.returned:
                return None
            made += 1
            returned += one.returned
            values += one.returned and self._library.equal(one.result, other.result)
        if made < least or not returned:
            return None
        return Relation(VALUE if values == made else STATUS, made)

    def _outcome(self, call: Callable[[], Any]) -> CallResult:
        """Runs a call with the generators set the same way each time."""
        self._library.reset(0, self._source)
        try:
            with self._guard():
                return CallResult(True, call())
        except Exception as error:
            return CallResult(False, type(error))

    def source_call(self, document: Document) -> Any:
        """Makes the recorded call itself."""
        made = self._library.arguments(document)
        target = self._library.resolve(self._source)
        build = [item for item in made.items if item[0] == "build"]
        call = [item for item in made.items if item[0] == "call"]
        if document["kind"] == "module":
            target = self._library.built(target, *_plain(build), made.context)
        positional, keywords = _plain(call)
        return target(*positional, **keywords)

    def replay(self, document: Document) -> Optional[Callable[[], Any]]:
        """The same arguments, given to the target; None where one of them has no place there. What is built, is built before the call."""
        names = {(part, argument["name"]) for part, key in (("build", "init"), ("call", "call")) for argument in document.get(key) or ()}
        if not names <= self._match.pairs.keys():
            return None

        def run() -> Any:
            made = self._library.arguments(document)
            return self._given(made.items, made.context)()

        return run

    def prepared(self, document: Document) -> Callable[[], Any]:
        """The target's call with everything built, so that the call alone can be watched."""
        made = self._library.arguments(document)
        return self._given(made.items, made.context)

    def _given(self, items: list[tuple[str, str, Any, bool]], context: dict[str, Any]) -> Callable[[], Any]:
        values = {(self._match.parts[part, name], self._match.pairs[part, name].name): value for part, name, value, _ in items}
        target = self._target.target
        if self._target.build is not None:
            target = self._library.built(target, *_ordered(self._target.build, "build", values), context)
        positional, keywords = _ordered(self._target.calls[self._match.variant], "call", values)
        return lambda: target(*positional, **keywords)


def _plain(items: list[tuple[str, str, Any, bool]]) -> tuple[list[Any], dict[str, Any]]:
    return [value for _, _, value, keyword in items if not keyword], {name: value for _, name, value, keyword in items if keyword}


def _ordered(signature: Any, part: str, values: dict[tuple[str, str], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by position as far as none is left out, then by keyword."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    gap = False
    for constraint in signature:
        if (part, constraint.name) not in values:
            gap = gap or not constraint.keyword
        elif gap or constraint.keyword:
            keywords[constraint.name] = values[part, constraint.name]
        else:
            positional.append(values[part, constraint.name])
    return positional, keywords
