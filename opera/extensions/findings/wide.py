"""Runs a script of a wrong result, and prints how far PyTorch's own result and the compiled one are from that in double precision.

The file runs in the environment of a compiler that may not have OPERA: a call of `main` stands below its text.
It needs only torch and numpy.
"""

from __future__ import annotations

import ast
import contextlib
import json
import sys
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

Array = Any
Scope = dict[str, Any]
"""Names of a script, and their values."""


class _NoBaselineError(Exception):
    """Says why there is no result in double precision."""


def _wider(each: Any) -> Any:
    """A floating-point or complex tensor or dtype in double precision; anything else as it is."""
    dtype = each.dtype if isinstance(each, torch.Tensor) else each
    if not isinstance(dtype, torch.dtype) or not (dtype.is_floating_point or dtype.is_complex):
        return each
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return wide if each is dtype else each.to(wide)


class _Wide(TorchDispatchMode):
    """Computes in double precision, whatever dtypes an operator gets or names."""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map(_wider, (args, kwargs or {}))
        return func(*args, **kwargs)


def _run(script: str, scope: Scope, until: str = "", *, wide: bool = False) -> None:
    """Runs *script* to its end, or until *scope* has a name; *wide* gives it model and inputs in double precision."""
    default = torch.get_default_dtype()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_default_dtype, default)
        for node in ast.parse(script).body:
            exec(compile(ast.Module([node], []), __file__, "exec"), scope)
            if until in scope:
                break
            if wide and {"model", "inputs"} <= scope.keys():
                scope.update(model=scope["model"].double(), inputs=pytree.tree_map(_wider, scope["inputs"]))
                torch.set_default_dtype(torch.float64)
                stack.enter_context(_Wide())
                wide = False


def _expected(script: str, *, wide: bool = False, seeds: int = 0) -> list[Array]:
    """The arrays that *script* expects; *seeds* is added to each of its seeds."""
    scope: Scope = {"__name__": "__main__"}
    module: Any = torch
    seed = module.manual_seed
    seed(seeds)
    module.manual_seed = lambda number: seed(number + seeds)
    try:
        _run(script, scope, "expected", wide=wide)
    finally:
        module.manual_seed = seed
    return _arrays(scope["expected"])


def _arrays(found: Any) -> list[Array]:
    return [np.asarray(each) for each in (found if isinstance(found, (list, tuple)) else [found])]


def _has_fractions(each: Array) -> bool:
    return each.dtype.kind in "fcV"  # V: bfloat16 and others that numpy has not


def _numbers(each: Array) -> Array:
    """An array as a vector of float64; a complex number is two."""
    return np.ravel(each).astype(np.complex128 if each.dtype.kind == "c" else np.float64).view(np.float64)


def _errors(found: Array, exact: Array) -> Array:
    """How far *found* is from *exact*, element by element; infinite where only one of two numbers is NaN."""
    with np.errstate(all="ignore"):
        off = np.abs(found - exact)
    same = (found == exact) | (np.isnan(found) & np.isnan(exact))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def _worst(script: str, expected: list[Array], actual: list[Array]) -> dict[str, str]:
    """What is said of the output whose compiled result is furthest off; nothing if anything else than fractions is wrong.

    Raises:
        _NoBaselineError: the operator draws random numbers, or has no such result.
    """
    every = list(zip(expected, actual, strict=True))
    if any((want.dtype, want.shape) != (got.dtype, got.shape) for want, got in every):
        return {}
    wrong = [place for place, pair in enumerate(every) if not np.array_equal(*map(_numbers, pair), equal_nan=True)]
    if not wrong or not all(_has_fractions(expected[place]) for place in wrong):
        return {}
    again = zip(expected, _expected(script, seeds=1), strict=True)
    if not all(np.array_equal(_numbers(one), _numbers(other), equal_nan=True) for one, other in again):
        raise _NoBaselineError("the result is random")
    exact = _expected(script, wide=True)
    rows: list[tuple[float, float, list[float]]] = []
    for place in wrong:
        want, got = every[place]
        if exact[place].shape != want.shape or exact[place].dtype not in (np.float64, np.complex128):
            raise _NoBaselineError("the result has another shape or dtype there")
        base, eager, compiled = map(_numbers, (exact[place], want, got))
        own, off = _errors(eager, base), _errors(compiled, base)
        at = int(off.argmax())
        rows.append((float(off[at]), float(own.max()), [float(each[at]) for each in (base, eager, compiled)]))
    off, own, values = max(rows, key=lambda row: row[0])
    names = ("compiled_error", "eager_error", "exact", "eager", "compiled")
    return {name: f"{value:.9g}" for name, value in zip(names, (off, own, *values), strict=True)}


def main(script: str) -> None:
    """Prints `BASELINE` and what is known, as JSON; nothing for a script that compares no fractions."""
    scope: Scope = {"__name__": "__main__"}
    with contextlib.suppress(Exception):  # the failure that the script shows
        _run(script, scope)
    if not {"model", "inputs", "expected", "actual"} <= scope.keys():
        return
    try:
        found = _worst(script, _arrays(scope["expected"]), _arrays(scope["actual"]))
    except Exception as error:
        said = str(error).partition("\n")[0][:200]
        found = {"problem": said if isinstance(error, _NoBaselineError) else f"{type(error).__name__}: {said}"}
    if found:
        sys.stdout.write(f"\nBASELINE {json.dumps(found)}\n")
