"""Runs the examples in the documentation of a library's public functions and classes under a recorder."""

from __future__ import annotations

import ast
import code
import contextlib
import doctest
import importlib
import inspect
import io
import random
import re
import sys
import types
import warnings
import zlib
from typing import Any, Dict, Generator, Iterator, List, Sequence, Tuple, cast

from ..recorders import recording
from ..stream import Stream
from . import arguments, limits

_FENCE = re.compile(r"^([ \t]*)```(?:python|py)?[ \t]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("docstrings")
    parser.add_argument("--library", required=True)
    parser.add_argument("--places", required=True, help="modules and classes whose members are looked at; `tf.*` for all below tf")
    parser.add_argument("--names", default="", help="names that the examples use without importing them: torch, nn=torch.nn")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    warnings.simplefilter("ignore")
    library = recording(options.library)
    names = _names(options.names)
    objects = [item for item in _objects(options.places.split(",")) if filters.selected(item[0])]
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(Stream(options.recording, options.library, library.version(), options.source))
        recorder = stack.enter_context(library.Recorder(stream, filters))
        for index, (name, text) in arguments.select(objects, options):
            stream.enter(index, name)
            if filters.excluded(name):
                stream.drop("excluded", name)
                continue
            with _undone(options.library, options.seed, name):
                _run(text, f"{options.source}::{name}", dict(names), stream, recorder)


def _names(text: str) -> Dict[str, Any]:
    """The globals of every example."""
    found: Dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, path = item.partition("=")
        found[name] = _resolve(path or name)
    return found


def _resolve(path: str) -> Any:
    """A module, class or function by its dotted name; `tf` is TensorFlow's usual one."""
    head, *rest = path.split(".")
    found: Any = importlib.import_module({"tf": "tensorflow", "np": "numpy"}.get(head, head))
    walked = found.__name__
    for part in rest:
        walked = f"{walked}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(walked)
    return found


def _objects(places: Sequence[str]) -> List[Tuple[str, str]]:
    """Name and documentation of every public object that has examples; an object that has several names counts once."""
    found: List[Tuple[str, str]] = []
    known: set[int] = set()
    texts: set[str] = set()
    for place in places:
        for name, owner in _owners(place.strip()):
            for member, value in sorted(cast("Dict[str, Any]", vars(owner)).items()):
                if member.startswith("_") or id(value) in known or isinstance(value, types.ModuleType):
                    continue
                known.add(id(value))
                text = _documentation(value)
                if text and text not in texts:
                    texts.add(text)
                    found.append((f"{name}.{member}", text))
    return found


def _owners(place: str) -> Iterator[Tuple[str, Any]]:
    """The modules and classes that *place* names: `tf.*` is TensorFlow's public namespace with everything below."""
    if not place.endswith(".*"):
        yield place, _resolve(place)
        return
    waiting: List[Tuple[str, Any]] = [(place[:-2], _resolve(place[:-2]))]
    seen: set[int] = set()
    while waiting:
        name, module = waiting.pop(0)
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield name, module
        for member in sorted(dir(module)):
            value = None if member.startswith("_") else _member(module, member)
            if isinstance(value, types.ModuleType) and _package(value) == _package(module):
                waiting.append((f"{name}.{member}", value))


def _member(module: Any, name: str) -> Any:
    """A member of a module; None for one that is loaded lazily and cannot be."""
    try:
        return getattr(module, name)
    except Exception:
        return None


def _package(module: Any) -> str:
    """The package that a module belongs to."""
    try:
        return str(module.__name__).split(".")[0]
    except Exception:
        return ""


def _documentation(value: Any) -> str:
    """The documentation of *value*, where it has examples in it."""
    try:
        text = inspect.getdoc(value) or ""
    except Exception:
        return ""
    return text if ">>>" in text or _FENCE.search(text) else ""


@contextlib.contextmanager
def _undone(library: str, seed: int, name: str) -> Generator[None]:
    """Runs an object's examples with seeds of their own, and undoes what they leave set."""
    number = zlib.crc32(f"{seed}:{name}".encode())
    random.seed(number)
    with contextlib.suppress(ImportError):
        importlib.import_module("numpy").random.seed(number)
    undo = _UNDO.get(library, _nothing)
    with undo(number):
        yield


@contextlib.contextmanager
def _undo_pytorch(seed: int) -> Generator[None]:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(seed)
    before = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    modes = torch._C._len_torch_function_stack()
    try:
        yield
    finally:
        while torch._C._len_torch_function_stack() > modes:  # torch.set_default_device leaves a mode behind
            torch._C._pop_torch_function_stack()
        torch.set_default_device(None)
        torch.set_default_dtype(before[0])
        torch.set_grad_enabled(before[1])
        torch.set_num_threads(before[2])
        torch.set_printoptions(profile="default")
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def _undo_tensorflow(seed: int) -> Generator[None]:
    tf: Any = importlib.import_module("tensorflow")
    context: Any = importlib.import_module("tensorflow.python.eager.context")
    try:
        with context.eager_mode():  # an example may have switched to graphs for good
            tf.random.set_seed(seed)
            yield
    finally:
        tf.config.run_functions_eagerly(False)


@contextlib.contextmanager
def _undo_keras(seed: int) -> Generator[None]:
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(seed)
    floatx, image, policy = keras.config.floatx(), keras.config.image_data_format(), keras.config.dtype_policy()
    try:
        yield
    finally:
        keras.config.set_floatx(floatx)
        keras.config.set_image_data_format(image)
        keras.config.set_dtype_policy(policy)
        keras.utils.clear_session()


@contextlib.contextmanager
def _nothing(seed: int) -> Generator[None]:
    del seed
    yield


_UNDO: Dict[str, Any] = {"pytorch": _undo_pytorch, "tensorflow": _undo_tensorflow, "keras": _undo_keras}


def _run(text: str, test: str, names: Dict[str, Any], stream: Stream, recorder: Any) -> None:
    """Runs one object's examples in order; one that raises does not stop the next."""
    session = code.InteractiveInterpreter(names)
    failed = total = 0
    for number, source in enumerate(_examples(text)):
        stream.begin(f"{test}::{number}")
        errors = io.StringIO()
        try:
            with limits.alarm(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors), recorder.watching():
                session.runsource(source, "<example>", "exec")
        except limits.Late:
            errors.write("takes too long")
        except SystemExit:
            errors.write("asks to exit")
        total += 1
        if errors.getvalue().strip():
            failed += 1
            print(f"{test}::{number}: {errors.getvalue().strip().splitlines()[-1][:200]}", flush=True)
    sys.last_value = sys.last_traceback = None  # or the interpreter would keep the tensors of a failed example
    stream.outcome(test, "failed" if failed == total else "passed", 0.0)


def _examples(text: str) -> List[str]:
    """The examples of a documentation text: those with prompts, else its fenced blocks of Python."""
    try:
        prompted = [example.source for example in doctest.DocTestParser().get_examples(text)]
    except ValueError:
        prompted = [line.strip()[4:] + "\n" for line in text.splitlines() if line.strip().startswith(">>> ")]
    return prompted or [block for _, block in map(_dedented, _FENCE.findall(text)) if _is_python(block)]


def _dedented(match: Tuple[str, str]) -> Tuple[str, str]:
    return match[0], inspect.cleandoc(match[1]) + "\n"


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
