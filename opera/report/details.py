"""All facts of one finding, with the evidence of its failing test, for a reader."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.compilers.registry import noise_of
from opera.console import block, one_line, option, plural
from opera.corpus.stored_call import CallText, full_text, stored_call
from opera.difftest.judge import got, headline
from opera.errors import UserError
from opera.instance.kinds import noun_of
from opera.oracles.fingerprint import NEWER_OPSET, summary, symptom_of
from opera.oracles.verdict import Detail, Verdict
from opera.report.overview import UNKNOWN_API, findings_among
from opera.report.reproducer import reduced
from opera.report.words import SEVERITY, form_text, layer_of, proof_lines, symptom_words, tail, when, without_signatures
from opera.store import Campaign, Campaigns, Corpus, StoredResult, Workspace, queries
from opera.store.corpus import OTHER_TESTS
from opera.store.reductions import StoredReduction
from opera.triage.findings import Finding
from opera.untrusted import Malformed, read_file

LIBRARY, COMPILER = "library", "compiler"
"""The rows of a difference with what each side gives."""
_DIFFERENCE = (
    ("kind", "what differs"),
    ("output", "output"),
    ("expected", LIBRARY),
    ("actual", COMPILER),
    ("distance", "largest distance"),
    ("allowed", "allowed there"),
    ("share", "share of elements"),
    ("explained", "explained by"),
)


@dataclass(frozen=True)
class NamedText:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class ShownException:
    """An exception. *frames* are lines of text, the innermost last; those of this tool's own worker are left out."""

    type: str
    message: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class FailureEvidence:
    """The facts of a finding; parts that do not apply are empty.

    Attributes:
        difference: Expected and actual.
        exceptions: The one raised, then what caused it.
        ended: How the process was lost.
        log: The end of what it wrote.
    """

    difference: tuple[NamedText, ...] = ()
    exceptions: tuple[ShownException, ...] = ()
    ended: str = ""
    log: str = ""


def evidence(detail: Mapping[str, Any]) -> FailureEvidence:
    """Reads the detail of a result."""
    lost = _part(detail, "lost")
    return FailureEvidence(
        _difference(_part(detail, "difference")),
        tuple(_exceptions(_part(detail, "failure"))),
        one_line(f"{lost.get('cause', '')}: {lost.get('detail', '')}") if lost else "",
        tail(str(detail.get("log") or "")).strip(),
    )


def lines(found: FailureEvidence) -> list[str]:
    """*found* as lines for a terminal."""
    text: list[str] = []
    width = max((len(row.name) for row in found.difference), default=0)
    text += [f"  {row.name.ljust(width)}  {row.value}" for row in found.difference]
    for index, raised in enumerate(found.exceptions):
        text.append(f"  {'caused by ' if index else ''}{raised.type}")
        text += [f"    {line}" for line in raised.message.splitlines()]
        text += [f"      at {frame}" for frame in raised.frames]
    if found.ended:
        text.append(f"  the process was lost: {found.ended}")
    if found.log:
        text += ["  end of its log:", *(f"    {line}" for line in found.log.splitlines())]
    return text


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = document.get(name)
    return cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else {}


def _difference(difference: Mapping[str, Any]) -> tuple[NamedText, ...]:
    return tuple(NamedText(title, _value(name, difference[name])) for name, title in _DIFFERENCE if name in difference)


def _value(name: str, value: Any) -> str:
    if name == "share" and isinstance(value, float):
        return f"{value:.1%}"
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value), 400)


def _exceptions(failure: Mapping[str, Any]) -> list[ShownException]:
    found: list[ShownException] = []
    while failure and len(found) < 4:
        message = block(str(failure.get("message", "")))
        found.append(ShownException(one_line(str(failure.get("type", "")), 160), message, _frames(failure.get("frames") or ())))
        failure = _part(failure, "cause")
    return found


def _frames(frames: Sequence[Any]) -> tuple[str, ...]:
    theirs = [frame for frame in frames if len(frame) == 4 and not str(frame[0]).startswith("opera.")]
    return tuple(one_line(f"{file}:{line} in {function}", 200) for _, file, line, function in theirs)


_SCRIPT_LIMIT = 20_000


@dataclass(frozen=True)
class FailingTest:
    """One of a finding's tests, for a list."""

    id: str
    instance: str
    api: str
    subject: str
    form: str
    headline: str


