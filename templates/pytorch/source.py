"""A PyTorch instance as the source of a module that a person would write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.arrays import Array, dtype_name
from opera.instance import Call, Device, DType, Instance, Kind
from opera.instance.values import ends_of, walk
from opera.models.forms import BESIDE, STATE
from opera.templates.argument_text import ArgumentText
from opera.templates.python_text import array_text, dotted, elements_text, is_uniform, listed, quoted, uniform_text, wrapped
from opera.trust import granted, is_foreign

_USUAL = frozenset({"float32", "int64", "bool"})
"""Dtypes that `torch.tensor` gives Python's numbers by itself."""
_VIEWED = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}


_INFIX = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%", "__pow__": "**",
    "__matmul__": "@", "__and__": "&", "__or__": "|", "__xor__": "^", "__lshift__": "<<", "__rshift__": ">>", "__lt__": "<",
    "__le__": "<=", "__gt__": ">", "__ge__": ">=", "__eq__": "==", "__ne__": "!=",
}  # fmt: skip
"""Operators of Python by the methods of their left operand."""


@dataclass(frozen=True)
class LaidOut:
    """A tensor as it lies in memory.

    Attributes:
        array: Its values.
        strides: In elements; None if it is contiguous.
    """

    array: Array
    strides: tuple[int, ...] | None


@dataclass(frozen=True)
class WritesText:
    """What is written after a call, as text.

    Attributes:
        inputs: By place of an input, the method that the module itself calls.
        results: By place of a result, the method that the caller calls.
    """

    inputs: Mapping[int, str]
    results: Mapping[int, str]


def module_source(
    instance: Instance,
    inputs: Sequence[LaidOut],
    constants: Sequence[LaidOut],
    *,
    seed: int | None,
    leaves: Sequence[str] | None,
    in_place: bool,
    lazy: bool,
    converts: bool,
    packed: bool = False,
    writes: WritesText | None = None,
) -> str:
    """Source that defines `model` and `inputs` (a tuple of tensors).

    Args:
        instance: What the module calls.
        inputs: Its inputs.
        constants: The tensors that are no inputs: see `CallArguments.constants`.
        seed: Seed of the module's parameters; None where it draws nothing.
        leaves: Where the tensors are in what the call returns; None for one tensor alone.
        in_place: Whether the call writes to its inputs, which therefore get copied.
        lazy: Whether parameters get their shapes, and their values, from the first call, which the worker makes after the seed 1.
        converts: Whether `tensor.numpy()` refuses an input or output.
        packed: Whether input 0 holds pairs of real and imaginary parts, which the module joins.
        writes: What is written after the call; None for a module that a test calls alone.
    """
    writer = _Writer(map(_tensor_text, constants), in_place, packed)
    api = writer.path(instance.api)
    init = ", ".join(writer.argument(argument, inputs=False) for argument in instance.init)
    is_index = instance.api == "torch.Tensor.__getitem__" and len(instance.call) == 2
    given = [
        writer.index(argument.value) if is_index and index else writer.argument(argument, inputs=True)
        for index, argument in enumerate(instance.call)
    ]
    call = ", ".join(given)
    names = "".join(f", x{index}" for index in range(len(inputs)))
    lines = ["class Model(torch.nn.Module):"]
    if instance.kind is Kind.MODULE:
        lines += ["    def __init__(self):", "        super().__init__()", *_made(f"{api}({init})", instance, writer, seed), ""]
    target = "self.operator" if instance.kind is Kind.MODULE else api
    infix = _infix(instance, given)
    result = (
        infix
        if infix is not None
        else f"{target}({call})"
        if instance.context_value(BESIDE) is None
        else f"(self.beside({call}), {target}({call}))"
    )
    returned = "y"
    if leaves is not None and list(leaves) == [f"[{index}]" for index in range(len(leaves))]:
        returned = "tuple(y)"
    elif leaves is not None:
        returned = f"({', '.join(f'y{each}' for each in leaves)}{',' if len(leaves) == 1 else ''})"
    body = [f"y = {result}"]
    if instance.operator == "__setitem__":
        first = "x0.clone()" if in_place else "x0"
        body = [f"y = {first}", f"{target}({call.replace(first, 'y', 1)})"]
    body += [f"x{place}.{write}" for place, write in (writes.inputs if writes is not None else {}).items()]
    if len(body) == 1 and returned in ("y", "tuple(y)"):
        body, returned = [], returned.replace("y)", f"{result})") if leaves is not None else result
    lines += [f"    def forward(self{names}):", *(f"        {line}" for line in (*body, f"return {returned}"))]
    if writes is not None:
        lines += ["", "", *_WHOLE.format(writes="".join(f"\n    results[{n}].{each}" for n, each in writes.results.items())).splitlines()]
    training = instance.context_value("training")
    mode = "" if training is None else f".train({bool(training)})"
    dtype = instance.context_value("parameters")
    moved = f".to(torch.{dotted(dtype.name)})" if isinstance(dtype, DType) else ""
    seeded = [] if seed is None else [f"torch.manual_seed({seed})"]
    lines += [
        "",
        "",
        *seeded,
        f"model = {'Model' if writes is None else 'Whole'}(){moved}{mode}",
        listed("inputs", list(map(_tensor_text, inputs)), "()"),
    ]
    if lazy:
        lines += ["torch.manual_seed(1)", "model(*inputs)  # gives the lazy parameters their shapes"]
    if converts:
        lines[:0] = [*ARRAY_OF.strip().splitlines(), "", ""]
    if any(each.strides is not None for each in (*inputs, *constants)):
        lines[:0] = [*_STRIDED.strip().splitlines(), "", ""]
    return "\n".join(lines)


