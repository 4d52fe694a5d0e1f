"""Reads and writes `data/findings`: one table for each compiler and frontend, and one script for each finding.

| file | content |
|---|---|
| `data/findings/openvino-onnx.toml` | table of OpenVINO on ONNX: a row `[[finding]]` for each bug |
| `data/findings/openvino-onnx/maxpool-7265e8c0.py` | script of the row `name = "maxpool-7265e8c0"` |
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path

import msgspec

from opera.oracles.verdict import Stage, Verdict

FOLDER = Path(__file__).parents[1] / "data" / "findings"
WIDTH = 140
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class Status(Enum):
    """Who checked a finding."""

    VERIFIED = "verified by hand"
    REPRODUCED = "reproduced by its script in a fresh process; not yet checked by hand"


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One bug.

    Attributes:
        name: Name of the script, without `.py`. It is unique in the table.
        id: Finding of the campaign that showed the bug.
        operators: APIs of the failing call.
        verdict: Kind of failure.
        stage: Stage that failed.
        route: Chain of conversions from library to compiler.
        converter: Part of the compiler that converts the operator.
        trigger: Condition that the failure needs.
        summary: Message of the script.
        seen_with: Versions and settings that showed the failure.
        versions: Outcomes of its script on versions of the compiler, as `opera bisect` says them in short.
        status: Who checked the finding; a row without this key was verified by hand.
        cause: Root cause in `data/labelled`.
        why: Judgement in one sentence.
        fails: Other calls that fail.
        passes: Call that passes, for each part of the trigger.
    """

    name: str
    id: str
    operators: tuple[str, ...]
    verdict: Verdict
    stage: Stage
    route: str
    converter: str | None = None
    trigger: str | None = None
    summary: str
    seen_with: str
    versions: str | None = None
    status: Status = Status.VERIFIED
    cause: str | None = None
    why: str | None = None
    fails: tuple[str, ...] = ()
    passes: dict[str, str] = {}


class Table(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The findings of one compiler on one frontend, ordered by name.

    Attributes:
        compiler: Compiler, or exporter.
        frontend: Model format.
        findings: Rows.
    """

    compiler: str
    frontend: str
    findings: list[Finding] = msgspec.field(name="finding", default_factory=list[Finding])

    @property
    def subject(self) -> str:
        """Name of the table's file and of the folder of its scripts."""
        return f"{self.compiler}-{self.frontend}"

    def script(self, finding: Finding, folder: Path = FOLDER) -> Path:
        """File with the script of *finding*."""
        return folder / self.subject / f"{finding.name}.py"

    def put(self, finding: Finding) -> None:
        """Adds *finding*, or replaces the row of this name."""
        self.findings = sorted([*(each for each in self.findings if each.name != finding.name), finding], key=lambda each: each.name)


def tables(folder: Path = FOLDER) -> list[Table]:
    """Reads all tables of *folder*."""
    return [read(path) for path in sorted(folder.glob("*.toml"))]


def table_of(compiler: str, frontend: str, folder: Path = FOLDER) -> Table:
    """Reads the table of a subject; without a file, an empty table."""
    empty = Table(compiler=compiler, frontend=frontend)
    path = folder / f"{empty.subject}.toml"
    return read(path) if path.exists() else empty


def read(path: Path) -> Table:
    """Reads one table.

    Raises:
        ValueError: A row is not valid, two rows have one name, or the file has another name than its subject.
    """
    try:
        table = msgspec.toml.decode(path.read_bytes(), type=Table)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path}: {error}") from error
    names = [each.name for each in table.findings]
    if path.name != f"{table.subject}.toml" or names != sorted(set(names)) or not all(re.match(_NAME, name) for name in names):
        raise ValueError(f"{path}: the file must be named by compiler and frontend, and its rows ordered by their names, which are unique")
    return table


def write(table: Table, folder: Path = FOLDER) -> None:
    """Writes the table of a subject into *folder*."""
    (folder / f"{table.subject}.toml").write_text(text_of(table), encoding="utf-8")


def title_of(script: str) -> str:
    """First line of the docstring of a script, without its subject."""
    docstring = ast.literal_eval(script[: script.index('"""', script.index('"""') + 3) + 3])
    return docstring.partition("\n")[0].partition(": ")[2]


def text_of(table: Table) -> str:
    """A table as TOML."""
    parts = [f"compiler = {_string(table.compiler)}\nfrontend = {_string(table.frontend)}\n"]
    parts += ["\n".join(["", "[[finding]]", *_row(msgspec.to_builtins(each)), ""]) for each in table.findings]
    return "".join(parts)


def _row(row: Mapping[str, object]) -> Iterator[str]:
    """Lines of one row; tables come last, as TOML wants it."""
    for key, value in row.items():
        if isinstance(value, str):
            yield f"{key} = {_string(value, len(key) + 3)}"
        elif isinstance(value, (list, tuple)):
            texts = [str(each) for each in value]
            line = f"{key} = [{', '.join(map(_string, texts))}]"
            yield line if len(line) <= WIDTH // 2 else "\n".join([f"{key} = [", *(f"    {_string(each, 5)}," for each in texts), "]"])
    for key, value in row.items():
        if isinstance(value, dict):
            yield f"[finding.{key}]"
            for name, text in value.items():
                yield f"{(quoted := _key(str(name)))} = {_string(str(text), len(quoted) + 3)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _one_line(name)


def _string(text: str, before: int = 0) -> str:
    """A string after *before* characters: on one line, or, where this is too long, folded at single spaces."""
    line = _one_line(text)
    if before + len(line) <= WIDTH or text != text.strip() or not text.isprintable():
        return line
    lines = [""]
    for word in re.split(r"(?<=\S) (?=\S)", text.replace("\\", "\\\\").replace('"""', '""\\"')):
        if lines[-1] and len(lines[-1]) + len(word) > WIDTH - 8:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return '"""\\\n' + " \\\n".join(f"    {each}" for each in lines) + '\\\n    """'


def _one_line(text: str) -> str:
    if ("\\" in text or '"' in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
