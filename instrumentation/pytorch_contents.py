"""What is known of the contents of small float tensors, which tests use again and again: looked at once, remembered by their bytes."""

from __future__ import annotations

import itertools
from typing import Any, Dict, Hashable, Optional

from . import tensors
from .pytorch_memory import dtype_name, plain
from .pytorch_structure import Nature, nature
from .stream import Document

REMEMBERED = 20_000
"""Contents that are remembered."""


class Content:
    """The elements of a tensor of at most `tensors.KEEP_WRITTEN` floats or complex numbers.

    Attributes:
        number: The same for equal contents that a person wrote, and for random ones of one class.
        written: Whether a person seems to have written them.
    """

    __slots__ = ("_data", "_nature", "_parts", "number", "written")

    def __init__(self, data: bytes, written: bool, found: Optional[Nature]) -> None:
        self.number = -1
        self.written = written
        self._data = data
        self._nature = found
        self._parts: Optional[Document] = None

    def parts(self, tensor: Any) -> Document:
        """Data and constraint as the format has them; *tensor* is one that has this content."""
        if self._parts is None:
            self._parts = {}
            if self.written or tensor.numel() <= tensors.KEEP_FLOATS:
                self._parts["data"] = tensors.encode_bytes(self._data)
            self._parts["constraint"] = (self._nature or nature(plain(tensor))).document()
        return self._parts


class Contents:
    """All contents that have been seen lately."""

    def __init__(self) -> None:
        self._known: Dict[Hashable, Content] = {}
        self._classes: Dict[Hashable, int] = {}
        self._numbers = itertools.count()

    def of(self, dtype: Any, shape: Any, strides: Any, data: bytes, tensor: Any) -> Content:
        """That of *tensor*, whose elements are *data*; *strides* is None for a contiguous one."""
        key = (dtype, shape, strides, data)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
                self._classes.clear()
            known = self._known[key] = self._look(dtype, shape, strides, data, tensor)
        return known

    def _look(self, dtype: Any, shape: Any, strides: Any, data: bytes, tensor: Any) -> Content:
        if tensors.written(data, dtype_name(dtype), tensor.numel()):
            content = Content(data, True, None)
            content.number = next(self._numbers)
            return content
        found = nature(plain(tensor))
        content = Content(data, False, found)
        content.number = self._classes.setdefault((dtype, shape, strides, found.signs()), next(self._numbers))
        return content
