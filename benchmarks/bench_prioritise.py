"""Seconds and memory of every strategy on generated corpora, and the cost of a corpus that grows.

    python benchmarks/bench_prioritise.py                         all strategies at 1,000, 10,000 and 100,000 instances
    python benchmarks/bench_prioritise.py opera --sizes 10000 100000
    python benchmarks/bench_prioritise.py --picture growth.png    draws the curve (needs matplotlib)
    python benchmarks/bench_prioritise.py --workspace             seconds of `opera prioritize` on a workspace

Each measurement has a process of its own, on one core. Corpora have one operator for 200 instances (`--operators` for another number),
with 2 to 9 parameters: tensors of drawn shapes and dtypes, integers, booleans, strings, lists, None and mixed types.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from opera.compilers.registry import choose_route, plugin
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor
from opera.prioritize import Candidate, Context, get_strategy, strategy_names
from opera.prioritize.feature_coverage import Ranker
from opera.prioritize.ranking import rank
from opera.store import Corpus
from opera.store.database import open_workspace

SIZES = (1_000, 10_000, 100_000)
MEASURED = [name for name in strategy_names() if name not in ("opera-adaptive", "total", "additional")]
DTYPES = ("float32", "float64", "float16", "int64", "int32", "bool", "complex64")
NAMES = ("input", "other", "dim", "keepdim", "size", "stride", "padding", "mode", "alpha", "dtype", "weight", "bias", "groups", "scale")


def main() -> None:
    """Measures what is named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", metavar="STRATEGY", help="by default all but those that need coverage")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--operators", type=int, default=0, help="number of operators; by default one for 200 instances")
    parser.add_argument("--limit", type=float, default=120.0, help="a strategy that took longer is not measured at larger sizes")
    parser.add_argument("--workspace", action="store_true", help="measure ranking the instances of a workspace")
    parser.add_argument("--picture", type=Path, help="write the growth curve to this file")
    arguments = parser.parse_args()
    names = arguments.strategies or MEASURED
    if arguments.strategies[:1] == ["_measure"]:
        name, size, operators = arguments.strategies[1], arguments.sizes[0], arguments.operators
        print(json.dumps(stored(size, operators) if name == "_workspace" else measure(name, size, operators)))
        return
    if arguments.workspace:
        for size in arguments.sizes:
            found = _in_a_process("_workspace", size, arguments.operators)
            print(f"workspace of {size:>8,}: {found:.2f} s   [benchmarks/bench_prioritise.py --workspace --sizes {size}]", flush=True)
        return
    curves: dict[str, list[tuple[int, float]]] = {name: [] for name in names}
    for name in names:
        for size in arguments.sizes:
            found = _in_a_process(name, size, arguments.operators)
            curves[name].append((size, found["seconds"]))
            times = f"{found['seconds']:8.2f} s, first after {found['first']:.2f} s, {found['megabytes']:,.0f} MB above the corpus"
            extra = f", 1% more: {found['again']:.2f} s" if "again" in found else ""
            print(f"{name:14} {size:>8,} instances: {times}{extra}   [benchmarks/bench_prioritise.py {name} --sizes {size}]", flush=True)
            if found["seconds"] > arguments.limit:
                break
    if arguments.picture:
        draw(curves, arguments.picture)


def measure(name: str, size: int, operators: int) -> dict[str, float]:
    """Seconds to the first and the last rank, memory in addition to the corpus, and seconds after 1% more instances."""
    candidates = corpus(size, operators or max(1, size // 200))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    ranking = get_strategy(name).rank(candidates, Context())
    next(ranking)
    first = time.perf_counter() - started
    assert 1 + sum(1 for _ in ranking) == size
    seconds = time.perf_counter() - started
    found = {"seconds": seconds, "first": first, "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}
    if name == "opera":
        ranker = Ranker(candidates[: -max(1, size // 100)])
        list(ranker.rank(Context()))
        started = time.perf_counter()
        ranker.add(candidates[-max(1, size // 100) :])
        list(ranker.rank(Context()))
        found["again"] = time.perf_counter() - started
    return found


def stored(size: int, operators: int) -> float:
    """Seconds to rank a workspace of *size* instances."""
    route = choose_route(plugin("tvm").load(), "pytorch", None)
    with tempfile.TemporaryDirectory() as folder, open_workspace(Path(folder), write=True) as space:
        store = Corpus(space)
        store.add((each.instance, Occurrence("bench", "drawn")) for each in corpus(size, operators or max(1, size // 200)))
        started = time.perf_counter()
        rank(store, "tvm", route, "opera", 0)
        return time.perf_counter() - started


def corpus(size: int, operators: int) -> list[Candidate]:
    """Drawn instances, the same for the same numbers."""
    draw = random.Random(0)
    takes = [draw.sample(NAMES, draw.randint(2, 9)) for _ in range(operators)]
    found: list[Candidate] = []
    for number in range(size):
        operator = number % operators
        arguments = tuple(Argument(name, _value(name, draw)) for name in takes[operator] if name == "input" or draw.random() < 0.9)
        defaults = (("dim", None), ("keepdim", False), ("alpha", 1.0), ("mode", "mean"))
        instance = Instance("pytorch", f"torch.op{operator}", Kind.FUNCTION, call=arguments, defaults=defaults)
        found.append(Candidate(f"{draw.getrandbits(128):032x}", instance))
    return found


def _value(name: str, draw: random.Random) -> Any:
    if name in ("input", "other", "weight", "bias"):
        return Tensor(tuple(draw.randint(0, 6) for _ in range(draw.randint(0, 5))), draw.choice(DTYPES))
    if name in ("size", "stride", "padding"):
        return draw.choice([draw.randint(0, 5), [draw.randint(0, 5) for _ in range(draw.randint(1, 4))]])
    if name in ("dim", "groups"):
        return draw.choice([None, draw.randint(-4, 4)])
    return draw.choice([True, False, draw.uniform(-2, 2), draw.choice(["mean", "sum", "none"])])


def _in_a_process(name: str, size: int, operators: int) -> dict[str, float]:
    command = [sys.executable, __file__, "_measure", name, "--sizes", str(size), "--operators", str(operators)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def draw(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    """Seconds by instances, both in logarithms."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(6, 4), layout="constrained")).subplots()
    for name, points in curves.items():
        axes.loglog(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xlabel="operator instances", ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
