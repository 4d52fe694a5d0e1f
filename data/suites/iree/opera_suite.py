"""Drives iree for the tests in this folder; README.md explains them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
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
TARGET = "llvm-cpu"


def import_if_present(name):
    """Imports a module: tests without one are skipped, but a broken one is an error.

    A package that lacks a part of its own is broken, e.g. sources that are not built.
    """
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).startswith(f"{name}."):
            raise


for each in ["iree", "onnx"]:
    import_if_present(each)


def run_onnx(model, inputs, expected, target):
    """Runs a model of onnx by the route onnx, and gives the outputs."""
    onnx = importlib.import_module("onnx")
    iree = importlib.import_module("iree")
    importlib.import_module("iree.compiler")
    importlib.import_module("iree.runtime")
    onnx_importer = __import__(
        "iree.compiler.extras", fromlist=["onnx_importer"]
    ).onnx_importer
    Context = __import__("iree.compiler.ir", fromlist=["Context"]).Context
    if any(
        entry.domain in ("", "ai.onnx") and entry.version < 17
        for entry in model.opset_import
    ):
        model = onnx.version_converter.convert_version(model, 17)
    information = onnx_importer.ModelInfo(
        onnx.shape_inference.infer_shapes(model, data_prop=True)
    )
    with Context() as context:
        module = information.create_module(context=context).operation
        onnx_importer.NodeImporter.define_function(
            information.main_graph, module
        ).import_all()
        text = module.get_asm()
    yield "compile"
    flags = ["--iree-llvmcpu-target-cpu=host"]
    if "f64" in text:
        flags.append("--iree-input-demote-f64-to-f32=false")
    binary = iree.compiler.compile_str(
        text, target_backends=[target], input_type="onnx", extra_args=flags
    )
    yield "run"
    program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
    result = program[model.graph.name](*inputs.values())
    actual = [
        value.to_host()
        for value in (result if isinstance(result, (tuple, list)) else [result])
    ]
    actual = [
        (
            got.view(want.dtype)
            if want.dtype.kind == "u" and got.dtype.kind == "i"
            else got
        )
        for want, got in zip(expected or actual, actual, strict=False)
    ]
    return actual


ROUTES = {
    ("onnx", "onnx"): run_onnx,
}
DEFAULTS = {
    "onnx": "onnx",
}


def check(frontend, model, inputs, expected=None, **settings):
    """Fails unless *model* gives the *expected* outputs, up to rounding.

    Settings are `route`, where there are several, `target`, and `own_error`:
    the largest rounding error of the expected values.
    """
    __tracebackhide__ = True
    own_error = settings.pop("own_error", 0.0)
    phases = started(frontend, model, inputs, expected, **settings)
    while True:
        try:
            next(phases)
        except StopIteration as end:
            actual = end.value
            break
    if expected is not None:
        assert_matches(actual, expected, own_error=own_error)


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
