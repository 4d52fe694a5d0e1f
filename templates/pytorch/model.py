"""PyTorch instances as `torch.nn.Module`s that return a plain tuple of tensors."""

from __future__ import annotations

import importlib
import io
import types
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from opera.arrays import Array, dtype_name
from opera.instance import Call, Device, DType, Instance, Kind, Tensor
from opera.instance.values import walk
from opera.models import torch_tables
from opera.models.forms import BESIDE, INPUTS, OUTCOME, PACKED, STATE, InputForm, ModelForm
from opera.models.operators import operators_of
from opera.models.sampling import nudged, sample
from opera.models.sizes import NO_FREE_SIZE, Axis, free_axes, larger, weights_among
from opera.models.template import LIBRARY_RAISED, Artefact, ExportFailed, Invalid, PythonSource, Reference
from opera.oracles.blame import Undefined
from opera.oracles.compare import Policy, compare, disagreement
from opera.templates.call_arguments import CallArguments, filled, named_constant
from opera.templates.onnx.agreement import computed, is_sound
from opera.templates.python_text import imports_of
from opera.templates.pytorch.devices import shapes_elsewhere
from opera.templates.pytorch.outcomes import Writes, after, check_refusal, refusal, summary, writes_after, writes_text, writing
from opera.templates.pytorch.programs import captured_by, open_shapes, run_saved, saved
from opera.templates.pytorch.source import LaidOut, expected_source, imports_of_classes, leaf_paths, module_source, open_source
from opera.trust import SOURCE, Unfit, granted, is_foreign, load

torch: Any = importlib.import_module("torch")

_HEADS = ("torch", "builtins", "math", "operator")
SIDES_DIFFER = "sides-differ"
_DISPATCHED = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_SIGNED = (torch.int8, torch.int16, torch.int32)
"""Signed integers that are narrower than int64."""
_INTEGERS = (*_SIGNED, torch.uint8, torch.int64)
_MOST_ELEMENTS = 2**28
"""Most elements in the memory of a tensor with strides."""
_WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "complex32": "complex128", "complex64": "complex128"}
_VIEWS = {"bfloat16": ("int16", "bfloat16"), "float8_e4m3fn": ("uint8", "float8_e4m3fn"), "float8_e5m2": ("uint8", "float8_e5m2")}


class PyTorchTemplate:
    """Wraps a recorded call into a module; every tensor among its arguments becomes an input."""

    library = "pytorch"
    revision = 9
    forkable = True

    def versions(self) -> Mapping[str, str]:
        return {"torch": str(torch.__version__)}

    def build(self, instance: Instance, key: str, seed: int) -> PyTorchModel:
        own: PyTorchModel | None = instance.kind.behaviour.model(self.library, instance, key, seed)
        return PyTorchModel(instance, key, seed) if own is None else own


