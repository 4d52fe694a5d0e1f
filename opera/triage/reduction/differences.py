"""In what two tests of an operator differ, so that a property is shown by tests that differ in nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from opera.instance import Tensor
from opera.instance.values import Value
from opera.models.forms import form_parts
from opera.triage.reduction.places import put, without
from opera.triage.reduction.properties import ACCESSORS, Property, View, absent, json_of
from opera.triage.reduction.tensors import array_of, with_dtype, with_values

Facet = tuple[str, str]
"""What may differ, and the value that it is about; dtypes and shapes of tensors go together, because they have to fit each other."""
_DTYPE, _SHAPE = ("dtype", ""), ("shape", "")
_TEST_AS_A_WHOLE = {"output": "outputs", "calls": "program"}
"""Facts of the context that these accessors read."""


def facet_of(one: Property) -> Facet:
    """What *one* is about."""
    facet = ACCESSORS[one.kind].facet
    if facet == "context":
        return facet, _TEST_AS_A_WHOLE.get(one.kind, one.name)
    return facet, _top(one.name) if facet == "parameter" else one.name if facet in ("contents", "strides") else ""


def differences(one: View, other: View) -> frozenset[Facet]:
    """In what two tests differ."""
    return frozenset(_differences(one, other))


def differ_alone(property: Property, one: View, other: View) -> bool:
    """Whether two tests differ in what *property* is about, and in nothing else."""
    return differences(one, other) == frozenset((facet_of(property),))


def _differences(one: View, other: View) -> Iterator[Facet]:
    if one.instance.api != other.instance.api:
        yield "api", ""
    for name, first, second in zip(("form", "opset"), form_parts(one.form), form_parts(other.form), strict=True):
        if first != second:
            yield name, ""
    contexts = dict(one.instance.context), dict(other.instance.context)
    for name in {*contexts[0], *contexts[1]}:
        if json_of(contexts[0].get(name)) != json_of(contexts[1].get(name)):
            yield "context", name
    for name in {*one.values, *other.values}:
        yield from _of_values(name, one.values.get(name), other.values.get(name))


def _of_values(name: str, one: Value, other: Value) -> Iterator[Facet]:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and any(isinstance(each, Tensor) for each in (*one, *other)):
            return  # its items have names of their own
        if json_of(one) != json_of(other):
            yield "parameter", _top(name)
        return
    if one.dtype != other.dtype:
        yield _DTYPE
    if one.shape != other.shape:
        yield _SHAPE
        return
    if one.strides != other.strides or one.layout != other.layout:
        yield "strides", name
    if not _has_same_values(one, other):
        yield "contents", name


def _has_same_values(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one shape hold the same numbers; values that were not kept are the same if their limits are."""
    first, second = array_of(one), array_of(other)
    if first is None or second is None:
        return first is second and one.constraint == other.constraint and one.distribution == other.distribution
    if first.dtype.kind == "O" or second.dtype.kind == "O":
        return one.data == other.data
    return bool(np.array_equal(first.astype(np.complex128), second.astype(np.complex128), equal_nan=True))


def _top(name: str) -> str:
    return name.split("[")[0]


def adopted(base: View, other: View, property: Property) -> Iterator[View]:
    """*base* with what *property* is about as *other* has it, and nothing else changed: of one tensor, then of all tensors together."""
    alone = _adopted(base, other, property)
    if alone is not None:
        yield alone
    together = base
    for name in base.tensors if facet_of(property)[0] in ("dtype", "shape") else ():
        changed = _adopted(together, other, replace(property, name=name))
        together = together if changed is None else changed
    if together is not base:
        yield together


def _adopted(base: View, other: View, property: Property) -> View | None:
    kind = facet_of(property)[0]
    if kind in ("form", "opset"):
        inputs, opset = (form_parts((other if kind == each else base).form)[place] for place, each in enumerate(("form", "opset")))
        return View(base.instance, str(inputs) if opset is None else f"{inputs}@{opset}")
    place = base.places.get(property.name)
    if property == absent(property.name) and place is None:
        given = [each for each in other.instance.call if each.name == property.name]
        return View(replace(base.instance, call=(*base.instance.call, *(replace(each, keyword=True) for each in given))), base.form)
    if kind == "context" or place is None:
        return None
    own, wanted = base.values.get(property.name), other.values.get(property.name)
    if kind == "parameter":
        if wanted is None and property.name not in other.values:
            dropped = without(base.instance, {(place.part, place.index)})
            return None if dropped is None else View(dropped, base.form)
        return View(put(base.instance, place, wanted), base.form)
    if not isinstance(own, Tensor) or not isinstance(wanted, Tensor):
        return None
    made = _tensor(kind, own, wanted)
    return None if made is None else View(put(base.instance, place, made), base.form)


def _tensor(kind: str, own: Tensor, wanted: Tensor) -> Tensor | None:
    if kind == "dtype":
        return with_dtype(own, wanted.dtype)
    if kind == "strides":
        return replace(own, strides=wanted.strides) if own.shape == wanted.shape else None
    source = array_of(own if kind == "shape" else wanted)
    if source is None or not source.size or "string" in (own.dtype, wanted.dtype):
        return None
    shape = wanted.shape if kind == "shape" else own.shape
    given = with_values(own if kind == "shape" else wanted, np.resize(source, shape))
    return with_dtype(given, own.dtype)
