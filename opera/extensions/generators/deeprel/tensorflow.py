"""TensorFlow for generation by relation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opera.extensions.generators.deeprel.values import Arguments, Values, equal
from opera.extensions.generators.docter.tensorflow import TensorFlowBench
from opera.extensions.generators.settings.recorded import Call


class Relations(TensorFlowBench):
    """The library's APIs, and its values made from instance documents."""

    def __init__(self) -> None:
        super().__init__()
        self._values = Values("tensorflow.model", self._made)

    def resolve(self, api: str) -> Any:
        """The function called *api*; raises ImportError or AttributeError."""
        return self._values.resolve(api)

    def arguments(self, document: dict[str, Any]) -> Arguments:
        """The arguments of the recorded call *document*; equal for every call of this."""
        return self._values.arguments(document)

    def sampled(self, document: dict[str, Any]) -> Call:
        """The recorded call *document* with the values of its tensors."""
        return self._values.sampled(document)

    def rebuilt(self, call: Call) -> Arguments:
        """The arguments of *call*."""
        return self._values.rebuilt(call)

    def typed(self, call: Call, dtype: str) -> Mapping[str, Any]:
        """The context of *call*, which says nothing of dtypes."""
        return call.context

    def numpy_dtype(self, name: str) -> Any:
        """The numpy dtype for the canonical *name*."""
        return self._values.numpy_dtype(name)

    def built(self, factory: Any, positional: list[Any], keywords: dict[str, Any], context: dict[str, Any]) -> Any:
        """What *factory* makes; no API of TensorFlow is built before it is called."""
        return factory(*positional, **keywords)

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two results have the same structure and nearly the same values; ragged and sparse tensors count by their parts."""
        flatten = self._tensorflow.nest.flatten
        return equal(flatten(one, expand_composites=True), flatten(other, expand_composites=True))

    def _made(self, described: Any, array: Any, part: str) -> Any:
        if described.dtype == "string":
            texts = [str(item).encode("utf-8", "surrogateescape") for item in array.reshape(-1).tolist()]
            return self._tensorflow.reshape(self._tensorflow.constant(texts, dtype=self._tensorflow.string), array.shape)
        return self._tensorflow.constant(array)
