"""`opera env`: makes, lists and removes separate environments of compilers and libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import click
from packaging.version import Version

from opera.cli.doctor import entry_of
from opera.cli.help import HeadedGroup
from opera.cli.options import Count, common
from opera.compilers.registry import plugin, plugins
from opera.config import FILE, Config, Setting, config_file, is_release, load_config
from opera.console import doing, echo, one_line, plural, print_json, print_table, say, wrapped
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.environments.checkup import Check, Checkup, State
from opera.environments.inventory import inventory, search_path
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.extensions.environments.build import EnvironmentFolder, create, home, made_at, place, record_of, remove
from opera.extensions.environments.recipes import Recipe, known_names, recipe, version_recipe
from opera.extensions.environments.releases import compilers, in_order
from opera.extensions.environments.settings_file import Entry, write_python
from opera.untrusted import JsonObject
from opera.workers.supervision import working_folder

_WORKERS = 2
_PACKAGES = ("site-packages", "dist-packages")
"""Names of the folders of packages on a search path."""
_PATH = click.Path(path_type=Path, file_okay=False)


@click.group("env", cls=HeadedGroup)
def command() -> None:
    """Manage separate environments of compilers and libraries."""


@command.command("create")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--path", type=_PATH, metavar="DIR", help="Folder of the environment; by default .opera-envs/NAME next to opera.toml.")
@click.option("--python", metavar="PYTHON", help="Interpreter of the environment; by default the one that runs this command.")
@click.option("--again", is_flag=True, help="Remove the environment first if it exists.")
@click.option(
    "--from",
    "source",
    metavar="WHAT",
    help="Install this in place of a release: a wheel, a folder, or a requirement of an index; with NAME==BUILD.",
)
@click.option(
    "--keep", type=Count(), metavar="N", help="Keep the N newest builds made with --from, and remove older ones; by default, keep all."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@common
def create_command(
    names: tuple[str, ...],
    path: Path | None,
    python: str | None,
    again: bool,
    source: str | None,
    keep: int | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Make environments, and write their interpreters into opera.toml.

    NAME is an environment of `opera env list`, or a version of a compiler, e.g. tvm==0.26.0, which `opera run --compiler tvm==0.26.0` then
    uses. A version shares the packages of the compiler's usual environment. OPERA first checks each environment on a canary model. Exit
    with 3 when one cannot be made or its canary model fails; opera.toml then does not name it.
    """
    if len(names) > 1 and (path is not None or source is not None):
        raise UserError("--path and --from are for one environment; make the others with commands of their own")
    if python is not None and any("==" in name for name in names):
        raise UserError("a version has the interpreter of the compiler's usual environment, whose packages it shares; leave --python out")
    if keep is not None and source is None:
        raise UserError("--keep is for builds; name what pip has to install with --from")
    made = list[_Made]()
    wanted = [_recipe(name, source) for name in dict.fromkeys(names)]
    loads = [each.download for each in wanted if each.download]
    if len(wanted) > 1 and loads:
        say(f"{plural(len(wanted), 'environment')}, {sum(loads):,} MB to load", quiet=quiet)
    for each in wanted:
        config = load_config()
        if len(wanted) > 1 and not again and (there := _made(config).get(each.name)) is not None and there[0].is_complete and there[1]:
            say(f"{each.name} is there already", quiet=quiet)
            made.append(_Made(each, there[0], (), True))
            continue
        try:
            made.append(_make(each, path, python, config, again=again, quiet=quiet))
        except EnvironmentBroken as error:
            if len(wanted) == 1:
                raise
            say(f"{each.name}: {error}")
            made.append(_Made(each, place(each.name, path), (), False))
    if keep is not None and all(each.used for each in made):
        _prune(wanted[0].serves[0][1], keep, quiet=quiet)
    if as_json:
        print_json({"schema": "env-create/2", "environments": [each.entry for each in made]})
    else:
        for each in made:
            if each.used:
                echo(each.told)
    return Exit.CLEAN if all(each.used for each in made) else Exit.BROKEN_ENVIRONMENT


def _prune(compiler: str, keep: int, *, quiet: bool) -> None:
    """Removes the oldest builds of a compiler, with their entries in opera.toml, so that *keep* are left."""
    found = {name: each for name, (each, used) in _made(load_config()).items() if used and name.startswith(f"{compiler}==")}
    builds = [each for name, each in found.items() if not is_release(name.partition("==")[2])]
    for each in sorted(builds, key=made_at)[:-keep]:
        say(f"removing {each.folder}", quiet=quiet)
        _removed(each, load_config())


