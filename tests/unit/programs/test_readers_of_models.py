"""Models are read by modules that the driver starts by name."""

from __future__ import annotations

import re
from pathlib import Path

import opera.extensions.programs.cli
import opera.extensions.programs.templates

CLI, TEMPLATES = (Path(each.__path__[0]) for each in (opera.extensions.programs.cli, opera.extensions.programs.templates))
STARTED = re.compile(r'(?:read_by|_model)\((?:path, )?"(\w+)"')


def test_every_module_that_reads_models_exists() -> None:
    names = {name for file in CLI.glob("*.py") for name in STARTED.findall(file.read_text(encoding="utf-8"))}
    assert len(names) == 3
    assert {name for name in names if not (TEMPLATES / f"{name}.py").is_file()} == set()
