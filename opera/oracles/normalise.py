"""A failure's message without what changes from run to run: addresses, numbers, dtypes, paths, names of values."""

from __future__ import annotations

import re

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDR"),
    (re.compile(r"(?s)(failed to legalize operation '[\w.]+'(?: that was explicitly marked illegal)?): .*"), r"\1"),
    (re.compile(r"\(args = [^\n]*?, kwargs = \{[^{}\n]*\}\)"), "(ARGS)"),
    (re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)"), r"\1"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
    (re.compile(r"-[0-9a-f]{6}(?=\.\w)"), ""),  # LLVM's temporary files
    (re.compile(r"\b(v?tensor|memref|vector)<(?:(?:[?\d]++x)*+|\[[^\]]*+\],)(\w+)>"), r"\1<\2>"),
    (
        re.compile(r"\b(?:[A-Za-z]+\.)?(?:(?:b?float|bf|f|u?int|[su]?i|ui|complex|bool|double|half|long|pred)\d+|bool|double|half)\b"),
        "DTYPE",
    ),
    (re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"), "N"),
    (re.compile(r"(\b[A-Za-z]+)_?\d+\b"), r"\1N"),
    (re.compile(r"[(\[{]\s*(?:N|True|False|None)(?:\s*,\s*(?:N|True|False|None))*\s*,?\s*[)\]}]"), "LIST"),
    (re.compile(r"\s+"), " "),
)
_NOISE = re.compile(
    r"(?m)^[^\S\n]*(?:Check 'false' failed at .*:$|Exception from .*:\d+:$|FrontEnd API failed with .*:?$|Model wasn't fully converted.*$"
    r"|-- .* with a message:$|Summary:$|-- Conversion is failed for: .*$|While validating .*$|Traceback \(most recent call last\):$"
    r"|Exception happened during conversion of operation .*$|This is OpenVINO internal type\..*$"
    r"|Failed to convert the exported program.*$|- If there is .*$|- Create an error report .*$|## Exception summary$"
    r"|File \".*\", line \d+.*$|Set TORCH.*$|You can suppress.*$|This is usually a bug.*$"
    r"|Error invoking IREE compiler tool .*$|Error code: \d+$|Diagnostics:$|%\d+(?::\d+)? = .*$|\^$|Invoked with:$|iree-compile .*$"
    r"|\S+:\d+(?::\d+)?: (?:warning|remark): .*$"
    r"|Need more information\? .*$|>>> .*$|Linking failed; escaped command line .*$|LLD_VERSION=.*$)\n?"
)
"""Lines that say where a compiler noticed a failure, and nothing of the failure."""
_WHERE = re.compile(
    r"^(?:\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : |Check '.*' failed at \S+:\d+:\s*|Exception during initialization: "
    r"|Non-zero status code returned while running \w+ node\. Name:'.*?' Status Message: |\S+\.(?:cc|cpp|h):\d+ "
    r"|<(?:stdin|unknown)>:\d+(?::\d+)?: error: |Error invoking function: \S+:\d+: )"
)
_LIMIT = 2000
_READ = 65_536
"""Characters of a message that are looked at; a failure that is kept is shorter."""


def template(message: str, limit: int = _LIMIT) -> str:
    """What *message* says, whatever the instance: at most *limit* characters on one line.

    A list of names is sorted, because compilers print sets in varying order. Lines that say nothing of the failure are dropped,
    unless nothing else is there.
    """
    message = message[:_READ]
    kept = _NOISE.sub("", message).strip() or message
    kept = re.sub(r"\[('[\w.:]+'(?:, '[\w.:]+')+)\]", _sorted_names, kept[: 16 * limit])
    kept = re.sub(r"\{('[\w.:]+'(?:, '[\w.:]+')+)\}", _sorted_names, kept)
    for pattern, replacement in _STEPS:
        kept = pattern.sub(replacement, kept)
    return kept.strip()[:limit]


def summary(message: str) -> str:
    """The one line of *message* that a person should read first."""
    message = message[:_READ]
    lines = [line.strip() for line in (_NOISE.sub("", message).strip() or message).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Check '")] or lines or [""]
    best = next((line for line in lines if len(line) > 8), lines[0])
    while (shorter := _WHERE.sub("", best)) != best and shorter:
        best = shorter
    return best[:240]


def _sorted_names(match: re.Match[str]) -> str:
    return "[" + ", ".join(sorted(match[1].split(", "))) + "]"
