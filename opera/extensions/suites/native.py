"""Suites in the forms of other projects: ONNX's backend tests, and IREE's folders with lists of expected failures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opera.arrays import ModelValue, as_array, dtype_name, is_array, pack
from opera.difftest.messages import BUILDS_ONLY
from opera.extensions.suites.driver import environment
from opera.extensions.suites.plain import BURN_DOWN, GREEN
from opera.extensions.suites.tensors import NoTensor, value_proto
from opera.extensions.suites.tests import SuiteTest, ascii_text
from opera.oracles.tolerance import tolerance_of
from opera.oracles.verdict import Stage, Verdict

_TYPES = {
    "bool": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64",
    "uint64": "i64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}  # fmt: skip
"""Element types of `iree-run-module`, which has no signs."""
_THRESHOLDS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_AT_COMPILATION = (Stage.EXPORT, Stage.LOAD, Stage.OPTIMIZE, Stage.CODEGEN)


class NotNative(ValueError):
    """A test that has no such form. The message says why."""


@dataclass(frozen=True)
class NativeSuite:
    """The files of a suite, and why tests were left out, by name of the test."""

    files: Mapping[str, bytes]
    left_out: Mapping[str, str]


def tier_of(test: SuiteTest) -> str:
    """The folder of a test: of those that pass, or of the known failures."""
    return GREEN if test.failure is None else BURN_DOWN


def onnx_backend(tests: Sequence[SuiteTest], compiler: str, versions: Mapping[str, str], folder: str) -> NativeSuite:
    """Model, inputs and outputs of each test as ONNX's backend runner loads them, and a list of tests to exclude."""
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    kept: list[SuiteTest] = []
    for test in sorted(tests, key=lambda each: each.name):
        try:
            case = _backend_case(test)
        except (NotNative, NoTensor) as error:
            left_out[test.name] = str(error)
            continue
        kept.append(test)
        files.update({f"{tier_of(test)}/{test.name}/{name}": data for name, data in case.items()})
    failing = [each for each in kept if each.failure is not None]
    files["exclude.txt"] = "".join(f"{each.name}  # {_why(each)}\n" for each in failing).encode()
    files["README.md"] = _readme("onnx_backend.md.j2", compiler, versions, folder, kept)
    return NativeSuite(files, left_out)


def _backend_case(test: SuiteTest) -> dict[str, bytes]:
    inputs = _model_inputs(test)
    case = {"model.onnx": test.proto}
    outputs = _outputs(test)
    case |= {f"test_data_set_0/input_{index}.pb": value_proto(value, name) for index, (name, value) in enumerate(inputs.items())}
    case |= {f"test_data_set_0/output_{index}.pb": value_proto(value, "") for index, value in enumerate(outputs)}
    absolute, relative = 0.0, 0.0
    for value in outputs:
        tolerance = tolerance_of(dtype_name(as_array(value).dtype)) if is_array(value) else None
        if tolerance is not None:
            largest = _largest(value)
            absolute = max(absolute, tolerance.absolute + tolerance.of_largest * largest + tolerance.reference_errors * test.own_error)
            relative = max(relative, tolerance.relative)
    return {**case, "data.json": (json.dumps({"rtol": relative, "atol": absolute}) + "\n").encode()}


def _outputs(test: SuiteTest) -> Sequence[ModelValue]:
    if not test.has_expected:
        raise NotNative("the library gives no reference")
    return test.reference.outputs


def _model_inputs(test: SuiteTest) -> Mapping[str, ModelValue]:
    """The values that the model takes, by name and in its order.

    Raises:
        NotNative: the test has no ONNX model.
    """
    if not test.proto:
        raise NotNative("its model is not in ONNX's format")
    return {name: test.inputs[name] for name in test.input_names if name in test.inputs}


def _largest(value: ModelValue) -> float:
    array = np.abs(as_array(value).astype(np.complex128 if as_array(value).dtype.kind == "c" else np.float64))
    return float(array.max(initial=0.0, where=np.isfinite(array)))


def _why(test: SuiteTest) -> str:
    return "" if test.failure is None else f"{test.identity[:8]}: {ascii_text(test.failure.summary)}"


