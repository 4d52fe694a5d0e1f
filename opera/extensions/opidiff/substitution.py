"""Template variables: where they stand, and what stands there for one assignment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as ReadOnly

from opera.extensions.opidiff.reading import Inserted, InsertedItems
from opera.extensions.opidiff.tree import Items, Mapping, Place, Scalar, Tree, size_of

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A variable inside of a text."""
_OPAQUE = {"const": "value", "tensor": "shape", "const_tensor": "shape"}
"""The field of a node in which nothing is a variable."""


def variable_of(tree: Tree) -> Scalar | None:
    """The name of the variable that *tree* refers to; None for anything else."""
    if not isinstance(tree, Mapping):
        return None
    entries = tree.entries
    if "var" in entries and len(entries) == 1:
        name = entries["var"][1]
    elif "name" in entries and len(entries) == 2 and getattr(entries.get("type", (0, None))[1], "text", None) == "var":
        name = entries["name"][1]
    else:
        return None
    return name if isinstance(name, Scalar) else None


def variables_in(tree: Tree) -> Iterator[Scalar]:
    """The names of all variables in *tree*."""
    if isinstance(tree, Scalar):
        return
    name = variable_of(tree)
    if name is not None:
        yield name
    elif isinstance(tree, Items):
        for item in tree.items:
            yield from variables_in(item)
    else:
        for _, item in _open_fields(tree):
            yield from variables_in(item)


def steps_of(parts: Iterable[Tree], largest: ReadOnly[str, int]) -> int:
    """The most steps to write *parts* and an id's suffix for one assignment; *largest* has the size of each variable's largest value."""
    steps = len(largest) + sum(largest.values())
    for part in parts:
        steps += size_of(part) + sum(largest.get(each.text, 0) for each in variables_in(part))
        steps += sum(largest.get(match[1], 0) for text in _texts(part) for match in PLACEHOLDER.finditer(text))
    return steps


def _texts(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Scalar):
        yield tree.text
    else:
        for part in tree.items if isinstance(tree, Items) else [each for _, each in tree.entries.values()]:
            yield from _texts(part)


def _open_fields(tree: Mapping) -> Iterator[tuple[str, Tree]]:
    kind = tree.get("type")
    opaque = _OPAQUE.get(kind.text) if isinstance(kind, Scalar) else None
    return ((key, item) for key, (_, item) in tree.entries.items() if key != opaque)


class Assignment:
    """A value for each variable.

    Args:
        values: By the variables' names.
        dims: Named sizes, which values may name.
        quoted: Is told a value in quotes that names a dimension.
    """

    def __init__(self, values: ReadOnly[str, Tree], dims: ReadOnly[str, int], quoted: Callable[[Scalar], None]) -> None:
        self._values = values
        self._dims = dims
        self._quoted = quoted

    def applied(self, tree: Tree) -> Tree:
        """*tree* with values in place of its variables; *tree* itself where it has none."""
        if isinstance(tree, Scalar):
            return tree
        name = variable_of(tree)
        if name is not None:
            value = self._values.get(name.text)
            return tree if value is None else self._inserted(value)
        if isinstance(tree, Items):
            items = [self.applied(item) for item in tree.items]
            return tree if all(map(_same, items, tree.items)) else type(tree)(tree.place, items)
        open_fields = dict(_open_fields(tree))
        if "ref" in open_fields and (name := variable_of(open_fields["ref"])) is not None and name.text in self._values:
            value = self._values[name.text]
            chosen = Scalar(value.place, value.text, False) if isinstance(value, Scalar) else value
            return Mapping(tree.place, {**tree.entries, "ref": (tree.entries["ref"][0], chosen)})
        entries: dict[str, tuple[Place, Tree]] = dict(tree.entries)
        changed = False
        for key, item in open_fields.items():
            made = self.applied(item)
            if made is not item:
                entries[key] = entries[key][0], made
                changed = True
        return Mapping(tree.place, entries) if changed else tree

    def text(self, text: str) -> str:
        """*text* with values in place of `{NAME}`."""
        return PLACEHOLDER.sub(lambda match: written(self._values[match[1]]) if match[1] in self._values else match[0], text)

    def suffix(self) -> str:
        """`__KEY=VALUE` for each variable, sorted by name."""
        return "".join(f"__{name}={_safe(written(self._values[name]))}" for name in sorted(self._values))

    def _inserted(self, value: Tree) -> Tree:
        if isinstance(value, Scalar):
            if value.text in self._dims and isinstance(value.value, str):
                if not value.plain:
                    self._quoted(value)
                return Inserted(value.place, str(self._dims[value.text]), True)
            return Inserted(value.place, value.text, value.plain)
        if isinstance(value, Items):
            return InsertedItems(value.place, [self._inserted(item) for item in value.items])
        return value


def _same(one: Tree, other: Tree) -> bool:
    return one is other


def written(tree: Tree) -> str:
    """A value as ids show it: as the file writes it, truth values and null as Python does."""
    if isinstance(tree, Scalar):
        return str(tree.value) if tree.value is None or isinstance(tree.value, bool) else tree.text
    if isinstance(tree, Items):
        return f"[{', '.join(map(_quoted, tree.items))}]"
    return f"{{{', '.join(f'{key!r}: {_quoted(item)}' for key, (_, item) in tree.entries.items())}}}"


def _quoted(tree: Tree) -> str:
    return repr(tree.text) if isinstance(tree, Scalar) and isinstance(tree.value, str) else written(tree)


def _safe(text: str) -> str:
    return "".join(each if each.isalnum() or each in "-_" else "_" for each in text)
