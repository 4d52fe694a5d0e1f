"""Models are read by modules that the driver starts by name."""

from __future__ import annotations

from pathlib import Path

import opera.extensions.programs.templates
from opera.extensions.programs.cli.readers import INSTANCES, READERS

TEMPLATES = Path(opera.extensions.programs.templates.__path__[0])


def test_every_module_that_reads_models_exists() -> None:
    names = {each.module for each in (INSTANCES, *READERS.values())}
    assert {name for name in names if not (TEMPLATES / f"{name}.py").is_file()} == set()
