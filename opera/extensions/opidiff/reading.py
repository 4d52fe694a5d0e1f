"""Turns trees into nodes, and says what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from collections.abc import Mapping as ReadOnly
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from opera.console import one_line
from opera.extensions.opidiff.fields import Fields, Report, Wrong, class_of, limits_of, shown
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
    TupleNode,
)
from opera.extensions.opidiff.problems import nearest, one_of
from opera.extensions.opidiff.table import INITS, NODES, Form
from opera.extensions.opidiff.tree import MOST_DEPTH, MOST_WORK, Budget, Items, Mapping, Place, Scalar, Tree
from opera.instance import Distribution
from opera.instance.values import Number

MOST_ELEMENTS = 2**28
"""Most elements of a tensor, as in recordings."""
MOST_VALUES = 100_000
"""That one test may make of its lists."""
_UNUSED = {
    "normal": ("low", "high", "p"),
    "uniform": ("mean", "std", "p"),
    "randint": ("mean", "std", "p"),
    "bernoulli": ("low", "high", "mean", "std"),
    "zeros": ("low", "high", "mean", "std", "p"),
    "ones": ("low", "high", "mean", "std", "p"),
}
_DEFAULT_RANGE = {"uniform": (0, 1), "randint": (0, 9)}


class Inserted(Scalar):
    """A scalar that a template variable has put in its place: a literal where a node is expected."""

    __slots__ = ()


class InsertedItems(Items):
    """The same for a list."""

    __slots__ = ()


class Reader(Fields):
    """Reads nodes. Each method reports what is wrong, and raises `Wrong` where nothing can be made of its part.

    Args:
        dims: Named sizes.
        presets: The trees of the presets.
        report: Takes each problem.
        budget: What is left of the limits.
    """

    def __init__(self, dims: ReadOnly[str, int], presets: ReadOnly[str, Tree], report: Report, budget: Budget) -> None:
        super().__init__(dims, report)
        self._presets = presets
        self._budget = budget
        self._known: dict[str, Node | None] = {}
        self._chain: list[str] = []
        self._depth = 0
        self._sizes = Sizes()

    # Nodes.

    def node(self, tree: Tree, where: str) -> Node:
        """The node that *tree* describes."""
        if isinstance(tree, (Inserted, InsertedItems)):
            return ConstNode(self.literal(tree, where))
        if not isinstance(tree, Mapping):
            text = tree.text if isinstance(tree, Scalar) else "[...]"
            raise self.fail(tree, where, f"a literal where a node is expected; write {{type: const, value: {one_line(text, 40)}}}")
        form = self._form(tree, where)
        if form is None:
            return self._reference(tree, where)
        if not self.check_fields(tree, form, where):
            self._values(tree, where)
            raise Wrong
        with self._deeper(tree, where):
            return self._bounded(_READERS[form.name](self, tree, where), tree, where)

    @contextmanager
    def _deeper(self, tree: Tree, where: str) -> Generator[None]:
        """Counts the levels of nodes, those of presets included."""
        if self._depth >= MOST_DEPTH:
            raise self.fail(tree, where, f"nested deeper than {MOST_DEPTH} nodes, presets resolved")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def _bounded(self, node: Node, tree: Tree, where: str) -> Node:
        size = self._sizes.of(node)
        if size.values > MOST_VALUES:
            raise self.fail(tree, where, f"the node makes {size.values:,} values; at most {MOST_VALUES:,} are possible")
        if size.elements > MOST_ELEMENTS:
            raise self.fail(tree, where, f"tensors of {size.elements:,} elements; at most {MOST_ELEMENTS:,} are possible")
        return node

    def check_size(self, nodes: Iterable[Node], tree: Tree | Place) -> None:
        """Reports a test whose nodes together are too large."""
        sizes = [self._sizes.of(each) for each in nodes]
        values, elements = sum(each.values for each in sizes), sum(each.elements for each in sizes)
        if values > MOST_VALUES or elements > MOST_ELEMENTS:
            what = (
                f"{elements:,} elements; at most {MOST_ELEMENTS:,}"
                if elements > MOST_ELEMENTS
                else f"{values:,} values; at most {MOST_VALUES:,}"
            )
            raise self.fail(tree, "", f"the test has {what} are possible")
        self.spend(sum(each.steps for each in sizes), tree, "the values that its tests make")

    def spend(self, steps: int, tree: Tree | Place, what: str) -> None:
        """Takes *steps* of work; reports an error where they are not left."""
        if not self._budget.spend(steps):
            raise self.fail(tree, "", f"the suite takes more than {MOST_WORK:,} steps, with {what}; split it")

    def _form(self, tree: Mapping, where: str) -> Form | None:
        """The form of a node; None for a reference."""
        kind = tree.get("type")
        if kind is None:
            if "ref" in tree.entries:
                if len(tree.entries) > 1:
                    self.check_fields(tree, NODES["ref"], where)
                    raise Wrong
                return None
            if "var" in tree.entries and len(tree.entries) == 1:
                raise self.fail(tree, where, "a variable stands only in a template: in args, kwargs, in, or ref")
            raise self.fail(tree, where, f"a node needs the field 'type': {one_of(NODES)}")
        if not isinstance(kind, Scalar) or not isinstance(kind.value, str):
            raise self.fail(kind, where, f"the type of a node is a name, not {shown(kind)}")
        name = kind.value
        if name == "ref":
            if not self.check_fields(tree, NODES["ref"], where):
                raise Wrong
            return None
        if name == "var":
            raise self.fail(tree, where, "a variable stands only in a template: in args, kwargs, in, or ref")
        if name not in NODES:
            if name in ("module", "template_module", "template_compare_pair"):
                raise self.fail(kind, where, f"a node {name!r} stands only as `op`; for an argument, use the type construct")
            raise self.fail(kind, where, f"unknown type {one_line(name, 60)!r}{nearest(name, NODES) or f'; choose {one_of(NODES)}'}")
        return NODES[name]

    def _values(self, tree: Mapping, where: str) -> None:
        """Reports what is wrong inside the fields of a node whose fields are not all there."""
        for name, check in (("shape", self.shape), ("dtype", self.dtype), ("kind", self.kind)):
            value = tree.get(name)
            if value is not None:
                try:
                    check(value, f"{where}.{name}")
                except Wrong:
                    continue

    def _reference(self, tree: Mapping, where: str) -> Node:
        with self._deeper(tree, where):
            return self._referred(tree, where)

    def _referred(self, tree: Mapping, where: str) -> Node:
        target = tree.get("ref")
        assert target is not None
        if isinstance(target, Mapping):
            raise self.fail(target, where, "a variable stands only in a template; here, write the name of a preset")
        if not isinstance(target, Scalar) or not target.text:
            raise self.fail(target, where, f"ref is the name of a preset, not {shown(target)}")
        name = target.text
        if name not in self._presets:
            raise self.fail(
                target,
                where,
                f"unknown preset {one_line(name, 60)!r}{self.hint(name, self._presets) or self.there('preset', self._presets)}",
            )
        if name in self._chain:
            chain = " -> ".join([*self._chain[self._chain.index(name) :], name])
            raise self.fail(target, where, f"the preset refers to itself: {one_line(chain, 200)}")
        found = self.preset(name)
        if found is None:
            raise Wrong
        return found

    def preset(self, name: str) -> Node | None:
        """The node of a preset, read once; None where it is wrong."""
        if name not in self._known:
            self._chain.append(name)
            try:
                self._known[name] = self.node(self._presets[name], f"presets.{name}")
            except Wrong:
                self._known[name] = None
            finally:
                self._chain.pop()
        return self._known[name]

    # Types of nodes.

    def tensor(self, tree: Mapping, where: str) -> Node:
        """A node `tensor` or `const_tensor`."""
        shape_tree = tree.get("shape")
        assert shape_tree is not None
        shape, dtype = self.each([lambda: self.shape(shape_tree, f"{where}.shape"), lambda: self.dtype_of(tree, where)])
        value = tree.get("value")
        if value is not None:
            self._unused(tree, ("init", "low", "high", "mean", "std", "p"), where, "the node has a value")
            return TensorNode(shape, dtype, None, tuple(self._elements(value, shape, dtype, f"{where}.value")))
        needs = self.flag(tree.get("requires_grad"), f"{where}.requires_grad")
        if needs and class_of(dtype) not in ("float", "complex"):
            raise self.fail(
                tree.entries["requires_grad"][0], where, f"a tensor of dtype {dtype} cannot require a gradient; remove requires_grad"
            )
        return TensorNode(shape, dtype, self._distribution(tree, dtype, where), None, needs)

    def scalar_tensor(self, tree: Mapping, where: str) -> Node:
        """A node `scalar_tensor`: a tensor without dimensions."""
        dtype = self.dtype_of(tree, where)
        value = tree.get("value")
        if value is not None:
            self._unused(tree, ("init", "low", "high", "mean", "std", "p"), where, "the node has a value")
            return TensorNode((), dtype, None, (self.value(value, dtype, f"{where}.value"),))
        return TensorNode((), dtype, self._distribution(tree, dtype, where))

    def _elements(self, tree: Tree, shape: tuple[int, ...], dtype: str, where: str) -> list[Number]:
        """The elements of a nested list, which has to have exactly the shape."""
        if not shape:
            return [self.value(tree, dtype, where)]
        items = self.items(tree, where, "a value of this rank")
        if len(items) != shape[0]:
            raise self.fail(tree, where, f"{len(items):,} elements where the shape says {shape[0]:,}")
        found: list[Number] = []
        for index, item in enumerate(items):
            found.extend(self._elements(item, shape[1:], dtype, f"{where}[{index}]"))
        return found

    def _unused(self, tree: Mapping, names: Iterable[str], where: str, why: str) -> None:
        for name in names:
            found = tree.get(name)
            if found is not None:
                self.warn(found, where, f"{name!r} has no effect: {why}")

    def _distribution(self, tree: Mapping, dtype: str, where: str) -> Distribution:
        kind = class_of(dtype)
        init_tree = tree.get("init")
        if init_tree is None:
            init = {"bool": "bernoulli", "int": "randint"}.get(kind, "normal")
        else:
            init = self.choice(init_tree, f"{where}.init", "init", INITS)
            allowed = {
                "normal": ("float", "complex"),
                "uniform": ("float", "complex"),
                "randint": ("int",),
                "bernoulli": ("bool", "int", "float"),
            }
            if kind not in allowed.get(init, (kind,)):
                fits = one_of(each for each in INITS if kind in allowed.get(each, (kind,)))
                raise self.fail(init_tree, f"{where}.init", f"the init {init!r} does not fit the dtype {dtype}; choose {fits}")
        why = f"the init is {init!r}" if init_tree is not None else f"a tensor of dtype {dtype} without init is drawn by {init!r}"
        self._unused(tree, _UNUSED[init], where, why)
        low, high, mean, std, p = self._parameters(tree, where, kind, dtype)
        if init in _DEFAULT_RANGE:
            return Distribution(init, (low, high) if low is not None and high is not None else _DEFAULT_RANGE[init])
        return Distribution(init, (mean, std) if init == "normal" else (p,) if init == "bernoulli" else ())

    def _parameters(self, tree: Mapping, where: str, kind: str, dtype: str) -> tuple[Number | None, Number | None, Number, Number, Number]:
        low, high = self.bounds(tree, where, kind, dtype, strict=False)
        mean, std = (self._optional(tree, name, where, default) for name, default in (("mean", 0.0), ("std", 1.0)))
        if std < 0:
            raise self.fail(cast(Tree, tree.get("std")), f"{where}.std", f"the standard deviation {std} is negative")
        return low, high, mean, std, self._probability(tree, "p", where, 0.5)

    def _optional(self, tree: Mapping, name: str, where: str, default: float) -> Number:
        found = tree.get(name)
        return default if found is None else self.number(found, f"{where}.{name}")

    def _probability(self, tree: Mapping, name: str, where: str, default: float) -> Number:
        value = self._optional(tree, name, where, default)
        if not 0 <= value <= 1:
            raise self.fail(cast(Tree, tree.get(name)), f"{where}.{name}", f"the probability {value} does not lie between 0 and 1")
        return value

    def bounds(self, tree: Mapping, where: str, kind: str, dtype: str, *, strict: bool) -> tuple[Number | None, Number | None]:
        """`low` and `high`: both or neither."""
        low_tree, high_tree = tree.get("low"), tree.get("high")
        if low_tree is None and high_tree is None:
            return None, None
        if low_tree is None or high_tree is None:
            there, absent = ("high", "low") if low_tree is None else ("low", "high")
            raise self.fail(tree.entries[there][0], where, f"{there!r} without {absent!r}; give both, or neither")
        low, high = self.each([lambda: self.number(low_tree, f"{where}.low"), lambda: self.number(high_tree, f"{where}.high")])
        for name, value, part in (("low", low, low_tree), ("high", high, high_tree)):
            if kind == "int":
                if value != int(value):
                    raise self.fail(part, f"{where}.{name}", f"{name} is {value}, which is no integer, for the dtype {dtype}")
                least, most = limits_of(dtype)
                if not least <= value <= most:
                    raise self.fail(part, f"{where}.{name}", f"{name} is {value}, which does not fit {dtype}: from {least} to {most}")
        if low > high or (strict and low == high):
            sign = "less than" if strict else "at most"
            raise self.fail(low_tree, f"{where}.low", f"low has to be {sign} high, and {low} is not {sign} {high}")
        return (int(low), int(high)) if kind == "int" else (low, high)

    def scalar(self, tree: Mapping, where: str) -> Node:
        """A node `scalar`: a number of Python."""
        dtype = self.dtype_of(tree, where)
        kind = class_of(dtype)
        if kind == "complex":
            raise self.fail(tree, where, f"a scalar of dtype {dtype} is not possible; use scalar_tensor")
        if kind != "bool" and "p" in tree.entries:
            raise self.fail(tree.entries["p"][0], where, f"'p' is for scalars of kind bool, and this one is {dtype}")
        value = tree.get("value")
        if value is not None:
            self._unused(tree, ("low", "high", "p"), where, "the node has a value")
            return ScalarNode(dtype, self.value(value, dtype, f"{where}.value"), None, None, 0.5)
        p = float(self._probability(tree, "p", where, 0.5))
        if kind == "bool":
            self._unused(tree, ("low", "high"), where, "a scalar of kind bool is drawn by p")
            return ScalarNode(dtype, None, None, None, p)
        low, high = self.bounds(tree, where, kind, dtype, strict=True)
        if low is None:
            raise self.fail(tree, where, "a scalar needs a value, or low and high")
        return ScalarNode(dtype, None, low, high, p)

    def int_list(self, tree: Mapping, where: str) -> Node:
        """A node `int_list`: a list of integers."""
        elems = cast(Tree, tree.get("elems"))
        items = self.items(elems, f"{where}.elems", "elems")
        if not items:
            raise self.fail(
                elems, f"{where}.elems", "an int_list has at least one element; for an empty list, write {type: const, value: []}"
            )
        numbers = self.each(
            [lambda item=item, index=index: self._integer(item, f"{where}.elems[{index}]") for index, item in enumerate(items)]
        )
        return ConstNode(numbers)

    def _integer(self, tree: Tree, where: str) -> int:
        value = tree.value if isinstance(tree, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(tree, where, f"expected an integer, found {shown(tree)}")
        return cast(int, self.literal(tree, where))

    def list_(self, tree: Mapping, where: str) -> Node:
        """A node `list`: a length, and one node for every element."""
        length_tree, elem = cast(Tree, tree.get("len")), cast(Tree, tree.get("elem"))
        length, node = self.each([lambda: self._length(length_tree, f"{where}.len"), lambda: self.node(elem, f"{where}.elem")])
        return ListNode(length, node)

    def _length(self, tree: Tree, where: str) -> int:
        length = cast(int, self.number(tree, where, integral=True))
        if length < 0:
            raise self.fail(tree, where, f"the length {length} is negative")
        return length

    def tuple_(self, tree: Mapping, where: str) -> Node:
        """A node `tuple`: elements that are nodes of their own."""
        items = self.items(cast(Tree, tree.get("elems")), f"{where}.elems", "elems")
        return TupleNode(tuple(self.each([lambda i=i, item=item: self.node(item, f"{where}.elems[{i}]") for i, item in enumerate(items)])))

    def optional(self, tree: Mapping, where: str) -> Node:
        """A node `optional`: an element, or None with the probability `p_none`."""
        elem = cast(Tree, tree.get("elem"))
        p_none, node = self.each([lambda: self._probability(tree, "p_none", where, 0.0), lambda: self.node(elem, f"{where}.elem")])
        return OptionalNode(float(p_none), node)

    def const(self, tree: Mapping, where: str) -> Node:
        """A node `const`: a JSON value."""
        return ConstNode(self.literal(cast(Tree, tree.get("value")), f"{where}.value"))

    def construct(self, tree: Mapping, where: str) -> ConstructNode:
        """`construct`, and the module that a test runs."""
        parts: list[Callable[[], Any]] = [
            lambda: self.path(cast(Tree, tree.get("path")), f"{where}.path"),
            lambda: self.arguments(tree.get("args"), f"{where}.args"),
            lambda: self.keywords(tree.get("kwargs"), f"{where}.kwargs"),
        ]
        path, args, kwargs = self.each(parts)
        return ConstructNode(path, args, kwargs)

    def arguments(self, tree: Tree | None, where: str) -> tuple[Node, ...]:
        """Positional arguments of a constructor."""
        if tree is None:
            return ()
        items = self.items(tree, where, "args")
        return tuple(self.each([lambda i=i, item=item: self.argument(item, f"{where}[{i}]") for i, item in enumerate(items)]))

    def keywords(self, tree: Tree | None, where: str, *, nodes: bool = False) -> tuple[tuple[str, Node], ...]:
        """Keyword arguments, of a constructor or, with *nodes*, of a test."""
        if tree is None:
            return ()
        entries = self.mapping(tree, where, "kwargs").entries
        read = self.node if nodes else self.argument
        for key, (place, _) in entries.items():
            if not (key.isascii() and key.isidentifier()):
                raise self.fail(place, where, f"{one_line(key, 60)!r} is no name of a parameter")
        values = self.each([lambda key=key, item=item: read(item, f"{where}.{key}") for key, (_, item) in entries.items()])
        return tuple(zip(entries, values, strict=True))

    def argument(self, tree: Tree, where: str) -> Node:
        """An argument of a constructor: a node, or a literal whose values may hold nodes."""
        if isinstance(tree, Scalar):
            return ConstNode(self.literal(tree, where))
        with self._deeper(tree, where):
            return self._compound(tree, where)

    def _compound(self, tree: Items | Mapping, where: str) -> Node:
        if isinstance(tree, Items):
            items = self.each([lambda i=i, item=item: self.argument(item, f"{where}[{i}]") for i, item in enumerate(tree.items)])
            return (
                ConstNode([each.value for each in items])
                if all(isinstance(each, ConstNode) for each in items)
                else ListOfNodes(tuple(items))
            )
        if tree.entries.keys() & {"type", "ref", "var"}:
            return self.node(tree, where)
        values = self.each([lambda key=key, item=item: self.argument(item, f"{where}.{key}") for key, (_, item) in tree.entries.items()])
        pairs = list(zip(tree.entries, values, strict=True))
        if all(isinstance(each, ConstNode) for each in values):
            return ConstNode({key: each.value for key, each in pairs})
        return MappingOfNodes(tuple(pairs))


_READERS: dict[str, Callable[[Reader, Mapping, str], Node]] = {
    "tensor": Reader.tensor,
    "const_tensor": Reader.tensor,
    "scalar_tensor": Reader.scalar_tensor,
    "scalar": Reader.scalar,
    "int_list": Reader.int_list,
    "list": Reader.list_,
    "tuple": Reader.tuple_,
    "optional": Reader.optional,
    "const": Reader.const,
    "construct": Reader.construct,
}


class Size(NamedTuple):
    """What is made of a node, that of the nodes inside included.

    Attributes:
        values: Number of values.
        elements: Elements of the tensors.
        steps: Work to make them, that of literals included.
    """

    values: int
    elements: int
    steps: int


class Sizes:
    """How large nodes are: presets share nodes, so each is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, Size]] = {}

    def of(self, node: Node) -> Size:
        """The size of *node*. A list without elements counts as one with one, because its node is looked at."""
        if id(node) not in self._known:
            self._known[id(node)] = node, self._found(node)
        return self._known[id(node)][1]

    def _found(self, node: Node) -> Size:
        if isinstance(node, TensorNode):
            return Size(1, math.prod(node.shape), 1 + len(node.values or ()))
        if isinstance(node, ConstNode):
            return Size(1, 0, _steps(node.value))
        if isinstance(node, ListNode):
            one, length = self.of(node.elem), max(node.length, 1)
            return Size(1 + length * one.values, node.length * one.elements, 1 + length * one.steps)
        parts = [self.of(each) for each in _children(node)]
        return Size(*(start + sum(each[field] for each in parts) for field, start in enumerate((1, 0, 1))))


def _steps(value: Literal) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_steps, value.values()))
    return 1 + sum(map(_steps, value)) if isinstance(value, list) else 1


def _children(node: Node) -> Iterable[Node]:
    if isinstance(node, OptionalNode):
        return (node.elem,)
    if isinstance(node, TupleNode):
        return node.elems
    if isinstance(node, ListOfNodes):
        return node.items
    if isinstance(node, MappingOfNodes):
        return (item for _, item in node.items)
    return (*node.args, *(item for _, item in node.kwargs)) if isinstance(node, ConstructNode) else ()
