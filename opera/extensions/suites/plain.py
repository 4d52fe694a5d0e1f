"""The plain style: modules of tests that need pytest alone, with one helper."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from opera import testing
from opera.arrays import Array
from opera.compilers.adapter import Adapter
from opera.compilers.registry import plugin
from opera.difftest.messages import BUILDS_ONLY
from opera.errors import UserError
from opera.extensions.suites.driver import RouteFunction, default_route, environment, helper, route_function
from opera.extensions.suites.layout import formatted, lines_of
from opera.extensions.suites.names import module_name
from opera.extensions.suites.statements import SHORT_NAMES
from opera.extensions.suites.tests import SuiteTest, ascii_text, is_builtin, text_of

LINE_LENGTH = 88
"""Characters of a line, as ruff and Black have it by default."""
GREEN, BURN_DOWN, DATA = "green", "burn_down", "data"


@dataclass(frozen=True)
class Style:
    """How the files of a suite look.

    Attributes:
        header: Comment lines at the top of each Python file; empty for none.
        marks: Names of marks that every test has.
        line_length: Characters of a line.
        with_targets: Whether tests run for each target, by OPERA's plug-in, a copy of which is in the suite.
    """

    header: str = ""
    marks: tuple[str, ...] = ()
    line_length: int = LINE_LENGTH
    with_targets: bool = False

    def __post_init__(self) -> None:
        for mark in self.marks:
            if not mark.isidentifier() or not mark.isascii():
                raise UserError(f"{mark!r} is no mark; write names as in pytest.mark.NAME, separated by commas")


def header_of(text: str) -> str:
    """The text of a licence as comment lines; lines that are comments stay as they are."""
    lines = text.strip("\n").splitlines()
    if not text.isprintable() and not all(line.isprintable() or not line for line in lines):
        raise UserError("the header has characters that cannot be printed; write plain text")
    return "\n".join(line if line.startswith("#") else f"# {line}".rstrip() for line in lines)


def files_of(
    compiler: str,
    tests: Sequence[SuiteTest],
    versions: Mapping[str, str],
    style: Style,
    folder: str,
    left_out: Mapping[str, int] | None = None,
    *,
    ran: bool = False,
) -> dict[str, bytes]:
    """The files of a suite, by their paths.

    Args:
        compiler: What the tests drive.
        tests: The tests.
        versions: With which they were seen, by name.
        style: How the files look.
        folder: Name of the suite's folder, for its README.
        left_out: Why tests were left out, and how many for each reason.
        ran: Whether each test ran before the export.
    """
    adapter = plugin(compiler).load()
    routes = sorted({(each.frontend, each.route) for each in tests})
    functions = [route_function(adapter, frontend, route, versions) for frontend, route in routes]
    files: dict[str, bytes] = {}
    modules: dict[tuple[bool, str, str], list[SuiteTest]] = {}
    for each in sorted(tests, key=lambda test: test.name):
        modules.setdefault((each.failure is not None, each.frontend, each.family), []).append(each)
    for (fails, frontend, family), members in sorted(modules.items()):
        name = module_name(compiler, frontend, family, fails=fails)
        text, arrays = _module(adapter, members, functions, style, family)
        files[f"{BURN_DOWN if fails else GREEN}/{name}.py"] = text
        files.update({f"{DATA}/{test}.npz": packed(each) for test, each in arrays.items()})
    files["opera_suite.py"] = _python(helper(adapter, functions, with_targets=style.with_targets), style)
    files["conftest.py"] = _python(_conftest(tests, style), style)
    if style.with_targets:
        files.update({f"opera_testing/{name}": _python(f"{_AS_IT_IS}{text}", style) for name, text in plug_in().items()})
    comment = f"<!--\n{style.header}\n-->\n\n" if style.header else ""
    files["README.md"] = f"{comment}{_readme(adapter, tests, versions, folder, left_out or {}, ran=ran)}".encode()
    return files


_AS_IT_IS = "# ruff: noqa\n# fmt: off\n"


def plug_in() -> dict[str, str]:
    """The files of OPERA's plug-in for pytest, by name."""
    folder = Path(testing.__file__).parent
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def packed(arrays: Mapping[str, Array]) -> bytes:
    """The bytes of an .npz file without pickled objects; the same arrays give the same bytes."""
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in sorted(arrays.items()):
            one = io.BytesIO()
            np.lib.format.write_array(one, np.asanyarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), one.getvalue())
    return buffer.getvalue()


