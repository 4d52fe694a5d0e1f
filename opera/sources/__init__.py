"""Where operator instances come from: sources, the hosts that run them, and the recordings that those write."""

from opera.sources.description import Exclusion, LibraryDescription, NoiseRow, SourceDescription, describe, libraries
from opera.sources.extract import Options, extract
from opera.sources.items import Again, FailedShard, FileEnded, Item, Progress, Recorded, SourceSummary, Tests
from opera.sources.source import Request, Source

__all__ = [
    "Again",
    "Exclusion",
    "FailedShard",
    "FileEnded",
    "Item",
    "LibraryDescription",
    "NoiseRow",
    "Options",
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
