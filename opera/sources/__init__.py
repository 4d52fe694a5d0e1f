"""Where operator instances come from: sources, the hosts that run them, and the recordings that those write."""

from opera.sources.description import Exclusion, LibraryDescription, NoiseRow, SourceDescription, describe, libraries
from opera.sources.extract import extract
from opera.sources.items import Again, FailedShard, Item, Progress, Recorded, SourceSummary
from opera.sources.source import Request, Source

__all__ = [
    "Again",
    "Exclusion",
    "FailedShard",
    "Item",
    "LibraryDescription",
    "NoiseRow",
    "Progress",
    "Recorded",
    "Request",
    "Source",
    "SourceDescription",
    "SourceSummary",
    "describe",
    "extract",
    "libraries",
]
