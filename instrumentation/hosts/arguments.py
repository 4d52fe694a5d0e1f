"""The command line that all hosts share."""

from __future__ import annotations

import argparse
from typing import Iterator, Sequence, Tuple, TypeVar

from ..filters import Filters

Item = TypeVar("Item")


def parser(host: str) -> argparse.ArgumentParser:
    """An argument parser with the options of every host."""
    options = argparse.ArgumentParser(prog=host, description=__doc__)
    options.add_argument("--recording", required=True, help="file to write")
    options.add_argument("--source", default=host, help="name of the source in the recording")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--shard", type=shard, default=(0, 1), metavar="I/N", help="run every N-th entry, counted from I")
    options.add_argument("--after", type=int, default=-1, metavar="I", help="leave out the entries up to number I")
    options.add_argument("--filters", help="JSON file with noise APIs and excluded entries")
    options.add_argument("--only", action="append", default=[], metavar="PATTERN", help="run only entries that match")
    return options


def shard(text: str) -> Tuple[int, int]:
    """Reads `I/N`, I counted from 0."""
    index, count = (int(part) for part in text.split("/"))
    if not 0 <= index < count:
        raise argparse.ArgumentTypeError(f"{text}: the shard must be one of 0/{count} to {count - 1}/{count}")
    return index, count


def filters(options: argparse.Namespace) -> Filters:
    """The filters that the options name."""
    return Filters.load(options.filters, options.only)


def select(entries: Sequence[Item], options: argparse.Namespace) -> Iterator[Tuple[int, Item]]:
    """The entries of one shard with their number among all of them."""
    index, count = options.shard
    for number in range(index, len(entries), count):
        if number > options.after:
            yield number, entries[number]
