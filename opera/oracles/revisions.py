"""Revisions of the code that judges tests. A test fails when that code changes and its revision does not: see `scripts/revisions.py`."""

from __future__ import annotations

from typing import Final

COMPARISON: Final = 3
"""Changes when the same outputs, exceptions or lost processes may get another verdict: earlier results do not count any more."""
REVIEW: Final = 6
"""Changes when a filter or the review may excuse other failures: earlier failures are reviewed again, without their compiler."""
