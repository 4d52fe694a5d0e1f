"""Time during which the driver could not look does not count against a deadline."""

from __future__ import annotations

import pytest

from opera.workers import clock


def test_a_long_sleep_of_the_machine_counts_as_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    current = 100.0
    monkeypatch.setattr(clock.time, "monotonic", lambda: current)
    made = clock.Clock()
    current += 0.4
    assert made.now() == pytest.approx(0.4)
    current += 3600.0
    assert made.now() == pytest.approx(0.4 + clock.LONGEST_STEP)
    current += 0.1
    assert made.now() == pytest.approx(0.5 + clock.LONGEST_STEP)
