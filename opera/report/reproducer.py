"""Writes stand-alone scripts that show a finding, and runs them. They need only numpy, the library and the compiler."""

from __future__ import annotations

import ast
import contextlib
import fcntl
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opera.compilers.adapter import Adapter, Route
from opera.compilers.registry import choose_route, known_adapter, noise_of, plugin
from opera.config import Config
from opera.console import doing
from opera.difftest.judge import headline
from opera.difftest.messages import BUILDS_ONLY, ModelSource
from opera.errors import EnvironmentBroken, UserError
from opera.instance.libraries import facts_of
from opera.instrumentation.tensors import DTYPE_BITS
from opera.models.forms import BESIDE
from opera.models.operators import FOLDER, operators_of
from opera.oracles.fingerprint import summary, template
from opera.oracles.tolerance import tolerance_of
from opera.oracles.verdict import Detail, Verdict
from opera.report.words import symptom_words, when
from opera.store import Corpus, StoredResult, Workspace
from opera.triage.findings import Finding
from opera.untrusted import read_file
from opera.workers import clock
from opera.workers.process import PINNED_ENVIRONMENT, Limits, signal_name
from opera.workers.program import LOOK_SECONDS, Program, passed_on
from opera.workers.supervision import working_folder

if TYPE_CHECKING:
    import jinja2

_TEMPLATES = Path(__file__).parent.parent / "templates" / "reproducers"
_LIMITS = Limits()
_TIMEOUT = 240.0
_MEMORY = 2 * _LIMITS.memory
"""Resident bytes of a script, which has library and compiler in one process."""
_READ = 2**20
"""Bytes at the end of a script's output that OPERA reads; a pipe can hold this many."""
_SHOWN = 4000
_SEARCHED = 60_000
_NUMPY = "import numpy as np"
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
_OPSET = re.compile(r'(?:make_opsetid\(|opset_import: \[)"(?:ai\.onnx)?"(?: :|,) (\d+)')
_FOREIGN = re.compile(r"\bml_dtypes\.(bfloat16|float8\w+)")
"""Dtypes of outputs that OpenVINO's Python API gives as integers of the same size."""
_NARROW = re.compile(r"\bml_dtypes\.(u?int[24]|float4\w+)\b")
"""Dtypes of which several elements share a byte in OpenVINO."""
_EXPORTED_OPEN = "torch.export.export(model, examples, dynamic_shapes=tuple(dict.fromkeys(each, torch.export.Dim.AUTO) for each in axes))"
_ROUNDING = 2e-5
"""Relative tolerance that lets six digits stand for a number: four times the error that this makes."""
_SIGNS = {
    "count": " outputs, got ",
    "shape": "expected shape ",
    "dtype": "expected dtype ",
    "structure": "expected <class",
    "accepted": "accepted: there was no error",
    "values": "AssertionError",
}
"""The assertion message for each kind of difference; the first one in the output counts."""
_TELLING = ("AssertionError: expected", "AssertionError: accepted", "Mismatched elements", "Max absolute difference")
_HALVES = "\nexpected, actual = actual[: len(actual) // 2], actual[len(actual) // 2 :]  # of one side and of the other"
_SIGN_OF = {"nan": "values", "inf": "values"}


@dataclass(frozen=True)
class Attempt:
    """The outcome of a script.

    Attributes:
        reproduced: Whether it failed in the way of the finding.
        message: One line for a person.
        output: The end of what it printed.
    """

    reproduced: bool
    message: str
    output: str


@dataclass(frozen=True)
class ScriptCase:
    """The facts that a script shows.

    Attributes:
        result: The failing test, with the detail of the instance that the script uses.
        document: That instance as instance/1.
        key: Decides, with the seed of the test, what is drawn for values that were not kept.
        note: What was reduced; empty where the script uses the test's own instance.
        condition: ` when x is empty`; empty where it is not known.
    """

    result: StoredResult
    document: Mapping[str, Any]
    key: str
    note: str = ""
    condition: str = ""


SourceOf = Callable[[ScriptCase, Route], ModelSource]
"""Gives the source of the model that a script shows."""


def original(workspace: Workspace, result: StoredResult) -> ScriptCase:
    """The case of a failing test as the campaign ran it.

    Raises:
        UserError: its instance is gone.
    """
    try:
        return ScriptCase(result, json.loads(Corpus(workspace).document(result.instance)), result.instance)
    except KeyError as error:
        raise UserError(f"the instance {result.instance[:12]} is no longer in the workspace; extract it again") from error


