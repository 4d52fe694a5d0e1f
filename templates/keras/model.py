"""Keras instances as callables and, where Keras can trace them, as functional models."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opera.arrays import Array, as_array, dtype_name, wide_integers
from opera.instance import Argument, DType, Instance, Kind
from opera.instrumentation.tensors import DTYPE_BITS
from opera.models.operators import operators_of
from opera.models.sampling import nudged
from opera.models.template import LIBRARY_RAISED, Artefact, Invalid, PythonSource, Reference
from opera.oracles.blame import Undefined
from opera.oracles.compare import Policy, compare, disagreement
from opera.templates.call_arguments import filled, named_constant
from opera.templates.keras.arguments import WIDER, KerasArguments, output_array, resolved, widened
from opera.templates.keras.artefacts import makers, run_exported, run_saved
from opera.templates.keras.backend import keras
from opera.templates.keras.program import KerasProgram
from opera.templates.keras.source import expected_source, model_source
from opera.templates.python_text import imports_of

_DRAWS = 6
"""Runs with other seeds that have to agree before an operator that draws numbers counts as deterministic."""


class KerasTemplate:
    """Builds a recorded layer, or takes a recorded function; every tensor among the arguments of the call becomes an input."""

    library = "keras"
    forkable = str(keras.config.backend()) == "torch"
    revision = 5

    def versions(self) -> Mapping[str, str]:
        backend = str(keras.config.backend())
        return {"keras": str(keras.__version__), backend: str(importlib.import_module(backend).__version__)}

    def build(self, instance: Instance, key: str, seed: int) -> KerasModel:
        own: KerasModel | None = instance.kind.behaviour.model(self.library, instance, key, seed)
        return KerasModel(instance, key, seed) if own is None else own


class KerasModel:
    """One instance with its inputs drawn; weights follow from the seed."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        if instance.kind not in (Kind.FUNCTION, Kind.MODULE):
            raise Invalid("not-a-keras-call")
        operators_of("keras").check_instance(instance)
        try:
            resolve(instance.api)
        except (ImportError, AttributeError) as error:
            raise Invalid("api-not-in-this-version") from error
        self.instance = instance
        self._key = key
        self._seed = seed
        with settings(instance):
            arguments = KerasArguments(instance, key, seed, constant)
            self._arrays = [_held(array) for array in arguments.inputs]
            self._constants = arguments.constants

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(f"x{index}", array) for index, array in enumerate(self._arrays)]

    def reference(self) -> Reference:
        with settings(self.instance):
            first, weights = self._ready()
            outputs = self._run(first, self._arrays, self._seed)
        return Reference(outputs, self._precise(len(outputs)), disagreement(outputs, self._other_runs(weights, first.draws)))

    def _other_runs(self, weights: Sequence[Array], draws: bool) -> Iterator[list[Array]]:
        """Runs of operators with other seeds and kernels; several where the operator draws numbers, which may be alike by chance."""
        for other in range(1, 1 + (_DRAWS if draws else 1)):
            with settings(self.instance):
                operator = self._operator(self.instance, self._seed + other)
                with _other_kernels():
                    self._run(operator, self._arrays, self._seed + other)
                    operator.restore(weights)
                    operator.reseed(other)
                    yield self._run(operator, self._arrays, self._seed + other)

    def run_once(self) -> Any:
        """The result of one call; raises `Invalid` where the library rejects it."""
        with settings(self.instance):
            return self._result(self._operator(self.instance, self._seed), self._arrays, self._seed)

    def artefact(self, kind: str, form: str) -> Artefact:
        known = makers()
        if kind not in known:
            raise ValueError(f"Keras models on {keras.config.backend()} have no artefact of kind {kind!r}")
        return known[kind](self)

    def settings(self) -> contextlib.AbstractContextManager[None]:
        """A context in which Keras has the settings under which the instance was recorded."""
        return settings(self.instance)

    def program(self) -> KerasProgram:
        """The instance as a function of its tensors, with the weights of the reference; raises `Invalid` where Keras rejects it."""
        with self.settings():
            operator, weights = self._ready()
            return KerasProgram(operator, weights, [_tensor(array) for array in self._arrays], self.settings)

    def functional(self) -> Any:
        """The instance as a `keras.Model` with one input per tensor and every tensor of the result as an output."""
        _, weights = self._ready()
        operator = self._operator(self.instance, self._seed)
        model = self._symbolic(operator)
        operator.restore(weights)
        return model

    def _symbolic(self, operator: _Operator) -> Any:
        inputs = [keras.Input(batch_shape=array.shape, dtype=dtype_name(array.dtype), name=name) for name, array in self.inputs]
        outputs = operator.call(inputs)
        return keras.Model(inputs, [leaf for leaf in keras.tree.flatten(outputs) if isinstance(leaf, keras.KerasTensor)])

    def captured_functional(self) -> Any:
        """As `functional`; raises `Invalid` where Keras has no such model of the instance."""
        try:
            with self.settings(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.functional()
        except Invalid:
            raise
        except Exception as error:
            raise Invalid("capture-failed:keras") from error

    def source(self, form: str) -> PythonSource:
        if any(array.dtype.kind == "O" for array in self._arrays) and keras.config.backend() != "tensorflow":
            raise Invalid("strings-in-a-keras-model")
        reference = self.reference()
        functional = self._is_functional(reference)
        if not functional and self._changes():
            raise Invalid("weights-change-in-each-call")
        text = model_source(self.instance, self._arrays, self._constants, self._seed, functional=functional)
        expected = expected_source(self._arrays, [as_array(each) for each in reference.outputs])
        backend = f'import os\n\nos.environ["KERAS_BACKEND"] = "{keras.config.backend()}"  # Keras reads it when it is imported'
        return PythonSource(tuple(imports_of(text + expected)), f"{backend}\nimport keras\n\n{text}", expected)

    def _is_functional(self, reference: Reference) -> bool:
        """Whether a functional model gives the same as the operator: Keras casts its inputs, and calls some operators otherwise."""
        try:
            with self.settings(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                operator = self._operator(self.instance, self._seed)
                keras.utils.set_random_seed(self._seed)
                model = self._symbolic(operator)
                found = [output_array(leaf) for leaf in keras.tree.flatten(model([_tensor(array) for array in self._arrays]))]
        except Exception:
            return False
        return reference.undefined is not None or compare(reference.outputs, reference.precise, found, Policy({})) is None

    def _changes(self) -> bool:
        """Whether a call changes the layer's weights: Keras makes one more when it builds a model."""
        with self.settings():
            operator, weights = self._ready()
            self._run(operator, self._arrays, self._seed)
            return any(one.tobytes() != other.tobytes() for one, other in zip(weights, operator.weights(), strict=True))

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        arrays = widened(self._arrays) or self._arrays
        arrays = [nudged(array, scale, draw, index, computes_as) for index, array in enumerate(arrays)]
        instance = _in_double(self.instance)
        try:
            with settings(self.instance):
                _, weights = self._ready()
            with settings(instance), _double_precision():
                operator = self._operator(instance, self._seed)
                self._run(operator, arrays, self._seed)
                operator.restore([array.astype(WIDER.get(array.dtype.name, array.dtype.name)) for array in weights])
                return self._run(operator, arrays, self._seed)
        except Exception:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        try:
            with settings(self.instance):
                operator, _ = self._ready()
                return self._run(operator, [wide_integers(array, dtype) for array in self._arrays], self._seed)
        except Exception:
            return None

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Any] | Undefined | None] | None:
        try:
            with self.settings(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exported = run_exported(kind, data, self.inputs)
                if exported is not None:
                    return exported
                found = run_saved(kind, data, [_tensor(array) for array in self._arrays])
                return None if found is None else (found[0], [output_array(item) for item in found[1]])
        except Exception:
            return None

    def _precise(self, count: int) -> list[Array] | None:
        """The outputs in double precision, with the same weights."""
        if widened(self._arrays) is None:
            return None
        outputs = self.nearby(0.0, 0)
        return outputs if outputs is not None and len(outputs) == count else None

    def _ready(self) -> tuple[_Operator, list[Array]]:
        """The operator after one call, which builds a layer and gives it its weights; and these weights."""
        operator = self._operator(self.instance, self._seed)
        self._run(operator, self._arrays, self._seed)
        weights = operator.weights()
        operator.restore(weights)
        return operator, weights

    def _operator(self, instance: Instance, seed: int) -> _Operator:
        keras.utils.set_random_seed(seed)
        return _Operator(instance, KerasArguments(instance, self._key, self._seed, constant))

    def _result(self, operator: _Operator, arrays: Sequence[Array], seed: int) -> Any:
        keras.utils.set_random_seed(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return operator.call([_tensor(array) for array in arrays])
        except Exception as error:
            raise Invalid(LIBRARY_RAISED) from error

    def _run(self, operator: _Operator, arrays: Sequence[Array], seed: int) -> list[Array]:
        result = self._result(operator, arrays, seed)
        outputs = [output_array(leaf) for leaf in keras.tree.flatten(result) if keras.ops.is_tensor(leaf)]
        if not outputs:
            raise Invalid("no-tensor-output")
        return outputs


class _Operator:
    """A function, or a layer that was just built, with the arguments of the recorded call."""

    def __init__(self, instance: Instance, arguments: KerasArguments) -> None:
        self._positional, self._keywords = arguments.call
        self._target = resolve(instance.api)
        self.layer: Any = None
        if instance.kind is Kind.MODULE:
            positional, keywords = arguments.init
            try:
                self._target = self.layer = self._target(*positional, **keywords)
            except Invalid:
                raise
            except Exception as error:
                raise Invalid(LIBRARY_RAISED) from error
            training = instance.context_value("training")
            if training is not None:
                self._keywords = {**self._keywords, "training": bool(training)}

    def call(self, tensors: Sequence[Any]) -> Any:
        """Calls the operator on *tensors*."""
        return self._target(*filled(self._positional, tensors), **filled(self._keywords, tensors))

    @property
    def draws(self) -> bool:
        """Whether the layer draws numbers at random, now or in another mode."""
        return bool(self._seeds())

    def seeds(self) -> list[Array]:
        """The states of the layer's generators of random numbers."""
        return [output_array(variable.value) for variable in self._seeds()]

    def rewind(self, seeds: Sequence[Array]) -> None:
        """Sets the states of the generators."""
        for variable, state in zip(self._seeds(), seeds, strict=True):
            variable.assign(state)

    def reseed(self, number: int) -> None:
        """Lets the layer draw other numbers, also where its seed is one of its settings."""
        self.rewind([state + np.asarray(number, state.dtype) for state in self.seeds()])

    def _seeds(self) -> list[Any]:
        if self.layer is None:
            return []
        weights = {id(variable) for variable in self.layer.weights}
        return [variable for variable in self.layer.variables if id(variable) not in weights]

    def weights(self) -> list[Array]:
        """The weights as they are now."""
        return [] if self.layer is None else [output_array(weight.value) for weight in self.layer.weights]

    def restore(self, weights: Sequence[Array]) -> None:
        """Sets the weights, if their number fits, and resets a stateful layer."""
        if self.layer is None:
            return
        if len(self.layer.weights) == len(weights):
            for variable, value in zip(self.layer.weights, weights, strict=True):
                variable.assign(value)
        if getattr(self.layer, "stateful", False) and hasattr(self.layer, "reset_state"):
            self.layer.reset_state()


@contextlib.contextmanager
def settings(instance: Instance) -> Generator[None]:
    """Inside, Keras' global settings are those under which the instance was recorded."""
    before = keras.config.image_data_format(), keras.config.floatx(), keras.config.dtype_policy()
    floatx = str(instance.context_value("floatx", "float32"))
    try:
        try:
            _set(str(instance.context_value("image_data_format", "channels_last")), floatx, instance.context_value("dtype_policy", floatx))
        except ValueError as error:
            raise Invalid("setting-unknown") from error
        yield
    finally:
        _set(*before)


def _set(image_data_format: str, floatx: str, dtype_policy: Any) -> None:
    keras.config.set_image_data_format(image_data_format)
    keras.config.set_floatx(floatx)
    keras.config.set_dtype_policy(dtype_policy)


def constant(value: Any) -> Any:
    """Keras' object for a value that is no tensor."""
    if isinstance(value, DType) and value.name in DTYPE_BITS:
        return value.name
    if isinstance(value, DType):
        raise Invalid("argument-not-rebuilt")
    return named_constant(value, resolve)


def resolve(path: str, *, called: bool = True) -> Any:
    """The object at a recorded dotted name; raises as `keras_arguments.resolved`."""
    return resolved("keras", path, called=called)


def _in_double(instance: Instance) -> Instance:
    """The instance with double precision as the global setting and in the constructor."""
    kept = [(name, value) for name, value in instance.context if name not in ("floatx", "dtype_policy")]
    init = [_wide(argument) if argument.name == "dtype" else argument for argument in instance.init]
    return replace(instance, init=tuple(init), context=(*kept, ("floatx", "float64"), ("dtype_policy", "float64")))


def _wide(argument: Argument) -> Argument:
    name = argument.value.name if isinstance(argument.value, DType) else argument.value
    return replace(argument, value=WIDER.get(name, name) if isinstance(name, str) else name)


def _double_precision() -> contextlib.AbstractContextManager[Any]:
    """Inside, the backend has double precision; JAX has to be told."""
    return importlib.import_module("jax").enable_x64(True) if keras.config.backend() == "jax" else contextlib.nullcontext()


@contextlib.contextmanager
def _other_kernels() -> Generator[None]:
    """Inside, PyTorch computes without oneDNN, where Keras runs on it; what that changes is undefined."""
    if keras.config.backend() != "torch":
        yield
        return
    with importlib.import_module("torch").backends.mkldnn.flags(enabled=False):
        yield


def _tensor(array: Array) -> Any:
    """A tensor of the backend; an array of strings stays one, as no backend but TensorFlow has such tensors."""
    if array.dtype.kind == "O":
        return array.astype(str)
    if array.dtype.name.startswith("float8"):
        return keras.ops.cast(keras.ops.convert_to_tensor(array.astype("float32")), array.dtype.name)
    return keras.ops.convert_to_tensor(array, dtype=array.dtype.name)


def _held(array: Array) -> Array:
    """The array in the dtype in which the backend holds it: on PyTorch Keras takes uint32 as int64, and a captured model wants that."""
    try:
        held = keras.backend.standardize_dtype(_tensor(array).dtype)
    except Exception:  # the backend has no such tensor: the call will say so
        return array
    return array if array.dtype.kind not in "ui" or held == array.dtype.name else array.astype(held)
