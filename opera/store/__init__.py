"""The workspace: one SQLite file, written by one process, and content-addressed blobs beside it."""

from opera.store.campaigns import Campaign, Campaigns, Step, StoredResult
from opera.store.corpus import Corpus
from opera.store.database import Workspace

__all__ = ["Campaign", "Campaigns", "Corpus", "Step", "StoredResult", "Workspace"]
