"""The progress of a campaign for a person: a live table on a terminal, one plain line every thirty seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from opera.compilers.registry import has_script
from opera.console import doing, one_line, option, say, terminal
from opera.difftest.judge import headline
from opera.run.status import OperatorFigures, StatusDocument
from opera.store import StoredResult
from opera.workers.pool_protocol import WorkerFacts

if TYPE_CHECKING:  # only a terminal needs rich
    from rich.console import Group, RenderableType
    from rich.constrain import Constrain
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

COLOURS = {
    "pass": "green",
    "crash": "red",
    "abort": "red",
    "hang": "red",
    "oom": "red",
    "inconsistent": "magenta",
    "flaky": "yellow",
    "unsupported": "cyan",
    "invalid": "bright_black",
    "undefined": "bright_black",
}
"""The colour of each verdict on a terminal."""
_MOST_STAGES = 8
_NAME = 80
"""Characters of a name."""
_DIM = "bright_black"


def board(status: StatusDocument, operators: int) -> Group:
    """The view of *status* for rich: progress, verdicts, workers, and costs.

    Args:
        status: A document `status/1`.
        operators: Most operators to list.
    """
    from rich.console import Group
    from rich.table import Table

    head = Table.grid(padding=(0, 2))
    head.add_row("campaign", f"{one_line(status['campaign'] or '-', _NAME)}  {one_line(_title(status))}")
    head.add_row("tests", _tests(status))
    head.add_row("verdicts", _verdicts(status["verdicts"]))
    head.add_row(
        "findings", f"{status['new_findings']:,} new" + "".join(f"  {one_line(each['api'], _NAME)}" for each in status["findings"][-3:])
    )
    parts: list[RenderableType] = [head]
    if status["workers"]:
        parts += ["", _workers(status["workers"])]
    if status["cost"]["stages"]:
        parts += ["", _stages(status["cost"]["stages"])]
    if status["cost"]["operators"]:
        parts += ["", _operators(status["cost"]["operators"][:operators])]
    return Group(*parts)


def _title(status: StatusDocument) -> str:
    shard = f" shard {status['shard']}" if status["shard"] else ""
    reason = f" by {status['stopped_by']}" if status["stopped_by"] else ""
    return f"{status['subject']}{shard}, {status['state']}{reason}"


def _tests(status: StatusDocument) -> str:
    tests, rate = status["tests"], status["rate"]
    share = f" ({tests['done'] / tests['total']:.1%})" if tests["total"] else ""
    left = f", about {clock(status['seconds_left'])} left" if status["seconds_left"] is not None else ""
    before = f", {tests['before']:,} of them before" if tests["before"] else ""
    now = f", {rate['now']:.1f}/s now" if status["state"] == "running" else ""
    return f"{tests['done']:,} of {tests['total']:,}{share}{before} in {clock(status['seconds'])}, {rate['mean']:.1f}/s{now}{left}"


def _verdicts(verdicts: dict[str, int]) -> Text:
    from rich.text import Text

    return Text("  ").join(Text(f"{one_line(name, _NAME)} {count:,}", style=COLOURS.get(name, "")) for name, count in verdicts.items())


def _workers(workers: list[WorkerFacts]) -> Table:
    table = _table("worker", "process", "state", "doing", "stage", "seconds", "memory", "tasks")
    for each in workers:
        busy = each["state"] != "idle"
        table.add_row(
            one_line(f"{each['label']} {each['role']}", _NAME),
            str(each["pid"]),
            one_line(each["state"], _NAME),
            one_line(each["api"] or "", _NAME),
            one_line(each["stage"], _NAME) if busy else "",
            f"{each['seconds']:.1f}" if busy else "",
            f"{each['resident'] / 2**20:,.0f} MB",
            f"{each['tasks']:,}",
            style="" if busy else _DIM,
        )
    return table


def _stages(stages: dict[str, float]) -> Table:
    total = sum(stages.values()) or 1.0
    table = _table("stage", "seconds", "share")
    for name, seconds in list(stages.items())[:_MOST_STAGES]:
        table.add_row(one_line(name, _NAME), f"{seconds:,.1f}", f"{seconds / total:.0%}")
    return table


def _operators(operators: list[OperatorFigures]) -> Table:
    table = _table("operator", "seconds", "tests", "a test")
    for each in operators:
        mean = each["seconds"] / max(each["tests"], 1)
        table.add_row(one_line(each["api"], _NAME), f"{each['seconds']:,.1f}", f"{each['tests']:,}", f"{mean:.3f} s")
    return table


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first)
    words = ("state", "doing", "stage")
    for name in others:
        table.add_column(name, justify="left" if name in words else "right", no_wrap=name != "doing")
    return table


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, e.g. `1:02:03` or `2:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


_PLAIN_INTERVAL = 30.0
_LIVE_INTERVAL = 0.2


Describe = Callable[[StoredResult, str], tuple[str, str]]
"""Title and evidence of a failing test and its API."""


def _plainly(result: StoredResult, api: str) -> tuple[str, str]:
    return f"{api}: {result.verdict.value}", headline(result.verdict, result.detail, result.compiler)


class CampaignProgress:
    """Writes to standard error. The first test of each new finding is printed at once, with the command that reproduces it."""

    def __init__(
        self, subject: str, workspace: str, *, quiet: bool = False, live: bool | None = None, describe: Describe | None = None
    ) -> None:
        self._describe = describe or _plainly
        self._subject = subject
        self._workspace = workspace
        self._quiet = quiet
        self._live_wanted = (sys.stderr.isatty() if live is None else live) and not quiet
        self._verdicts: Counter[str] = Counter()
        self._findings = 0
        self._total = self._done = self._before = 0
        self._started = self._shown = time.monotonic()
        self._live: Live | None = None

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int, products: str | None) -> None:
        self._verdicts.update(verdicts)
        done = sum(verdicts.values())
        self._total, self._done, self._before, self._findings = total, done, done, new_findings
        self._started = self._shown = time.monotonic()
        again = f", {done} of them done before" if done else ""
        computed = "" if products is None else f", products in {products}"
        doing(None)
        self._say(f"campaign {campaign}: {self._subject}, {total} tests{again}{computed}")
        if self._live_wanted:
            from rich.live import Live

            self._live = Live(console=terminal(err=True), auto_refresh=False, transient=True)
            self._live.start()

    def result(self, result: StoredResult, api: str, call: str | None) -> None:
        self._done += 1
        self._verdicts[result.verdict.value] += 1
        if call is not None:
            self._findings += 1
            title, seen = self._describe(result, api)
            self._say(f"new finding: {one_line(title)}")
            self._say(f"  {one_line(seen, 1000)}")
            self._say(f"  {one_line(call)}")
            command = "reproduce" if has_script(result.compiler, result.frontend) else "show"
            self._say(f"  {command}: opera {command} {result.fingerprint}{option(self._workspace)}")

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

    def _table(self, busy: list[tuple[str, str, str]]) -> Constrain:
        from rich.constrain import Constrain
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
        return Constrain(table, terminal(err=True).width - len("^C"))  # an echoed ^C must not begin another line, or a line stays behind

    def _say(self, message: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            self._live.console.print(message, soft_wrap=True)
        else:
            say(message)
