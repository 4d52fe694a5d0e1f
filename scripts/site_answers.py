"""Pages of the site that answer a question: "Can I use", a grid of operators and compilers for each library, and the list of all findings.

Both are plain tables. docs/answers.js filters them.
"""

from __future__ import annotations

import datetime
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from architectures import used_by
from site_data import STATES, Support, as_json, columns, percent, shares, state_of, support_document

from opera.extensions.versions import support as versions

NAMES = {"onnx": "ONNX", "pytorch": "PyTorch", "keras": "Keras", "tensorflow": "TensorFlow"}
EXTRACT = {
    "onnx": "opera extract --lib onnx",
    "pytorch": "opera extract --lib pytorch --source opinfo --option dtypes=float32,int64,bool --option variants=",
}
"""The command that records the tests of a library again, as its campaigns had them."""
_PACKAGES = {"stablehlo-reference": "jaxlib", "litert": "tensorflow", "inductor": "torch", "xla": "jaxlib"}
"""The package whose version is that of a compiler, where it has another name."""
_SCRIPT = '<script src="../answers.js" defer></script>'
_MODELS = """
*Used by 41 of 300 models*: so many public architectures call the operator, as a function, a method or a layer, see
[which models use an operator](../how-to/will-my-model-work.md#which-models-use-an-operator).
"""
_AGAIN = "#make-a-cell-again"
_STALE = 90
"""Days after which a column is old beside the newest one."""


