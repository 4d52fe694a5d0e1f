"""Small repairs of a model, tried on the scripts of findings: what one change mends belongs together.

A repair rewrites each call of the model into one that means the same, as an importer could do before it converts the call. The script of a
finding runs unchanged, and gets the repaired model. Ablations of faults by such interventions go back to A. Zeller, *Isolating
Cause-Effect Chains from Computer Programs*, FSE 2002.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from opera.config import Config
from opera.console import one_line
from opera.errors import EnvironmentBroken
from opera.report.reproducer import run_script
from opera.untrusted import Malformed, from_json, read_file
from opera.workers.supervision import working_folder

_FOLDER = Path(__file__).parent
_SAYS = "torch.export"
"""What a script names that makes a model which a repair can change."""
_MARK = "REPAIR "
_SIGNAL = "signal "
_PLACELESS = ("no elements", "halves as float32", "doubles as float32", "narrow integers as int64")
"""Repairs that take a call away or compute it in another dtype: what they mend may have any cause, as `bench_families.py` counts."""
_SECONDS = 60
"""Limit of one run of a script."""


@dataclass(frozen=True)
class Tried:
    """What the repairs did to one finding.

    Attributes:
        subject: Compiler and frontend.
        name: Its name.
        mended: Repairs with which its script ends without a failure.
        failing: Repairs with which it fails.
        ends: Signal that ends its process without a repair; empty where an exception does.
        problem: Why no repair was tried; empty if one was.
    """

    subject: str
    name: str
    mended: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    ends: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Family:
    """Findings of a compiler and frontend that one repair mends, and that end alike: a signal comes from deeper in the compiler."""

    subject: str
    repair: str
    ends: str
    findings: list[str] = field(default_factory=list[str])


def tried(subject: str, name: str, script: Path, compiler: str, config: Config) -> Tried:
    """Runs *script* with each repair in the environment of *compiler*."""
    text = read_file(script).decode()
    if _SAYS not in text:
        return Tried(subject, name, problem="no repair for such a model")
    with working_folder("reproduce") as folder:
        beside = folder / "repairs.py"
        beside.write_text(_program(text), encoding="utf-8")
        try:
            ended, output = run_script(beside, config, compiler)
        except EnvironmentBroken as error:
            return Tried(subject, name, problem=one_line(str(error)))
    found = {each[0]: (each[1], each[2]) for each in _said(output)}
    state, said = found.pop("", ("fails", "the script did not begin"))
    if state != "fails" or (isinstance(ended, tuple) and not found):
        return Tried(
            subject,
            name,
            problem="the script shows no failure" if state != "fails" else one_line(ended[1] if isinstance(ended, tuple) else said),
        )
    mended, failing = (tuple(repair for repair, (state, _) in found.items() if state == wanted) for wanted in ("mended", "fails"))
    return Tried(subject, name, mended, failing, said if said.startswith(_SIGNAL) else "")


def _program(script: str) -> str:
    return f"{_source('driver')}\n\nmain({_source('torch_program')!r}, {script!r}, {_SECONDS})\n"


@cache
def _source(module: str) -> str:
    return (_FOLDER / f"{module}.py").read_text(encoding="utf-8")


def _said(output: str) -> Iterator[tuple[str, str, str]]:
    for line in output.splitlines():
        if line.startswith(_MARK):
            with contextlib.suppress(Malformed):  # what a script prints as it is imported
                yield from_json(line.removeprefix(_MARK), tuple[str, str, str])


def proposed(found: Iterable[Tried]) -> list[Family]:
    """The families of *found*: a finding belongs to the first repair that mends it and names a place. The largest comes first."""
    by: dict[tuple[str, str, str], Family] = {}
    for each in found:
        repair = next((name for name in each.mended if name not in _PLACELESS), None)
        if repair is not None:
            key = each.subject, repair, each.ends
            by.setdefault(key, Family(*key)).findings.append(each.name)
    return sorted(by.values(), key=lambda each: (-len(each.findings), each.subject, each.repair, each.ends))
