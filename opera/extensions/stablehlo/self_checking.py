"""Exports instances and findings as self-checking StableHLO programs, which need nothing but an interpreter."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opera.arrays import Array, ModelValue, as_array, dtype_name, is_array
from opera.compilers.adapter import CannotFeed, Route
from opera.compilers.registry import plugin
from opera.compilers.stablehlo_format import as_declared, input_types
from opera.config import Config
from opera.console import doing, one_line
from opera.errors import EnvironmentBroken, OperaError, UserError
from opera.extensions.stablehlo.conformance.worker import JUDGE, StableHloWorker
from opera.extensions.stablehlo.messages import Compose, Composed, RawTensor
from opera.extensions.stablehlo.types import TensorType, of_dtype
from opera.extensions.suites.cases import Candidate
from opera.models.forms import InputForm
from opera.oracles.tolerance import tolerance_of
from opera.oracles.verdict import Verdict
from opera.report.details import resolve
from opera.report.reproducer import ScriptCase
from opera.report.scripts import ModelSources
from opera.store import Corpus, StoredResult, Workspace, queries

_KIND = "stablehlo"
_NAME = re.compile(r"\W+")


@dataclass(frozen=True)
class Programs:
    """The programs of an export.

    Attributes:
        files: Text by name of the file.
        left_out: How many instances have no program, by reason.
    """

    files: Mapping[str, str]
    left_out: Mapping[str, int]


def instance_candidate(workspace: Workspace, name: str) -> Candidate | None:
    """The instance of the corpus with the id *name*, or a prefix of it; None where the id is one of a finding or test.

    Raises:
        UserError: the id names nothing, or several things.
    """
    key = resolve(workspace, name).instance
    if key is None:
        return None
    document = json.loads(Corpus(workspace).document(key))
    result = StoredResult(key, key, JUDGE, str(document["library"]), "", InputForm.RUNTIME.value, 0, Verdict.PASS)
    return Candidate(key, queries.api_of(workspace, key), (ScriptCase(result, document, key),))


def programs(workspace: Workspace, config: Config, found: Iterable[Candidate], worker: StableHloWorker) -> Programs:
    """A self-checking program for each of *found*.

    Raises:
        EnvironmentBroken: the interpreter of StableHLO does not start here.
    """
    files: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with ModelSources(workspace, config) as sources:
        for number, each in enumerate(found, 1):
            doing(f"writing program {number:,}")
            reason = ""
            for case in each.cases:
                try:
                    name, text = _program(each, case, sources, worker)
                except (EnvironmentBroken, UserError, _NoProgram) as error:
                    reason = reason or one_line(str(error).partition(";")[0], 160)
                    continue
                files[name] = text
                reason = ""
                break
            if reason:
                left_out[reason] += 1
    return Programs(files, left_out)


class _NoProgram(OperaError):
    """An instance that is no program. The message says why."""


def _program(candidate: Candidate, case: ScriptCase, sources: ModelSources, worker: StableHloWorker) -> tuple[str, str]:
    """Name and text of the file for one instance."""
    route = _route_of(str(case.document.get("library")))
    runtime = replace(case, result=replace(case.result, form=InputForm.RUNTIME.value))
    made = sources.made(runtime, route, _KIND)
    if made.reference.undefined or not made.reference.outputs:
        raise _NoProgram("the library gives no reference")
    outputs = [_array(each) for each in made.reference.outputs]
    text = made.artefact.decode()
    inputs = _declared(text, [_array(each) for each in made.inputs.values()])
    operation = candidate.api.rpartition(".")[2]
    stem = f"{_NAME.sub('_', operation)}_{candidate.identity[:8]}"
    request = Compose(text, stem, _raw(inputs), _raw(outputs), [_tolerance(each) for each in outputs])
    answer = worker.ask(request.to_json())
    if not isinstance(answer, Composed):
        raise _NoProgram(answer if isinstance(answer, str) else getattr(answer, "message", "no program"))
    return f"{stem}.mlir", _header(candidate, case) + answer.text


def _route_of(library: str) -> Route:
    """The way from a library to StableHLO; raises `_NoProgram` where there is none."""
    for route in plugin(JUDGE).load().routes:
        if route.library == library:
            return route
    raise _NoProgram(f"{library or 'the library'} has no way to StableHLO")


def _array(value: ModelValue) -> Array:
    if not is_array(value):
        raise _NoProgram("a value is no tensor")
    return as_array(value)


def _declared(text: str, inputs: Sequence[Array]) -> list[Array]:
    """The inputs in the dtypes that `main` declares."""
    try:
        types = input_types(text)
    except CannotFeed as error:
        raise _NoProgram(str(error)) from error
    if len(types) != len(inputs):
        raise _NoProgram("the inputs are not those of main")
    return [as_array(as_declared(value, type)) for value, type in zip(inputs, types, strict=True)]


def _raw(arrays: Sequence[Array]) -> list[RawTensor]:
    found: list[RawTensor] = []
    for each in arrays:
        try:
            type = TensorType(each.shape, of_dtype(dtype_name(each.dtype)))
        except ValueError as error:
            raise _NoProgram(f"StableHLO has no {each.dtype} tensors") from error
        found.append(RawTensor(str(type), base64.b64encode(each.tobytes()).decode("ascii")))
    return found


def _tolerance(expected: Array) -> float | None:
    """The largest difference that a campaign lets pass for the largest element; None where only equality will do."""
    tolerance = tolerance_of(dtype_name(expected.dtype))
    if tolerance is None:
        return None
    wide = np.abs(expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64))
    largest = float(wide.max(initial=0.0, where=np.isfinite(wide)))
    return float(f"{1.005 * (tolerance.absolute + (tolerance.relative + tolerance.of_largest) * largest):.2e}") or None


def _header(candidate: Candidate, case: ScriptCase) -> str:
    """How the official tool runs the file, and where it comes from."""
    library = one_line(str(case.document.get("library")), 40)
    lines = ["RUN: stablehlo-translate --interpret -split-input-file %s", ""]
    if case.result.verdict.is_failure:
        lines.append(f"Finding {candidate.identity[:12]}: {case.result.verdict.value} of {candidate.compiler}.")
        if candidate.trigger:
            lines.append(f"It fails with: {one_line(candidate.trigger, 200)}.")
    else:
        lines.append(f"Instance {candidate.identity[:12]}.")
    lines.append(f"Operator: {one_line(candidate.api, 200)} of {library}. Written by OPERA.")
    return "".join(f"// {each}".rstrip() + "\n" for each in lines) + "\n"
