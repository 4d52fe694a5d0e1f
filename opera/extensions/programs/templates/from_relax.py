"""Reads a module of Relax as a program: the inverse of `opera.extensions.programs.templates.relax`."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opera.arrays import Array
from opera.extensions.programs.languages import registry
from opera.extensions.programs.operators import DTYPES
from opera.extensions.programs.program import MAIN, Block, Function, If, Invoke, Parameter, Program, Projection, Tuple, canonical
from opera.extensions.programs.reading import Builder, Opaque, Reading, axis_from, integral, write_readings
from opera.extensions.programs.templates.relax_operators import NEURAL, PLAIN, REDUCED
from opera.extensions.programs.types import Attribute, TensorType, TupleType, Type, tensor

tvm: Any = importlib.import_module("tvm")
relax: Any = importlib.import_module("tvm.relax")
_LITERAL: Any = getattr(tvm.ir, "GenericConst", None) or relax.Constant
"""The class of literals, which TVM renamed."""
_DEEPEST = 32


def program_from(module: Any) -> Reading:
    """The program of *module*, which has a function `main`.

    Bindings of other operators, or of values whose type is open, stay opaque: their values become parameters of the program, if their
    types are known, and what depends on others stays opaque as well.

    Raises:
        Opaque: a parameter or the result of `main` is open or no tensor, functions call each other in a circle, or there is no `main`.
    """
    reader = _Module(module)
    main = next((each for each in module.get_global_vars() if each.name_hint == MAIN), None)
    if main is None:
        raise Opaque(f"the module has no function {MAIN!r}")
    function = reader.function(main, main=True)
    program = Program((*(each for each in reader.read.values() if each.name != MAIN), function))
    return Reading(canonical(program), tuple(dict.fromkeys(reader.opaque)), tuple(reader.values))


class _Module:
    """All functions.

    Attributes:
        read: Those that have been read, by name.
        opaque: What `main` could not hold.
        values: The names of the parameters of the program.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self._begun: set[str] = set()
        self.read: dict[str, Function] = {}
        self.opaque: list[str] = []
        self.values: list[str] = []

    def function(self, variable: Any, *, main: bool = False) -> Function:
        """The function that a global variable names."""
        name = str(variable.name_hint)
        if name in self.read:
            return self.read[name]
        if name in self._begun or len(self._begun) > 1_000:
            raise Opaque(f"function {name[:80]!r} calls itself")
        self._begun.add(name)
        source = self._module[variable]
        if not isinstance(source, relax.Function):
            raise Opaque(f"function {name[:80]!r} is not written in Relax")
        scope = _Scope(self, Builder(registry()), {}, 0, main=main)
        for each in source.params:
            scope.enter(each)
        result = scope.body(source.body)
        kind = scope.builder.types[result]
        found = Function(name, tuple(scope.parameters), scope.builder.block(result, main=main), kind)
        self.read[name] = found
        return found


