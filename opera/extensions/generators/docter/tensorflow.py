"""TensorFlow as a target of generation."""

from __future__ import annotations

import importlib
import os
from typing import Any, Optional

from opera.extensions.generators.docter import documents
from opera.extensions.generators.docter.arrays import array
from opera.extensions.generators.docter.constraints import Facts, TargetApi, merged, with_facts
from opera.extensions.generators.docter.python import signature_of, with_words
from opera.extensions.generators.docter.recipes import TensorRecipe
from opera.instrumentation.filters import Filters
from opera.instrumentation.stream import Stream

_RAW = "tf.raw_ops."
_HIDDEN = frozenset({"name", "seed", "gradient", "out", "grad_a", "grad_b"})
"""Optional parameters that say nothing of the operator."""


class TensorFlowBench:
    """Public functions under their canonical names; with the scope `raw-ops` also the operators beneath them."""

    library = "tensorflow"

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        self._tensorflow: Any = importlib.import_module("tensorflow")
        self._tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        self._tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        self._functions: dict[str, Any] = importlib.import_module("opera.instrumentation.tensorflow_names").functions()
        self._recorder: Any = importlib.import_module("opera.instrumentation.tensorflow")
        self.version = str(self._tensorflow.__version__)

    def names(self, scope: list[str]) -> list[str]:
        wanted = {"functions": False, "raw-ops": True}
        kinds = [wanted[part] for part in scope if part in wanted]
        return [name for name in sorted(self._functions) if name.startswith(_RAW) in kinds]

    def api(self, name: str, given: Optional[dict[str, Facts]] = None) -> Optional[TargetApi]:
        target = self._functions[name]
        doc = str(getattr(target, "__doc__", None) or "")
        try:
            signature = signature_of(target, _HIDDEN)
        except (TypeError, ValueError):
            return None
        signature = with_words(with_facts(signature, merged(documents.read(doc), given or {})), documents.vocabulary(doc))
        return TargetApi(name, target, (signature,)) if all(item.drawable or not item.required for item in signature) else None

    def tensor(self, recipe: TensorRecipe, seed: int) -> Any:
        return self._tensorflow.constant(array(recipe, seed), dtype=recipe.dtype)

    def dtype(self, name: str) -> Any:
        return self._tensorflow.as_dtype(name)

    def reset(self, seed: int, entry: str) -> None:
        self._tensorflow.random.set_seed(seed)

    def recorder(self, stream: Stream, filters: Filters) -> Any:
        return self._recorder.Recorder(stream, filters)
