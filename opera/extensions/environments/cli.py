"""`opera env`: makes, lists and removes separate environments of compilers and libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict

import click

from opera.cli.doctor import entry_of
from opera.cli.help import HeadedGroup
from opera.cli.options import common
from opera.compilers.registry import plugin
from opera.config import FILE, Config, Setting, config_file, load_config
from opera.console import doing, echo, print_json, print_table, say
from opera.environments.checkup import Check, Checkup
from opera.errors import Exit, UserError
from opera.extensions.environments.build import EnvironmentFolder, create, home, place, record_of, remove
from opera.extensions.environments.recipes import Recipe, known_names, recipe
from opera.extensions.environments.settings_file import write_python
from opera.workers.supervision import working_folder

_WORKERS = 2
_PATH = click.Path(path_type=Path, file_okay=False)


@click.group("env", cls=HeadedGroup)
def command() -> None:
    """Manage separate environments of compilers and libraries."""


@command.command("create")
@click.argument("name")
@click.option("--path", type=_PATH, metavar="DIR", help="Folder of the environment; by default .opera-envs/NAME next to opera.toml.")
@click.option("--python", metavar="PYTHON", help="Interpreter of the environment; by default the one that runs this command.")
@click.option("--again", is_flag=True, help="Remove the environment first if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@common
def create_command(name: str, path: Path | None, python: str | None, again: bool, quiet: bool, as_json: bool) -> int:
    """Make an environment, and write its interpreter into opera.toml.

    OPERA first checks the environment on a canary model. Exit with 3 when the environment cannot be made or the canary model fails;
    opera.toml then does not change.
    """
    wanted = recipe(name)
    config = load_config()
    where = place(name, path)

    def tell(line: str) -> None:
        say(line, quiet=quiet)

    if wanted.needs:
        tell(f"{name} needs {wanted.needs}")
    create(wanted, where, python, again=again, tell=tell)
    checks = _check(wanted, where, config)
    faults = [check for check in checks if not check.ok and (check.route is None or not check.library_at_fault)]
    file = config_file() or Path.cwd() / FILE
    if not faults and wanted.serves:
        write_python(file, {served: _written(where.python, file) for served in wanted.serves})
    if as_json:
        served = [".".join(each) for each in wanted.serves]
        print_json(
            {
                "schema": "env-create/1",
                "name": name,
                "path": str(where.folder),
                "python": str(where.python),
                "serves": served,
                "used": not faults,
                "checks": [entry_of(check) for check in checks],
            }
        )
    for check in checks:
        if not check.ok:
            say(f"{check.name}{f'/{check.route.frontend} by {check.route.name}' if check.route else ''}: {check.reason}")
    if faults:
        say(f"{where.folder} is made and not used: {file} is as it was; `opera env remove {name}` removes it")
        return Exit.BROKEN_ENVIRONMENT
    if not as_json:
        served = ", ".join(f"[{section}.{each}]" for section, each in wanted.serves)
        use = f"{file} says so under {served}" if served else f"its interpreter is {where.python}"
        echo(f"{name} lives in {where.folder} now; {use}")
    return Exit.CLEAN


def _check(wanted: Recipe, where: EnvironmentFolder, config: Config) -> list[Check]:
    """The checks of every compiler and library of the environment, as if opera.toml already named it."""
    values = {**config.values, **{(*served, "python"): Setting(str(where.python), "opera env create") for served in wanted.serves}}
    compilers = [plugin(name) for section, name in wanted.serves if section == "compiler"]
    libraries = [name for section, name in wanted.serves if section == "library"]
    with working_folder("env") as folder:
        checkup = Checkup(Config(values), folder, _WORKERS, doing)
        return [*checkup.libraries(libraries), *checkup.adapters(compilers)]


def _written(python: Path, file: Path) -> str:
    """The interpreter as opera.toml has it: a relative path if it lies below the folder of the file."""
    folder = file.parent.resolve()
    resolved = python.parent.resolve() / python.name
    return os.fspath(resolved.relative_to(folder)) if resolved.is_relative_to(folder) else os.fspath(resolved)


@command.command("list")
@common
def list_command(as_json: bool) -> int:
    """List the environments that exist, and those that can be made."""
    made = _made(load_config())
    rows = [_row(name, made.get(name)) for name in sorted({*known_names(), *made})]
    if as_json:
        print_json({"schema": "env-list/1", "environments": rows})
        return Exit.CLEAN
    print_table(
        ["environment", "state", "serves", "size", "what it holds"],
        [
            [row["name"], row["state"], ", ".join(row["serves"]), f"{row['gigabytes']:g} GB" if row["gigabytes"] else "", row["summary"]]
            for row in rows
        ],
    )
    for row in rows:
        if row["path"]:
            echo(f"{row['name']}: {row['path']}")
    return Exit.CLEAN


class _Row(TypedDict):
    """An environment that exists or can be made, as `opera env list --json` writes it."""

    name: str
    state: str
    serves: list[str]
    gigabytes: float
    summary: str
    path: str | None


def _row(name: str, found: tuple[EnvironmentFolder, bool] | None) -> _Row:
    known = recipe(name) if name in known_names() else None
    state = "not made"
    if found is not None:
        state = "not finished" if not found[0].is_complete else "in use" if found[1] else "made, not used"
    return {
        "name": name,
        "state": state,
        "serves": [".".join(served) for served in known.serves] if known else [],
        "gigabytes": known.gigabytes if known else 0.0,
        "summary": known.summary if known else "",
        "path": str(found[0].folder) if found else None,
    }


def _made(config: Config) -> dict[str, tuple[EnvironmentFolder, bool]]:
    """Every environment that `opera env` made and that opera.toml names or the usual folder has, and whether opera.toml names it."""
    found: dict[str, tuple[EnvironmentFolder, bool]] = {}
    folders = [each for each in home().iterdir() if each.is_dir()] if home().is_dir() else []
    for each in filter(None, map(record_of, folders)):
        found[each.name] = each, False
    for setting in config.values.values():
        each = record_of(Path(setting.value).parent.parent)
        if each is not None:
            found[each.name] = each, True
    return found


@command.command("remove")
@click.argument("name")
@click.option("--path", type=_PATH, metavar="DIR", help="Folder of the environment; by default the one in opera.toml, or .opera-envs/NAME.")
@common
def remove_command(name: str, path: Path | None, as_json: bool) -> int:
    """Remove an environment, and its entry in opera.toml."""
    config = load_config()
    made = _made(config)
    if path is None and name not in made:
        there = ", ".join(made) or "none"
        raise UserError(f"no environment {name!r}; choose one of: {there}")
    where = place(name, path) if path is not None else made[name][0]
    file = config_file()
    served = [(section, each) for (section, each, _), setting in config.values.items() if Path(setting.value) == where.python]
    if not where.is_ours:
        raise UserError(f"{where.folder} was not made by `opera env create`, so nothing was removed; remove the folder by hand")
    if file is not None and served:
        write_python(file, dict.fromkeys(served))
    remove(where)
    if as_json:
        print_json({"schema": "env-remove/1", "name": name, "path": str(where.folder), "served": [".".join(each) for each in served]})
    else:
        told = f"; {file} no longer names it" if served else ""
        echo(f"removed {where.folder}{told}")
    return Exit.CLEAN
