"""Checks the types of a program, and computes its results with numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from opera.arrays import Array, dtype_name, numpy_dtype
from opera.extensions.programs.operators import Operator, Registry
from opera.extensions.programs.program import MAIN, Block, Call, Constant, Expression, Function, If, Invoke, Program, Projection, Tuple
from opera.extensions.programs.symbols import check_symbols
from opera.extensions.programs.types import Attributes, IllTyped, TensorType, TupleType, Type, tensors_in
from opera.extensions.programs.values import ANY, ProgramValue, to_array, type_of, within
from opera.extensions.stablehlo.bounded_work import Work
from opera.instrumentation.tensors import DTYPE_BITS

MOST_VISIBLE = 10_000_000
"""Variables that the blocks of a function see from outside, together."""
_CONDITION = TensorType((), "bool")
NO_CHANGES: Mapping[str, str] = {}
Rounding = Callable[[Array, Operator | None, Array, int], Array]
"""Replaces a tensor. Gets the tensor, its operator (None for a literal), the largest magnitude among the operator's arguments, and the
number of the expression. An operator that works element by element has a magnitude for each element."""


Observe = Callable[[Operator, Sequence[Array]], None]
"""Is told of each call: its operator and its arguments."""


def check(program: Program, registry: Registry) -> None:
    """Checks that every binding has the type that it declares, and every variable is bound before it is used, once.

    Raises:
        IllTyped: it does not; the message names the function and the variable.
    """
    if not program.functions or program.main.name != MAIN:
        raise IllTyped(f"the last function of a program is {MAIN!r}")
    known: dict[str, Function] = {}
    for function in program.functions:
        if function.name in known:
            raise IllTyped(f"function {function.name!r} is there twice")
        _Checker(function, known, registry).check()
        known[function.name] = function


class _Checker:
    def __init__(self, function: Function, known: Mapping[str, Function], registry: Registry) -> None:
        self._function = function
        self._known = known
        self._registry = registry
        self._taken: set[str] = set()
        self._work = Work(MOST_VISIBLE, "variables that blocks see from outside", IllTyped)

    def check(self) -> None:
        visible: dict[str, Type] = {}
        check_symbols(self._function)
        for parameter in self._function.parameters:
            self._bind(parameter.name, parameter.type, visible)
        found = self._block(self._function.body, visible)
        if found != self._function.result:
            raise IllTyped(f"function {self._function.name!r} gives {found}, not {self._function.result}")

    def _bind(self, name: str, kind: Type, visible: dict[str, Type]) -> None:
        if name in self._taken:
            raise IllTyped(f"{self._at(name)} is bound twice")
        for each in tensors_in(kind):
            if each.dtype not in DTYPE_BITS or each.dtype == "string":
                raise IllTyped(f"{self._at(name)}: unknown dtype {each.dtype[:40]!r}")
        self._taken.add(name)
        visible[name] = kind

    def _block(self, block: Block, outer: Mapping[str, Type]) -> Type:
        self._work.spend(len(outer), function=self._function.name)
        visible = dict(outer)
        for binding in block.bindings:
            if block.dataflow and isinstance(binding.value, (If, Invoke)):
                raise IllTyped(f"{self._at(binding.name)}: a dataflow block has no 'if' and calls no function")
            try:
                found = self._expression(binding.value, visible)
            except IllTyped as error:
                raise IllTyped(f"{self._at(binding.name)}: {error}") from error
            if found != binding.type:
                raise IllTyped(f"{self._at(binding.name)} is {found}, and declares {binding.type}")
            self._bind(binding.name, binding.type, visible)
        return self._variable(block.result, visible)

    def _at(self, name: str) -> str:
        return f"{name!r} in function {self._function.name!r}"

    def _variable(self, name: str, visible: Mapping[str, Type]) -> Type:
        if name not in visible:
            raise IllTyped(f"there is no variable {name[:40]!r}")
        return visible[name]

    def _expression(self, value: Expression, visible: Mapping[str, Type]) -> Type:
        match value:
            case Call(operator, arguments, attributes):
                if operator not in self._registry:
                    raise IllTyped(f"there is no operator {operator[:40]!r}")
                return self._registry.get(operator).infer([self._variable(each, visible) for each in arguments], attributes)
            case Constant(literal):
                return TensorType(literal.shape, literal.dtype)
            case Tuple(parts):
                return TupleType(tuple(self._variable(each, visible) for each in parts))
            case Projection(source, index):
                whole = self._variable(source, visible)
                if not isinstance(whole, TupleType) or not 0 <= index < len(whole.fields):
                    raise IllTyped(f"part {index} of {whole}")
                return whole.fields[index]
            case If(condition, then, otherwise):
                if self._variable(condition, visible) != _CONDITION:
                    raise IllTyped(f"a condition is {_CONDITION}, not {self._variable(condition, visible)}")
                one, other = self._block(then, visible), self._block(otherwise, visible)
                if one != other:
                    raise IllTyped(f"the branches give {one} and {other}")
                return one
            case Invoke(name, arguments):
                if name not in self._known:
                    raise IllTyped(f"no function {name[:40]!r} stands before this one")
                function = self._known[name]
                given = tuple(self._variable(each, visible) for each in arguments)
                wanted = tuple(each.type for each in function.parameters)
                if given != wanted:
                    raise IllTyped(f"function {name!r} takes ({', '.join(map(str, wanted))}), not ({', '.join(map(str, given))})")
                return function.result


class NotDefined(ValueError):
    """An operator is not defined on its arguments. The message names it."""


class TooMuchWork(ValueError):
    """A program asks for more work than allowed. The message says where."""


MOST_STEPS = 50_000
"""Expressions that one evaluation of a program may come to: a function counts each time that it is called."""
MOST_NESTED = 200
"""Functions and branches that may wait for each other."""
MOST_WORK = 2e10
"""Floating-point operations of one evaluation, as `Operator.cost` estimates them."""


def evaluate(
    program: Program,
    inputs: Sequence[ProgramValue],
    registry: Registry,
    dtypes: Mapping[str, str] = NO_CHANGES,
    rounding: Rounding | None = None,
    *,
    needs: bool = True,
    observe: Observe | None = None,
) -> ProgramValue:
    """The result of `main`, computed operator by operator.

    Args:
        program: A program that `check` accepts.
        inputs: A value for each parameter, of its type or of the type in its place.
        registry: What operators mean.
        dtypes: The dtype to compute in, by that of the program, for those to change: float32 to float64, for example.
        rounding: Gives another value in place of each tensor that an operator gives.
        needs: Whether arguments have to be what an operator needs; without, only what numpy raises is undefined.
        observe: Is told of each call before it is computed.

    Raises:
        NotDefined: an operator is not defined on its arguments: an index or a divisor is not what it needs to be.
        TooMuchWork: it takes more steps, or more floating-point operations, than allowed.
        ValueError: the inputs are of other types than the parameters.
    """
    wanted = [each.type for each in program.main.parameters]
    with np.errstate(all="ignore"):
        given = [_converted(each, dtypes) for each in inputs]
        if [type_of(each) for each in given] != [_type_in(each, dtypes) for each in wanted]:
            raise ValueError(f"the inputs are ({', '.join(str(type_of(each)) for each in inputs)}), not ({', '.join(map(str, wanted))})")
        return Evaluation(program, registry, dtypes, rounding, needs=needs, observe=observe).applied(program.main, given)


def _type_in(kind: Type, dtypes: Mapping[str, str]) -> Type:
    """*kind* with the dtypes that stand in place of its own."""
    if isinstance(kind, TupleType):
        return TupleType(tuple(_type_in(each, dtypes) for each in kind.fields))
    return kind._replace(dtype=dtypes.get(kind.dtype, kind.dtype))


def _converted(value: ProgramValue, dtypes: Mapping[str, str]) -> ProgramValue:
    if isinstance(value, tuple):
        return tuple(_converted(each, dtypes) for each in value)
    name = dtype_name(value.dtype)
    return value.astype(numpy_dtype(dtypes[name])) if name in dtypes else value


class Evaluation:
    """Computes the functions of one program."""

    def __init__(
        self,
        program: Program,
        registry: Registry,
        dtypes: Mapping[str, str] = NO_CHANGES,
        rounding: Rounding | None = None,
        *,
        needs: bool = True,
        observe: Observe | None = None,
    ) -> None:
        self._observe = observe
        self._functions = {each.name: each for each in program.functions}
        self._registry = registry
        self._dtypes = dtypes
        self._rounding = rounding
        self._needs = needs
        self._calls = 0
        self._waiting: list[str] = []
        self._depth = 0
        self._declared: Type = _CONDITION
        self._begin()

    def _begin(self) -> None:
        self.steps = Work(MOST_STEPS, "expressions to evaluate; functions call each other too often", TooMuchWork)
        self.work = Work(MOST_WORK, "floating-point operations to evaluate", TooMuchWork)

    def applied(self, function: Function, inputs: Sequence[ProgramValue]) -> ProgramValue:
        """The result of *function*; raises `TooMuchWork` where it asks for more than is allowed, with all functions that it calls."""
        if not self._waiting:
            self._begin()
        self._waiting.append(function.name)
        try:
            return self._block(function.body, {each.name: value for each, value in zip(function.parameters, inputs, strict=True)})
        finally:
            self._waiting.pop()

    def _block(self, body: Block, outer: Mapping[str, ProgramValue]) -> ProgramValue:
        if self._depth == MOST_NESTED:
            place = f"function {self._waiting[-1]!r}: " if self._waiting else ""
            raise TooMuchWork(f"{place}more than {MOST_NESTED} functions and branches wait for each other")
        self._depth += 1
        try:
            return self._computed(body, outer)
        finally:
            self._depth -= 1

    def _computed(self, body: Block, outer: Mapping[str, ProgramValue]) -> ProgramValue:
        values = dict(outer)
        for binding in body.bindings:
            self._declared = binding.type
            if self._waiting:
                self.steps.spend(1, binding.name, self._waiting[-1])
            values[binding.name] = self.expression(binding.value, values)
        return values[body.result]

    def expression(self, value: Expression, values: Mapping[str, ProgramValue]) -> ProgramValue:
        """The value of one expression, from those of the variables that it reads; raises `NotDefined`."""
        match value:
            case Call(operator, arguments, attributes):
                arrays = [each for name in arguments if not isinstance(each := values[name], tuple)]
                self._calls += 1
                known = self._registry.get(operator)
                return self._rounded(self._call(known, arrays, attributes), known, arrays)
            case Constant(literal):
                self._calls += 1
                return self._rounded(_converted(to_array(literal), self._dtypes), None, ())
            case Tuple(parts):
                return tuple(values[each] for each in parts)
            case Projection(source, index):
                whole = values[source]
                assert isinstance(whole, tuple)
                return whole[index]
            case If(condition, then, otherwise):
                return self._block(then if np.any(cast("Array", values[condition])) else otherwise, values)
            case Invoke(name, arguments):
                return self.applied(self._functions[name], [values[each] for each in arguments])

    def _rounded(self, value: ProgramValue, operator: Operator | None, arguments: Sequence[Array]) -> ProgramValue:
        if self._rounding is None:
            return value
        parts: Sequence[ProgramValue] = value if isinstance(value, tuple) else (value,)
        rounded = tuple(
            each if isinstance(each, tuple) else self._rounding(each, operator, _largest(arguments, each.shape), self._calls)
            for each in parts
        )
        return rounded if isinstance(value, tuple) else rounded[0]

    def _call(self, operator: Operator, arrays: Sequence[Array], attributes: Attributes) -> ProgramValue:
        kinds = [TensorType(each.shape, dtype_name(each.dtype)) for each in arrays]
        for index, array in enumerate(arrays):
            need = operator.need(index, kinds, attributes, finite=False)
            if self._needs and need is not ANY and not within(array, need):
                raise NotDefined(f"operator {operator.name!r} is not defined here: argument {index} is not {need}")
        if self._observe is not None:
            self._observe(operator, arrays)
        if self._waiting:
            self.work.spend(operator.cost(kinds, self._declared, attributes), operator.name, self._waiting[-1])
        target = attributes.get("dtype")
        if isinstance(target, str) and target in self._dtypes:
            attributes = {**attributes, "dtype": self._dtypes[target]}
        try:
            return operator.compute(arrays, attributes)
        except Exception as error:  # parameters that no type depends on are not checked before
            raise NotDefined(f"operator {operator.name!r} is not defined here: {type(error).__name__}: {error}") from error


def _largest(arguments: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """The largest magnitude among floating-point *arguments*: for each element of *shape* where they fit it, else one for all."""
    sizes = [np.abs(each) for each in arguments if each.dtype.kind in "fc"]
    try:
        if sizes and np.broadcast_shapes(*(each.shape for each in sizes), shape) == shape:
            return functools.reduce(np.maximum, sizes)
    except ValueError:  # shapes that do not fit each other
        pass
    return np.asarray(max((float(np.max(each, initial=0.0)) for each in sizes), default=0.0))