class _Scope:
    """One function or branch.

    Attributes:
        builder: What has been read.
        parameters: Those of a function; in `main`, opaque values are among them.
    """

    def __init__(self, module: _Module, builder: Builder, known: dict[Any, str], depth: int, *, main: bool = False) -> None:
        if depth > _DEEPEST:
            raise Opaque(f"nested deeper than {_DEEPEST} levels")
        self._module = module
        self.builder = builder
        self.parameters: list[Parameter] = []
        self._known = known
        self._literals: list[tuple[Any, str]] = []
        self._depth = depth
        self._main = main

    def enter(self, variable: Any) -> None:
        """Makes a variable of the module a parameter."""
        self.parameters.append(self.builder.parameter(_type(variable.ty)))
        self._known[variable] = self.parameters[-1].name
        if self._main:
            self._module.values.append(str(variable.name))

    def body(self, body: Any) -> str:
        """Reads a function's body; its result."""
        if not isinstance(body, relax.SeqExpr):
            return self._value(body)
        for block in body.blocks:
            for binding in block.bindings:
                self._binding(binding)
        return self._value(body.body)

    def _binding(self, binding: Any) -> None:
        mark = self.builder.mark()
        try:
            if not isinstance(binding, relax.VarBinding):
                raise Opaque(type(binding).__name__)
            self._known[binding.var] = self._value(binding.value)
        except Opaque as error:
            if not self._main:
                raise
            self.builder.forget(mark)
            self._literals = [pair for pair in self._literals if any(pair[1] == each.name for each in self.builder.bindings)]
            operator: Any = getattr(getattr(binding, "value", None), "op", None)
            named = isinstance(operator, tvm.ir.Op)
            self._module.opaque.append(f"{operator.name}: {error}" if named else str(error))
            try:
                self.enter(binding.var)
            except Opaque:  # nothing that depends on it can be read
                self._known.pop(binding.var, None)

    def _value(self, value: Any) -> str:
        if isinstance(value, relax.Var):
            if value not in self._known:
                raise Opaque("it depends on an opaque value")
            return self._known[value]
        if isinstance(value, _LITERAL):
            if str(value.ty.dtype) not in DTYPES:
                raise Opaque(f"no operator takes {value.ty.dtype}")
            return self._literal(value)
        if isinstance(value, relax.Tuple):
            return self._tuple([self._value(each) for each in value.fields])
        if isinstance(value, relax.TupleGetItem):
            source = self._value(value.tuple_value)
            kind = self.builder.types[source]
            assert isinstance(kind, TupleType)
            return self.builder.bind(Projection(source, int(value.index)), kind.fields[int(value.index)])
        if isinstance(value, relax.If):
            return self._conditional(value)
        if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar):
            return self._invoked(value)
        if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op):
            return self._call(str(value.op.name), value)
        raise Opaque(f"a value of kind {type(value).__name__}")

    def _literal(self, value: Any) -> str:
        """The variable of a literal, the same wherever the same literal is used."""
        known = next((name for each, name in self._literals if value.same_as(each)), None)
        if known is None:
            known = self.builder.constant(_elements(value))
            self._literals.append((value, known))
        return known

    def _tuple(self, names: Sequence[str]) -> str:
        return self.builder.bind(Tuple(tuple(names)), TupleType(tuple(self.builder.types[each] for each in names)))

    def _conditional(self, value: Any) -> str:
        (then, kind), (otherwise, other) = (self._branch(each) for each in (value.true_branch, value.false_branch))
        if kind != other:
            raise Opaque(f"its branches give {kind} and {other}")
        return self.builder.bind(If(self._value(value.cond), then, otherwise), kind)

    def _branch(self, body: Any) -> tuple[Block, Type]:
        inner = _Scope(self._module, self.builder.inner(), dict(self._known), self._depth + 1)
        result = inner.body(body)
        return inner.builder.block(result), inner.builder.types[result]

    def _invoked(self, value: Any) -> str:
        function = self._module.function(value.op)
        arguments = [self._value(each) for each in value.args]
        if [self.builder.types[each] for each in arguments] != [each.type for each in function.parameters]:
            raise Opaque(f"function {function.name[:80]!r} is called with other types")
        return self.builder.bind(Invoke(function.name, tuple(arguments)), function.result)

    def _call(self, name: str, value: Any) -> str:
        if name not in _SPELLINGS:
            raise Opaque("no operator of programs is written so")
        kind = _type(value.ty)
        try:
            found = _SPELLINGS[name](_Call(self, value))
        except (TypeError, ValueError, AttributeError, IndexError) as error:
            raise error if isinstance(error, Opaque) else Opaque(f"parameters that are not constant ({error})") from error
        if self.builder.types[found] != kind:
            raise Opaque(f"it is {kind} here, and {self.builder.types[found]} in a program")
        return found

    def value(self, value: Any) -> str:
        """The variable of an expression."""
        return self._value(value)


class _Call:
    """A call, as the spellings of operators see it."""

    def __init__(self, scope: _Scope, call: Any) -> None:
        self._scope = scope
        self.call = call
        self.attributes = call.attrs

    def kind(self, place: int = 0) -> TensorType:
        """The type of an argument."""
        return tensor(self._scope.builder.types[self._scope.value(self.call.args[place])])

    def bound(self, operator: str, **attributes: Attribute) -> str:
        """Binds a call of the registry's operator with all arguments."""
        return self._scope.builder.call(operator, [self._scope.value(each) for each in self.call.args], attributes)

    def first(self, operator: str, **attributes: Attribute) -> str:
        """Binds a call with the first argument, because the others are parameters."""
        return self._scope.builder.call(operator, [self._scope.value(self.call.args[0])], attributes)

    def several(self, operator: str, **attributes: Attribute) -> str:
        """Binds a call with the parts of the only argument."""
        return self._scope.builder.call(operator, [self._scope.value(each) for each in self.call.args[0].fields], attributes)

    def chain(self, operator: str, axes: Sequence[int]) -> str:
        """Binds one call for each axis."""
        found = self._scope.value(self.call.args[0])
        for axis in axes:
            found = self._scope.builder.call(operator, [found], {"axis": axis})
        return found

    def axis(self) -> int:
        """The attribute `axis`, counted from the front."""
        if self.attributes.axis is None:
            raise Opaque("it has no axis")
        return axis_from(int(self.attributes.axis), len(self.kind().shape))

    def only(self, **allowed: object) -> None:
        """Raises `Opaque` for another value of an attribute."""
        for name, value in allowed.items():
            found = getattr(self.attributes, name)
            if found != value:
                raise Opaque(f"{name} is {str(found)[:40]!r}")


