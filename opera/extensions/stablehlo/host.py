"""Records StableHLO programs: `.mlir` files of a folder."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opera.instrumentation.hosts import arguments


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("stablehlo-programs")
    parser.add_argument("--root", default="", help="folder of .mlir files, or one file")
    parser.add_argument(
        "--inputs", default="", help=".npz file beside the programs, with values for arg0, arg1 and so on, of programs without checks"
    )
    options = parser.parse_args(argv)
    recorder: Any = importlib.import_module("opera.extensions.stablehlo.templates.recorder")
    if not options.root:
        raise SystemExit("no folder was named; add --programs DIR, a folder of .mlir files")
    if not os.path.exists(options.root):
        raise SystemExit(f"{options.root} does not exist; name a folder of .mlir files with --programs DIR")
    filters = arguments.filters(options)
    entries = recorder.find(Path(options.root))
    chosen = [name for name in entries.names if filters.selected(name) and not filters.excluded(name)]
    recorder.record(options, list(arguments.select(chosen, options)), entries.root, filters)
