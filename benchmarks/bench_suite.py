"""What the recorder costs a test suite: each file runs with and without it, in turn, under the same host.

python benchmarks/bench_suite.py --lib pytorch --suite CHECKOUT/test --file nn/test_convolution.py --file test_indexing.py --repeat 3

Of each file it prints how its tests ended both ways, which ended differently, calls seen, and distinct instances. Then come wall and CPU
seconds (medians of the repetitions), the ratios of the two, and calls per minute. CPU seconds include those of child processes. Wall
seconds mean something on an idle machine only. Arguments after `--` go to pytest.

With `--memory` it extracts the files into a workspace instead, and prints resident memory of the driver and of its hosts at ten moments
of the extraction, and calls per minute.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opera.config import load_config
from opera.extract.description import describe
from opera.extract.host import PINNED
from opera.extract.recording import Finished, RecordingReader, Seen, Tested
from opera.extract.source import DeclaredSource, FileSource, Request, find_files, select
from opera.workers.processes import resident

SAMPLE_SECONDS = 0.25
MOMENTS = 10


@dataclasses.dataclass
class Run:
    """One run of one file."""

    wall: float
    cpu: float
    outcomes: dict[str, str]
    calls: int
    distinct: int
    ended: str


@dataclasses.dataclass
class Figures:
    """What the runs of one file come to. *differing* maps a test to its outcomes without and with the recorder."""

    file: str
    plain: dict[str, int]
    watched: dict[str, int]
    differing: dict[str, list[str]]
    calls: int
    distinct: int
    plain_wall: float
    watched_wall: float
    plain_cpu: float
    watched_cpu: float
    wall_ratio: float
    cpu_ratio: float
    calls_per_minute: float
    ended: list[str]


def main() -> int:
    """Runs the files and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True, help="library")
    parser.add_argument("--source", default="suite", help="the source of the library that the suite belongs to")
    parser.add_argument("--suite", type=Path, help="folder of the suite; without it the installed package's")
    parser.add_argument("--file", action="append", required=True, help="path of a file within it (repeatable; a shell pattern)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each kind")
    parser.add_argument("--memory", action="store_true", help="memory of a whole extraction, not the cost of the recorder")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("arguments", nargs="*", metavar="-- PYTEST ARGUMENT")
    options = parser.parse_args()
    if options.memory:
        return memory(options)
    found = [bench(options, source, name, Path(folder)) for source, name, folder in places(options)]
    if options.json:
        print(json.dumps({"schema": "bench-suite/1", "repeat": options.repeat, "files": [dataclasses.asdict(each) for each in found]}))
    return 1 if any(each.differing or any(each.ended) for each in found) else 0


