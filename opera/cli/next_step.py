"""`opera` without arguments: what is here, and the next command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opera.cli.options import found_workspace
from opera.compilers.registry import plugin, plugins
from opera.config import load_config
from opera.console import echo, option, plural, quoted
from opera.environments.inventory import inventory, lacks
from opera.errors import OperaError
from opera.report.details import counted
from opera.report.overview import findings_among
from opera.run.status import running_campaign
from opera.store import Campaigns, Corpus, Workspace, queries
from opera.store.campaigns import Campaign
from opera.store.database import DATABASE, open_workspace

FIRST = ("onnxruntime", "tvm", "openvino")
"""The compilers that a newcomer is shown, the last that is installed: OpenVINO starts fast, and has bugs to show."""


def tell() -> None:
    """Prints what is in the nearest workspace, if there is one, and the command that comes next."""
    folder = found_workspace()
    if not (folder / DATABASE).is_file():
        echo(f"No workspace here ({folder}).")
        rows = _first()
    else:
        with open_workspace(folder, write=False) as space:
            rows = list(_state(space, folder))
    echo()
    rows.append(("opera --help", "all commands"))
    width = max(len(command) for command, _ in rows)
    for command, why in rows:
        echo(f"  {command:<{width}}  {why}".rstrip())


def _first() -> list[tuple[str, str]]:
    found = installed()
    name = next((each for each in reversed(FIRST) if each in found), None)
    if name is None:
        return [('pip install "opera-dl[openvino,onnx]"', "no compiler is installed"), ("opera doctor --quick", "what is missing")]
    return [
        (f"opera run --samples --compiler {name} --frontend onnx", "a first campaign, in a minute"),
        ("opera extract --lib onnx", "record all tests of a library"),
    ]


def installed() -> list[str]:
    """The names of compilers whose packages are installed, without importing one."""
    config = load_config()
    found: list[str] = []
    for name in plugins():
        try:
            packages = plugin(name).load().packages
            if not lacks(packages, inventory(config.python("compiler", name))):
                found.append(name)
        except OperaError:
            continue
    return found


def _state(space: Workspace, folder: Path) -> Iterator[tuple[str, str]]:
    corpus, campaigns = Corpus(space), Campaigns(space).all()
    where = option(folder)
    counts = {library: corpus.counts(library) for library in corpus.libraries()}
    held = [f"{plural(count, 'instance')} of {name}" for name, (count, _) in counts.items()]
    echo(f"Workspace {folder}: {', '.join(held) or 'empty'}.")
    if not counts:
        yield from _first()
        return
    findings = findings_among(space, queries.apis(space)) if campaigns else ()
    if campaigns:
        newest = campaigns[-1]
        state = "running" if running_campaign(folder) == newest.id else "complete" if newest.complete else "not complete"
        echo(f"{plural(len(campaigns), 'campaign')}, the newest {newest.compiler}/{newest.frontend} ({state}).")
        echo(f"{plural(len(findings), 'finding')}{f': {counted(findings)}' if findings else ''}.")
        if state == "not complete":
            yield f"{_command(newest)}{where}", "continue this campaign"
    else:
        library = next(iter(counts))
        names = [name for name in installed() if any(route.library == library for route in plugin(name).load().routes)]
        name = next((each for each in (*reversed(FIRST), *names) if each in names), None)
        if name is None:
            yield "opera doctor --quick", "no compiler for these instances is installed"
        else:
            frontend = next(route.frontend for route in plugin(name).load().routes if route.library == library)
            yield f"opera run --compiler {name} --frontend {frontend}{where}", "the first campaign"
    if any(finding.reduction is None for finding in findings):
        yield f"opera triage{where}", "reduce failing tests, and join those with one cause"
    if findings:
        yield f"opera report --html report.html{where}", "all findings on one page"
        script = next((each for each in findings if each.has_script), None)
        if script is not None:
            yield f"opera reproduce {script.id[:8]}{where}", "a script that shows one"
    elif campaigns:
        yield f"opera matrix{where}", "which operators pass, and which the compiler declines"


def _command(campaign: Campaign) -> str:
    """The command that began *campaign*, which continues it."""
    chosen = {name: campaign.settings.get(name) for name in ("route", "level", "strategy", "limit", "cap", "seed", "shard")}
    options = [f" --{name} {quoted(str(value))}" for name, value in chosen.items() if value]
    keyword = campaign.settings.get("keyword")
    options += [f" -k {quoted(str(keyword))}"] if keyword else []
    return f"opera run --compiler {campaign.compiler} --frontend {campaign.frontend}{''.join(options)}"