@dataclass(frozen=True)
class Details:
    """A finding for a reader.

    Attributes:
        finding: The finding.
        symptom: The parts of its fingerprint.
        evidence: What its representative left behind.
        call: The representative's instance.
        provenance: Library tests that the instance came from, the first of them.
        provenance_total: How many there are.
        tests: The failing tests, the first of them.
        versions: Versions on the side of the library, and of the compiler.
        commands: What to type to go on.
        reduced: The reduced instance and what it took, line by line, or the reason for a missing reduction; empty if it was not tried.
        proof: What shows that the condition is the condition, line by line.
        script: Text of the reproducer; empty without a reproducer.
        script_note: Why the script is missing, or the outcome of running it.
    """

    finding: Finding
    symptom: tuple[NamedText, ...]
    evidence: FailureEvidence
    call: CallText
    provenance: tuple[str, ...]
    provenance_total: int
    tests: tuple[FailingTest, ...]
    versions: tuple[NamedText, ...]
    commands: tuple[NamedText, ...]
    reduced: tuple[str, ...]
    proof: tuple[str, ...]
    script: str
    script_note: str


class Detailer:
    """Gathers details from an open workspace.

    Args:
        workspace: Open; only read.
        name: How the user calls it on the command line.
        apis: API of each instance by its hash.
        shown: Most failing tests and library tests to list of each finding.
    """

    def __init__(self, workspace: Workspace, name: str, apis: Mapping[str, str], shown: int) -> None:
        self._workspace = workspace
        self._corpus = Corpus(workspace)
        self._name = name
        self._apis = apis
        self._shown = shown

    def details(self, finding: Finding, campaign: Campaign | None) -> Details:
        """Everything about a finding. *campaign* is one that its representative belongs to."""
        first = finding.representative
        provenance = [each for each in self._corpus.provenance(first.instance) if each.test != OTHER_TESTS]
        tests = tuple(self._test(test) for test in finding.tests[: self._shown])
        script, note = self._script(finding)
        return Details(
            finding=finding,
            symptom=symptom_rows(finding),
            evidence=evidence(first.detail),
            call=stored_call(self._corpus, self._workspace.blobs, first.instance),
            provenance=tuple(one_line(each.test, 160) for each in provenance[: self._shown]),
            provenance_total=len(provenance),
            tests=tests,
            versions=version_rows(campaign),
            commands=self._commands(finding),
            reduced=reduced_lines(finding),
            proof=proof_lines(finding),
            script=script,
            script_note=note,
        )

    def _test(self, test: StoredResult) -> FailingTest:
        subject = f"{test.compiler}/{test.frontend}"
        api = self._apis.get(test.instance, UNKNOWN_API)
        return FailingTest(
            test.test, test.instance, api, subject, form_text(test.form), one_line(headline(test.verdict, test.detail, test.compiler), 140)
        )

    def _commands(self, finding: Finding) -> tuple[NamedText, ...]:
        where = option(self._name)
        return (
            *([NamedText("reproduce", f"opera reproduce {finding.id}{where}")] if finding.has_script else []),
            NamedText("this finding", f"opera show {finding.id}{where}"),
            NamedText("its smallest test", f"opera show {finding.representative.test[:16]}{where}"),
        )

    def _script(self, finding: Finding) -> tuple[str, str]:
        """The text of the script that OPERA has run, and what to say of it."""
        ran = finding.reproduction
        if ran is None:
            adapter = one_line(finding.representative.compiler)
            return "", "no reproducer exists yet" if finding.has_script else f"the adapter {adapter} writes none"
        outcome = "reproduced the failure" if ran.reproduced else "did not reproduce the failure in its last run"
        try:
            data = read_file(self._workspace.folder / ran.script)
        except (OSError, Malformed):
            return "", f"{ran.script} is no longer in the workspace; `opera reproduce` writes it again"
        if hashlib.sha256(data).hexdigest() != ran.digest:
            return "", f"{ran.script} has changed since OPERA ran it; `opera reproduce` writes it again"
        return block(data.decode("utf-8", "replace"), _SCRIPT_LIMIT), f"{ran.script} {outcome}"


def reduced_lines(finding: Finding) -> tuple[str, ...]:
    """The reduced instance of *finding* and its cost, or the reason for a missing reduction; nothing if it was not tried."""
    reduction = finding.reduction
    if reduction is None:
        return ()
    if reduction.document is None:
        return (f"not reduced: {one_line(reduction.reason or '')}",)
    name = reduction.detail.get("first_pass")
    blamed = () if name is None else (f"it does not fail without the pass {one_line(name, 80)}",)
    return (*full_text(reduction.instance()).splitlines(), *blamed, cost_of(reduction))


def cost_of(reduction: StoredReduction) -> str:
    """`reduced in 3.2 s with 66 runs`."""
    seconds, runs = reduction.detail.get("seconds", 0.0), reduction.detail.get("probes", 0)
    return f"reduced in {seconds:.1f} s with {plural(runs, 'run')}"