class PyTorchModel:
    """One instance as a module, with its inputs drawn.

    Attributes:
        module: Takes the inputs, and returns every tensor that a test compares.
        part: What a compiler gets that takes live modules: of an instance with the fact `WRITTEN`, the module without the caller's writes.
    """

    _writes: Writes | None = None
    _is_refused = False

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        self.instance = instance
        self._seed = seed
        self._key = key
        if instance.kind not in (Kind.FUNCTION, Kind.MODULE):
            raise Invalid("not-a-pytorch-call")
        if any(tensor.layout != "strided" for tensor in instance.tensors()):
            raise Invalid("sparse-layout")
        operators_of("pytorch").check_instance(instance)
        _check_source(instance)
        try:
            target = resolve(instance.api)
        except (ImportError, AttributeError) as error:
            raise Invalid("api-not-in-this-version") from error
        torch.manual_seed(seed)  # before anything with weights is made, modules among the arguments included
        arguments = _Arguments(str(instance.context_value(INPUTS, key)), seed)
        init, init_keywords = arguments.made(instance.init, inputs=False)
        positional, keywords = arguments.made(instance.call, inputs=True)
        self._tensors = arguments.inputs
        self._constants = arguments.constants
        if instance.kind is Kind.MODULE:
            target = _built(target, init, init_keywords, instance)
        self._beside: Any = None
        for fact in (STATE, BESIDE):
            other = instance.context_value(fact)
            if isinstance(other, Call):
                torch.manual_seed(seed)  # as for the side on its own
                self._beside = arguments.module(other, instance)
                _give_state(self._beside, target)
        packed = bool(instance.context_value(PACKED, False))
        if packed and self._tensors and self._tensors[0].is_complex():
            self._tensors[0] = torch.view_as_real(self._tensors[0].resolve_conj()).clone()
        self.paired = instance.context_value(BESIDE) is not None
        outcome = instance.context_value(OUTCOME)
        self._is_refused = outcome == InputForm.REFUSED.value
        is_written = outcome == InputForm.WRITTEN.value
        beside = self._beside if self.paired else None
        self.part = wrap(target, positional, keywords, instance.operator, packed=packed, beside=beside, copies=not is_written)
        self.part.constants, self.part.name = self._constants, instance.operator
        self.module = self.part
        if is_written:
            self._writes = writes_after(self.part, self.fresh_tensors())
            self.part, self.module = writing(self.part, self._writes)

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(f"x{index}", to_numpy(tensor)) for index, tensor in enumerate(self._tensors)]

    def fresh_tensors(self) -> list[Any]:
        """The inputs, copied with their strides, so that a run that overwrites them spoils nothing."""
        return [_strided(tensor.clone(), tensor.stride()) for tensor in self._tensors]

    def outcome(self, call: Callable[..., Sequence[Any]], tensors: Sequence[Any]) -> list[Any]:
        """What a test compares after *call*, which is `part` or what a compiler made of it, of *tensors*."""
        if self._is_refused:
            return [torch.tensor(refusal(call, tensors) is not None)]
        return list(call(*tensors)) if self._writes is None else after(call, tensors, self._writes)

    @property
    def refusal(self) -> str:
        """What the library says of a call that it refuses."""
        return summary(refusal(self.part, self.fresh_tensors()))

    def run_once(self) -> list[Any]:
        """Every tensor of one call; raises `Invalid` where the library rejects it."""
        return self._outputs(self._tensors if self._writes is None else self.fresh_tensors(), seed=1)

    def prepared(self) -> Callable[[], object]:
        tensors = self.fresh_tensors()

        def call() -> object:
            with torch.no_grad():
                return self.module(*tensors)

        return call

    def number_of_outputs_varies(self) -> bool:
        """Whether other integers among the inputs, larger or smaller by one, make another number of output tensors."""
        counts = {len(self.run_once())}
        for step in (1, -1):
            tensors = [tensor + step if tensor.dtype in _INTEGERS else tensor for tensor in self.fresh_tensors()]
            with suppress(Invalid):
                counts.add(len(self._outputs(tensors, seed=1)))
        return len(counts) > 1

    def reference(self) -> Reference:
        if self._is_refused:
            check_refusal(self.part, self.fresh_tensors())
        outputs = self._run(self.fresh_tensors(), seed=1)
        arrays = [to_numpy(item) for item in outputs]
        again = [to_numpy(item) for item in self._other_run()]
        precise = self._precise(len(outputs))
        return Reference(arrays, precise, disagreement(arrays, [again]) or (_sides_differ(arrays, precise) if self.paired else None))

    def artefact(self, kind: str, form: str) -> Artefact:
        is_open = ModelForm.parse(form).inputs is InputForm.SYMBOLIC
        export = (lambda: self._with_open_sizes()[0]) if is_open else self._exported
        if self._writes is not None and any(each.clone().stride() != each.stride() for each in self._tensors):
            raise Invalid("strides-not-possible")  # the copies in the graph would not lie in memory as the inputs do
        if kind == "onnx":
            return self._onnx(export)
        if kind == "torchscript" and not is_open:
            return Artefact(captured_by("trace", self._torchscript))
        if kind == "exported-program":
            return Artefact(captured_by("torch.export", lambda: saved(export())))
        if kind == "exported-program-decomposed":
            return Artefact(captured_by("torch.export", lambda: saved(export().run_decompositions())))
        if kind == "torchscript":
            raise Invalid(NO_FREE_SIZE)  # a trace keeps the sizes of its inputs
        raise ValueError(f"PyTorch models have no artefact of kind {kind!r}")

    def opened(self) -> tuple[list[Any], Collection[Axis]]:
        """Inputs with other sizes along the axes that a captured program leaves open, and these axes; raises `Invalid` without any."""
        axes = captured_by("torch.export", self._with_open_sizes)[1]
        return self._grown(axes), axes

    def source(self, form: str) -> PythonSource:
        lazy = any(torch.nn.parameter.is_lazy(parameter) for parameter in self.module.parameters())
        tensors = self.fresh_tensors()
        result = torch.tensor(True) if self._is_refused else self.part.operator_result(*tensors)
        leaves = None if isinstance(result, torch.Tensor) else list(leaf_paths(result))
        draws = any(True for _ in (*self.module.parameters(), *self.module.buffers())) or bool(
            self.instance.context_value("training", False)
        )
        outputs = [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        converts = any(map(_has_no_array, [*self._tensors, *outputs]))
        text = module_source(
            self.instance,
            [_laid_out(tensor) for tensor in self._tensors],
            [_laid_out(tensor) for tensor in self._constants],
            seed=self._seed if draws else None,
            leaves=leaves,
            in_place=self._writes is None and self.part.in_place,
            lazy=lazy,
            converts=converts,
            packed=bool(self.instance.context_value(PACKED, False)),
            writes=None if self._writes is None else writes_text(self._writes, self._tensors, outputs),
        )
        imports = ["import torch", *imports_of_classes(self.instance)]
        writes = any(to_numpy(left).tobytes() != to_numpy(given).tobytes() for left, given in zip(tensors, self._tensors, strict=True))
        if ModelForm.parse(form).inputs is InputForm.SYMBOLIC:
            text += open_source(len(tensors), captured_by("torch.export", self._with_open_sizes)[1])
        is_after = self._writes is not None
        imports += ["import copy"] if is_after else []
        if self._is_refused:
            return PythonSource((*imports_of(text), *imports), text, "")
        expected = expected_source(plain=leaves is None and not is_after, writes=writes, converts=converts, after=is_after)
        return PythonSource((*imports_of(text), *imports), text, expected)

    def _run(self, tensors: list[Any], seed: int) -> list[Any]:
        outputs = self._outputs(tensors, seed)
        if not outputs:
            raise Invalid("no-tensor-output")
        if any(item.layout is not torch.strided or item.is_quantized for item in outputs):
            raise Invalid("sparse-output")
        return outputs

    def _outputs(self, tensors: Sequence[Any], seed: int) -> list[Any]:
        """What a test compares after a call; raises `Invalid` where it raises."""
        torch.manual_seed(seed)
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.outcome(self.part, tensors)
        except Exception as error:
            raise Invalid(LIBRARY_RAISED) from error

    def _other_run(self) -> list[Any]:
        """A run with another seed, with uninitialised memory filled and PyTorch's fused shortcuts off: what that changes is undefined."""
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            with torch.backends.mkldnn.flags(enabled=False):
                return self._run(self.fresh_tensors(), seed=2)
        finally:
            torch.use_deterministic_algorithms(False)
            torch.backends.mha.set_fastpath_enabled(True)

    def _precise(self, count: int) -> list[Array] | None:
        """The outputs in double precision, where every floating-point input and parameter can be widened."""
        if not any(tensor.dtype in _narrow() for tensor in self._tensors):
            return None
        outputs = self.nearby(0.0, 0)
        return outputs if outputs is not None and len(outputs) == count else None

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        try:
            wide = type(self)(self.instance, self._key, self._seed)
            for module in wide.module.modules():
                module.to(torch.float64)
            tensors = [tensor.to(_widened(tensor.dtype)) for tensor in wide.fresh_tensors()]
            for index, tensor in enumerate(tensors):
                if scale or computes_as:
                    tensor.copy_(torch.from_numpy(np.asarray(nudged(to_numpy(tensor), scale, draw, index, computes_as))))
            return [to_numpy(item) for item in wide._run(tensors, seed=1)]
        except Exception:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        try:
            model = type(self)(self.instance, self._key, self._seed)
            narrow = _SIGNED if dtype == "int64" else (*_SIGNED, torch.uint8)
            tensors = [tensor.to(getattr(torch, dtype)) if tensor.dtype in narrow else tensor for tensor in model.fresh_tensors()]
            return [to_numpy(item) for item in model._run(tensors, seed=1)]
        except Exception:
            return None

    def shapes_elsewhere(self) -> list[tuple[int, ...]] | None:
        try:
            return shapes_elsewhere(type(self)(self.instance, self._key, self._seed).module, self.fresh_tensors())
        except Exception:
            return None

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Any] | Undefined | None] | None:
        torch.manual_seed(1)
        try:
            if kind == "onnx":
                return "torch.onnx", computed(data, self.inputs)
            found = run_saved(kind, data, self.fresh_tensors())
            return None if found is None else (found[0], [to_numpy(item) for item in found[1]])
        except Exception:
            return None

    def _exported(self) -> Any:
        return torch.export.export(self.module, tuple(self.fresh_tensors()), strict=False)

    def _with_open_sizes(self) -> tuple[Any, Collection[Axis]]:
        """A program captured with other sizes than the inputs have, and the axes whose sizes it leaves open; PyTorch fixes others."""
        tensors = self.fresh_tensors()
        arrays = [to_numpy(each) for each in tensors]
        ranks = [item.dim() for item in self._run(tensors, seed=1)]

        def accepts(others: Sequence[Array]) -> bool:
            try:
                made = [from_numpy(other, dtype_name(own.dtype)) for other, own in zip(others, arrays, strict=True)]
                return [item.dim() for item in self._run(made, seed=1)] == ranks
            except Invalid:
                return False

        axes: Collection[Axis] = free_axes(arrays, accepts, weights_among(self.instance))
        while axes:
            others = self._grown(axes)
            sizes = tuple(
                {axis: torch.export.Dim.AUTO for axis in range(each.ndim) if (place, axis) in axes} for place, each in enumerate(arrays)
            )
            program = torch.export.export(self.module, tuple(others), dynamic_shapes={"tensors": sizes}, strict=False)
            shapes = open_shapes(program)
            kept = {(place, axis) for place, axis in axes if place < len(shapes) and shapes[place][axis] < 0}
            if kept == set(axes):
                program.module()(*tensors)  # raises where a guard of the larger sizes, e.g. that one is even, does not hold for its own
                return program, axes
            axes = kept
        raise Invalid(NO_FREE_SIZE)

    def _grown(self, axes: Collection[Axis]) -> list[Any]:
        arrays = [to_numpy(each) for each in self._tensors]
        return [from_numpy(each, dtype_name(own.dtype)) for each, own in zip(larger(arrays, axes), arrays, strict=True)]

    def _torchscript(self) -> bytes:
        with torch.no_grad():
            traced = torch.jit.trace(self.module, tuple(self.fresh_tensors()), check_trace=False, strict=False)
        buffer = io.BytesIO()
        torch.jit.save(traced, buffer)
        return buffer.getvalue()

    def _onnx(self, export: Callable[[], Any]) -> Artefact:
        program = captured_by("torch.export", export)
        torch_tables.keep_onnx_functions()
        try:
            proto = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
        except Exception as error:
            raise ExportFailed("torch.onnx") from error
        suspect = None if is_sound(proto, self.inputs) else "torch.onnx"
        return Artefact(proto.SerializeToString(deterministic=True), suspect)


