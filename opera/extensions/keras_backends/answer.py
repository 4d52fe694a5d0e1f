"""The process of a backend: reads calls of Keras on standard input, and writes what the backend gives for each."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import IO, Any, cast

_LACKING = ("NotImplementedError", "AttributeError", "NameError", "ImportError", "MemoryError", "OSError", "RecursionError")
"""Exceptions, with those that derive from them, that say something of the backend and nothing of the call."""
_KERNELS = ("UnimplementedError", "NotFoundError", "InternalError", "ResourceExhaustedError", "JaxRuntimeError")
"""Exceptions of TensorFlow and JAX for what they have no kernel of, and for what goes wrong inside."""
_NO_KERNEL = re.compile(r"\bnot in the list of allowed values\b|\bcannot compute \w+ as input\b|\bCannot convert \S+ to EagerTensor\b")
"""How TensorFlow says that it has no kernel for such dtypes, or does not promote them."""
_MOST = 300
"""Characters of a message that are worth reading."""


def main() -> None:
    """Serves questions on standard input; what libraries print goes to standard error."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _import_keras()
    send(answers, {"ready": True})
    while (question := received(questions)) is not None:
        send(answers, _answer(question))


def _import_keras() -> None:
    """Imports the template without PyTorch, which it imports wherever it is installed, unless PyTorch is the backend."""
    modules = cast("dict[str, Any]", sys.modules)
    if os.environ["KERAS_BACKEND"] != "torch":
        importlib.import_module("keras")
        modules["torch"] = None
    importlib.import_module("opera.templates.keras.model")
    if modules["torch"] is None:
        del modules["torch"]


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    from opera.instance import decode_instance
    from opera.models.template import LIBRARY_RAISED, Invalid

    try:
        instance = decode_instance(json.loads(question["instance"]))
        return {"outputs": _outputs(instance, question)}
    except Invalid as error:
        cause = error.__cause__
        names = {each.__name__ for each in type(cause).__mro__}
        if str(error) != LIBRARY_RAISED or names & {*_LACKING, *_KERNELS} or _NO_KERNEL.search(str(cause)):
            return {"unable": f"{error}: {cause}"[:_MOST]}
        return {"refused": f"{type(cause).__name__}: {cause}"[:_MOST]}
    except Exception as error:
        return {"unable": f"{type(error).__name__}: {error}"[:_MOST]}


def _outputs(instance: Any, question: dict[str, Any]) -> Sequence[Any]:
    from opera.templates.keras.model import KerasModel

    class Model(KerasModel):
        def given(self, inputs: Sequence[Any], weights: Sequence[Any]) -> Sequence[Any]:
            """The outputs for the reference's own inputs and weights."""
            self._arrays = list(inputs)
            with self.settings():
                operator, own = self._ready()
                if [each.shape for each in own] != [each.shape for each in weights]:
                    raise ValueError("the layer has other weights on this backend")
                operator.restore(weights)
                return self._run(operator, self._arrays, self._seed)

    return Model(instance, question["key"], question["seed"]).given(question["inputs"], question["weights"])


def send(stream: IO[bytes], message: object) -> None:
    """Writes a message: its length in eight bytes, then a bundle."""
    from opera import bundle

    data = bundle.dump(message)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def received(stream: IO[bytes]) -> Any:
    """The next message; None where the other side is gone."""
    from opera import bundle

    size = int.from_bytes(stream.read(8), "little")
    data = stream.read(size)
    return bundle.parse(data) if size and len(data) == size else None


if __name__ == "__main__":
    main()
