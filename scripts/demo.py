"""`make demo`: real tests of ONNX through four compilers, in two minutes: ten findings, three scripts that show one, an HTML report.

It types the commands that a user would type, a slice of a campaign for each compiler, and says in a line what each gave. What failed on
the other compilers, in recorded campaigns, comes first. It ends with 0 though it finds bugs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from opera import Pipeline
from opera.calls import call_text
from opera.console import one_line, plural
from opera.oracles.verdict import Verdict
from opera.report import details
from opera.triage.findings import Finding

CAMPAIGNS = Path(__file__).parents[1] / "data" / "campaigns"
SLICES = {
    "onnxruntime": "--budget 7s",
    "openvino": "--budget 22s --input-form baked",
    "tvm": "--budget 26s --input-form baked",
    "iree": "--budget 30s --maxfail 2 -k 'castlike or unique'",
}
"""The compilers, those that answer fastest first, and the slice that each gets. Models of constants reach more of what they convert; IREE
takes a second for a model, so it gets two operators, and stops after two findings."""
ELSEWHERE = {"openvino": "tvm", "tvm": "openvino"}
"""The compiler whose recorded failures come first."""
EXTRACT = "extract --lib onnx --option inner=no"
LONGER = [
    EXTRACT,
    *(f"run --compiler {compiler} --frontend onnx --exit-zero" for compiler in ("onnxruntime", "openvino", "tvm")),
    "extract --lib pytorch --source opinfo --source moduleinfo --option dtypes=float32,float64,int64,bool --option variants=",
    "run --compiler tvm --frontend pytorch --limit 150 --exit-zero",
    "run --compiler openvino --frontend pytorch --limit 60 --exit-zero",
    "run --compiler inductor --frontend pytorch --limit 12 --exit-zero",
    "triage --compiler openvino --frontend onnx --budget 5s",
    "report",
]
"""The steps of the longer tour, whose output is shown as it is."""
REDUCED = ("openvino", 2)
"""Findings that are reduced: those of the compiler that answers fastest."""
SHOWN, SCRIPTS = 10, 3
BROKEN_ENVIRONMENT = 3


class Steps:
    """Runs `opera` commands on one workspace, each in one line of the terminal."""

    def __init__(self, workspace: Path, jobs: int) -> None:
        self._workspace, self._jobs = workspace, jobs

    def run(self, command: str, *hidden: str) -> dict[str, Any] | None:
        """What *command* gives as JSON; None if it failed, after a line that says why. *hidden* arguments are not in the line."""
        line = f"$ opera {command}"
        if sys.stdout.isatty():
            print(one_line(f"{line} …", _width()), end="\r", flush=True)
        began = time.monotonic()
        jobs = ["--jobs", str(self._jobs)] if command.startswith(("run", "extract", "triage")) else []
        words = [sys.executable, "-m", "opera", *shlex.split(command), *hidden, *jobs, "--json", "--workspace", str(self._workspace)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        found = _document(done.stdout)
        seconds = f"{time.monotonic() - began:3.0f} s"
        print(f"{one_line(line, _width() - len(seconds) - 2):<{_width() - len(seconds)}}{seconds}", flush=True)
        if found is None:
            said = done.stderr.strip() or f"exit code {done.returncode}"
            print(f"  {one_line(said.splitlines()[0], _width() - 2)}")
        return found


def _document(text: str) -> dict[str, Any] | None:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, 100)


def demo(workspace: Path, jobs: int, record: Path | None = None) -> int:
    """The two minutes. Returns 0, or the exit code of a broken environment if no compiler works; adds a line of figures to *record*."""
    began = time.monotonic()
    steps = Steps(workspace, jobs)
    extracted = steps.run(EXTRACT)
    if extracted is None:
        return BROKEN_ENVIRONMENT
    ran = {
        compiler: steps.run(f"run --compiler {compiler} --frontend onnx {chosen}", "--exit-zero", *history(compiler))
        for compiler, chosen in SLICES.items()
    }
    tests = sum(each["executed"] for each in ran.values() if each is not None)
    if not tests:
        print("No compiler works here; `opera doctor` says why.")
        return BROKEN_ENVIRONMENT
    compiler, count = REDUCED
    if ran[compiler] is not None:
        steps.run(f"triage --compiler {compiler} --limit {count} --budget 1s", "--no-arbiters", "--causes", "1")
    pipeline = Pipeline(workspace)
    found = pipeline.findings()
    subjects = {each.compiler for each in found if not each.is_elsewhere}
    print(f"\n{plural(len(found), 'finding')} of {plural(len(subjects), 'compiler')} in {tests:,} tests: {details.counted(found)}.")
    shown = list(telling(found))[:SHOWN]
    for finding in shown:
        call = call_text(finding.reduced or pipeline.instance(finding.representative.instance), width=float("inf"))
        print()
        print(one_line(f"{finding.id[:8]}  {finding.compiler}  {details.title(finding)}", _width()))
        for text in (call.replace("ai.onnx.", ""), details.seen(finding)):
            print(f"  {one_line(text, _width() - 2)}")
    print()
    for finding in sorted(shown, key=lambda each: list(SLICES).index(each.compiler))[:SCRIPTS]:
        script = steps.run(f"reproduce {finding.id[:8]}")
        if script is not None:
            print(f"  {'fails as it says' if script['reproduced'] else 'shows no failure'}: {os.path.relpath(script['script'])}")
    page = workspace / "report.html"
    steps.run(f"report --html {page}")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, processor = time.monotonic() - began, spent.ru_utime + spent.ru_stime
    print(f"\n{seconds:.0f} s, {processor:.0f} s of CPU. All findings: {page}")
    print("What next? `make tour` takes longer; docs/tutorial.md explains each step.")
    if record is not None:
        row = {"seconds": seconds, "cpu_seconds": processor, "tests": tests, "findings": len(found), "compilers": sorted(subjects)}
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return 0


def history(compiler: str) -> list[str]:
    """The option that names a recorded campaign of another compiler."""
    other = ELSEWHERE.get(compiler)
    return [] if other is None else ["--history", str(CAMPAIGNS / f"{other}-onnx.jsonl.gz")]


def telling(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Silent wrong results first, those of known condition before others, small calls before large ones; compilers take turns."""
    queues: dict[tuple[bool, str], list[Finding]] = {}
    for each in sorted(findings, key=lambda each: (each.condition is None, each.reduced is None, -len(each.tests))):
        if each.has_script and not each.is_elsewhere:
            queues.setdefault((each.verdict is not Verdict.INCONSISTENT, each.compiler), []).append(each)
    for is_loud in (False, True):
        turns: list[Sequence[Finding]] = [queue for (loud, _), queue in queues.items() if loud is is_loud]
        operators: set[str] = set()
        for each in (each for turn in zip_longest(*turns) for each in turn if each is not None):
            if details.operator_of(each) not in operators:
                operators.add(details.operator_of(each))
                yield each