def _infix(instance: Instance, given: Sequence[str]) -> str | None:
    """A method of an operator as a person writes it: `x0 @ x1`, `x0[x1]`; None for other calls."""
    if len(given) != 2 or not instance.api.startswith("torch.Tensor.__") or any(each.keyword for each in instance.call):
        return None
    if instance.operator == "__getitem__":
        return f"{given[0]}[{given[1]}]"
    first, second = (f"({each})" if each.startswith("-") else each for each in given)
    if instance.operator in _INFIX:
        return f"{first} {_INFIX[instance.operator]} {second}"
    plain = instance.operator.replace("__r", "__", 1)
    return f"{second} {_INFIX[plain]} {first}" if plain in _INFIX else None


_SHARED = """
        own = self.operator.state_dict()
        given = {name: value for name, value in other.state_dict().items() if name in own and own[name].shape == value.shape}
        self.operator.load_state_dict(given, strict=False)
""".strip("\n")


def _made(operator: str, instance: Instance, writer: _Writer, seed: int | None) -> list[str]:
    """The lines that make the operator, and side a of a pair, whose weights of the same name and shape it takes."""
    lines = [f"        self.operator = {operator}"]
    for fact in (STATE, BESIDE):
        side = instance.context_value(fact)
        if isinstance(side, Call):
            name = "self.beside" if fact == BESIDE else "other"
            made = f"        {name} = {writer.scalar_call(side)}"
            seeded = [] if seed is None else [f"        torch.manual_seed({seed})"]
            lines += [*seeded, made, *_SHARED.replace("other", name).splitlines()]
    return lines


def imports_of_classes(instance: Instance) -> list[str]:
    """The lines that import the classes of *instance* that are not PyTorch's."""
    values = [*(each.value for each in instance.arguments()), *(value for _, value in instance.context)]
    paths = {instance.api, *(part.api for value in values for part in walk(value) if isinstance(part, Call))}
    found = [granted().located(path) for path in sorted(paths) if is_foreign(path)]
    return sorted({f"from {dotted(place.module or place.file.stem)} import {dotted(place.name.partition('.')[0])}" for place in found})


def leaf_paths(result: Any, way: str = "") -> Iterator[str]:
    """Where the tensors are in *result*: `[0]`, `[1][0]`."""
    if hasattr(result, "untyped_storage"):
        yield way
    elif isinstance(result, (tuple, list)):
        for index, item in enumerate(cast("Sequence[Any]", result)):
            yield from leaf_paths(item, f"{way}[{index}]")
    elif isinstance(result, Mapping):
        for key, item in cast("Mapping[Any, Any]", result).items():
            yield from leaf_paths(item, f"{way}[{key!r}]")


def expected_source(*, plain: bool, writes: bool, converts: bool, after: bool = False) -> str:
    """Source that defines `expected`, a list of arrays, by running `model`.

    Args:
        plain: Whether the result is one tensor.
        writes: Whether the model writes to its inputs, and hence gets copies.
        converts: Whether `tensor.numpy()` refuses an output, so that `ARRAY_OF` is needed.
        after: Whether writes follow the call.
    """
    array = "numpy_of({})" if converts else "{}.numpy()"
    arrays = f"[{array.format('result')}]" if plain else f"[{array.format('leaf')} for leaf in result]"
    given = "(value.clone() for value in inputs)" if writes else "inputs"
    called = "after(model.call, copy.deepcopy(inputs))" if after else f"model(*{given})"
    return f"with torch.no_grad():\n    result = {called}\nexpected = {arrays}"


