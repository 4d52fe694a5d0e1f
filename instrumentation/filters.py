"""What a host leaves out: patterns from corpora/*.toml, handed over as a JSON file by the driver.

{"noise": [["torch.Tensor.*.__get__", "attribute"], ...], "exclude": ["jiterator_*", ...]}
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Dict, List, Optional, Sequence, Tuple


class Filters:
    """Noise APIs, which are not recorded, and entries of a source, which are not run."""

    def __init__(self, noise: Sequence[Tuple[str, str]] = (), exclude: Sequence[str] = (), only: Sequence[str] = ()) -> None:
        self._noise = list(noise)
        self._exclude = list(exclude)
        self._only = list(only)
        self._cache: Dict[str, Optional[str]] = {}

    @classmethod
    def load(cls, path: Optional[str], only: Sequence[str] = ()) -> Filters:
        """Reads the file at *path*; without one nothing is left out."""
        if path is None:
            return cls(only=only)
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        noise: List[Tuple[str, str]] = [(pattern, group) for pattern, group in content["noise"]]
        return cls(noise, content["exclude"], only)

    def noise(self, api: str) -> Optional[str]:
        """The group of noise to which *api* belongs, or None where it is an operator."""
        if api not in self._cache:
            self._cache[api] = next((group for pattern, group in self._noise if fnmatchcase(api, pattern)), None)
        return self._cache[api]

    def selected(self, entry: str) -> bool:
        """Whether *entry* is among those asked for."""
        return not self._only or any(fnmatchcase(entry, pattern) for pattern in self._only)

    def excluded(self, entry: str) -> bool:
        """Whether *entry* must not be run."""
        return any(fnmatchcase(entry, pattern) for pattern in self._exclude)
