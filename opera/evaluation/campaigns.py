"""Campaigns of a workspace as `Recorded`."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, cast

from opera.errors import UserError
from opera.evaluation.recorded import Recorded, RecordedTest
from opera.instance import Argument, Instance, Tensor
from opera.prioritize import equipped_counts
from opera.prioritize.features import integer_data
from opera.store import Campaign, Campaigns, Corpus, Workspace
from opera.triage.findings import group
from opera.triage.knowledge import knowledge_of


def read_campaign(workspace: Workspace, prefix: str | None = None, coverage: Mapping[str, frozenset[int]] | None = None) -> Recorded:
    """The campaign whose identity begins with *prefix*; without one, the only complete campaign that has findings.

    Its faults are the findings as triage groups them so far; its tests are those that the campaign has run. *coverage* is kept beside
    them, by instance.

    Raises:
        UserError: there is no such campaign, or more than one, or it has not run all its tests.
    """
    campaign = choose(Campaigns(workspace).all(), prefix)
    corpus = Corpus(workspace)
    seconds: dict[str, float] = defaultdict(float)
    failures = list(Campaigns(workspace).results(campaign.id, failures=True))
    for result in Campaigns(workspace).results(campaign.id):
        seconds[result.instance] += sum(result.seconds.values())
    instances = {key: slim(instance) for key, instance in corpus.instances(campaign.library) if key in seconds}
    lost = len(seconds) - len(instances)
    if lost:
        raise UserError(f"{lost} of {len(seconds)} instances of campaign {campaign.id} are gone from the workspace")
    faults: dict[str, str] = {}
    revealed: dict[str, set[str]] = defaultdict(set)
    for finding in group(failures, knowledge_of(workspace, lambda key: instances[key].api)):
        faults[finding.id] = f"{', '.join(finding.operators[:3])}: {finding.verdict.value}: {finding.summary}"[:200]
        for test in finding.tests:
            revealed[test.instance].add(finding.id)
    return Recorded(
        f"{campaign.compiler}/{campaign.frontend}",
        [
            RecordedTest(
                key,
                instances[key],
                round(seconds[key], 4),
                frozenset(revealed.get(key, ())),
                None if coverage is None else coverage.get(key, frozenset()),
            )
            for key in sorted(instances)
        ],
        faults, equipped_counts(campaign.compiler, campaign.frontend), facts=_facts(campaign),
        order=list(dict.fromkeys(step.instance for step in Campaigns(workspace).course(campaign.id))),
    )  # fmt: skip


def choose(campaigns: list[Campaign], prefix: str | None) -> Campaign:
    """The campaign that `read_campaign` reads."""
    found = [each for each in campaigns if each.id.startswith(prefix or "")]
    complete = [each for each in found if each.complete]
    there = "; ".join(
        f"{each.id} ({each.compiler}/{each.frontend}, {'complete' if each.complete else 'not complete'})" for each in campaigns
    )
    if prefix is not None and len(found) == 1 and not complete:
        raise UserError(f"campaign {found[0].id} has not run all its tests; continue it, or choose another of: {there}")
    if len(complete) != 1:
        raise UserError(f"name one complete campaign with --campaign ID; there are: {there or 'none'}")
    return complete[0]


def _facts(campaign: Campaign) -> dict[str, str]:
    compiler = cast("Mapping[str, Any]", campaign.versions.get("compiler", {}))
    library = cast("Mapping[str, Any]", campaign.versions.get("library", {}))
    names = {**{str(name): value for name, value in library.items()}, **{str(name): value for name, value in compiler.items()}}
    return {"campaign": campaign.id, "started": campaign.started, **{name: str(value) for name, value in names.items()}}


def slim(instance: Instance) -> Instance:
    """*instance* without the values that no strategy reads: those of large tensors, of floating ones, and of graphs."""
    return dataclasses.replace(
        instance,
        init=tuple(_slim_argument(each) for each in instance.init),
        call=tuple(_slim_argument(each) for each in instance.call),
        context=tuple((name, _slim(value)) for name, value in instance.context),
        expected=None if instance.expected is None else tuple(_slim(value) for value in instance.expected),
    )


def _slim_argument(argument: Argument) -> Argument:
    return dataclasses.replace(argument, value=_slim(argument.value))


def _slim(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value if value.data is None or integer_data(value) is not None else dataclasses.replace(value, data=None)
    if isinstance(value, list):
        return [_slim(item) for item in cast("list[Any]", value)]
    if isinstance(value, tuple):
        return tuple(_slim(item) for item in cast("tuple[Any, ...]", value))
    if isinstance(value, dict):
        return {key: _slim(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value
