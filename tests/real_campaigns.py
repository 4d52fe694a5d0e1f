"""Campaigns of real compilers, in processes of their own: one for each subject; every test reads its part."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commands

from opera.corpus.selection import at_most, selector
from opera.instance import Instance, Occurrence, digest
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace


def opera(*arguments: str, workspace: Path, codes: Sequence[int] = (0,)) -> dict[str, Any]:
    """Runs a command that has to end with one of *codes*, and gives its document. A campaign of which nothing can be judged ends with 4."""
    run = commands.run(*arguments, "--json", folder=Path.cwd(), variables={"OPERA_WORKSPACE": str(workspace)})
    assert run.returncode in codes, run.stderr[-3000:]
    return json.loads(run.stdout)


@dataclass(frozen=True)
class Campaign:
    """What a campaign gave.

    Attributes:
        summary: The document that `opera run` printed.
        results: Name of the API and result of each test.
    """

    workspace: Path
    summary: dict[str, Any]
    results: tuple[tuple[str, StoredResult], ...]

    def of(self, keyword: str) -> list[StoredResult]:
        """The results of the tests that `opera run -k` with *keyword* would have run."""
        wanted = selector(keyword)
        return [result for api, result in self.results if wanted(api)]

    def verdicts(self, keyword: str) -> dict[str, int]:
        """How many of the tests of *keyword* have which verdict."""
        return dict(Counter(result.verdict.value for result in self.of(keyword)))

    def failures_of(self, instances: Iterable[Instance]) -> list[tuple[str, str, str]]:
        """API, input form and verdict of each failing test of *instances*, all of which must have been run."""
        wanted = {digest(each) for each in instances}
        assert wanted <= {result.instance for _, result in self.results}
        return [(api, each.form, each.verdict.value) for api, each in self.results if each.instance in wanted and each.fingerprint]

    def report(self) -> dict[str, Any]:
        """What `opera report` says of this campaign."""
        return opera("report", "--campaign", self.summary["campaign"], workspace=self.workspace)


def filled(workspace: Path, instances: Iterable[Instance]) -> Path:
    """*workspace*, which now holds *instances*."""
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((each, Occurrence("hand", "test")) for each in instances)
    return workspace


def selected(workspace: Path, library: str, keyword: str, cap: int) -> list[Instance]:
    """The instances of *workspace* whose API *keyword* names, at most *cap* of each API."""
    wanted = selector(keyword)
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        apis = corpus.runnable(library)
        names = at_most(((key, api) for key, api in apis.items() if wanted(api)), cap, lambda each: each[1])
        return [corpus.get(key) for key, _ in names]


def run(workspace: Path, compiler: str, frontend: str, keywords: Iterable[str], *more: str) -> Campaign:
    """Runs the tests of all *keywords*, or all that there are, in one campaign, which has to complete.

    It uses one job, since two pytest processes run such campaigns side by side.
    """
    expression = " or ".join(f"({keyword})" for keyword in keywords)
    only = ("-k", expression) if expression else ()
    subject = ("--compiler", compiler, "--frontend", frontend)
    summary = opera("run", *subject, *only, "--exit-zero", "--quiet", "-j", "1", *more, workspace=workspace, codes=(0, 4))
    assert summary["complete"] is True
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        results = tuple((corpus.get(each.instance).api, each) for each in Campaigns(space).results(summary["campaign"]))
    assert len(results) == summary["executed"]
    return Campaign(workspace, summary, results)
