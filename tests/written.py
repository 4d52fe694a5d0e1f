"""Runs what a template writes, and compares it with the model that the worker has."""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from opera.arrays import Array, ModelValue, as_array, dtype_name, is_array
from opera.instance import Instance, decode_instance
from opera.models.template import Invalid, Model, PythonSource, Template, template_of
from opera.oracles.compare import Policy, compare
from opera.store import Corpus
from opera.store.database import open_workspace

os.environ.setdefault("KERAS_BACKEND", "torch")  # on which OPERA runs Keras, where it is not told otherwise
SAMPLES = Path(__file__).parent.parent / "corpora" / "samples"


def read_back(source: PythonSource) -> dict[str, Any]:
    """The names that the source defines: `model`, `inputs` and `expected`."""
    names: dict[str, Any] = {}
    _fresh_settings()
    text = "\n".join(("import numpy as np", *source.imports, source.text, source.expected))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "<written>", "exec"), names)
    return names


def _fresh_settings() -> None:
    """Gives Keras the settings of a new process, which scripts begin with."""
    keras = sys.modules.get("keras")
    if keras is not None:
        keras.config.set_image_data_format("channels_last")
        keras.config.set_floatx("float32")
        keras.config.set_dtype_policy("float32")


def difference(template: Template, instance: Instance, key: str, seed: int) -> str | None:
    """What the source of an instance gives otherwise than the worker; None where nothing differs.

    Raises:
        Invalid: the instance has no model.
    """
    model = template.build(instance, key, seed)
    reference = model.reference()
    source = template.build(instance, key, seed).source("runtime")
    try:
        names = read_back(source)
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    found = _inputs_differ(model, names["inputs"])
    if found is not None or reference.undefined is not None:
        return found
    expected = names["expected"]
    if _same(list(reference.outputs), expected):
        return None
    return _shown(compare(reference.outputs, reference.precise, expected, Policy({}))) or None


def _shown(found: object) -> str | None:
    return None if found is None else f"outputs: {found}"[:300]


def _inputs_differ(model: Model, inputs: Any) -> str | None:
    wanted = [value for _, value in model.inputs]
    given = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
    if len(wanted) != len(given):
        return f"{len(wanted)} inputs became {len(given)}"
    own: Any = getattr(model, "_tensors", None)
    own = own if isinstance(own, list) else [None] * len(wanted)
    for index, (one, other, tensor) in enumerate(zip(wanted, given, own, strict=True)):
        if not _same(one, _plain(other)):
            return f"input {index} differs"
        if tensor is not None and tensor.numel() and not tensor.is_contiguous() and tensor.stride() != other.stride():
            return f"input {index} has strides {other.stride()}, not {tensor.stride()}"
    return None


def _plain(value: Any) -> Any:
    if hasattr(value, "detach"):
        from opera.templates.pytorch.model import to_numpy

        return to_numpy(value)
    return value.numpy() if hasattr(value, "numpy") else value


def _same(one: ModelValue | Sequence[Any], other: Any) -> bool:
    """Whether both are the same bits."""
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(other, (bytes, str)) and is_array(one):
        other = np.array(other, object)
    if not is_array(one) or not is_array(other):
        return one is None and other is None
    left, right = as_array(one), as_array(other)
    if dtype_name(left.dtype) != dtype_name(right.dtype) or left.shape != right.shape:
        return False
    if dtype_name(left.dtype) == "string":
        return [str(each) for each in left.reshape(-1)] == [_text(each) for each in right.reshape(-1)]
    return _bits(left) == _bits(right)


def _bits(array: Array) -> bytes:
    """The bits of an array; those of all NaN are alike, as only their places are written."""
    return array.tobytes() if array.dtype.kind not in "fc" else np.where(np.isnan(array), np.nan, array).astype(array.dtype).tobytes()


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def instances_of(file: Path) -> list[tuple[str, Instance]]:
    """The instances of a corpus, each with its id."""
    rows = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    return [(row["id"], decode_instance(row["instance"])) for row in rows]


def drawn_from(workspace: Path, library: str, number: int) -> Iterator[tuple[str, Instance]]:
    """Instances of a workspace at random, always the same ones."""
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        keys = list(corpus.runnable(library))
        for key in random.Random(7).sample(keys, min(number, len(keys))):
            yield key, corpus.get(key)


def template_for(library: str) -> Template:
    """The template of *library*."""
    module, _, attribute = template_of(library).partition(":")
    return getattr(importlib.import_module(module), attribute)()


def compared(library: str, instances: Iterable[tuple[str, Instance]], seeds: Sequence[int] = (0,)) -> tuple[int, dict[str, str]]:
    """How many models were written and run, and what differs, by instance."""
    template = template_for(library)
    count = 0
    found: dict[str, str] = {}
    for key, instance in instances:
        for seed in seeds:
            with suppress(Invalid):
                told = difference(template, instance, key, seed)
                count += 1
                found |= {} if told is None else {f"{key[:12]} {instance.api} seed {seed}": told}
    return count, found


if __name__ == "__main__":  # a process of its own, as libraries may crash
    print(json.dumps(compared(sys.argv[1], drawn_from(Path(sys.argv[2]), sys.argv[1], int(sys.argv[3])))))
