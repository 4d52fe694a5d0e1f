"""Types as texts: annotations, ATen schemas and the words of documentation, read into kinds."""

from __future__ import annotations

import re
from typing import Any, Optional

from opera.extensions.generators.docter.constraints import (
    BOOL,
    BOOLS,
    DTYPE,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NONE,
    OTHER,
    STRING,
    TENSOR,
    TENSORS,
    ValueType,
)

_LISTS = re.compile(r"\b(?:list|tuple|sequence|iterable|collection|torch\.size|broadcastinglist\d?)\b|^size$")
_BRACKETED = re.compile(r"\b(list|tuple|sequence|iterable|collection|broadcastinglist(\d))\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_WORDS: tuple[tuple[str, str], ...] = (
    (r"\bscalartype\b|\bd-?types?\b", DTYPE),
    (r"\btensors?\b|\barray(?:_?like)?s?\b|\bparameter\b|\btensorlike\b|\bkerastensors?\b|\bvariable\b", TENSOR),
    (r"\bbool(?:ean)?s?\b", BOOL),
    (r"\bint(?:eger)?s?\b|\bint(?:32|64)\b|\bsymint\b|\b_int\b|\bnumber of\b", INT),
    (r"\bfloats?\b|\bnumber\b(?! of)|\bscalar\b|\bcomplex\b|\breal\b|\bdouble\b|\bsymfloat\b", FLOAT),
    (r"\bstr(?:ing)?s?\b|\bliteral\b", STRING),
    (r"\bnone(?:type)?\b|\boptional\b", NONE),
    (r"\bcallable\b|\bfunction\b|\bdevice\b|\blayout\b|\bgenerator\b|\bmemory_?format\b|\bmodule\b|\bstorage\b|\bstream\b", OTHER),
)
_MANY = {TENSOR: TENSORS, INT: INTS, FLOAT: FLOATS, BOOL: BOOLS}


def kinds_of(text: str) -> tuple[ValueType, ...]:
    """The kinds that a type named by *text* has: `Union[int, tuple[int, int]]`, `List[Tensor]`, `int or tuple of ints`."""
    found: list[ValueType] = []
    rest = _BRACKETED.sub(lambda match: _bracketed(match, found), text.lower().replace("typing.", ""))
    plural = _LISTS.search(rest) is not None
    for pattern, kind in _WORDS:
        match = re.search(pattern, rest)
        if match is None:
            continue
        listed = plural and kind in _MANY and _LISTS.search(rest[: match.start()]) is not None
        if not listed or re.search(rf"(?:{pattern})\s*,?\s*or\b", rest):
            found.append(ValueType(kind))
        if listed:
            found.append(ValueType(_MANY[kind]))
    if plural and not any(item.name in _MANY.values() for item in found):
        singles = [item.name for item in found if item.name in _MANY]
        found.extend(ValueType(_MANY[name]) for name in singles or [INT])
    return tuple(dict.fromkeys(found))


def annotation_kinds(annotation: Any) -> tuple[ValueType, ...]:
    """The kinds of a parameter's annotation; none where it says nothing."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None)
    if not isinstance(text, str) or getattr(annotation, "__args__", None):
        text = str(annotation)
    return () if text in ("_empty", "Any", "object", "None", "NoneType") else kinds_of(text)


def value_kinds(value: object) -> tuple[ValueType, ...]:
    """The kinds that the type of a default suggests."""
    if isinstance(value, bool):
        return (ValueType(BOOL),)
    if isinstance(value, int):
        return (ValueType(INT),)
    if isinstance(value, float):
        return (ValueType(FLOAT),)
    if isinstance(value, str):
        return (ValueType(STRING),)
    if isinstance(value, (list, tuple)):
        return (ValueType(FLOATS if any(isinstance(item, float) for item in value) else INTS, len(value) or None),)
    return ()


def _bracketed(match: re.Match[str], found: list[ValueType]) -> str:
    """Adds the kind of `list[...]` to *found*; what is left of it is empty text."""
    inner = match.group(3)
    kinds = [item.name for item in kinds_of(inner) if item.name in _MANY]
    length: Optional[int] = int(match.group(2)) if match.group(2) else None
    if match.group(1) == "tuple" and "..." not in inner:
        length = inner.count(",") + 1
    found.extend(ValueType(_MANY[name], length) for name in kinds[:1])
    if length is not None and match.group(2):
        found.insert(len(found) - 1, ValueType(kinds[0] if kinds else INT))
    return ""
