"""What each version of a compiler supports: the verdicts of the same tests on several versions, and what changes between two."""

from __future__ import annotations

import enum
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from packaging.version import Version as Numbers

from opera.console import plural
from opera.extensions.environments.releases import compilers, in_order
from opera.models.forms import form_parts
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, Workspace, queries
from opera.store.campaigns import Campaign

RIGHT, WRONG, CRASH, EXPORTER, DECLINED, UNCLEAR, UNTESTED = "pwcedu-"
"""A letter for what a test comes to on one version."""
LETTERS = {
    Verdict.PASS: RIGHT,
    Verdict.INCONSISTENT: WRONG,
    Verdict.CRASH: CRASH,
    Verdict.ABORT: CRASH,
    Verdict.HANG: CRASH,
    Verdict.OOM: CRASH,
    Verdict.UNSUPPORTED: DECLINED,
}
TAKEN = frozenset((RIGHT, WRONG, CRASH))
_WORST = CRASH + WRONG + EXPORTER + DECLINED + RIGHT + UNCLEAR + UNTESTED
"""The letters, the worst first: a test with several seeds counts by its worst outcome."""
_RELEASE = re.compile(r"\d+(?:\.\d+)+(?:\.?(?:post|dev|a|b|rc)\d+)?")
_DIGITS = 16


class Kind(enum.Enum):
    """How the outcome of a test differs between two versions; the order is that of reports."""

    BROKEN = "broken"
    """Was right, and fails."""
    NEWLY_DECLINED = "newly declined"
    """Was right, and is declined."""
    FIXED = "fixed"
    """Failed, and is right."""
    NEWLY_TAKEN = "newly taken"
    """Was declined, and is right."""
    STILL = "still not right"
    """Fails or is declined in another way than before."""


LOST = (Kind.BROKEN, Kind.NEWLY_DECLINED)
"""The changes for the worse."""


def letter_of(verdict: Verdict, exporter: str | None) -> str:
    """The letter of a verdict; *exporter* is the exporter that failed before the compiler, if one did."""
    return EXPORTER if exporter else LETTERS.get(verdict, UNCLEAR)


def kind_of(before: str, after: str) -> Kind | None:
    """The change between two letters; None for no change, and where one of them says nothing of the compiler."""
    if before == after or not {before, after} <= TAKEN | {DECLINED}:
        return None
    if before == RIGHT:
        return Kind.NEWLY_DECLINED if after == DECLINED else Kind.BROKEN
    if after == RIGHT:
        return Kind.NEWLY_TAKEN if before == DECLINED else Kind.FIXED
    return Kind.STILL


@dataclass(frozen=True)
class Case:
    """A test: the API and the first digits of the id of its instance, and the form of its inputs."""

    api: str
    instance: str
    form: str


@dataclass(frozen=True)
class Version:
    """A version that ran.

    Attributes:
        name: Version of the release, or name of the build.
        campaign: Id of the campaign.
        ran: The day on which it ran.
    """

    name: str
    campaign: str
    ran: str

    def date(self, compiler: str) -> str:
        """The day of the release; of a build, or of a release that OPERA does not know, the day on which it ran."""
        known = compilers().get(compiler)
        release = known.find(self.name) if known else None
        return str(release.date) if release else self.ran


@dataclass(frozen=True)
class Support:
    """The outcomes of the tests of one subject on its versions, the oldest first.

    Attributes:
        compiler, frontend: The subject.
        versions: The versions.
        tests: By test, a letter for each version.
        route, library: The chain of conversions, and the library whose tests they are.
        settings: Other settings of the campaigns.
    """

    compiler: str
    frontend: str
    versions: tuple[Version, ...]
    tests: Mapping[Case, str] = field(repr=False)
    route: str | None = None
    library: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def subject(self) -> str:
        """Compiler and frontend, e.g. `onnxruntime/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    def index(self, name: str) -> int:
        """The place of a version; raises KeyError for an unknown one."""
        found = next((place for place, each in enumerate(self.versions) if each.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def counts(self, place: int) -> Counter[str]:
        """How many tests come to what on the version at *place*."""
        return Counter(letters[place] for letters in self.tests.values())

    def operators(self, place: int) -> dict[str, Counter[str]]:
        """The same for each operator."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for case, letters in self.tests.items():
            found[case.api][letters[place]] += 1
        return found

    def changes(self, before: int, after: int) -> dict[Kind, Counter[str]]:
        """By kind of change between the versions at two places, how many tests of each operator."""
        found: dict[Kind, Counter[str]] = {kind: Counter() for kind in Kind}
        for case, letters in self.tests.items():
            kind = kind_of(letters[before], letters[after])
            if kind is not None:
                found[kind][case.api] += 1
        return found

    def steps(self) -> Iterator[tuple[int, int]]:
        """The places of each two versions that follow each other."""
        return pairwise(range(len(self.versions)))


