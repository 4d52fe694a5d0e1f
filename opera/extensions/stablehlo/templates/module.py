"""StableHLO programs as modules of jaxlib's MLIR: reading, finding functions, and saying what is wrong with a text."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

ir: Any = importlib.import_module("jaxlib.mlir.ir")
stablehlo: Any = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
passmanager: Any = importlib.import_module("jaxlib.mlir.passmanager")

_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo", "check", "interpreter"})
_UNKNOWN = re.compile(r"(?:custom op|unregistered operation) '((?:stablehlo|chlo)\.[\w.]+)' (?:is unknown|found)")
_PLACE = re.compile(r'loc\("(?:[^"\\]|\\.)*":(\d+):\d+')


class Rejected(Exception):
    """A text that is no program of StableHLO, or inputs that do not fit.

    Attributes:
        line: Where, counted from 1; 0 where the text is not at fault.
        unknown: The operation or pass of StableHLO that this version does not know, if that is the reason.
    """

    def __init__(self, message: str, line: int = 0, unknown: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.unknown = unknown


def new_context() -> Any:
    """A context with the dialects of StableHLO, in one thread; operations of unknown dialects are read in generic form."""
    extension: Any = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    context = ir.Context()
    context.enable_multithreading(False)
    registry = ir.DialectRegistry()
    extension.register_dialects(registry)
    context.append_dialect_registry(registry)
    for name in ("func", "builtin"):
        _ = context.dialects[name]
    stablehlo.register_dialect(context)
    stablehlo.register_interpreter_dialect(context)
    importlib.import_module("jaxlib.mlir.dialects.chlo").register_dialect(context)
    context.allow_unregistered_dialects = True
    return context


def parse(text: str) -> Any:
    """The module that *text* is, in the current context.

    Raises:
        Rejected: it is no MLIR, is of another dialect, or breaks a rule of an operation.
    """
    try:
        module = ir.Module.parse(text)
    except ir.MLIRError as error:
        raise _rejected(error) from error
    for operation in walk(module.operation):
        dialect = str(operation.name).partition(".")[0]
        if dialect not in _DIALECTS:
            raise Rejected(f"the operation {operation.name} is of another dialect; lower it to StableHLO first", line_of(operation))
    return module


def _rejected(error: Any) -> Rejected:
    """What is wrong with a text: the first message of the parser or a verifier, and its place."""
    found = list(error.error_diagnostics)
    first = found[0] if found else None
    message = str(error.message if first is None else first.message).strip().splitlines()[0]
    place = None if first is None else _PLACE.search(str(first.location))
    unknown = _UNKNOWN.search(message)
    return Rejected(message, 0 if place is None else int(place[1]), None if unknown is None else unknown[1])


def message_of(error: Exception) -> str:
    """What an exception of MLIR says, as one line without places."""
    found = list(getattr(error, "error_diagnostics", ()))
    texts = [str(each.message) for each in found] or [str(error)]
    return next((line.strip() for text in texts for line in text.splitlines() if line.strip()), type(error).__name__)


def walk(operation: Any) -> Iterator[Any]:
    """*operation* and all that it holds, in the order of the text."""
    stack = [operation]
    while stack:
        each = stack.pop()
        yield each
        inner = [child.operation for region in each.regions for block in region.blocks for child in block.operations]
        stack.extend(reversed(inner))


def line_of(operation: Any) -> int:
    """The line on which *operation* begins; 0 where its location is no place of a text."""
    place = _PLACE.search(str(operation.location))
    return 0 if place is None else int(place[1])


def resource_in(operation: Any) -> Any | None:
    """The first operation in *operation* with a constant whose values are not in the text (`dense_resource`); None without one.

    jaxlib's interpreter takes memory that nothing was written to for these values.
    """
    for each in walk(operation):
        if any(_is_elsewhere(each.attributes, name) for name in each.attributes):
            return each
    return None


def _is_elsewhere(attributes: Any, name: str) -> bool:
    """Whether the attribute is a `dense_resource`: the bindings have no class for it, and none for constants of complex numbers."""
    try:
        value = attributes[name]
    except TypeError as error:
        return "(Attribute(dense_resource" in str(error)
    return type(value) is ir.Attribute and str(value).startswith("dense_resource")


def programs_in(module: Any) -> list[Any]:
    """The module, or the modules within it where these hold the functions."""
    inner = [each.operation for each in module.body.operations if str(each.operation.name) == "builtin.module"]
    if not inner:
        return [module]
    own = [module] if functions_of(module) else []
    return own + [part for each in inner for part in programs_in(ir.Module.parse(each.get_asm(enable_debug_info=True)))]


@dataclass(frozen=True)
class Function:
    """A function of a module."""

    operation: Any
    name: str
    line: int
    inputs: Sequence[Any]
    results: Sequence[Any]


def functions_of(module: Any) -> list[Function]:
    """The functions of *module* that have a body, in the order of the text."""
    found: list[Function] = []
    for each in module.body.operations:
        operation = each.operation
        if str(operation.name) == "func.func" and len(operation.regions[0].blocks):
            kind = ir.FunctionType(operation.attributes["function_type"].value)
            name = ir.StringAttr(operation.attributes["sym_name"]).value
            found.append(Function(operation, name, line_of(operation), list(kind.inputs), list(kind.results)))
    return found


def entries_of(module: Any) -> list[Function]:
    """The functions that no other function of the module uses; all, where each is used."""
    functions = functions_of(module)
    used = {name for each in functions for name in _symbols(each.operation) if name != each.name}
    return [each for each in functions if each.name not in used] or functions


def _symbols(operation: Any) -> set[str]:
    """The symbols that *operation* and what it holds refer to. Constants refer to none, and jaxlib cannot read complex ones."""
    inner = (each for each in walk(operation) if str(each.name) != "stablehlo.constant")
    return {name for each in inner for key in each.attributes for name in _names(each.attributes[key])}


def keep_only(module: Any, name: str) -> None:
    """Removes the functions that the function called *name* does not reach."""
    reached = Parts(module).reached(name)
    for each in functions_of(module):
        if each.name not in reached:
            each.operation.erase()


class Parts:
    """The functions of a module, each of which can be taken out with all that it reaches."""

    def __init__(self, module: Any) -> None:
        self._module = module
        operations = [each.operation for each in module.body.operations]
        self._named = {ir.StringAttr(each.attributes["sym_name"]).value: each for each in operations if "sym_name" in each.attributes}
        self._places = {name: index for index, name in enumerate(self._named)}
        self._used: dict[str, set[str]] = {}

    def reached(self, name: str) -> set[str]:
        """The names of the functions that the function called *name* reaches, with its own."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each in self._named and each not in found:
                found.add(each)
                if each not in self._used:
                    self._used[each] = _symbols(self._named[each])
                waiting.extend(self._used[each])
        return found

    def alone(self, name: str) -> Any:
        """A new module with copies of the functions that the function called *name* reaches, in the order of the text."""
        module = ir.Module.create()
        for key in self._module.operation.attributes:
            module.operation.attributes[key] = self._module.operation.attributes[key]
        for each in sorted(self.reached(name), key=self._places.__getitem__):
            module.body.append(self._named[each].clone())
        return module


