"""The recording of ONNX's node tests, made once for all processes that run tests: ONNX takes 16 CPU s to build its cases."""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opera.extract.description import INSTRUMENTATION
from opera.instance import Instance, decode_instance


def node_tests(kept: Path) -> list[Any]:
    """The lines of the recording, which lies in *kept* under a name that tells the recorder and ONNX's version."""
    text = hashlib.sha256(version("onnx").encode())
    for file in sorted(INSTRUMENTATION.rglob("*.py")):
        text.update(file.read_bytes())
    recording = kept / f"{text.hexdigest()[:16]}.jsonl"
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not recording.exists():
            partial = recording.with_suffix(".partial")
            subprocess.run([sys.executable, str(INSTRUMENTATION / "__main__.py"), "node-tests", "--recording", str(partial)], check=True)
            partial.rename(recording)
    return [json.loads(line) for line in recording.read_text().splitlines()]


def instances(lines: list[Any], *patterns: str) -> Iterator[Instance]:
    """The recorded instances of the tests whose names one of *patterns* matches, in the order of the recording."""
    for line in lines:
        if "instance" in line and any(fnmatch(line["test"].split("::")[1], pattern) for pattern in patterns):
            yield decode_instance(line["instance"])
