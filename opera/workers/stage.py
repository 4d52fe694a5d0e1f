"""The current stage of a process, in memory shared with its driver: the driver can read it at any time, also after the process died."""

from __future__ import annotations

import mmap
import os
import struct
import time

from opera.workers import clock

_COUNT = 8
_READS = 100
"""Times that a reader looks for a stage that is not being changed."""
_SLOT = struct.Struct("=dB47s")
"""When the stage was entered, the length of its name, the name."""
_SIZE = _COUNT + 2 * _SLOT.size


class StageCell:
    """One process writes, one reads. The two last stages have a slot each, and the number of stages so far says which is which.

    The number is written last, in one piece, so that a writer that dies at any moment leaves a whole stage to read.
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._count = memoryview(self._memory)[:_COUNT].cast("Q")

    def write(self, name: str) -> None:
        """Notes that the stage *name* begins now."""
        encoded = name.encode("utf-8", "replace")[:47]
        count = self._count[0] + 1
        _SLOT.pack_into(self._memory, _COUNT + count % 2 * _SLOT.size, time.monotonic(), len(encoded), encoded)
        self._count[0] = count

    def read(self) -> tuple[int, str, float]:
        """How many stages were entered so far, the last one, and when that was by `time.monotonic`, which all processes share."""
        looks = 0
        while True:
            count = self._count[0]
            entered, length, name = _SLOT.unpack_from(self._memory, _COUNT + count % 2 * _SLOT.size)
            looks += 1
            if count == self._count[0] or looks == _READS:  # one that writes all the time shall not hold us up
                return count, name[:length].decode("utf-8", "replace"), entered

    def close(self) -> None:
        """Gives the memory back; the other side keeps its own view."""
        self._count.release()
        self._memory.close()


def shared_memory() -> int:
    """A descriptor of memory for one cell; it has no name and no file, and is gone with the last process that has it."""
    descriptor = os.memfd_create("opera-stage")
    os.truncate(descriptor, _SIZE)
    return descriptor


class StageWatch:
    """The driver's view: the stage of the task that a worker was given last, and how long it has been in it."""

    def __init__(self, cell: StageCell) -> None:
        self._cell = cell
        self._before = self._seen = 0
        self.restart()

    def restart(self) -> None:
        """Counts seconds from now on."""
        self._since = clock.now()

    def begin(self) -> None:
        """The worker, which is idle, is given a task."""
        self._before = self._seen = self._cell.read()[0]
        self.restart()

    @property
    def stage(self) -> str:
        """The stage of the task; empty before the first task."""
        count, name, _ = self._cell.read()
        return name if count != self._before else ""

    def seconds(self) -> float:
        """Since the stage was entered, the task was given, or `restart`, whichever was last."""
        count, _, entered = self._cell.read()
        now = clock.now()
        if count != self._seen:
            self._seen = count
            self._since = min(now, max(self._since, now - (time.monotonic() - entered)))
        return now - self._since

    def close(self) -> None:
        """Gives the memory back."""
        self._cell.close()
