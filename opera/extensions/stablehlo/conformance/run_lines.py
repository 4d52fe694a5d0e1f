"""Reads the RUN lines of StableHLO's test files: they say which passes a program goes through before it is evaluated."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_RUN = re.compile(r"\bRUN:(.*)")
_PASS = re.compile(r"(?:stablehlo|chlo)-[a-z0-9-]+")
"""Only passes of StableHLO run: some of MLIR's own write files."""
_LOWERING = frozenset({"chlo-legalize-to-stablehlo", "chlo-pre-serialization-pipeline", "stablehlo-legalize-composite-to-call"})
"""Passes after which a program has the same results. OPERA lowers what the interpreter does not know in any case."""
_NO_PASS = {
    "stablehlo-opt": frozenset({"inline", "split-input-file", "verify-diagnostics", "allow-unregistered-dialect"}),
    "stablehlo-translate": frozenset({
        "interpret", "split-input-file", "interpreter-print-dense", "probe-output-dir", "serialize", "deserialize", "target", "args",
    }),
}  # fmt: skip
"""Flags of the tools that leave the results as they are, or whose lack a state of the function says, as `no-input` says it of `args`."""
_MOST_LINES = 100
_LONGEST_LINE = 2_000
_OTHER_TOOLS = frozenset({"FileCheck", "diff", "dirname", "xargs"})


@dataclass(frozen=True)
class RunLines:
    """What the RUN lines of a file ask for.

    Attributes:
        passes: Passes that change results, in their order, by the names that MLIR has for them.
        refusal: Why OPERA cannot evaluate the file as they say; empty if it can.
    """

    passes: tuple[str, ...] = ()
    refusal: str = ""


class _Refused(ValueError):
    """A line that OPERA does not follow."""


def run_lines_of(text: str) -> RunLines:
    """The passes before an evaluation in the file *text*; none if no RUN line evaluates it."""
    try:
        commands = [_stages(line) for line in _lines(text)]
        found = list(dict.fromkeys(_passes(each, commands) for each in commands if _evaluates(each)))
    except _Refused as error:
        return RunLines(refusal=str(error))
    if len(found) > 1:
        return RunLines(
            refusal=f"RUN lines evaluate the file after different passes: {'; '.join(' '.join(each) or 'none' for each in found)}"
        )
    return RunLines(found[0] if found else ())


def _lines(text: str) -> list[str]:
    """The RUN lines; one that ends with a backslash goes on in the next one."""
    found: list[str] = []
    continued = False
    for number, match in enumerate(_RUN.finditer(text), 1):
        line = match[1].strip()
        if number > _MOST_LINES or len(line) > _LONGEST_LINE:
            raise _Refused(f"the file has more than {_MOST_LINES} RUN lines, or one of more than {_LONGEST_LINE:,} characters")
        if continued:
            found[-1] += " " + line.removesuffix("\\")
        else:
            found.append(line.removesuffix("\\"))
        continued = line.endswith("\\")
    return found


def _stages(line: str) -> list[list[str]]:
    """The words of each part of a pipe."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    stages: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word == "|":
                stages.append([])
            else:
                stages[-1].append(word)
    except ValueError as error:
        raise _Refused(f"a RUN line cannot be read: {error}") from error
    return stages


def _evaluates(stages: list[list[str]]) -> bool:
    """Whether a line evaluates; one that begins with `not` tests the messages of the tool."""
    return stages[0][:1] != ["not"] and any("stablehlo-translate" in each and _named("interpret", each) for each in stages)


def _named(name: str, words: list[str]) -> bool:
    return any(each.lstrip("-") == name for each in words if each.startswith("-"))


def _passes(stages: list[list[str]], commands: list[list[list[str]]]) -> tuple[str, ...]:
    """The passes of a line, with those of the lines that write the files which it reads."""
    files = {word for each in stages for word in each if word.startswith("%t")}
    written = [each for each in commands if each is not stages and any(">" in part and part[-1] in files for part in each)]
    found = [name for each in (*written, stages) for part in each for name in _of_stage(part)]
    return tuple(found) if set(found) - _LOWERING else ()


def _of_stage(words: list[str]) -> list[str]:
    """The passes of one part of a pipe."""
    place = next((place for place, word in enumerate(words) if word in _NO_PASS), None)
    if place is None:
        if not words or words[0] not in _OTHER_TOOLS:
            raise _Refused(f"a RUN line uses {words[0] if words else 'an empty command'}, which OPERA does not know")
        return []
    tool = words[place]
    found: list[str] = []
    for flag in (word for word in words[place + 1 :] if word.startswith("-") and word != "-"):
        name, _, value = flag.lstrip("-").partition("=")
        if name in _NO_PASS[tool]:
            continue
        if tool != "stablehlo-opt" or value or not _PASS.fullmatch(name):
            raise _Refused(f"a RUN line gives {flag} to {tool}, which OPERA does not follow")
        found.append(name)
    return found