class _Arguments(CallArguments):
    """A call's arguments as PyTorch's objects."""

    def __init__(self, key: str, seed: int) -> None:
        super().__init__()
        self._key = key
        self._seed = seed

    def tensor(self, tensor: Tensor) -> Any:
        array = sample(tensor, f"{self._key}:{len(self.inputs)}", self._seed)
        built = from_numpy(array, tensor.dtype)
        return built if tensor.strides is None else _strided(built, tensor.strides)

    def constant(self, value: Any) -> Any:
        return constant(value)

    def resolved(self, path: str) -> Any:
        return resolve(path)

    def module(self, call: Call, instance: Instance) -> Any:
        """The module that *call* makes, in the mode of *instance*."""
        positional = [self._value(value, False) for name, value in call.arguments if name is None]
        keywords = {name: self._value(value, False) for name, value in call.arguments if name is not None}
        try:
            factory = resolve(call.api)
        except (ImportError, AttributeError) as error:
            raise Invalid("api-not-in-this-version") from error
        return _built(factory, positional, keywords, instance)


def _check_source(instance: Instance) -> None:
    """Raises `Invalid` where the source of classes that are not the library's is another than that of *instance*."""
    paths = foreign_paths(instance)
    if not paths:
        return
    try:
        found = granted().hash(paths)
    except Unfit as error:
        raise Invalid("class-not-trusted") from error
    if found != instance.context_value(SOURCE):
        raise Invalid("source-changed")


