"""TensorFlow instances as eager calls; every tensor among the arguments becomes an input."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import Array, wide_integers
from opera.instance import DType, Instance, Kind
from opera.models.forms import InputForm, ModelForm, constant_inputs
from opera.models.operators import operators_of
from opera.models.sampling import nudged
from opera.models.sizes import free_axes, weights_among
from opera.models.template import LIBRARY_RAISED, Artefact, Invalid, PythonSource, Reference
from opera.oracles.blame import Undefined
from opera.oracles.compare import disagreement
from opera.templates.call_arguments import filled, named_constant
from opera.templates.keras.arguments import KerasArguments, output_array, resolved, widened
from opera.templates.python_text import imports_of
from opera.templates.tensorflow.artefacts import KINDS, TracedGraph, make, run_exported, run_saved, tf
from opera.templates.tensorflow.source import module_source


class TensorFlowTemplate:
    """Takes a recorded function with the arguments that are no tensors."""

    library = "tensorflow"
    forkable = False
    revision = 6

    def versions(self) -> Mapping[str, str]:
        return {"tensorflow": str(tf.__version__)}

    def build(self, instance: Instance, key: str, seed: int) -> TensorFlowModel:
        own: TensorFlowModel | None = instance.kind.behaviour.model(self.library, instance, key, seed)
        return TensorFlowModel(instance, key, seed) if own is None else own


class TensorFlowModel:
    """One instance with its inputs drawn."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        if instance.kind is not Kind.FUNCTION:
            raise Invalid("not-a-tensorflow-call")
        operators_of("tensorflow").check_instance(instance)
        try:
            self._target = resolve(instance.api)
        except (ImportError, AttributeError) as error:
            raise Invalid("api-not-in-this-version") from error
        self.instance = instance
        self._seed = seed
        self._arguments = KerasArguments(instance, key, seed, constant)

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(f"x{index}", array) for index, array in enumerate(self._arguments.inputs)]

    def call(self, tensors: Sequence[Any]) -> list[Any]:
        """Every tensor of the operator's result on *tensors*."""
        positional, keywords = self._arguments.call
        result = self._target(*filled(positional, tensors), **filled(keywords, tensors))
        return [leaf for leaf in tf.nest.flatten(result) if isinstance(leaf, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor))]

    def run_once(self) -> list[Any]:
        """Every tensor of one call; raises `Invalid` where the library rejects it."""
        return self._tensors(self._arguments.inputs, self._seed)

    def reference(self) -> Reference:
        outputs = self._run(self._arguments.inputs, self._seed)
        again = self._run(self._arguments.inputs, self._seed + 1)
        return Reference(outputs, self._precise(len(outputs)), disagreement(outputs, [again]))

    def artefact(self, kind: str, form: str) -> Artefact:
        if kind not in KINDS:
            raise ValueError(f"TensorFlow models have no artefact of kind {kind!r}")
        self.run_once()
        tf.random.set_seed(self._seed)
        tensors, free = self.tensors(), self._free(form)
        graph = TracedGraph(lambda *given: self.call([*given, *tensors[free:]]), tensors[:free], shapes=self._open_shapes(form))
        return make(kind, graph, self.inputs[:free])

    def program(self) -> TensorFlowProgram:
        """The instance as a function of its tensors; raises `Invalid` where TensorFlow rejects it."""
        self.run_once()
        return TensorFlowProgram(self)

    def tensors(self) -> list[Any]:
        """The inputs as tensors."""
        return [_tensor(array) for array in self._arguments.inputs]

    def source(self, form: str) -> PythonSource:
        texts = any(each.dtype == tf.string for each in self.run_once())
        arrays, constants = self._arguments.inputs, self._arguments.constants
        shapes = self._open_shapes(form)
        text, expected = module_source(self.instance, arrays, constants, texts=texts, free=self._free(form), shapes=shapes)
        return PythonSource((*imports_of(text), "import tensorflow as tf"), text, expected)

    def _free(self, form: str) -> int:
        """How many inputs are given at run time; those after them are constants."""
        return len(self._arguments.inputs) - len(constant_inputs(self.instance, ModelForm.parse(form).inputs))

    def _open_shapes(self, form: str) -> list[tuple[int | None, ...]]:
        """The shapes of the inputs in the form `symbolic`, with None for a size of which TensorFlow takes others; none in another form."""
        if ModelForm.parse(form).inputs is not InputForm.SYMBOLIC:
            return []
        arrays = self._arguments.inputs
        ranks = [each.ndim for each in self._run(arrays, self._seed)]

        def accepts(others: Sequence[Array]) -> bool:
            try:
                return [each.ndim for each in self._run(others, self._seed)] == ranks
            except Invalid:
                return False

        axes = free_axes(arrays, accepts, weights_among(self.instance))
        places = enumerate(arrays)
        return [tuple(None if (place, axis) in axes else size for axis, size in enumerate(each.shape)) for place, each in places]

    def _tensors(self, arrays: Sequence[Array], seed: int) -> list[Any]:
        tf.random.set_seed(seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.call([_tensor(array) for array in arrays])
        except Exception as error:
            raise Invalid(LIBRARY_RAISED) from error

    def _run(self, arrays: Sequence[Array], seed: int) -> list[Array]:
        outputs = self._tensors(arrays, seed)
        if not outputs:
            raise Invalid("no-tensor-output")
        return [output_array(item) for item in outputs]

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        arrays = widened(self._arguments.inputs) or self._arguments.inputs
        try:
            return self._run([nudged(array, scale, draw, index, computes_as) for index, array in enumerate(arrays)], self._seed)
        except Invalid:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        try:
            return self._run([wide_integers(array, dtype) for array in self._arguments.inputs], self._seed)
        except Invalid:
            return None

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Any] | Undefined | None] | None:
        tf.random.set_seed(self._seed)
        try:
            exported = run_exported(kind, data, self.inputs)
            if exported is not None:
                return exported
            found = run_saved(kind, data, self.tensors())
            return None if found is None else (found[0], [output_array(item) for item in found[1]])
        except Exception:
            return None

    def _precise(self, count: int) -> list[Array] | None:
        """The outputs in double precision, where the operator takes it."""
        if widened(self._arguments.inputs) is None:
            return None
        outputs = self.nearby(0.0, 0)
        return outputs if outputs is not None and len(outputs) == count else None


class TensorFlowProgram:
    """An instance as a function of its tensors, as compilers of live functions take it.

    Attributes:
        tensors: The inputs.
    """

    def __init__(self, model: TensorFlowModel) -> None:
        self._model = model
        self.tensors = model.tensors()

    def restore(self) -> None:
        """Functions have no state."""

    def call(self, *tensors: Any) -> tuple[Any, ...]:
        """Every tensor of the result."""
        return tuple(self._model.call(tensors))


def constant(value: Any) -> Any:
    """TensorFlow's object for a value that is no tensor."""
    if isinstance(value, DType):
        try:
            return tf.dtypes.as_dtype(value.name)
        except TypeError as error:
            raise Invalid("argument-not-rebuilt") from error
    return named_constant(value, resolve)


def resolve(path: str, *, called: bool = True) -> Any:
    """The object at a recorded dotted name; raises as `keras_arguments.resolved`."""
    return resolved("tensorflow", path, called=called)


def _tensor(array: Array) -> Any:
    if array.dtype.kind == "O":
        items = [str(item).encode("utf-8", "surrogateescape") for item in array.reshape(-1).tolist()]
        return tf.constant(np.array(items, dtype=object).reshape(array.shape), dtype=tf.string)
    return tf.constant(array)
