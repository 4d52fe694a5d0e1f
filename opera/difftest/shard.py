"""Parts of a campaign for several machines: disjoint, the same on each, and together all of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from opera.errors import UserError


@dataclass(frozen=True)
class Shard:
    """The part *number*, from 1, of *count*. All tests of an instance are in one part, so that its reference is paid for once."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> Shard:
        """`3/8`; raises UserError for anything else."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UserError(f"--shard {text!r} is no part of a whole; write e.g. --shard 3/8")
        return Shard(int(match[1]), int(match[2]))

    def has(self, instance: str) -> bool:
        """Whether the instance of that hash is in this part."""
        number = int.from_bytes(hashlib.sha256(instance.encode()).digest()[:8], "big")
        return number % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