def _elements(literal: Any) -> Array:
    """The elements of a literal."""
    return (literal.value if hasattr(literal, "value") else literal.data).numpy()


def _integers(values: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in values)


def _reduced(operator: str) -> Callable[[_Call], str]:
    def read(call: _Call) -> str:
        rank = len(call.kind().shape)
        axes = range(rank) if call.attributes.axis is None else (axis_from(int(each), rank) for each in call.attributes.axis)
        found = tuple(sorted(axes))
        if not found:
            raise Opaque("it reduces a scalar")
        return call.bound(operator, axes=found, keepdims=bool(call.attributes.keepdims))

    return read


def _plain(operator: str) -> Callable[[_Call], str]:
    return lambda call: call.bound(operator)


def _along(operator: str) -> Callable[[_Call], str]:
    return lambda call: call.bound(operator, axis=call.axis())


def _accumulated(operator: str) -> Callable[[_Call], str]:
    def read(call: _Call) -> str:
        call.only(dtype=None, exclusive=False)
        return call.bound(operator, axis=call.axis())

    return read


def _located(operator: str) -> Callable[[_Call], str]:
    return lambda call: call.bound(operator, axis=call.axis(), keepdims=bool(call.attributes.keepdims))


def _normalised(operator: str) -> Callable[[_Call], str]:
    def read(call: _Call) -> str:
        rank = len(call.kind().shape)
        axes = [axis_from(int(each), rank) for each in call.attributes.axes]
        if axes != list(range(min(axes, default=0), rank)):
            raise Opaque("its axes are not the last ones")
        if operator == "layer_norm":
            call.only(center=True, scale=True)
        return call.bound(operator, axis=axes[0], epsilon=float(call.attributes.epsilon))

    return read


def _slid(call: _Call, kernel: Sequence[int], spatial: int) -> dict[str, Attribute]:
    padding = _integers(call.attributes.padding)
    if padding[:spatial] != padding[spatial:]:
        raise Opaque("its ends are padded differently")
    distances = _integers(call.attributes.dilation)
    return {"kernel": tuple(kernel), "strides": _integers(call.attributes.strides), "padding": padding[:spatial], "dilations": distances}


_LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW")}


def _convolved(spatial: int) -> Callable[[_Call], str]:
    data, weight = _LAYOUTS[spatial]

    def read(call: _Call) -> str:
        call.only(data_layout=data, kernel_layout=weight, out_layout=data)
        window = _slid(call, call.kind(1).shape[2:], spatial)
        return call.bound(f"conv{spatial}d", **window, groups=int(call.attributes.groups))

    return read


def _pooled(operator: str, spatial: int) -> Callable[[_Call], str]:
    layout, _ = _LAYOUTS[spatial]

    def read(call: _Call) -> str:
        call.only(ceil_mode=False, layout=layout, out_layout=layout)
        window = _slid(call, _integers(call.attributes.pool_size), spatial)
        if operator == "avg_pool" and any(_integers(call.attributes.padding)):
            call.only(count_include_pad=True)
        return call.bound(f"{operator}{spatial}d", **window)

    return read


def _padded(call: _Call) -> str:
    call.only(pad_mode="constant")
    widths = _integers(call.attributes.pad_width)
    return call.bound("pad", before=widths[::2], after=widths[1::2], value=integral(float(call.attributes.pad_value)))


