"""The options `--trust` and `--root`: which code of the user's own a command lets workers load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from opera.cli.help import heading
from opera.config import Config
from opera.console import quoted
from opera.environments.inventory import search_path
from opera.errors import UserError
from opera.models.operators import is_name
from opera.trust import Trust, is_foreign, is_standard, package_below

F = TypeVar("F", bound=Callable[..., Any])
_option = heading("Classes of your own")


def trusting(function: F) -> F:
    """Adds the options `--root` and `--trust` to a command."""
    made = _option("--root", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Look up paths of classes from here.")(
        function
    )
    return _option(
        "--trust", "trusted", multiple=True, metavar="DIR|PACKAGE", help="Run code of this folder, file or package (repeatable)."
    )(made)


def with_trust(config: Config, library: str, names: Iterable[str], root: Path | None, folders: Iterable[Path] = ()) -> Config:
    """*config* with what the options say.

    Args:
        config: As the project has it.
        library: Whose workers load the classes.
        names: Values of `--trust`.
        root: Value of `--root`; None for the current folder.
        folders: Where else paths are looked up, after the root.

    Raises:
        UserError: a name is neither a folder, nor a file, nor a package.
    """
    names = list(dict.fromkeys(names))
    if root is not None and not root.is_dir():
        raise UserError(f"--root {root} is not a folder; name the folder from which paths of classes are looked up")
    roots = list(dict.fromkeys(str(each.resolve()) for each in (root or Path.cwd(), *folders)))
    trusted: list[str] = []
    bases: list[str] = []
    for name in names:
        if Path(name).exists():
            trusted.append(str(Path(name).resolve()))
            continue
        python = config.python("library", library)
        _check_package(name)
        found = next((each for base in (*roots, *search_path(python)) if (each := package_below(Path(base), name)) is not None), None)
        if found is None:
            raise UserError(f"--trust {quoted(name)}: there is no such folder or file, and {python} has no such package; correct the name")
        place, base = found
        trusted.append(str(place.resolve()))
        bases.append(str(base))
    kept = tuple(each for each in dict.fromkeys(bases) if each not in roots)
    return replace(config, trust=Trust(tuple(trusted), tuple(roots), kept))


def trust_options(names: Iterable[str], root: Path | None) -> str:
    """The options as a command line has them."""
    return "".join(f" --trust {quoted(each)}" for each in names) + ("" if root is None else f" --root {quoted(str(root))}")


def _check_package(name: str) -> None:
    if not all(is_name(each) for each in name.split(".")):
        raise UserError(f"--trust {quoted(name)}: there is no such folder or file; correct the path")
    if is_standard(name) or not is_foreign(name):
        raise UserError(f"--trust {quoted(name)}: OPERA's own list decides on names of PyTorch and of Python's standard library; remove it")
