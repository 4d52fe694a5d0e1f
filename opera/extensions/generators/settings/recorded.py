"""Other settings of a recorded call of a function or a module: what its signature and documentation declare, and other inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Optional, cast

from opera.extensions.generators.docter import documents, naming
from opera.extensions.generators.docter.constraints import (
    BOOL,
    DTYPE,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NONE,
    STRING,
    TENSOR,
    ParameterConstraint,
    TargetApi,
)
from opera.extensions.generators.settings import kinds

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
"""Dtypes of inputs; the library's run says which of them an operator takes."""
_NUMBERS = (0, 1, 2, -1)
"""Whole numbers to try where nothing is known."""
_SAME_NAME = {"self": "input"}
"""Parameters of ATen's schemas, and how Python calls them."""


class HeldTensor(NamedTuple):
    """A tensor among the arguments, with its values.

    Attributes:
        dtype: Canonical name.
        array: A numpy array.
        strides: In elements; None when contiguous.
    """

    dtype: str
    array: Any
    strides: Optional[tuple[int, ...]] = None


class DtypeName(NamedTuple):
    """A data type among the arguments, by its canonical name."""

    name: str


class Item(NamedTuple):
    """One argument.

    Attributes:
        part: `build` for the constructor's, `call` for the call's.
        name: Name of the parameter.
        value: A plain value, a `HeldTensor`, a `DtypeName`, a list or tuple of these, or what only the library knows.
        keyword: Whether it is passed by keyword.
    """

    part: str
    name: str
    value: Any
    keyword: bool = False


@dataclass(frozen=True)
class Call:
    """A recorded call.

    Attributes:
        api: The function or class.
        items: The arguments, those of the constructor first.
        module: Whether *api* is a class whose objects are called.
        context: What else it depends on, as the instance has it.
    """

    api: str
    items: tuple[Item, ...]
    module: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)  # type: ignore[arg-type]

    def tensors(self) -> list[tuple[int, HeldTensor]]:
        """The tensors of the call with the numbers of their arguments, those in lists included."""
        found: list[tuple[int, HeldTensor]] = []
        for number, item in enumerate(self.items):
            if item.part == "call":
                found += [(number, tensor) for tensor in _tensors(item.value)]
        return found

    def given(self, part: str, name: str) -> Optional[Item]:
        """The argument of that name."""
        return next((item for item in self.items if item.part == part and _common(item.name) == _common(name)), None)


@dataclass(frozen=True)
class Setting:
    """One change of a call.

    Attributes:
        factor: What changes; two settings of one factor exclude each other.
        value: What it changes to, as a reader of a log needs it.
        change: Makes the change; None where the call has no such value.
    """

    factor: str
    value: str
    change: Callable[[Call], Optional[Call]]

    def of(self, call: Call) -> Optional[Call]:
        """*call* with this setting; None where it has no such value, or would be too large."""
        made = self.change(call)
        return None if made is None or any(tensor.array.size > kinds.LARGEST for _, tensor in made.tensors()) else made

    def __str__(self) -> str:
        return f"{self.factor}={self.value}"


Dtype = Callable[[str], Any]


