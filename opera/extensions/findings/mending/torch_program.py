"""Repairs of exported PyTorch programs: what a frontend could do to each call before it converts it.

The file runs beside a script, in the environment of a compiler that may not have OPERA: it needs only torch.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

Call = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Calls the operator with other arguments."""
Repair = Callable[[Any, Call, tuple[Any, ...], dict[str, Any], Any], Any]
"""Takes an operator, its call, its arguments, and the result that it should have; returns `UNCHANGED` if it has nothing to do."""

UNCHANGED = object()
_CHANGED: list[str] = []
"""Calls that a repair changed: capturing a program forgets what a module learns on the way."""
_NARROW = (torch.int8, torch.int16, torch.int32, torch.uint8, torch.uint16, torch.uint32)
_HALVES = (torch.float16, torch.bfloat16)
_AXES = ("dim", "dims", "dim0", "dim1", "axis", "dimension", "axis0", "axis1")
_PLACES = ("index", "start", "end")


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    return [each for each in pytree.tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]


def _cast(do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, dtype: Callable[[torch.Tensor], torch.dtype]) -> Any:
    """Calls with each tensor in the dtype that *dtype* says, and gives results the dtypes of *result*."""

    def converted(each: Any) -> Any:
        wanted = dtype(each) if isinstance(each, torch.Tensor) else None
        return each if wanted is None or each.dtype is wanted else torch.ops.aten._to_copy.default(each, dtype=wanted)

    args, kwargs = pytree.tree_map(converted, (args, kwargs))
    return _like(do(args, kwargs), result)


def _like(found: Any, result: Any) -> Any:
    """The tensors of *found* in the shapes and dtypes of *result*."""

    def one(each: Any, wanted: Any) -> Any:
        if not isinstance(each, torch.Tensor) or not isinstance(wanted, torch.Tensor):
            return each
        each = each if each.dtype is wanted.dtype else torch.ops.aten._to_copy.default(each, dtype=wanted.dtype)
        return each if each.shape == wanted.shape else each.reshape(wanted.shape)

    if isinstance(found, (tuple, list)):
        return type(result)(one(*pair) for pair in zip(found, result, strict=True))
    return one(found, result)


def _dtypes(result: Any) -> list[torch.dtype]:
    return [each.dtype for each in pytree.tree_leaves(result) if isinstance(each, torch.Tensor)]


