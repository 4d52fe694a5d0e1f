"""Writes Python statements as text, which Black formats."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

INDENT = "    "
_KEPT = 4096
"""Texts whose layout is kept: an export writes a suite several times, because it runs it."""
_CLASS = re.compile(r"(?m)^( *class .*:)\n\n")
"""A class, and the empty line that `ast.unparse` writes behind its head: Black leaves it, ruff does not."""
_FUNCTION = "def test():\n    pass"
_PRINTED = re.compile(r"""(?!.*\"{3})[\x20-\x5b\x5d-\x7e\n]*(?<!")""", re.DOTALL)
"""Texts that triple quotes hold as they are."""


@lru_cache(_KEPT)
def formatted(text: str, limit: int) -> str:
    """*text*, Python source, as Black formats it: in lines of at most *limit* characters, where it can break them."""
    import black

    return black.format_str(text, mode=black.Mode(line_length=limit)).rstrip("\n")


def formatted_decorator(text: str, limit: int) -> list[str]:
    """The formatted lines of the decorator *text*."""
    return formatted(f"{text}\n{_FUNCTION}", limit).removesuffix(_FUNCTION).rstrip("\n").split("\n")


def lines_of(statements: Sequence[ast.stmt], limit: int) -> list[str]:
    """The formatted lines of *statements*."""
    return formatted(source_of(statements), limit).split("\n") if statements else []


def source_of(statements: Sequence[ast.stmt]) -> str:
    """The text of *statements*: strings of several lines in triple quotes, generators that are an only argument without parentheses."""
    tree = ast.Module(list(statements), [])
    text = _CLASS.sub(r"\1\n", ast.unparse(tree))
    text = _bare_generators(text) if "((" in text else text
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value and _PRINTED.fullmatch(node.value):
            text = text.replace(repr(node.value), f'"""{node.value}"""')
    return text


def indented(text: str) -> str:
    """*text*, Python source, one level deeper; not the further lines of a string."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            inside.update(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(f"{INDENT}{line}" if line and number not in inside else line for number, line in lines)


def least_lines(text: str, limit: int) -> int:
    """The fewest lines that *text*, unformatted source, has in lines of *limit* characters."""
    return sum(-(-len(line) // limit) for line in text.split("\n") if line)


def _bare_generators(text: str) -> str:
    """*text* without the second pair of parentheses that `ast.unparse` puts around a generator that is an only argument."""
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    ends: list[int] = []
    for node in ast.walk(ast.parse(data)):
        match node:
            case ast.Call(args=[ast.GeneratorExp() as only], keywords=[]):
                start = starts[only.lineno - 1] + only.col_offset
                end = starts[(only.end_lineno or 0) - 1] + (only.end_col_offset or 0)
                ends += [start, end - 1] if data[start - 1 : start + 1] == b"((" else []
            case _:
                pass
    for place in sorted(ends, reverse=True):
        data = data[:place] + data[place + 1 :]
    return data.decode()