def tour(workspace: Path, jobs: int) -> int:
    """Whole campaigns, with everything that the commands print. Returns the exit code of the first that fails."""
    for step in (*LONGER, f"report --html {workspace / 'report.html'}"):
        several = ["--jobs", str(jobs)] if step.startswith(("run", "extract", "triage")) else []
        words = [*step.split(), *several, "--workspace", str(workspace)]
        print(f"\n$ opera {' '.join(words)}", flush=True)
        code = subprocess.run([sys.executable, "-m", "opera", *words], check=False).returncode
        if code == BROKEN_ENVIRONMENT and "inductor" in step:
            print("Inductor needs a C++ compiler, which this machine lacks; the tour goes on without it.")
        elif code:
            return code
    return 0


def main() -> int:
    """Runs the demo or the tour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="busy child processes")
    parser.add_argument("--workspace", type=Path, default=Path(".opera-demo"))
    parser.add_argument("--tour", action="store_true", help="whole campaigns of two libraries, in about a quarter of an hour")
    parser.add_argument("--record", type=Path, metavar="FILE", help="add seconds, findings and compilers of the demo to this file, as JSON")
    arguments = parser.parse_args()
    try:
        if arguments.tour:
            return tour(arguments.workspace, arguments.jobs)
        return demo(arguments.workspace, arguments.jobs, arguments.record)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on; `opera report --workspace "
              f"{arguments.workspace}` lists what was found so far.")  # fmt: skip
        return 130


if __name__ == "__main__":
    sys.exit(main())
