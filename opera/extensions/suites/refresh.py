"""Corrects the marks of a plain suite from the results of a CI, which JUnit files hold."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opera.atomic import replacing
from opera.console import one_line
from opera.errors import UserError
from opera.extensions.suites.folder import Manifest, check_own, manifest_of, with_files, write_manifest
from opera.extensions.suites.layout import formatted
from opera.extensions.suites.plain import binding_of
from opera.extensions.suites.tests import is_builtin, xfail
from opera.untrusted import Malformed, read_file

_MOST_BYTES = 256 * 2**20
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::|$)")
_STRICT = "[XPASS(strict)]"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test in a CI.

    Attributes:
        passes: Whether the test passes, marked or not.
        raised: Dotted name of the exception; empty if it passes.
        message: What the exception says, in one line.
    """

    passes: bool
    raised: str = ""
    message: str = ""


@dataclass(frozen=True)
class Refreshed:
    """The changes of a refresh, by names of tests.

    Attributes:
        removed: Tests that pass now: without their marks.
        added: Tests that fail now: with marks.
        changed: Tests that fail with another exception.
        unclear: Tests that pass and fail in the same results.
        unknown: Number of results of tests that the suite does not have.
    """

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    unknown: int = 0


def outcomes_of(path: Path) -> dict[str, list[Outcome]]:
    """The outcomes in a JUnit file by name of the test; tests that were skipped or could not be set up have none.

    Raises:
        UserError: the file is absent, too large, or no JUnit file.
    """
    try:
        root = ElementTree.fromstring(read_file(path, _MOST_BYTES))
    except (Malformed, OSError, ElementTree.ParseError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path} cannot be read as JUnit results ({one_line(str(error), 160)}); run pytest with --junitxml={path}"
        ) from error
    if root.tag not in ("testsuites", "testsuite"):
        raise UserError(f"{path} is no JUnit file: it begins with {one_line(root.tag, 40)!r}; run pytest with --junitxml={path}")
    found: dict[str, list[Outcome]] = {}
    for case in root.iter("testcase"):
        outcome = _outcome(case)
        if outcome is not None:
            found.setdefault(case.get("name", "").partition("[")[0], []).append(outcome)
    return found


def _outcome(case: ElementTree.Element) -> Outcome | None:
    """The outcome of one test; None for a test that says nothing: skipped, failing as expected, or not set up."""
    failure = case.find("failure")
    if failure is None:
        return Outcome(True) if case.find("skipped") is None and case.find("error") is None else None
    message = failure.get("message", "")
    if message.startswith(_STRICT):
        return Outcome(True)
    match = _EXCEPTION.match(message)
    if match is None:
        return None
    return Outcome(False, match[1], one_line(message[match.end() :].strip()))


def refresh(folder: Path, results: Iterable[Path]) -> Refreshed:
    """Corrects the marks of the suite in *folder*.

    Args:
        folder: A plain suite that OPERA exported; a person may have changed it since.
        results: JUnit files.

    Raises:
        UserError: the folder has no such suite, or a file cannot be read.
    """
    manifest = manifest_of(folder)
    if manifest is None or manifest.settings.get("style") != "plain":
        raise UserError(f"{folder} has no suite of the plain style; `opera export pytest {folder}` writes one")
    limit = manifest.settings.get("line_length")
    outcomes: dict[str, list[Outcome]] = {}
    for path in results:
        for name, found in outcomes_of(path).items():
            outcomes.setdefault(name, []).extend(found)
    identities = {name: identity for identity, name in manifest.names.items()}
    known = {name: found for name, found in outcomes.items() if name in identities}
    unclear = {name for name, found in known.items() if len({each.passes for each in found}) > 1}
    settled = {name: found[-1] for name, found in known.items() if name not in unclear}
    changes: dict[str, list[str]] = {"removed": [], "added": [], "changed": []}
    modules = [name for name in sorted(manifest.files) if Path(name).match("*/test_*.py")]
    check_own(folder, modules)
    width = limit if isinstance(limit, int) else 88
    edited = [name for name in modules if _refresh_file(folder / name, settled, identities, width, changes)]
    if edited:
        _keep(folder, manifest, edited)
    return Refreshed(
        *(tuple(sorted(changes[kind])) for kind in ("removed", "added", "changed")),
        unclear=tuple(sorted(unclear)),
        unknown=len(outcomes) - len(known),
    )


def _keep(folder: Path, manifest: Manifest, edited: list[str]) -> None:
    write_manifest(folder, with_files(manifest, folder, edited))


def _refresh_file(
    path: Path, outcomes: Mapping[str, Outcome], identities: Mapping[str, str], limit: int, changes: Mapping[str, list[str]]
) -> bool:
    """Corrects the marks in one module; returns whether it was changed."""
    try:
        text = read_file(path, _MOST_BYTES).decode()
        tree = ast.parse(text)
    except FileNotFoundError:
        return False
    except (Malformed, OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{path} cannot be read as Python ({one_line(str(error), 120)}); correct it, or export the suite again") from error
    lines = text.split("\n")
    raised: set[str] = set()
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in outcomes]
    for function in reversed(functions):
        outcome = outcomes[function.name]
        mark = next((each for each in function.decorator_list if _is_xfail(each)), None)
        if mark is None and outcome.passes:
            continue
        kind = "removed" if outcome.passes else "added" if mark is None else "changed"
        new: list[str] = []
        if not outcome.passes:
            raised.add(outcome.raised)
            exception = outcome.raised.rpartition(".")[2]
            new = xfail(exception, identities[function.name], f"{exception}: {outcome.message}", limit)
        start = function.lineno if mark is None else mark.lineno
        end = function.lineno if mark is None else (mark.end_lineno or mark.lineno) + 1
        lines[start - 1 : end - 1] = new
        changes[kind].append(function.name)
    if "\n".join(lines) == text:
        return False
    text = _with_bindings("\n".join(lines), raised, limit)
    with replacing(path) as file:
        file.write(text.encode())
    return True


def _is_xfail(decorator: ast.expr) -> bool:
    found = decorator.func if isinstance(decorator, ast.Call) else decorator
    names: list[str] = []
    while isinstance(found, ast.Attribute):
        names.append(found.attr)
        found = found.value
    return names == ["xfail", "mark"] and isinstance(found, ast.Name) and found.id == "pytest"


def _with_bindings(text: str, raised: Iterable[str], limit: int) -> str:
    """*text* with a binding for each exception that is not Python's own, and without those that are used no more."""
    for dotted in sorted(raised):
        name = dotted.rpartition(".")[2]
        if "." in dotted and not is_builtin(dotted) and f"\n{name} = " not in text:
            place = [match.end() for match in re.finditer(r"(?m)^.*pytest\.importorskip\((?:[^()]|\n)*\).*$", text)]
            bound = formatted(binding_of(dotted), limit)
            text = f"{text[: place[-1]]}\n{bound}{text[place[-1] :]}" if place else text
    for match in re.finditer(r"(?m)^(\w+) = (\w+)\.\1\n", text):
        if len(re.findall(rf"\b{match[1]}\b", text)) == 2:
            text = text.replace(match[0], "", 1)
            text = re.sub(rf"(?m)^{match[2]} = pytest\.importorskip\((?:[^()]|\n)*\)\n", "", text, count=1)
    return text