def symptom_rows(finding: Finding) -> tuple[NamedText, ...]:
    """The parts of a finding's fingerprint, those that say something."""
    first = finding.representative
    subject = finding.compiler if finding.is_elsewhere else f"{first.compiler}/{first.frontend}"
    symptom = symptom_of(subject, first.verdict, first.stage, first.converter or "", first.detail, noise_of(first.compiler))
    rows = (
        NamedText("subject", subject),
        NamedText("route", first.route),
        NamedText("verdict", first.verdict.value),
        NamedText("stage", first.stage.value if first.stage else ""),
        NamedText("kind", symptom.kind),
        NamedText("converter", symptom.converter),
        NamedText("message", symptom.message),
        NamedText("optimisation", str(finding.lowest_level or "")),
        NamedText("layer", str(layer_of(finding) or "")),
    )
    return tuple(NamedText(row.name, one_line(row.value, 400)) for row in rows if row.value)


def version_rows(campaign: Campaign | None) -> tuple[NamedText, ...]:
    """Versions and pinned settings of both sides of a campaign."""
    if campaign is None:
        return (NamedText("versions", "the workspace has no campaign of this test"),)
    products = {name: value for name, value in campaign.versions.items() if name == "products"}
    sides = [*(campaign.versions.get(side) for side in ("library", "compiler")), products]
    named = [cast("Mapping[str, Any]", side) for side in sides if isinstance(side, Mapping)]
    return tuple(dict.fromkeys(NamedText(one_line(name), one_line(str(value))) for side in named for name, value in side.items()))


_LISTED = 8
_ID = 8


@dataclass(frozen=True)
class Target:
    """The object that an identity names; exactly one field is set."""

    finding: str | None = None
    test: str | None = None
    instance: str | None = None

    @property
    def text(self) -> str:
        """Kind and identity as words, e.g. `finding 0123456789abcdef`."""
        if self.finding is not None:
            return f"finding {self.finding}"
        return f"test {(self.test or '')[:16]}" if self.test is not None else f"instance {(self.instance or '')[:16]}"


def resolve(workspace: Workspace, prefix: str) -> Target:
    """The object that *prefix* names.

    Raises:
        UserError: nothing, or more than one thing.
    """
    wanted = prefix.strip().lower()
    if re.fullmatch(r"[0-9a-f]{1,64}", wanted) is None:
        raise UserError(f"{prefix!r} is not an id; give hexadecimal digits, as `opera report` prints them")
    found = queries.matching(workspace, wanted)
    targets = [
        *(Target(finding=each) for each in found.findings),
        *(Target(test=each) for each in found.tests),
        *(Target(instance=each) for each in found.instances),
    ]
    if not targets:  # `opera report` gives an id to what a triage that still runs has split off, before the id is stored
        named = [each.id for each in findings_among(workspace, queries.apis(workspace)) if each.id.startswith(wanted)]
        targets = [Target(finding=each) for each in named]
    if not targets:
        raise UserError(
            f"no finding, test or instance begins with {prefix!r}; `opera report` lists findings, and `opera ls` campaigns and operators"
        )
    if len(targets) > 1:
        listed = ", ".join(each.text for each in targets[:_LISTED]) + (", …" if len(targets) > _LISTED else "")
        raise UserError(f"{prefix!r} is a prefix of several ids: {listed}; give more digits")
    return targets[0]


def finding_of(workspace: Workspace, identity: str) -> Finding:
    """The finding that the whole id *identity* names, now or formerly.

    Raises:
        UserError: no failing test belongs to it any more.
    """
    found = findings_among(workspace, queries.apis(workspace))
    named = [each for each in found if identity in (each.id, *each.former_ids)] or [each for each in found if identity in each.members]
    if not named:
        raise UserError(f"no failing test belongs to the finding {identity} now; `opera report` lists the findings")
    return named[0]


def finding_with(workspace: Workspace, test: str) -> Finding | None:
    """The finding that has *test*; None for a test that is in no finding."""
    found = findings_among(workspace, queries.apis(workspace))
    return next((each for each in found if any(own.test == test for own in each.tests)), None)


def renamed(finding: Finding, identity: str) -> str | None:
    """The sentence that names the finding to a reader who asked for it by a former id; None for its id of today."""
    return None if identity == finding.id else f"{identity[:_ID]} is now part of {finding.id[:_ID]}: same cause"


def result_of(workspace: Workspace, test: str) -> StoredResult:
    """The result of a test that has one, by its whole identity."""
    return Campaigns(workspace).result(test)[0]


def campaigns_of(workspace: Workspace, test: str) -> list[Campaign]:
    """The campaigns that contain *test*, the oldest first."""
    stored = Campaigns(workspace)
    return [campaign for key in queries.campaigns_of(workspace, test) if (campaign := stored.get(key)) is not None]


