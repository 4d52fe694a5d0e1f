"""Compares the findings of OPERA with those of NNSmith (ASPLOS 2023) in the same wall time, for each of several compilers.

python benchmarks/compare_nnsmith.py [--compiler tvm ...] [--side opera ...] [--minutes 10] [-j 2] [--workspaces DIR] [--output FILE]

OPERA is on two sides: with the tests that it extracts, and with the programs that it generates. All sides get the same minutes and the
same busy processes for each compiler, and everything counts that they do in them:

- OPERA: `extract`, `prioritize`, `run`, into an empty workspace, for ONNX models; in the time that is left when it is through with these,
  for PyTorch's (its operator database), which the same compilers load;
- programs: `fuzz run` with the policy `general`, on more and more programs, until the time is over;
- NNSmith: trying its operators, generating models, importing them, `run` on what is there, again and again. Its generator is a process
  besides the busy ones, so that the compiler does not wait for it after the first models; it ends when its lead covers the time left.

The workers, oracles, confirmation and triage are the same. What follows the time is outside it, for all: `triage`, and for NNSmith also
that each failing model is taken apart. A model has many operators, and one wrong result is like another. So each of its nodes is run as
an operator instance, on the values that it had in the model, with shapes and axes as constants, and judged like any other. Nodes that
fail as the model does are its findings. An exception that no node explains is a finding of its own, by its fingerprint. A wrong result
that no node explains does not count: either a node is excused (a NaN cast to an integer), or rounding errors add up, or an optimiser is at
fault. The output says how many there are.

Findings of frontends are counted: failures to load, and wrong results that do not vanish at the lowest optimisation level. Failures
of exporters are not, nor crashes behind the frontend; the output has those too.

NNSmith's environment is made at the first use, in .opera-envs/nnsmith, from the versions in benchmarks/nnsmith.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from nnsmith_models import explains, is_excused, results_by_model, take_apart

from opera.console import print_table
from opera.extensions.environments.build import EnvironmentFolder, create
from opera.extensions.environments.recipes import Recipe
from opera.extensions.programs.instances import PROGRAM, program_of
from opera.extensions.programs.program import Call, bindings
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, StoredResult
from opera.store.database import open_workspace
from opera.triage.findings import Finding, group, knowledge_of

SCHEMA = "nnsmith-comparison/3"
SCRIPTS = Path(__file__).parent
ENVIRONMENT = EnvironmentFolder("nnsmith", SCRIPTS.parent / ".opera-envs" / "nnsmith")
RECIPE = Recipe(
    "nnsmith", (), ("nnsmith==0.1.0", "torch>=2.13", "onnx>=1.19"), SCRIPTS / "nnsmith.txt", 1.1, "NNSmith, as a generator of ONNX models"
)
ONNX = "onnx"
CORPORA = {ONNX: (), "pytorch": ("--source", "opinfo", "--option", "dtypes=float32,int64,bool", "--option", "variants=")}
"""What OPERA extracts, by library and frontend, one after the other."""
LEAD = 1.5
"""How many times what the compiler can do in the time left the generator has to have made before it is ended."""
WORTH_IT = 60.0
"""Seconds that have to be left for the second corpus."""
GENERATOR_MEMORY = 12 * 2**30
"""Bytes of address space: a model whose inputs NNSmith searches for can take all memory of a machine. Another generator goes on then."""
SEEDS_APART = 1_000_000
FIRST_PROGRAMS = 200
MORE_PROGRAMS = 3
"""How many times as many programs there are each time that the compiler is through with those that it has."""
PROGRAMS = "programs"
MOST_GENERATORS = 20
TAKING_APART = "60m"
"""Most time for the nodes of failing models."""


@dataclass(frozen=True)
class Found:
    """A finding as the output has it: *model* is what the compiler loaded; *frontend* says whether it counts.

    *needed* is how many operators the smallest failing program has; 0 where the finding is of no program.
    """

    id: str
    model: str
    frontend: bool
    exporter: bool
    verdict: str
    stage: str
    converter: str
    kind: str
    operators: tuple[str, ...]
    summary: str
    tests: int
    needed: int = 0

    @property
    def by_converter(self) -> tuple[str, str, str]:
        """What two findings share that are the same for converter and kind."""
        return self.converter, self.verdict, self.kind

    @property
    def by_operator(self) -> set[tuple[str, str, str]]:
        """The same for each of its operators."""
        return {(each, self.verdict, self.kind) for each in self.operators}


@dataclass
class Side:
    """What one side came to: instances or models, tests with a result, seconds before the first test and in all, findings."""

    inputs: int = 0
    tests: int = 0
    verdicts: dict[str, int] = field(default_factory=dict[str, int])
    seconds_before_first_test: float = 0.0
    seconds: float = 0.0
    notes: dict[str, int] = field(default_factory=dict[str, int])
    findings: list[Found] = field(default_factory=list[Found])

    @property
    def of_frontends(self) -> list[Found]:
        """The findings in a compiler's frontend."""
        return [each for each in self.findings if each.frontend]


