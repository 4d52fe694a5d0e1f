"""Parameters and cached fixtures, as TVM's RFC 0007 describes them."""

from __future__ import annotations

import copy
import copyreg
import functools
import inspect
import os
import pickle
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, cast

import pytest

MARK = "_opera_testing"
"""The attribute of a fixture's function that says what kind of fixture it is."""
DISABLE = ("OPERA_TEST_DISABLE_CACHE", "TVM_TEST_DISABLE_CACHE")
"""Environment variables that switch caching off; the first that is set counts."""


@dataclass(frozen=True, eq=False)
class ParameterGroup:
    """Rows of values that vary together.

    Attributes:
        rows: One row for each run of a test: values, or a `pytest.param` with as many values.
        ids: As `pytest.fixture` takes them.
    """

    rows: tuple[object, ...]
    ids: Any


@dataclass(frozen=True, eq=False)
class ParameterColumn:
    """Marks the fixture of one column of a group."""

    group: ParameterGroup
    index: int


def kind_of_fixture(function: object) -> object:
    """What `parameter`, `parameters` or `fixture` noted on a fixture or its function; None for a fixture of another origin."""
    return getattr(function, MARK, None)


def parameter(*values: object, ids: Any = None, by_dict: Mapping[str, object] | None = None) -> Any:
    """A fixture with these values: a test that takes it runs once for each.

    Args:
        values: The values; `pytest.param` gives one of them marks or an id.
        ids: Names of the values in the report: a list, or a function of a value.
        by_dict: Names and values, in place of both other arguments.

    Raises:
        TypeError: there is no value, or *by_dict* comes with other arguments.
    """
    if by_dict is not None:
        if values or ids is not None:
            raise TypeError("parameter takes either values or by_dict; write the values into the dictionary")
        values, ids = tuple(by_dict.values()), list(by_dict)
    if not values:
        raise TypeError("parameter needs at least one value")
    return _column(ParameterGroup(tuple(each if _has_marks(each) else (each,) for each in values), ids), 0)


def parameters(*rows: Sequence[object], ids: Any = None) -> tuple[Any, ...]:
    """Several fixtures that vary together: a test that takes any of them runs once for each row.

    Args:
        rows: One tuple for each run, with one value for each fixture.
        ids: Names of the rows in the report: a list, or a function of a value.

    Returns:
        One fixture for each column.

    Raises:
        TypeError: there is no row, or the rows have different lengths.
    """
    if not rows:
        raise TypeError("parameters needs at least one row of values")
    widths = [len(values_of(row)) for row in rows]
    if len(set(widths)) > 1:
        odd = next(position for position, width in enumerate(widths) if width != widths[0])
        raise TypeError(f"row {odd} of parameters has {widths[odd]} values, and row 0 has {widths[0]}; give every row as many")
    group = ParameterGroup(rows, ids)
    return tuple(_column(group, index) for index in range(widths[0]))


def values_of(row: Any) -> tuple[object, ...]:
    """The values of a row: of a `pytest.param`, or of any other sequence.

    Raises:
        TypeError: *row* is no sequence of values.
    """
    values = row.values if _has_marks(row) else row
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{row!r} is not a row of parameters; write a tuple with one value for each fixture")
    return tuple(cast("Sequence[object]", values))


def part_of_row(row: Any, columns: Sequence[int]) -> object:
    """*row* with these columns only, and with its marks."""
    values = values_of(row)
    chosen = [values[index] for index in columns]
    return pytest.param(*chosen, marks=row.marks, id=row.id) if _has_marks(row) else tuple(chosen)


def _has_marks(row: object) -> bool:
    return hasattr(row, "marks") and hasattr(row, "values")


