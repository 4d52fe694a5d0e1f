"""Runs tests that a version lost once more on both versions: what does not happen again is no loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from opera.config import Config
from opera.console import doing, plural
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.extensions.versions.support import LOST, UNCLEAR, Support, kind_of, letter_of
from opera.store import Corpus, Workspace


def confirmed(space: Workspace, found: Support, at: Callable[[str], Config], before: int, after: int, scratch: Path) -> Support:
    """*found*, in which the tests that are broken or newly declined at *after* are unclear where another run gives something else.

    Args:
        space: The workspace that has their instances.
        found: The outcomes.
        at: Gives the settings of a version.
        before: The place of the earlier version.
        after: The place of the later version.
        scratch: A folder for the workers.

    Raises:
        EnvironmentBroken: a version does not work here any more.
    """
    lost = [case for case, letters in found.tests.items() if kind_of(letters[before], letters[after]) in LOST]
    corpus, tests = Corpus(space), dict(found.tests)
    known = [*corpus.runnable(found.library), *Corpus(space, refused=True).runnable(found.library)]
    level, chebyshev, seed = (found.settings.get(name) for name in ("level", "chebyshev", "seed"))
    settings = Settings(found.compiler, found.frontend, found.route, level=level, chebyshev=chebyshev)
    keys = {key[: len(case.instance)]: key for case in lost[:1] for key in known}
    for place in (before, after) if lost else ():
        name = found.versions[place].name
        doing(f"running {plural(len(lost), 'test')} again on {found.compiler} {name}")
        with TestRunner(settings, at(name), scratch) as runner:
            for case in (each for each in lost if each.instance in keys):
                key = keys[case.instance]
                judgement = runner.run(TestCase(corpus.get(key), case.form, key, seed or 0)).judgement
                letters = tests[case]
                if letter_of(judgement.verdict, judgement.exporter) != letters[place]:
                    tests[case] = letters[:place] + UNCLEAR + letters[place + 1 :]
    return replace(found, tests=tests)
