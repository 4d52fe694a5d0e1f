"""`opera doctor`: versions, CPU, pinned settings, and a canary model through every adapter."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from opera import __version__
from opera.campaign.rig import Rig
from opera.campaign.settings import Settings
from opera.compilers.registry import Plugin, plugin, plugins
from opera.config import Config, load_config
from opera.errors import Exit, OperaError
from opera.options import common, print_json, say
from opera.report.tables import print_table
from opera.worker.process import PINNED_ENVIRONMENT

SCHEMA = "doctor/1"
_FLAGS = ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "asimd", "bf16")


@dataclass(frozen=True)
class Check:
    """What became of one route of an adapter."""

    name: str
    frontend: str
    route: str
    version: str
    ok: bool
    reason: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@click.command("doctor")
@click.option("--compiler", "names", multiple=True, help="Only this compiler (repeatable).")
@common
def command(names: tuple[str, ...], workspace: Path, seed: int, as_json: bool) -> int:
    """Checks every adapter: can it be loaded, what is its version, does it get a canary model right?

    Exits with 3 when an adapter named by --compiler is broken.
    """
    chosen = [plugin(name) for name in names] or list(plugins().values())
    config = load_config()
    checks = [check for each in chosen for check in _examine(each, config)]
    document: dict[str, Any] = {
        "schema": SCHEMA, "opera": __version__, "python": sys.version.split()[0], "platform": platform.platform(terse=True),
        "cpu": {"model": _cpu_model(), "cores": os.cpu_count(), "flags": cpu_flags()}, "environment": dict(PINNED_ENVIRONMENT),
        "adapters": [
            {
                "name": c.name, "frontend": c.frontend, "route": c.route, "version": c.version, "ok": c.ok, "reason": c.reason,
                "settings": dict(c.settings),
            }
            for c in checks
        ],
    }  # fmt: skip
    if as_json:
        print_json(document)
    else:
        _print(document, checks)
    return Exit.BROKEN_ENVIRONMENT if names and not all(check.ok for check in checks) else Exit.CLEAN


def _examine(each: Plugin, config: Config) -> list[Check]:
    try:
        adapter = each.load()
    except OperaError as error:
        return [Check(each.name, "", "", "", False, str(error))]
    return [_check(each.name, route.frontend, route.name, config) for route in adapter.routes]


def _check(name: str, frontend: str, route: str, config: Config) -> Check:
    say(f"{name}/{frontend} by {route}: canary ...")
    with tempfile.TemporaryDirectory() as folder:
        cache, scratch = Path(folder, "cache"), Path(folder, "scratch")
        scratch.mkdir()
        try:
            rig = Rig(Settings(name, frontend, route, jobs=1, timeout=120.0), config, cache, scratch)
        except OperaError as error:
            return Check(name, frontend, route, "", False, str(error))
        try:
            identity = rig.prove()
        except OperaError as error:
            return Check(name, frontend, route, "", False, str(error))
        finally:
            rig.crew.close()
    version, *rest = identity.versions.items()
    return Check(name, frontend, route, version[1], True, "", {**dict(rest), **{f"library {k}": v for k, v in identity.library.items()}})


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


def _print(document: Mapping[str, Any], checks: list[Check]) -> None:
    cpu = document["cpu"]
    click.echo(f"opera {document['opera']}, Python {document['python']}, {document['platform']}")
    click.echo(f"CPU: {cpu['model']}, {cpu['cores']} cores, {' '.join(cpu['flags'])}")
    click.echo("every worker: " + " ".join(f"{name}={value}" for name, value in PINNED_ENVIRONMENT.items()))
    click.echo()
    print_table(
        ["adapter", "frontend", "route", "version", "canary", "settings"],
        [
            [c.name, c.frontend, c.route, c.version, "pass" if c.ok else "BROKEN", ", ".join(" ".join(pair) for pair in c.settings.items())]
            for c in checks
        ],
    )
    for check in checks:
        if not check.ok:
            click.echo(f"{check.name}/{check.frontend or '?'}: {check.reason}")