def _narrow_to(narrow: Sequence[torch.dtype], wide: torch.dtype) -> Repair:
    def repair(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        if not any(each.dtype in narrow for each in _tensors(args, kwargs)):
            return UNCHANGED
        return _cast(do, args, kwargs, result, lambda each: wide if each.dtype in narrow else each.dtype)

    return repair


def _integers_to_wide(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Converts narrow integers before an operator whose result is int64."""
    inputs, wanted = _tensors(args, kwargs), _dtypes(result)
    if len(inputs) != 1 or inputs[0].dtype not in (torch.bool, *_NARROW) or wanted[0] is not torch.int64:
        return UNCHANGED
    return _cast(do, args, kwargs, result, lambda _: torch.int64)


def _promoted(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Converts inputs to the one dtype that PyTorch computes in: that of a floating-point result, else that which they promote to."""
    inputs, wanted = _tensors(args, kwargs), _dtypes(result)
    to = wanted[0] if wanted else None
    if to is None or not to.is_floating_point:
        to = reduce(torch.promote_types, (each.dtype for each in inputs), torch.bool)
    if all(each.dtype is to for each in inputs) or any(each.is_floating_point() and len(inputs) == 1 for each in inputs):
        return UNCHANGED
    return _cast(do, args, kwargs, result, lambda _: to)


def _rank_zero(wanted: Callable[[str], bool]) -> Repair:
    """Gives each tensor of rank 0, of the arguments that are *wanted*, one dimension, and takes it from the results."""

    def raised(each: Any) -> Any:
        return each.unsqueeze(0) if isinstance(each, torch.Tensor) and each.dim() == 0 else each

    def repair(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        names = [each.name for each in operator._schema.arguments]
        new = tuple(pytree.tree_map(raised, each) if wanted(name) else each for name, each in zip(names, args, strict=False))
        same = all(one is other for one, other in zip(pytree.tree_leaves(new), pytree.tree_leaves(args), strict=True))
        return UNCHANGED if same else _like(do(new, kwargs), result)

    return repair


def _empty(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Replaces a call on tensors without elements by its result, and leaves such tensors out of lists."""
    inputs = _tensors(args, kwargs)
    bare = [each for each in inputs if each.numel() == 0]
    if not bare:
        return UNCHANGED
    if all(each.numel() == 0 for each in pytree.tree_leaves(result) if isinstance(each, torch.Tensor)):
        return pytree.tree_map(lambda each: _like(bare[0], each), result)
    if len(bare) < len(inputs):

        def without(each: Any) -> Any:
            return (
                [one for one in each if one.numel()]
                if isinstance(each, (list, tuple)) and each and isinstance(each[0], torch.Tensor)
                else each
            )

        shorter = tuple(map(without, args))
        return UNCHANGED if all(one is other for one, other in zip(shorter, args, strict=True)) else _like(do(shorter, kwargs), result)
    with _disable_current_modes():
        real = pytree.tree_map(
            lambda each: torch.zeros(each.shape, dtype=each.dtype) if isinstance(each, torch.Tensor) else each, (args, kwargs)
        )
        values = operator(*real[0], **real[1])
        flat, structure = pytree.tree_flatten(values)
        numbers = [
            each.flatten()[0].item() if each.numel() and bool(((each == each.flatten()[0]) | (each != each)).all()) else None
            for each in flat
        ]
    if any(number is None and each.numel() for number, each in zip(numbers, flat, strict=True)):
        return UNCHANGED
    made = [torch.full(each.shape, number or 0, dtype=each.dtype) for number, each in zip(numbers, flat, strict=True)]
    return pytree.tree_unflatten(made, structure)


def _positive(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Counts axes, and indices of a slice, from the front."""
    schema = operator._schema.arguments
    inputs = _tensors(args, kwargs)
    if not inputs:
        return UNCHANGED
    rank, named = inputs[0].dim(), {each.name: place for place, each in enumerate(schema)}
    new = list(args)
    for name, place in named.items():
        if place >= len(new):
            continue
        if name in _AXES and rank:
            ends = rank + (operator.overloadpacket.__name__ in ("unsqueeze", "stack"))
            new[place] = pytree.tree_map(
                lambda each, ends=ends: each + ends if isinstance(each, int) and not isinstance(each, bool) and each < 0 else each,
                new[place],
            )
        elif name in _PLACES and isinstance(new[place], int) and new[place] < 0 and isinstance(new[1], int) and rank:
            new[place] = max(0, new[place] + inputs[0].shape[new[1]])
    return UNCHANGED if new == list(args) else do(tuple(new), kwargs)


def _all_axes(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Lists all axes where a call names none."""
    inputs, new = _tensors(args, kwargs), list(args)
    for place, each in enumerate(operator._schema.arguments[: len(new)]):
        if each.name in _AXES and isinstance(new[place], (list, tuple)) and not new[place] and inputs:
            new[place] = list(range(inputs[0].dim()))
    return UNCHANGED if new == list(args) else do(tuple(new), kwargs)


def _dtype_as_cast(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Converts the inputs to the dtype that a call names, and names none."""
    inputs, dtype = _tensors(args, kwargs), kwargs.get("dtype")
    if dtype is None or not inputs or operator.overloadpacket.__name__ == "_to_copy" or all(each.dtype is dtype for each in inputs):
        return UNCHANGED
    return _cast(do, args, {**kwargs, "dtype": None}, result, lambda _: dtype)


def _numbers(operator: Any, do: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Replaces infinite numbers of a call by the largest ones of the dtype."""
    inputs = _tensors(args, kwargs)
    if not inputs or not any(isinstance(each, float) and math.isinf(each) for each in args):
        return UNCHANGED
    dtype = inputs[0].dtype
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    new = [(limits.max if each > 0 else limits.min) if isinstance(each, float) and math.isinf(each) else each for each in args]
    return _like(do(tuple(new), kwargs), result)


CALLS: dict[str, Repair] = {
    "inputs promoted": _promoted,
    "integers to int64": _integers_to_wide,
    "booleans as integers": _narrow_to((torch.bool,), torch.int32),
    "narrow integers as int64": _narrow_to(_NARROW, torch.int64),
    "halves as float32": _narrow_to(_HALVES, torch.float32),
    "doubles as float32": _narrow_to((torch.float64,), torch.float32),
    "indices of rank 0 as rank 1": _rank_zero(lambda name: name in ("index", "indices")),
    "rank 0 as rank 1": _rank_zero(lambda _: True),
    "no elements": _empty,
    "axes from the front": _positive,
    "all axes listed": _all_axes,
    "dtype as a cast": _dtype_as_cast,
    "finite numbers": _numbers,
}
"""By name, in the order in which they are tried."""
DEFAULTS = "defaults written"
"""The repair that changes no call: arguments at their defaults stand in the program, also those that PyTorch takes by name only."""
NAMES = (DEFAULTS, *CALLS)


class _Repairing(torch.fx.Interpreter):
    """Runs a program, each call repaired."""

    def __init__(self, module: torch.fx.GraphModule, repair: Repair) -> None:
        super().__init__(module)
        self._repair = repair
        self._node: torch.fx.Node | None = None

    def run_node(self, n: torch.fx.Node) -> Any:
        self._node = n
        return super().run_node(n)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = self._node.meta.get("val") if self._node is not None else None
        if (
            isinstance(target, torch._ops.OpOverload)
            and not target._schema.is_mutable
            and result is not None
            and not isinstance(result, torch.SymInt)
        ):
            found = self._repair(target, lambda args, kwargs: target(*args, **kwargs), tuple(args), dict(kwargs), result)
            if found is not UNCHANGED:
                _CHANGED.append(str(target))
                return found
        return super().call_function(target, args, kwargs)


class _Repaired(torch.nn.Module):
    def __init__(self, program: torch.export.ExportedProgram, repair: Repair) -> None:
        super().__init__()
        self.program: Any = program.module()
        self.repair = repair

    def forward(self, *args: Any) -> Any:
        return _Repairing(self.program, self.repair).run(*args)


def _operators(program: torch.export.ExportedProgram) -> Iterator[torch.fx.Node]:
    """The nodes of *program* that call an operator."""
    return (node for node in program.graph.nodes if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload))


def _write_defaults(program: torch.export.ExportedProgram) -> None:
    """Writes the defaults of all calls into the graph, each at its place in the signature."""
    for node in _operators(program):
        node.args = (*node.args, *(node.kwargs.get(each.name, each.default_value) for each in _left(node)))


def _left(node: torch.fx.Node) -> list[Any]:
    """The arguments after the positional ones of a call that it gives by name or leaves at a default, up to the first without either."""
    target: Any = node.target
    arguments = target._schema.arguments[len(node.args) :]
    return list(takewhile(lambda each: each.name in node.kwargs or each.has_default_value(), arguments))


def changes(program: torch.export.ExportedProgram, name: str) -> bool:
    """Whether the repair *name* changes a call of *program*, which runs on its example."""
    if name == DEFAULTS:
        return any(map(_left, _operators(program)))
    _CHANGED.clear()
    with contextlib.suppress(Exception):  # a repair that PyTorch itself refuses
        _Repairing(program.module(), CALLS[name]).run(*(program.example_inputs or ((), {}))[0])
    return bool(_CHANGED)


def probe(tell: Callable[[list[str]], None]) -> None:
    """Makes `torch.export.export` tell which repairs change a call of the program, or of what PyTorch decomposes it into."""
    exporting: Any = torch.export
    export = exporting.export

    def probed(*args: Any, **kwargs: Any) -> torch.export.ExportedProgram:
        program = export(*args, **kwargs)
        levels = [program, program.run_decompositions()]
        tell([name for name in NAMES if any(changes(each, name) for each in levels)])
        return program

    exporting.export = probed


def install(name: str) -> None:
    """Makes PyTorch give exported programs, and what it decomposes them into, with the repair *name*."""
    exporting: Any = torch.export
    programs: Any = torch.export.ExportedProgram
    export, decompose = exporting.export, programs.run_decompositions

    def changed(program: torch.export.ExportedProgram, **kwargs: Any) -> torch.export.ExportedProgram:
        example, named = program.example_inputs or ((), {})
        return export(_Repaired(program, CALLS[name]), example, named or None, **kwargs) if changes(program, name) else program

    def repaired(model: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.export.ExportedProgram:
        program, sizes = export(model, *args, **kwargs), kwargs.get("dynamic_shapes")
        return program if name == DEFAULTS else changed(program, dynamic_shapes=sizes)  # a program with all defaults cannot run

    def decomposed(program: torch.export.ExportedProgram, *args: Any, **kwargs: Any) -> torch.export.ExportedProgram:
        found = decompose(program, *args, **kwargs)
        if name == DEFAULTS:
            _write_defaults(found)
            return found
        again = changed(found)
        return found if again is found else decompose(again, *args, **kwargs)

    exporting.export, programs.run_decompositions = repaired, decomposed


def warm() -> None:
    """Does once what every capture needs, so that processes that start from this one share it."""
    torch.export.export(torch.nn.Identity(), (torch.ones(1),)).module()