def foreign_paths(instance: Instance) -> list[str]:
    """The paths of all classes of *instance* that are not the library's own."""
    values = [*(each.value for each in instance.arguments()), *(value for _, value in instance.context)]
    calls = [part.api for value in values for part in walk(value) if isinstance(part, Call)]
    return sorted({path for path in (instance.api, *calls) if is_foreign(path)})


def _give_state(source: Any, target: Any) -> None:
    """Copies parameters and buffers of side a of a pair to side b where name and shape agree; the others stay as side b makes them."""
    given, own = _state(source), _state(target)
    shared = {name: value for name, value in given.items() if name in own and own[name].shape == value.shape}
    if shared:
        target.load_state_dict(shared, strict=False)


def _state(module: Any) -> dict[str, Any]:
    """The parameters and buffers that have a shape; lazy ones get it from the first call."""
    state: dict[str, Any] = dict(module.state_dict()) if isinstance(module, torch.nn.Module) else {}
    return {name: value for name, value in state.items() if isinstance(value, torch.Tensor) and not torch.nn.parameter.is_lazy(value)}


def _sides_differ(arrays: list[Array], precise: list[Array] | None) -> str | None:
    """Why a pair says nothing of a compiler; None where the library gives the same for both sides."""
    half = len(arrays) // 2
    same = len(arrays) % 2 == 0 and compare(arrays[:half], precise and precise[:half], arrays[half:], Policy({})) is None
    return None if same else SIDES_DIFFER


