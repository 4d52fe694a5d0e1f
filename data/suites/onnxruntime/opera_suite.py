"""Drives onnxruntime for the tests in this folder; README.md explains them."""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import inspect
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

HERE = pathlib.Path(__file__).parent
SECONDS = float(os.environ.get("OPERA_SUITE_SECONDS", "120"))
GIBIBYTES = float(os.environ.get("OPERA_SUITE_GIBIBYTES", "4"))
TARGET = "CPUExecutionProvider"


def import_if_present(name):
    """Imports a module: tests without one are skipped, but a broken one is an error.

    A package that lacks a part of its own is broken, e.g. sources that are not built.
    """
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).startswith(f"{name}."):
            raise


for each in ["onnx", "onnxruntime"]:
    import_if_present(each)


def width_of(dtype):
    """The bits of one element."""
    return {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}.get(dtype.name, 8 * dtype.itemsize)


def packed(array):
    """The bytes of *array*; elements of fewer than 8 bits share one, the first in the lowest bits."""
    bits = np.unpackbits(np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")
    return np.packbits(bits[:, : width_of(array.dtype)], bitorder="little")


def unpacked(data, dtype, shape):
    """The inverse of `packed`."""
    width, size = width_of(dtype), int(np.prod(shape))
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: width * size].reshape(size, width)
    whole = np.packbits(np.pad(bits, [(0, 0), (0, 8 * dtype.itemsize - width)]), bitorder="little")
    return whole.view(dtype).reshape(shape)


