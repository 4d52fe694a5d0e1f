"""Turns tests of a suite into operator instances.

Tensors stay descriptions: their values are drawn when a model is made. Scalars, optionals and lists are drawn here, from the seed and the
test's id; the sides of a pair share what is drawn.
"""

from __future__ import annotations

import enum
import hashlib
import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from opera.extensions.opidiff.companion import companions, instance_from
from opera.extensions.opidiff.fields import class_of
from opera.extensions.opidiff.native import from_native
from opera.extensions.opidiff.nodes import (
    ConstNode,
    ConstructNode,
    ListNode,
    ListOfNodes,
    Literal,
    MappingOfNodes,
    Node,
    OptionalNode,
    ScalarNode,
    TensorNode,
    TestCase,
    TupleNode,
)
from opera.extensions.opidiff.signatures import Signature, of_class, of_forward, of_function
from opera.extensions.opidiff.suite import Suite
from opera.instance import Argument, Call, Instance, Kind, Tensor, Value
from opera.instance.values import Constraint, Number
from opera.instrumentation.tensors import DTYPE_BITS, written
from opera.models.forms import BESIDE, INPUTS, PACKED, STATE
from opera.models.operators import operators_of
from opera.trust import SOURCE, Trust, Unfit, is_foreign

_FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


class Scalars(enum.Enum):
    """How a `scalar` among the inputs reaches the operator."""

    TENSOR = "tensor"
    """As an input of shape (1,), as the format says for everything that is exported."""
    PYTHON = "python"
    """As a constant of the call."""


@dataclass(frozen=True)
class Classes:
    """Where classes that are not the library's come from.

    Attributes:
        trust: What the user lets run.
        companions: The paths that belong to the companion of an exported suite.
    """

    trust: Trust = field(default_factory=Trust)
    companions: frozenset[str] = frozenset()


def instance_of(test: TestCase, seed: int = 0, scalars: Scalars = Scalars.TENSOR, classes: Classes | None = None) -> Instance:
    """The instance of *test* for *seed*.

    Args:
        test: Test of a suite.
        seed: Seed of what is drawn here.
        scalars: How scalars are given.
        classes: Where classes that are not the library's come from.

    Raises:
        Unfit: such a class is not trusted, or not there.
        ValueError: a call of the companion is malformed.
    """
    classes = classes or Classes()
    drawing = _drawing(test, seed, scalars, classes)
    inputs = [drawing.value(node, called=True) for node in test.inputs]
    kwargs = [(name, drawing.value(node, called=True)) for name, node in test.kwargs]
    context: tuple[tuple[str, Value], ...] = ((PACKED, True),) if test.packed else ()
    if test.pair is not None:
        context = (*context, (INPUTS, test.pair))
    if isinstance(test.op, ConstructNode) and test.op.path in classes.companions:
        if len(test.op.args) != 1 or test.op.kwargs or kwargs:
            raise ValueError("the companion's module takes one argument, the call, and inputs by position")
        return instance_from(drawing.value(test.op.args[0]), inputs)
    foreign = [path for path in paths_of(test) if is_foreign(path) and path not in classes.companions]
    if foreign:
        context = (*context, (SOURCE, classes.trust.hash(foreign)))
    if test.other is not None:
        again = _drawing(test, seed, scalars, classes)
        for node in (*test.inputs, *(node for _, node in test.kwargs)):
            again.value(node, called=True)
        context = (*context, (STATE, again.value(test.other)))
    if isinstance(test.op, str):
        api = api_of(test.op, test.impl)
        signature = of_function(api)
        call = from_native(_arguments(inputs, kwargs, signature), signature.defaults)
        return Instance("pytorch", api, Kind.FUNCTION, (), call, context, signature.defaults)
    module = test.op
    init = _arguments(
        [drawing.value(node) for node in module.args], [(name, drawing.value(node)) for name, node in module.kwargs], of_class(module.path)
    )
    call = _arguments(inputs, kwargs, of_forward(module.path))
    return Instance("pytorch", module.path, Kind.MODULE, init, call, (("training", False), *context), of_class(module.path).defaults)


def classes_of(suite: Suite, trust: Trust | None = None) -> Classes:
    """The classes of *suite*, of which only the companion is known, and what *trust* adds."""
    paths = {path for test in suite.tests for path in paths_of(test)}
    return Classes(trust or Trust(), companions(paths, suite.folders))


def both_sides(side: Instance) -> Instance:
    """Side b of a pair with side a in one model, from *side*, the instance of side b."""
    return replace(side, context=tuple((BESIDE if name == STATE else name, value) for name, value in side.context))


def _drawing(test: TestCase, seed: int, scalars: Scalars, classes: Classes) -> _Drawing:
    return _Drawing(random.Random(hashlib.sha256(f"{seed}:{test.pair or test.id}".encode()).digest()), scalars, classes)


def api_of(operator: str, impl: str | None) -> str:
    """The function that a test calls: its implementation where that names one of torch's, else the operator."""
    if impl is not None and impl.startswith("torch."):
        return impl
    return f"torch.ops.{operator.replace('::', '.')}"


def has_scalars(test: TestCase) -> bool:
    """Whether a `scalar` is among the inputs, so that its form matters."""
    return any(_has_scalar(node) for node in (*test.inputs, *(node for _, node in test.kwargs)))