def reduced(finding: Finding) -> ScriptCase | None:
    """The case of a finding's reduced instance; None without a reduction."""
    reduction = finding.reduction
    if reduction is None or reduction.document is None:
        return None
    detail: Detail = {**finding.representative.detail, **reduction.detail.get("evidence", Detail())}
    condition = "" if finding.trigger is None else f" Fails with: {finding.trigger}."
    note = f"Reduced from test {finding.representative.test[:12]}.{condition}"
    form = reduction.detail.get("form", finding.representative.form)
    return ScriptCase(replace(finding.representative, form=form, seed=0, detail=detail), reduction.document, "reduced", note, when(finding))


def render(source_of: SourceOf, case: ScriptCase, versions: Mapping[str, Any]) -> str:
    """The script for one failing test.

    Args:
        source_of: Gives the source of the library's model.
        case: What to show.
        versions: Versions of library and compiler, as the test's campaign recorded them.

    Raises:
        UserError: the adapter has no usable script template for the frontend. Or a text of the instance would be more than a literal in
            the script. Or only a signature is wrong, which scripts do not show where models run.
        EnvironmentBroken: the library does not work here.
    """
    result = case.result
    adapter = plugin(result.compiler).load()
    route = choose_route(adapter, result.frontend, result.route)
    _check_template(adapter, result)
    source = source_of(case, route)
    difference: Mapping[str, object] = result.detail.get("difference") or {}
    tolerance = tolerance_of(str(difference.get("dtype", "float32"))) or tolerance_of("float32")
    assert tolerance is not None
    wrong = result.verdict is Verdict.INCONSISTENT
    runs = not BUILDS_ONLY.items() <= dict(versions.get("compiler", {})).items()
    if difference.get("stated") and runs:
        raise UserError(
            f"no script was written for {result.test[:12]}: its result is right, and the signature that the compiled model states is wrong;"
            f" `opera show {result.test[:12]}` has both"
        )
    compares = wrong or (route.compares and runs and source.repeatable and _is_plain(source.expected))
    exact = _is_exact(difference) or "object" in source.expected
    expected = source.expected if exact else rounded(source.expected, tolerance.relative)
    values: dict[str, Any] = {
        "docstring": "\n".join(map(said, [*_docstring(case, versions), *_needs(source.imports)])),
        "compares": compares,
        "wrong": wrong,
        "library_source": source.text + ("\n" + expected if compares and expected else ""),
        "refused": "the program is ill-typed" if route.rejects else f"{facts_of(result.frontend).title} refuses the call",
        "route": result.route,
        "versions": dict(_flat(versions)),
        "opset": _opset_of(source.text),
        "kind": difference.get("kind"),
        "stage": result.stage.value if result.stage else "",
        "unsigned": str(difference.get("dtype")).startswith("uint") or "np.uint" in expected,
        "nested": "sequence" in f"{difference.get('expected')}{difference.get('actual')}",
        "absent": re.search(r"(?m)^inputs = .*: None\b", source.text) is not None,
        "exact": exact,
        "typed": not wrong and not adapter.computes_as,
        "foreign": _FOREIGN.search(expected) is not None and difference.get("kind") in ("values", "nan", "inf"),
        "narrow": _NARROW.search(f"{source.text}\n{source.expected}") is not None,
        "wide": "complex128" if str(difference.get("dtype")).startswith("complex") else "float64",
        "rtol": tolerance.relative,
        "atol": tolerance.absolute,
        **({"array": "numpy_of(value)"} if "def numpy_of(" in source.text else {}),
        **({"part": "model.call", "called": "after(compiled, copy.deepcopy(inputs))"} if "def after(" in source.text else {}),
        **({"exported": _EXPORTED_OPEN, "is_open": True} if "\naxes = " in source.text else {}),
        **({"shape": "shapes[place]"} if "\nshapes = [" in source.text else {}),
    }
    driving = driving_code(adapter, result.frontend, values)
    values["imports"] = _sorted_imports([*source.imports, _NUMPY, *driving.imports])
    values["compiler_source"] = driving.text + (_HALVES if BESIDE in dict(case.document.get("context", ())) else "")
    text = _environment().get_template("script.py.j2").render(values).rstrip() + "\n"
    text = text if re.search(r"\bnp\.", text) else text.replace(f"{_NUMPY}\n", "", 1)
    why = objection(text, f"{values['docstring']}\n", values["library_source"], route.library, source.imports)
    if why is not None:
        raise UserError(f"no script was written for {result.test[:12]}, because {why}; `opera show {result.test[:12]}` has the facts")
    return text