class Settings:
    """The settings of the recorded calls of one API."""

    def __init__(self, api: TargetApi, calls: Sequence[Call], numpy_dtype: Dtype, typed: Callable[[Call, str], Mapping[str, Any]]) -> None:
        """Reads what *calls* give to each parameter.

        Args:
            api: What is known of its parameters.
            calls: All recorded calls of it that are at hand.
            numpy_dtype: The numpy dtype for a canonical name.
            typed: The context of a call whose inputs have that dtype.
        """
        self._api = api
        self._dtype = numpy_dtype
        self._typed = typed
        self._words = documents.vocabulary(getattr(api.target, "__doc__", None))
        self._seen: dict[tuple[str, str], list[Any]] = {}
        self._beside: dict[tuple[str, str, Any], list[Any]] = {}
        for call in calls:
            for item in call.items:
                key = (item.part, _common(item.name))
                _add(self._beside.setdefault((*key, _shapes(call, item)), []), item.value)
                if not _tensors(item.value):
                    _add(self._seen.setdefault(key, []), item.value)

    def of(self, call: Call) -> list[Setting]:
        """All settings of *call*: of its parameters, then of its inputs."""
        found = [each for parameter in self._api.build or () for each in self._of_parameter(call, "build", parameter)]
        found += [each for parameter in self._parameters(call) for each in self._of_parameter(call, "call", parameter)]
        return found + self._of_inputs(call)

    def _parameters(self, call: Call) -> list[ParameterConstraint]:
        """The parameters of the overloads that the call fits, each once, the better known ones first."""
        given = {_common(item.name) for item in call.items if item.part == "call"}
        fitting = [each for each in self._api.calls if given <= {_common(item.name) for item in each}] or list(self._api.calls)
        found: dict[str, ParameterConstraint] = {}
        for signature in fitting:
            for parameter in signature:
                known = found.get(parameter.name)
                if known is None or (not known.kinds and parameter.kinds):
                    found[parameter.name] = parameter
        return list(found.values())

    # Parameters

    def _of_parameter(self, call: Call, part: str, parameter: ParameterConstraint) -> list[Setting]:
        if parameter.rest or parameter.name.startswith("_"):
            return []
        item = call.given(part, parameter.name)
        factor = f"{part} {parameter.name}"
        found: list[Setting] = []
        if item is not None and not parameter.required:
            found.append(Setting(factor, "left out", lambda call: _without(call, part, parameter.name)))
        tried = set[str]() if item is None else {repr(item.value)}
        tried |= set[str]() if parameter.required else {repr(parameter.default)}
        values = [value for value in kinds.distinct(self._values(call, part, parameter, item)) if repr(value) not in tried]
        return found + [
            Setting(factor, _text(value), lambda call, value=value: _with(call, part, parameter.name, value)) for value in values
        ]

    def _values(self, call: Call, part: str, parameter: ParameterConstraint, item: Optional[Item]) -> list[Any]:
        """Values for a parameter by its kinds, or, where nothing says them, by the kind of the value that it has."""
        known = {kind.name for kind in parameter.kinds}
        value = None if item is None else item.value
        known |= _kinds_of(value)
        if _tensors(value):
            return [None] if NONE in known or not parameter.required else []
        seen = self._seen.get((part, _common(parameter.name)), [])
        axis, rank = naming.number(parameter.name) == naming.AXIS, _rank(call)
        known |= {INT, INTS} if axis and not parameter.kinds else set()
        found: list[Any] = []
        if STRING in known or parameter.choices:
            found += [*(each for each in seen if isinstance(each, str)), *(parameter.choices or self._words)]
        if BOOL in known:
            found += [False, True]
        if INT in known and axis:
            found += kinds.axes(rank)
        elif INT in known:
            found += [*_numbers(seen, int), *(kinds.boundaries(parameter.low, parameter.high, True) or _NUMBERS)]
            low, high = parameter.low, parameter.high
            found += [n for n in kinds.related(_integers(call)) if (low is None or n >= low) and (high is None or n <= high)]
        if FLOAT in known:
            found += [*_numbers(seen, float), *(kinds.boundaries(parameter.low, parameter.high, False) or (0.0, -1.0, 2)), *kinds.REALS]
        if INTS in known or FLOATS in known:
            found += self._lists(call, part, parameter, value, axis=axis)
        if DTYPE in known:
            found += [DtypeName(name) for name in DTYPES]
        if TENSOR in known and item is None:
            found += self._beside.get((part, _common(parameter.name), _shapes(call, None)), [])[: kinds.BORROWED]
        if item is not None and (NONE in known or parameter.default is None):
            found.append(None)
        return found

    def _lists(self, call: Call, part: str, parameter: ParameterConstraint, value: Any, *, axis: bool) -> list[Any]:
        """Lists for a parameter: of the value that it has, of those that other calls give it, of sizes, and of axes."""
        rank = _rank(call)
        found: list[Any] = [each for each in self._seen.get((part, _common(parameter.name)), []) if isinstance(each, (list, tuple))]
        if _kinds_of(value) == {INTS}:
            found += kinds.lists(value) + ([] if axis else kinds.related_lists(value, _integers(call)))
        elif type(value) is int:
            found += [[value], [value, value], []]
        else:
            found.append([])
        if axis:
            found += [[each] for each in kinds.axes(rank)] + [list(range(rank)), list(range(rank))[::-1]]
        return [list(cast("Sequence[Any]", each)) for each in found]

    # Inputs

    def _of_inputs(self, call: Call) -> list[Setting]:
        tensors = call.tensors()
        if not tensors:
            return []
        numbers = sorted({number for number, _ in tensors})
        groups = [tuple(numbers)] + ([(number,) for number in numbers] if len(numbers) > 1 else [])
        found = [each for group in groups for each in self._of_group(call, group)]
        for number in numbers:
            value = call.items[number].value
            found += _scalars(call, number) if isinstance(value, HeldTensor) else self._items(call, number, _items_of(value))
        return found + [
            _replacing(call, number, "tensor", "0-d", HeldTensor(*_scalar_array(item.value, self._dtype)))
            for number, item in enumerate(call.items)
            if item.part == "call" and type(item.value) in (int, float) and self._takes_tensor(item.name)
        ]

    def _takes_tensor(self, name: str) -> bool:
        """Whether an overload declares a tensor for the parameter: a run may take one for a number that is documented as a number."""
        return any(_common(each.name) == _common(name) and each.has(TENSOR) for signature in self._api.calls for each in signature)

    def _items(self, call: Call, number: int, items: list[Any]) -> list[Setting]:
        """Settings of a list of tensors: no items, one item, and a first item of another dtype than the rest."""
        found = [_replacing(call, number, "items", "none", []), _replacing(call, number, "items", "one", items[:1])]
        first: Any = items[0] if len(items) > 1 else None
        if not isinstance(first, HeldTensor) or first.dtype == "string":
            return found
        arrays = [(name, kinds.cast(first.array, self._dtype(name))) for name in DTYPES if name != first.dtype]
        mixed = [(name, [HeldTensor(name, array), *items[1:]]) for name, array in arrays if array is not None]
        return found + [_replacing(call, number, "first dtype", name, other) for name, other in mixed]

    def _of_group(self, call: Call, group: tuple[int, ...]) -> list[Setting]:
        """Other dtypes, ranks and sizes of some arguments together: of all, or of one, which makes mixtures."""
        first = next(tensor for number, tensor in call.tensors() if number == group[0])
        names = call.items[group[0]].name if len(group) == 1 else "inputs"
        numeric = first.dtype != "string"
        found = [
            Setting(f"dtype of {names}", name, lambda call, name=name: self._cast(call, group, first.dtype, name))
            for name in (DTYPES if numeric else ())
            if name != first.dtype
        ]
        found += [
            Setting(
                f"dtype of {names}",
                f"{name} with {element}",
                lambda call, name=name, element=element: self._with_element(call, group, first.dtype, name, element),
            )
            for name, element in (kinds.ELEMENTS if numeric else ())
        ]
        rank = int(first.array.ndim)
        found += [
            Setting(
                f"rank of {names}", str(other), lambda call, other=other: _reshaped(call, group, lambda each: _ranked(each, rank, other))
            )
            for other in range(rank + 2)
            if other != rank
        ]
        return found + [
            Setting(
                f"size of {names}",
                f"{size} in dimension {dimension}",
                lambda call, dimension=dimension, size=size: _reshaped(
                    call, group, lambda each: _sized(each, dimension, first.array.shape[dimension], size)
                ),
            )
            for dimension in range(rank)
            for size in kinds.SIZES
        ]

    def _cast(self, call: Call, group: tuple[int, ...], before: str, name: str) -> Optional[Call]:
        """All tensors of the arguments *group* that have the dtype *before* in another one."""
        failed = False

        def made(tensor: HeldTensor) -> HeldTensor:
            nonlocal failed
            if tensor.dtype != before:
                return tensor
            array = kinds.cast(tensor.array, self._dtype(name))
            failed = failed or array is None
            return HeldTensor(name, array)

        changed = _changed(call, group, made)
        return None if failed else replace(changed, context=self._typed(changed, name))

    def _with_element(self, call: Call, group: tuple[int, ...], before: str, name: str, element: int) -> Optional[Call]:
        """The same, with *element* in the first tensor."""
        made = self._cast(call, group, before, name)
        first = None if made is None else next((tensor for number, tensor in made.tensors() if number == group[0]), None)
        array = None if first is None or first.dtype != name else kinds.with_element(first.array, element)
        if made is None or array is None:
            return None
        return _changed(made, group[:1], lambda tensor: HeldTensor(name, array) if tensor is first else tensor)