@dataclass(frozen=True)
class _Made:
    """An environment that was asked for.

    Attributes:
        wanted: Its recipe.
        where: Its folder, which is not there if it could not be made.
        checks: The results of its canaries.
        used: Whether opera.toml names it, or it runs opera itself.
    """

    wanted: Recipe
    where: EnvironmentFolder
    checks: tuple[Check, ...]
    used: bool

    @property
    def entry(self) -> JsonObject:
        """As `opera env create --json` writes it."""
        return {
            "name": self.wanted.name,
            "path": str(self.where.folder),
            "python": str(self.where.python),
            "serves": [".".join(each) for each in self.wanted.serves],
            "used": self.used,
            "checks": [entry_of(check) for check in self.checks],
        }

    @property
    def told(self) -> str:
        """The same for a person."""
        file = config_file() or Path.cwd() / FILE
        headers = ", ".join(f"[{each.header}]" for each in _entries(self.wanted))
        use = f"{file} says so under {headers}" if headers else f"its interpreter is {self.where.python}"
        return f"{self.wanted.name} lives in {self.where.folder} now; {use}"


def _recipe(name: str, source: str | None) -> Recipe:
    if "==" in name:
        return version_recipe(name, source)
    if source is not None:
        raise UserError(f"--from needs a name for the build; write e.g. {one_line(name, 40)}==nightly")
    return recipe(name)


def _make(wanted: Recipe, path: Path | None, python: str | None, config: Config, *, again: bool, quiet: bool) -> _Made:
    """Makes an environment, checks it, and writes it into opera.toml if nothing is wrong with it.

    Raises:
        UserError: something else is there.
        EnvironmentBroken: it cannot be made.
    """
    where = place(wanted.name, path)

    def tell(line: str) -> None:
        say(line, quiet=quiet)

    if wanted.needs:
        tell(f"{wanted.name} needs {wanted.needs}")
    shared = list[str]()
    if wanted.version is not None:
        usual = config.python(*wanted.serves[0])
        python, shared = usual, [folder for folder in search_path(usual) if Path(folder).name in _PACKAGES]
    file = config_file() or Path.cwd() / FILE
    named = [entry for entry, setting in _named(config) if Path(setting.value) == where.python]
    if again and named:  # until the new one works
        write_python(file, dict.fromkeys(named))
    create(wanted, where, python, again=again, tell=tell, shared=shared)
    checks = _check(wanted, where, config)
    faults = [check for check in checks if not check.ok and (check.route is None or not check.library_at_fault)]
    if not faults and wanted.serves:
        write_python(file, {entry: _written(where.python, file) for entry in _entries(wanted)})
    for check in checks:
        if not check.ok:
            say(f"{check.name}{f'/{check.route.frontend} by {check.route.name}' if check.route else ''}: {check.reason}")
    if faults:
        say(f"{where.folder} is made and not used: {file} is as it was; `opera env remove {wanted.name}` removes it")
    return _Made(wanted, where, tuple(checks), not faults)


def _entries(wanted: Recipe) -> list[Entry]:
    return [Entry(section, name, wanted.version) for section, name in wanted.serves]


def _check(wanted: Recipe, where: EnvironmentFolder, config: Config) -> list[Check]:
    """The checks of every compiler and library of the environment, as if opera.toml already named it.

    Of a version, one route has to work, whose library is there: a campaign checks its own before it begins.
    """
    if wanted.version is not None and (exporter := wanted.serves[0][1]) not in plugins():
        found = inventory(str(where.python)).find(compilers()[exporter].package)
        is_there = found is not None and (not wanted.download or Version(found.version) == Version(wanted.version))
        return [Check(exporter, None, State.PASS if is_there else State.BROKEN, "" if is_there else "another version is installed")]
    python = Setting(str(where.python), "opera env create")
    values = {**config.values, **{(*served, "python"): python for served in wanted.serves}}
    own = [plugin(name) for section, name in wanted.serves if section == "compiler"]
    libraries = [name for section, name in wanted.serves if section == "library"]
    with working_folder("env") as folder:
        if wanted.version is None:
            checkup = Checkup(Config(values), folder, _WORKERS, doing)
            return [*checkup.libraries(libraries), *checkup.adapters(own)]
        name, version = wanted.serves[0][1], wanted.version
        served = replace(config, versions={**config.versions, (name, version): {"python": python}}).at(name, version)
        installed = Checkup(served, folder, _WORKERS, doing).installed(own)
        other = next(
            (check for check in installed if check.version and wanted.download and Version(check.version) != Version(wanted.version)), None
        )
        if other is not None:
            return [replace(other, state=State.BROKEN, reason=f"the environment has {other.version}, not {wanted.version}")]
        routes = [check for check in installed if check.ok]
        if not routes:
            return [replace(installed[0], library_at_fault=False)]
        routes.sort(key=lambda check: check.route is None or check.route.artefact != "onnx")  # whose library is imported soonest
        first = dict[str, Check]()
        for check in routes:
            first.setdefault(check.route.frontend if check.route else "", check)
        proved = (_proved(check, served, folder) for check in first.values())
        return [next((check for check in proved if check.ok), None) or next(proved)]


