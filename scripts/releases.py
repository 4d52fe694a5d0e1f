"""Writes `data/facts/releases.toml`: the releases of each compiler, with date and size, as the package index has them.

python scripts/releases.py [--index https://pypi.org/simple]

A row names what a release of a compiler consists of. The rows of other requirements (`needs`) are written by hand, and stay.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

FILE = Path(__file__).parents[1] / "data" / "facts" / "releases.toml"
_JSON = "application/vnd.pypi.simple.v1+json"
_PYTHONS = ("cp311", "py3")
_PLATFORM = "x86_64"
_TIMEOUT = 60.0


def main() -> None:
    """Asks the index about every package of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", default="https://pypi.org/simple", help="an index that answers in JSON (PEP 691 and 700)")
    index = parser.parse_args().index
    text = FILE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("#")]
    for name, compiler in tomllib.loads(text).items():
        first = Version(compiler["first"])
        found = dict(releases(index, compiler["package"]))
        rows = sorted((version for version in found if version >= first), reverse=True)
        lines += [
            "",
            f"[{json.dumps(name) if '.' in name else name}]",
            *(f"{key} = {_value(compiler[key])}" for key in compiler if key != "releases"),
            "releases = [",
        ]
        lines += [f'    {{version = "{each}", date = {found[each][0]}, megabytes = {found[each][1]}}},' for each in rows]
        lines += ["]"]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def releases(index: str, package: str) -> Iterator[tuple[Version, tuple[str, int]]]:
    """Version, date and megabytes of each final release of *package* that has a wheel for Python 3.11 on Linux."""
    request = urllib.request.Request(f"{index}/{package}/", headers={"Accept": _JSON})
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
        files: list[dict[str, Any]] = json.load(answer)["files"]
    for each in files:
        try:
            _, version, _, tags = parse_wheel_filename(each["filename"])
        except InvalidWheelFilename:
            continue
        fits = any(
            tag.interpreter in _PYTHONS and (tag.platform == "any" or ("linux" in tag.platform and tag.platform.endswith(_PLATFORM)))
            for tag in tags
        )
        if fits and not version.is_prerelease and not each.get("yanked"):
            yield version, (each["upload-time"][:10], round(each["size"] / 1e6))


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(key)} = {_value(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


if __name__ == "__main__":
    main()