def support_page(library: str, found: Sequence[Support], entries: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The grid of a library: Markdown before it, and its HTML."""
    name = NAMES.get(library, library)
    about = "\n".join(f"| {each.compiler} x {each.frontend} | {share_cells(each)} | {_versions(each)} |" for each in found)
    extract = EXTRACT.get(library, f"opera extract --lib {library}")
    text = f"""---
hide:
  - toc
---

# Can I use: {name}

Each row is an operator, each column a compiler. The tests are those of {name} itself. A cell has the worst outcome, and how many of the
tests that the compiler takes pass; `+7` counts tests that it declines. Choose a cell for details. A few tests say little, and another
version of a compiler may differ.

| compiler | conformance: right, of what it takes | coverage: right, of all | versions |
|---|--:|--:|---|
{about}

@grid@

{_MODELS if used_by(library, ())[1] else ""}
{"; ".join(f"**{name}**: {meaning}" for name, meaning in STATES.items())}. **partly**: some tests pass, and the compiler declines
others. **untested**: the campaign has no test of the operator.

## Make a cell again

    {extract}
    opera run --compiler {found[0].compiler} --frontend {found[0].frontend} -k NAME

Conformance leaves out declined tests; coverage counts them as not right. Neither counts tests whose exporter fails or that are unclear.
The numbers are in [support.json](../support.json); [site data](../reference/site-data.md) describes it.
"""
    return text, _grid(library, found, entries, extract)


def versions_page(found: versions.Support, entries: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The grid of a subject, whose columns are versions: Markdown before it, and its HTML."""
    shown = columns(found.subject)
    steps = {after: found.changes(before, after) for before, after in found.steps()}
    about = "\n".join(
        f"| {_changes_link(found, place, each.version)} | {each.facts['released']} | {each.facts['ran']} | {share_cells(each)} |"
        f" {', '.join(f'{sum(counts.values()):,} {kind.value}' for kind, counts in steps.get(place, {}).items() if counts)} |"
        for place, each in enumerate(shown)
    )
    extract = EXTRACT.get(found.frontend, f"opera extract --lib {found.frontend}")
    text = f"""---
hide:
  - toc
---

# {found.compiler} x {found.frontend} over time

The same tests on each version. Each column is a version; a column that ran more than {_STALE} days before the newest one is grey. Choose
a version for what changed in it.

| version | released | ran | conformance: right, of what it takes | coverage: right, of all | changes |
|---|---|---|--:|--:|---|
{about}

@grid@

## Make a cell again

    {extract}
    opera env create {found.compiler}==VERSION
    opera run --compiler {found.compiler}==VERSION --frontend {found.frontend} -k NAME

The numbers are in [versions.json](../versions.json); [site data](../reference/site-data.md) describes it.
"""
    return text, _grid(found.frontend, shown, entries, extract, strips=False)


def changes_page(found: versions.Support, before: int, after: int) -> str:
    """What changed between two versions of a subject."""
    back = f"[All versions]({found.compiler}-{found.frontend}.md)\n"
    return f"{versions.notes(found, before, after)}\n{back}"


def _changes_link(found: versions.Support, place: int, version: str) -> str:
    return f"[{version}]({found.compiler}-{found.frontend}-{version}.md)" if place else version


def _versions(each: Support) -> str:
    left_out = ("campaign", "started", "verdicts")
    return ", ".join(f"{name} {value}" for name, value in each.facts.items() if name not in left_out)


def share_cells(each: Support) -> str:
    """Conformance and coverage of a campaign, as two cells of a table."""
    passed, taken, every = shares(each.counts())
    return f"{percent(passed, taken)} ({passed:,} of {taken:,}) | {percent(passed, every)} ({passed:,} of {every:,})"


def _grid(library: str, found: Sequence[Support], entries: Sequence[Mapping[str, Any]], extract: str, *, strips: bool = True) -> str:
    """Filters, the table, the data behind it, and the place for the details of a cell."""
    keys = [key for each in found for key in each.tests]
    fields = _search("operator") + "".join(
        _select(name, options)
        for name, options in {
            "dtype": sorted({key.dtype for key in keys}),
            "opset": [str(each) for each in sorted({key.opset for key in keys})],
            "rank": [str(each) for each in sorted({key.rank for key in keys})],
            "form": sorted({key.form for key in keys}, reverse=True),
            "state": [*STATES, "partly", "untested"],
        }.items()
        if len(options) > 1
    )
    fields += _order("name") if used_by(library, ())[1] else ""
    cells = [each.operators() for each in found]
    where = _places(entries)
    rows = "\n".join(
        f'<tr data-name="{escape(api)}"{users}><th scope="row">{escape(api.removeprefix("ai.onnx."))}{words}</th>'
        + "".join(
            _cell(column.get(api, {}), _link(where, api, each), _strip(each, api) if strips else "")
            for each, column in zip(found, cells, strict=True)
        )
        + "</tr>"
        for api in sorted({key.operator for key in keys})
        for users, words in [_users(library, [api], "used by")]
    )
    times = Counter(each.compiler for each in found)
    names = [each.version or (each.compiler if times[each.compiler] == 1 else f"{each.compiler} x {each.frontend}") for each in found]
    newest = max((each.facts["ran"] for each in found if "ran" in each.facts), default="")
    heads = "".join(
        f'<th scope="col"{_stale(each, newest)}>{name}{_switch(each) if strips else ""}</th>'
        for name, each in zip(names, found, strict=True)
    )
    data = as_json(support_document(found)).replace("</", "<\\/")
    return (
        f'<form class="filters" hidden>{fields}<output></output></form>\n'
        f'<div class="wide"><table class="support" data-extract="{extract}">\n'
        f'<thead><tr><th scope="col">operator</th>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n'
        f'<dialog class="cell"></dialog>\n<script type="application/json" id="data">{data}</script>\n{_SCRIPT}'
    )


def _stale(each: Support, newest: str) -> str:
    """The class of a column that ran long before the newest one."""
    ran = each.facts.get("ran", newest)
    if not newest or (datetime.date.fromisoformat(newest) - datetime.date.fromisoformat(ran)).days <= _STALE:
        return ""
    return f' class="stale" title="ran on {ran}"'


def _switch(each: Support) -> str:
    """A choice of the versions of a compiler; docs/answers.js puts their numbers into the column."""
    known = columns(f"{each.compiler}/{each.frontend}")
    if not known:
        return ""
    options = "".join(f"<option>{column.version}</option>" for column in reversed(known))
    link = f'<a href="{each.compiler}-{each.frontend}.html">over time</a>'
    return f'<select hidden data-subject="{each.compiler}-{each.frontend}"><option value="">recorded</option>{options}</select>{link}'


@functools.cache
def _by_operator(subject: str) -> list[tuple[str, Mapping[str, Mapping[str, int]]]]:
    return [(column.version, column.operators()) for column in columns(subject)]


def _strip(each: Support, api: str) -> str:
    """The state of an operator on each version, the oldest first."""
    states = [(version, state_of(found.get(api, {}))) for version, found in _by_operator(f"{each.compiler}/{each.frontend}")]
    if len({state for _, state in states}) < 2:
        return ""
    said = escape(", ".join(f"{version} {state}" for version, state in states))
    parts = "".join(f"<i class={state}></i>" for _, state in states)
    return f'<span class="strip" role="img" aria-label="{said}" title="{said}">{parts}</span>'


def _users(library: str, apis: Sequence[str], said: str) -> tuple[str, str]:
    """How many public architectures use an operator of *apis*: as an attribute of a row, and in words."""
    users, every = used_by(library, apis)
    return f' data-models="{users}"', f"<small>{said} {users} of {every} models</small>" if users else ""


def _cell(counts: Mapping[str, int], link: str, strip: str) -> str:
    """One operator on one compiler; docs/answers.js writes the same for a part of the tests."""
    state = state_of(counts)
    if state == "untested":
        return f'<td class="untested">untested{strip}</td>'
    passed, taken, _ = shares(counts)
    few = f"{passed}/{taken}" if taken else ""
    more = f" +{counts['declined']}" if counts.get("declined") else ""
    return f'<td class="{state}"><a href="{link}">{state}<small>{few}{more}</small></a>{strip}</td>'


def _places(entries: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Operators and compilers that have a finding."""
    return {(api, each["compiler"]) for each in entries for api in each["operators"]}


def _link(where: set[tuple[str, str]], api: str, each: Support) -> str:
    """The findings of an operator on a compiler, or on an exporter before it; without any, how to make the cell again."""
    for compiler in (each.compiler, "torch.onnx" if each.frontend == "pytorch" and each.compiler == "onnxruntime" else "torch.export"):
        if (api, compiler) in where:
            return f"../findings/index.html#q={api}&amp;compiler={compiler}"
    return _AGAIN


def findings_list(entries: Sequence[Mapping[str, Any]]) -> str:
    """All findings of `findings/1`, one a row, with filters."""
    facts = [_facts(each) for each in entries]
    fields = _search("operator or other words") + "".join(
        _select(name, sorted({each[name] for each in facts})) for name in ("compiler", "symptom", "layer", "version")
    )
    fields += _order("subject")
    rows = "\n".join(
        f"<tr {_data(found)}{users}><td>{each['compiler']} x {each['frontend']}</td>"
        f'<td><a href="{each["page"].removeprefix("findings/")}">{escape(each["title"], quote=False)}</a>{words}</td>'
        f"<td>{found['symptom']}</td><td>{found['layer']}</td></tr>"
        for each, found in zip(entries, facts, strict=True)
        for users, words in [_users(each["frontend"], each["operators"], "operator used by")]
    )
    return (
        f'<form class="filters" hidden>{fields}<output></output></form>\n<table class="findings">\n'
        "<thead><tr><th>subject</th><th>finding</th><th>symptom</th><th>layer</th></tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table>\n{_SCRIPT}"
    )


def _data(facts: Mapping[str, str]) -> str:
    """*facts* as attributes of an element."""
    return " ".join(f'data-{name}="{escape(text)}"' for name, text in facts.items())


def _facts(entry: Mapping[str, Any]) -> dict[str, str]:
    """What a finding is filtered by; *text* is searched with its row."""
    parts = entry["seen_with"].split(", ")
    package = _PACKAGES.get(entry["compiler"], entry["compiler"].partition("-")[0].partition(".")[0])
    return {
        "compiler": entry["compiler"],
        "symptom": "wrong result" if entry["verdict"] == "inconsistent" else entry["verdict"],
        "layer": entry["layer"],
        "version": next((each for each in parts if each.startswith(package)), parts[0]),
        "text": " ".join([*entry["operators"], entry.get("converter", ""), entry["name"], entry["id"]]),
    }


def _search(label: str) -> str:
    return f'<label>{label}<input type="search" name="q" autocomplete="off"></label>'


def _order(usual: str) -> str:
    return _select("order", ["models that use it"], usual)


def _select(name: str, options: Sequence[str], without: str = "any") -> str:
    chosen = "".join(f"<option>{escape(each)}</option>" for each in options)
    return f'<label>{name}<select name="{name}"><option value="">{without}</option>{chosen}</select></label>'
