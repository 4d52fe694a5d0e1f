"""One test of a suite: its statements, and its text."""

from __future__ import annotations

import ast
import builtins
import copy
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from opera.arrays import Array, ModelValue, as_array, dtype_name, is_array
from opera.compilers.registry import choose_route, plugin
from opera.console import one_line
from opera.difftest.messages import ModelSource
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.suites.cases import Candidate, Failure, failure_of
from opera.extensions.suites.layout import INDENT, formatted, formatted_decorator, indented, least_lines, lines_of, source_of
from opera.extensions.suites.names import family_of, name_of_test
from opera.extensions.suites.shorter import TENSORS, apart, in_place, tidied, without_lists
from opera.extensions.suites.statements import Store, assignment, folded, literal, longest_literal, parsed, without_literal
from opera.models.forms import InputForm, ModelForm
from opera.models.template import Reference
from opera.oracles.tolerance import tolerance_of
from opera.report.reproducer import ScriptCase, foreign_names, said
from opera.report.scripts import ModelSources
from opera.store import StoredResult

MOST_LINES = 15
"""Lines of a test, without decorator and comments."""
MOST_LINES_OF_A_MODEL = 60
"""Lines up to which the model of a test stands in its source."""
_SHOWN = 400
_COMMENT = f"{INDENT}# "
_EVALUATOR = "from onnx.reference import ReferenceEvaluator"
_IN_ASCII = str.maketrans(
    {
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{NOT EQUAL TO}": "!=",
        "\N{GREATER-THAN OR EQUAL TO}": ">=",
        "\N{LESS-THAN OR EQUAL TO}": "<=",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{MINUS SIGN}": "-",
        "\N{RIGHTWARDS ARROW}": "->",
        "\N{INFINITY}": "inf",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
    }
)
"""Characters of conditions and messages that source files of other projects need not take, in ASCII."""
_DECIDES = 0.05
"""Share of a tolerance from which on the error of the expected values is written into a test."""


@dataclass(frozen=True)
class SuiteTest:
    """A test of a suite.

    Attributes:
        name: Name of its function.
        identity: Identity of the finding, or of the instance that passes.
        api, family: Name and family of the operator.
        frontend, route: How the model reaches the compiler.
        imports: Import lines of the library's source.
        body: Its statements, without the final check.
        helpers: Functions of the library's source, for the module.
        arguments: Keyword arguments of the check, as text.
        has_expected: Whether there are expected outputs.
        arrays: What is too large for the text, by name.
        failure: How it fails; None for a test that passes.
        trigger, link: As the candidate has them.
        case: What it shows.
        reference: The library's outputs.
        proto: The ONNX model; empty for models of other libraries.
        inputs: Values of the library's model, by name.
        own_error: The largest rounding error of the expected outputs, if it decides anything.
        environment: Variables that have to be set before the library is imported, as pairs.
        strict: Whether a known failure always fails; not if it depends on memory that nothing has written.
        more: As the candidate has it.
        tolerance: Absolute and relative tolerance of the compiler's own tests, where it is not OPERA's; None where it decides nothing.
        is_loose: Whether the test has OPERA's tolerance in place of *tolerance*.
    """

    name: str
    identity: str
    api: str
    family: str
    frontend: str
    route: str
    imports: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    helpers: tuple[ast.stmt, ...]
    arguments: tuple[str, ...]
    has_expected: bool
    arrays: Mapping[str, Array]
    failure: Failure | None
    trigger: str
    link: str
    case: ScriptCase
    reference: Reference
    proto: bytes = b""
    inputs: Mapping[str, ModelValue] = field(default_factory=dict[str, ModelValue])
    own_error: float = 0.0
    environment: tuple[tuple[str, str], ...] = ()
    strict: bool = True
    more: str = ""
    tolerance: tuple[float, float] | None = None
    is_loose: bool = False

    @property
    def input_names(self) -> tuple[str, ...]:
        """The inputs that the model takes at run time, in its order: the keys of the dictionary `inputs`."""
        for each in self.body:
            match each:
                case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Dict(keys=keys)):
                    return tuple(str(key.value) for key in keys if isinstance(key, ast.Constant))
                case _:
                    pass
        return ()


