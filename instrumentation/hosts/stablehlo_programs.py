"""Records self-checking StableHLO programs: `.mlir` files of a folder.

Reading them is the work of OPERA itself, which needs nothing but numpy, ml_dtypes and jaxlib here: the package is loaded from the folder
that this file was loaded from, wherever the interpreter would look for it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, Sequence

from . import arguments


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("stablehlo-programs")
    parser.add_argument("--root", default="", help="folder of .mlir files, or one file")
    options = parser.parse_args(argv)
    recorder: Any = _recorder()
    if not options.root:
        raise SystemExit("no folder was named; add --programs DIR, a folder of .mlir files")
    if not os.path.exists(options.root):
        raise SystemExit(f"{options.root} does not exist; name a folder of .mlir files with --programs DIR")
    filters = arguments.filters(options)
    entries = recorder.find(Path(options.root))
    chosen = [name for name in entries.names if filters.selected(name) and not filters.excluded(name)]
    recorder.record(options, list(arguments.select(chosen, options)), entries.root, filters)


def _recorder() -> Any:
    """The module of OPERA that does the work."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if "opera" not in sys.modules:
        spec = importlib.util.spec_from_file_location("opera", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {folder}")
        module = importlib.util.module_from_spec(spec)
        sys.modules["opera"] = module
        spec.loader.exec_module(module)
    return importlib.import_module("opera.templates.stablehlo_recorder")
