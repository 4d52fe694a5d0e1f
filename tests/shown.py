"""Text that does something to a terminal, and whether it still would."""

from __future__ import annotations

import unicodedata

ATTACKS = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;file:///etc/passwd\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "device": "\x1bP1$r0m\x1b\\",
    "unfinished": "\x1b]8;;http://evil",
    "nested": "\x1b\x1b[31m]52;c;AAAA\x07",
    "C1": "\x9b31m\x9d52;c;AAAA\x9c\x85\x90",
    "bidi": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u180eh",
    "fillers": "\u115f\u1160\u3164\uffa0\u034f\u17b4\u180b\u180f\ufe0f\U000e0101",
    "return": "safe\rEVIL",
    "backspace": "safe\b\b\b\bEVIL",
    "controls": "\x00\x07\x0b\x0c\x1c\x7f",
    "tags": "\U000e0001\U000e0041\U000e007f",
    "private": "\ue000\U000f0000",
    "lines": "a\u2028b\u2029c\u0085d",
    "surrogate": "\ud800x\udfff",
    "not a character": "\ufffe\uffff\U0001ffff\u0378",
    "annotation": "\ufff9a\ufffab\ufffb",
}
"""What a name may hold, by what it does to a terminal or a reader."""


def is_safe(text: str) -> bool:
    """Whether a terminal shows *text* and does nothing else."""
    return all(
        character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") for character in text
    )