def iree(tests: Sequence[SuiteTest], texts: Mapping[str, str], versions: Mapping[str, str], folder: str) -> NativeSuite:
    """A folder for each test, with model, inputs and expected outputs, and the JSON files of expected failures.

    Args:
        tests: The tests.
        texts: The imported model of each test, by its name; what could not be imported is left out.
        versions: With which the tests were seen.
        folder: Name of the suite's folder, which is a part of the names in the JSON files.
    """
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    kept: list[SuiteTest] = []
    for test in sorted(tests, key=lambda each: each.name):
        try:
            case = _iree_case(test, texts.get(test.name))
        except NotNative as error:
            left_out[test.name] = str(error)
            continue
        kept.append(test)
        files.update({f"{tier_of(test)}/{test.name}/{name}": data for name, data in case.items()})
    wide = {each.name for each in kept if "f64" in texts[each.name]}
    for name, flags, others in (
        ("cpu", [], wide),
        ("cpu_f64", ["--iree-input-demote-f64-to-f32=false"], {each.name for each in kept} - wide),
    ):
        files[f"{name}.json"] = _iree_config(name, flags, [each for each in kept if each.name not in others], kept, folder)
    files["README.md"] = _readme("iree.md.j2", "iree", versions, folder, kept)
    return NativeSuite(files, left_out)


def _iree_config(name: str, flags: Sequence[str], tests: Sequence[SuiteTest], everything: Sequence[SuiteTest], folder: str) -> bytes:
    def paths(chosen: Sequence[SuiteTest]) -> list[str]:
        return [f"{folder}/{tier_of(each)}/{each.name}" for each in chosen]

    failing = [each for each in tests if each.failure is not None]
    early = [each for each in failing if _fails_at_compilation(each)]
    own = {each.name for each in tests}
    document: dict[str, Any] = {
        "config_name": f"opera_{name}",
        "iree_compile_flags": ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", *flags],
        "iree_run_module_flags": ["--device=local-sync"],
        "skip_compile_tests": paths([each for each in everything if each.name not in own]),
        "skip_run_tests": [],
        "expected_compile_failures": paths(early),
        "expected_run_failures": paths([each for each in failing if each not in early]),
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def _fails_at_compilation(test: SuiteTest) -> bool:
    result = test.case.result
    return result.verdict is not Verdict.INCONSISTENT and result.stage in _AT_COMPILATION


def _iree_case(test: SuiteTest, text: str | None) -> dict[str, bytes]:
    inputs, outputs = _model_inputs(test), _outputs(test)
    if text is None:
        raise NotNative("the importer takes no such model")
    files = {"model.mlir": text.encode()}
    flags: list[str] = []
    thresholds: dict[str, float] = {}
    for role, option, values in (("input", "--input", list(inputs.values())), ("output", "--expected_output", list(outputs))):
        for index, value in enumerate(values):
            if not is_array(value) or (kind := dtype_name(as_array(value).dtype)) not in _TYPES:
                raise NotNative("iree-run-module takes no such value")
            array = as_array(value)
            flags.append(f"{option}={'x'.join([*map(str, array.shape), _TYPES[kind]])}=@{role}_{index}.bin")
            files[f"{role}_{index}.bin"] = pack(np.ascontiguousarray(array).reshape(array.shape))
            tolerance = tolerance_of(kind)
            if role == "output" and tolerance is not None:
                allowed = tolerance.absolute + (tolerance.relative + tolerance.of_largest) * _largest(value)
                name = _THRESHOLDS[kind]
                thresholds[name] = max(thresholds.get(name, 0.0), allowed + tolerance.reference_errors * test.own_error)
    flags += [f"--expected_{name}_threshold={allowed:g}" for name, allowed in sorted(thresholds.items())]
    return {**files, "run_module_io_flags.txt": "".join(f"{flag}\n" for flag in flags).encode()}


def _readme(template: str, compiler: str, versions: Mapping[str, str], folder: str, tests: Sequence[SuiteTest]) -> bytes:
    failing = [(each.name, _why(each)) for each in tests if each.failure is not None]
    text = (
        environment()
        .get_template(template)
        .render(
            compiler=compiler,
            folder=folder,
            versions=", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown versions",
            green=len(tests) - len(failing),
            failing=failing,
            builds_only=BUILDS_ONLY.items() <= versions.items(),
        )
    )
    return text.encode()
