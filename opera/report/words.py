"""Words of a report: code, symptoms, conditions, the layer that fails, and pages of specifications."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.compilers.registry import known_adapter, noise_of
from opera.console import block, clean, cut, one_line, plural
from opera.instance.libraries import facts_of
from opera.models.forms import form_parts
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.triage.candidate import Origin, origin_of
from opera.triage.findings import Finding
from opera.triage.reduction.properties import Property
from opera.triage.reduction.trigger import ALWAYS, trigger_of

_HARMLESS = re.compile(r"(?!.*(?:www\.|GH-|://|__))[A-Za-z0-9(][A-Za-z0-9 .,:;()'\"=+/_%-]*", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"(?:\b[\w:]{1,200}[*& ]{1,4})?\b(?:\w{1,200}::){1,12}(~?\w{1,200})\([^()]{0,2000}(?:\)|\Z)(?: const\b)?(?: \[with [^\]]{0,2000}\])?"
)


def without_signatures(text: str) -> str:
    """*text* with `name(…)` in place of C++ functions that are spelled out with their namespaces and types."""
    return _SIGNATURE.sub(r"\1(…)", text[:8_000])


def tail(text: str, limit: int = 3_000) -> str:
    """The end of *text*, where a log says what happened last."""
    return block(text if len(text) <= limit else f"… {len(text) - limit:,} characters left out …\n{text[-limit:]}", 2 * limit)


def scrub(value: Any) -> Any:
    """A JSON value whose strings are cut to a readable size."""
    if isinstance(value, str):
        return cut(value, 40_000)
    if isinstance(value, list):
        return [scrub(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {cut(str(key), 400): scrub(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def code(text: str, limit: int = 240) -> str:
    """*text* as code in Markdown: nothing in it is markup, a link or a mention."""
    line = text if len(text) <= limit and clean(text) == text and not re.search(r"[\n\t]", text) else one_line(text, limit)
    fence = "`" * (_longest_run(line) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}" if line else ""


def fenced(text: str, language: str = "text") -> str:
    """*text* as a block of code in Markdown."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{clean(text)}\n{fence}"


def inline(text: str, limit: int = 240) -> str:
    """*text* in a sentence of Markdown: as it is where nothing in it can be markup, a link or a mention, else as code."""
    line = one_line(text, limit)
    return line if not line or _HARMLESS.fullmatch(line) else code(line, limit)