def paths_of(test: TestCase) -> set[str]:
    """The paths of all classes that a test constructs."""
    found: set[str] = set()
    pending: list[Node] = [*test.inputs, *(node for _, node in test.kwargs), *(() if isinstance(test.op, str) else (test.op,))]
    pending += [] if test.other is None else [test.other]
    while pending:
        node = pending.pop()
        if isinstance(node, ConstructNode):
            found.add(node.path)
        pending.extend(_children(node))
    return found


def objections(test: TestCase, classes: Classes) -> list[str]:
    """Why a worker would refuse to construct classes of a test, sorted."""
    found: list[str] = []
    for path in sorted(paths_of(test)):
        if path in classes.companions:
            try:
                instance_of(test, classes=classes)
            except (Unfit, ValueError) as error:
                found.append(str(error))
        elif is_foreign(path):
            try:
                classes.trust.located(path)
            except Unfit as error:
                found.append(str(error))
        elif (why := operators_of("pytorch").objection(path)) is not None:
            found.append(why)
    return found


def _arguments(positional: Iterable[Value], keywords: Iterable[tuple[str, Value]], signature: Signature) -> tuple[Argument, ...]:
    found = [Argument(signature.name(position), value) for position, value in enumerate(positional)]
    return (*found, *(Argument(name, value, keyword=True) for name, value in keywords))


class _Drawing:
    """Makes values of nodes."""

    def __init__(self, generator: random.Random, scalars: Scalars, classes: Classes) -> None:
        self._generator = generator
        self._scalars = scalars
        self._classes = classes

    def value(self, node: Node, *, called: bool = False) -> Value:
        """The value of *node*; *called* says that it is an input of the test, and no argument of a constructor."""
        match node:
            case TensorNode():
                return tensor_of(node)
            case ScalarNode():
                number = self._scalar(node)
                if called and self._scalars is Scalars.TENSOR:
                    return Tensor((1,), node.dtype, elements_of([number], node.dtype))
                return number
            case ConstNode():
                return _plain(node.value)
            case ListNode():
                return [self.value(node.elem, called=called) for _ in range(node.length)]
            case TupleNode():
                return tuple(self.value(each, called=called) for each in node.elems)
            case OptionalNode():
                return None if self._generator.random() < node.p_none else self.value(node.elem, called=called)
            case ListOfNodes():
                return [self.value(each) for each in node.items]
            case MappingOfNodes():
                return {name: self.value(each) for name, each in node.items}
            case ConstructNode():
                args = [(None, self.value(each)) for each in node.args]
                return Call(node.path, (*args, *((name, self.value(each)) for name, each in node.kwargs)))

    def _scalar(self, node: ScalarNode) -> Number:
        if node.value is not None:
            return node.value
        if node.low is None or node.high is None:
            return self._generator.random() < node.p
        if class_of(node.dtype) == "int":
            return self._generator.randint(int(node.low), int(node.high))
        return self._generator.uniform(node.low, node.high)


def tensor_of(node: TensorNode) -> Tensor:
    """The tensor that *node* describes."""
    data = None if node.values is None else elements_of(node.values, node.dtype)
    made = Tensor(node.shape, node.dtype, data, distribution=node.drawn)
    if data is None or node.dtype not in _FORMATS or written(data, node.dtype, made.size):
        return made
    return replace(made, constraint=constraint_of(made))


def constraint_of(tensor: Tensor) -> Constraint:
    """What a recorder says of the values of *tensor*, which are floats that no person seems to have written."""
    from opera.arrays import tensor_array
    from opera.instrumentation import numpy_structure

    found = cast("dict[str, Any]", numpy_structure.constraint(tensor_array(tensor)))
    structure = tuple(sorted(found.get("structure", ())))
    return Constraint(found["low"], found["high"], bool(found.get("nan")), bool(found.get("inf")), structure)


def elements_of(values: Iterable[Number], dtype: str) -> bytes:
    """The elements in the form of the instance format: little-endian, each in whole bytes."""
    kind = class_of(dtype)
    if kind == "bool":
        return bytes(bool(each) for each in values)
    if kind == "int":
        return b"".join(int(each).to_bytes(DTYPE_BITS[dtype] // 8, "little", signed=not dtype.startswith("u")) for each in values)
    numbers = [float(each) for each in values]
    if dtype in _FORMATS:
        return b"".join(_packed(_FORMATS[dtype], each) for each in numbers)
    import numpy as np

    from opera.arrays import numpy_dtype, to_bytes

    with np.errstate(all="ignore"):
        return to_bytes(np.asarray(numbers, np.complex128 if kind == "complex" else np.float64).astype(numpy_dtype(dtype)))


def _packed(form: str, number: float) -> bytes:
    try:
        return struct.pack(f"<{form}", number)
    except OverflowError:
        return struct.pack(f"<{form}", float("inf") if number > 0 else float("-inf"))


def _plain(value: Literal) -> Value:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _children(node: Node) -> Iterable[Node]:
    match node:
        case ListNode() | OptionalNode():
            return (node.elem,)
        case TupleNode():
            return node.elems
        case ListOfNodes():
            return node.items
        case MappingOfNodes():
            return [each for _, each in node.items]
        case ConstructNode():
            return (*node.args, *(each for _, each in node.kwargs))
        case _:
            return ()


def _has_scalar(node: Node) -> bool:
    """Whether *node* holds a `scalar` outside of constructors."""
    return isinstance(node, ScalarNode) or (not isinstance(node, ConstructNode) and any(map(_has_scalar, _children(node))))