def run_onnx(model, inputs, expected, target):
    """Runs a model of onnx by the route onnx, and gives the outputs."""
    onnx = importlib.import_module("onnx")
    ort = importlib.import_module("onnxruntime")

    def is_unchanged(graph, newer, older):
        for node in graph.node:
            if node.domain in ("", "ai.onnx"):
                try:
                    schema = onnx.defs.get_schema(node.op_type, newer)
                except onnx.defs.SchemaError:
                    return False
                if schema.since_version > older:
                    return False
                if not all(is_unchanged(each.g, newer, older) for each in node.attribute if each.HasField("g")):
                    return False
        return True

    def readable(model, ir_version, opset):
        model.ir_version = min(model.ir_version, ir_version)
        for entry in model.opset_import:
            is_newer = entry.domain in ("", "ai.onnx") and entry.version > opset
            if is_newer and is_unchanged(model.graph, entry.version, opset):
                entry.version = opset
        return model.SerializeToString()

    def is_plain(value):
        if isinstance(value, list):
            return all(map(is_plain, value))
        return value is None or value.dtype.char in "?bhilqBHILQefdO"

    def given(value):
        if is_plain(value):
            return ort.OrtValue.ortvalue_from_numpy(value)
        element = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        made = ort.OrtValue.ortvalue_from_shape_and_type(list(value.shape), element)
        data = packed(value).tobytes()
        ctypes.memmove(made.data_ptr(), data, len(data))
        return made

    def taken(value):
        if not value.is_tensor():
            return value.numpy()
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
        if dtype.char in "?bhilqBHILQefdO":
            return value.numpy()
        shape = tuple(value.shape())
        size = -(-math.prod(shape) * width_of(dtype) // 8)
        return unpacked(ctypes.string_at(value.data_ptr(), size), dtype, shape)

    def infer(session, values):
        foreign = ("bfloat16", "float8", "int4", "int2", "float4")
        kinds = [entry.type for entry in session.get_outputs()]
        if all(map(is_plain, values.values())) and (not any(name in kind for kind in kinds for name in foreign)):
            return session.run(None, values)
        named = {name: given(value) for name, value in values.items()}
        return [taken(value) for value in session.run_with_ort_values(None, named)]

    yield "compile"
    session = ort.InferenceSession(readable(model, 13, 26), providers=[target])
    yield "run"
    actual = infer(session, inputs)
    return actual


ROUTES = {
    ("onnx", "onnx"): run_onnx,
}
DEFAULTS = {
    "onnx": "onnx",
}


OWN_TOLERANCES = {
    "onnx": {"float32": (1e-05, 0.001, 0.0)},
}
"""By frontend and dtype: what onnxruntime's own tests allow, see TOLERANCES."""


def check(frontend, model, inputs, expected=None, **settings):
    """Fails unless *model* gives the *expected* outputs, up to rounding.

    Settings are `route`, where there are several, `target`, and `own_error`:
    the largest rounding error of the expected values,
    and `tolerance`: "opera" for TOLERANCES in place of OWN_TOLERANCES.
    """
    __tracebackhide__ = True
    own_error = settings.pop("own_error", 0.0)
    tolerances = TOLERANCES
    if settings.pop("tolerance", None) != "opera":
        tolerances = {**TOLERANCES, **OWN_TOLERANCES.get(frontend, {})}
    phases = started(frontend, model, inputs, expected, **settings)
    while True:
        try:
            next(phases)
        except StopIteration as end:
            actual = end.value
            break
    if expected is not None:
        assert_matches(actual, expected, own_error=own_error, tolerances=tolerances)


def started(frontend, model, inputs, expected, *, route=None, target=TARGET):
    """The phases of *model*: import, compilation, run; pauses in between."""
    run = ROUTES[frontend, route or DEFAULTS[frontend]]
    return run(model, inputs, expected, target)


def measure(frontend, benchmark, phase, model, inputs, *expected, **settings):
    """Checks *model*, then measures one phase: 0 import, 1 compile, 2 run."""
    __tracebackhide__ = True
    check(frontend, model, inputs, *expected, **settings)
    settings = {name: settings[name] for name in settings.keys() & {"route", "target"}}

    def prepared():
        given = expected or (None,)
        phases = started(frontend, model, inputs, *given, **settings)
        for _ in range(phase):
            next(phases)
        return (phases,), {}

    benchmark.pedantic(next_phase, setup=prepared, rounds=5)


def next_phase(phases):
    """Runs *phases* up to the next pause, or to the end."""
    return next(phases, None)


def arrays_of(test):
    """The arrays of a test that are too large for its text, by name."""
    with np.load(HERE / "data" / f"{test}.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def check_in_child(path, test, **values):
    """Runs a test in a process of its own, with a limit for time and memory.

    Raises ChildProcessError if the process dies, TimeoutError if it does not
    end, and MemoryError if it takes too much memory.
    """
    __tracebackhide__ = True
    given = [f"{name}={json.dumps(value)}" for name, value in values.items()]
    search_path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": search_path}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        note, log = pathlib.Path(folder, "note"), pathlib.Path(folder, "log")
        command = [sys.executable, __file__, path, test, note, *given]
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                status = _ended(child)
            finally:
                _kill(child)
        said = note.read_text(encoding="utf-8") if note.exists() else ""
        if said == "passed":
            return
        if said:
            raise AssertionError(f"in the child process: {said}")
        tail = log.read_bytes()[-2000:].decode("utf-8", "replace")
        how = _name(status)
        raise ChildProcessError(f"the process ended with {how}\n{tail}")


def _ended(child):
    """The exit status of *child*; raises when it passes a limit."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return child.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"the process did not end within {SECONDS:g} s")
        if _resident(child.pid) > GIBIBYTES * 2**30:
            raise MemoryError(f"the process took more than {GIBIBYTES:g} GiB")


def _resident(session):
    """Resident bytes of a session; 0 where /proc does not tell."""
    pages = 0
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            pages += int(fields[21])
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _kill(child):
    """Ends *child* with all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        child.kill()
    child.wait()


def _name(status):
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _run_test(path, test, note, *given):
    """Runs one test in this process, and notes how it ended."""
    own = str(HERE)
    sys.path[:] = [each for each in sys.path if each != own]
    passed = False
    try:
        place = importlib.util.spec_from_file_location("opera_test", path)
        module = importlib.util.module_from_spec(place)
        place.loader.exec_module(module)
        function = getattr(module, test)
        values = {}
        pairs = [each.partition("=")[::2] for each in given]
        settings = {name: json.loads(value) for name, value in pairs}
        for name in inspect.signature(function).parameters:
            if name == "data":
                values[name] = arrays_of(test)
            elif name.startswith("check_"):
                frontend = name[len("check_") :].removesuffix("_in_child")
                values[name] = functools.partial(check, frontend, **settings)
        function(**values)
        passed = True
    finally:
        kind, error, _ = sys.exc_info()
        said = "passed" if passed else f"{kind.__name__}: {error}"
        pathlib.Path(note).write_text(said, encoding="utf-8", errors="replace")
        os._exit(0)


TOLERANCES = {
    "float64": (1e-9, 1e-7, 1e-12),
    "float32": (1e-4, 5e-4, 1e-5),
    "float16": (4e-3, 1e-2, 2e-3),
    "bfloat16": (3e-2, 5e-2, 1e-2),
    "float8_e3m4": (1e-2, 0.07, 0.0),
    "float8_e4m3": (1e-2, 0.15, 0.0),
    "float8_e4m3b11fnuz": (1e-2, 0.15, 0.0),
    "float8_e4m3fn": (1e-2, 0.15, 0.0),
    "float8_e4m3fnuz": (1e-2, 0.15, 0.0),
    "float8_e5m2": (1e-2, 0.3, 0.0),
    "float8_e5m2fnuz": (1e-2, 0.3, 0.0),
    "float8_e8m0fnu": (0.0, 1.0, 0.0),
    "float4_e2m1fn": (0.0, 0.0, 0.0),
}
"""By dtype: absolute, relative, and relative to the largest element."""
REFERENCE_ERRORS = 8.0
"""How many times the error of the expected values an element may be off."""
PARTS = {"complex64": "float32", "complex128": "float64"}


def assert_matches(
    actual: Any,
    expected: Any,
    *,
    own_error: float = 0.0,
    tolerances: Mapping[str, tuple[float, float, float]] = TOLERANCES,
) -> None:
    """Raises AssertionError unless *actual* is *expected*, up to rounding.

    Count, structure, shapes and dtypes have to be equal, and so do the places
    of NaN and of each infinity. Integers, bools and strings have to be equal.
    Other elements may differ by a tolerance of their dtype.

    Args:
        actual: An array, or a list of outputs: arrays, lists, or None.
        expected: The same, as a trusted library computes it.
        own_error: The largest rounding error of the expected values, if known.
        tolerances: By dtype, see TOLERANCES.
    """
    __tracebackhide__ = True
    _compare("output", actual, expected, own_error, tolerances)


def _compare(
    name: str,
    actual: Any,
    expected: Any,
    own_error: float,
    tolerances: Mapping[str, tuple[float, float, float]],
) -> None:
    __tracebackhide__ = True
    if isinstance(expected, (list, tuple)):
        is_list = isinstance(actual, (list, tuple))
        _check(is_list, f"{name}: expected a list, got {_kind(actual)}")
        wanted, given = _items(expected), _items(actual)
        sizes = f"expected {len(wanted)} values, got {len(given)}"
        _check(len(wanted) == len(given), f"{name}: {sizes}")
        for index, (one, other) in enumerate(zip(given, wanted, strict=True)):
            _compare(f"{name}[{index}]", one, other, own_error, tolerances)
    elif expected is None or not _is_array(actual):
        kinds = f"expected {_kind(expected)}, got {_kind(actual)}"
        _check(actual is None and expected is None, f"{name}: {kinds}")
    else:
        one, other = np.asarray(actual), np.asarray(expected)
        shapes = f"expected shape {other.shape}, got {one.shape}"
        _check(one.shape == other.shape, f"{name}: {shapes}")
        dtypes = f"expected dtype {other.dtype}, got {one.dtype}"
        _check(_dtype(one) == _dtype(other), f"{name}: {dtypes}")
        _compare_arrays(name, one, other, own_error, tolerances)


def _check(holds: bool, message: str) -> None:
    __tracebackhide__ = True
    if not holds:
        raise AssertionError(message)


def _items(values: Any) -> list[Any]:
    return list(values)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _kind(value: Any) -> str:
    if value is None or _is_array(value):
        return "nothing" if value is None else "an array"
    return f"a {type(value).__name__}"


def _dtype(array: Any) -> str:
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def _compare_arrays(
    name: str,
    actual: Any,
    expected: Any,
    own_error: float,
    tolerances: Mapping[str, tuple[float, float, float]],
) -> None:
    __tracebackhide__ = True
    kind = _dtype(expected)
    tolerance = tolerances.get(PARTS.get(kind, kind))
    if expected.size == 0:
        return
    if tolerance is None:
        _raise(name, _texts(actual) != _texts(expected), actual, expected)
        return
    wide = np.complex128 if kind in PARTS else np.float64
    one, other = actual.astype(wide), expected.astype(wide)
    _raise(name, np.isnan(one) != np.isnan(other), actual, expected)
    with np.errstate(all="ignore"):
        scale = np.abs(other)
        finite = np.isfinite(one) & np.isfinite(other)
        absolute, relative, of_largest = tolerance
        largest = scale.max(initial=0.0, where=finite)
        sizes = np.where(np.isfinite(scale), scale, 0.0)
        allowed = absolute + relative * sizes + of_largest * largest
        allowed = allowed + REFERENCE_ERRORS * own_error
        parts = [(one, other)]
        if kind in PARTS:
            parts = [(one.real, other.real), (one.imag, other.imag)]
        for left, right in parts:
            same = (left == right) | np.isnan(one)
            near = np.isfinite(left) & np.isfinite(right)
            near = near & (np.abs(left - right) <= allowed)
            _raise(name, ~(same | near), actual, expected, allowed)


def _texts(array: Any) -> Any:
    if array.dtype.kind not in "OSU":
        return array
    flat: Any = np.empty(array.size, dtype=object)
    for index, item in enumerate(array.reshape(-1).tolist()):
        flat[index] = item.decode() if isinstance(item, bytes) else str(item)
    return flat.reshape(array.shape)


def _raise(
    name: str,
    wrong: Any,
    actual: Any,
    expected: Any,
    allowed: Any = None,
) -> None:
    __tracebackhide__ = True
    wrong = np.asarray(wrong)
    if wrong.size == 0 or not wrong.any():
        return
    place = int(np.argmax(wrong.reshape(-1)))
    index = tuple(int(each) for each in np.unravel_index(place, wrong.shape))
    values = expected.reshape(-1)[place], actual.reshape(-1)[place]
    text = f"expected {values[0]}, got {values[1]} at {index}"
    if allowed is not None:
        text = f"{text}; {allowed.reshape(-1)[place]:.3g} is allowed"
    share = f"{int(wrong.sum())} of {wrong.size} elements differ"
    raise AssertionError(f"{name}: {text} ({share})")


if __name__ == "__main__":
    _run_test(*sys.argv[1:])