_ORDER = list(SEVERITY)
_MOST_NAMES = 4
"""Operators that a title names."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?\Z")


def severity(finding: Finding) -> tuple[int, int, str, str]:
    """The key that sorts findings: the worst first, then the most frequent."""
    return _ORDER.index(finding.verdict), -len(finding.tests), operator_of(finding), finding.id


def counted(findings: Iterable[Finding]) -> str:
    """`57 silent wrong results, 1 abort, 66 crashes`."""
    counts = Counter(each.verdict for each in findings)
    return ", ".join(f"{counts[verdict]:,} {words[counts[verdict] != 1]}" for verdict, words in SEVERITY.items() if counts[verdict])


def operator_of(finding: Finding) -> str:
    """The operator of the representative without `ai.onnx.`; with how many others, if there are any."""
    reduction = finding.reduced
    api = next(iter(finding.operators)) if reduction is None else reduction.api
    noun = noun_of(api)
    if noun is not None:
        names = () if reduction is None else reduction.kind.behaviour.operators(reduction)
        shown = " + ".join((*names[:_MOST_NAMES], *([f"{len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else [])))
        return one_line(f"{noun}{' of ' if shown else ''}{shown}", 80)
    others = len(finding.operators) - 1
    return one_line(api.removeprefix("ai.onnx."), 80) + (f" and {others:,} more" if others > 0 else "")


def title(finding: Finding) -> str:
    """`MaxPool: wrong shape when ceil_mode>0 and strides has an entry >1`."""
    if finding.converter == NEWER_OPSET:
        return f"{operator_of(finding)}: wrong result of a newer opset, which it loads without a word"
    stage = "" if finding.stage is None or finding.verdict is Verdict.INCONSISTENT else f" at {finding.stage.value}"
    what = f"{operator_of(finding)}: {symptom_words(finding.verdict, detail_of(finding))}{stage}"
    return what + when(finding)


def described(result: StoredResult, api: str) -> tuple[str, str]:
    """Title of the finding that *result*, a test of *api*, would be alone, and what was seen."""
    finding = Finding(
        str(result.fingerprint), result.at_fault, result.frontend, result.route, (api,), result.verdict, result.stage, result.converter,
        one_line(headline(result.verdict, result.detail, result.compiler)), result, (result,), (str(result.fingerprint),), (),
    )  # fmt: skip
    return title(finding), seen(finding)


def titles_in(workspace: Workspace) -> dict[str, str]:
    """The title of the finding of each failing test."""
    return {test.test: title(finding) for finding in findings_among(workspace, queries.apis(workspace)) for test in finding.tests}


def detail_of(finding: Finding) -> Detail:
    """What the reduced instance left behind; the representative without a reduction."""
    case = reduced(finding)
    return finding.representative.detail if case is None else case.result.detail


def seen(finding: Finding) -> str:
    """One line: expected and actual values with four digits, or the message without C++ signatures."""
    detail = detail_of(finding)
    if "difference" in detail:
        difference = detail["difference"]
        text = f"expected {number(difference['expected'])}, {got(difference)} {number(difference['actual'])}"
        share = difference.get("share")
        return one_line(f"{text} ({share:.0%} of the elements)" if isinstance(share, float) and share < 1 else text)
    if "failure" in detail:
        failure = detail["failure"]
        message = summary(without_signatures(str(failure["message"])), noise_of(finding.representative.compiler))
        return one_line(f"{str(failure['type']).rsplit('.', 1)[-1]}: {message}")
    return finding.summary


def number(value: object) -> str:
    """A number with four digits; any other text as it is."""
    text = str(value)
    return f"{float(text):.4g}" if _NUMBER.match(text) else one_line(text, 400)


def siblings(finding: Finding, among: Iterable[Finding]) -> list[Finding]:
    """The findings *among* others that are like *finding*: same subject, symptom and condition, tensors by place and not by name."""
    mark = _mark(finding)
    return [] if mark is None else [each for each in among if each.id != finding.id and _mark(each) == mark]


def named(finding: Finding) -> str:
    """A sibling in a list: its id and its title."""
    return f"{finding.id}: {title(finding)}"


def _mark(finding: Finding) -> tuple[str, ...] | None:
    """What siblings share; None where the condition is unknown, or only that the result is seen."""
    condition = finding.condition
    if condition is None or not condition.core():
        return None
    detail = detail_of(finding)
    failure = detail.get("failure", {})
    return finding.subject, symptom_words(finding.verdict, detail), str(finding.stage), str(failure.get("type")), condition.anonymous()
