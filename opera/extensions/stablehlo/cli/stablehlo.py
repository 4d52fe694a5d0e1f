"""`opera stablehlo`: evaluates StableHLO programs, runs self-checking ones as tests, and folds constants."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from opera.cli.help import HeadedGroup
from opera.cli.options import JOBS, Count, Duration, Size, common
from opera.config import load_config
from opera.console import cut, doing, echo, one_line, plural, print_json, print_table, print_text, say
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.stablehlo.conformance.files import read_arrays, read_source, read_sources
from opera.extensions.stablehlo.conformance.fold import fold_file
from opera.extensions.stablehlo.conformance.known import Known, read_known
from opera.extensions.stablehlo.conformance.runner import Conformance, Outcome, State
from opera.extensions.stablehlo.conformance.verdicts import Judged, Verdicts, judge
from opera.extensions.stablehlo.folding import MOST_ELEMENTS
from opera.extensions.stablehlo.messages import RawTensor, Which
from opera.extensions.stablehlo.printing import printed, printed_dense
from opera.extensions.stablehlo.types import decoded
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.process import Limits
from opera.workers.supervision import working_folder

INTERPRET_SCHEMA = "stablehlo-interpret/1"
TEST_SCHEMA = "stablehlo-test/1"
FOLD_SCHEMA = "stablehlo-fold/1"
_COMMAND = "stablehlo"
_GENERAL = {State.NO_INPUT: "functions that take inputs are tested by the functions that call them"}
"""Reasons that need not be told apart."""
_F = TypeVar("_F", bound=Callable[..., Any])
_LONGEST_NAME = 100
_MOST_SHOWN = 1_000_000
"""Characters of a printed value that a person may be shown."""


@click.group("stablehlo", cls=HeadedGroup)
def command() -> None:
    """Evaluate and fold StableHLO programs with an interpreter."""


def _interpreter(default: Which) -> Callable[[_F], _F]:
    return click.option(
        "--interpreter",
        type=click.Choice(["reference", "readable"]),
        default=default,
        show_default=True,
        help="Evaluate with the interpreter of jaxlib, or with OPERA's own, which is easier to read.",
    )


_TIMEOUT = click.option("--timeout", type=Duration(), default=60.0, show_default="60s", help="Time limit of each function.")
_MEMORY = click.option("--memory", type=Size(), default=4 * 2**30, show_default="4G", help="Memory limit of each worker.")


@command.command("interpret")
@click.argument("file", metavar="FILE|-")
@click.option("--function", metavar="NAME", help="Evaluate only this function; by default all that no other function calls.")
@click.option("--args", "arguments", metavar="ARRAY", help="Inputs as constants of MLIR, e.g. '[dense<1> : tensor<2xi32>]'.")
@click.option("--npz", type=click.Path(), metavar="FILE", help="Inputs as arrays of numpy: arg0, arg1 ..., or in the order of the file.")
@click.option("--print-dense", is_flag=True, help="Print results as dense constants of MLIR.")
@_interpreter("reference")
@_TIMEOUT
@_MEMORY
@common
def interpret(
    file: str,
    function: str | None,
    arguments: str | None,
    npz: str | None,
    print_dense: bool,
    interpreter: Which,
    timeout: float,
    memory: int,
    as_json: bool,
) -> int:
    """Evaluate the functions of a program, and print their results.

    FILE is StableHLO as text; lines with // ----- separate several programs. Results are printed as the reference interpreter prints them.
    Checks are evaluated as well: the exit code is 1 if one fails.
    """
    if arguments is not None and npz is not None:
        raise UserError("--args and --npz both give inputs; choose one")
    source = read_source(file)
    arrays = None if npz is None else read_arrays(npz)
    if not source.programs:
        raise UserError(f"{source.name}: no program in it; write a function, e.g. func.func @main()")
    outcomes: list[Outcome] = []
    with working_folder(_COMMAND) as scratch:
        conformance = Conformance(
            load_config(), scratch, min(usable_cores(), len(source.programs)), Limits(stage=timeout, memory=memory), interpreter
        )
        for found in conformance.run([source], function=function, arguments=arguments, arrays=arrays, with_results=True):
            outcomes += found
    outcomes.sort(key=lambda each: each.line)
    has_inputs = arguments is not None or arrays is not None
    _refuse(source.name, function, outcomes, conformance.names.get(source.name, []), has_inputs=has_inputs)
    if as_json:
        print_json({"schema": INTERPRET_SCHEMA, "versions": conformance.versions, "functions": [_result(each) for each in outcomes]})
    else:
        for outcome in outcomes:
            _print_results(outcome, len(outcomes) > 1, dense=print_dense)
    return _exit_code(outcomes)


def _refuse(file: str, function: str | None, outcomes: Sequence[Outcome], names: Sequence[str], *, has_inputs: bool) -> None:
    """Raises UserError where the text, the function or the inputs are wrong."""
    invalid = next((each for each in outcomes if each.state is State.INVALID), None)
    if invalid is not None:
        raise UserError(f"{file}:{invalid.line}: {invalid.reason}; correct the program")
    if function is not None and function not in names:
        known = ", ".join(dict.fromkeys(names)) or "none"
        raise UserError(f"{file}: no function {one_line(function, 60)!r}; choose one of: {one_line(known, 400)}")
    if not outcomes:
        raise UserError(f"{file}: no function in it; write one, e.g. func.func @main()")
    wrong = next((each for each in outcomes if each.state is State.NO_INPUT), None)
    if wrong is not None and all(each.state is State.NO_INPUT for each in outcomes):
        raise UserError(f"{file}:{wrong.line}: {wrong.reason}{'' if has_inputs else '; give inputs with --args or --npz'}")


def _exit_code(outcomes: Sequence[Outcome]) -> int:
    states = {each.state for each in outcomes}
    if states & {State.FAILED, State.ABORTED, State.HANG, State.OOM}:
        return Exit.NEW_FINDINGS
    return Exit.CLEAN if any(each.ran for each in outcomes) else Exit.NOTHING_SELECTED


def _print_results(outcome: Outcome, with_name: bool, *, dense: bool) -> None:
    if with_name:
        say(f"@{one_line(outcome.function, _LONGEST_NAME)}:" if outcome.function else f"line {outcome.line}:")
    for name, value in outcome.printed:
        print_text(f"{name} = {_printed(value, dense=False)}\n")
    for value in outcome.results:
        print_text(_printed(value, dense=dense) + "\n")
    for check in outcome.checks:
        if check.mismatch is not None:
            say(f"{outcome.file}:{check.line}: {check.check} failed in @{one_line(outcome.function, _LONGEST_NAME)}: {check.mismatch}")
    if outcome.state not in (State.PASSED, State.FAILED, State.NO_CHECK):
        say(f"{outcome.file}:{outcome.line}: {outcome.state.value}: {outcome.reason}")


def _printed(tensor: RawTensor, *, dense: bool) -> str:
    value = decoded(tensor.type, tensor.data)
    if value is None:
        return one_line(tensor.type)
    return cut(printed_dense(value) if dense else printed(value), _MOST_SHOWN)


def _result(outcome: Outcome) -> JsonObject:
    return {
        "function": outcome.function,
        "line": outcome.line,
        "state": outcome.state.value,
        "reason": outcome.reason,
        "results": [{"type": each.type, "value": _printed(each, dense=True)} for each in outcome.results],
        "printed": [{"name": name, "value": _printed(value, dense=True)} for name, value in outcome.printed],
        "checks": _checks(outcome),
    }


def _checks(outcome: Outcome) -> list[JsonObject]:
    return [
        {
            "check": each.check,
            "line": each.line,
            "times": each.times,
            "holds": None if each.times == 0 else each.mismatch is None,
            "mismatch": each.mismatch,
            "index": each.index,
            "actual": each.actual,
            "expected": each.expected,
        }
        for each in outcome.checks
    ]


@command.command("test")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--known", type=click.Path(), metavar="FILE|official", help="Known failures: TOML rows [[known]] with file, function and reason."
)
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel workers.")
@click.option("-v", "--verbose", is_flag=True, help="List every function, also those that passed.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@_interpreter("reference")
@_TIMEOUT
@_MEMORY
@common
def test(
    paths: tuple[str, ...],
    known: str | None,
    jobs: int,
    verbose: bool,
    quiet: bool,
    interpreter: Which,
    timeout: float,
    memory: int,
    as_json: bool,
) -> int:
    """Run self-checking programs on an interpreter.

    PATH is a file of StableHLO text, or a folder of .mlir files. A function passes if all of its checks hold. A known failure that
    passes is a failure: the list stays true. Programs go through the passes of StableHLO that the RUN lines of their file name; a file
    whose RUN lines ask for anything else is unsupported.

    Exit codes: 0 if nothing failed, 1 if a function did, 2 if a program is no StableHLO or the list of known failures names what is not
    there, 4 if no check was evaluated.
    """
    rows = () if known is None else read_known(known, [each.value for each in State], interpreter)
    files = read_sources(paths)
    began = time.monotonic()
    outcomes: list[Outcome] = []
    total = sum(len(each.programs) for each in files)
    with working_folder(_COMMAND) as scratch:
        conformance = Conformance(load_config(), scratch, jobs, Limits(stage=timeout, memory=memory), interpreter)
        for done, found in enumerate(conformance.run(files, follow_run_lines=True), 1):
            outcomes += found
            doing(f"{done:,} of {plural(total, 'program')} evaluated")
    verdicts = judge(outcomes, rows, [each.name for each in files], [each for each in paths if Path(each).is_dir()])
    seconds = time.monotonic() - began
    if as_json:
        print_json(_document(verdicts, conformance.versions, seconds))
    else:
        _print_verdicts(verdicts, conformance.versions, verbose=verbose, seconds=seconds)
    if verdicts.stale or any(each.outcome.state is State.INVALID for each in verdicts.failures):
        return Exit.USER_ERROR
    if verdicts.clean and not any(each.outcome.state in (State.PASSED, State.FAILED) for each in verdicts.judged):
        raise NothingSelected("no check was evaluated; name files whose functions have checks, e.g. check.expect_eq_const")
    return Exit.CLEAN if verdicts.clean else Exit.NEW_FINDINGS


def _document(verdicts: Verdicts, versions: Mapping[str, str], seconds: float) -> JsonObject:
    return {
        "schema": TEST_SCHEMA,
        "versions": dict(versions),
        "seconds": round(seconds, 3),
        "states": dict(_counts(verdicts)),
        "known": sum(each.known is not None and each.outcome.state is not State.PASSED for each in verdicts.judged),
        "failures": len(verdicts.failures),
        "unexpected_passes": len(verdicts.passes),
        "stale": [{**_row(each.row), "missing": each.missing} for each in verdicts.stale],
        "unread": [_row(each) for each in verdicts.unread],
        "functions": [
            {
                "file": each.outcome.file,
                "line": each.outcome.line,
                "program": each.outcome.program,
                "function": each.outcome.function,
                "state": each.outcome.state.value,
                "reason": each.outcome.reason,
                "known": None if each.known is None else each.known.reason,
                "checks": _checks(each.outcome),
            }
            for each in verdicts.judged
        ],
    }


def _row(row: Known) -> JsonObject:
    return {"file": row.file, "function": row.function, "reason": row.reason, "place": row.place}


def _counts(verdicts: Verdicts) -> Counter[str]:
    """How many functions ended in each state, in the order of `State`."""
    found = Counter(each.outcome.state for each in verdicts.judged)
    return Counter({state.value: found[state] for state in State if found[state]})


def _print_verdicts(verdicts: Verdicts, versions: Mapping[str, str], *, verbose: bool, seconds: float) -> None:
    for each in verdicts.judged:
        is_news = each in verdicts.failures or each in verdicts.passes
        if verbose or is_news:
            _print_outcome(each)
    if not verbose:
        _print_uncounted(verdicts)
    for each in verdicts.stale:
        row, function = each.row, f"@{one_line(each.row.function, _LONGEST_NAME)}"
        what = (
            f"{one_line(row.file, 400)} has no function {function}"
            if each.missing == "function"
            else f"there is no {one_line(row.file, 400)}"
        )
        echo(f"{one_line(row.place, 400)}: {what}, which is known to fail; correct the row, or remove it")
    if verdicts.unread:
        say(f"{plural(len(verdicts.unread), 'row')} of the list are about files that were not read")
    states = ", ".join(f"{count:,} {state}" for state, count in _counts(verdicts).items())
    known = sum(each.known is not None and each.outcome.state is not State.PASSED for each in verdicts.judged)
    own = "".join(f", {name} {version}" for name, version in versions.items())
    echo(f"{plural(len(verdicts.judged), 'function')}{f': {states}' if states else ''}" + (f" ({known:,} known)" if known else ""))
    echo(f"{seconds:.1f} s{own}")


def _print_outcome(judged: Judged) -> None:
    outcome = judged.outcome
    name = f"@{one_line(outcome.function, _LONGEST_NAME)}" if outcome.function else "the program"
    place = f"{one_line(outcome.file, 400)}:{outcome.line}"
    if outcome.state is State.FAILED:
        for check in outcome.checks:
            if check.mismatch is not None:
                echo(f"{one_line(outcome.file, 400)}:{check.line}: failed: {name}: {check.check}: {one_line(check.mismatch)}")
    elif judged.known is not None and outcome.state is State.PASSED:
        echo(f"{place}: passed: {name}, which is known to fail ({one_line(judged.known.reason)}); remove the row")
    else:
        echo(f"{place}: {outcome.state.value}: {name}" + (f": {outcome.reason}" if outcome.reason else ""))


def _print_uncounted(verdicts: Verdicts) -> None:
    """Counts what neither passed nor failed, by reason."""
    left = [each.outcome for each in verdicts.judged if each.known is None and each.outcome.state in (State.UNSUPPORTED, State.NO_INPUT)]
    groups = Counter((each.state.value, _GENERAL.get(each.state) or one_line(each.reason, 120)) for each in left)
    if groups:
        print_table(["count", "state", "reason"], [[f"{count:,}", *key] for key, count in groups.most_common()], elastic=2)
        echo()


@command.command("fold")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--most", type=Count(), default=MOST_ELEMENTS, show_default=True, metavar="N", help="Leave operations with larger results, in elements."
)
@_interpreter("readable")
@_TIMEOUT
@_MEMORY
@common
def fold(file: str, most: int, interpreter: Which, timeout: float, memory: int, as_json: bool) -> int:
    """Replace operations with constant operands by their results.

    FILE is StableHLO as text. The program that comes out has the same results. Operations stay as they are if they have effects, or if the
    specification leaves their result open: a division by zero, a conversion out of range, a sort that is not stable. With
    --interpreter reference, operations also stay that jaxlib's interpreter is known to have wrong.
    """
    source = read_source(file)
    if not source.programs:
        raise UserError(f"{source.name}: no program in it; write a function, e.g. func.func @main()")
    with working_folder(_COMMAND) as scratch:
        found = fold_file(load_config(), scratch, source, Limits(stage=timeout, memory=memory), interpreter, most)
    if as_json:
        print_json({"schema": FOLD_SCHEMA, "text": found.text, "folded": dict(found.operations), "kept": dict(found.kept)})
    else:
        print_text(found.text if found.text.endswith("\n") else found.text + "\n")
        kept = "".join(f"; {count:,} left: {reason}" for reason, count in found.kept.most_common())
        say(f"{plural(found.operations.total(), 'operation')} folded{kept}")
    return Exit.CLEAN
