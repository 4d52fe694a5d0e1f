"""Keeps the tables of operators that torch makes again for each exported program.

Each call of `ExportedProgram.run_decompositions` asks torch's dispatcher for all composite operators, once per namespace, and gives each
of about 550 operators 21 kernels of its own for the time of the call. For a single operator this takes several times as long as the
decomposition itself. `torch.onnx`, OpenVINO, TVM and ExecuTorch decompose in the same way. Each call of `torch.onnx.export` also reads the
Python sources of 500 functions, to learn their signatures.

This module replaces functions of torch in its process, and no file. The replacements leave the work to torch's own function at first,
remember what it did, and do the same again as long as the state on which it depends is the same. So programs become what they become in a
process of the user. `docs/explanation/torch-tables.md` has the reasons and the figures, and says how this is tested.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import io
import sys
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DECOMPOSED = "exported-program"
"""The kind of artefact that compilers decompose in their own process."""
_REPLACED = (
    ("torch._export.utils", "_collect_all_valid_cia_ops"),
    ("torch.export.decomp_utils", "_collect_all_valid_cia_ops"),
    ("torch.export.exported_program", "_collect_all_valid_cia_ops"),
    ("torch.export.exported_program", "_override_composite_implicit_decomp"),
)
"""Modules of torch, with the function in each that `keep` replaces."""
_STUDIED = (
    ("torch._export.utils", "_collect_all_valid_cia_ops"),
    ("torch._export.utils", "_collect_all_valid_cia_ops_for_aten_namespace"),
    ("torch._export.utils", "_collect_all_valid_cia_ops_for_namespace"),
    ("torch._export.utils", "_materialize_cpp_cia_ops"),
    ("torch._export.utils", "_is_preservable_cia_op"),
    ("torch._export.utils", "_is_cia_op"),
    ("torch._export.utils", "_check_valid_to_preserve"),
    ("torch._export.utils", "_get_decomp_for_cia"),
    ("torch._ops", "OperatorBase.py_impl"),
    ("torch._subclasses.fake_impls", "_is_op_registered_to_fake_rule"),
    ("torch._subclasses.fake_impls", "register_op_impl"),
    ("torch._subclasses.fake_impls", "_deregister_op_impl"),
    ("torch.export.exported_program", "_override_composite_implicit_decomp"),
)
"""The replaced functions and those that they call, whose texts were read."""
_KNOWN = frozenset({"13ff865a1d01aa77"})
"""Hashes of these texts, as they are in torch 2.13."""
_REGISTRY = ("torch.onnx._internal.exporter._registration", "ONNXRegistry")
"""The class whose `from_torchlib` `keep_onnx_functions` replaces."""
_KNOWN_REGISTRIES = frozenset({"f1817a8fb3d039e5"})
"""Hashes of the text of its module, as it is in torch 2.13."""

_UNKNOWN = "OPERA does not know the internal functions of torch"


def keep() -> list[str]:
    """Keeps the tables that decompositions need, from now on and in this process; without torch, this does nothing.

    Returns:
        For a person, what torch goes on making again.
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return []
    lost = [] if _registry_is_known(torch) else [f"each export by torch.onnx takes longer: {_UNKNOWN} {torch.__version__}"]
    try:
        if isinstance(_named(*_REPLACED[0]), _Collector):
            return lost
        known = _text_of_torch() in _KNOWN
    except (ImportError, AttributeError, OSError, TypeError):
        known = False
    if not known:
        return [f"each decomposition of an exported program takes longer: {_UNKNOWN} {torch.__version__}", *lost]
    collector, overrider = _Collector(_named(*_REPLACED[0])), _Overrider(_named(*_REPLACED[-1]))
    for module, name in _REPLACED:
        setattr(importlib.import_module(module), name, overrider.overriding if name == _REPLACED[-1][1] else collector)
    return lost


def fill() -> None:
    """Loads and decomposes a program of one operator, so that copies of this process have the tables, and what torch imports for them."""
    torch: Any = importlib.import_module("torch")
    saved = io.BytesIO()
    torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.zeros(1),), strict=False), saved)
    saved.seek(0)
    torch.export.load(saved).run_decompositions()


def keep_onnx_functions() -> None:
    """Keeps the functions by which `torch.onnx.export` spells operators, from now on and in this process."""
    torch: Any = importlib.import_module("torch")
    if not _registry_is_known(torch):
        return
    registry = _named(*_REGISTRY)
    if not isinstance(vars(registry)["from_torchlib"], _Registries):
        registry.from_torchlib = _Registries(registry.from_torchlib)


@contextmanager
def without() -> Generator[None]:
    """Has torch work by its own functions for a while, so that a test or a benchmark can compare."""
    places = [(importlib.import_module(module), name) for module, name in _REPLACED]
    if _REGISTRY[0] in sys.modules:
        places.append((_named(*_REGISTRY), "from_torchlib"))
    replacements = [getattr(place, name) for place, name in places]
    try:
        for (place, name), replacement in zip(places, replacements, strict=True):
            kept = getattr(replacement, "__self__", replacement)
            setattr(place, name, kept.own if isinstance(kept, _Collector | _Overrider | _Registries) else replacement)
        yield
    finally:
        for (place, name), replacement in zip(places, replacements, strict=True):
            setattr(place, name, replacement)


