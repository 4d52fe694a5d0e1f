"""Writes tests as the text of suites. YAML 1.1 reads the same values as YAML 1.2."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from opera.extensions.opidiff.suite import MOST_TESTS
from opera.extensions.opidiff.tree import MOST_NODES

_MOST_VALUES = 900_000
"""Most values of a file that OPERA still reads."""
_MOST_BYTES = 15 * 2**20
_SHARED = 2
"""Uses from which a node becomes a preset."""


@dataclass(frozen=True)
class Shared:
    """A node that may become a preset."""

    text: str


Part = None | bool | int | float | str | Shared | Sequence["Part"] | Mapping[str, "Part"]


def texts_of(tests: Sequence[Mapping[str, Part]]) -> tuple[list[str], bool]:
    """The texts of suites, each of which OPERA can read, and whether one file can include all of them: names of presets are unique."""
    chunks: list[Sequence[Mapping[str, Part]]] = []
    start = values = size = everything = 0
    for number, test in enumerate(tests):
        text = flow(test)
        more = text.count(",") + text.count(":") + text.count("[") + text.count("{")
        everything += more
        if number > start and (values + more > _MOST_VALUES or size + len(text) > _MOST_BYTES):
            chunks.append(tests[start:number])
            start, values, size = number, 0, 0
        values, size = values + more, size + len(text)
    chunks.append(tests[start:])
    texts = ["".join(lines_of(each, f"x{number}_" if len(chunks) > 1 else "x")) for number, each in enumerate(chunks, 1)]
    return texts, everything < MOST_NODES and len(tests) <= MOST_TESTS


def index_of(names: Sequence[str]) -> str:
    """The text of a suite that includes the files of these names."""
    return "".join(["include:\n", *(f"  - {flow(each)}\n" for each in names), "tests: []\n"])


def lines_of(tests: Sequence[Mapping[str, Part]], prefix: str = "x") -> Iterator[str]:
    """The lines of a suite; nodes that occur more than once become presets, whose names begin with *prefix*."""
    uses: Counter[str] = Counter(each.text for test in tests for each in _shared(test))
    names = {text: f"{prefix}{number}" for number, text in enumerate((text for text, count in uses.items() if count >= _SHARED), 1)}
    if names:
        yield "presets:\n"
        yield from (f"  {name}: {text}\n" for text, name in names.items())
    yield "tests:\n" if tests else "tests: []\n"
    for test in tests:
        start = "  - "
        for key, part in test.items():
            if key == "in" and isinstance(part, list) and part:
                yield f"{start}in:\n"
                yield from (f"      - {flow(each, names)}\n" for each in part)
            else:
                yield f"{start}{key}: {flow(part, names)}\n"
            start = "    "


def _shared(part: Part) -> Iterator[Shared]:
    if isinstance(part, Shared):
        yield part
    elif isinstance(part, Mapping):
        for each in cast("Mapping[str, Part]", part).values():
            yield from _shared(each)
    elif isinstance(part, Sequence) and not isinstance(part, str):
        for each in cast("Sequence[Part]", part):
            yield from _shared(each)


def flow(part: Part, names: Mapping[str, str] = {}) -> str:
    """*part* in flow style; *names* has the presets by the text of their nodes."""
    if isinstance(part, Shared):
        return f"{{ref: {names[part.text]}}}" if part.text in names else part.text
    if isinstance(part, str):
        return part if _is_plain(part) else json.dumps(part, ensure_ascii=False).replace("\x7f", "\\x7f")
    if isinstance(part, float):
        return _number(part)
    if part is None or isinstance(part, (bool, int)):
        return json.dumps(part)
    if isinstance(part, Mapping):
        pairs = (f"{flow(name)}: {flow(each, names)}" for name, each in cast("Mapping[str, Part]", part).items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join([flow(each, names) for each in part])}]"


_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])


def _is_plain(text: str) -> bool:
    """Whether *text* reads as itself without quotes, in every version of YAML."""
    return (
        text.isascii()
        and text[:1].isalpha()
        and text.replace("_", "").replace(".", "").replace("::", "").isalnum()
        and text.lower() not in _WORDS
    )


def _number(value: float) -> str:
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not exponent else '.0'}{exponent}{power}"