def _opset_of(text: str) -> int:
    """The opset that a model of ONNX declares in its source; 0 in other sources."""
    found = _OPSET.search(text)
    return int(found[1]) if found else 0


def _is_plain(expected: str) -> bool:
    """Whether *expected* defines arrays of numpy's own dtypes only: no lists of them, and no missing ones."""
    if not expected or "ml_dtypes" in expected:
        return False
    value = next((each.value for each in ast.parse(expected).body if isinstance(each, ast.Assign) and _names(each) == ["expected"]), None)
    entries = value.elts if isinstance(value, ast.List) else []
    return not any(isinstance(each, (ast.List, ast.Constant)) for each in entries)


def _names(assignment: ast.Assign) -> list[str]:
    return [each.id for each in assignment.targets if isinstance(each, ast.Name)]


def rounded(expected: str, relative: float) -> str:
    """*expected* with at most six significant digits where *relative*, the tolerance of the script, allows that."""
    if relative < _ROUNDING or "np.float64" in expected or "np.complex128" in expected:
        return expected
    return _shorter(expected)


def _shorter(text: str) -> str:
    """*text* with at most six significant digits in each fraction."""
    return _LONG_NUMBER.sub(lambda found: repr(float(f"{float(found[0]):.6g}")), text)


@dataclass(frozen=True)
class DrivingCode:
    """Python source that loads, compiles and runs `model` on `inputs`, and leaves a list of outputs in `actual`."""

    imports: tuple[str, ...]
    text: str


def driving_code(adapter: type[Adapter], frontend: str, facts: Mapping[str, object]) -> DrivingCode:
    """The source that drives the compiler of *adapter*, made from its template for *frontend*.

    Args:
        adapter: Adapter of the compiler.
        frontend: Model format.
        facts: The names that templates use: see docs/how-to/add-a-compiler.md. Without others, the source is for one script.

    Raises:
        UserError: the adapter's own template cannot be filled in.
    """
    import jinja2

    script: dict[str, object] = {
        "general": False,
        "route": "",
        "to_compile": "",
        "to_run": "",
        "target": f'"{adapter.target}"',
        "device": "tvm.cpu()",
        "array": "value.contiguous().numpy()",
        "exported": "torch.export.export(model, inputs)",
        "is_open": False,
        "shape": "value.shape",
        "part": "model",
        "called": "compiled(*inputs)",
    }
    try:
        template_text = _environment().from_string(adapter.script_template(frontend) or "")
        lines = template_text.render({**script, **facts}).strip().splitlines()
    except jinja2.TemplateError as error:
        raise UserError(
            f"the reproducer of the adapter {adapter.name} cannot be filled in ({error!r}); correct its `reproducer`"
        ) from error
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    return DrivingCode(tuple(imports), "\n".join(line for line in lines if line not in imports).strip())


def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )


def _check_template(adapter: type[Adapter], result: StoredResult) -> None:
    """Raises UserError if *adapter* has no template for the frontend of *result*."""
    if adapter.script_template(result.frontend) is None:
        raise UserError(
            f"the adapter {adapter.name} has no reproducer for {result.frontend}; `opera show {result.test[:12]}` has the facts, and"
            f" docs/how-to/add-a-compiler.md explains how to write `reproducer = {{{result.frontend!r}: ...}}`"
        )


def _docstring(case: ScriptCase, versions: Mapping[str, Any]) -> list[str]:
    """The lines that say what a script shows, the second empty."""
    result = case.result
    operator = str(case.document.get("api", "")).removeprefix("ai.onnx.")
    owner = f"{result.compiler}/{result.frontend}" if result.exporter is None else f"{result.exporter} (exporter, before {result.compiler})"
    return [
        f"{owner}: {operator}: {symptom_words(result.verdict, result.detail)}{case.condition}",
        "",
        "Seen with " + ", ".join(f"{name} {version}" for name, version in _flat(versions)) + ".",
        *([case.note] if case.note else []),
        f"Actual: {_shorter(headline(result.verdict, result.detail, result.compiler))}",
    ]


