"""`make demo`: real instances of two libraries, four compilers, real findings, some of them reduced, one HTML report, in a few minutes.

Runs the commands that a user would type, prints each before it runs, and ends with exit 0 though it finds bugs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from opera import Pipeline

BROKEN_ENVIRONMENT = 3
STEPS = [
    "extract --lib onnx --option inner=no",
    "prioritize --compiler tvm --frontend onnx --show 5",
    "run --compiler onnxruntime --frontend onnx --exit-zero",
    "run --compiler openvino --frontend onnx --exit-zero",
    "run --compiler tvm --frontend onnx --exit-zero",
    "extract --lib pytorch --source opinfo --source moduleinfo --option dtypes=float32,float64,int64,bool --option variants=",
    "run --compiler tvm --frontend pytorch --limit 150 --exit-zero",
    "run --compiler openvino --frontend pytorch --limit 60 --exit-zero",
    "run --compiler inductor --frontend pytorch --limit 12 --exit-zero",
    "triage --compiler openvino --frontend onnx --budget 5s",
]
SHOWN = 3
"""Findings whose reproducers are written and run."""


def main() -> int:
    """Runs the steps; returns the exit code of the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="busy child processes")
    parser.add_argument("--workspace", type=Path, default=Path(".opera-demo"))
    arguments = parser.parse_args()
    opera = Path(sys.executable).with_name("opera")
    report = arguments.workspace / "report.html"
    started = time.monotonic()
    for step in chain(STEPS, reproductions(arguments.workspace), ("report", f"report --html {report}")):
        jobs = f" --jobs {arguments.jobs}" if step.startswith(("run", "extract", "triage")) else ""
        line = f"{step}{jobs} --workspace {arguments.workspace}"
        print(f"\n$ opera {line}", flush=True)
        code = subprocess.run([str(opera), *line.split()], check=False).returncode
        if code == BROKEN_ENVIRONMENT and "inductor" in step:
            print("Inductor needs a C++ compiler, which this machine lacks; the demo goes on without it.")
        elif code and not step.startswith("reproduce"):
            return code
    print(f"\nThe demo took {time.monotonic() - started:.0f} s. Open {report} in a browser, or reproduce findings with the commands above.")
    return 0


def reproductions(workspace: Path) -> Iterator[str]:
    """Commands that reproduce the findings that were reduced, the most frequent first; asked for when the campaigns are over."""
    reduced = [finding for finding in Pipeline(workspace).findings() if finding.reduced is not None]
    for finding in sorted(reduced, key=lambda each: -len(each.tests))[:SHOWN]:
        yield f"reproduce {finding.id[:8]}"


if __name__ == "__main__":
    sys.exit(main())