def main() -> None:
    """Compares, prints a table, writes the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="repeatable; by default tvm, openvino and onnxruntime")
    parser.add_argument("--side", action="append", choices=list(SIDES), help="repeatable; by default all")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each side and compiler")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="busy processes, without the generator")
    parser.add_argument("--nodes", type=int, default=10, help="most operators of a model of NNSmith's")
    parser.add_argument("--seed", type=int, default=0, help="of both")
    parser.add_argument("--reduction", default="20s", help="longest time for one reduction of triage")
    parser.add_argument("--workspaces", type=Path, help="keep the workspaces there; the folder must not exist or be empty")
    parser.add_argument(
        "--output", type=Path, help="write the figures as JSON; compilers that it has with the same settings are not run again"
    )
    arguments = parser.parse_args()
    if not ENVIRONMENT.is_complete and "nnsmith" in (arguments.side or SIDES):
        create(RECIPE, ENVIRONMENT, None, again=False, tell=print)
    if arguments.workspaces is not None and arguments.workspaces.exists() and any(arguments.workspaces.iterdir()):
        parser.error(f"{arguments.workspaces} is not empty: each side begins with nothing")
    compilers = arguments.compiler or ["tvm", "openvino", "onnxruntime"]
    names = ("minutes", "jobs", "nodes", "seed", "reduction")
    settings: dict[str, Any] = {"schema": SCHEMA, **{name: getattr(arguments, name) for name in names}}
    found = measured(arguments.output, settings)
    with tempfile.TemporaryDirectory(prefix="nnsmith-") as scratch:
        folder = arguments.workspaces or Path(scratch)
        for name, side in product(compilers, arguments.side or SIDES):
            sides = found.setdefault(name, {})
            if side in sides:
                continue
            (folder / name).mkdir(parents=True, exist_ok=True)
            sides[side] = SIDES[side](name, folder / name, arguments)
            print(f"{name}: {side} {sides[side].tests} tests, {len(sides[side].of_frontends)} findings", flush=True)
            if arguments.output is not None:
                write(arguments.output, {**settings, "command": command_of(list(found), arguments)}, found)
    show(found)


def measured(output: Path | None, settings: Mapping[str, Any]) -> dict[str, dict[str, Side]]:
    """What an earlier run with the same settings has written: those sides are through."""
    if output is None or not output.exists():
        return {}
    document = json.loads(output.read_text(encoding="utf-8"))
    if any(document.get(name) != value for name, value in settings.items()):
        return {}
    return {name: {side: side_of(each) for side, each in sides.items()} for name, sides in document["compilers"].items()}


def side_of(document: Mapping[str, Any]) -> Side:
    """One side, as `write` has written it."""
    fields: dict[str, Any] = dict(document)
    fields["findings"] = [found_of(each) for each in document["findings"]]
    return Side(**fields)


def found_of(document: Mapping[str, Any]) -> Found:
    """One finding of a side, as `write` has written it."""
    fields: dict[str, Any] = dict(document)
    fields["operators"] = tuple(document["operators"])
    return Found(**fields)


def write(output: Path, settings: Mapping[str, Any], found: Mapping[str, Mapping[str, Side]]) -> None:
    """Writes everything that is known so far."""
    compilers = {name: {side: asdict(each) for side, each in sides.items()} for name, sides in found.items()}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({**settings, "compilers": compilers}, indent=1) + "\n", encoding="utf-8")


def command_of(compilers: Sequence[str], options: argparse.Namespace) -> str:
    """The command that measures the same again."""
    named = " ".join(f"--compiler {name}" for name in compilers)
    figures = (
        f"--minutes {options.minutes:g} -j {options.jobs} --nodes {options.nodes} --seed {options.seed} --reduction {options.reduction}"
    )
    return f"python benchmarks/compare_nnsmith.py {named} {figures}"


def opera(workspace: Path, *words: str, expected: Sequence[int] = (0,)) -> dict[str, Any]:
    """Runs a command of OPERA's, and gives its JSON document."""
    command = [sys.executable, "-m", "opera", *words, "--json", "--workspace", str(workspace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in expected:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def campaign(workspace: Path, compiler: str, jobs: int, budget: str, *words: str, frontend: str = ONNX) -> dict[str, Any]:
    """A campaign, or the next part of one; empty where no test came to an end in *budget*."""
    common = ("run", "--compiler", compiler, "--frontend", frontend, "-j", str(jobs), "--budget", budget, "--quiet", "--exit-zero")
    return opera(workspace, *common, *words, expected=(0, 4))


def triage(workspace: Path, compiler: str, options: argparse.Namespace, *more: str) -> list[Finding]:
    """The findings of a workspace after triage."""
    opera(
        workspace,
        "triage",
        "--compiler",
        compiler,
        "-j",
        str(options.jobs),
        "--budget",
        options.reduction,
        *more,
        expected=(0, 4),
    )
    with open_workspace(workspace, write=False) as space:
        return group(Campaigns(space).results(failures=True), knowledge_of(space))


def run_ours(compiler: str, folder: Path, options: argparse.Namespace) -> Side:
    """OPERA's own pipeline: the second corpus when the first is through."""
    workspace = folder / "opera"
    began = time.monotonic()
    seed = ("--seed", str(options.seed))
    side, verdicts = Side(), Counter[str]()
    for library, choice in CORPORA.items():
        extracted = opera(workspace, "extract", "--lib", library, *choice, "-j", str(options.jobs), "--quiet", *seed)
        opera(workspace, "prioritize", "--compiler", compiler, "--frontend", library, *seed)
        side.inputs += extracted["instances"]
        side.seconds_before_first_test = side.seconds_before_first_test or round(time.monotonic() - began, 1)
        left = 60 * options.minutes - (time.monotonic() - began)
        summary = campaign(workspace, compiler, options.jobs, f"{max(1.0, left):.0f}s", *seed, frontend=library)
        verdicts.update(summary.get("verdicts", {}))
        side.notes[f"tests of {library} models"] = summary.get("executed", 0)
        if time.monotonic() - began >= 60 * options.minutes - WORTH_IT:
            break
    side.seconds = round(time.monotonic() - began, 1)
    side.tests, side.verdicts = verdicts.total(), dict(verdicts)
    side.findings = [entry(each, compiler) for each in triage(workspace, compiler, options)]
    return side


def run_programs(compiler: str, folder: Path, options: argparse.Namespace) -> Side:
    """Programs that OPERA generates: more of them whenever the compiler is through."""
    workspace = folder / PROGRAMS
    began = time.monotonic()
    side, count = Side(), FIRST_PROGRAMS
    while (left := 60 * options.minutes - (time.monotonic() - began)) > 1:
        settings = ("--subject", compiler, "--no-triage", "-j", str(options.jobs), "--seed", str(options.seed))
        ran = opera(workspace, "fuzz", "run", "-n", str(count), "--budget", f"{left:.0f}s", *settings, expected=(0, 1, 4))
        if not ran:  # the time was over before a test of the new programs ran
            break
        side.inputs = count
        take_counts(side, next(iter(ran["subjects"].values())))
        count *= MORE_PROGRAMS
    side.seconds = round(time.monotonic() - began, 1)
    side.findings = [entry(each, compiler) for each in triage(workspace, compiler, options, "--causes", "16")]
    return side


def take_counts(side: Side, summary: Mapping[str, Any]) -> None:
    """What a campaign says of itself, all its parts included."""
    side.tests, side.verdicts = summary.get("executed", 0), dict(summary.get("verdicts", {}))


def entry(finding: Finding, compiler: str) -> Found:
    """A finding in short."""
    test = finding.representative
    exporter = finding.compiler != compiler
    kind = symptom_of(finding.compiler, test.verdict, test.stage, test.converter or "", test.detail, NO_NOISE).kind
    vanishes = finding.lowest_level is not None and finding.lowest_level.vanishes
    counts = not exporter and (test.stage is Stage.LOAD or (test.verdict is Verdict.INCONSISTENT and not vanishes))
    return Found(
        finding.id, finding.frontend, counts, exporter, test.verdict.value, test.stage.value if test.stage else "", test.converter or "",
        kind, finding.operators, finding.summary[:200], len(finding.tests), needed_by(finding),
    )  # fmt: skip


def needed_by(finding: Finding) -> int:
    """How many operators the smallest program of a finding calls; 0 where it has none."""
    if finding.reduction is None or finding.reduction.document is None:
        return 0
    reduced = finding.reduction.instance()
    if reduced.kind is not PROGRAM:
        return 0
    return sum(isinstance(each.value, Call) for each in bindings(program_of(reduced)))


# NNSmith.


def run_theirs(compiler: str, folder: Path, options: argparse.Namespace) -> Side:
    """NNSmith's models through the same campaign."""
    workspace, models = folder / "nnsmith", folder / "models"
    began = time.monotonic()
    deadline = began + 60 * options.minutes
    side = Side()
    generator = start_generator(models / "0", folder / "cache", options.seed, options)
    again = 0
    taken: set[Path] = set()
    try:
        while (left := deadline - time.monotonic()) > 1:
            if generator.poll() not in (None, -signal.SIGTERM):
                again += 1
                if again > MOST_GENERATORS:
                    sys.exit(f"NNSmith's generator ended with exit code {generator.returncode} again; see {models}")
                generator = start_generator(models / str(again), folder / "cache", options.seed + again * SEEDS_APART, options)
            ready = [path for path in sorted(models.glob("*/batch-*.jsonl")) if path not in taken]
            if not ready:
                time.sleep(0.2)
                continue
            opera(workspace, "import", *map(str, ready))
            taken.update(ready)
            side.inputs += sum(header(path)["instances"] for path in ready)
            side.seconds_before_first_test = side.seconds_before_first_test or round(time.monotonic() - began, 1)
            summary = campaign(workspace, compiler, options.jobs, f"{max(1.0, deadline - time.monotonic()):.0f}s", "--strategy", "random")
            take_counts(side, summary)
            made = sum(header(path)["instances"] for path in models.glob("*/batch-*.jsonl"))
            if generator.poll() is None and is_enough(made, side, time.monotonic() - began, left):
                generator.terminate()
    finally:
        generator.terminate()
        generator.wait()
    side.seconds = round(time.monotonic() - began, 1)
    side.notes["generators that ran out of memory, or ended otherwise"] = again
    for last in {path.parent: path for path in sorted(taken)}.values():
        for name, count in header(last)["not_generated"].items():
            side.notes[f"not generated: {name}"] = side.notes.get(f"not generated: {name}", 0) + count
    judge_theirs(side, compiler, folder, options)
    return side


def start_generator(models: Path, cache: Path, seed: int, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    """NNSmith in its environment; *cache* is where it keeps what it finds out about its operators. Some models take all memory there is."""
    models.mkdir(parents=True)
    words = [str(models), "--seed", str(seed), "--nodes", str(options.nodes)]
    command = [str(ENVIRONMENT.python), str(SCRIPTS / "nnsmith_generator.py"), *words]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GENERATOR_MEMORY, GENERATOR_MEMORY))

    with models.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, preexec_fn=limit)