def build(candidate: Candidate, sources: ModelSources, *, recompute: bool = False, name: str | None = None) -> SuiteTest:
    """The test for *candidate*.

    Args:
        candidate: What to test.
        sources: Open.
        recompute: Whether the test computes the expected outputs with the library.
        name: Name of the test, if an earlier export gave it one.

    Raises:
        EnvironmentBroken: the library is absent, or cannot rebuild the model.
        UserError: the source would be more than a model.
    """
    why: Exception | None = None
    for case in candidate.cases:
        result = case.result
        route = choose_route(plugin(result.compiler).load(), result.frontend, result.route)
        try:
            source = sources(case, route)
            made = sources.made(case, route, "onnx" if route.library == "onnx" else None)
        except EnvironmentBroken as error:
            why = error
            continue
        _check_names(source, route.library, result)
        failure = failure_of(result)
        reference = made.reference
        has_expected = reference.undefined is None
        store = Store()
        statements = parsed(source.text, store)
        own_imports = [ast.unparse(each) for each in statements if isinstance(each, ast.Import) and each.names[0].name != "os"]
        statements = [each for each in statements if not ast.unparse(each).startswith("os.environ[")]
        helpers = [each for each in statements if isinstance(each, ast.FunctionDef)]
        body = [each for each in statements if not isinstance(each, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
        if route.library == "pytorch":
            body = tidied(body)
            helpers += ast.parse(TENSORS).body if any("tensors(" in ast.unparse(each) for each in body) else []
        own_error = 0.0 if recompute or not has_expected else _own_error(reference, fails=failure is not None)
        if has_expected:
            body += _recomputed(source, route.library) if recompute else [assignment("expected", literal(reference.outputs))]
        test = SuiteTest(
            name=name or name_of_test(candidate.api, candidate.identity, candidate.ids),
            identity=candidate.identity,
            api=candidate.api,
            family=family_of(candidate.api),
            frontend=result.frontend,
            route=result.route,
            imports=(*source.imports, *own_imports, *((_EVALUATOR,) if recompute and route.library == "onnx" else ())),
            environment=route.environment,
            body=tuple(body),
            helpers=tuple(helpers),
            arguments=() if own_error == 0.0 else (f"own_error={own_error:g}",),
            has_expected=has_expected,
            arrays=store.arrays,
            failure=failure,
            trigger=candidate.trigger if failure is not None else "",
            link=candidate.link,
            case=case,
            reference=reference,
            proto=made.artefact,
            inputs=made.inputs,
            own_error=own_error,
            more=candidate.more,
            tolerance=plugin(result.compiler).load().test_tolerances.get(result.frontend) if _has_float32(reference.outputs) else None,
        )
        return _unpacked_expected(test, store)
    assert why is not None
    raise why


def _check_names(source: ModelSource, library: str, result: StoredResult) -> None:
    why = foreign_names(f"{source.text}\n{source.expected}", library)
    form = ModelForm.parse(result.form).inputs
    if form.has_outcome or (form is InputForm.SYMBOLIC and library == "pytorch"):
        why = f"a suite calls PyTorch's modules with plain inputs and compares results, and it fails in the form {form.value}"
    if why is not None:
        raise UserError(f"no test was written for {result.test[:12]}, because {why}; `opera show {result.test[:12]}` has the facts")


def _unpacked_expected(test: SuiteTest, store: Store) -> SuiteTest:
    """*test* with packed expected outputs in *store*."""
    again = parsed(ast.unparse(ast.Module(list(test.body), [])), store)
    return replace(test, body=tuple(again), arrays=store.arrays)


def _recomputed(source: ModelSource, library: str) -> list[ast.stmt]:
    """Statements that compute `expected` with the library."""
    text = "expected = ReferenceEvaluator(model).run(None, inputs)" if library == "onnx" else source.expected
    return list(ast.parse(text).body)


def _own_error(reference: Reference, *, fails: bool) -> float:
    """The largest rounding error of the outputs of *reference*, rounded up; 0 where it decides nothing.

    Elements that are off by more than the tolerance do not count in a test that fails: in the campaign they could not be the reason.
    """
    largest = 0.0
    for output, precise in zip(reference.outputs, reference.precise or (), strict=False):
        if not (is_array(output) and is_array(precise)) or as_array(output).shape != as_array(precise).shape:
            continue
        one, truth = as_array(output), as_array(precise)
        tolerance = tolerance_of(dtype_name(one.dtype))
        if tolerance is None or one.size == 0:
            continue
        with np.errstate(all="ignore"):
            wide, exact = one.astype(np.complex128), truth.astype(np.complex128)
            error = np.where(np.isfinite(wide) & np.isfinite(exact), np.abs(wide - exact), 0.0)
            size = np.where(np.isfinite(exact), np.abs(exact), 0.0)
            allowed = tolerance.absolute + tolerance.relative * size + tolerance.of_largest * float(size.max(initial=0.0))
            counts = error <= allowed if fails else np.full(error.shape, True)
            if bool((tolerance.reference_errors * error > _DECIDES * allowed).any()):
                largest = max(largest, float(error.max(initial=0.0, where=counts)))
    if largest == 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(largest)) - 1)
    return math.ceil(largest / unit) * unit


