"""A status document as a table for a terminal."""

from __future__ import annotations

from typing import Any

from opera.console import one_line

COLOURS = {
    "pass": "green", "crash": "red", "abort": "red", "hang": "red", "oom": "red", "inconsistent": "magenta", "flaky": "yellow",
    "unsupported": "cyan", "invalid": "bright_black", "undefined": "bright_black",
}  # fmt: skip
"""Of verdicts."""
_MOST_STAGES = 8
_NAME = 80
"""Characters of a name."""
_DIM = "bright_black"


def board(status: dict[str, Any], operators: int) -> Any:
    """What *status* says, for rich: progress, verdicts, workers, and where the time goes.

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
    parts: list[Any] = [head]
    if status["workers"]:
        parts += ["", _workers(status["workers"])]
    if status["cost"]["stages"]:
        parts += ["", _stages(status["cost"]["stages"])]
    if status["cost"]["operators"]:
        parts += ["", _operators(status["cost"]["operators"][:operators])]
    return Group(*parts)


def _title(status: dict[str, Any]) -> Any:
    shard = f" shard {status['shard']}" if status["shard"] else ""
    reason = f" by {status['stopped_by']}" if status["stopped_by"] else ""
    return f"{status['subject']}{shard}, {status['state']}{reason}"


def _tests(status: dict[str, Any]) -> str:
    tests, rate = status["tests"], status["rate"]
    share = f" ({tests['done'] / tests['total']:.1%})" if tests["total"] else ""
    left = f", about {clock(status['seconds_left'])} left" if status["seconds_left"] is not None else ""
    before = f", {tests['before']:,} of them before" if tests["before"] else ""
    now = f", {rate['now']:.1f}/s now" if status["state"] == "running" else ""
    return f"{tests['done']:,} of {tests['total']:,}{share}{before} in {clock(status['seconds'])}, {rate['mean']:.1f}/s{now}{left}"


def _verdicts(verdicts: dict[str, int]) -> Any:
    from rich.text import Text

    return Text("  ").join(Text(f"{one_line(name, _NAME)} {count:,}", style=COLOURS.get(name, "")) for name, count in verdicts.items())


def _workers(workers: list[dict[str, Any]]) -> Any:
    table = _table("worker", "process", "state", "doing", "stage", "seconds", "memory", "tasks")
    for each in workers:
        busy = each["state"] != "idle"
        table.add_row(
            one_line(f"{each['label']} {each['role']}", _NAME), str(each["pid"]), one_line(each["state"], _NAME),
            one_line(each["api"] or "", _NAME), one_line(each["stage"], _NAME) if busy else "",
            f"{each['seconds']:.1f}" if busy else "", f"{each['resident'] / 2**20:,.0f} MB", f"{each['tasks']:,}",
            style="" if busy else _DIM,
        )  # fmt: skip
    return table


def _stages(stages: dict[str, float]) -> Any:
    total = sum(stages.values()) or 1.0
    table = _table("stage", "seconds", "share")
    for name, seconds in list(stages.items())[:_MOST_STAGES]:
        table.add_row(one_line(name, _NAME), f"{seconds:,.1f}", f"{seconds / total:.0%}")
    return table


def _operators(operators: list[dict[str, Any]]) -> Any:
    table = _table("operator", "seconds", "tests", "a test")
    for each in operators:
        mean = each["seconds"] / max(each["tests"], 1)
        table.add_row(one_line(each["api"], _NAME), f"{each['seconds']:,.1f}", f"{each['tests']:,}", f"{mean:.3f} s")
    return table


def _table(first: str, *others: str) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first)
    words = ("state", "doing", "stage")
    for name in others:
        table.add_column(name, justify="left" if name in words else "right", no_wrap=name != "doing")
    return table


def clock(seconds: float) -> str:
    """`1:02:03`, `2:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