def is_enough(made: int, side: Side, passed: float, left: float) -> bool:
    """Whether there are more models than the compiler can take in the time left, at its pace so far."""
    return side.tests > 0 and made - side.inputs > LEAD * side.inputs / passed * left


def header(path: Path) -> dict[str, Any]:
    """The first line of a corpus file."""
    with path.open(encoding="ascii") as file:
        return json.loads(file.readline())


def judge_theirs(side: Side, compiler: str, folder: Path, options: argparse.Namespace) -> None:
    """Triage, and the nodes of the models that fail."""
    graphs, nodes = folder / "nnsmith", folder / "nodes"
    if not graphs.exists():
        return
    whole = triage(graphs, compiler, options)
    parts = take_apart(graphs, nodes, side.notes)
    single: list[Finding] = []
    results: dict[str, list[StoredResult]] = {}
    if parts:
        campaign(nodes, compiler, options.jobs, TAKING_APART, "--input-form", "baked")
        single = triage(nodes, compiler, options)
        results = results_by_model(nodes, parts)
    failures = [test for each in whole for test in each.tests]
    causes = {test.test: [node for node in results.get(test.instance, ()) if explains(node, test)] for test in failures}
    solved = {str(test.fingerprint) for test in failures if test.verdict is not Verdict.INCONSISTENT and causes[test.test]}
    guilty = {node.test for nodes in causes.values() for node in nodes}
    found = [each for each in single if any(test.test in guilty for test in each.tests)]
    known = {fingerprint for each in found for fingerprint in each.fingerprints}
    for each in whole:
        left = [test for test in each.tests if not causes[test.test] and test.fingerprint not in solved]
        exported = [test for test in left if test.exporter is not None]
        excused = [test for test in left if test not in exported and is_excused(test, results.get(test.instance, ()))]
        raised = [test for test in left if test not in exported and test.verdict is not Verdict.INCONSISTENT]
        counts = {
            "failing tests": len(each.tests), "wrong before the compiler": len(exported), "excused by a node": len(excused),
            "failing as a whole only": len(raised), "wrong as a whole only": len(left) - len(exported) - len(excused) - len(raised),
        }  # fmt: skip
        side.notes.update({name: side.notes.get(name, 0) + count for name, count in counts.items()})
        if raised and not known & set(each.fingerprints):
            found.append(each)
    side.findings = [entry(each, compiler) for each in found]