def memory(options: argparse.Namespace) -> int:
    """Prints what an extraction occupies while it runs; its exit code."""
    command = [sys.executable, "-m", "opera.extract", "--lib", options.lib, "-q", "--json", "-j", "1"]
    command += ["--suite", str(options.suite.resolve())] if options.suite else ["--source", options.source]
    command += [f"--only={pattern}" for pattern in options.file]
    samples: list[tuple[float, int, int]] = []
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "out.json").open("w+") as out:
        began = time.monotonic()
        process = subprocess.Popen([*command, "--workspace", folder, "--", *options.arguments], stdout=out, stdin=subprocess.DEVNULL)
        while process.poll() is None:
            driver, whole = own(process.pid), resident(process.pid)
            samples.append((time.monotonic() - began, driver, max(0, whole - driver)))
            time.sleep(SAMPLE_SECONDS)
        out.seek(0)
        found = json.loads(out.read() or "{}")
    seconds = samples[-1][0]
    calls = sum(source["calls"] for source in found.get("sources", {}).values())
    moments = [samples[(len(samples) - 1) * moment // MOMENTS] for moment in range(1, MOMENTS + 1)]
    if options.json:
        rows = [{"seconds": at, "driver_bytes": driver, "host_bytes": hosts} for at, driver, hosts in moments]
        print(json.dumps({"schema": "bench-suite-memory/1", "calls": calls, "seconds": seconds, "moments": rows}))
        return process.returncode
    print(f"{calls:,} calls, {found.get('instances', 0):,} instances, {seconds:.0f} s, {60 * calls / seconds:,.0f} calls a minute")
    print("seconds  driver MiB  hosts MiB")
    for at, driver, hosts in moments:
        print(f"{at:7.0f}  {driver >> 20:10,}  {hosts >> 20:9,}")
    return process.returncode


def own(pid: int) -> int:
    """Resident bytes of one process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def places(options: argparse.Namespace) -> Any:
    """Each file with the source that runs it and a folder for what it leaves behind."""
    python = load_config().python("library", options.lib)
    (base,) = select(describe(options.lib), [options.source])
    assert isinstance(base, DeclaredSource)
    suite = base.description.suite
    if suite is None:
        raise SystemExit(f"{options.source} is no suite")
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            python=python, recording=Path(folder) / "r.jsonl", scratch=Path(folder), only=tuple(options.file),
            suite=options.suite, arguments=tuple(options.arguments),
        )  # fmt: skip
        files = find_files(base, suite, request)
        for number, name in enumerate(files.names):
            if not any(fnmatchcase(name, pattern) for pattern in options.file):
                continue  # the same name in another folder
            part = dataclasses.replace(request, shard=number, shards=len(files.names))
            yield (FileSource(base, suite, files), part), name, folder


def bench(options: argparse.Namespace, how: tuple[FileSource, Request], name: str, folder: Path) -> Figures:
    """The figures of one file."""
    source, request = how
    plain: list[Run] = []
    watched: list[Run] = []
    for _ in range(options.repeat):
        plain.append(run(source, request, folder, unwatched=True))
        watched.append(run(source, request, folder, unwatched=False))
    figures = compare(name, plain, watched)
    if not options.json:
        show(figures)
    return figures


def run(source: FileSource, request: Request, folder: Path, *, unwatched: bool) -> Run:
    """Runs a file once."""
    command = source.command(request)
    at = command.index("--")
    command = [*command[:at], *(["--unwatched"] if unwatched else []), *command[at:]]
    environment = {**os.environ, **PINNED, **source.environment(request)}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        before, began = os.times(), time.monotonic()
        done = subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        wall, after = time.monotonic() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    outcomes: dict[str, str] = {}
    calls = distinct = 0
    reader = RecordingReader(request.recording)
    while (line := reader.next()) is not None:
        distinct += isinstance(line, Seen)
        if isinstance(line, Tested):
            outcomes[line.test] = line.outcome
        elif isinstance(line, Finished):
            calls = sum(line.calls.values())
    reader.close()
    ended = "" if reader.complete else f"exit code {done.returncode}: {done.stdout[-300:].decode(errors='replace')}"
    return Run(wall, cpu, outcomes, calls, distinct, ended)


def compare(name: str, plain: Sequence[Run], watched: Sequence[Run]) -> Figures:
    """Medians; a test differs where the outcomes that it had without the recorder and with it are not the same set."""
    both = {test for each in (*plain, *watched) for test in each.outcomes}
    differing: dict[str, list[str]] = {}
    for test in sorted(both):
        without, within = ({each.outcomes.get(test, "not run") for each in runs} for runs in (plain, watched))
        if without != within:
            differing[test] = ["/".join(sorted(without)), "/".join(sorted(within))]
    walls = [statistics.median(each.wall for each in runs) for runs in (plain, watched)]
    cpus = [statistics.median(each.cpu for each in runs) for runs in (plain, watched)]
    last = watched[-1]
    return Figures(
        file=name,
        plain=dict(Counter(plain[-1].outcomes.values()).most_common()), watched=dict(Counter(last.outcomes.values()).most_common()),
        differing=differing, calls=last.calls, distinct=last.distinct,
        plain_wall=walls[0], watched_wall=walls[1], plain_cpu=cpus[0], watched_cpu=cpus[1],
        wall_ratio=walls[1] / walls[0], cpu_ratio=cpus[1] / cpus[0], calls_per_minute=60 * last.calls / walls[1],
        ended=[each.ended for each in (*plain, *watched) if each.ended],
    )  # fmt: skip


def show(figures: Figures) -> None:
    """Prints one file's figures."""
    print(f"{figures.file}: {figures.calls:,} calls, {figures.distinct:,} distinct, {figures.calls_per_minute:,.0f} calls a minute")
    for title, outcomes in (("without", figures.plain), ("with", figures.watched)):
        print(f"  {title:8} {', '.join(f'{count:,} {outcome}' for outcome, count in outcomes.items()) or 'no test'}")
    print(f"  wall {figures.plain_wall:.1f} -> {figures.watched_wall:.1f} s, ratio {figures.wall_ratio:.2f};", end=" ")
    print(f"CPU {figures.plain_cpu:.1f} -> {figures.watched_cpu:.1f} s, ratio {figures.cpu_ratio:.2f}", flush=True)
    for test, (without, within) in figures.differing.items():
        print(f"  differs: {test}: {without} without, {within} with the recorder")
    for ended in figures.ended:
        print(f"  did not come to its end: {ended}")


if __name__ == "__main__":
    sys.exit(main())
