"""`opera doctor`: versions, CPU, pinned settings, and a canary model through every adapter."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from opera import __version__
from opera.cli import SECTIONS
from opera.cli.help import HeadedCommand
from opera.cli.lazy import twice
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, common
from opera.compilers.registry import known_adapter, plugin, plugins
from opera.config import load_config
from opera.console import doing, echo, print_json, wrapped
from opera.environments.checkup import Check, Checkup, State
from opera.errors import Exit
from opera.plugins import GROUPS, broken
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.process import PINNED_ENVIRONMENT
from opera.workers.supervision import working_folder

SCHEMA = "doctor/1"
_TRIED = frozenset({"opera.compilers", "opera.corpora", "opera.templates"})
"""Groups whose entry points the check itself tries, or whose modules are those of other environments."""
_FLAGS = ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "asimd", "bf16")


@click.command("doctor", cls=HeadedCommand)
@click.option("--compiler", "names", type=COMPILER, metavar="NAME", multiple=True, help="Check only this compiler (repeatable).")
@click.option("--quick", is_flag=True, help="Start nothing: say which compilers are installed, and in which version.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel workers.")
@common
def command(names: tuple[str, ...], quick: bool, jobs: int, as_json: bool) -> int:
    """Check every route of every adapter on a canary model, each in its own environment.

    OPERA prints versions, the features of the CPU and pinned settings. For each route that fails, it prints the reason and the remedy.
    A route whose library is not installed is skipped. Exit with 3 when a compiler that --compiler names does not work on an installed
    library, or has none.
    """
    chosen = [plugin(name) for name in names] or list(plugins().values())
    if not as_json:
        _print_machine()
    with working_folder("doctor") as folder:
        checkup = Checkup(load_config(), folder, jobs, doing, (lambda _: None) if as_json else _print_check)
        checks = checkup.installed(chosen) if quick else checkup.adapters(chosen)
    if as_json:
        print_json(_document(checks))
    else:
        for problem in _problems():
            echo(problem)
        for check in checks if quick else ():
            _print_check(check)
        _print_reasons(checks)
    return Exit.CLEAN if all(_works(name, checks) for name in names) else Exit.BROKEN_ENVIRONMENT


def _works(name: str, checks: Sequence[Check]) -> bool:
    """Whether a compiler works on every library that is installed, and on one at least."""
    own = [check for check in checks if check.name == name]
    return any(check.ok for check in own) and all(check.ok or check.state is State.SKIPPED for check in own)


def _document(checks: Sequence[Check]) -> JsonObject:
    return {
        "schema": SCHEMA,
        "opera": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(terse=True),
        "cpu": {"model": _cpu_model(), "cores": os.cpu_count(), "flags": cpu_flags()},
        "environment": dict(PINNED_ENVIRONMENT),
        "remarks": [{"name": name, "remark": remark} for name, remark in _remarks(checks)],
        "extensions": _problems(),
        "adapters": [entry_of(check) for check in checks],
    }


def _problems() -> list[str]:
    """What is wrong with extensions and plug-ins: those that cannot be imported, and names that are given twice."""
    unusable = [str(error) for group in GROUPS if group not in _TRIED for error in broken(group).values()]
    return [*dict.fromkeys(unusable), *twice(SECTIONS)]


def entry_of(check: Check) -> JsonObject:
    """A check as an entry of a JSON document."""
    route = check.route
    return {
        "name": check.name,
        "frontend": route.frontend if route else "",
        "route": route.name if route else "",
        "library": route.library if route else "",
        "version": check.version,
        "ok": check.ok,
        "state": check.state.value,
        "reason": check.reason,
        "settings": dict(check.settings),
        "python": check.python,
        "imported": check.imported,
    }


def cpu_flags() -> list[str]:
    """The features of this CPU that change which kernels a compiler picks."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return []
    lines = (line for line in text.splitlines() if line.startswith(("flags", "Features")))
    present = set(next(lines, "").partition(":")[2].split())
    return [flag for flag in _FLAGS if flag in present]


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def _print_machine() -> None:
    wrapped(f"opera {__version__}, Python {sys.version.split()[0]}, {platform.platform(terse=True)}")
    wrapped(f"CPU: {_cpu_model()}, {os.cpu_count()} cores, {' '.join(cpu_flags())}")
    echo("settings of every worker:")
    for name, value in PINNED_ENVIRONMENT.items():
        wrapped(f"  {name}={value}")
    echo()


def _print_check(check: Check) -> None:
    """One row: the state in capitals where something is to be done, the route, and the version."""
    state = check.state.value if check.ok or check.state in (State.ABSENT, State.SKIPPED) else check.state.value.upper()
    where = f"/{check.route.frontend} by {check.route.name}" if check.route else ""
    wrapped(f"{state:<9}  {check.name + where:<40}  {check.version}".rstrip())


def _print_reasons(checks: Sequence[Check]) -> None:
    for name, settings in sorted({(check.name, tuple(check.settings.items())) for check in checks if check.settings}):
        wrapped(f"{name}: {', '.join(' '.join(pair) for pair in settings)}")
    for name, remark in _remarks(checks):
        wrapped(f"{name}: {remark}")
    for (name, reason), routes in _reasons(checks).items():
        wrapped(f"{name}{f' ({routes})' if routes else ''}: {reason}")
    for name, python in sorted({(check.name, check.python) for check in checks if check.python not in ("", sys.executable)}):
        wrapped(f"{name} lives in {python}")
    for name, file in sorted({(check.name, check.imported) for check in checks if check.imported}):
        wrapped(f"{name} is imported from {file}")


def _remarks(checks: Sequence[Check]) -> list[tuple[str, str]]:
    """What the adapters of *checks* cannot do, and what workers say of themselves, each with the name of its adapter or library."""
    adapters = {name: known_adapter(name) for name in sorted({check.name for check in checks})}
    declared = [(name, remark) for name, adapter in adapters.items() if adapter is not None for remark in adapter.remarks]
    return declared + sorted({remark for check in checks for remark in check.remarks})


def _reasons(checks: Sequence[Check]) -> dict[tuple[str, str], str]:
    """Every reason once, with its routes; without routes if the reason holds for all routes of an adapter, or is one of a library."""
    found: dict[tuple[str, str], list[str]] = {}
    for check in checks:
        if check.library_at_fault and check.route is not None:
            found[check.route.library, check.reason] = []
        elif not check.ok:
            found.setdefault((check.name, check.reason), []).append(f"{check.route.frontend} by {check.route.name}" if check.route else "")
    total = Counter(check.name for check in checks)
    return {key: "" if len(routes) in (0, total[key[0]]) else ", ".join(routes) for key, routes in found.items()}