def _scalars(call: Call, number: int) -> list[Setting]:
    """A Python number in place of a tensor."""
    tensor = call.items[number].value
    if not isinstance(tensor, HeldTensor) or not tensor.array.size or tensor.dtype == "string":
        return []
    plain = tensor.array.reshape(-1)[0]
    number_of = bool if tensor.dtype == "bool" else int if "int" in tensor.dtype else complex if "complex" in tensor.dtype else float
    return [_replacing(call, number, "scalar", "Python number", number_of(plain))]


def _replacing(call: Call, number: int, what: str, text: str, value: Any) -> Setting:
    def change(other: Call) -> Optional[Call]:
        if number >= len(other.items) or other.items[number].name != call.items[number].name:
            return None
        return replace(other, items=(*other.items[:number], other.items[number]._replace(value=value), *other.items[number + 1 :]))

    return Setting(f"{what} of {call.items[number].name}", text, change)


def _scalar_array(value: Any, dtype: Dtype) -> tuple[str, Any]:
    name = "int64" if isinstance(value, int) else "float32"
    try:
        return name, kinds.np.asarray(value, dtype=dtype(name))
    except OverflowError:
        return "float32", kinds.np.asarray(float(value), dtype="float32")


def _changed(call: Call, group: Sequence[int], change: Callable[[HeldTensor], HeldTensor]) -> Call:
    items = [item._replace(value=_mapped(item.value, change)) if number in group else item for number, item in enumerate(call.items)]
    return replace(call, items=tuple(items))


