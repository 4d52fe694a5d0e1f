"""The features of a machine's processor: code for another processor may give other results."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FEATURES = ("flags", "Features")
"""Keys of /proc/cpuinfo on x86 and on ARM."""
_MODEL = ("model name", "CPU part")


@dataclass(frozen=True)
class Machine:
    """A kind of machine.

    Attributes:
        id: Hash of architecture and processor features, 12 hexadecimal digits: machines that share it make the same code.
        document: `architecture`, `features`, `processor`, `cores`, `system`.
    """

    id: str
    document: Mapping[str, object]


@cache
def this_machine() -> Machine:
    """The machine that this process runs on."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return machine_of(platform.machine(), text, os.cpu_count() or 1, platform.system())


def machine_of(architecture: str, cpuinfo: str, cores: int, system: str) -> Machine:
    """The machine that *cpuinfo*, the text of /proc/cpuinfo, describes."""
    entries = dict(reversed([_entry(line) for line in cpuinfo.splitlines() if ":" in line]))
    features = sorted({each for key in _FEATURES for each in entries.get(key, "").split()})
    processor = next((entries[key] for key in _MODEL if entries.get(key)), "")
    identity = hashlib.sha256(json.dumps([architecture, features]).encode()).hexdigest()[:12]
    return Machine(identity, {"architecture": architecture, "features": features, "processor": processor, "cores": cores, "system": system})


def _entry(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()
