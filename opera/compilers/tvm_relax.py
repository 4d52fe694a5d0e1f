"""Programs of many operators for TVM: how one becomes a module of Relax, and the oracles that need no build."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from opera.arrays import Signature
from opera.compilers.adapter import Route, Subject, rejecting

FRONTEND = "relax"
LEGALIZED = "legalized"
ROUTES = (
    Route(FRONTEND, "build", "program"),
    Route(FRONTEND, LEGALIZED, "program"),
    Route(FRONTEND, "type-check", "program", compares=False),
    Route(FRONTEND, "text", "program", compares=False),
    Route(FRONTEND, "json", "program", compares=False),
    rejecting(FRONTEND),
)


def module_of(subject: Subject) -> Any:
    """The module of the program in the subject's artefact."""
    return subject.instance.kind.behaviour.artefact(subject.data)


def check_types(module: Any) -> None:
    """Raises what TVM raises where the module is not well formed, or where its types change when they are inferred again."""
    relax: Any = importlib.import_module("tvm.relax")
    relax.analysis.well_formed(module)
    _same(relax.transform.Normalize()(module), module, "normalised, the module")


def round_trip_of_text(module: Any) -> None:
    """Raises where TVM does not parse what it prints, or reads another module."""
    script: Any = importlib.import_module("tvm.script")
    _same(script.from_source(module.script(show_meta=True)), module, "parsed from its own text, the module")


def round_trip_of_json(module: Any) -> None:
    """Raises where TVM does not read the JSON that it writes, or reads another module."""
    ir: Any = importlib.import_module("tvm.ir")
    _same(ir.load_json(ir.save_json(module)), module, "read from its own JSON, the module")


ORACLES: Mapping[str, Callable[[Any], None]] = {
    "type-check": check_types,
    "text": round_trip_of_text,
    "json": round_trip_of_json,
}
"""By the name of a route that compares no results: what must not raise on a module."""


def _same(one: Any, other: Any, what: str) -> None:
    ir: Any = importlib.import_module("tvm.ir")
    try:
        ir.assert_structural_equal(one, other)
    except ValueError as error:
        raise AssertionError(f"{what} is another one") from error


def stated(function: Any, outputs: int) -> Signature:
    """What a function of an importer gives as *outputs*: a tuple has all of them, or is the only one."""
    type = getattr(function, "ret_ty", None) or function.ret_struct_info
    parts = list(type.fields) if hasattr(type, "fields") else [type]
    parts = parts if outputs != 1 or len(parts) == 1 else [type]
    return [(str(getattr(each, "dtype", None) or "") or None, _sizes(getattr(each, "shape", None))) for each in parts]


def _sizes(shape: Any) -> list[int | None] | None:
    values = getattr(shape, "values", None)
    return None if values is None else [int(size) if hasattr(size, "value") else None for size in values]


def tensors_in(output: Any) -> Iterator[Any]:
    """The tensors of a result, in order: those of a tuple one after another."""
    if isinstance(output, list):
        for each in cast("list[Any]", output):
            yield from tensors_in(each)
    else:
        yield output
