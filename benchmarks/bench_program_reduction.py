"""How far failing programs are reduced: reduces failing programs of a workspace, and prints their numbers of operators and the seconds.

python benchmarks/bench_program_reduction.py --workspace DIR [--limit 30] [--seconds 60]

Each failing test is reduced by itself, also where a finding has it already, by `opera.triage.reduction`; the workspace is not changed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from opera.config import load_config
from opera.console import one_line
from opera.difftest.runner import TestRunner
from opera.difftest.settings import Settings
from opera.extensions.programs.instances import PROGRAM, program_of
from opera.extensions.programs.program import calls
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace
from opera.triage.reduction.reduce import Budget, NotReduced, Reducer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, default=Path(".opera"))
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    before: list[int] = []
    after: list[int] = []
    seconds: list[float] = []
    with open_workspace(chosen.workspace, write=False) as space:
        corpus, runners = Corpus(space), dict[tuple[str, str, str], TestRunner]()
        try:
            for result in Campaigns(space).results(failures=True):
                instance = corpus.get(result.instance)
                if instance.kind is not PROGRAM or len(before) >= chosen.limit:
                    continue
                operators = len(list(calls(program_of(instance))))
                if not 10 <= operators <= 30:
                    continue
                subject = result.compiler, result.frontend, result.route
                if subject not in runners:
                    runners[subject] = TestRunner(Settings(*subject, timeout=15.0), load_config(), space.scratch)
                reducer = Reducer(runners[subject], str(result.fingerprint), result.verdict, Budget(600, chosen.seconds))
                try:
                    found = reducer.reduce(instance, result.form, result.instance, result.seed)
                except NotReduced as error:
                    print(
                        json.dumps({"test": result.test[:12], "operators": operators, "not_reduced": one_line(str(error), 120)}), flush=True
                    )
                    continue
                before.append(operators)
                after.append(len(list(calls(program_of(found.instance)))))
                seconds.append(found.seconds)
                line = {"test": result.test[:12], "operators": operators, "left": after[-1], "seconds": round(found.seconds, 1)}
                print(json.dumps({**line, "trigger": found.trigger.text()[:100]}), flush=True)
        finally:
            for runner in runners.values():
                runner.close()
    if after:
        operators, left, time = (statistics.median(each) for each in (before, after, seconds))
        print(f"{len(after)} programs: median {operators} operators, {left} left")
        print(f"seconds: median {time:.1f}, most {max(seconds):.1f}")


if __name__ == "__main__":
    main()