SIDES: dict[str, Callable[[str, Path, argparse.Namespace], Side]] = {"opera": run_ours, PROGRAMS: run_programs, "nnsmith": run_theirs}


# The table.


def show(found: Mapping[str, Mapping[str, Side]]) -> None:
    """A row for each compiler and side.

    The last columns: findings that a side shares with OPERA's extracted tests, by converter or operator, and kind; findings whose smallest
    program has several operators; failing tests that are wrong before the compiler.
    """
    rows = [row(name, side, each, sides.get("opera")) for name, sides in found.items() for side, each in sides.items()]
    print_table(["compiler", "side", "tests", "findings", "of frontends", "also opera's", "combinations", "not the compiler's"], rows)


def row(compiler: str, name: str, side: Side, ours: Side | None) -> list[str]:
    """One row of the table."""
    before = sum(each.tests for each in side.findings if each.exporter) + side.notes.get("wrong before the compiler", 0)
    shared = "-" if ours is None or ours is side else str(overlap(ours, side))
    combinations = str(sum(each.needed > 1 for each in side.findings)) if name == PROGRAMS else "-"
    return [compiler, name, f"{side.tests:,}", str(len(side.findings)), str(len(side.of_frontends)), shared, combinations, str(before)]


def overlap(ours: Side, theirs: Side) -> int:
    """How many findings of *theirs* *ours* has, by converter and kind, or by operator and kind."""
    converters = {each.by_converter for each in ours.of_frontends}
    operators = {each for finding in ours.of_frontends for each in finding.by_operator}
    return sum(each.by_converter in converters or bool(each.by_operator & operators) for each in theirs.of_frontends)


if __name__ == "__main__":
    main()
