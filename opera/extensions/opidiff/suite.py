"""Reads suites: files with their includes, checked as a whole, templates expanded."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from opera.console import one_line
from opera.extensions.opidiff.fields import Wrong, refused, shown
from opera.extensions.opidiff.loading import Definitions, Problems, SuiteFiles, TooManyProblems, is_null
from opera.extensions.opidiff.nodes import ConstructNode, Node, TestCase
from opera.extensions.opidiff.problems import InvalidSuite, SuiteProblem, nearest
from opera.extensions.opidiff.reading import Reader
from opera.extensions.opidiff.signatures import aten_operators, is_function
from opera.extensions.opidiff.substitution import PLACEHOLDER, Assignment, steps_of, variables_in
from opera.extensions.opidiff.table import COMMON, DEVICES, OPERATIONS, SIDE, TEST
from opera.extensions.opidiff.tree import Budget, Mapping, Place, Scalar, Tree, parts_of, size_of

MOST_TESTS = 200_000
"""Most tests of a suite, templates expanded."""
MOST_ID = 500
"""Characters of an id as the file has it."""
_MOST_EXPANDED_ID = 4_000
"""Characters of an id with the suffix of its variables."""
_NO_ID = "template"
_OPERATOR = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Suite:
    """A valid suite.

    Attributes:
        files: All files, in the order of loading, as they are shown.
        tests: The tests, templates expanded; the two sides of a pair follow each other.
        warnings: Sorted by place.
        folders: Where relative paths of classes may begin: the folders of the files.
    """

    files: tuple[str, ...]
    tests: tuple[TestCase, ...]
    warnings: tuple[SuiteProblem, ...]
    folders: tuple[Path, ...]

    def line(self, test: TestCase) -> tuple[str, int]:
        """The file and the line of a test."""
        file, line, _ = parts_of(test.place)
        return self.files[file], line


def load_suite(paths: Sequence[Path]) -> Suite:
    """The suite that the files describe together.

    Nothing in the files is executed or imported.

    Raises:
        InvalidSuite: with all errors that were found.
    """
    return _Loader().read(paths)


@dataclass(frozen=True)
class _Shared:
    """The parts of a test that all its expansions have."""

    base: str | None
    impl: str | None
    device: str
    packed: bool


class _Loader:
    """Collects problems while it reads."""

    def __init__(self) -> None:
        self._problems = Problems()
        self._all = Definitions()
        self._budget = Budget()
        self._reader = Reader(self._all.dims, self._all.presets, self._problems.report, self._budget)
        self.files = SuiteFiles(self._all, self._reader, self._problems, self._budget)
        self._ids: dict[str, Place] = {}
        self._made: set[str] = set()
        self._count = 0

    def _error(self, tree: Tree | Place, where: str, message: str) -> Wrong:
        return self._reader.fail(tree, where, message)

    def read(self, paths: Sequence[Path]) -> Suite:
        """Reads *paths* and what they include."""
        problems = self._problems
        tests: list[TestCase] = []
        with contextlib.suppress(TooManyProblems):
            self.files.read(paths)
            tests = self.expanded()
        if problems.errors:
            raise InvalidSuite(sorted(problems.found))
        return Suite(tuple(problems.files), tuple(tests), tuple(sorted(problems.found)), self.files.folders)

    # Tests.

    def expanded(self) -> list[TestCase]:
        """All tests, templates expanded; without those that have errors."""
        for name in self._all.presets:
            self._reader.preset(name)
        self._reserve_ids()
        cases: list[TestCase] = []
        for number, tree in enumerate(self._all.tests, 1):
            cases += self._cases(tree, number)
        return cases

    def _reserve_ids(self) -> None:
        """Keeps the ids of tests without a template, so that no generated id takes one."""
        for tree in self._all.tests:
            given = tree.get("id") if isinstance(tree, Mapping) else None
            if isinstance(given, Scalar) and not _is_template(tree):
                self._ids.setdefault(given.text, given.place)

    def _cases(self, tree: Tree, number: int) -> Iterator[TestCase]:
        context = self._problems
        context.test, context.operator = f"number {number}", None
        try:
            test = self._reader.mapping(tree, "", "a test")
            given, op = test.get("id"), test.get("op")
            if isinstance(given, Scalar) and given.text:
                context.test = given.text
            if isinstance(op, Scalar):
                context.operator = op.text
            elif isinstance(op, Mapping) and isinstance(path := op.get("path"), Scalar):
                context.operator = path.text
            elif isinstance(op, Mapping) and isinstance(kind := op.get("type"), Scalar):
                context.operator = kind.text
            sound = self._reader.check_fields(test, TEST, "")
            if isinstance(given, Scalar) and not _is_template(tree) and self._ids[given.text] != given.place:
                self._used_twice(given, given.text)
            if op is None:
                return
            shared = self._shared(test)
            if isinstance(op, Scalar):
                yield from self._plain(test, self._named_operator(op, test), shared)
            else:
                yield from self._structured(test, self._reader.mapping(op, "op", "op"), shared)
            if not sound:
                raise Wrong
        except Wrong:
            return
        finally:
            context.test = context.operator = None

    def _shared(self, test: Mapping) -> _Shared:
        """The fields that need no expansion."""
        reader = self._reader
        given, impl, device = test.get("id"), test.get("impl"), test.get("device")
        parts = [
            lambda: None if given is None else self._id_text(given),
            lambda: None if impl is None else reader.text(impl, "impl", "impl"),
            lambda: "cpu" if device is None else reader.choice(device, "device", "device", DEVICES),
            lambda: reader.flag(test.get("cast_input0_to_complex"), "cast_input0_to_complex"),
        ]
        base, label, target, packed = reader.each(parts)
        return _Shared(base, label, target, packed)

    def _id_text(self, tree: Tree) -> str:
        if not isinstance(tree, Scalar) or not tree.text.strip() or is_null(tree):
            raise self._error(tree, "id", f"an id is a text that is not empty, not {shown(tree)}")
        if len(tree.text) > MOST_ID or _CONTROL.search(tree.text):
            raise self._error(tree, "id", f"an id has at most {MOST_ID} characters, and no line breaks or control characters")
        return tree.text

    def _named_operator(self, op: Scalar, test: Mapping) -> str:
        text = self._reader.text(op, "op", "op")
        if not _OPERATOR.fullmatch(text):
            last = text.replace("::", ".").rsplit(".", 1)[-1]
            hint = f"; did you mean 'aten::{last}'?" if last.isidentifier() else "; write aten::NAME"
            raise self._error(op, "op", f"{one_line(text, 80)!r} is no operator{hint}")
        if text.startswith("aten::"):
            why = refused(f"torch.ops.{text.replace('::', '.')}")
            if why is not None:
                raise self._error(op, "op", why)
            if not self._problems.many_warnings and not is_function(f"torch.ops.{text.replace('::', '.')}"):
                hint = self._reader.hint(text, aten_operators())
                self._reader.warn(op, "op", f"the PyTorch that OPERA was made with has no operator {one_line(text, 80)!r}{hint}")
        impl = test.get("impl")
        if isinstance(impl, Scalar) and impl.text.startswith("torch.") and (why := refused(impl.text)) is not None:
            raise self._error(impl, "impl", why)
        return text

    def _plain(self, test: Mapping, op: str | ConstructNode, shared: _Shared) -> Iterator[TestCase]:
        inputs, kwargs = self._arguments(test, None)
        yield self._case(test, op, inputs, kwargs, shared)

    def _arguments(self, test: Mapping, assignment: Assignment | None) -> tuple[tuple[Node, ...], tuple[tuple[str, Node], ...]]:
        """The nodes of `in` and `kwargs`."""
        reader = self._reader

        def replaced(name: str) -> Tree | None:
            tree = test.get(name)
            return tree if tree is None or assignment is None else assignment.applied(tree)

        def inputs() -> tuple[Node, ...]:
            tree = replaced("in")
            items = [] if tree is None else reader.items(tree, "in", "in")
            return tuple(reader.each([lambda i=i, item=item: self._node(item, f"in[{i}]") for i, item in enumerate(items)]))

        found = reader.each([inputs, lambda: reader.keywords(replaced("kwargs"), "kwargs", nodes=True)])
        return found[0], found[1]

    def _node(self, tree: Tree, where: str) -> Node:
        return self._reader.node(tree, where)

    def _case(
        self, test: Mapping, op: str | ConstructNode, inputs: tuple[Node, ...], kwargs: tuple[tuple[str, Node], ...], shared: _Shared,
        *, suffix: str = "", base: str | None = None, impl: str | None = None, pair: str | None = None, side: str | None = None,
        other: ConstructNode | None = None,
    ) -> TestCase:  # fmt: skip
        """A test with its final id."""
        self._check_packed(test, inputs, shared)
        constructed = [] if isinstance(op, str) else [op]
        self._reader.check_size([*inputs, *(each for _, each in kwargs), *constructed], test)
        name = self._taken(
            test, shared.base if base is None else base, suffix, template=bool(suffix) or pair is not None or base is not None
        )
        self._count += 1
        if self._count > MOST_TESTS:
            raise self._error(test, "", f"the suite has more than {MOST_TESTS:,} tests; split it")
        return TestCase(name, test.place, op, inputs, kwargs, impl or shared.impl, shared.device, shared.packed, pair, side, other)

    def _taken(self, test: Mapping, base: str | None, suffix: str, *, template: bool) -> str:
        """The id, which nothing else in the suite has."""
        given = test.get("id")
        if len(base or "") + len(suffix) > _MOST_EXPANDED_ID:
            raise self._error(
                test if given is None else given, "id", f"the id has more than {_MOST_EXPANDED_ID:,} characters with its suffix"
            )
        if base is None:
            names = itertools.chain([_NO_ID], (f"{_NO_ID}_{number}" for number in itertools.count(2)))
            name = next(each for each in (f"{each}{suffix}" for each in names) if each not in self._ids)
        else:
            name = f"{base}{suffix}"
            earlier = self._ids.get(name)
            own = given is not None and earlier == given.place and not template and name not in self._made
            if earlier is not None and not own:
                raise self._used_twice(test if given is None else given, name)
        self._ids[name] = test.place if given is None else given.place
        self._made.add(name)
        return name

    def _used_twice(self, tree: Tree, name: str) -> Wrong:
        file, line, _ = parts_of(self._ids[name])
        return self._error(tree, "id", f"the id {one_line(name, 120)!r} is used twice, first in {self._problems.files[file]}:{line}")

    def _check_packed(self, test: Mapping, inputs: tuple[Node, ...], shared: _Shared) -> None:
        if not shared.packed:
            return
        place = test.entries["cast_input0_to_complex"][0]
        first = inputs[0] if inputs else None
        dtype, shape = getattr(first, "dtype", ""), getattr(first, "shape", ())
        pairs = dtype in ("float16", "float32", "float64") and bool(shape) and shape[-1] == 2
        if not (dtype.startswith("complex") and hasattr(first, "shape")) and not pairs:
            message = "input 0 has to be a complex tensor, or a floating-point tensor whose last size is 2"
            raise self._error(place, "cast_input0_to_complex", message)

    # Templates.

    def _structured(self, test: Mapping, op: Mapping, shared: _Shared) -> Iterator[TestCase]:
        kind = op.get("type")
        name = kind.text if isinstance(kind, Scalar) else None
        if name not in OPERATIONS:
            hint = nearest(name or "", OPERATIONS) or f"; choose one of {', '.join(OPERATIONS)}"
            what = f"unknown type {shown(kind)}" if kind is not None else "op needs the field 'type'"
            raise self._error(op if kind is None else kind, "op", f"{what}{hint}")
        sound = self._reader.check_fields(op, OPERATIONS[name], "op")
        if name == "module":
            module, (inputs, kwargs) = self._reader.each([lambda: self._module(op, sound), lambda: self._arguments(test, None)])
            yield self._case(test, module, inputs, kwargs, shared)
            return
        if not sound:
            raise Wrong
        yield from self._template(test, op, name, shared)

    def _module(self, op: Mapping, sound: bool) -> ConstructNode:
        if not sound:
            raise Wrong
        return self._reader.construct(op, "op")

    def _template(self, test: Mapping, op: Mapping, name: str, shared: _Shared) -> Iterator[TestCase]:
        if name == "template_compare_pair" and "impl" in test.entries:
            raise self._error(test.entries["impl"][0], "impl", "a pair has no impl of its own; each side has one")
        values, cases = self._assignments(op)
        body = Mapping(op.place, {key: entry for key, entry in op.entries.items() if key not in ("vars", "cases")})
        self._check_variables(test, body, values)
        parts = self._sides(op) if name == "template_compare_pair" else {"": body}
        self._check_count(test, op, body, values, cases)
        names = sorted(values)
        failed = 0
        for chosen in _product(names, values, cases):
            assignment = Assignment(dict(zip(names, chosen, strict=True)), self._all.dims, self._quoted)
            try:
                yield from self._expansion(test, parts, assignment, shared)
            except Wrong:
                failed += 1
                if failed > 20:
                    return

    def _quoted(self, value: Scalar) -> None:
        self._error(value, "op.vars", f"the dimension {value.text!r} stands in quotes; remove the quotes")

    def _expansion(self, test: Mapping, parts: dict[str, Mapping], assignment: Assignment, shared: _Shared) -> Iterator[TestCase]:
        """The tests of one assignment."""
        base = _NO_ID if shared.base is None else assignment.text(shared.base)
        suffix = assignment.suffix()
        inputs, kwargs = self._arguments(test, assignment)
        pair = None if "" in parts else f"{base}{suffix}"
        made: list[tuple[str, ConstructNode, str | None]] = []
        for side, part in parts.items():
            where = f"op.{side}" if side else "op"
            tree = cast(Mapping, assignment.applied(part))
            module = self._reader.construct(_with_path(tree, assignment), where)
            impl = tree.get("impl")
            made.append((side, module, impl.text if side and isinstance(impl, Scalar) else None))
        for side, module, impl in made:
            end = f"{suffix}__{side}" if side else suffix
            kept = None if shared.base is None else base
            yield self._case(
                test,
                module,
                inputs,
                kwargs,
                shared,
                suffix=end,
                base=kept,
                impl=impl,
                pair=pair,
                side=side or None,
                other=made[0][1] if side == "b" else None,
            )

    def _check_count(self, test: Mapping, op: Mapping, body: Mapping, values: dict[str, list[Tree]], cases: list[dict[str, Tree]]) -> None:
        """Reports a template that makes too many tests, or tests that are too large together."""
        self._reader.spend(len(cases) * len(values), op, "the variables of all cases")
        total = self._count
        for case in cases:
            count = 1
            for name, choices in values.items():
                count *= 1 if name in case else len(choices)
                if count > MOST_TESTS:
                    break
            total += count
            if total > MOST_TESTS:
                raise self._error(op, "op", f"with this template, the suite has more than {MOST_TESTS:,} tests")
        largest = {name: max(map(size_of, choices)) for name, choices in values.items()}
        for case in cases:
            for name, value in case.items():
                largest[name] = max(largest[name], size_of(value))
        parts = [body, *(tree for name in ("in", "kwargs", "id") if (tree := test.get(name)) is not None)]
        self._reader.spend((total - self._count) * steps_of(parts, largest), op, "all assignments of the template")

    def _assignments(self, op: Mapping) -> tuple[dict[str, list[Tree]], list[dict[str, Tree]]]:
        """The values of each variable, and the cases, one of which names none where the file has no cases."""
        reader = self._reader
        declared = reader.mapping(cast(Tree, op.get("vars")), "op.vars", "vars").entries

        def values_of(name: str, tree: Tree) -> list[Tree]:
            items = reader.items(tree, f"op.vars.{name}", "the values of a variable")
            if not items:
                raise self._error(tree, f"op.vars.{name}", f"the variable {name!r} has no values; give at least one")
            return items

        for name, (place, _) in declared.items():
            if not (name.isascii() and name.isidentifier()):
                self._error(place, "op.vars", f"{one_line(name, 60)!r} is no name of a variable; use letters, digits and _")
        lists = reader.each([lambda name=name, tree=tree: values_of(name, tree) for name, (_, tree) in declared.items()])
        values = dict(zip(declared, lists, strict=True))
        cases: list[dict[str, Tree]] = [{}]
        given = op.get("cases")
        if given is not None:
            items = reader.items(given, "op.cases", "cases")
            if not items:
                raise self._error(given, "op.cases", "cases is empty; give at least one case, or remove it")
            cases = reader.each([lambda i=i, item=item: self._assigned(item, declared, f"op.cases[{i}]") for i, item in enumerate(items)])
        return values, cases

    def _assigned(self, tree: Tree, declared: dict[str, tuple[Place, Tree]], where: str) -> dict[str, Tree]:
        entries = self._reader.mapping(tree, where, "a case").entries
        for name, (place, _) in entries.items():
            if name not in declared:
                hint = (
                    self._reader.hint(name, declared) or f"; vars has {one_line(', '.join(itertools.islice(declared, 20)), 120) or 'none'}"
                )
                raise self._error(place, where, f"the case names the variable {one_line(name, 60)!r}, which vars does not declare{hint}")
        return {name: value for name, (_, value) in entries.items()}

    def _check_variables(self, test: Mapping, op: Mapping, declared: Collection[str]) -> None:
        """Reports names that are no variables, wherever the template uses one."""
        unknown = False

        def report(tree: Tree, where: str, name: str) -> None:
            nonlocal unknown
            unknown = True
            hint = self._reader.hint(name, declared) or f"; vars has {one_line(', '.join(itertools.islice(declared, 20)), 120) or 'none'}"
            self._error(tree, where, f"unknown variable {one_line(name, 60)!r}{hint}")

        parts: list[tuple[str, Tree]] = [("op", op)]
        parts += [(name, tree) for name in ("in", "kwargs") if (tree := test.get(name)) is not None]
        for where, part in parts:
            for variable in variables_in(part):
                if variable.text not in declared:
                    report(variable, where, variable.text)
        texts: list[tuple[str, Tree | None]] = [("id", test.get("id")), ("op.path", op.get("path"))]
        for side in ("a", "b"):
            part = op.get(side)
            texts.append((f"op.{side}.path", part.get("path") if isinstance(part, Mapping) else None))
        for where, text in texts:
            for match in PLACEHOLDER.finditer(text.text) if isinstance(text, Scalar) else ():
                if match[1] not in declared:
                    report(cast(Tree, text), where, match[1])
        if unknown:
            raise Wrong

    def _sides(self, op: Mapping) -> dict[str, Mapping]:
        """Each side with what it takes from `common`."""
        reader = self._reader
        common = op.get("common")
        shared = Mapping(op.place, {}) if common is None or is_null(common) else reader.mapping(common, "op.common", "common")
        sound = reader.check_fields(shared, COMMON, "op.common")
        sides: dict[str, Mapping] = {}
        for name in ("a", "b"):
            part = reader.mapping(cast(Tree, op.get(name)), f"op.{name}", "a side")
            sound = reader.check_fields(part, SIDE, f"op.{name}") and sound
            kind = part.get("type")
            if kind is not None and not (isinstance(kind, Scalar) and kind.text == "module"):
                self._error(kind, f"op.{name}.type", f"a side has the type module, not {shown(kind)}")
                sound = False
            impl = part.get("impl")
            if impl is not None:
                reader.text(impl, f"op.{name}.impl", "impl")
            sides[name] = Mapping(part.place, {**_inherited(shared, part), **part.entries, **_merged_keywords(shared, part)})
        if not sound:
            raise Wrong
        return sides


def _product(names: list[str], values: dict[str, list[Tree]], cases: list[dict[str, Tree]]) -> Iterator[tuple[Tree, ...]]:
    """The values of *names* in each assignment."""
    for case in cases:
        yield from itertools.product(*([case[name]] if name in case else values[name] for name in names))


def _inherited(common: Mapping, side: Mapping) -> dict[str, tuple[Place, Tree]]:
    return {name: entry for name, entry in common.entries.items() if name not in side.entries}


def _merged_keywords(common: Mapping, side: Mapping) -> dict[str, tuple[Place, Tree]]:
    """`kwargs` of a side: those in common, and over them its own."""
    own, other = side.get("kwargs"), common.get("kwargs")
    if not isinstance(own, Mapping) or not isinstance(other, Mapping):
        return {}
    return {"kwargs": (own.place, Mapping(own.place, {**other.entries, **own.entries}))}


def _with_path(tree: Mapping, assignment: Assignment) -> Mapping:
    path = tree.get("path")
    if not isinstance(path, Scalar) or "{" not in path.text:
        return tree
    return Mapping(tree.place, {**tree.entries, "path": (path.place, Scalar(path.place, assignment.text(path.text), path.plain))})


def _is_template(tree: Tree) -> bool:
    op = tree.get("op") if isinstance(tree, Mapping) else None
    kind = op.get("type") if isinstance(op, Mapping) else None
    return isinstance(kind, Scalar) and kind.text.startswith("template")
