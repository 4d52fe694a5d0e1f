"""Extraction of operator instances: sources, the hosts that run them, and the recordings of the hosts."""

from opera.extract.description import Exclusion, LibraryDescription, NoiseRow, SourceDescription, describe, libraries
from opera.extract.extraction import ExtractOptions, extract
from opera.extract.items import Again, FailedShard, FileEnded, Item, Progress, Recorded, SourceSummary, Tests
from opera.extract.source import Request, Source

__all__ = [
    "Again",
    "Exclusion",
    "ExtractOptions",
    "FailedShard",
    "FileEnded",
    "Item",
    "LibraryDescription",
    "NoiseRow",
    "Progress",
    "Recorded",
    "Request",
    "Source",
    "SourceDescription",
    "SourceSummary",
    "Tests",
    "describe",
    "extract",
    "libraries",
]