def _proved(installed: Check, config: Config, folder: Path) -> Check:
    """The check of a route of a version on the canary, as a campaign makes it."""
    assert installed.route is not None
    doing(f"running the canary of {installed.name}/{installed.route.frontend}")
    try:
        settings = Settings(installed.name, installed.route.frontend, installed.route.name)
        workers = SubjectSession(settings, config, folder / "cache", folder)
        try:
            workers.prove()
        finally:
            workers.pool.close()
    except EnvironmentBroken as error:
        return replace(installed, state=State.BROKEN, reason=str(error))
    return replace(installed, state=State.PASS)


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
    whole = [row for row in rows if "==" not in row["name"]]
    print_table(
        ["environment", "state", "serves", "size", "what it holds"],
        [
            [row["name"], row["state"], ", ".join(row["serves"]), f"{row['gigabytes']:g} GB" if row["gigabytes"] else "", row["summary"]]
            for row in whole
        ],
    )
    for row in whole:
        if row["path"]:
            echo(f"{row['name']}: {row['path']}")
    own = [row for row in rows if "==" in row["name"]]
    for name in dict.fromkeys([*compilers(), *(row["name"].partition("==")[0] for row in own)]):
        said = list[str]()
        known = compilers().get(name)
        if known is not None:
            newest, oldest = known.releases[0], known.releases[-1]
            said.append(
                f"{plural(len(known.releases), 'release')} from {oldest.version} ({oldest.date}) to {newest.version} ({newest.date})"
            )
        made = {row["name"].partition("==")[2]: row["state"] for row in own if row["name"].startswith(f"{name}==")}
        if made:
            said.append("made " + ", ".join(each if made[each] == "in use" else f"{each} ({made[each]})" for each in in_order(made, {})))
        wrapped(f"{name}==VERSION: {'; '.join(said)}")
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
    compiler, is_version, version = name.partition("==")
    release = compilers()[compiler].find(version) if compiler in compilers() else None
    summary = f"released on {release.date}" if release else "a version of a compiler" if is_version else ""
    state = "not made"
    if found is not None:
        state = "not finished" if not found[0].is_complete else "in use" if found[1] else "made, not used"
    return {
        "name": name,
        "state": state,
        "serves": [".".join(served) for served in known.serves] if known else [f"compiler.{compiler}"] if is_version else [],
        "gigabytes": known.gigabytes if known else 0.0,
        "summary": known.summary if known else summary,
        "path": str(found[0].folder) if found else None,
    }


def _made(config: Config) -> dict[str, tuple[EnvironmentFolder, bool]]:
    """Every environment that `opera env` made and that opera.toml names or the usual folder has, and whether opera.toml names it."""
    found: dict[str, tuple[EnvironmentFolder, bool]] = {}
    folders = [each for each in home().iterdir() if each.is_dir()] if home().is_dir() else []
    for each in filter(None, map(record_of, folders)):
        found[each.name] = each, False
    for _, setting in _named(config):
        each = record_of(Path(setting.value).parent.parent)
        if each is not None:
            found[each.name] = each, True
    return found


def _named(config: Config) -> Iterator[tuple[Entry, Setting]]:
    """The entries of opera.toml that name an interpreter."""
    for (section, name, key), setting in config.values.items():
        if key == "python":
            yield Entry(section, name), setting
    for (name, version), settings in config.versions.items():
        if "python" in settings:
            yield Entry("compiler", name, version), settings["python"]


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
    file, served = _removed(where, config)
    if as_json:
        print_json({"schema": "env-remove/1", "name": name, "path": str(where.folder), "served": [each.header for each in served]})
    else:
        told = f"; {file} no longer names it" if served else ""
        echo(f"removed {where.folder}{told}")
    return Exit.CLEAN


def _removed(where: EnvironmentFolder, config: Config) -> tuple[Path | None, list[Entry]]:
    """Removes an environment and its entries; returns the file that had them, and the entries."""
    file = config_file()
    served = [entry for entry, setting in _named(config) if Path(setting.value) == where.python]
    if not where.is_ours:
        raise UserError(f"{where.folder} was not made by `opera env create`, so nothing was removed; remove the folder by hand")
    if file is not None and served:
        write_python(file, dict.fromkeys(served))
    remove(where)
    return file, served
