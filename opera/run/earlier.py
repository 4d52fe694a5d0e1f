"""Earlier outcomes of a campaign's tests that another revision of the review judged: their compiler need not run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opera import bundle
from opera.difftest.judge import Judgement, failure_in
from opera.difftest.messages import KeptModel, KeptReference
from opera.difftest.test import Identity, Test
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, StoredResult


class Earlier:
    """Finds the outcome of a test before its review.

    Args:
        campaigns: Campaigns of the workspace.
        identity: Identity of the tests of the campaign that runs.
        cache: The folder of models, references and outputs.
    """

    def __init__(self, campaigns: Campaigns, identity: Identity, cache: Path) -> None:
        self._campaigns = campaigns
        self._cache = cache
        reviews = {int(each.versions["review"]) for each in campaigns.all() if "review" in each.versions} - {identity.review}
        self._identities = [replace(identity, review=each) for each in sorted(reviews, reverse=True)]

    def __call__(self, test: Test) -> Judgement | None:
        """The outcome of *test* before its review; None if no earlier review saw it, or if the cache has lost what a review needs."""
        for identity in self._identities:
            result = self._campaigns.finished(identity.test(test.instance, test.seed, test.form))
            if result is not None:
                judgement = _before_review(result)
                return judgement if not judgement.verdict.is_failure or self._has_files(judgement, test) else None
        return None

    def _has_files(self, judgement: Judgement, test: Test) -> bool:
        reference, model = self._campaigns.kept(test.reference_key), self._campaigns.kept(test.artefact_key)
        names = [judgement.outputs] if judgement.verdict is Verdict.INCONSISTENT else []
        names += [reference.bundle] if isinstance(reference, KeptReference) else []
        names += [model.model] if isinstance(model, KeptModel) and model.model is not None else []
        return all(name is not None and bundle.is_hash(name) and bundle.path_of(self._cache, name).is_file() for name in names)


def _before_review(result: StoredResult) -> Judgement:
    excused = result.verdict is Verdict.UNDEFINED and "excuse" in result.detail
    detail = result.detail.copy()
    outputs = detail.pop("outputs", None)
    detail.pop("excuse", None)
    verdict, reason = (failure_in(detail), None) if excused else (result.verdict, result.reason)
    return Judgement(verdict, result.stage, reason, result.converter, detail, result.seconds, result.exporter, outputs)