def open_source(count: int, axes: Collection[tuple[int, int]]) -> str:
    """Source that defines `examples`, inputs of other sizes than `inputs` have, and `axes`, for each of them the open axes.

    Args:
        count: Number of inputs.
        axes: Places of inputs and their axes whose sizes are left open.
    """
    by_input = [sorted(axis for place, axis in axes if place == index) for index in range(count)]
    examples = [
        f"larger({', '.join(map(str, [f'inputs[{index}]', *own]))})" if own else f"inputs[{index}]" for index, own in enumerate(by_input)
    ]
    return f"""

def larger(value, *axes):
    for axis in axes:
        value = torch.cat([value, torch.narrow(value, axis, 0, 1)], axis)
    return value


examples = ({", ".join(examples)},)
axes = {by_input}

"""


ARRAY_OF = """
def numpy_of(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    if tensor.dtype == torch.float8_e4m3fn:
        return tensor.view(torch.uint8).numpy().view(ml_dtypes.float8_e4m3fn)
    if tensor.dtype == torch.float8_e5m2:
        return tensor.view(torch.uint8).numpy().view(ml_dtypes.float8_e5m2)
    return tensor.numpy()
"""
"""A function that gives an array of any tensor, for sources with tensors that `tensor.numpy()` refuses."""


_WHOLE = """
def after(call, inputs):
    results = call(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    seen = [value.clone() for value in results]{writes}
    return (*seen, *inputs)  # what shares memory with a result has changed


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.call = Model()

    def forward(self, *inputs):
        return after(self.call, [value.clone() for value in inputs])
""".strip("\n")


_STRIDED = """
def strided(tensor, strides):
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides, strict=True))
    storage = torch.zeros(extent, dtype=tensor.dtype)
    storage[torch.arange(extent).as_strided(tensor.shape, strides)] = tensor
    return storage.as_strided(tensor.shape, strides)
"""


def _tensor_text(tensor: LaidOut) -> str:
    text = _contiguous_text(tensor.array)
    return text if tensor.strides is None else f"strided({text}, {tensor.strides})"


def _contiguous_text(array: Array) -> str:
    name = dtype_name(array.dtype)
    dtype = f"dtype=torch.{name}"
    if array.size == 0:
        return f"torch.zeros({array.shape}, {dtype})"
    if is_uniform(array) and name not in _VIEWED:
        made, number = uniform_text(array)
        return f"torch.{made}({array.shape}, {number}{dtype})".replace(", dtype=torch.float32", "")
    elements = elements_text(array)
    if elements is not None:
        return wrapped(f"torch.tensor({elements}{'' if name in _USUAL else f', {dtype}'})")
    packed = array_text(array.astype(_VIEWED[name]) if name in _VIEWED else array)
    return f"torch.from_numpy({packed}.copy()){f'.to(torch.{name})' if name in _VIEWED else ''}"


class _Writer(ArgumentText):
    """Arguments of PyTorch's calls; an operator that works in place gets copies."""

    def __init__(self, constants: Iterable[str], in_place: bool, packed: bool) -> None:
        super().__init__(constants)
        self._in_place = in_place
        self._packed = packed

    def path(self, api: str) -> str:
        return dotted(granted().located(api).name) if is_foreign(api) else super().path(api)

    def index(self, value: Any) -> str:
        """What stands in brackets after a tensor: `..., 0:1`."""
        if isinstance(value, tuple) and value:
            items = [self.index(each) for each in cast("tuple[Any, ...]", value)]
            return ", ".join(items) + ("," if len(items) == 1 else "")
        if isinstance(value, slice):
            ends = ["" if each is None else self._value(each, inputs=True) for each in ends_of(cast("slice[Any, Any, Any]", value))]
            return ":".join(ends if ends[2] else ends[:2])
        return "..." if value is ... else self._value(value, inputs=True)

    def scalar_call(self, call: Call) -> str:
        """The source of an object that a call makes."""
        return self._value(call, inputs=False)

    def dtype(self, name: str) -> str:
        return f"torch.{dotted(name)}"

    def input(self, name: str) -> str:
        text = f"{name}.clone()" if self._in_place else name
        return f"torch.view_as_complex({text})" if self._packed and name == "x0" else text

    def scalar(self, value: Any) -> str:
        return f"torch.device({quoted(value.name)})" if isinstance(value, Device) else super().scalar(value)