def _divided(call: _Call) -> str:
    axis, given = call.axis(), call.attributes.indices_or_sections
    size = call.kind().shape[axis]
    if isinstance(given, (int, tvm.tirx.IntImm)):
        part = -(-size // int(given))
        sizes = tuple(min(part, max(0, size - index * part)) for index in range(int(given)))
    else:
        cuts = (0, *_integers(given), size)
        sizes = tuple(high - low for low, high in itertools.pairwise(cuts))
    return call.bound("split", axis=axis, sizes=sizes)


def _sliced(call: _Call) -> str:
    shape = call.kind().shape
    axes, starts, ends = (_integers(each.value for each in part.fields) for part in call.call.args[1:4])
    steps = _integers(each.value for each in call.call.args[4].fields) if len(call.call.args) > 4 else (1,) * len(axes)
    begin, end, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for place, low, high, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_from(place, len(shape))
        if step < 1:
            raise Opaque("it goes backwards")
        begin[axis], end[axis], strides[axis] = slice(low, high, step).indices(shape[axis])
        end[axis] = max(begin[axis], end[axis])
    return call.first("strided_slice", begin=tuple(begin), end=tuple(end), strides=tuple(strides))


def _largest(call: _Call) -> str:
    call.only(ret_type="both", dtype="int64")
    return call.bound("topk", axis=call.axis(), k=int(call.attributes.k), largest=bool(call.attributes.largest))


def _transposed(call: _Call) -> str:
    rank = len(call.kind().shape)
    axes = range(rank - 1, -1, -1) if call.attributes.axes is None else (axis_from(int(each), rank) for each in call.attributes.axes)
    return call.bound("permute_dims", axes=tuple(axes))


def _squeezed(call: _Call) -> str:
    shape = call.kind().shape
    given = call.attributes.axis
    axes = [index for index, size in enumerate(shape) if size == 1] if given is None else [axis_from(int(e), len(shape)) for e in given]
    return call.chain("squeeze", sorted(axes, reverse=True))


def _unsqueezed(call: _Call) -> str:
    rank = len(call.kind().shape) + len(call.attributes.axis)
    return call.chain("expand_dims", sorted(axis_from(int(each), rank) for each in call.attributes.axis))


def _converted(call: _Call) -> str:
    dtype = str(call.attributes.dtype)
    if dtype not in DTYPES:
        raise Opaque(f"no operator takes {dtype}")
    if call.kind().dtype == dtype:  # as `argmax` is printed, whose dtype Relax leaves to a setting
        return call.chain("astype", ())
    return call.bound("astype", dtype=dtype)


_SPELLINGS: Mapping[str, Callable[[_Call], str]] = {
    **{f"relax.{name}": _plain(name) for name in PLAIN},
    **{f"relax.nn.{name}": _plain(name) for name in NEURAL},
    **{f"relax.{name}": _reduced(name) for name in REDUCED},
    **{f"relax.{name}": _along(name) for name in ("gather_elements", "flip", "take")},
    **{f"relax.nn.{name}": _along(name) for name in ("softmax", "log_softmax")},
    **{f"relax.{name}": _accumulated(name) for name in ("cumsum", "cumprod")},
    **{f"relax.{name}": _located(name) for name in ("argmax", "argmin")},
    **{f"relax.nn.{name}": _normalised(name) for name in ("layer_norm", "rms_norm")},
    **{f"relax.nn.conv{spatial}d": _convolved(spatial) for spatial in (1, 2)},
    **{f"relax.nn.{name}{spatial}d": _pooled(name, spatial) for name in ("max_pool", "avg_pool") for spatial in (1, 2)},
    **{f"relax.{name}": (lambda each: lambda call: call.first(each, k=int(call.call.args[1].value)))(name) for name in ("triu", "tril")},
    "relax.nn.leakyrelu": lambda call: call.bound("leaky_relu", alpha=float(call.attributes.alpha)),
    "relax.clip": lambda call: call.first(
        "clip", low=integral(float(call.call.args[1].value)), high=integral(float(call.call.args[2].value))
    ),
    "relax.astype": _converted,
    "relax.reshape": lambda call: call.first("reshape", shape=_integers(call.call.args[1].values)),
    "relax.broadcast_to": lambda call: call.first("broadcast_to", shape=_integers(call.call.args[1].values)),
    "relax.tile": lambda call: call.bound("tile", repeats=_integers(call.attributes.repeats)),
    "relax.permute_dims": _transposed,
    "relax.expand_dims": _unsqueezed,
    "relax.squeeze": _squeezed,
    "relax.concat": lambda call: call.several("concat", axis=axis_from(int(call.attributes.axis or 0), len(call.call.ty.shape))),
    "relax.split": _divided,
    "relax.strided_slice": _sliced,
    "relax.nn.pad": _padded,
    "relax.sort": lambda call: call.bound("sort", axis=call.axis(), descending=bool(call.attributes.descending)),
    "relax.topk": _largest,
}


def _type(kind: Any) -> Type:
    """The type of a value; raises `Opaque` for one that is open, or no tensor's."""
    if isinstance(kind, tvm.ir.TupleType):
        return TupleType(tuple(_type(each) for each in kind.fields))
    if not isinstance(kind, relax.TensorType) or kind.shape is None or not isinstance(kind.shape, relax.ShapeExpr):
        raise Opaque("its type is open, or no tensor's")
    if not all(isinstance(each, tvm.tirx.IntImm) for each in kind.shape.values):
        raise Opaque("its shape is open")
    return TensorType(_integers(kind.shape.values), str(kind.dtype))


if __name__ == "__main__":
    write_readings(lambda name: program_from(tvm.ir.load_json(Path(name).read_text(encoding="utf-8"))), sys.argv[2:])
