"""PyTorch as a target of generation."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import types as python_types
from typing import Any, Optional, cast

from opera.extensions.generators.docter import documents
from opera.extensions.generators.docter.constraints import (
    BOOL,
    DTYPE,
    FLOAT,
    INT,
    INTS,
    MISSING,
    NONE,
    OTHER,
    STRING,
    TENSOR,
    TENSORS,
    Facts,
    ParameterConstraint,
    Signature,
    TargetApi,
    ValueType,
    merged,
    with_facts,
)
from opera.extensions.generators.docter.python import of_parameters, with_words
from opera.extensions.generators.docter.recipes import TensorRecipe
from opera.instrumentation import pytorch_names
from opera.instrumentation.filters import Filters
from opera.instrumentation.hosts import seeds
from opera.instrumentation.pytorch import Recorder
from opera.instrumentation.stream import Stream

torch: Any = importlib.import_module("torch")

_PLACES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "torch.signal.windows")
_SCHEMA_KINDS = {
    "Tensor": TENSOR,
    "List[Tensor]": TENSORS,
    "List[Optional[Tensor]]": TENSORS,
    "int": INT,
    "List[int]": INTS,
    "number": FLOAT,
    "float": FLOAT,
    "List[float]": "floats",
    "List[number]": "floats",
    "bool": BOOL,
    "List[bool]": "bools",
    "str": STRING,
    "ScalarType": DTYPE,
    "complex": FLOAT,
}
_NEVER_GIVEN = frozenset({"out", "names", "generator", "layout", "device", "pin_memory", "memory_format", "requires_grad", "dtype_layout"})
"""Optional parameters that say nothing of the operator, or that nothing generated fits."""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class PyTorchBench:
    """Functions of the public modules, methods that have no function of their name, and modules."""

    library = "pytorch"
    version = str(torch.__version__)

    def __init__(self) -> None:
        seeds.quieten()
        torch.set_grad_enabled(False)

    def names(self, scope: list[str]) -> list[str]:
        found: list[str] = []
        if "functions" in scope:
            found += _functions()
        if "methods" in scope:
            found += _methods()
        if "modules" in scope:
            found += _modules()
        return found

    def api(self, name: str, given: Optional[dict[str, Facts]] = None) -> Optional[TargetApi]:
        target = _resolve(name)
        doc = _doc(name, target)
        facts = merged(documents.read(doc), given or {})
        if isinstance(target, type):
            build, call = _signature(target.__init__)[1:], _signature(cast(Any, target).forward)[1:]
            if any(item.rest for item in build):
                build = documents.parameters(target.__doc__)
            return TargetApi(name, target, (with_facts(call, facts),), with_facts(build, facts))
        signatures = _overloads(target) or [_signature(target)]
        usable = [with_facts(signature, facts) for signature in signatures if all(item.drawable or not item.required for item in signature)]
        words = documents.vocabulary(doc)
        return TargetApi(name, target, tuple(with_words(signature, words) for signature in usable)) if usable else None

    def tensor(self, recipe: TensorRecipe, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        dtype = self.dtype(recipe.dtype)
        if not (dtype.is_floating_point or dtype.is_complex):
            return _whole(recipe, generator).to(dtype)
        return _real(recipe, generator, dtype)

    def dtype(self, name: str) -> Any:
        return getattr(torch, name)

    def reset(self, seed: int, entry: str) -> None:
        seeds.reset(seed, entry)

    def recorder(self, stream: Stream, filters: Filters) -> Recorder:
        return Recorder(stream, filters)


def _whole(recipe: TensorRecipe, generator: Any) -> Any:
    low, high = 0, max(1, recipe.high)
    if recipe.values in ("signed", "negative"):
        low, high = (-9, 10) if recipe.values == "signed" else (-9, 0)
    if recipe.dtype == "bool":
        low, high = 0, 2
    return torch.randint(low, high, recipe.shape, generator=generator)


def _real(recipe: TensorRecipe, generator: Any, dtype: Any) -> Any:
    wide = torch.complex64 if dtype.is_complex else torch.float32
    normal = torch.randn(recipe.shape, generator=generator, dtype=wide)
    kind = recipe.values
    if kind == "definite":
        normal = normal @ normal.mT.conj() + torch.eye(recipe.shape[-1])
    elif kind in ("positive", "unit"):
        normal = torch.rand(recipe.shape, generator=generator, dtype=wide) * (1.0 if kind == "unit" else 3.0) + (
            0.0 if kind == "unit" else 0.1
        )
    elif kind == "integral":
        normal = normal.mul(3).round() if not dtype.is_complex else normal
    elif kind == "sorted" and recipe.shape and not dtype.is_complex:
        normal = normal.sort(-1).values
    elif kind == "negative":
        normal = -normal.abs() - 0.1
    elif kind == "zero":
        normal = torch.zeros_like(normal)
    elif kind == "huge":
        normal = normal * torch.finfo(dtype).max
    elif kind in ("nan", "inf") and normal.numel():
        normal.view(-1)[:: max(1, normal.numel() // 2)] = math.nan if kind == "nan" else math.inf
    return normal.to(dtype)


# What there is


def _functions() -> list[str]:
    """Public functions that compute on tensors: those that a tensor-like class can override, and makers of tensors with a schema."""
    known = torch.overrides.get_testing_overrides()
    found: dict[int, str] = {}
    for place in _PLACES:
        for name, value in sorted(_content(importlib.import_module(place)).items()):
            plain = callable(value) and not isinstance(value, (type, python_types.ModuleType)) and not name.startswith("_")
            if plain and (value in known or _schemas(value)):
                found.setdefault(id(value), f"{place}.{name}")
    return list(found.values())


def _methods() -> list[str]:
    """Methods of tensors that have no function of their name."""
    names = [name for name, value in sorted(_content(torch._C.TensorBase).items()) if callable(value) and not name.startswith("_")]
    return [f"torch.Tensor.{name}" for name in names if not hasattr(torch, name) and not hasattr(torch.nn.functional, name)]


def _modules() -> list[str]:
    """Module classes of `torch.nn` that have a forward pass of their own."""
    found: list[str] = []
    for name, value in sorted(_content(torch.nn).items()):
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and pytorch_names.class_name(value) == f"torch.nn.{name}":
            forward = getattr(value, "forward", None)
            if getattr(forward, "__name__", "") != "_forward_unimplemented":
                found.append(f"torch.nn.{name}")
    return found


def _content(owner: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", dict(owner.__dict__))


def _resolve(name: str) -> Any:
    place, _, attribute = name.rpartition(".")
    return getattr(torch.Tensor if place == "torch.Tensor" else importlib.import_module(place), attribute)


def _doc(name: str, target: Any) -> str:
    """The documentation of *target*; for a method, also the documentation of the function that it refers to."""
    own = getattr(target, "__doc__", None) or ""
    function = getattr(torch, name.rpartition(".")[2].rstrip("_"), None) if name.startswith("torch.Tensor.") else None
    return own + "\n" + (getattr(function, "__doc__", None) or "")


# Signatures


def _schemas(function: Any) -> list[Any]:
    name = getattr(function, "__name__", None)
    builtin = not inspect.isfunction(function)
    return list(torch._C._jit_get_schemas_for_operator(f"aten::{name}")) if builtin and isinstance(name, str) else []


def _overloads(function: Any) -> list[Signature]:
    """The signatures of a builtin by its schemas, without those that write to given tensors or deal with text or names."""
    found: list[Signature] = []
    for schema in _schemas(function):
        arguments = list(schema.arguments)
        types = [str(argument.real_type) for argument in arguments]
        left_out = "out" in str(schema.overload_name) or any(
            "Dimname" in kind or kind.startswith(("t[", "t", "Dict", "__")) for kind in types
        )
        if not left_out and types[:1] != ["str"]:
            found.append(tuple(_of_schema(argument, kind) for argument, kind in zip(arguments, types, strict=True)))
    return list(dict.fromkeys(found))


def _of_schema(argument: Any, text: str) -> ParameterConstraint:
    optional = text.startswith("Optional[")
    plain = text[len("Optional[") : -1] if optional else text
    kind = _SCHEMA_KINDS.get(plain, OTHER)
    length = cast(Optional[int], argument.N) if kind == INTS else None
    kinds = (ValueType(kind, length),)
    given = argument.has_default_value()
    if optional and not given:
        kinds = (*kinds, ValueType(NONE))
    if kind == INTS and length is not None:
        kinds = (ValueType(INT), *kinds) if length == 1 else kinds
        kinds = tuple(item._replace(length=None) if length == 1 else item for item in kinds)
    hidden = argument.name in _NEVER_GIVEN
    default = argument.default_value if given else MISSING
    return ParameterConstraint(
        argument.name,
        (ValueType(OTHER),) if hidden else kinds,
        required=not given,
        keyword=bool(argument.kwarg_only),
        default=tuple(cast("list[Any]", default)) if isinstance(default, list) else default,
    )


def _signature(function: Any) -> Signature:
    """The signature of a Python function, or the stand-in that PyTorch's own tests have for one that takes anything."""
    stand_in: Any = _stand_ins().get(function)
    for candidate in (function, stand_in):
        try:
            parameters = list(inspect.signature(candidate).parameters.values())
        except (TypeError, ValueError):
            continue
        if candidate is stand_in or any(item.kind in _POSITIONAL for item in parameters[: 2 if parameters[:1] else 1]):
            return tuple(of_parameters(parameters, _NEVER_GIVEN))
        if stand_in is None:
            return tuple(of_parameters(parameters, _NEVER_GIVEN))
    return ()


@functools.cache
def _stand_ins() -> dict[Any, Any]:
    return dict(torch.overrides.get_testing_overrides())
