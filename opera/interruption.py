"""Interruption of a command: Ctrl-C, SIGTERM and SIGHUP, all in the same way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command like Ctrl-C."""


@contextmanager
def undisturbed() -> Generator[None]:
    """Ignores what would interrupt, while what was started is being ended: that takes no longer than it has to."""
    with _handlers(dict.fromkeys(SIGNALS, signal.SIG_IGN)):
        yield


@contextmanager
def interruptible() -> Generator[None]:
    """Lets SIGTERM and SIGHUP interrupt as Ctrl-C does. What is ignored, as SIGHUP is under `nohup`, stays ignored."""
    taken = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    with _handlers(dict.fromkeys(taken, _interrupt)):
        yield


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _handlers(wanted: Mapping[signal.Signals, Any]) -> Generator[None]:
    """Has these handlers for a while; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
