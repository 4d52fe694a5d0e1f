"""What the operator tables that OPERA keeps for torch spare: CPU milliseconds of each stage of a test, without and with them.

python benchmarks/bench_torch_tables.py tvm --workspace DIR --tests 200

The workspace has PyTorch instances. Both workers of a test run in this process, and each test runs twice, once without the tables; which
run is the first alternates. Tests whose verdict or fingerprint differs between the two runs are listed. Failures are not confirmed.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from opera.compilers.registry import choose_route, plugin
from opera.config import Config
from opera.difftest.compiler_worker import CompilerWorker
from opera.difftest.judge import Judgement
from opera.difftest.messages import to_json
from opera.difftest.model_worker import Materialiser
from opera.difftest.protocol import Ask, DiffTest, Event, drive
from opera.difftest.specs import compiler_spec, library_spec
from opera.difftest.test import Test
from opera.models import torch_tables
from opera.models.forms import InputForm, ModelForm
from opera.prioritize.ranking import rank
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.workers.child import Handler, Stages
from opera.workers.failure import describe
from opera.workers.pool_protocol import Role
from opera.workers.process import PINNED_ENVIRONMENT, Done, Raised


class Clock(Stages):
    """Stages by processor time."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.spent: dict[str, float] = {}
        self._began = 0.0

    def enter(self, name: str) -> None:
        self.leave()
        self.current, self._began = name, time.process_time()

    def leave(self) -> None:
        if self.current:
            self.spent[self.current] = self.spent.get(self.current, 0.0) + time.process_time() - self._began


def main() -> None:
    """Compares, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler")
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--tests", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    chosen, config = plugin(arguments.compiler), Config({})
    route = choose_route(chosen.load(), "pytorch", None)
    with tempfile.TemporaryDirectory() as folder, open_workspace(arguments.workspace, write=True) as space:
        cache = Path(folder, "cache")
        Path(folder, "blobs").symlink_to((arguments.workspace / "blobs").resolve())
        spec = compiler_spec(config, chosen, ["pytorch"], cache, {})
        os.environ.update({**PINNED_ENVIRONMENT, **spec.environment})
        workers: dict[Role, Handler] = {
            Role.LIBRARY: Materialiser(dict(library_spec(config, "pytorch", cache).options)),
            Role.COMPILER: CompilerWorker(dict(spec.options)),
        }
        for worker in workers.values():
            worker.ready()
        corpus = Corpus(space)
        ranking = corpus.newest_ranking("pytorch", arguments.compiler, 0) or rank(corpus, arguments.compiler, route, "round-robin", 0)
        keys = corpus.ranked(ranking.id)[: arguments.tests]
        difftest = DiffTest(
            f"{arguments.compiler}/pytorch",
            route.artefact,
            (route.frontend, route.name),
            corpus.document,
            confirm=False,
            reviewed=lambda judgement, test: False,
        )
        compare(difftest, workers, [(key, corpus.get(key).api) for key in keys])


def compare(difftest: DiffTest, workers: dict[Role, Handler], instances: list[tuple[str, str]]) -> None:
    """Runs each test both ways, and prints the medians and sums of each stage."""
    spent: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    verdicts: Counter[str] = Counter()
    differing: list[str] = []
    for index, (key, api) in enumerate(instances):
        test = Test(index, key, key, api, ModelForm(InputForm.RUNTIME), key, key, 0)
        judged: dict[str, Judgement] = {}
        for way in ("without", "with") if index % 2 else ("with", "without"):
            with torch_tables.without() if way == "without" else nullcontext():
                judged[way], clock = judgement_of(difftest, test, workers)
            spent[way].append(clock)
        verdicts[judged["with"].verdict.value] += 1
        if facts(judged["with"], difftest.subject) != facts(judged["without"], difftest.subject):
            differing.append(f"{key} {api}")
    print(f"{difftest.subject}: {len(instances)} tests, {dict(verdicts.most_common())}; {len(differing)} judged otherwise {differing}")
    print(f"{'stage':<10} {'without':>10} {'with':>10} {'ratio':>6}   medians, CPU ms; last row: sum, CPU s")
    for stage in dict.fromkeys(stage for clock in spent["with"] for stage in clock):
        own, kept = (statistics.median(clock[stage] for clock in spent[way] if stage in clock) * 1e3 for way in ("without", "with"))
        if own >= 0.5:
            print(f"{stage:<10} {own:>10.1f} {kept:>10.1f} {own / kept:>6.1f}")
    own, kept = (sum(sum(clock.values()) for clock in spent[way]) for way in ("without", "with"))
    print(f"{'all':<10} {own:>10.1f} {kept:>10.1f} {own / kept:>6.1f}")


def judgement_of(difftest: DiffTest, test: Test, workers: dict[Role, Handler]) -> tuple[Judgement, dict[str, float]]:
    """The judgement of one test, and the CPU seconds of its stages."""
    clock = Clock()

    def ask(step: Ask) -> Event:
        try:
            return Done(workers[step.worker].handle(to_json(step.request), clock), {})
        except Exception as error:
            return Raised(clock.current, describe(error), {})
        finally:
            clock.leave()
            clock.current = ""

    return drive(difftest, difftest.begin(test), ask), clock.spent


def facts(judgement: Judgement, subject: str) -> tuple[object, ...]:
    """What decides which finding a test belongs to. Messages may have counters, which fingerprints leave out."""
    fingerprint = judgement.symptom(subject).fingerprint if judgement.verdict.is_failure else None
    return judgement.verdict, judgement.reason, judgement.stage, fingerprint


if __name__ == "__main__":
    main()