def _registry_is_known(torch: Any) -> bool:
    """Whether the text of the registry's module is known; the module, which imports much, stays unimported."""
    file = Path(torch.__file__).parent.joinpath(*_REGISTRY[0].split(".")[1:]).with_suffix(".py")
    try:
        return _hash(file.read_text(encoding="utf-8")) in _KNOWN_REGISTRIES
    except (OSError, UnicodeDecodeError):
        return False


def _text_of_torch() -> str:
    """A hash of the texts of the functions that the replacements of `keep` rely on."""
    return _hash("\0".join(inspect.getsource(_named(module, name)) for module, name in _STUDIED))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _named(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Collector:
    """Gives all composite operators whose meaning an export may keep, as torch's own function does.

    An operator belongs to them by its schema, which never changes, and by its kernels. So the answer stays the same as long as the
    dispatcher has the same composite kernels, and Python the same operators outside `aten`, for which torch itself keeps its answer.
    """

    def __init__(self, own: Any) -> None:
        self.own = own
        self._torch: Any = importlib.import_module("torch")
        self._composite = self._torch._C.DispatchKey.CompositeImplicitAutograd
        self._state: object = None
        self._found: Collection[Any] = ()

    def __call__(self) -> set[Any]:
        if self._state is None or self._state != self._now():
            self._found = self.own()
            self._state = self._now()  # torch's function makes operators known to Python
        return set(self._found)

    def _now(self) -> object:
        registered = self._torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        return registered, [(each, self._composite in each.py_kernels, self._has_kernel(each)) for each in self._outside_aten()]

    def _has_kernel(self, operator: Any) -> bool:
        return self._torch._C._dispatch_has_kernel(operator.name())

    def _outside_aten(self) -> Iterator[Any]:
        operators = self._torch.ops
        for name in operators._dir:
            namespace = getattr(operators, name)
            if name != "aten" and isinstance(namespace, self._torch._ops._OpNamespace):
                for packet in namespace:
                    yield from getattr(namespace, packet).op_overloads()


@dataclass(frozen=True)
class _Override:
    """What torch did to one operator.

    Attributes:
        before: Its Python kernels without the override.
        during: Its Python kernels with it; that of the composite key is another one each time.
        had_rule: Whether the operator had a rule for fake tensors without the override.
        rule: The rule that it had with it.
    """

    before: Mapping[Any, Any]
    during: Mapping[Any, Any]
    had_rule: bool
    rule: Any

    def fits(self, operator: Any, rules: Mapping[Any, Any]) -> bool:
        """Whether *operator* is as it was then."""
        return operator.py_kernels == self.before and (operator in rules) == self.had_rule


class _Overrider:
    """Overrides the composite operators for the time of a decomposition, as torch's own function does."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self._fake: Any = importlib.import_module("torch._subclasses.fake_impls")
        self._composite: Any = importlib.import_module("torch")._C.DispatchKey.CompositeImplicitAutograd
        self._kept: dict[Any, _Override] = {}

    @contextmanager
    def overriding(self, cia_ops_to_callable: Mapping[Any, Any]) -> Generator[None]:
        """Replaces `_override_composite_implicit_decomp` of `torch.export.exported_program`."""
        rules: dict[Any, Any] = self._fake.op_implementations_dict
        kept: dict[Any, _Override] = {}
        changed: dict[Any, Any] = {}
        for operator, kernel in cia_ops_to_callable.items():
            override = self._kept.get(operator)
            if override is not None and override.fits(operator, rules):
                kept[operator] = override
            else:
                changed[operator] = kernel
        before = {operator: (dict(operator.py_kernels), operator in rules) for operator in changed}
        with self.own(changed):
            for operator, (kernels, had_rule) in before.items():
                self._kept[operator] = _Override(kernels, dict(operator.py_kernels), had_rule, rules[operator])
            try:
                for operator, override in kept.items():
                    self._set(operator, {**override.during, self._composite: cia_ops_to_callable[operator]})
                    rules.setdefault(operator, override.rule)
                yield
            finally:
                for operator, override in kept.items():
                    self._set(operator, override.before)
                    self._fake._deregister_op_impl(operator)

    @staticmethod
    def _set(operator: Any, kernels: Mapping[Any, Any]) -> None:
        operator.py_kernels.clear()
        operator.py_kernels.update(kernels)
        operator._dispatch_cache.clear()


class _Registries:
    """Makes a registry of the functions that spell operators in ONNX, as `ONNXRegistry.from_torchlib` does, of parts made before."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self._made: dict[object, tuple[object, Any]] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        key = arguments, tuple(sorted(keywords.items()))
        registered, made = self._made.get(key, (None, None))
        if registered is None or registered != self._registered():
            made = self.own(*arguments, **keywords)
            self._made[key] = self._registered(), made  # torch's function imports what registers functions
        registry = self.own.__self__()
        registry._opset_version = made._opset_version
        registry.functions = {target: list(functions) for target, functions in made.functions.items()}
        return registry

    @staticmethod
    def _registered() -> object:
        """The functions of onnxscript that a registry is made of."""
        registration: Any = importlib.import_module("onnxscript.function_libs.torch_lib.registration")
        return tuple((name, *map(id, each.overloads), *map(id, each.complex)) for name, each in registration.default_registry.items())
