"""As much of Ray as `opera.extensions.ray.pool` calls: every actor lives in this process, and has a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any

from ray import exceptions as exceptions


class _Method:
    def __init__(self, thread: ThreadPoolExecutor, function: Callable[..., object]) -> None:
        self._thread = thread
        self._function = function

    def remote(self, *arguments: object) -> Future[object]:
        return self._thread.submit(self._function, *arguments)


class _Actor:
    """Constructs its object in its own thread, before the first call."""

    def __init__(self, kind: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._made = self._thread.submit(kind, *arguments)

    def __getattr__(self, name: str) -> _Method:
        return _Method(self._thread, lambda *arguments: getattr(self._made.result(), name)(*arguments))


class _Remote:
    def __init__(self, kind: Callable[..., object]) -> None:
        self._kind = kind

    def options(self, **_: object) -> _Remote:
        return self

    def remote(self, *arguments: object) -> _Actor:
        return _Actor(self._kind, arguments)


def init(**_: object) -> None:
    """Nothing is to be started."""


def shutdown() -> None:
    """Nothing is to be ended."""


def remote(kind: Callable[..., object]) -> _Remote:
    return _Remote(kind)


def wait(references: list[Future[Any]], *, num_returns: int, timeout: float) -> tuple[list[Future[Any]], list[Future[Any]]]:
    done, _ = wait_for(references, timeout, return_when=FIRST_COMPLETED)
    ready = [each for each in references if each in done][:num_returns]
    return ready, [each for each in references if each not in ready]


def get(reference: Future[Any]) -> object:
    return reference.result()


def kill(_: _Actor) -> None:
    """Every actor is closed before."""