def _names(attribute: Any) -> Iterator[str]:
    """The symbols in an attribute, also within arrays and dictionaries."""
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        yield str(attribute.value)
    elif isinstance(attribute, ir.ArrayAttr):
        for each in attribute:
            yield from _names(each)
    elif isinstance(attribute, ir.DictAttr):
        for key in attribute:
            yield from _names(key.attr)


def run_passes(module: Any, *passes: str) -> None:
    """Runs passes on *module*; raises the exception of MLIR where one fails."""
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)


def run_named_passes(module: Any, passes: Sequence[str]) -> None:
    """Runs the passes of a RUN line on *module*, each on the whole or on each function, as it is made.

    Raises:
        Rejected: this version does not have a pass, or a pass fails.
    """
    for name in passes:
        try:
            manager = _manager(name)
        except ValueError as error:
            raise Rejected(str(error), unknown=f"the pass {name} of a RUN line") from error
        try:
            manager.run(module.operation)
        except ir.MLIRError as error:
            raise Rejected(f"the pass {name} of a RUN line fails: {message_of(error)}") from error


def _manager(name: str) -> Any:
    """A manager for one pass; raises ValueError if there is no such pass."""
    try:
        return passmanager.PassManager.parse(f"builtin.module({name})")
    except ValueError:
        return passmanager.PassManager.parse(f"builtin.module(func.func({name}))")


def tensor_of(type: Any) -> Any | None:
    """*type* as a ranked tensor; None where it is another type."""
    return type if isinstance(type, ir.RankedTensorType) else None
