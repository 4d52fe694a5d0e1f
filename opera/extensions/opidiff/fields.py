"""Reads the fields of nodes: numbers, sizes, dtypes, texts, literals."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable
from collections.abc import Mapping as ReadOnly
from typing import Any, cast

from opera.console import one_line
from opera.extensions.opidiff.nodes import Literal
from opera.extensions.opidiff.problems import nearest, one_of
from opera.extensions.opidiff.table import ALIASES, DTYPES, KINDS, Form
from opera.extensions.opidiff.tree import Items, Mapping, Place, Scalar, Tree, resolved
from opera.instance.values import Number
from opera.instrumentation.tensors import DTYPE_BITS
from opera.instrumentation.wire import MAX_BITS
from opera.models.operators import operators_of
from opera.trust import FILE_PATH, is_foreign, is_standard

MOST_DIMS = 64
MOST_HINTS = 100
_WORD = 2**63
_MODULE_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)


class Wrong(Exception):
    """A part with an error that has been reported."""


Report = Callable[[Place, str, str, bool], None]
"""Takes the place, the path inside the test, the message, and whether it is a warning."""


def class_of(dtype: str) -> str:
    """`bool`, `int`, `float` or `complex`."""
    if dtype == "bool":
        return "bool"
    return "int" if dtype.startswith(("int", "uint")) else "complex" if dtype.startswith("complex") else "float"


def limits_of(dtype: str) -> tuple[int, int]:
    """The smallest and the largest integer of an integer dtype."""
    width = DTYPE_BITS[dtype]
    return (0, 2**width - 1) if dtype.startswith("u") else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def shown(tree: Tree) -> str:
    """*tree* as a message names it."""
    if isinstance(tree, Scalar):
        return repr(one_line(tree.text, 60)) if isinstance(tree.value, str) else one_line(tree.text, 60) or "null"
    return "a list" if isinstance(tree, Items) else "a mapping"


class Fields:
    """Reads fields. Each method reports what is wrong, and raises `Wrong` where nothing can be made of its part.

    Args:
        dims: Named sizes.
        report: Takes each problem.
    """

    def __init__(self, dims: ReadOnly[str, int], report: Report) -> None:
        self._dims = dims
        self._report = report
        self._hints = 0

    def fail(self, tree: Tree | Place, where: str, message: str) -> Wrong:
        """Reports an error; returns the exception to raise."""
        self._report(tree if isinstance(tree, int) else tree.place, where, message, False)
        return Wrong()

    def warn(self, tree: Tree, where: str, message: str) -> None:
        """Reports a warning about *tree*, which stands at *where*."""
        self._report(tree.place, where, message, True)

    # Mappings.

    def mapping(self, tree: Tree, where: str, what: str) -> Mapping:
        """*tree*, which has to be a mapping."""
        if not isinstance(tree, Mapping):
            raise self.fail(tree, where, f"{what} is a mapping, not {shown(tree)}")
        return tree

    def items(self, tree: Tree, where: str, what: str) -> list[Tree]:
        """The items of *tree*, which has to be a list."""
        if not isinstance(tree, Items):
            raise self.fail(tree, where, f"{what} is a list, not {shown(tree)}")
        return tree.items

    def check_fields(self, tree: Mapping, form: Form, where: str) -> bool:
        """Reports unknown and missing fields; returns whether there were none."""
        names = form.names
        sound = True
        for key, (place, _) in tree.entries.items():
            if key not in names:
                hint = nearest(key, names) or f"; its fields are {one_of(names)}"
                if key == "<<":
                    hint = "; merge keys are not part of YAML 1.2, use a preset"
                self.fail(place, where, f"unknown field {one_line(key, 60)!r} of {a(form)}{hint}")
                sound = False
        for field in form.fields:
            if field.required and field.name not in tree.entries:
                self.fail(tree, where, f"{a(form)} needs the field {field.name!r}: {field.holds.value}")
                sound = False
        if form.kind_or_dtype and "kind" not in tree.entries and "dtype" not in tree.entries:
            self.fail(tree, where, f"{a(form)} needs the field 'kind' or the field 'dtype'")
            sound = False
        return sound

    def each(self, parts: Iterable[Callable[[], Any]]) -> list[Any]:
        """The values of all *parts*; every part is read, also after one that is wrong."""
        values: list[Any] = []
        wrong = False
        for part in parts:
            try:
                values.append(part())
            except Wrong:
                wrong = True
        if wrong:
            raise Wrong
        return values

    def hint(self, name: str, known: Iterable[str]) -> str:
        """As `nearest`, for the first unknown names of a suite: *known* may be long."""
        self._hints += 1
        return nearest(name, known) if self._hints <= MOST_HINTS else ""

    @staticmethod
    def there(what: str, names: Iterable[str]) -> str:
        """What the suite has instead of an unknown name."""
        known = list(itertools.islice(names, 20))
        return f"; the suite has {one_line(', '.join(known), 120)}" if known else f"; the suite has no {what}"

    # Fields.

    def number(self, tree: Tree, where: str, *, integral: bool = False) -> Number:
        """A number, or the size that a name stands for."""
        value = tree.value if isinstance(tree, Scalar) else None
        if isinstance(value, str):
            value = self._symbol(cast(Scalar, tree), where)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            what = "an integer" if integral else "a number"
            raise self.fail(tree, where, f"expected {what} or the name of a dimension, found {shown(tree)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise self.fail(tree, where, f"expected a finite number, found {shown(tree)}")
        if integral and isinstance(value, float):
            raise self.fail(tree, where, f"expected an integer, found {shown(tree)}")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise self.fail(tree, where, f"an integer of {value.bit_length()} bits; at most {MAX_BITS} are possible")
        return value

    def _symbol(self, tree: Scalar, where: str) -> Number | str:
        """The size that a name stands for, or the number in quotes."""
        name = tree.text
        if name in self._dims:
            if not tree.plain:
                raise self.fail(tree, where, f"the dimension {name!r} stands in quotes; remove the quotes")
            return self._dims[name]
        value = resolved(name.strip())
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise self.fail(
            tree, where, f"unknown dimension {one_line(name, 60)!r}{self.hint(name, self._dims) or self.there('dims', self._dims)}"
        )

    def shape(self, tree: Tree, where: str) -> tuple[int, ...]:
        """Sizes; at least one."""
        sizes = self.items(tree, where, "a shape")
        if not sizes:
            raise self.fail(tree, where, "a shape has at least one size; for a tensor of rank 0, use the type scalar_tensor")
        if len(sizes) > MOST_DIMS:
            raise self.fail(tree, where, f"a shape has at most {MOST_DIMS} sizes, and this one has {len(sizes):,}")
        return tuple(self.each([lambda size=size, index=index: self._size(size, f"{where}[{index}]") for index, size in enumerate(sizes)]))

    def _size(self, tree: Tree, where: str) -> int:
        if isinstance(tree, Mapping):
            variable = "var" in tree.entries or getattr(tree.get("type"), "text", "") == "var"
            what = (
                "a variable is not possible in a shape; use presets, and a variable in ref"
                if variable
                else "expected a size, found a mapping"
            )
            raise self.fail(tree, where, what)
        size = cast(int, self.number(tree, where, integral=True))
        if size < 0:
            raise self.fail(tree, where, f"the size {size} is negative")
        if size >= _WORD:
            raise self.fail(tree, where, f"the size {size} is too large")
        return size

    def text(self, tree: Tree, where: str, what: str) -> str:
        """A text that is not empty."""
        if not isinstance(tree, Scalar) or not isinstance(tree.value, str) or not tree.text.strip():
            raise self.fail(tree, where, f"{what} is a text that is not empty, not {shown(tree)}")
        return tree.text

    def flag(self, tree: Tree | None, where: str) -> bool:
        """True or false; false where it is absent."""
        if tree is None:
            return False
        if not isinstance(tree, Scalar) or not isinstance(tree.value, bool):
            raise self.fail(tree, where, f"expected true or false, found {shown(tree)}")
        return tree.value

    def choice(self, tree: Tree, where: str, what: str, choices: Iterable[str]) -> str:
        """The text of *tree*, which must be one of *choices*."""
        names = list(choices)
        text = tree.text if isinstance(tree, Scalar) else ""
        if text not in names:
            raise self.fail(tree, where, f"unknown {what} {shown(tree)}{nearest(text, names) or f'; choose {one_of(names)}'}")
        return text

    def kind(self, tree: Tree, where: str) -> str:
        """The dtype of a kind."""
        return KINDS[self.choice(tree, where, "kind", KINDS)]

    def dtype(self, tree: Tree, where: str) -> str:
        """The canonical name of a dtype."""
        text = tree.text if isinstance(tree, Scalar) else ""
        if text.startswith("torch.") and (text[6:] in DTYPES or text[6:] in ALIASES):
            raise self.fail(tree, where, f"a dtype is written without `torch.`; did you mean {text[6:]!r}?")
        return ALIASES.get(text) or self.choice(tree, where, "dtype", [*DTYPES, *ALIASES] if text in ALIASES else DTYPES)

    def dtype_of(self, tree: Mapping, where: str) -> str:
        kind, dtype = tree.get("kind"), tree.get("dtype")
        if dtype is None:
            assert kind is not None
            return self.kind(kind, f"{where}.kind")
        found = self.dtype(dtype, f"{where}.dtype")
        if kind is not None and class_of(self.kind(kind, f"{where}.kind")) != class_of(found):
            raise self.fail(kind, f"{where}.kind", f"the kind {shown(kind)} does not agree with the dtype {found!r}; remove one of them")
        return found

    def path(self, tree: Tree, where: str) -> str:
        """An import path, or a class in a file."""
        text = self.text(tree, where, "a path")
        if FILE_PATH.fullmatch(text) or _MODULE_PATH.fullmatch(text):
            why = refused(text)
            if why is not None:
                raise self.fail(tree, where, why)
            return text
        hint = (
            "write file:PATH.py::NAME"
            if text.startswith("file:")
            else "write an import path such as torch.nn.Linear, or file:PATH.py::NAME"
        )
        raise self.fail(tree, where, f"{one_line(text, 80)!r} is no path of a class; {hint}")

    def literal(self, tree: Tree, where: str) -> Literal:
        """The JSON value that *tree* has."""
        if isinstance(tree, Scalar):
            if isinstance(tree.value, int) and tree.value.bit_length() > MAX_BITS:
                raise self.fail(tree, where, f"an integer of {tree.value.bit_length()} bits; at most {MAX_BITS} are possible")
            return tree.value
        if isinstance(tree, Items):
            return [self.literal(item, where) for item in tree.items]
        return {key: self.literal(item, where) for key, (_, item) in tree.entries.items()}

    def value(self, tree: Tree, dtype: str, where: str) -> Number:
        """A literal number that fits *dtype*."""
        value = tree.value if isinstance(tree, Scalar) else None
        kind = class_of(dtype)
        if isinstance(value, bool) and kind == "bool":
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            if kind in ("float", "complex"):
                return float(value)
            if kind == "int":
                low, high = limits_of(dtype)
                if low <= value <= high:
                    return value
                raise self.fail(tree, where, f"the value {shown(tree)} does not fit {dtype}, which goes from {low} to {high}")
        if isinstance(value, float) and kind in ("float", "complex"):
            return value
        raise self.fail(tree, where, f"the value {shown(tree)} does not fit the dtype {dtype}")


def a(form: Form) -> str:
    return f"{'an' if form.name[0] in 'aeiou' else 'a'} {form.name}"


def refused(path: str) -> str | None:
    """Why a name of the library or of Python must not be used; None where it is admitted, or names a class of the user's own."""
    return operators_of("pytorch").objection(path) if not is_foreign(path) or is_standard(path) else None