def _built(factory: Any, positional: list[Any], keywords: dict[str, Any], instance: Instance) -> Any:
    """The module that the recorded constructor call makes, in the dtype and mode in which it was called."""
    try:
        module = factory(*positional, **keywords)
        parameters = instance.context_value("parameters")
        if isinstance(parameters, DType):
            module = module.to(constant(parameters))
        return module.train(bool(instance.context_value("training", False)))
    except Exception as error:
        raise Invalid(LIBRARY_RAISED) from error


def wrap(
    target: Callable[..., Any],
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    operator: str,
    *,
    packed: bool = False,
    beside: Any = None,
    copies: bool = True,
) -> Any:
    """A module that calls *target* with its own inputs in place of the slots, and returns every tensor of the result in a tuple.

    With *packed*, input 0 holds pairs of real and imaginary parts, which the module joins. The module *beside*, side a of a pair, is called
    first, with the same inputs.

    An operator that works in place gets copies if *copies*, since most compilers take no model that writes to its inputs.
    """
    is_module = isinstance(target, torch.nn.Module)
    written = keywords.get("out") is not None
    in_place = written or operator == "__setitem__" or (operator.endswith("_") and not operator.endswith("__"))

    class SingleOperator(torch.nn.Module):
        def operator_result(self, *tensors: Any) -> Any:
            values = [tensor.clone() for tensor in tensors] if in_place and copies else list(tensors)
            if packed:
                values[0] = torch.view_as_complex(values[0])
            given, named = filled(positional, values), {name: filled(item, values) for name, item in keywords.items()}
            result = (self.operator if is_module else target)(*given, **named)
            result = values[0] if result is None and in_place else result
            return result if beside is None else (self.beside(*given, **named), result)

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            result = self.operator_result(*tensors)
            return tuple(leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))

    module: Any = SingleOperator()
    module.operator, module.function = (target, None) if is_module else (None, target)
    module.beside = beside
    module.in_place = in_place and copies
    module.positional, module.keywords = positional, keywords
    return module