def _python(text: str, style: Style) -> bytes:
    return _written(formatted(text, style.line_length), style)


def _written(text: str, style: Style) -> bytes:
    head = f"{style.header}\n" if style.header else ""
    return f"{head}{text}\n".encode()


def _module(
    adapter: type[Adapter], tests: Sequence[SuiteTest], functions: Iterable[RouteFunction], style: Style, family: str
) -> tuple[bytes, dict[str, Mapping[str, Array]]]:
    """The text of a module, and the arrays of its tests."""
    texts: list[str] = []
    arrays: dict[str, Mapping[str, Array]] = {}
    for each in tests:
        lines, data = text_of(each, style.line_length, default_route(adapter, each.frontend), adapter.target if style.with_targets else "")
        texts.append("\n".join(lines))
        if data:
            arrays[each.name] = data
    own = "\n".join(texts)
    helpers = _used({ast.unparse(each): each for test in tests for each in test.helpers}, own)
    body = "\n\n\n".join([*("\n".join(lines_of([each], style.line_length)) for each in helpers), *texts])
    frontend, fails = tests[0].frontend, tests[0].failure is not None
    what = "known failures" if fails else "tests that pass"
    head = [f'"""{adapter.name}/{frontend}, {family}: {what}; README.md explains them."""', ""]
    head += ["import numpy as np"] if _uses(body, "np") else []
    head += ["import pytest", ""]
    bound = _bindings(line for each in tests for line in each.imports)
    if _uses(body, "ml_dtypes"):
        bound["ml_dtypes"] = "ml_dtypes"
    skips = [name for each in functions if each.frontend == frontend for name in each.modules if name not in bound.values()]
    head += [f'{name} = pytest.importorskip("{module}")' for name, module in bound.items()]
    head += [f'pytest.importorskip("{module}")' for module in dict.fromkeys(skips) if module not in ("numpy", "ml_dtypes")]
    head += _inner_names([line for each in tests for line in each.imports], body, list(bound))
    head += [f"{short} = {_full_name(name)}" for name, short in SHORT_NAMES.items() if re.search(rf"(?<![\w.\"]){short}[(.]", own)]
    if style.with_targets and tests[0].failure is not None:
        head += ['testing = pytest.importorskip("opera_testing")', "known_failing = testing.known_failing_targets"]
    raised = {
        name.rpartition(".")[2]: name
        for each in tests
        for name in (each.failure.exceptions if each.failure is not None else ())
        if not is_builtin(name)
    }
    head += [binding_of(dotted) for _, dotted in sorted(raised.items())]
    if style.marks:
        head += [f"pytestmark = [{', '.join(f'pytest.mark.{mark}' for mark in style.marks)}]"]
    top = formatted("\n".join(head), style.line_length)
    return _written(f"{top}\n\n\n{body}", style), arrays


def _used(helpers: Mapping[str, ast.stmt], text: str) -> list[ast.stmt]:
    """The functions among *helpers*, by their text, that *text* calls, or another of them that it calls; sorted."""
    kept: dict[str, ast.stmt] = {}
    names = {source: each.name for source, each in helpers.items() if isinstance(each, ast.FunctionDef)}
    while more := [source for source in helpers.keys() - kept.keys() if _calls("\n".join([text, *kept]), names.get(source, ""))]:
        kept.update({source: helpers[source] for source in more})
    return [kept[source] for source in sorted(kept)]


