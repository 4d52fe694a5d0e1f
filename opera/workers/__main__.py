"""Entry of a worker process: `python <folder>/opera/workers/__main__.py READ_FD WRITE_FD STAGE_FD`.

Makes the `opera` package importable from the folder that this file lies in, and nothing else of the environment that the driver
runs in: the interpreter may belong to another virtual environment.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def _adopt_package() -> None:
    home = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != home]
    if "opera" in sys.modules:
        return
    root = home.parent
    spec = importlib.util.spec_from_file_location("opera", root / "__init__.py", submodule_search_locations=[str(root)])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["opera"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _adopt_package()
    from opera.workers.child import serve

    serve(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