def _longest_run(text: str) -> int:
    """Length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def form_text(form: str) -> str:
    """The form of a test: `baked`, `baked at opset 21`."""
    inputs, opset = form_parts(form)
    return one_line(inputs) if opset is None else f"{inputs} at opset {opset}"


SEVERITY = {
    Verdict.INCONSISTENT: ("silent wrong result", "silent wrong results"),
    Verdict.ABORT: ("abort", "aborts"),
    Verdict.HANG: ("hang", "hangs"),
    Verdict.OOM: ("out of memory", "out of memory"),
    Verdict.CRASH: ("crash", "crashes"),
}
"""The verdicts of findings, the worst first, with the words for one and for several: nothing warns a user of a wrong result."""
_WRONG = {
    "values": "wrong result",
    "nan": "wrong NaN",
    "inf": "wrong infinity",
    "count": "wrong number of outputs",
    "structure": "wrong structure of outputs",
    "accepted": "accepted",
}


def symptom_words(verdict: Verdict, detail: Detail) -> str:
    """The symptom in plain words, e.g. `wrong shape` or `crash`."""
    if verdict is not Verdict.INCONSISTENT:
        return SEVERITY.get(verdict, (verdict.value,))[0]
    difference = detail.get("difference", {})
    kind = str(difference.get("kind"))
    words = _WRONG.get(kind, f"wrong {one_line(kind, 40)}")
    return f"states a {words}" if difference.get("stated") else words


_WIDTH = 90
"""Characters of conditions in a title."""
_PLAIN: Mapping[tuple[str, str], str] = {
    ("dtype", "="): "{name} is {value}",
    ("dtype", "is"): "{name} is {value}",
    ("dtype", "is not"): "{name} is not {value}",
    ("dtype", "differs from"): "{name} and {value} differ in dtype",
    ("rank", "="): "{name} has rank {value}",
    ("rank", "≥"): "{name} has rank {value} or more",
    ("rank", ">"): "{name} has a rank over {value}",
    ("rank", "≤"): "{name} has rank {value} or less",
    ("rank", "<"): "{name} has a rank under {value}",
    ("rank", "differs from"): "{name} and {value} differ in rank",
    ("shape", "differs from"): "{name} and {value} differ in shape",
    ("dimension", "="): "dimension {axis} of {name} is {value}",
    ("dimension", "≠"): "dimension {axis} of {name} is not {value}",
    ("dimension", ">"): "dimension {axis} of {name} is over {value}",
    ("dimension", "≥"): "dimension {axis} of {name} is {value} or more",
    ("dimension", "<"): "dimension {axis} of {name} is under {value}",
    ("dimension", "differs from"): "{name} and {value} differ in dimension {axis}",
    ("opset", "≥"): "the opset is {value} or newer",
    ("opset", "<"): "the opset is older than {value}",
}
"""Words for a part of a condition, by accessor and comparison; all others are said by their canonical text."""


_FORMS = {
    "runtime": "inputs at run time",
    "baked": "inputs baked in",
    "constant": "constant inputs",
    "folded": "folded constants",
    "symbolic": "open sizes",
    "written": "writes after the call",
    "refused": "a call that the library refuses",
}


def _plain(part: Property) -> str:
    if part.kind == "form":
        return _FORMS[str(part.value)]
    form = _PLAIN.get((part.kind if part.axis < 0 else "dimension", part.comparison), "")
    return one_line(form.format(name=part.name, value=part.value, axis=part.axis) if form else part.text())


def when(finding: Finding) -> str:
    """` with ceil_mode>0 when x has rank 2`; empty if the condition is unknown.

    What any wrong result needs in order to be seen is left out, unless there is nothing else, and so is what no passing call shows to be
    necessary.
    """
    condition, reduction = finding.condition, finding.reduction
    if condition is None:
        return ""
    parts = condition.core() or condition.properties
    if not parts:
        return f" on {ALWAYS}"
    if reduction is not None and "against" in reduction.detail:
        shown_by = reduction.detail.get("passes", {})
        parts = tuple(each for each in parts if each.text() in shown_by)
    kept: list[Property] = []
    for each in sorted(parts, key=lambda each: each not in condition.settings()):
        if kept and sum(len(_plain(one)) + 2 for one in (*kept, each)) > _WIDTH:
            break
        kept.append(each)
    settings = [_plain(each) for each in kept if each in condition.settings()]
    of_inputs = [_plain(each) for each in kept if each not in condition.settings()]
    more = ", …" if len(kept) < len(parts) else ""
    return "".join(f" {word} {_joined(texts)}" for word, texts in (("with", settings), ("when", of_inputs)) if texts) + more


def _joined(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def proof_lines(finding: Finding) -> tuple[str, ...]:
    """What shows the condition, and what is not shown; nothing where triage did not ask for it."""
    reduction = finding.reduction
    if reduction is None or reduction.trigger is None or "against" not in reduction.detail:
        return ()
    facts = reduction.detail
    passes, fails = facts.get("passes", {}), facts.get("fails", ())
    against, untried = facts.get("against", 0), facts.get("untried", 0)
    needed = [each.text() for each in trigger_of(reduction.trigger).properties]
    found = [f"without {one_line(name)} it passes: {one_line(call, 400)}" for name, call in passes.items()]
    found += [f"no call shows that it needs {one_line(name)}" for name in needed if name not in passes]
    with_it = f" with {'it' if needed else 'any call'}"
    if fails:
        found.append(f"{', '.join(each[:12] for each in fails)} {'fails' if len(fails) == 1 else 'fail'}{with_it}, too")
    else:
        found.append(f"no other recorded test fails{with_it}")
    if against:
        verb = "passes" if against == 1 else "pass"
        found.append(f"{plural(against, 'recorded test')} {verb}{with_it}, so a part of the condition is unknown")
    if untried:
        found.append(f"the budget ended before {plural(untried, 'part')} of the call changed")
    return tuple(found)


def sentences(finding: Finding) -> tuple[str, ...]:
    """The condition and the calls that pass without a part of it, as Markdown for the text of an issue."""
    reduction, condition = finding.reduction, finding.condition
    if reduction is None or condition is None:
        return ()
    passes = reduction.detail.get("passes", {})
    found = [f"It fails with {code(condition.text())}."]
    return (*found, *(f"Without {code(name)} it passes: {code(one_line(call, 400))}" for name, call in passes.items()))


_NAME = re.compile(r"\w+(?:\.\w+)*")


def page_of(library: str, api: str) -> str | None:
    """The address of the documentation of operator *api* of *library*; None where the operator has no page of its own."""
    if not _NAME.fullmatch(api):
        return None
    domain, _, name = api.rpartition(".")
    if library == "onnx" and domain.startswith("ai.onnx"):
        return f"https://onnx.ai/onnx/operators/onnx_{domain.removeprefix('ai.onnx').replace('.', 'aionnx')}_{name}.html"
    if library == "pytorch" and api.startswith("torch.") and "._" not in api and not api.startswith("torch.ops."):
        page = f"special.html#{api}" if domain == "torch.special" else f"generated/{api}.html"
        return f"https://docs.pytorch.org/docs/stable/{page}"
    if library in ("keras", "tensorflow") and "._" not in api:
        root = "tf/keras" if library == "keras" else "tf"
        return f"https://www.tensorflow.org/api_docs/python/{root}/{'/'.join(api.split('.')[1:])}"
    return facts_of(library).page.format(name=name) or None


_TELLING = 20
"""Characters of a message that two frontends share for one reason."""


@dataclass(frozen=True)
class Layer:
    """Where a failure arises.

    Attributes:
        name: `exporter`, `library`, `frontend`, `common transformation`, `optimiser` or `backend`.
        why: What shows it, as the end of a sentence.
    """

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def layer_of(finding: Finding, among: Iterable[Finding] = ()) -> Layer | None:
    """The layer of *finding*; None where nothing shows it.

    Args:
        finding: A finding.
        among: Other findings: what another frontend of the same compiler meets too is not of one frontend.
    """
    result = finding.representative
    if finding.is_elsewhere:
        if result.exporter is not None:
            return Layer("exporter", "it fails before the compiler, or gives it a wrong model")
        return Layer("library", "several compilers agree against it")
    lowest = finding.lowest_level
    if lowest is not None and lowest.vanishes:
        return Layer("optimiser", f"the failure vanishes at optimisation level {lowest.name}")
    origin = _origin(finding)
    others = sorted({each.frontend for each in among if _is_met_by_other_frontend(finding, origin, each)})
    if others:
        return Layer("common transformation", f"models of {' and '.join(others)} fail with the same message")
    if origin is not None and origin.by_entry and result.stage is Stage.LOAD:
        return Layer("frontend", f"{origin.entry} of the importer raised")
    if result.stage is Stage.OPTIMIZE:
        return Layer("common transformation", "it fails after the conversion, before code is generated")
    if result.stage is Stage.RUN and result.verdict is not Verdict.INCONSISTENT:
        return Layer("backend", "the compiled model fails while it runs")
    return None


def _origin(finding: Finding) -> Origin | None:
    """Where an exception of the compiler was raised."""
    result = finding.representative
    if result.verdict is not Verdict.CRASH or "failure" not in result.detail or finding.is_elsewhere:
        return None
    adapter = known_adapter(result.compiler)
    failure = cast("Mapping[str, Any]", result.detail["failure"])
    return origin_of(failure, () if adapter is None else adapter.project, noise_of(result.compiler))


def _is_met_by_other_frontend(finding: Finding, origin: Origin | None, other: Finding) -> bool:
    if origin is None or len(origin.message) < _TELLING or (other.compiler, other.stage) != (finding.compiler, finding.stage):
        return False
    there = None if other.frontend == finding.frontend else _origin(other)
    return there is not None and there.message == origin.message
