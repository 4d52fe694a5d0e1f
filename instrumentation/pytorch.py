"""The PyTorch recorder: sees every outermost call of a public function, method or library module.

Functions and methods are seen by a `TorchFunctionMode`, so names that a test bound early are seen too, and nothing is replaced.
Modules are seen by a wrap of the constructors of the library's own module classes, which keeps what they were built with, and one of
`Module.__call__`, which keeps keyword arguments and outcome. Values are written down before the call, for what in-place operators do.
Threads that start while the recorder watches are seen as well. Whatever goes wrong in here is counted as a dropped call and never
reaches the test.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import threading
import weakref
from typing import Any, Callable, Dict, Generator, Hashable, List, NamedTuple, Optional, Sequence, Tuple, cast

from . import pytorch_parameters as parameters
from .filters import Filters
from .pytorch_contents import Contents
from .pytorch_keys import Keys, NoKey
from .pytorch_memory import dtype_name
from .pytorch_mode import depth, enter_thread, hidden_from, instead_of, mode_class, observed_elsewhere, unwatched
from .pytorch_names import class_name, function_name, library_classes
from .pytorch_parameters import Parameters
from .pytorch_structure import Natures
from .pytorch_values import PyTorchValues, class_of, type_name
from .sites import Site
from .stream import Document, Drops, Loose, Stream, fingerprint
from .wire import Json, Unrecordable

torch: Any = importlib.import_module("torch")

UNWATCHED = (
    ("torch.testing._comparison", "not_close_error_metas", "what an assertion calls in order to compare is no operator under test"),
    ("torch.Tensor", "dim_order", "it forgets its keyword argument where any mode is at work"),
)
"""Functions of the library inside which nothing is recorded: module or class, name, and why."""

KNOWN = 100_000
"""Keys of calls that are kept. More would cost memory; fewer only time."""


class TorchApi(NamedTuple):
    """A callable as recorded: its name and parameters, or the count of its calls where all are dropped."""

    name: str
    parameters: Parameters
    drops: Optional[Drops] = None


class BuiltModule(NamedTuple):
    """What a module was built with, or why that cannot be written down. Equal arguments have equal tokens."""

    arguments: List[Json]
    loose: List[Loose]
    token: bytes = b""
    dropped: Optional[str] = None


class TorchDraft(NamedTuple):
    """A call that is under way and was not seen before."""

    key: Optional[Hashable]
    document: Document
    loose: Sequence[Loose]


class _Here(threading.local):
    """What differs from thread to thread.

    Attributes:
        quiet: How many calls that count as one are under way.
    """

    quiet = 0


class Recorder:
    """Records into a stream while `watching` is entered; a context manager that puts every wrap back."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._stream = stream
        self._filters = filters or Filters()
        self._functions: Dict[Any, TorchApi] = {}
        self._modules: Dict[type, TorchApi] = {}
        self._forwards: Dict[type, Parameters] = {}
        self._built: weakref.WeakKeyDictionary[Any, BuiltModule] = weakref.WeakKeyDictionary()
        self._building: set[int] = set()
        self._undo: List[Tuple[Any, str, Any]] = []
        self._here = _Here()
        self._watching = False
        self._natures = Natures()
        self._contents = Contents()
        self._keys = Keys(self._nested_key, self._natures, self._contents)
        self._known: Dict[Hashable, int] = {}
        self._mode = mode_class()(self._on_function)
        self._floods = stream.drops("flood", "*")

    def __enter__(self) -> Recorder:
        for kind in library_classes():
            if "__init__" in vars(kind):
                self._replace(kind, "__init__", self._wrap_init(vars(kind)["__init__"]))
        self._replace(torch.nn.Module, "__call__", self._wrap_call(torch.nn.Module.__call__))
        for place, name, _ in UNWATCHED:
            owner: Any = torch.Tensor if place == "torch.Tensor" else importlib.import_module(place)
            self._replace(owner, name, hidden_from(getattr(owner, name), self._mode))
        return self

    def __exit__(self, *_: object) -> None:
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)

    @contextlib.contextmanager
    def watching(self) -> Generator[None]:
        """Records the calls that are made inside."""
        before, self._watching = self._watching, True
        profile = threading.getprofile()
        threading.setprofile(functools.partial(enter_thread, self._mode, profile))
        try:
            with self._mode:
                yield
        finally:
            threading.setprofile(profile)  # pyright: ignore[reportArgumentType]
            self._watching = before

    def _replace(self, owner: Any, name: str, replacement: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, replacement)

    # Functions and methods

    def _on_function(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], site: Site) -> Any:
        """Sees one call. Most calls of a suite are noise or known: these are only counted, in a microsecond or a few."""
        if not self._watching or self._here.quiet:
            return site.call(function, args, kwargs)
        if site.floods and site.is_flooded(function, self._stream.test):
            self._floods.calls += 1
            return site.call(function, args, kwargs)
        key = None
        try:
            api = self._functions[function]
        except Exception:
            api = None
        if api is not None:
            if api.drops is not None:
                api.drops.calls += 1
                return site.call(function, args, kwargs)
            key = self._quick_key(api.name, args, kwargs)
            if key is not None:
                known = self._known.get(key)
                if known is not None:
                    site.floods = 0
                    self._stream.again(known)
                    return site.call(function, args, kwargs)
                if self._flooded(api.name, args, kwargs):
                    site.flood(function, self._stream.test)
                    self._floods.calls += 1
                    return site.call(function, args, kwargs)
            site.floods = 0
        draft = self._begin(
            lambda: self._function(function),
            lambda api: (api.name, self._keys.of_call(args, kwargs)) if key is None else key,
            lambda api, key: self._draft_function(api, key, args, kwargs),
        )
        if draft is None:
            return site.call(function, args, kwargs)
        if api is None:
            self._flooded(str(draft.document["api"]), args, kwargs)  # the first of them counts as well
        return self._finish(draft, site.call, (function, args, kwargs), {})

    def _flooded(self, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bool:
        """Whether a new call is one too many of those that differ in numbers only."""
        try:
            return self._stream.flooded((name, self._keys.outline(args, kwargs)))
        except Exception:
            return False

    def _quick_key(self, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[Hashable]:
        """The key of a call, if a quick check finds it; no other recorder may be active."""
        if depth() or observed_elsewhere():
            return None
        try:
            return name, self._keys.of_call(args, kwargs)
        except NoKey:
            return NoKey
        except Exception:
            return None

    def _draft_function(self, api: TorchApi, key: Optional[Hashable], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> TorchDraft:
        values = PyTorchValues(self._nested, self._natures, self._contents)
        document = _document(api, "function", api.parameters.bind(args, kwargs, values.encode))
        document["defaults"] = api.parameters.encoded_defaults()
        return TorchDraft(key, document, values.loose if key is None else ())

    def _function(self, function: Any) -> TorchApi:
        try:
            known = self._functions.get(function)
        except TypeError:
            return self._dropped(type_name(class_of(function)), "function-without-name")
        if known is None:
            known = self._functions[function] = self._describe(function_name(function), lambda: parameters.of_function(function), function)
        return known

    def _describe(self, name: Optional[str], bind: Callable[[], Parameters], subject: Any) -> TorchApi:
        if name is None:
            return self._dropped(getattr(subject, "__qualname__", None) or type_name(class_of(subject)), "not-of-the-library")
        group = self._filters.noise(name)
        return TorchApi(name, bind()) if group is None else self._dropped(name, f"noise:{group}")

    def _dropped(self, name: object, reason: str) -> TorchApi:
        return TorchApi(str(name), Parameters((), None, ()), self._stream.drops(reason, str(name)))

    # Modules

    def _wrap_init(self, original: Any) -> Any:
        def init(module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
            if id(module) in self._building or observed_elsewhere():
                return original(module, *args, **kwargs)
            ours = class_name(class_of(module)) is not None
            self._building.add(id(module))
            self._here.quiet += ours
            try:
                if ours:
                    self._remember(module, args, kwargs)
                return original(module, *args, **kwargs)
            finally:
                self._here.quiet -= ours
                self._building.discard(id(module))

        return instead_of(original, init)

    def _remember(self, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        values = PyTorchValues(self._nested, self._natures, self._contents)
        try:
            with unwatched():
                arguments = self._module(class_of(module)).parameters.bind(args, kwargs, values.encode)
                built = BuiltModule(arguments, values.loose, fingerprint(arguments))
        except Unrecordable as error:
            built = BuiltModule([], [], dropped=str(error))
        except Exception as error:
            built = BuiltModule([], [], dropped=f"recorder-error:{type(error).__name__}")
        self._built[module] = built

    def _module(self, kind: type) -> TorchApi:
        known = self._modules.get(kind)
        if known is None:
            known = self._modules[kind] = self._describe(class_name(kind), lambda: parameters.of_class(kind), kind)
        return known

    def _wrap_call(self, original: Any) -> Any:
        def call(module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
            if self._here.quiet or not self._watching:
                return original(module, *args, **kwargs)
            kind = class_of(module)
            draft = self._begin(
                lambda: self._module(kind),
                lambda api: (api.name, self._module_key(module), self._keys.of_call(args, kwargs)),
                lambda api, key: self._draft_module(api, key, module, args, kwargs),
            )
            inside = kind in self._modules and self._modules[kind].drops is None
            self._here.quiet += inside
            try:
                call_args = (module, *args)
                return original(*call_args, **kwargs) if draft is None else self._finish(draft, original, call_args, kwargs)
            finally:
                self._here.quiet -= inside

        return instead_of(original, call)

    def _module_key(self, module: Any) -> Hashable:
        return self._how_built(module).token, *map(repr, _module_context(module))

    def _draft_module(
        self, api: TorchApi, key: Optional[Hashable], module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> TorchDraft:
        built = self._how_built(module)
        kind = class_of(module)
        if kind not in self._forwards:
            self._forwards[kind] = parameters.of_forward(kind)
        values = PyTorchValues(self._nested, self._natures, self._contents)
        document = _document(api, "module", self._forwards[kind].bind(args, kwargs, values.encode))
        document["init"] = built.arguments
        document["context"] = _module_context(module)
        document["defaults"] = api.parameters.encoded_defaults()
        return TorchDraft(key, document, [*values.loose, *built.loose] if key is None else ())

    def _how_built(self, module: Any) -> BuiltModule:
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

    def _nested_key(self, module: Any) -> Hashable:
        return class_of(module), self._how_built(module).token

    # Both

    def _begin(
        self,
        find: Callable[[], TorchApi],
        key_of: Callable[[TorchApi], Hashable],
        draft: Callable[[TorchApi, Optional[Hashable]], TorchDraft],
    ) -> Optional[TorchDraft]:
        """Counts a call that is about to be made, or writes it down where it is a new one; None where nothing is left to do."""
        name = "?"
        try:
            with unwatched():
                api = find()
                name = api.name
                if api.drops is not None:
                    api.drops.calls += 1
                    return None
                if observed_elsewhere():
                    raise Unrecordable("under-a-tracer")
                try:
                    key = key_of(api)
                except NoKey:
                    key = NoKey
                if key is NoKey:
                    return draft(api, None)
                known = self._known.get(key)
                if known is None:
                    return draft(api, key)
                self._stream.again(known)
        except Unrecordable as error:
            self._stream.drop(str(error), name)
        except Exception as error:
            self._stream.drop(f"recorder-error:{type(error).__name__}", name)
        return None

    def _finish(self, draft: TorchDraft, function: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """Makes the call and writes down its outcome."""
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            self._record(draft, "raised", type(error))
            raise
        self._record(draft, "returned")
        return result

    def _record(self, draft: TorchDraft, outcome: str, error: Optional[type] = None) -> None:
        try:
            draft.document["outcome"] = outcome
            if error is not None:
                draft.document["exception"] = type_name(error)
            self._write(draft)
        except Exception as problem:  # a number of more digits than Python writes down, a full disk
            self._stream.drop(f"recorder-error:{type(problem).__name__}", str(draft.document["api"]))

    def _write(self, draft: TorchDraft) -> None:
        if draft.key is None:
            self._stream.record(draft.document, draft.loose)
            return
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[draft.key] = self._stream.write(draft.document)


def _document(api: TorchApi, kind: str, call: List[Json]) -> Document:
    return {"schema": "instance/1", "library": "pytorch", "api": api.name, "kind": kind, "call": call}


def _module_context(module: Any) -> List[Json]:
    """Training mode, and the dtype of parameters and buffers where it is not PyTorch's usual one."""
    context: List[Json] = [["training", bool(module.training)]]
    dtype = next((item.dtype for item in itertools.chain(module.parameters(), module.buffers()) if item.is_floating_point()), torch.float32)
    if dtype is not torch.float32:
        context.append(["parameters", {"dtype": dtype_name(dtype)}])
    return context


def version() -> str:
    """The version of the library."""
    return str(torch.__version__)