def supports(workspace: Workspace) -> list[Support]:
    """The subjects of a workspace that ran on at least one version; of several campaigns on a version, the newest complete one."""
    groups: dict[tuple[str, ...], dict[str, Campaign]] = defaultdict(dict)
    stored = Campaigns(workspace)
    for each in stored.all():
        name = version_of(each)
        route = str(each.versions.get("route", ""))
        group = groups[each.compiler, each.frontend, route, str(each.settings.get("level")), str(each.settings.get("keyword"))]
        if name and not (name in group and group[name].complete and not each.complete):
            group[name] = each
    apis = queries.apis(workspace)
    chosen: dict[tuple[str, str], Mapping[str, Campaign]] = {}
    for key, group in sorted(
        groups.items(), key=lambda each: (len(each[1]) > 1, max((one.started for one in each[1].values()), default=""))
    ):
        if group:  # of several settings of a subject, those that ran last on two versions
            chosen[key[0], key[1]] = group
    return [_support(stored, group, apis) for _, group in sorted(chosen.items())]


def version_of(campaign: Campaign) -> str | None:
    """The version that a campaign ran on: the name of the build, else what the compiler says of itself.

    A release may call itself by its last candidate, as IREE 3.9.0 by 3.9.0rc20251125.
    """
    said = next(iter(campaign.versions.get("compiler", {}).values()), None)
    if campaign.build is not None or said is None:
        return campaign.build
    match = _RELEASE.match(str(said))
    if match is None:
        return str(said)
    known = compilers().get(campaign.compiler)
    names = (match[0], Numbers(match[0]).base_version)
    return next((each for each in names if known and known.find(each)), match[0])


def _support(stored: Campaigns, group: Mapping[str, Campaign], apis: Mapping[str, str]) -> Support:
    campaign = next(iter(group.values()))
    ran = in_order(sorted(group), {name: campaign.started for name, campaign in group.items()})
    tests: dict[Case, list[str]] = {}
    untested: list[str] = [UNTESTED] * len(ran)
    for place, name in enumerate(ran):
        for result in stored.results(group[name].id):
            letter = letter_of(result.verdict, result.exporter)
            case = Case(apis.get(result.instance, ""), result.instance[:_DIGITS], result.form)
            letters = tests.setdefault(case, untested.copy())
            letters[place] = min(letter, letters[place], key=_WORST.index)
    versions = (Version(name, group[name].id, group[name].started[:10]) for name in ran)
    whole = {case: "".join(letters) for case, letters in tests.items()}
    route = str(campaign.versions.get("route", "")) or None
    return with_results(Support(campaign.compiler, campaign.frontend, tuple(versions), whole, route, campaign.library, campaign.settings))


def with_results(support: Support) -> Support:
    """*support* without versions on which no test says anything of the compiler: they did not work."""
    kept = [place for place in range(len(support.versions)) if any(support.counts(place)[letter] for letter in TAKEN)]
    tests = {case: "".join(letters[place] for place in kept) for case, letters in support.tests.items()}
    return replace(support, versions=tuple(support.versions[place] for place in kept), tests=tests)


def named(support: Support, names: Sequence[str]) -> tuple[int, int]:
    """The places of two versions; without names, the last two.

    Raises:
        KeyError: one is not there.
    """
    return (support.index(names[0]), support.index(names[1])) if names else (len(support.versions) - 2, len(support.versions) - 1)


def short(api: str) -> str:
    """An API without the namespace that all of ONNX's share."""
    return api.removeprefix("ai.onnx.")


def listed(counts: Mapping[str, int]) -> str:
    """Operators with their numbers of tests, those with most first."""
    ordered: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{short(api)} ({count})" for api, count in ordered)


def notes(support: Support, before: int, after: int) -> str:
    """What changed between two versions as Markdown, for release notes."""
    old, new = support.versions[before], support.versions[after]
    one, other = support.counts(before), support.counts(after)
    rows = [(name, letter) for name, letter in (("right", RIGHT), ("wrong", WRONG), ("crash", CRASH), ("declined", DECLINED))]
    forms = len({form_parts(case.form)[0] for case in support.tests})
    lines = [
        f"# {support.compiler} {new.name} on {support.frontend}: changes since {old.name}",
        "",
        f"{plural(len(support.tests), 'test')} of {plural(len({case.api for case in support.tests}), 'operator')}, in"
        f" {plural(forms, 'input form')}. Each failure happened twice.",
        "",
        f"| tests | {old.name} ({old.date(support.compiler)}) | {new.name} ({new.date(support.compiler)}) |",
        "|---|--:|--:|",
        *(f"| {name} | {one[letter]:,} | {other[letter]:,} |" for name, letter in rows),
    ]
    for kind, counts in support.changes(before, after).items():
        if counts:
            lines += [
                "",
                f"## {kind.value.capitalize()}: {plural(sum(counts.values()), 'test')} of {plural(len(counts), 'operator')}",
                "",
                listed(counts),
            ]
    return "\n".join(lines) + "\n"