def _needs(imports: Iterable[str]) -> list[str]:
    modules = sorted(set(classes_in(imports).values()))
    return [f"Set PYTHONPATH to the folder that has {', '.join(modules)}."] if modules else []


def _sorted_imports(lines: Iterable[str]) -> str:
    """The standard library first, then everything else by name, as a linter would have it."""
    distinct = dict.fromkeys(lines)
    first = sorted(line for line in distinct if line in ("import base64", "import lzma"))
    rest = sorted((line for line in distinct if line not in first), key=lambda line: (line.split()[1], line.startswith("from")))
    return "\n".join([*first, *([""] if first else []), *rest])


def _is_exact(difference: Mapping[str, object]) -> bool:
    return difference.get("kind") == "values" and difference.get("allowed") == 0.0


def _flat(versions: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: dict[str, str] = {}
    for side in ("library", "compiler"):
        pairs.update({name: str(version) for name, version in dict(versions.get(side, {})).items()})
    return list(pairs.items())


def attempt(script: Path, config: Config, result: StoredResult, scratch: Path | None = None) -> Attempt:
    """Runs *script* in the compiler's environment and an empty folder, below *scratch* if possible: whether it fails as *result* did.

    It has the limits of a worker, and its environment without variables that may decide a result. It ends when its process ends, even
    if another process keeps its output open.
    """
    doing(f"running {script.name}")
    ended, output = run_script(script, config, result.compiler, scratch)
    if isinstance(ended, int):
        _check_imports(output, config.python("compiler", result.compiler), result)
        return _judge(ended, output, result)
    verdict, message = ended
    return Attempt(result.verdict is verdict, message, output[-_SHOWN:])


def run_script(script: Path, config: Config, compiler: str, scratch: Path | None = None) -> tuple[int | tuple[Verdict, str], str]:
    """Runs *script* as `attempt` does.

    Returns:
        Its exit code, or the limit that it passed with words for it; and the end of what it printed.

    Raises:
        EnvironmentBroken: the interpreter of *compiler* cannot run.
    """
    with working_folder("reproduce", scratch) as folder:
        python, environment = surroundings(config, compiler, folder)
        own = folder / "script" / "reproducer.py"  # the folder of a script comes first when it imports, so nothing else may be there
        own.parent.mkdir()
        own.write_bytes(read_file(script))
        reading, writing = map(os.fdopen, os.pipe(), ("rb", "wb"))
        with reading:
            try:
                with writing:
                    program = Program([python, "-W", "ignore", str(own)], writing, folder, environment)
            except OSError as error:
                reason = f"the interpreter {python} cannot run ({error.strerror})"
                raise EnvironmentBroken(f"{reason}; correct `python` in opera.toml") from error
            printed = _Printed(reading.fileno())
            try:
                ended = _followed(program, printed)
            finally:
                program.end()
            return ended, printed.end()


def surroundings(config: Config, compiler: str, folder: Path) -> tuple[str, dict[str, str]]:
    """The interpreter of *compiler*, and the environment of a program that uses the compiler and works in *folder*."""
    environment = {**passed_on(), **PINNED_ENVIRONMENT}
    environment.pop("PYTHONPATH", None)
    python, first = config.python("compiler", compiler), config.search_first(compiler)
    adapter = known_adapter(compiler)
    environment["TMPDIR"] = str(folder)  # a process that dies removes none of its files
    environment.update({} if adapter is None else adapter.script_environment(folder))
    environment.update(config.environment(compiler))
    folders = (*first, *(config.trust.roots if config.trust.folders else ()))
    environment.update({"PYTHONPATH": os.pathsep.join(folders)} if folders else {})
    return python, environment


class _Printed:
    """The end of what a program prints into the pipe *reading*; a daemon of the program may hold the pipe open for ever."""

    def __init__(self, reading: int) -> None:
        os.set_blocking(reading, False)
        with contextlib.suppress(OSError):  # a user may have all the room for pipes that a system grants
            fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, _READ)
        self._reading, self._kept = reading, b""

    def take(self) -> None:
        """Takes what the pipe holds now."""
        with contextlib.suppress(BlockingIOError):
            self._kept = (self._kept + os.read(self._reading, _READ))[-_READ:]

    def end(self) -> str:
        """The end of all that was printed."""
        self.take()
        return self._kept.decode("utf-8", "replace")


