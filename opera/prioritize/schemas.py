"""What operators declare, and since when: facts about the libraries, read without importing them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any


def _nothing() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class Schema:
    """The declaration of one operator.

    Attributes:
        family: The same for operators of a library that declare the same.
        size: Number of declared attributes, inputs and outputs; None where it is not known.
        since: Version in which the operator appeared; 0 where it is not known.
        newest: Newest version of the operator's domain; 0 where it is not known.
        inputs: Names of the inputs.
        attributes: Names of the attributes.
        later: Version in which an attribute, an input or (after a colon) a dtype appeared, if that was after *since*.
    """

    family: Hashable
    size: int | None = None
    since: int = 0
    newest: int = 0
    inputs: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    later: Mapping[str, int] = field(default_factory=_nothing)


def schema_of(library: str, api: str) -> Schema | None:
    """What the operator *api* of *library* declares; None where the facts do not say."""
    known = _LIBRARIES.get(library)
    return None if known is None else known().get(api)


@cache
def _onnx() -> Mapping[str, Schema]:
    """Operators with the same attributes and the same options of inputs and outputs are a family. The names of inputs are documentation."""
    operators: Mapping[str, Any] = _facts("onnx_signatures.json")["operators"]
    newest: dict[str, int] = {}
    for operator in operators.values():
        newest[operator["domain"]] = max(newest.get(operator["domain"], 1), operator["versions"][1])
    found: dict[str, Schema] = {}
    for name, operator in operators.items():
        attributes = tuple((attribute, required) for attribute, required in operator["attributes"])
        inputs, outputs = tuple(option for _, option in operator["slots"]), tuple(operator["outputs"])
        found[f"{operator['domain']}.{name}"] = Schema(
            family=(attributes, inputs, outputs),
            size=len(attributes) + len(inputs) + len(outputs),
            since=operator["versions"][0],
            newest=newest[operator["domain"]],
            inputs=frozenset(slot for slot, _ in operator["slots"]),
            attributes=frozenset(attribute for attribute, _ in attributes),
            later=operator["later"],
        )
    return found


@cache
def _pytorch() -> Mapping[str, Schema]:
    """Functions whose ATen operators have the same schemas are a family, core operators apart from others."""
    families: list[Any] = _facts("pytorch_schemas.json")["families"]
    return {api: Schema(number) for number, family in enumerate(families) for api in family["functions"]}


def _facts(name: str) -> Any:
    return json.loads(resources.files("opera").joinpath("facts", name).read_text(encoding="utf-8"))


_LIBRARIES = {"onnx": _onnx, "pytorch": _pytorch}