def _reshaped(call: Call, group: Sequence[int], change: Callable[[Any], Any]) -> Optional[Call]:
    """The tensors of the arguments *group* with other shapes; None where none has another."""
    others: list[HeldTensor] = []

    def made(tensor: HeldTensor) -> HeldTensor:
        array = change(tensor.array)
        if array is None:
            return tensor
        others.append(HeldTensor(tensor.dtype, array))
        return others[-1]

    changed = _changed(call, group, made)
    return changed if others else None


def _ranked(array: Any, before: int, rank: int) -> Any:
    return kinds.with_rank(array, rank) if array.ndim == before else None


def _sized(array: Any, dimension: int, before: int, size: int) -> Any:
    """*array* cut in a dimension that has the size *before*."""
    return kinds.with_size(array, dimension, size) if array.ndim > dimension and array.shape[dimension] == before else None


def _with(call: Call, part: str, name: str, value: Any) -> Call:
    """*call* with an argument, in its place or by keyword."""
    items = list(call.items)
    for number, item in enumerate(items):
        if item.part == part and _common(item.name) == _common(name):
            items[number] = item._replace(value=value)
            return replace(call, items=tuple(items))
    place = len([item for item in items if item.part == "build"]) if part == "build" else len(items)
    items.insert(place, Item(part, name, value, keyword=True))
    return replace(call, items=tuple(items))


def _without(call: Call, part: str, name: str) -> Optional[Call]:
    """*call* without an argument; those after it are passed by keyword."""
    items: list[Item] = []
    gone = False
    for item in call.items:
        if item.part == part and _common(item.name) == _common(name):
            gone = True
        else:
            items.append(item._replace(keyword=True) if gone and item.part == part else item)
    return replace(call, items=tuple(items)) if gone else None


def _mapped(value: Any, change: Callable[[HeldTensor], HeldTensor]) -> Any:
    if isinstance(value, HeldTensor):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, DtypeName):
        items = [_mapped(each, change) for each in cast("list[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _tensors(value: Any) -> list[HeldTensor]:
    if isinstance(value, HeldTensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for each in cast("list[Any]", value) for tensor in _tensors(each)]
    return []


def _kinds_of(value: Any) -> set[str]:
    """The kind of a value that a recorded call gives."""
    if isinstance(value, DtypeName):
        return {DTYPE}
    if isinstance(value, (list, tuple)):
        inner: set[type] = {type(each) for each in _items_of(value)}
        return {INTS} if inner == {int} else {FLOATS} if inner and inner <= {int, float} else set()
    named = next((name for kind, name in ((bool, BOOL), (int, INT), (float, FLOAT), (str, STRING)) if type(value) is kind), None)
    return set() if named is None else {named}


def _items_of(value: Any) -> list[Any]:
    """The items of a list or a tuple; none of anything else."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) and not isinstance(value, HeldTensor) else []


def _numbers(values: Sequence[Any], kind: type) -> list[Any]:
    return [each for each in values if type(each) is kind]


def _integers(call: Call) -> list[int]:
    """The sizes of the tensors of *call*, then the integers among its other arguments."""
    sizes = [int(size) for _, tensor in call.tensors() for size in tensor.array.shape]
    plain = [each for item in call.items for each in (_items_of(item.value) or [item.value])]
    return [*sizes, *_numbers(plain, int)]


def _rank(call: Call) -> int:
    tensors = call.tensors()
    return int(tensors[0][1].array.ndim) if tensors else 0


def _shapes(call: Call, before: Optional[Item]) -> Any:
    """The shapes of the tensors that stand before an argument, those of all other arguments where it is passed by keyword or not at all."""
    items = [item for item in call.items if item.part == "call" and (before is None or item.name != before.name)]
    return tuple(tuple(tensor.array.shape) for item in items for tensor in _tensors(item.value))


def _common(name: str) -> str:
    return _SAME_NAME.get(name, name)


def _text(value: Any) -> str:
    if isinstance(value, HeldTensor):
        return f"{value.dtype}{list(value.array.shape)}"
    return value.name if isinstance(value, DtypeName) else repr(value)[:60]


def _add(known: list[Any], value: Any) -> None:
    text = repr(value)
    if all(repr(each) != text for each in known):
        known.append(value)