def _has_float32(value: ModelValue | Sequence[ModelValue]) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_float32(each) for each in value)
    return is_array(value) and dtype_name(as_array(value).dtype) in ("float32", "complex64")


def exception_name(failure: Failure) -> str:
    """How a module calls the exceptions of a known failure: `ValueError`, `(InternalError, AssertionError)`."""
    names = [each.rpartition(".")[2] for each in failure.exceptions]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def is_builtin(exception: str) -> bool:
    """Whether *exception*, a dotted name, is one of Python's own."""
    return hasattr(builtins, exception)


def text_of(test: SuiteTest, limit: int, default_route: str, target: str = "") -> tuple[list[str], Mapping[str, Array]]:
    """The lines of *test*, and the arrays that it reads from a file.

    Until the test has at most `MOST_LINES` lines, literal arrays move into the file, the longest first. Lists of arrays and the model
    of ONNX follow. At last the class of the model moves to a place before the test.

    Args:
        test: The test.
        limit: Characters of a line.
        default_route: The route that the check takes without being told.
        target: For which a known failure fails, if tests run for several targets; empty if they do not.
    """
    store = Store(dict(test.arrays))
    body = [folded(each, limit) for each in copy.deepcopy(test.body)]  # what follows changes statements in place
    remarks = _remarks(test, limit)
    models: list[ast.stmt] = []
    while True:
        text = _function(test, body, remarks, default_route, needs_data=bool(store.arrays))
        if least_lines(text, limit) - len(remarks) <= MOST_LINES and len(formatted(text, limit).split("\n")) - len(remarks) <= MOST_LINES:
            break
        call = longest_literal(body)
        if call is not None:
            body = without_literal(body, call, store)
        elif (shorter := _shorter(test, body, store, limit)) != [ast.unparse(each) for each in body]:
            body = ast.parse("\n".join(shorter)).body
        else:
            models, body = apart(body, test.name)
            text = _function(test, body, remarks, default_route, needs_data=bool(store.arrays))
            break
    before = [*lines_of(models, limit), "", ""] if models else []
    return [*before, *_marks(test, limit, target), *formatted(text, limit).split("\n")], store.arrays


def _shorter(test: SuiteTest, body: Sequence[ast.stmt], store: Store, limit: int) -> list[str]:
    """The statements of *body*, with lists from a file; if there is no list, with the ONNX model from a file."""
    before = [ast.unparse(each) for each in body]
    shorter = [ast.unparse(each) for each in without_lists(body, test.inputs, test.reference.outputs, store)]
    if shorter == before and test.proto and "model" not in store.arrays:
        return [ast.unparse(each) for each in _with_packed_model(body, test.proto, store, limit)]
    return shorter


