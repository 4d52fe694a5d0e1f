"""Reads what the site says of compilers: their support of each operator, from data/campaigns, and their findings, from data/findings.

| made | of |
|---|---|
| `support.json` | the verdicts of the recorded campaigns, by operator, dtype, opset, rank and input form |
| `findings.json` | the tables of data/findings |
| `versions.json` | data/versions: the tests of a subject on each version of its compiler, and what changed from one to the next |
| `versions/SUBJECT.json` | the same by operator, dtype, opset, rank and input form, as `support.json` |
| `badges/SUBJECT.svg`, `badges/SUBJECT-VERSION.svg` | the two shares of a subject |

docs/reference/site-data.md describes them.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from recorded_findings import FOLDER, Finding, Status, Table, title_of
from recorded_versions import FOLDER as VERSIONS
from recorded_versions import Recorded
from recorded_versions import read as read_versions

from opera.compilers.registry import plugins
from opera.difftest.messages import BUILDS_ONLY
from opera.extensions.findings.families import families
from opera.models.forms import form_parts
from opera.oracles.verdict import Stage
from opera.untrusted import lines_of

CAMPAIGNS = Path(__file__).parents[1] / "data" / "campaigns"
STATES = {
    "wrong": "the result differs from the library's",
    "crash": "the compiler raises, aborts, hangs or takes too much memory",
    "exporter": "the exporter between library and compiler fails",
    "pass": "the same result as the library",
    "declined": "the compiler says that it does not support the model",
    "unclear": "no reference, an excused difference, or not reproduced",
}
"""What a test can come to, the worst first."""
_STATES = {
    "pass": "pass", "inconsistent": "wrong", "crash": "crash", "abort": "crash", "hang": "crash", "oom": "crash", "exporter": "exporter",
    "unsupported": "declined", "undefined": "unclear", "invalid": "unclear", "flaky": "unclear",
}  # fmt: skip
_LETTERS = {"p": "pass", "w": "wrong", "c": "crash", "e": "exporter", "d": "declined", "u": "unclear"}
_TAKEN = ("wrong", "crash", "pass")
_LAYERS = {
    Stage.EXPORT: "exporter", Stage.LOAD: "frontend", Stage.OPTIMIZE: "common transformation", Stage.CODEGEN: "code generation",
    Stage.RUN: "run time",
}  # fmt: skip


class Key(NamedTuple):
    """What tests are counted by; the filters of the page."""

    operator: str
    dtype: str
    opset: int
    rank: int
    form: str
    state: str


@dataclass(frozen=True)
class Support:
    """The verdicts of a campaign: how many tests there are of each key."""

    compiler: str
    frontend: str
    library: str
    facts: Mapping[str, str]
    tests: Mapping[Key, int]
    version: str = ""
    """The version of the compiler, where a subject has several."""

    @property
    def name(self) -> str:
        """Compiler and frontend as part of a file name, e.g. `openvino-onnx`, and the version, e.g. `openvino-onnx-2026.0.0`."""
        return "-".join(filter(None, (self.compiler, self.frontend, self.version)))

    def counts(self, wanted: Callable[[Key], bool] = lambda key: True) -> Counter[str]:
        """Tests of each state."""
        found = Counter[str]()
        for key, count in self.tests.items():
            if wanted(key):
                found[key.state] += count
        return found

    def operators(self) -> dict[str, Counter[str]]:
        """Tests of each state, by operator."""
        found: dict[str, Counter[str]] = {}
        for key, count in sorted(self.tests.items()):
            found.setdefault(key.operator, Counter())[key.state] += count
        return found


def shares(counts: Mapping[str, int]) -> tuple[int, int, int]:
    """Tests that pass, tests that the compiler takes (conformance), and these with those that it declines (coverage)."""
    taken = sum(counts.get(state, 0) for state in _TAKEN)
    return counts.get("pass", 0), taken, taken + counts.get("declined", 0)


def state(verdict: str) -> str:
    """The state that *verdict*, of a recorded campaign, counts as."""
    return _STATES[verdict]


def state_of(counts: Mapping[str, int]) -> str:
    """The state of a cell: the worst of its tests; *partly* if some pass and some are declined; *untested* without a test."""
    worst = next((state for state in STATES if counts.get(state)), "untested")
    return "partly" if worst == "pass" and counts.get("declined") else worst


class _Instance(msgspec.Struct):
    api: str
    library: str
    init: list[Any] = []
    call: list[Any] = []
    context: list[tuple[str, Any]] = []


class _Row(msgspec.Struct):
    instance: _Instance
    verdicts: dict[str, str] = {}


class _Head(msgspec.Struct):
    subject: str
    facts: dict[str, str]


@functools.cache
def campaigns(folder: Path = CAMPAIGNS) -> list[Support]:
    """The recorded campaigns that have the verdict of each test."""
    return [found for path in sorted(folder.glob("*.jsonl.gz")) if (found := read(path)) is not None]


def read(path: Path) -> Support | None:
    """The verdicts of the campaign in *path*; None if it was recorded without them, or if nothing ran: what builds need not work."""
    lines = lines_of(path)
    head = msgspec.json.decode(next(lines)[1], type=_Head)
    if BUILDS_ONLY.items() <= head.facts.items():
        return None
    decode = msgspec.json.Decoder(_Row).decode
    tests = Counter[Key]()
    library = ""
    for _, line in lines:
        row = decode(line)
        if not row.verdicts:
            if not tests:
                return None
            continue
        library = row.instance.library
        tensors = list(_tensors([row.instance.call, row.instance.init]))
        dtype = str(tensors[0]["dtype"]) if tensors else "none"
        rank = max((len(cast("list[int]", each["shape"])) for each in tensors), default=0)
        opset = int(dict(row.instance.context).get("opset", 0))
        for form, verdict in row.verdicts.items():
            tests[Key(row.instance.api, dtype, opset, rank, form_parts(form)[0], state(verdict))] += 1
    compiler, _, frontend = head.subject.partition("/")
    return Support(compiler, frontend, library, head.facts, tests) if tests else None


@functools.cache
def versions(folder: Path = VERSIONS) -> list[Recorded]:
    """The subjects whose tests ran on several versions of their compiler."""
    return [read_versions(path) for path in sorted(folder.glob("*.jsonl.gz"))]


@functools.cache
def columns(subject: str) -> list[Support]:
    """The verdicts on each version of a subject, e.g. `openvino/onnx`, the oldest first; none if only one version was recorded."""
    found = next((each for each in versions() if each.support.subject == subject), None)
    if found is None:
        return []
    support = found.support
    counts: list[Counter[Key]] = [Counter() for _ in support.versions]
    for case, letters in support.tests.items():
        dtype, opset, rank = found.facts[case.instance]
        form = form_parts(case.form)[0]
        for place, letter in enumerate(letters):
            if letter in _LETTERS:
                counts[place][Key(case.api, dtype, opset, rank, form, _LETTERS[letter])] += 1
    return [
        Support(
            support.compiler,
            support.frontend,
            support.frontend,
            {"ran": each.ran, "released": each.date(support.compiler)},
            tests,
            each.name,
        )
        for each, tests in zip(support.versions, counts, strict=True)
    ]


def versions_document() -> dict[str, Any]:
    """`versions/1`: of each subject, its versions with their counts, and what changed from one to the next."""
    subjects: list[dict[str, Any]] = []
    for each in (recorded.support for recorded in versions()):
        changes = {after: each.changes(before, after) for before, after in each.steps()}
        rows = [
            {
                "version": column.version,
                **column.facts,
                "tests": dict(column.counts()),
                "changes": {kind.value: dict(sorted(counts.items())) for kind, counts in changes.get(place, {}).items() if counts},
            }
            for place, column in enumerate(columns(each.subject))
        ]
        subjects.append({"compiler": each.compiler, "frontend": each.frontend, "versions": rows})
    return {"schema": "versions/1", "subjects": subjects}


def _tensors(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _tensors(each)
    elif isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        if "tensor" in parts:
            yield parts["tensor"]
        else:
            yield from _tensors(list(parts.values()))


def support_document(found: Sequence[Support]) -> dict[str, Any]:
    """`support/1`: operators and dtypes once, and a row of numbers for each count."""
    operators = sorted({key.operator for each in found for key in each.tests})
    dtypes = sorted({key.dtype for each in found for key in each.tests})
    forms = sorted({key.form for each in found for key in each.tests}, reverse=True)
    at = {name: index for names in (operators, dtypes, forms, list(STATES)) for index, name in enumerate(names)}
    return {
        "schema": "support/1",
        "subjects": [
            {
                "compiler": each.compiler,
                "frontend": each.frontend,
                "library": each.library,
                "facts": dict(each.facts),
                **({"version": each.version} if each.version else {}),
            }
            for each in found
        ],
        "operators": operators,
        "dtypes": dtypes,
        "forms": forms,
        "states": list(STATES),
        "columns": ["operator", "subject", "dtype", "opset", "rank", "form", "state", "tests"],
        "rows": [
            [at[key.operator], subject, at[key.dtype], key.opset, key.rank, at[key.form], at[key.state], count]
            for subject, each in enumerate(found)
            for key, count in sorted(each.tests.items())
        ],
    }


def findings_document(found: Sequence[Table]) -> dict[str, Any]:
    """`findings/1`: the rows of data/findings, each with title, fix, issue, layer, and the places of its script and page."""
    known = families(FOLDER)
    return {
        "schema": "findings/1",
        "findings": [
            {
                "subject": table.subject,
                "compiler": table.compiler,
                "frontend": table.frontend,
                "title": title_of(table.script(each).read_text(encoding="utf-8")),
                "fix": known.fix(each),
                "issue": known.issue(each),
                "layer": layer(table, each),
                **msgspec.to_builtins(each),
                "status": each.status.value,
                "verified": each.status is Status.VERIFIED,
                "script": f"data/findings/{table.subject}/{each.name}.py",
                "page": f"findings/{table.subject}.html#{each.name}",
            }
            for table in found
            for each in table.findings
        ],
    }


def layer(table: Table, finding: Finding) -> str:
    """Where a finding arises, as far as its stage shows it."""
    return _LAYERS.get(finding.stage, "not shown") if table.compiler in plugins() else "exporter"


def badge(each: Support) -> str:
    """The shares of a subject as a small picture."""
    passed, taken, every = shares(each.counts())
    left = f"{each.compiler}{f' {each.version}' if each.version else ''} x {each.frontend}"
    right = f"{percent(passed, taken)} of what it takes, {percent(passed, every)} of all"
    first, second = (12 + round(6.2 * len(text)) for text in (left, right))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="20" role="img" aria-label="{escape(left)}: {right}">'
        f'<rect width="{first}" height="20" fill="#444"/><rect x="{first}" width="{second}" height="20" fill="#1565c0"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{first // 2}" y="14">{escape(left)}</text><text x="{first + second // 2}" y="14">{right}</text></g></svg>\n'
    )


def percent(part: int, whole: int) -> str:
    """`98.1 %`, rounded down: 100 % means all."""
    return f"{1000 * part // whole / 10:.1f} %" if whole else "—"


def as_json(document: Mapping[str, Any]) -> str:
    """*document* in as few characters as JSON needs."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)
