"""Tries an installation of OPERA: goes from an empty folder to a finding whose script shows it, by the commands that a user types.

python scripts/try_installation.py [--folder EMPTY]

The interpreter that runs this script must have `opera-dl[onnxruntime]`. The test of the wheel and the release workflow run this script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SUBJECT = ("--compiler", "onnxruntime", "--frontend", "onnx")
OPERATOR = "reducemax"
"""ONNX Runtime 1.31 refuses its ONNX node test of an empty tensor."""


def main() -> None:
    """Runs the commands; ends with an error if one fails, or if nothing is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="an empty folder; by default a temporary one")
    given: Path | None = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as temporary:
        folder = given or Path(temporary)
        if any(folder.iterdir()):
            sys.exit(f"{folder} is not empty")
        opera(folder, "extract", "--lib", "onnx", "--option", "inner=no")
        opera(folder, "run", *SUBJECT, "-k", OPERATOR, "--limit", "20", "--timeout", "60s", "--memory", "2G", "--exit-zero")
        opera(folder, "triage", "--budget", "5s")
        [finding, *_] = json.loads(opera(folder, "report", "--html", "report.html", "--json"))["findings"]
        opera(folder, "issue", finding["id"])
        opera(folder, "reproduce", finding["id"])


def opera(folder: Path, *arguments: str) -> str:
    """Prints a command, runs it in *folder*, and returns what it prints."""
    print("$ opera", *arguments, flush=True)
    done = subprocess.run([Path(sys.executable).with_name("opera"), *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    if done.returncode:
        sys.exit(f"opera {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
