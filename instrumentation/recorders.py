"""The recorder of a library, by the library's name."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import Any, Optional, Protocol

from .filters import Filters
from .stream import Stream


class Recorder(Protocol):
    """Sees the calls of a library's public operators and writes them into a stream.

    Entering it installs what it needs; leaving it puts everything back. Nothing that it does may change what a test sees.
    """

    def __enter__(self) -> Recorder: ...

    def __exit__(self, *_: object) -> None: ...

    def watching(self) -> AbstractContextManager[Any]:
        """Records the calls that are made inside."""
        ...


_Recorder = Recorder


class Recording(Protocol):
    """A module that records a library."""

    def version(self) -> str:
        """The version of the library."""
        ...

    def Recorder(self, stream: Stream, filters: Optional[Filters] = None) -> _Recorder:
        """Makes a recorder that writes to *stream*."""
        ...


def recording(library: str) -> Recording:
    """The module that records *library*; it imports the library."""
    module: Any = importlib.import_module(f".{_MODULES.get(library, library)}", __package__)
    return module


_MODULES = {"onnx": "onnx_models"}
"""Libraries whose recorder is not the module of their name."""
