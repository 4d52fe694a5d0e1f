"""Signatures of Python functions as constraints."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from opera.extensions.generators.docter import naming
from opera.extensions.generators.docter.constraints import MISSING, OTHER, STRING, ParameterConstraint, Signature, ValueType
from opera.extensions.generators.docter.types import annotation_kinds, value_kinds


def signature_of(function: Any, hidden: frozenset[str], skip: int = 0) -> Signature:
    """The parameters of *function* but for the first *skip*; those called *hidden* are never given, where they have a default.

    Raises:
        TypeError, ValueError: it has no signature.
    """
    return tuple(of_parameters(list(inspect.signature(function).parameters.values())[skip:], hidden))


def of_parameters(parameters: Iterable[inspect.Parameter], hidden: frozenset[str]) -> Iterator[ParameterConstraint]:
    """The constraints that *parameters* state."""
    for item in parameters:
        if item.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        has_default = item.default is not inspect.Parameter.empty
        kinds = annotation_kinds(item.annotation) if item.annotation is not inspect.Parameter.empty else ()
        kinds = kinds or (value_kinds(item.default) if has_default else ())
        private = item.name.startswith("_")
        yield ParameterConstraint(
            item.name,
            (ValueType(OTHER),) if private or (has_default and item.name in hidden) else kinds,
            required=not has_default,
            keyword=item.kind is inspect.Parameter.KEYWORD_ONLY,
            rest=item.kind is inspect.Parameter.VAR_POSITIONAL,
            default=item.default if has_default else MISSING,
            choices=_literals(item.annotation),
        )


def with_words(signature: Signature, words: tuple[str, ...]) -> Signature:
    """*signature* with the quoted words of the documentation as what its strings may be, where nothing better is known."""
    return tuple(item._replace(choices=words) if words and _is_plain_text(item) else item for item in signature)


def _literals(annotation: Any) -> tuple[str, ...]:
    """The strings of a `Literal[...]`."""
    if "Literal" not in str(annotation):
        return ()
    return tuple(item for item in getattr(annotation, "__args__", ()) if isinstance(item, str))


def _is_plain_text(constraint: ParameterConstraint) -> bool:
    if constraint.choices:
        return False
    guessed = not constraint.kinds and naming.number(constraint.name) == naming.PLAIN and isinstance(constraint.default, str)
    return guessed or constraint.has(STRING)
