"""How a campaign goes, for a person: a live table on a terminal, one plain line every thirty seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from opera.console import one_line, option, say, terminal
from opera.difftest.judge import headline
from opera.run.live_table import COLOURS, clock
from opera.store import StoredResult

_PLAIN_INTERVAL = 30.0
_LIVE_INTERVAL = 0.2


class CampaignProgress:
    """Writes to standard error. The first test of each new finding is printed at once, with the command that reproduces it."""

    def __init__(self, subject: str, workspace: str, *, quiet: bool = False, live: bool | None = None) -> None:
        self._subject = subject
        self._workspace = workspace
        self._quiet = quiet
        self._live_wanted = (sys.stderr.isatty() if live is None else live) and not quiet
        self._verdicts: Counter[str] = Counter()
        self._findings = 0
        self._total = self._done = self._before = 0
        self._started = self._shown = time.monotonic()
        self._live: Any = None

    def began(self, campaign: str, total: int, done: int) -> None:
        self._total, self._done, self._before = total, done, done
        self._started = self._shown = time.monotonic()
        again = f", {done} of them done before" if done else ""
        self._say(f"campaign {campaign}: {self._subject}, {total} tests{again}")
        if self._live_wanted:
            from rich.live import Live

            self._live = Live(console=terminal(err=True), auto_refresh=False, transient=True)
            self._live.start()

    def result(self, result: StoredResult, api: str, *, new_finding: bool) -> None:
        self._done += 1
        self._verdicts[result.verdict.value] += 1
        if new_finding:
            self._findings += 1
            where = f" in {one_line(result.converter)}" if result.converter else ""
            stage = f" at {result.stage.value}" if result.stage else ""
            what = one_line(headline(result.verdict, result.detail, result.compiler))
            self._say(f"new finding: {one_line(api)}: {result.verdict.value}{stage}{where}: {what}")
            self._say(f"  reproduce: opera reproduce {result.fingerprint}{option(self._workspace)}")

    def tick(self, busy: list[tuple[str, str, str]]) -> None:
        now = time.monotonic()
        if self._live is not None:
            if now - self._shown >= _LIVE_INTERVAL:
                self._shown = now
                self._live.update(self._table(busy), refresh=True)
        elif now - self._shown >= _PLAIN_INTERVAL:
            self._shown = now
            self._say(self._line())

    def ended(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._total:
            self._say(self._line())
            self._total = 0

    def _line(self) -> str:
        counts = ", ".join(f"{verdict} {count}" for verdict, count in sorted(self._verdicts.items()))
        if self._before == self._total:
            return f"{self._subject}: {self._done}/{self._total} tests had their results before, nothing was left to do"
        done = f"{self._subject}: {self._done}/{self._total} tests, {self._rate():.1f}/s"
        return f"{done}, {counts or 'no result yet'}, new findings {self._findings}"

    def _rate(self) -> float:
        return (self._done - self._before) / max(time.monotonic() - self._started, 1e-9)

    def _table(self, busy: list[tuple[str, str, str]]) -> Any:
        from rich.table import Table
        from rich.text import Text

        rate = self._rate()
        left = f"about {clock((self._total - self._done) / rate)} left" if rate > 0 else ""
        table = Table.grid(padding=(0, 2))
        table.add_row(Text(self._subject, style="bold"), f"{self._done}/{self._total}", f"{rate:.1f} tests/s", left)
        counts = Text("  ").join(Text(f"{name} {count}", style=COLOURS[name]) for name, count in sorted(self._verdicts.items()))
        table.add_row(Text("verdicts"), counts)
        table.add_row(Text("findings"), f"{self._findings} new")
        for role, api, stage in busy[:4]:
            table.add_row(Text(role, style="bright_black"), Text(f"{one_line(api, 80)}  {stage}", style="bright_black"))
        return table

    def _say(self, message: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            self._live.console.print(message, soft_wrap=True)
        else:
            say(message)
