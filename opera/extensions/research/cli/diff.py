"""`opera diff A B`: compares two corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import LIBRARY
from opera.cli.options import Count, common
from opera.console import echo, one_line, plural, print_json, print_table, say
from opera.corpus.selection import selector
from opera.errors import Exit, NothingSelected
from opera.extensions.research.corpora import Change, CorpusSide, LibraryDifference, compare, read_side
from opera.untrusted import JsonObject

SCHEMA = "diff/1"
_PRINTED = 20


@click.command("diff", cls=HeadedCommand)
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", help="Select only instances of this library.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--limit", type=Count(0), metavar="N", default=20, show_default=True, help="Print at most N rows of each list.")
@common
def command(a: Path, b: Path, library: str | None, keyword: str | None, limit: int, as_json: bool) -> int:
    """Compare two corpora: the operators and instances that B adds, lacks or shares.

    A and B are workspace folders or corpus files. After an upgrade of a library, extract into a new workspace and compare it with the
    old one. The exit code does not depend on the differences.
    """
    matches = selector(keyword)

    def wanted(name: str, api: str) -> bool:
        return library in (None, name) and matches(api)

    sides = read_side(a, wanted), read_side(b, wanted)
    _complain(sides)
    differences = compare(*sides)
    if not differences:
        raise NothingSelected("neither side has a selected instance; check --lib and -k")
    if as_json:
        print_json(_document(sides, differences))
    else:
        _print(sides, differences, limit)
    return Exit.CLEAN


def _complain(sides: tuple[CorpusSide, CorpusSide]) -> None:
    for side in sides:
        for problem in side.problems[:_PRINTED]:
            say(one_line(problem.text, 400))
        if len(side.problems) > _PRINTED:
            say(f"… {len(side.problems) - _PRINTED:,} more problems in {side.path}")


def _document(sides: tuple[CorpusSide, CorpusSide], differences: Sequence[LibraryDifference]) -> JsonObject:
    return {
        "schema": SCHEMA,
        "a": _side(sides[0]),
        "b": _side(sides[1]),
        "libraries": [
            {
                "library": each.library,
                "operators": {"new": len(each.new), "gone": len(each.gone), "common": len(each.common)},
                "instances": dict(zip(("new", "gone", "common"), each.instances, strict=True)),
                "new": [{"api": row.api, "instances": row.b} for row in each.new],
                "gone": [{"api": row.api, "instances": row.a} for row in each.gone],
                "changed": [asdict(row) for row in _changed(each)],
                "defaults": [asdict(row) for row in each.defaults],
            }
            for each in differences
        ],
    }


def _side(side: CorpusSide) -> JsonObject:
    versions = [{"library": library, "source": source, "version": version} for (library, source), version in sorted(side.versions.items())]
    return {
        "path": str(side.path),
        "instances": sum(map(len, side.instances.values())),
        "operators": len(side.instances),
        "sources": versions,
        "problems": len(side.problems),
    }


def _changed(difference: LibraryDifference) -> list[Change]:
    return [row for row in difference.common if row.new or row.gone]


def _print(sides: tuple[CorpusSide, CorpusSide], differences: Sequence[LibraryDifference], limit: int) -> None:
    compared = {each.library for each in differences}
    for name, side in zip("AB", sides, strict=True):
        count = sum(map(len, side.instances.values()))
        versions = ", ".join(
            f"{library}/{source} {version or 'of unknown version'}"
            for (library, source), version in sorted(side.versions.items())
            if library in compared
        )
        head = f"{name}: {side.path}, {plural(count, 'instance')} of {plural(len(side.instances), 'operator')}"
        echo(f"{head} ({versions})" if versions else head)
    for each in differences:
        _print_library(each, limit)


def _print_library(each: LibraryDifference, limit: int) -> None:
    echo()
    rows = [[what, *(f"{n:,}" for n in counts)] for what, counts in (("operators", _operators(each)), ("instances", each.instances))]
    print_table([each.library, "new in B", "gone from A", "common"], rows)
    _list("new operators", ["operator", "instances"], [[row.api, f"{row.b:,}"] for row in each.new], limit)
    _list("gone operators", ["operator", "instances"], [[row.api, f"{row.a:,}"] for row in each.gone], limit)
    changed = [[row.api, f"{row.a:,}", f"{row.b:,}", f"{row.new:,}", f"{row.gone:,}"] for row in _changed(each)]
    _list("changed operators", ["operator", "in A", "in B", "new", "gone"], changed, limit)
    defaults = [[row.api, row.parameter, _default(row.a), _default(row.b)] for row in each.defaults]
    _list("changed defaults", ["operator", "parameter", "in A", "in B"], defaults, limit)


def _operators(each: LibraryDifference) -> tuple[int, int, int]:
    return len(each.new), len(each.gone), len(each.common)


def _default(text: str | None) -> str:
    return "none" if text is None else one_line(text, 40)


def _list(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], limit: int) -> None:
    if not rows or not limit:
        return
    echo()
    echo(title)
    print_table(header, rows[:limit])
    if len(rows) > limit:
        echo(f"… {len(rows) - limit:,} more; --limit {len(rows)} lists them")
