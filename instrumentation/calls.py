"""Outermost calls, written down before they are made, with their outcome: what the recorders of Python libraries share.

Whatever goes wrong in here is counted as a dropped call and never reaches the test. Each thread is watched for itself.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Generator, NamedTuple, Optional, Sequence, Tuple

from .filters import Filters
from .signatures import Signature
from .stream import Document, Loose, Stream
from .wire import Unrecordable

TRACER = "under-a-tracer"
TRANSPARENT = ("not-of-the-library", "module-", "unrecordable:function", "noise:container", "noise:control-flow")
"""Reasons for which a dropped call only stands around others, which are recorded in its place."""


class Api(NamedTuple):
    """A callable as recorded: its name and parameters, or why its calls are dropped."""

    name: str
    signature: Signature = Signature()
    dropped: Optional[str] = None


class Draft(NamedTuple):
    """A call that is under way."""

    document: Document
    loose: Sequence[Loose]


class _Thread(threading.local):
    watching = False
    within = False
    """Whether a call of this thread, or the recorder itself, is at work."""


class Calls:
    """Decides which calls are recorded, and writes them into a stream."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._stream = stream
        self._filters = filters or Filters()
        self._thread = _Thread()

    @contextlib.contextmanager
    def watching(self) -> Generator[None]:
        """Records the calls that this thread makes inside."""
        before, self._thread.watching = self._thread.watching, True
        try:
            yield
        finally:
            self._thread.watching = before

    @contextlib.contextmanager
    def aside(self) -> Generator[None]:
        """Inside, calls of this thread are the recorder's own and are not recorded."""
        before, self._thread.within = self._thread.within, True
        try:
            yield
        finally:
            self._thread.within = before

    def api(self, name: Optional[str], fallback: str, signature: Callable[[], Signature]) -> Api:
        """The callable that has the public *name*; None for one that is not the library's own."""
        if name is None:
            return Api(fallback, dropped="not-of-the-library")
        group = self._filters.noise(name)
        if group is not None:
            return Api(name, dropped=f"noise:{group}")
        try:
            return Api(name, signature())
        except Exception as error:
            return Api(name, dropped=f"recorder-error:{type(error).__name__}")

    def call(self, api: Api, draft: Callable[[], Draft], original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Makes a call, and records it where it is an outermost one of a thread that is watched."""
        thread = self._thread
        if thread.within or not thread.watching:
            return original(*args, **kwargs)
        thread.within = True
        try:
            begun, thread.within = self._begin(api, draft)
            if begun is None:
                return original(*args, **kwargs)
            return self._finish(begun, original, args, kwargs)
        finally:
            thread.within = False

    def _begin(self, api: Api, draft: Callable[[], Draft]) -> Tuple[Optional[Draft], bool]:
        """Writes down a call that is about to be made, None where it is dropped; and whether the calls within it are to be left alone."""
        reason = api.dropped
        if reason is None:
            try:
                return draft(), True
            except Unrecordable as error:
                reason = str(error)
            except Exception as error:
                reason = f"recorder-error:{type(error).__name__}"
        self._stream.drop(reason, api.name)
        return None, not reason.startswith(TRANSPARENT)

    def _finish(self, draft: Draft, original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Makes the call and writes down its outcome."""
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            draft.document.update(outcome="raised", exception=type_name(type(error)))
            self._record(draft)
            raise
        draft.document.setdefault("outcome", "returned")
        self._record(draft)
        return result

    def _record(self, draft: Draft) -> None:
        try:
            self._stream.record(draft.document, draft.loose)
        except Exception as error:
            self._stream.drop(f"recorder-error:{type(error).__name__}", str(draft.document["api"]))


def class_of(value: object) -> type:
    """The class of *value*, which is not asked for it."""
    return type(value)


def type_name(kind: type) -> str:
    """Module and name of a class, without looking at any of its instances."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
