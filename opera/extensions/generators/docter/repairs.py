"""Repairs of a call that raised: what the message says of numbers, dimensions, dtypes and types, tried on the call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from opera.extensions.generators.docter.recipes import CallRecipe, Path, TensorRecipe

MOST = 14
"""The most candidates for one message."""
_LARGEST = 4096

_DTYPES: tuple[tuple[str, str], ...] = (
    (r"\blong\b|int64|integer|integral|indices|index tensor", "int64"),
    (r"\bint\b|int32", "int32"),
    (r"\bbool", "bool"),
    (r"\bfloat\b|floating|float32|fp32", "float32"),
    (r"\bdouble\b|float64", "float64"),
    (r"complex", "complex64"),
    (r"\bhalf\b|float16", "float16"),
    (r"\bbyte\b|uint8", "uint8"),
)
_VALUES = (
    (r"between 0 and 1|probabilit", "unit"),
    (r"singular|definite|symmetric|hermitian|cholesky", "definite"),
    (r"positive|negative", "positive"),
)
_DIMS = re.compile(r"(?<![\d.])(\d)\s?-?\s?(?:d\b|dim)|rank (?:of )?(?:at least )?(\d)|ndim ?[=>]+ ?(\d)", re.I)
_QUOTED = re.compile(r"""['"]([\w-]{1,24})['"]""")
_DEMAND = re.compile(r"['`]?(\w+)['`]?(?: \(position \d+\))? (?:must be|should be|to be|expected)(?: an?| of type)? (?:a )?(\w+)", re.I)


Candidate = tuple[Path, CallRecipe]
"""A call, and the part of it that is new."""


def candidates(recipe: CallRecipe, message: str) -> list[CallRecipe]:
    """Calls like *recipe* that *message*, the error of its call, suggests: first those that change a parameter which it names."""
    message = message[:1500]
    found = itertools.chain(
        _types(recipe, message),
        _strings(recipe, message),
        _values(recipe, message),
        _dtypes(recipe, message),
        itertools.islice(_numbers(recipe, message), MOST // 2),
        _dimensions(recipe, message),
        _alike(recipe, message),
    )
    some = list(itertools.islice(found, 3 * MOST))
    some.sort(key=lambda item: not re.search(rf"\b{re.escape(recipe.given(item[0]).name)}\b", message))
    return [changed for _, changed in some[:MOST]]


def _types(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    """`argument 'weight' must be Tensor, not int`."""
    for match in _DEMAND.finditer(message):
        name, demanded = match.group(1), match.group(2).lower()
        value = _value_of(demanded, recipe)
        if value is None:
            continue
        for path, _ in recipe.parts():
            if len(path) == 2 and recipe.given(path).name == name:
                yield path, recipe.replaced(path, value)
    if re.search(r"list of|sequence of|tensorlist|iterable", message, re.I):
        for path, tensor in recipe.tensors():
            if len(path) == 2:
                yield path, recipe.replaced(path, [tensor, tensor])


def _value_of(demanded: str, recipe: CallRecipe) -> Any:
    if demanded == "tensor":
        tensors = recipe.tensors()
        return tensors[0][1] if tensors else TensorRecipe((2, 3), "float32")
    return {"int": 1, "integer": 1, "float": 0.5, "bool": True, "tuple": [1], "list": [1]}.get(demanded)


def _strings(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    for path, value in recipe.parts():
        if isinstance(value, str):
            for word in dict.fromkeys(_QUOTED.findall(message)):
                if word != value:
                    yield path, recipe.replaced(path, word)


def _values(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    """Tensors whose values are of the kind that the message asks for."""
    for pattern, values in _VALUES:
        if re.search(pattern, message, re.I):
            for path, tensor in recipe.tensors():
                if "int" not in tensor.dtype and tensor.values != values:
                    yield path, recipe.replaced(path, tensor._replace(values=values))


def _dtypes(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    if not re.search(r"dtype|type|implemented|integer|float|support|must be|expected", message, re.I):
        return
    for pattern, dtype in _DTYPES:
        if not re.search(pattern, message, re.I):
            continue
        changed = recipe
        for path, tensor in recipe.tensors():
            if tensor.dtype != dtype:
                yield path, recipe.replaced(path, _typed(tensor, dtype))
                changed = changed.replaced(path, _typed(tensor, dtype))
        if len(recipe.tensors()) > 1 and changed != recipe:
            yield recipe.tensors()[0][0], changed


def _typed(tensor: TensorRecipe, dtype: str) -> TensorRecipe:
    whole = "int" in dtype or dtype == "bool"
    return tensor._replace(dtype=dtype, values="index" if whole else "normal", high=max(1, tensor.high))


def _numbers(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    """Each number of the call that the message names, replaced by another that it names."""
    numbers = [int(text) for text in re.findall(r"(?<![\w.])-?\d{1,5}(?![\w.])", message)]
    numbers = [number for number in dict.fromkeys(reversed(numbers)) if abs(number) <= _LARGEST][:6]
    for wanted, present in itertools.permutations(numbers, 2):
        for path, value in recipe.parts():
            if isinstance(value, TensorRecipe):
                if present in value.shape and wanted >= 0:
                    yield from _resized(recipe, path, value, present, wanted)
            elif type(value) is int and value == present:
                yield path, recipe.replaced(path, wanted)


def _resized(recipe: CallRecipe, path: Path, tensor: TensorRecipe, present: int, wanted: int) -> Iterator[Candidate]:
    for index, side in enumerate(tensor.shape):
        if side == present:
            yield path, recipe.replaced(path, tensor._replace(shape=(*tensor.shape[:index], wanted, *tensor.shape[index + 1 :])))


def _dimensions(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    wanted = [int(next(part for part in match.groups() if part)) for match in _DIMS.finditer(message)]
    for dims in dict.fromkeys(number for number in wanted if number <= 6):
        for path, tensor in recipe.tensors():
            if len(tensor.shape) != dims:
                yield path, recipe.replaced(path, tensor._replace(shape=_with_dims(tensor.shape, dims)))


def _with_dims(shape: tuple[int, ...], dims: int) -> tuple[int, ...]:
    if dims <= len(shape):
        return shape[len(shape) - dims :]
    return (*(shape[:1] or (2,)) * (dims - len(shape)), *shape)


def _alike(recipe: CallRecipe, message: str) -> Iterator[Candidate]:
    """Two tensors made equal in shape or dtype."""
    if not re.search(r"same|match|equal|size|shape|dtype|broadcast", message, re.I):
        return
    tensors: list[tuple[Path, TensorRecipe]] = recipe.tensors()
    for (_, one), (path, other) in itertools.permutations(tensors[:4], 2):
        if one.shape != other.shape:
            yield path, recipe.replaced(path, other._replace(shape=one.shape))
        if one.dtype != other.dtype:
            yield path, recipe.replaced(path, _typed(other, one.dtype))
