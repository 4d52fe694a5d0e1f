"""Lays out Python statements within a line length, as ruff and Black do it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

INDENT = "    "
_MARK = "TEXT"
"""Stands for a long string while the rest of its statement is laid out."""
_OPENING, _CLOSING = "([{", ")]}"


def laid_out(statements: Sequence[ast.stmt], limit: int, depth: int = 0) -> list[str]:
    """The lines of *statements*, at most *limit* characters each where brackets allow it.

    Args:
        statements: The body of a module, a class or a function.
        limit: Characters of a line.
        depth: Levels of indentation.
    """
    lines: list[str] = []
    previous: ast.stmt | None = None
    for each in statements:
        is_definition = isinstance(each, (ast.ClassDef, ast.FunctionDef))
        if previous is not None and (is_definition or isinstance(previous, (ast.ClassDef, ast.FunctionDef))):
            lines.append("")
        lines += list(_statement(each, limit, depth))
        previous = each
    return lines


def _statement(statement: ast.stmt, limit: int, depth: int) -> Iterator[str]:
    written = _with_long_text(statement, limit, depth)
    if written is not None:
        yield from written
        return
    text = source_of(statement)
    body: Sequence[ast.stmt] = getattr(statement, "body", ())
    if not body:
        yield from wrapped(text, limit, depth)
        return
    for decorator in getattr(statement, "decorator_list", ()):
        yield from wrapped(f"@{source_of(decorator)}", limit, depth)
    head = next(line for line in text.splitlines() if not line.startswith("@"))
    yield from wrapped(head, limit, depth)
    yield from laid_out(body, limit, depth + 1)
    for handler in getattr(statement, "handlers", ()):
        yield from wrapped(source_of(handler).partition("\n")[0], limit, depth)
        yield from laid_out(handler.body, limit, depth + 1)
    for name, rest in (("else", getattr(statement, "orelse", ())), ("finally", getattr(statement, "finalbody", ()))):
        if rest:
            yield f"{INDENT * depth}{name}:"
            yield from laid_out(rest, limit, depth + 1)


def _with_long_text(statement: ast.stmt, limit: int, depth: int) -> list[str] | None:
    """The lines of an assignment with one string of several lines, which is written in triple quotes; None for any other statement."""
    if not isinstance(statement, ast.Assign):
        return None
    texts = [each for each in ast.walk(statement) if isinstance(each, ast.Constant) and isinstance(each.value, str) and "\n" in each.value]
    if len(texts) != 1 or re.search(r'"""|\\|"$|[^\x20-\x7e\n]', text := str(texts[0].value)):
        return None
    marked = ast.unparse(statement).replace(ast.unparse(texts[0]), _MARK)
    lines = "\n".join(wrapped("".join(_double_quoted(marked)), limit, depth))
    return lines.replace(_MARK, f'"""{text}"""').split("\n")


def source_of(node: ast.AST) -> str:
    """The text of *node* on one line, if it has no body; strings in double quotes."""
    return _bare_generators("".join(_double_quoted(ast.unparse(node))))


def _bare_generators(text: str) -> str:
    """*text* without the second pair of parentheses that `ast.unparse` puts around a generator that is an only argument."""
    opened: list[int] = []
    for place, character in _code(text):
        if character in _OPENING:
            opened.append(place)
        elif character in _CLOSING:
            start = opened.pop()
            is_inner = opened[-1:] == [start - 1] and text[start - 1 : start + 1] == "((" and text[place : place + 2] == "))"
            if is_inner and len(_clauses(text[start + 1 : place])) > 1:
                return _bare_generators(text[:start] + text[start + 1 : place] + text[place + 1 :])
    return text


def _double_quoted(text: str) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    row, column = 1, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        for between in range(row, token.start[0]):
            yield lines[between - 1][column:]
            column = 0
        if token.start[0] <= len(lines):
            yield lines[token.start[0] - 1][column : token.start[1]]
        yield _in_double_quotes(token.string) if token.type == tokenize.STRING else token.string
        row, column = token.end


def _in_double_quotes(literal: str) -> str:
    """A literal as `ast.unparse` writes it, in double quotes unless its text has some."""
    match = re.fullmatch(r"([bf]?)'([^'\"]*)'", literal, re.DOTALL)
    return literal if match is None else f'{match[1]}"{match[2]}"'


def wrapped(text: str, limit: int, depth: int = 0) -> list[str]:
    """The lines of the logical line *text*."""
    indent = INDENT * depth
    if len(indent) + len(text) <= limit:
        return [indent + text]
    split = _outermost(text)
    if split is None:
        return [indent + text]
    head, body, tail = split
    inner = INDENT * (depth + 1)
    clauses = _clauses(body)
    parts = [body] if len(clauses) > 1 else _parts(body)
    is_display = re.search(r"[\w)\]\"']$", head[:-1]) is None
    if len(inner) + len(body) <= limit and (len(parts) == 1 or not is_display) and parts[-1]:
        return [indent + head, inner + body, indent + tail]
    if len(parts) > 1:
        lines = [line for part in parts if part for line in wrapped(f"{part},", limit, depth + 1)]
    else:
        lines = [line for clause in clauses for line in wrapped(clause, limit, depth + 1)]
    return [indent + head, *lines, indent + tail]


def _outermost(text: str) -> tuple[str, str, str] | None:
    """*text* before, in and after its last pair of outermost brackets that holds something; None without one."""
    found: tuple[int, int] | None = None
    depth, start = 0, 0
    for place, character in _code(text):
        if character in _OPENING:
            start = place if depth == 0 else start
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth == 0 and place > start + 1:
                found = start, place
    return None if found is None else (text[: found[0] + 1], text[found[0] + 1 : found[1]], text[found[1] :])


def _parts(text: str) -> list[str]:
    """*text* split at each comma outside of brackets and strings."""
    parts, begin, depth = list[str](), 0, 0
    for place, character in _code(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]


def _clauses(text: str) -> list[str]:
    """The element and the clauses of a comprehension; *text* alone if it is something else."""
    places, depth = [0], 0
    for place, character in _code(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and character == " " and re.match(r" for " if len(places) == 1 else r" (?:for|if) ", text[place:]):
            places.append(place)
    return [text[one:other].strip() for one, other in zip(places, [*places[1:], len(text)], strict=True)]


def _code(text: str) -> Iterator[tuple[int, str]]:
    """The characters of *text* that stand outside of strings, with their places."""
    place = 0
    while place < len(text):
        character = text[place]
        if character in "\"'":
            place += len(_string_at(text, place))
            continue
        yield place, character
        place += 1


_STRING = re.compile(r"""\"\"\".*?\"\"\"|'''.*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)


def _string_at(text: str, place: int) -> str:
    match = _STRING.match(text, place)
    return text[place] if match is None else match[0]