class ChosenValue:
    """The function of a fixture whose value `pytest.Metafunc.parametrize` chooses; in a class, it is no method of an instance."""

    def __init__(self, kind: object) -> None:
        self.__name__ = "value"
        self.__signature__ = inspect.Signature([inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
        setattr(self, MARK, kind)

    def __get__(self, instance: object, owner: type | None = None) -> ChosenValue:
        return self

    def __call__(self, request: pytest.FixtureRequest) -> Any:
        """The value of the running test."""
        return request.param


def _column(group: ParameterGroup, index: int) -> Any:
    # of the widest scope, so that fixtures of any scope may depend on it; the plug-in narrows it for each test
    return pytest.fixture(scope="session")(ChosenValue(ParameterColumn(group, index)))


def fixture(function: Callable[..., Any] | None = None, *, cache_return_value: bool = False) -> Any:
    """A `pytest.fixture` whose value can be computed once for all tests.

    Args:
        function: Computes the value; may take parameters and other fixtures.
        cache_return_value: Compute the value once for each distinct set of arguments; each test gets a deep copy.

    Raises:
        TypeError: a value that is to be cached would come from a generator or a coroutine, or depends on `request`.
    """
    if function is None:
        return functools.partial(fixture, cache_return_value=cache_return_value)
    return pytest.fixture(_cached(function) if cache_return_value else function)


class FixtureCache:
    """The values of one cached fixture, by its arguments.

    Attributes:
        name: Name of the fixture's function.
        values: The computed values.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[object, object] = {}


def _cached(function: Callable[..., Any]) -> Callable[..., Any]:
    name = getattr(function, "__name__", repr(function))
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"the cached fixture {name!r} yields or awaits; cache a function that returns its value")
    if "request" in inspect.signature(function).parameters:
        raise TypeError(f"the cached fixture {name!r} takes 'request', which differs for each test; take the parameters by name")
    cache = FixtureCache(name)

    @functools.wraps(function)
    def compute(*instance: Any, **arguments: Any) -> Any:
        __tracebackhide__ = True
        if is_disabled():
            return function(*instance, **arguments)
        key = (tuple(map(type, instance)), *(_key(name, each, arguments[each]) for each in sorted(arguments)))
        if key not in cache.values:
            cache.values[key] = function(*instance, **arguments)
        value = cache.values[key]
        try:
            _check_copyable(value, name)
            return copy.deepcopy(value)
        except Exception:
            del cache.values[key]
            raise

    setattr(compute, MARK, cache)
    compute.num_tests_use_this_fixture = [0]  # type: ignore[attr-defined]
    return compute


def is_disabled() -> bool:
    """Whether the environment switches caching off.

    Raises:
        pytest.UsageError: the variable is not an integer.
    """
    for variable in DISABLE:
        text = os.environ.get(variable)
        if text:
            try:
                return int(text) != 0
            except ValueError as error:
                raise pytest.UsageError(f"{variable}={text!r} is not an integer; set it to 0 or 1") from error
    return False


def _key(fixture_name: str, argument: str, value: object) -> object:
    """What tells *value* from every other: 1, True and 1.0 differ, and so do 0.0 and -0.0."""
    __tracebackhide__ = True
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
        return argument, value
    buffer = BytesIO()
    pickler = pickle.Pickler(buffer, protocol=4)
    pickler.fast = True  # equal values give equal bytes, whether or not they share parts
    try:
        pickler.dump(value)
    except Exception as error:
        kind = type(value).__qualname__
        raise TypeError(
            f"the cached fixture {fixture_name!r} cannot tell values of its argument {argument!r} apart: {kind} cannot be pickled ({error})"
        ) from None
    return argument, type(value), buffer.getvalue()


_BUILTIN = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, type(Ellipsis), types.FunctionType, type)


def _check_copyable(value: object, name: str, seen: tuple[int, ...] = ()) -> None:
    """Refuses values whose class does not say how it is copied, such as open files and connections.

    Raises:
        TypeError: *value*, or something in it, uses the default `object.__reduce__`.
    """
    __tracebackhide__ = True
    seen_now = (*seen, id(value))
    if isinstance(value, _BUILTIN) or id(value) in seen:
        return
    inner: Iterable[object]
    if isinstance(value, dict):
        inner = [each for pair in cast("dict[object, object]", value).items() for each in pair]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = cast("Iterable[object]", value)
    else:
        cls = value.__class__
        if not _says_how(cls):
            raise TypeError(
                f"the cached fixture {name!r} gives a {cls.__qualname__}, which does not say how it is copied;"
                " define __deepcopy__, __reduce__ or __getstate__, or do not cache it"
            )
        return
    for each in inner:
        _check_copyable(each, name, seen_now)


def _says_how(cls: type) -> bool:
    own_state = getattr(cls, "__getstate__", None) is not getattr(object, "__getstate__", None)
    return (
        hasattr(cls, "__deepcopy__")
        or cls in copyreg.dispatch_table
        or cls.__reduce__ is not object.__reduce__
        or cls.__reduce_ex__ is not object.__reduce_ex__
        or own_state
        or hasattr(cls, "__setstate__")
    )