def _followed(program: Program, printed: _Printed) -> int | tuple[Verdict, str]:
    """The exit code of *program*; or else, where it has passed a limit, what that comes to and in which words."""
    deadline = clock.now() + _TIMEOUT
    while (code := program.wait(LOOK_SECONDS)) is None:
        if clock.now() > deadline:
            return Verdict.HANG, f"the script did not end within {_TIMEOUT:g} s"
        if program.resident() > _MEMORY:
            return Verdict.OOM, f"more than {_MEMORY / 2**30:g} GiB of memory"
        printed.take()
    return code


def _check_imports(output: str, python: str, result: StoredResult) -> None:
    """Raises EnvironmentBroken where a script ended for want of a package, e.g. the library, which had an environment of its own."""
    lacks = re.search(r"^ModuleNotFoundError: No module named '(\w+)'\s*\Z", output, re.MULTILINE)
    if lacks is not None and "ModuleNotFoundError" not in str(result.detail):
        name = lacks[1]
        raise EnvironmentBroken(
            f"the script needs {name}, which the environment of {result.compiler} lacks; install it there: {python} -m pip install {name}"
        )


def _judge(code: int, output: str, result: StoredResult) -> Attempt:
    tail = output[-_SHOWN:]
    if code < 0:
        name = signal_name(-code)
        wanted = result.detail.get("lost", {}).get("detail")
        return Attempt(result.verdict is Verdict.ABORT and name == wanted, f"the process ended with {name}", tail)
    if code == 0:
        return Attempt(False, "the script ended without a failure", tail)
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
    if result.verdict is Verdict.INCONSISTENT:
        assert "difference" in result.detail
        return _judge_difference(output, str(result.detail["difference"]["kind"]), tail)
    if result.verdict is Verdict.CRASH:
        assert "failure" in result.detail
        failure = result.detail["failure"]
        kind = str(failure["type"]).rsplit(".", 1)[-1]
        noise = noise_of(result.compiler)
        expected = template(str(failure["message"]), noise)[:60]
        sign = f"{kind}:" if expected else kind
        found = sign in output and expected in template(output[-_SEARCHED:], noise, _SEARCHED)
        return Attempt(found, f"{kind}: {summary(output.rpartition(sign)[2], noise)}" if found else last[:200], tail)
    return Attempt(False, last[:200], tail)


def difference_shown(output: str) -> str | None:
    """The kind of difference that the assertion of a script told in *output*, as `Symptom.kind`; None if no assertion failed."""
    return next((kind for kind, sign in _SIGNS.items() if sign in output), None) if "AssertionError" in output else None


def _judge_difference(output: str, kind: str, tail: str) -> Attempt:
    """Whether the script's assertion failed over the same kind of difference; the message is what it saw this time."""
    seen = difference_shown(output)
    lines = [line.strip() for line in output.splitlines()]
    words = [line.rstrip(":") for line in lines if line.startswith(_TELLING) or "location mismatch" in line]
    message = "; ".join(words)[:240] or (lines[-1] if lines else "")
    return Attempt(seen is not None and seen == _SIGN_OF.get(kind, kind), message, tail)


