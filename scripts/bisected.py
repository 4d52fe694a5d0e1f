"""Writes what `opera bisect --json` says of recorded findings into their rows: the key `versions`.

python scripts/bisected.py FILE...
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
from recorded_findings import FOLDER, read, write


def main() -> None:
    """Puts the answers of each file into the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path in parser.parse_args().files:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for each in document["findings"]:
            subject, _, name = each["name"].partition("/")
            found[subject][name] = each["runs"]
    for subject, answers in found.items():
        table = read(FOLDER / f"{subject}.toml")
        for row in [each for each in table.findings if each.name in answers]:
            table.put(msgspec.structs.replace(row, versions=answers[row.name]))
        write(table)


if __name__ == "__main__":
    main()
