"""Runs the review of a failure that a test writes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import wide_integers
from opera.instance import Argument, Instance, Kind
from opera.models.sampling import nudged
from opera.oracles.review import Case, review

Compute = Callable[..., Any]


def reviewed(
    api: str,
    inputs: Sequence[Any],
    compute: Compute,
    actual: Any,
    *,
    init: dict[str, Any] | None = None,
    dead: bool = False,
    opset: int | None = None,
    computes_as: dict[str, str] | None = None,
    call: dict[str, Any] | None = None,
    kind: Kind = Kind.FUNCTION,
    as_given: bool = False,
) -> str | None:
    """The reason that excuses *actual* where the library computes *compute*; tuples are several outputs.

    They have the library's dtypes, unless they are to be taken *as_given*.
    """
    arrays = [np.asarray(value) for value in inputs]

    def outputs(values: Sequence[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            found = compute(*values)
        return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]

    def nearby(scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Any]:
        wide = [value.astype({"f": "float64", "c": "complex128"}.get(value.dtype.kind, value.dtype)) for value in arrays]
        return outputs([nudged(value, scale, draw, index, computes_as) for index, value in enumerate(wide)])

    def exact(dtype: str) -> list[Any]:
        return outputs([wide_integers(value, dtype) for value in arrays])

    expected = outputs(arrays)
    given = actual if isinstance(actual, tuple) else (actual,)
    results = None if dead else [np.asarray(each, None if as_given else one.dtype) for each, one in zip(given, expected, strict=True)]
    library = {"ai": "onnx", "torch": "pytorch", "tf": "tensorflow"}.get(head := api.split(".")[0], head)
    init_arguments, call_arguments = (tuple(Argument(*each) for each in (values or {}).items()) for values in (init, call))
    instance = Instance(library, api, kind, init_arguments, call_arguments, () if opset is None else (("opset", opset),))
    found = review(Case(instance, arrays, expected, results, nearby, exact, computes_as=computes_as or {}))
    return None if found is None else found.reason
