"""The workspace: one SQLite file, which one process writes, and content-addressed blobs next to the file."""

from opera.store.campaigns import Campaign, Campaigns, Step, StoredResult
from opera.store.corpus import Corpus
from opera.store.database import Workspace

__all__ = ["Campaign", "Campaigns", "Corpus", "Step", "StoredResult", "Workspace"]