def constant(value: Any) -> Any:
    """The torch object for a value that is no tensor."""
    if isinstance(value, DType):
        dtype = getattr(torch, value.name, None)
        if not isinstance(dtype, torch.dtype):
            raise Invalid("argument-not-rebuilt")
        return dtype
    if isinstance(value, Device):
        try:
            return torch.device(value.name)
        except RuntimeError as error:
            raise Invalid("argument-not-rebuilt") from error
    return named_constant(value, resolve)


def resolve(path: str, *, called: bool = True) -> Any:
    """The object at an importable dotted *path* below `torch`, a type or plain function of Python's own, or a class that the user trusts.

    Raises:
        Invalid: PyTorch's list does not admit it.
        ImportError: it is not there, or it belongs to another module that happens to be reachable (`torch.os.system`).
        AttributeError: it is not there.
    """
    operators_of("pytorch").check(path, called=called)
    if is_foreign(path):
        try:
            return load(path)
        except (ImportError, AttributeError):
            raise
        except Exception as error:  # the code of a trusted file runs here
            raise Invalid("class-not-loaded") from error
    head, *rest = path.split(".")
    found: Any = importlib.import_module(head)
    walked = head
    for part in rest:
        walked = f"{walked}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(walked)
        if _home(found) not in _HEADS:
            raise ImportError(f"{path} is outside the library")
    if isinstance(found, types.ModuleType) or (path.startswith("torch.ops.") and not isinstance(found, _DISPATCHED)):
        raise ImportError(f"{path} is no function, class or value")
    return found


def _home(found: Any) -> str:
    """The top-level module that *found* is or comes from; `torch` where it does not say."""
    name = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None)
    return name.partition(".")[0].lstrip("_") if isinstance(name, str) else "torch"


def to_numpy(tensor: Any) -> Array:
    """A tensor as an array of the same dtype; raises `Invalid` for dtypes that have none."""
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name in _VIEWS:
        import ml_dtypes

        return tensor.view(getattr(torch, _VIEWS[name][0])).numpy().view(getattr(ml_dtypes, _VIEWS[name][1]))
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError) as error:
        raise Invalid(f"no-array-for-dtype:{name}") from error


def _has_no_array(tensor: Any) -> bool:
    """Whether PyTorch's own `numpy()` refuses *tensor*."""
    return str(tensor.dtype).removeprefix("torch.") in _VIEWS or tensor.requires_grad or tensor.is_conj() or tensor.is_neg()


def from_numpy(array: Array, dtype: str) -> Any:
    """Inverse of `to_numpy`; always a copy."""
    if dtype in _VIEWS:
        raw = torch.from_numpy(np.array(array).view(_VIEWS[dtype][0]))
        return raw.view(getattr(torch, dtype))
    try:
        return torch.from_numpy(np.array(array, order="C"))
    except TypeError as error:
        raise Invalid(f"no-tensor-for-dtype:{dtype}") from error


def _laid_out(tensor: Any) -> LaidOut:
    return LaidOut(to_numpy(tensor), None if tensor.is_contiguous() else tuple(tensor.stride()))


def _strided(tensor: Any, strides: Sequence[int]) -> Any:
    """A copy of *tensor* with these strides; of elements that share memory, the first gives the value.

    Raises:
        Invalid: PyTorch has no such tensor, or one that takes too much memory.
    """
    if tuple(tensor.stride()) == tuple(strides) or tensor.numel() == 0:
        return tensor
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides, strict=True))
    if min(strides) < 0 or extent > _MOST_ELEMENTS:
        raise Invalid("strides-not-possible")
    storage = torch.zeros(extent, dtype=tensor.dtype)
    view = storage.as_strided(tensor.shape, tuple(strides))
    places, first = np.unique(torch.arange(extent).as_strided(tensor.shape, tuple(strides)).numpy(), return_index=True)
    if len(places) == tensor.numel():
        return view.copy_(tensor)
    storage[torch.from_numpy(places)] = tensor.reshape(-1)[torch.from_numpy(first)]
    return view


def _narrow() -> set[Any]:
    return {getattr(torch, name) for name in _WIDER}


def _widened(dtype: Any) -> Any:
    name = str(dtype).removeprefix("torch.")
    return getattr(torch, _WIDER.get(name, name))
