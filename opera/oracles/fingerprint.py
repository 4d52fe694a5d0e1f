"""Fingerprints: the normalised content of a failure, as a short hash.

A message loses addresses, numbers, dtypes and paths first; frames tell where the compiler raised. A fingerprint guides grouping, and never
changes afterwards.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from opera.oracles.verdict import Cause, Detail, Frame, Stage, Verdict

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(?<=error: )loc\(.*?\): "), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDR"),
    (re.compile(r"(?s)(failed to legalize operation '[\w.]+'(?: that was explicitly marked illegal)?): .*"), r"\1"),
    (re.compile(r"\(args = [^\n]*?, kwargs = \{[^{}\n]*\}\)"), "(ARGS)"),
    (re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)"), r"\1"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
    (re.compile(r"-[0-9a-f]{6}(?=\.\w)"), ""),  # LLVM's temporary files
    (re.compile(r"\b(v?tensor|memref|vector)<(?:(?:[?\d]++x)*+|\[[^\]]*+\],)(\w+)>"), r"\1<\2>"),
    (
        re.compile(
            r"\b(?:[A-Za-z]+\.)?k?(?i:(?:b?float|bf|fp|f|u?int|[su]?i|ui|complex|bool|double|half|long|pred)\d+(?:_?e\dm\d\w*)?"
            r"|e8m0|bool|double|half|float)\b"
        ),
        "DTYPE",
    ),
    (re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"), "N"),
    (re.compile(r"(\b[A-Za-z]+)_?\d+\b"), r"\1N"),
    (re.compile(r"[(\[{]\s*(?:N|True|False|None)(?:\s*,\s*(?:N|True|False|None))*\s*,?\s*[)\]}]"), "LIST"),
    (re.compile(r"\s+"), " "),
)
_LINES = (
    r"Traceback \(most recent call last\):",
    r"File \".*\", line \d+.*",
    r"Failed to convert the exported program.*",
    r"- If there is .*",
    r"- Create an error report .*",
    r"## Exception summary",
    r"Set TORCH.*",
    r"You can suppress.*",
    r"This is usually a bug.*",
    r"%\d+(?::\d+)? = .*",
    r"\^",
    r"\S+:\d+(?::\d+)?: (?:warning|remark): .*",
    r"\S+:\d+(?::\d+)?: note: loc\(.*\): called from",
    r">>> .*",
)
"""Lines of Python, PyTorch, MLIR and linkers that say where a failure was noticed, and nothing of the failure."""
_PREFIXES = (r"\S+\.(?:cc|cpp|h):\d+ ", r"<(?:stdin|unknown)>:\d+(?::\d+)?: error: ", r"loc\(.*?\): ")
"""How C++ and MLIR begin a message with a place."""
_LIMIT = 2000
"""Largest number of characters of a message that count; a stored failure is shorter."""


@dataclass(frozen=True)
class Noise:
    """The noise in the messages of one compiler, in addition to the noise of all compilers.

    Attributes:
        lines: Regular expressions; a line that one of them matches as a whole is dropped.
        prefixes: Regular expressions; what one of them matches at the beginning of a summary is left out.
    """

    lines: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @cached_property
    def dropped(self) -> re.Pattern[str]:
        """Matches whole lines, with their end; raises re.error where one of *lines* is no regular expression."""
        return re.compile(rf"(?m)^[^\S\n]*(?:{_any_of((*self.lines, *_LINES))})$\n?")

    @cached_property
    def left_out(self) -> re.Pattern[str]:
        """Matches at the beginning of a summary; raises re.error where one of *prefixes* is no regular expression."""
        return re.compile(rf"^(?:{_any_of((*self.prefixes, *_PREFIXES))})")


NO_NOISE = Noise()
"""The noise of a message that no compiler wrote."""


def _any_of(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def template(message: str, noise: Noise = NO_NOISE, limit: int = _LIMIT) -> str:
    """The normalised *message*, without parts that depend on the instance: at most *limit* characters on one line.

    A list of names is sorted, because compilers print sets in varying order. Lines that are *noise* are dropped, unless nothing else is
    there.
    """
    message = message[:_READ]
    kept = noise.dropped.sub("", message).strip() or message
    kept = re.sub(r"\[('[\w.:]+'(?:, '[\w.:]+')+)\]", _sorted_names, kept[: 16 * limit])
    kept = re.sub(r"\{('[\w.:]+'(?:, '[\w.:]+')+)\}", _sorted_names, kept)
    for pattern, replacement in _STEPS:
        kept = pattern.sub(replacement, kept)
    return kept.strip()[:limit]


_AT_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")
_OPERATOR = re.compile(r'\bir\.Op\(span=None,[^\n]{0,200}? name="([\w.]+)"[^\n]{0,4000}?, support_level=\d+\)')
"""A dump of one of TVM's operators."""
_INTRODUCTION = re.compile(r"Check '|backend='\w+' raised:$")
"""How a line begins that the message itself follows."""


