"""What to tell a person about a compiler or a library that does not work: what is wrong, then what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opera.environments.build import record_of
from opera.environments.inventory import Inventory
from opera.environments.recipes import described, needs_of, own_only
from opera.environments.requirements import Lack, clashes
from opera.workers.process import Broken, Lost

_LONGEST = 300


@dataclass(frozen=True)
class Trouble:
    """Why an environment will not do.

    Attributes:
        state: `absent` or `old`.
        reason: For a person.
    """

    state: str
    reason: str


def of_lacks(name: str, python: str, found: Sequence[Lack]) -> Trouble:
    """For a compiler whose declared packages are absent or too old."""
    absent = [lack for lack in found if lack.installed is None]
    state = "absent" if absent else "old"
    what = "; ".join(map(str, found))
    wanted = " ".join(shlex.quote(lack.requirement) for lack in found)
    line = f"`{_shown(python)} -m pip install {'' if absent else '--upgrade '}{wanted}`"
    if own_only(name):
        return Trouble(state, f"{what}; {_own(name, python)}")
    return Trouble(state, f"{what}; {line}, or {_own(name, python)}")


def of_broken(name: str, packages: Sequence[str], held: Inventory, event: Broken | Lost) -> str:
    """For a compiler that is installed and whose worker cannot be set up."""
    if isinstance(event, Lost):
        return of_lost(name, f"does not start ({event.cause}: {event.detail}){_last_line(event.log)}", packages, held)
    failure = event.failure
    kind = str(failure["type"]).rsplit(".", 1)[-1]
    message = f"{kind}: {(str(failure['message']).strip().splitlines() or [''])[0][:_LONGEST]}"
    if kind in ("ImportError", "ModuleNotFoundError", "OSError", "AttributeError"):
        return of_lost(name, f"is installed and cannot be loaded ({message})", packages, held)
    return f"{name} cannot be used here: {message}"


def of_lost(name: str, what: str, packages: Sequence[str], held: Inventory) -> str:
    """For a compiler that is installed and does *what*: says which requirements around it are not met."""
    found = clashes(packages, held)
    if found:
        return f"{name} {what}; in its environment {'; '.join(map(str, found[:3]))}: {_own(name, held.python)}"
    return f"{name} {what}; if something around it is in its way, {_own(name, held.python)}"


def of_library(name: str, held: Inventory, event: Broken | Lost) -> str:
    """For a library whose worker cannot be set up."""
    advice = f"`{_shown(held.python)} -m pip install 'opera-dl[{name}]'`"
    if described(name):
        advice += f", or {_own(name, held.python)}"
    if isinstance(event, Lost):
        return f"the library {name} does not start ({event.cause}: {event.detail}){_last_line(event.log)}; {advice}"
    failure = event.failure
    message = f"{str(failure['type']).rsplit('.', 1)[-1]}: {(str(failure['message']).strip().splitlines() or [''])[0][:_LONGEST]}"
    return f"the library {name} cannot be used here: {message}; {advice}"


def _own(name: str, python: str) -> str:
    """What an environment of its own would do; for one that lives in such an environment already, what making it anew would."""
    needs = needs_of(name)
    besides = f"; it needs {needs}" if needs else ""
    if record_of(Path(python).parent.parent) is not None:
        return f"`opera env create {name} --again` creates its environment again{besides}"
    return f"`opera env create {name}` gives it an environment of its own{besides}"


def _last_line(log: str) -> str:
    lines = log.strip().splitlines()
    return f" {lines[-1][:200]}" if lines else ""


def _shown(python: str) -> str:
    """The path of an interpreter, relative where it lies below the current folder."""
    path = Path(python)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else python
