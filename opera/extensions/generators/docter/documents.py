"""Reads docstrings: what they say of each parameter's type, shape, range and choices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Optional

from opera.extensions.generators.docter.constraints import Dim, Facts, ParameterConstraint, Signature, ValueType, refined
from opera.extensions.generators.docter.types import kinds_of

_SECTION = re.compile(r"^\s*(?:Args?|Arguments|Parameters|Keyword args|Keyword arguments|Inputs?|Call arguments)\s*:+\s*$", re.I)
_OTHER_SECTION = re.compile(r"^\s*(?:Returns?|Raises|Examples?|Shape|Note|Output shape|Input shape|References?|Yields|Outputs?)\s*:", re.I)
_ENTRY = re.compile(r"^(\s*)(?:[-*]\s+)?\*{0,2}`{0,2}(\w+(?:\s*,\s*\w+)*)`{0,2}\*{0,2}\s*(?:\(((?:[^()]|\([^()]*\))*)\))?\s*:\s*(.*)$")
_SHAPE_LINE = re.compile(r"^\s*[-*]\s*(?:``)?(\w+)(?:\d)?(?:``)?\s*:\s*(.*)$")
_LATEX = (
    (r"\\text\{([^{}]*)\}", r"\1"),
    (r"\\times", "*"),
    (r"\\left|\\right|\\!|\\,|\$|`|:math:", ""),
    (r"\{([^{}]*)\}", r"\1"),
    (r"\\\w+", ""),
)
_QUOTED = re.compile(r"""[`'"]{1,3}([A-Za-z][\w/+-]*)[`'"]{1,3}""")
_DIMS = re.compile(r"(\d)(?:-?D\b| ?-dim| dimensional|-dimensional)", re.I)
_DTYPE = re.compile(r"\b(?:torch\.|tf\.)?(u?int(?:8|16|32|64)|b?float(?:16|32|64)|complex(?:64|128)|longtensor|booltensor|uint8)\b", re.I)
_DTYPE_NAMES = {"longtensor": "int64", "booltensor": "bool"}
_INTRODUCED = r"(?:one of|either|options?:?|can be|must be|should be|supported|choices|modes?)[^.]{0,12}?"
_SEPARATED = r"(?:[`'\"]{1,3}[\w-]+[`'\"]{1,3}[\s,|/]*(?:\(default\)[\s,|]*)?(?:or\s+|and\s+)?){2,}"
_ENUMERATION = re.compile(f"{_INTRODUCED}({_SEPARATED})", re.I)
_BARS = re.compile(r"((?:[`'\"]{1,3}[\w-]+[`'\"]{1,3}\s*\|\s*)+[`'\"]{1,3}[\w-]+[`'\"]{1,3})")
_NOT_A_CHOICE = frozenset({"True", "False", "None", "int", "float", "tuple", "bool", "list", "str", "Tensor", "string", "half", "double"})
_INTERVAL = re.compile(r"(?:in|range|between|interval)[^.\[(]{0,30}([\[(])\s*(-?[\d.]+)\s*,\s*(-?[\d.]+|inf)\s*([\])])")
_MAX_DIMS = 8


def read(doc: Optional[str]) -> dict[str, Facts]:
    """The facts of every parameter that *doc* describes, by name."""
    if not doc:
        return {}
    found = {name: _facts(kind, text) for name, kind, text in _entries(doc)}
    for name, shapes in _shape_section(doc):
        target = next((known for known in (name, name.lower()) if known in found), name.lower())
        known = found.get(target, Facts())
        if not known.shapes:
            found[target] = known._replace(shapes=shapes)
    return found


def parameters(doc: Optional[str]) -> Signature:
    """The signature that the list of arguments in *doc* amounts to, for a callable whose own takes anything."""
    return tuple(
        refined(ParameterConstraint(name, required=not re.search(r"optional|default", f"{kind} {text}", re.I)), _facts(kind, text))
        for name, kind, text in _entries(doc or "")
    )


def _entries(doc: str) -> Iterator[tuple[str, str, str]]:
    """Name, type and description of every documented parameter."""
    inside = False
    indent = 0
    names: list[str] = []
    kind, text = "", ""
    for line in doc.expandtabs().splitlines():
        if _SECTION.match(line) or _OTHER_SECTION.match(line):
            yield from ((name, kind, text) for name in names)
            inside, names, indent = _SECTION.match(line) is not None, [], -1
            continue
        entry = _ENTRY.match(line) if inside else None
        if entry is not None and (indent < 0 or len(entry.group(1)) <= indent):
            yield from ((name, kind, text) for name in names)
            indent = len(entry.group(1))
            names = [part.strip() for part in entry.group(2).split(",")]
            kind, text = entry.group(3) or "", entry.group(4)
        elif inside:
            text += " " + line.strip()
    yield from ((name, kind, text) for name in names)


def _facts(kind: str, text: str) -> Facts:
    low, high = _bounds(text)
    return Facts(_kinds(kind, text), _dtypes(kind, text), _ndims(kind, text), tuple(_shapes(text)), low, high, choices(f"{kind} {text}"))


def _kinds(kind: str, text: str) -> tuple[ValueType, ...]:
    words = re.sub(r"optional|default.*$", "", kind, flags=re.I).strip(" ,")
    return kinds_of(words) or kinds_of(re.split(r"[.;(]", text, maxsplit=1)[0][:120])


def _dtypes(kind: str, text: str) -> tuple[str, ...]:
    """Dtypes that the type names, or that the description demands."""
    demanded = re.search(r"(?:of (?:d?type|types)|must be|one of|dtype)\b(.{0,160})", text)
    words = f"{kind} {demanded.group(1) if demanded else ''}"
    names = (match.group(1).lower() for match in _DTYPE.finditer(words))
    return tuple(dict.fromkeys(_DTYPE_NAMES.get(name, name) for name in names))


def _ndims(kind: str, text: str) -> tuple[int, ...]:
    scalar = (0,) if re.search(r"\b0-D\b|\bscalar tensor\b", text) else ()
    return tuple(dict.fromkeys((*scalar, *(int(match.group(1)) for match in _DIMS.finditer(f"{kind} {text[:200]}")))))


def _bounds(text: str) -> tuple[Optional[float], Optional[float]]:
    interval = _INTERVAL.search(text)
    if interval is not None:
        return float(interval.group(2)), float(interval.group(3))
    if re.search(r"\bnon-?negative\b|\bgreater than or equal to (?:0|zero)\b|>= ?0", text, re.I):
        return 0.0, None
    if (
        re.search(r"\bpositive\b|\bgreater than (?:0|zero)\b|> ?0\b|\bat least (?:1|one)\b", text, re.I)
        and "positive or negative" not in text
    ):
        return 1.0, None
    if re.search(r"\bprobability\b|\bfraction\b", text, re.I):
        return 0.0, 1.0
    return None, None


def choices(text: str) -> tuple[str, ...]:
    """The strings of an enumeration: `'mean' | 'sum'`, `one of "a", "b"`."""
    match = _BARS.search(text) or _ENUMERATION.search(text)
    if match is None:
        return ()
    return tuple(dict.fromkeys(name for name in _QUOTED.findall(match.group(1)) if _is_choice(name)))


def _shape_section(doc: str) -> Iterator[tuple[str, tuple[tuple[Dim, ...], ...]]]:
    inside = False
    for line in doc.splitlines():
        if re.match(r"^\s*(?:Input |Output )?[Ss]hapes?:*\s*$", line):
            inside = True
        elif inside and (match := _SHAPE_LINE.match(line)) is not None:
            shapes = tuple(_shapes(match.group(2), anywhere=True))
            if shapes and not match.group(1).lower().startswith("output"):
                yield match.group(1), shapes
        elif inside and re.match(r"^\s*[A-Z]\w+:+\s*$", line):
            inside = False


def _shapes(text: str, anywhere: bool = False) -> Iterator[tuple[Dim, ...]]:
    """The shapes `(N, C, H, W)` in *text*; without *anywhere* those that the word shape or size introduces."""
    for pattern, replacement in _LATEX:
        text = re.sub(pattern, replacement, text)
    for match in re.finditer(r"[(\[]([^()\[\]]*)[)\]]", text):
        before = text[max(0, match.start() - 40) : match.start()].lower()
        parts = [part.strip() for part in match.group(1).split(",")]
        listed = anywhere or "shape" in before or "size" in before or "tensor of" in before
        if listed and 0 < len(parts) <= _MAX_DIMS:
            dims = [_dim(part) for part in parts if part]
            if dims and all(dim is not None for dim in dims):
                yield tuple(dim for dim in dims if dim is not None)


def _dim(text: str) -> Optional[Dim]:
    text = re.sub(r"\s+", "", text)
    if text.isdigit():
        return int(text) if 0 < int(text) <= _MAX_DIMS else None
    if text in ("*", "...", "\u2026", ""):
        return "..."
    return text if re.fullmatch(r"[A-Za-z][\w*/+().-]{0,40}", text) else None


def vocabulary(doc: Optional[str]) -> tuple[str, ...]:
    """The quoted words of *doc* that may be values of a parameter that takes text."""
    words = re.findall(r"""(?<!\w)['"]([a-z][\w-]{1,20})['"]""", doc or "")
    return tuple(dict.fromkeys(word for word in words if _is_choice(word)))[:12]


def _is_choice(word: str) -> bool:
    """Whether a quoted word may be a value: it is neither a type nor a Python constant."""
    return word not in _NOT_A_CHOICE and _DTYPE.fullmatch(word) is None
