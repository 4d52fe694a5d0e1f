"""The PyTorch recorder: sees every outermost call of a public function, method or library module.

Functions and methods are seen by a `TorchFunctionMode`, so names that a test bound early are seen too, and nothing is replaced.
Modules are seen by a wrap of the constructors of the library's own module classes, which keeps what they were built with, and one of
`Module.__call__`, which keeps keyword arguments and outcome. Values are written down before the call, for what in-place operators do.
Whatever goes wrong in here is counted as a dropped call and never reaches the test.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import weakref
from typing import Any, Callable, Dict, Generator, List, NamedTuple, Optional, Sequence, Tuple, cast

from . import pytorch_parameters as parameters
from .filters import Filters
from .pytorch_names import class_name, function_name
from .pytorch_parameters import Parameters
from .pytorch_values import Values, class_of, dtype_name, type_name
from .stream import Document, Loose, Stream
from .wire import Json, Unrecordable

torch: Any = importlib.import_module("torch")


class Api(NamedTuple):
    """A callable as recorded: its name and parameters, or why its calls are dropped."""

    name: str
    parameters: Parameters
    dropped: Optional[str] = None


class Built(NamedTuple):
    """What a module was built with, or why that cannot be written down."""

    arguments: List[Json]
    loose: List[Loose]
    dropped: Optional[str] = None


class Draft(NamedTuple):
    """A call that is under way."""

    document: Document
    loose: Sequence[Loose]


class Recorder:
    """Records into a stream while `watching` is entered; a context manager that puts every wrap back."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._stream = stream
        self._filters = filters or Filters()
        self._functions: Dict[Any, Api] = {}
        self._modules: Dict[type, Api] = {}
        self._forwards: Dict[type, Parameters] = {}
        self._built: weakref.WeakKeyDictionary[Any, Built] = weakref.WeakKeyDictionary()
        self._building: set[int] = set()
        self._undo: List[Tuple[Any, str, Any]] = []
        self._quiet = 0
        self._watching = False

    def __enter__(self) -> Recorder:
        for kind in library_classes():
            if "__init__" in vars(kind):
                self._replace(kind, "__init__", self._wrap_init(vars(kind)["__init__"]))
        self._replace(torch.nn.Module, "__call__", self._wrap_call(torch.nn.Module.__call__))
        return self

    def __exit__(self, *_: object) -> None:
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)

    @contextlib.contextmanager
    def watching(self) -> Generator[None]:
        """Records the calls that are made inside."""
        before, self._watching = self._watching, True
        try:
            with _mode_class()(self._on_function):
                yield
        finally:
            self._watching = before

    def _replace(self, owner: Any, name: str, replacement: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, replacement)

    # Functions and methods

    def _on_function(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if self._quiet:
            return function(*args, **kwargs)
        draft = self._begin(lambda: self._function(function), lambda api: self._draft_function(api, args, kwargs))
        return self._finish(draft, function, args, kwargs)

    def _draft_function(self, api: Api, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Draft:
        values = Values(self._nested)
        document = _document(api, "function", api.parameters.bind(args, kwargs, values.encode))
        document["defaults"] = api.parameters.encoded_defaults()
        return Draft(document, values.loose)

    def _function(self, function: Any) -> Api:
        try:
            known = self._functions.get(function)
        except TypeError:
            return Api(type_name(class_of(function)), Parameters((), None, ()), "function-without-name")
        if known is None:
            known = self._functions[function] = self._describe(function_name(function), lambda: parameters.of_function(function), function)
        return known

    def _describe(self, name: Optional[str], bind: Callable[[], Parameters], subject: Any) -> Api:
        if name is None:
            owner = getattr(subject, "__qualname__", None) or type_name(class_of(subject))
            return Api(str(owner), Parameters((), None, ()), "not-of-the-library")
        group = self._filters.noise(name)
        return Api(name, bind(), None if group is None else f"noise:{group}")

    # Modules

    def _wrap_init(self, original: Any) -> Any:
        @functools.wraps(original)
        def init(module: Any, *args: Any, **kwargs: Any) -> None:
            if id(module) in self._building or _observed_elsewhere():
                return original(module, *args, **kwargs)
            ours = class_name(class_of(module)) is not None
            self._building.add(id(module))
            self._quiet += ours
            try:
                if ours:
                    self._remember(module, args, kwargs)
                return original(module, *args, **kwargs)
            finally:
                self._quiet -= ours
                self._building.discard(id(module))

        return init

    def _remember(self, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        values = Values(self._nested)
        try:
            with _unwatched():
                built = Built(self._module(class_of(module)).parameters.bind(args, kwargs, values.encode), values.loose)
        except Unrecordable as error:
            built = Built([], [], str(error))
        except Exception as error:
            built = Built([], [], f"recorder-error:{type(error).__name__}")
        self._built[module] = built

    def _module(self, kind: type) -> Api:
        known = self._modules.get(kind)
        if known is None:
            known = self._modules[kind] = self._describe(class_name(kind), lambda: parameters.of_class(kind), kind)
        return known

    def _wrap_call(self, original: Any) -> Any:
        @functools.wraps(original)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._quiet or not self._watching:
                return original(module, *args, **kwargs)
            kind = class_of(module)
            draft = self._begin(lambda: self._module(kind), lambda api: self._draft_module(api, module, args, kwargs))
            self._quiet += draft is not None
            try:
                return self._finish(draft, original, (module, *args), kwargs)
            finally:
                self._quiet -= draft is not None

        return call

    def _draft_module(self, api: Api, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Draft:
        built = self._how_built(module)
        kind = class_of(module)
        if kind not in self._forwards:
            self._forwards[kind] = parameters.of_forward(kind)
        values = Values(self._nested)
        document = _document(api, "module", self._forwards[kind].bind(args, kwargs, values.encode))
        document["init"] = built.arguments
        document["context"] = _module_context(module)
        document["defaults"] = api.parameters.encoded_defaults()
        return Draft(document, [*values.loose, *built.loose])

    def _how_built(self, module: Any) -> Built:
        built = self._built.get(module)
        if built is None:
            raise Unrecordable("module-built-unseen")
        if built.dropped:
            raise Unrecordable(built.dropped)
        return built

    def _nested(self, module: Any) -> Json:
        """The form of a module that is passed as an argument."""
        kind = class_of(module)
        name = class_name(kind)
        if name is None:
            raise Unrecordable("module-not-of-the-library")
        known = self._module(kind).parameters.names
        arguments: List[Json] = []
        for argument in self._how_built(module).arguments:
            item = cast(Document, argument)
            arguments.append([item["name"] if item.get("keyword") or item["name"] in known else None, item["value"]])
        return {"call": [name, arguments]}

    # Both

    def _begin(self, find: Callable[[], Api], draft: Callable[[Api], Draft]) -> Optional[Draft]:
        """Writes down a call that is about to be made; None where it is dropped."""
        name = "?"
        try:
            with _unwatched():
                api = find()
                name = api.name
                if api.dropped is None and _observed_elsewhere():
                    raise Unrecordable("under-a-tracer")
                if api.dropped is not None:
                    raise Unrecordable(api.dropped)
                return draft(api)
        except Unrecordable as error:
            self._stream.drop(str(error), name)
        except Exception as error:
            self._stream.drop(f"recorder-error:{type(error).__name__}", name)
        return None

    def _finish(self, draft: Optional[Draft], function: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """Makes the call and writes down its outcome."""
        if draft is None:
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            draft.document.update(outcome="raised", exception=type_name(type(error)))
            self._stream.record(draft.document, draft.loose)
            raise
        draft.document["outcome"] = "returned"
        self._stream.record(draft.document, draft.loose)
        return result


def library_classes() -> List[type]:
    """`torch.nn.Module` and all its subclasses that are the library's own and loaded by now."""
    found: List[type] = []
    waiting: List[type] = [torch.nn.Module]
    while waiting:
        kind = waiting.pop()
        if kind in found or "jit" in kind.__module__ or not kind.__module__.startswith("torch."):
            continue
        found.append(kind)
        waiting.extend(type.__subclasses__(kind))
    return found


@functools.cache
def _mode_class() -> Any:
    """A `TorchFunctionMode` that hands each call to a function."""
    base: Any = torch.overrides.TorchFunctionMode

    def initialise(mode: Any, handler: Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]) -> None:
        base.__init__(mode)
        mode.handler = handler

    def handle(mode: Any, function: Any, _types: Any, args: Tuple[Any, ...] = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        return mode.handler(function, args, kwargs or {})

    return type("RecordingMode", (base,), {"__init__": initialise, "__torch_function__": handle})


def _unwatched() -> Any:
    """Inside, calls of torch functions reach no mode and no subclass."""
    return torch._C.DisableTorchFunction()


def _observed_elsewhere() -> bool:
    """Whether a tracer, a compiler, a transform or a dispatch mode is at work, which our own look at the values would disturb."""
    internals = torch._C
    return bool(
        torch.compiler.is_compiling()
        or internals._get_tracing_state() is not None
        or internals._len_torch_dispatch_stack() > 0
        or internals._functorch.peek_interpreter_stack() is not None
    )


def _document(api: Api, kind: str, call: List[Json]) -> Document:
    return {"schema": "instance/1", "library": "pytorch", "api": api.name, "kind": kind, "call": call}


def _module_context(module: Any) -> List[Json]:
    """Training mode, and the dtype of parameters and buffers where it is not PyTorch's usual one."""
    context: List[Json] = [["training", bool(module.training)]]
    dtype = next((item.dtype for item in itertools.chain(module.parameters(), module.buffers()) if item.is_floating_point()), torch.float32)
    if dtype is not torch.float32:
        context.append(["parameters", {"dtype": dtype_name(dtype)}])
    return context