def _with_packed_model(body: Sequence[ast.stmt], proto: bytes, store: Store, limit: int) -> list[ast.stmt]:
    """*body* with the ONNX model read from a file, in place of what builds it, if nobody would read so long a text."""
    names = [each.targets[0].id if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) else "" for each in body]
    if "inputs" not in names or len(lines_of(body[: names.index("inputs")], limit - len(INDENT))) <= MOST_LINES_OF_A_MODEL:
        return list(body)
    kept = ast.unparse(store.put(np.frombuffer(proto, np.uint8), "model"))
    return [*ast.parse(f"model = onnx.load_model_from_string({kept}.tobytes())").body, *body[names.index("inputs") :]]


def _function(test: SuiteTest, body: Sequence[ast.stmt], remarks: Sequence[str], default_route: str, *, needs_data: bool) -> str:
    """The function of *test*, before it is formatted."""
    check = f"check_{test.frontend}{'_in_child' if test.failure is not None and test.failure.in_child else ''}"
    route = () if test.route == default_route else (f'route="{test.route}"',)
    body, model = in_place(body)
    arguments = test.arguments if test.tolerance is None else ('tolerance="opera"', *test.arguments) if test.is_loose else ()
    given = (model, "inputs", *(("expected",) if test.has_expected else ()), *route, *arguments)
    code = source_of([*body, *ast.parse(f"{check}({', '.join(given)})").body])
    blank = [""] if code.startswith("class ") and remarks else []
    return "\n".join([f"def {test.name}({check}{', data' if needs_data else ''}):", *remarks, *blank, indented(code)])


def _marks(test: SuiteTest, limit: int, target: str) -> list[str]:
    if test.failure is None:
        return []
    return xfail(exception_name(test.failure), test.identity, _reason(test), limit, target, strict=test.strict)


def _reason(test: SuiteTest) -> str:
    """The failure and its condition, in words."""
    assert test.failure is not None
    return f"{test.failure.summary}; fails with: {test.trigger}" if test.trigger else test.failure.summary


def xfail(exception: str, identity: str, summary: str, limit: int, target: str = "", *, strict: bool = True) -> list[str]:
    """The lines that mark a known failure, with the whole reason; of *target* only, where that is given."""
    mark = f'known_failing("{target}", ' if target else "pytest.mark.xfail("
    said = ascii_text(f"{identity[:8]}: {summary}").replace('"', "'")
    parts = textwrap.wrap(said, limit - len(f'{INDENT}reason=" ",'), break_on_hyphens=False, break_long_words=False)
    if len(said) <= limit - len(f'{INDENT}reason="",'):
        parts = [said]
    reason = " ".join(f'"{part}{"" if part is parts[-1] else " "}"' for part in parts)
    return formatted_decorator(f"@{mark}strict={strict}, raises={exception}, reason={reason})", limit)


def _remarks(test: SuiteTest, limit: int) -> list[str]:
    """The comments that say what is known of a failure, and why a test has OPERA's tolerance."""
    remarks = [] if test.failure is None else [f"finding {test.identity}", test.failure.summary]
    remarks += [f"fails with: {test.trigger}"] if test.trigger else []
    remarks += [test.more] if test.more else []
    if test.is_loose and test.tolerance is not None:
        why = "the result differs by more than" if test.failure is None else "other elements differ by"
        absolute, relative = test.tolerance
        remarks.append(f"OPERA's tolerance: {why} {absolute:g} + {relative:g} of the size, as the project's own tests allow")
    lines = [line for each in remarks for line in textwrap.wrap(ascii_text(each), limit - len(_COMMENT), break_on_hyphens=False)]
    lines = [f"{_COMMENT}{line}" for line in lines]
    return [*lines, *([f"{INDENT}# {test.link}"] if test.link else [])]


def ascii_text(text: str) -> str:
    """*text* on one line, as it can stand in a comment or a string of any source file."""
    plain = said(one_line(text, _SHOWN)).translate(_IN_ASCII)
    return re.sub(r"[^\x20-\x7e]", "?", plain)
