"""Measures OpiDiff suites: validation, export, the share of the harness, and how well latencies repeat.

python benchmarks/bench_opidiff.py validate
python benchmarks/bench_opidiff.py export WORKSPACE [--limit N]
python benchmarks/bench_opidiff.py run FOLDER [--tests N] [--backend NAME]
python benchmarks/bench_opidiff.py latency FOLDER [--backend NAME]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from opera.corpus.selection import Selection, choose
from opera.extensions.opidiff.export import Form, export
from opera.extensions.opidiff.suite import load_suite
from opera.store import Corpus
from opera.store.database import open_workspace

TESTS = 10_000
_ROUNDS = 5
_OPERATORS = ("exp", "sin", "abs", "neg", "tanh", "sigmoid", "relu", "floor")


def main() -> None:
    """Prints the figures of one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True, dest="part")
    parts.add_parser("validate")
    writing = parts.add_parser("export")
    writing.add_argument("workspace", type=Path)
    writing.add_argument("--limit", type=int, default=TESTS)
    for name in ("run", "latency"):
        part = parts.add_parser(name)
        part.add_argument("folder", type=Path, help="a new folder")
        part.add_argument("--tests", type=int, default=1_000 if name == "run" else 16)
        part.add_argument("--backend", default="onnxruntime")
    arguments = parser.parse_args()
    match arguments.part:
        case "validate":
            validate()
        case "export":
            write(arguments.workspace, arguments.limit)
        case "run":
            share(arguments.folder, arguments.tests, arguments.backend)
        case _:
            latency(arguments.folder, arguments.tests, arguments.backend)


def validate() -> None:
    """Seconds to check 10,000 tests that come from templates, and the same tests written out, next to libyaml's own `compose`."""
    with tempfile.TemporaryDirectory() as folder:
        templates, plain = Path(folder) / "templates.yaml", Path(folder) / "plain.yaml"
        head = "dims: {B: 2}\npresets:\n  x: {type: tensor, shape: [B, 8], dtype: float32, init: normal}\ntests:\n"
        module = "type: template_module, path: torch.nn.Linear, vars: {size: [8], out: [%s]}, args: [{var: size}, {var: out}]"
        outs = [range(start, start + 100) for start in range(1, TESTS, 100)]
        items = (f"  - {{id: t{i}, op: {{{module % ', '.join(map(str, out))}}}, in: [{{ref: x}}]}}\n" for i, out in enumerate(outs))
        templates.write_text(head + "".join(items))
        cases = ((i, out) for i, each in enumerate(outs) for out in each)
        tensor = "{type: tensor, shape: [B, 8], dtype: float32, init: normal}"
        plain.write_text(
            head
            + "".join(
                f"  - id: t{i}__out={out}__size=8\n    op: {{type: module, path: torch.nn.Linear, args: [8, {out}]}}\n    in: [{tensor}]\n"
                for i, out in cases
            )
        )
        print(f"templates: {_median(lambda: load_suite([templates])):.2f} s for {len(load_suite([templates]).tests):,} tests")
        text = plain.read_text()
        composed = _median(lambda: yaml.compose(text, yaml.CSafeLoader))
        checked = _median(lambda: load_suite([plain]))
        print(f"written out: {checked:.2f} s, compose {composed:.2f} s: {checked / composed:.2f} times as long")


def write(workspace: Path, limit: int) -> None:
    """Seconds to export, and how many instances come back in which form."""
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        for source in ("opinfo", "moduleinfo"):
            rows = choose(space, Selection("pytorch", source))
            rows = random.Random(0).sample(rows, min(limit, len(rows)))
            start = time.perf_counter()
            found = export(corpus.get(each.id) for each in rows)
            seconds = time.perf_counter() - start
            count = sum(found.forms.values())
            plain = found.forms[Form.PLAIN.value]
            helped = f"{1 - plain / max(count, 1):.1%} of the written tests need the companion"
            back = f"{count / len(rows):.2%} come back, {plain / len(rows):.1%} in plain form; {helped}"
            print(f"{source}: {len(rows):,} instances in {seconds:.1f} s; {back}")
            for reason, number in found.left_out.most_common():
                print(f"  left out: {number:,}: {reason}")


def share(folder: Path, tests: int, backend: str) -> None:
    """The processor time of the command itself, without its workers, in a run of many tests."""
    suite = _suite(folder, tests, 16)
    start = time.perf_counter()
    with subprocess.Popen(_command(suite, folder / "ws", backend, "--json"), stdout=subprocess.PIPE, text=True) as command:
        own = 0.0
        with ThreadPoolExecutor() as reader:
            answer = reader.submit(command.communicate)
            while not answer.done():
                own = _processor_time(command.pid) or own
                time.sleep(0.1)
        results = json.loads(answer.result()[0])["results"]
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    everything = used.ru_utime + used.ru_stime
    print(f"{len(results):,} tests in {seconds:.0f} s, {sum(each['verdict'] == 'pass' for each in results):,} pass")
    print(f"processor time: {own:.0f} s of the command, {everything:.0f} s with its workers: {own / everything:.1%}")
    start = time.perf_counter()
    _run(suite, folder / "ws", backend, "--json")
    print(f"the same command again, when all is done: {time.perf_counter() - start:.1f} s")


def latency(folder: Path, tests: int, backend: str) -> None:
    """How far the ratios of two measurements are apart."""
    suite = _suite(folder, tests, 256)
    ratios: list[dict[str, float]] = []
    for number in range(2):
        file = folder / f"{number}.csv"
        _run(suite, folder / f"ws{number}", backend, "--repeats", "50", "--csv", str(file))
        with file.open() as opened:
            ratios.append({row["id"]: float(row["ratio"]) for row in csv.DictReader(opened) if row["ratio"]})
    apart = [abs(ratios[0][name] / ratios[1][name] - 1) for name in ratios[0]]
    print(f"{len(apart)} ratios; two measurements differ by {statistics.median(apart):.0%} (median), {max(apart):.0%} at most")


def _suite(folder: Path, tests: int, size: int) -> Path:
    folder.mkdir(parents=True)
    path = folder / "suite.yaml"
    items = (
        f"  - {{id: t{i}, op: 'aten::{_OPERATORS[i % len(_OPERATORS)]}',"
        f" in: [{{type: tensor, shape: [{size}, {size + i}], kind: float}}]}}\n"
        for i in range(tests)
    )
    path.write_text("tests:\n" + "".join(items))
    return path


def _run(suite: Path, workspace: Path, backend: str, *arguments: str) -> str:
    return subprocess.run(_command(suite, workspace, backend, *arguments), check=True, capture_output=True, text=True).stdout


def _command(suite: Path, workspace: Path, backend: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-m", "opera", "opidiff", "run", str(suite), "--backend", backend, "--workspace", str(workspace), "-q"]
    return [*command, "--exit-zero", *arguments]


def _processor_time(process: int) -> float | None:
    """Seconds that a running process, without its children, has used; None where it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _median(work: object) -> float:
    assert callable(work)
    times: list[float] = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
