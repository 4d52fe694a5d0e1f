"""Scripts that run under a recorder, and what the recording then says of each of their tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opera.extract.description import INSTRUMENTATION
from opera.instance import Instance, decode_instance


@dataclass
class Seen:
    """What one test of a script left in the recording.

    Attributes:
        documents: The new instances, as JSON.
        dropped: API and reason of each call that cannot be an instance.
        again: Number of calls that were recorded before.
    """

    documents: list[Any] = field(default_factory=list[Any])
    dropped: dict[str, str] = field(default_factory=dict[str, str])
    again: int = 0

    @property
    def instances(self) -> list[Instance]:
        return [decode_instance(document) for document in self.documents]

    @property
    def apis(self) -> list[str]:
        return [instance.api for instance in self.instances]

    @property
    def only(self) -> Instance:
        assert len(self.documents) == 1, self.apis
        return self.instances[0]

    def of(self, api: str) -> Instance:
        """The first instance of *api*."""
        return next(instance for instance in self.instances if instance.api == api)


def read(recording: Path) -> dict[str, Seen]:
    """What each test left in *recording*, by its name."""
    found: dict[str, Seen] = {}
    current = Seen()
    for line in map(json.loads, recording.read_text().splitlines()):
        if "entry" in line:
            current = found.setdefault(line["name"], Seen())
        elif "instance" in line:
            found[line["test"]].documents.append(line["instance"])
        elif "again" in line:
            found[line["test"]].again += line["calls"]
        elif "dropped" in line:
            current.dropped[line["api"]] = line["dropped"]
    return found


def record(text: str, folder: Path, **environment: str) -> dict[str, Seen]:
    """Runs the script *text*, which gets the paths of the recorders and of the recording as its arguments."""
    script, recording = folder / "script.py", folder / "recording.jsonl"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script), str(INSTRUMENTATION / "__main__.py"), str(recording)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return read(recording)
