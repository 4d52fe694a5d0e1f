"""Records what each version of a compiler supports, from the campaigns of a workspace: `data/versions`, which the site shows.

python scripts/recorded_versions.py --workspace DIR onnxruntime/onnx ...

With --confirm, tests that a version lost against the one before run once more on both; `opera.toml` has to name the versions.

| line of a file | content |
|---|---|
| the first | subject, and name, campaign and day of each version, the oldest first |
| every other | a test: API, dtype, opset and rank of its instance, input form, first digits of its id, and a letter for each version |

The letters are those of `opera.extensions.versions.support`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from opera.config import load_config
from opera.extensions.versions.bisect import Versions
from opera.extensions.versions.confirm import confirmed
from opera.extensions.versions.support import Case, Support, Version, supports
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import lines_of
from opera.workers.supervision import working_folder

FOLDER = Path(__file__).parents[1] / "data" / "versions"
_DIGITS = 16


class Facts(NamedTuple):
    """What the site filters tests by: dtype of the first tensor, opset (0 without one), and the highest rank."""

    dtype: str
    opset: int
    rank: int


class _Head(msgspec.Struct):
    subject: str
    versions: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Recorded:
    """The versions of one subject, and the facts of each test's instance."""

    support: Support
    facts: Mapping[str, Facts]


def main() -> None:
    """Writes a file for each subject."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, required=True, help="the workspace with the campaigns")
    parser.add_argument("subjects", nargs="+", metavar="COMPILER/FRONTEND")
    parser.add_argument("--confirm", action="store_true", help="run what a version lost once more")
    arguments = parser.parse_args()
    with open_workspace(arguments.workspace, write=False) as space, working_folder("record") as scratch:
        corpus, found = Corpus(space), {each.subject: each for each in supports(space)}
        keys = {key[:_DIGITS]: key for each in found.values() for key in corpus.runnable(each.frontend)}
        for subject in arguments.subjects:
            support = found[subject]
            if arguments.confirm:
                at = Versions.of(support.compiler, load_config()).at
                for before, after in support.steps():
                    support = confirmed(space, support, at, before, after, scratch)
            facts = {case.instance: facts_of(json.loads(corpus.document(keys[case.instance]))) for case in support.tests}
            write(Recorded(support, facts))


def write(recorded: Recorded, folder: Path = FOLDER) -> None:
    """Writes the file of one subject into *folder*; the same content gives the same bytes."""
    support = recorded.support
    head = {
        "schema": "versions/1",
        "subject": support.subject,
        "versions": [[each.name, each.campaign, each.ran] for each in support.versions],
    }
    rows = sorted(
        ([case.api, *recorded.facts[case.instance], case.form, case.instance, letters] for case, letters in support.tests.items())
    )
    lines = [json.dumps(head), *(json.dumps(row, separators=(",", ":")) for row in rows)]
    folder.mkdir(exist_ok=True)
    data = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
    (folder / f"{support.compiler}-{support.frontend}.jsonl.gz").write_bytes(data)


def read(path: Path) -> Recorded:
    """The versions in the file *path*."""
    lines = lines_of(path)
    head = msgspec.json.decode(next(lines)[1], type=_Head)
    decode = msgspec.json.Decoder(tuple[str, str, int, int, str, str, str]).decode
    tests: dict[Case, str] = {}
    facts: dict[str, Facts] = {}
    for _, line in lines:
        api, dtype, opset, rank, form, instance, letters = decode(line)
        tests[Case(api, instance, form)] = letters
        facts[instance] = Facts(dtype, opset, rank)
    compiler, _, frontend = head.subject.partition("/")
    return Recorded(Support(compiler, frontend, tuple(Version(*each) for each in head.versions), tests), facts)


def facts_of(instance: Mapping[str, Any]) -> Facts:
    """The facts of an instance, as instance/1 has it."""
    tensors = list(_tensors([instance.get("call", []), instance.get("init", [])]))
    dtype = str(tensors[0]["dtype"]) if tensors else "none"
    rank = max((len(each["shape"]) for each in tensors), default=0)
    return Facts(dtype, int(dict(instance.get("context", [])).get("opset", 0)), rank)


def _tensors(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for each in value for found in _tensors(each)]
    if isinstance(value, dict):
        return [value["tensor"]] if "tensor" in value else _tensors(list(value.values()))
    return []


if __name__ == "__main__":
    main()
