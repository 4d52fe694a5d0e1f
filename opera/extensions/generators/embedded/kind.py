"""Recorded calls inside larger graphs as a kind of instance: between quantised tensors, in a branch, in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from opera.instance import Instance, Kind
from opera.instance.kinds import InstanceKind, Steps

EMBEDDING = "embedding"
"""The context fact of an instance: the name of its graph, then the settings of this."""


class EmbeddedKind(InstanceKind):
    """A call of a function of PyTorch: the fact `embedding` in `context` says inside what."""

    def lines(self, instance: Instance) -> tuple[str, ...]:
        """Inside what the call is."""
        return (f"inside: {' '.join(map(str, embedding(instance)))}",)

    def steps(self, instance: Instance) -> Steps:
        """The call alone at first, then the steps of any call."""
        return (_alone, *import_module("opera.triage.reduction.candidates").STEPS)

    def model(self, library: str, instance: Instance, key: str, seed: int) -> Any:
        if library != "pytorch":
            return None
        return import_module("opera.extensions.generators.embedded.torch_model").EmbeddedModel(instance, key, seed)


def embedding(instance: Instance) -> tuple[Any, ...]:
    """The fact of *instance*; empty for a call that stands alone."""
    fact: Any = instance.context_value(EMBEDDING)
    return tuple(fact) if isinstance(fact, (list, tuple)) else ()


def alone(instance: Instance) -> Instance:
    """The call of *instance*, inside nothing."""
    return replace(instance, kind=Kind.FUNCTION, context=tuple(each for each in instance.context if each[0] != EMBEDDING))


def _alone(instance: Instance) -> Iterator[Instance]:
    if embedding(instance):
        yield alone(instance)