_MODULES = ("torch", "keras", "tf", "onnx", "helper", "numpy_helper", "np", "ml_dtypes", "base64", "copy", "lzma", "os", "math", "operator")
_KNOWN = frozenset(
    [
        "torch.nn.Module", "torch.Tensor", "torch.device", "torch.manual_seed", "torch.no_grad",
        "keras.Input", "keras.Model", "keras.config.set_floatx", "keras.config.set_dtype_policy", "keras.config.set_image_data_format",
        "keras.utils.set_random_seed", "keras.ops.convert_to_numpy", "keras.tree.flatten", "tf.Module", "tf.constant", "tf.nest.flatten",
        "onnx.load_model_from_string", "onnx.parser.parse_model", "numpy_helper.from_array", "helper.make_graph", "helper.make_model",
        "helper.make_node", "helper.make_opsetid", "helper.make_tensor_value_info", "np.array", "np.frombuffer", "np.full", "np.ones",
        "np.zeros", "np.inf", "np.nan", "base64.b85decode", "lzma.decompress", "os.environ", "copy.deepcopy",
        "torch.cond", "torch.export.export", "torch.export.Dim.AUTO",
    ]
)  # fmt: skip
"""The names that the model templates themselves write, in addition to data types."""
_DATA_TYPES = re.compile(rf"(torch|tf|np|ml_dtypes)\.({'|'.join(DTYPE_BITS)})|onnx\.TensorProto\.[A-Z0-9]+")
_CLASS = re.compile(r"from ([\w.]+) import (\w+)", re.ASCII)
_BUFFER = re.compile(r"c\d+")
"""How a program names its constants, which are buffers of its module."""
_METHODS = frozenset(
    ["__init__", "add_", "as_strided", "call", "contiguous", "cpu", "detach", "clone", "copy", "copy_", "dtype", "numpy", "operator",
     "reshape", "resolve_conj", "resolve_neg", "shape", "to", "train", "view", "beside", "load_state_dict", "logical_not_",
     "register_buffer", "state_dict"]
)  # fmt: skip
_BUILTINS = frozenset(
    ["Ellipsis", "bool", "bytes", "complex", "dict", "float", "frozenset", "int", "isinstance", "list", "object", "range", "set", "slice",
     "str", "sum", "super", "tree_leaves", "tuple", "zip"]
)  # fmt: skip


def said(text: str) -> str:
    """*text* as it can stand in a docstring: in one line, without what ends the string or begins an escape."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line.replace('"""', "'''").replace("\\", "/")


def objection(script: str, docstring: str, model: str, library: str, imported: Iterable[str] = ()) -> str | None:
    """Why *script* must not be written; None where it is what it is to be.

    Args:
        script: The whole of it.
        docstring: What it is to say first.
        model: The part of it that defines the library's model and inputs, and the expected outputs.
        library: Whose model it is.
        imported: The lines that import what the model needs.
    """
    try:
        body = ast.parse(script).body
    except (SyntaxError, ValueError) as error:
        return f"the script is not valid Python: {error}"
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant) or first.value.value != docstring:
        return "the first statement of the script is not its docstring"
    return foreign_names(model, library, imported)


def classes_in(imported: Iterable[str]) -> dict[str, str]:
    """The classes that the user trusts among *imported*, lines of imports: name and module."""
    found = (_CLASS.fullmatch(line) for line in imported)
    return {match[2]: match[1] for match in found if match is not None and match[1].partition(".")[0] not in _MODULES}


def foreign_names(model: str, library: str, imported: Iterable[str] = ()) -> str | None:
    """Why *model*, source of a model of *library*, must not be written; None if it names only listed operators and what *imported* has."""
    try:
        part = ast.parse(model)
    except (SyntaxError, ValueError) as error:
        return f"the model is not valid Python: {error}"
    return next(_strangers(part, library, frozenset(classes_in(imported))), None) if (FOLDER / f"{library}.toml").is_file() else None


def _strangers(part: ast.Module, library: str, classes: frozenset[str]) -> Iterator[str]:
    """Names that neither the templates write nor the library's list admits."""
    own = classes | _BUILTINS | {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own |= {node.id}
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            own |= {node.name}
    inner = {id(node.value) for node in ast.walk(part) if isinstance(node, ast.Attribute)}
    for node in ast.walk(part):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if ast.unparse(node) not in ("import os", "import keras"):
                yield f"the script has {ast.unparse(node)!r}"
        elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in inner and not _is_own(node, own):
            yield from _stranger(node, own, library)


def _is_own(node: ast.Name | ast.Attribute, own: Collection[str]) -> bool:
    """Whether a model names a function or a buffer of its own, `self.function0` or `self.c0`."""
    of_self = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
    return of_self and (node.attr in own or _BUFFER.fullmatch(node.attr) is not None)


def _stranger(node: ast.Name | ast.Attribute, own: frozenset[str], library: str) -> Iterator[str]:
    parts: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        parts.insert(0, base.attr)
        base = base.value
    if isinstance(base, ast.Name) and base.id in _MODULES and base.id not in own:
        path = ".".join((base.id, *parts))
        known = path in _KNOWN or _DATA_TYPES.fullmatch(path) is not None
        if not known and operators_of(library).objection(path, called=False) is not None:
            yield f"the script names {path}"
        return
    if isinstance(base, ast.Name) and base.id not in own:
        yield f"the script names {base.id}"
    if not set(parts) <= _METHODS:
        yield f"the script uses {'.'.join(parts)}"