def _calls(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b", text) is not None


def _full_name(name: str) -> str:
    return name if name.startswith("onnx.") else f"onnx.{name}"


def binding_of(dotted: str) -> str:
    """The lines that give a module the exception *dotted* under its own name."""
    module, _, name = dotted.rpartition(".")
    short = module.rpartition(".")[2]
    return f'{short} = pytest.importorskip("{module}")\n{name} = {short}.{name}'


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\.", text) is not None


def _bindings(imports: Iterable[str]) -> dict[str, str]:
    """The libraries that tests name, by that name: `torch`, `onnx`, `tf`."""
    found: dict[str, str] = {}
    for line in sorted(set(imports)):
        match = re.fullmatch(r"import (\w+)(?: as (\w+))?", line)
        if match is not None and match[1] not in ("base64", "lzma", "ml_dtypes", "numpy"):
            found[match[2] or match[1]] = match[1]
    return found


def _inner_names(imports: Iterable[str], body: str, libraries: Sequence[str]) -> list[str]:
    """Lines that bind what `from LIBRARY import NAME` binds in a script."""
    lines: list[str] = []
    for line in sorted(set(imports)):
        match = re.fullmatch(r"from ([\w.]+) import ([\w, ]+)", line)
        if match is None:
            continue
        used = (name for name in match[2].split(", ") if re.search(rf"(?<![\w.]){name}\b", body))
        module = f'pytest.importorskip("{match[1]}")' if "." in match[1] else match[1]
        lines += [f"{name} = {module}.{name}" for name in used]
    return list(dict.fromkeys(lines)) if libraries else []


def _conftest(tests: Sequence[SuiteTest], style: Style) -> str:
    isolated = sorted({each.frontend for each in tests if each.failure is not None and each.failure.in_child})
    frontends = sorted({each.frontend for each in tests})
    names = {"variables": _variables(tests), "frontends": frontends, "isolated": isolated, "with_targets": style.with_targets}
    return environment().get_template("conftest.py.j2").render(names)


def _variables(tests: Sequence[SuiteTest]) -> dict[str, str]:
    """The environment variables that the tests need.

    Raises:
        UserError: two tests need other values.
    """
    found: dict[str, str] = {}
    for name, value in (pair for each in tests for pair in each.environment):
        if found.setdefault(name, value) != value:
            raise UserError(f"the tests need {name} to be {found[name]!r} and {value!r}; choose one with --frontend or --campaign")
    return found


@dataclass(frozen=True)
class _Row:
    name: str
    finding: str
    summary: str
    link: str


def _readme(
    adapter: type[Adapter],
    tests: Sequence[SuiteTest],
    versions: Mapping[str, str],
    folder: str,
    left_out: Mapping[str, int],
    *,
    ran: bool,
) -> str:
    failing = [each for each in sorted(tests, key=lambda test: test.name) if each.failure is not None]
    rows = [
        _Row(each.name, each.identity[:8], _in_a_table(each.failure.summary, each.more), each.link)
        for each in failing
        if each.failure is not None
    ]
    libraries = sorted({re.sub(r"^import (\w+).*", r"\1", line) for each in tests for line in each.imports if line.startswith("import ")})
    return (
        environment()
        .get_template("README.md.j2")
        .render(
            compiler=adapter.name,
            folder=folder,
            libraries=", ".join(each for each in libraries if each not in ("base64", "lzma")),
            green=_counted(len(tests) - len(failing)),
            failing=_counted(len(failing)),
            versions=", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown versions",
            rows=rows,
            linked=any(each.link for each in rows),
            left_out={ascii_text(reason).replace("|", "/"): count for reason, count in left_out.items()},
            ran=ran,
            own=any(each.tolerance is not None for each in tests),
            builds_only=BUILDS_ONLY.items() <= versions.items(),
        )
    )


def _in_a_table(summary: str, more: str) -> str:
    return ascii_text(f"{summary} ({more})" if more else summary).replace("|", "/").replace("`", "'")


def _counted(count: int) -> str:
    return "" if count == 0 else "1 test" if count == 1 else f"{count:,} tests"