def summary(message: str, noise: Noise = NO_NOISE) -> str:
    """The one line of *message* that a person should read first, without dumps and addresses of objects."""
    message = message[:_READ]
    lines = [line.strip() for line in (noise.dropped.sub("", message).strip() or message).splitlines() if line.strip()]
    lines = [line for line in lines if not _INTRODUCTION.match(line)] or lines or [""]
    best = next((line for line in lines if len(line) > 8), lines[0])
    while (shorter := noise.left_out.sub("", best)) != best and shorter:
        best = shorter
    return _AT_ADDRESS.sub("", _OPERATOR.sub(r"\1", best[:8_000]))[:240]


def _sorted_names(match: re.Match[str]) -> str:
    return "[" + ", ".join(sorted(match[1].split(", "))) + "]"


TOP = 2
"""Largest number of frames of each kind that count."""
_OURS = frozenset({"opera", "__main__"})
_CPP = re.compile(r"([\w+-]+\.(?:cc|cpp|cxx|cu|h|hpp|pxi)):\d+")
_GENERATED = re.compile(r"(?=\w*\d)\w{32,}")
"""Names of modules that compilers write while they compile, after a hash of their contents."""
_READ = 65_536


def top_frames(failure: Cause) -> tuple[str, ...]:
    """The functions nearest to the failure, without line numbers: those change with every version.

    Args:
        failure: As `opera.workers.failure.describe` makes it.

    Returns:
        Up to `TOP` frames of the trace, the innermost first, as `module.function` or the name of a C++ file; then up to `TOP` C++ files
        that the message names, the last first.
    """
    trace = _first(_in_project(failure.get("frames", ())))
    located = _first(match[1] for match in reversed(list(_CPP.finditer(str(failure.get("message", ""))[:_READ]))))
    return (*trace, *(each for each in located if each not in trace))


def _in_project(frames: Sequence[Frame]) -> Iterator[str]:
    """Frames of neither this tool nor the standard library, the innermost first."""
    for module, file, _, function in reversed(list(frames)):
        root = str(module).split(".", 1)[0]
        if root in _OURS or root in sys.stdlib_module_names or str(file).startswith("<"):
            continue
        where = str(module) or str(file).rsplit("/", 1)[-1]
        name = where if function == "<module>" else f"{where}.{function}"
        yield _GENERATED.sub("GENERATED", name)


def _first(names: Iterator[str]) -> tuple[str, ...]:
    """The first `TOP` different names."""
    found: list[str] = []
    for name in names:
        if name not in found:
            found.append(name)
            if len(found) == TOP:
                break
    return tuple(found)


VERSION = 2
NEWER_OPSET = "newer-opset"
"""In place of a converter: the model needs a newer opset of ONNX than the compiler says to load. Its wrong results have one fingerprint."""
ELEMENTS = ("nan", "inf", "values")
"""Kinds of difference that are about elements, where count, structure, shape and dtype agree."""


@dataclass(frozen=True)
class Symptom:
    """The parts of a fingerprint.

    Attributes:
        subject: `compiler/frontend`, or the exporter that failed.
        verdict: What the oracles said.
        stage: Where it stopped.
        kind: Exception type, signal, or kind of difference.
        converter: The conversion function.
        message: The normalised message.
        frames: Where it was raised, as `opera.oracles.frames.top_frames` gives it; of a crash only.
    """

    subject: str
    verdict: Verdict
    stage: Stage | None
    kind: str
    converter: str
    message: str
    frames: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of a hash of all parts."""
        parts = [
            VERSION,
            self.subject,
            self.verdict.value,
            self.stage.value if self.stage else None,
            self.kind,
            self.converter,
            self.message,
            self.frames,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def equivalent_fingerprints(self) -> frozenset[str]:
        """The fingerprints that this failure may have in another run: a result from uninitialised memory differs in each run."""
        if self.verdict is Verdict.INCONSISTENT and self.kind in ELEMENTS:
            return frozenset(replace(self, kind=kind).fingerprint for kind in ELEMENTS)
        return frozenset((self.fingerprint,))


def symptom_of(subject: str, verdict: Verdict, stage: Stage | None, converter: str, detail: Detail, noise: Noise) -> Symptom:
    """The evidence of a failing test; *noise* is the noise of the compiler's messages."""
    if verdict is Verdict.INCONSISTENT:
        assert "difference" in detail
        difference = detail["difference"]
        kind = NEWER_OPSET if converter == NEWER_OPSET else str(difference["kind"])
        message = f"{difference['expected']} -> {difference['actual']}" if kind in ("dtype", "structure") else ""
        message = template(difference["expected"]) if kind == "accepted" else message
        message = f"{message} stated" if difference.get("stated") else message
        return Symptom(subject, verdict, stage, kind, converter, message)
    if verdict is Verdict.CRASH:
        assert "failure" in detail
        failure = detail["failure"]
        message = template(str(failure["message"]), noise)
        return Symptom(subject, verdict, stage, str(failure["type"]), converter, message, top_frames(failure))
    lost = detail.get("lost", {})
    kind = str(lost.get("detail", "")) if verdict is Verdict.ABORT else str(lost.get("cause", ""))
    return Symptom(subject, verdict, stage, kind, converter, "")
