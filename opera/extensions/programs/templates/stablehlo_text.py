"""`program/1` as the text of a StableHLO module. The module imports nothing of MLIR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opera.extensions.programs.languages import Unwritable
from opera.extensions.programs.program import MAIN, Binding, Block, Call, Constant, Function, If, Invoke, Program, Projection, Tuple
from opera.extensions.programs.templates.stablehlo_lines import Lines, Ssa, written
from opera.extensions.programs.templates.stablehlo_operators import WRITE
from opera.extensions.programs.types import TensorType, TupleType, Type, tensors_in
from opera.extensions.programs.values import to_array


def module_text(program: Program) -> str:
    """The module of *program*, with its entry as `main`.

    Raises:
        Unwritable: it has an operator or dtype that is not written.
    """
    functions = {each.name: MAIN if each is program.main else f"f{index}" for index, each in enumerate(program.functions)}
    lines = [line for each in program.functions for line in _function(each, functions)]
    return "\n".join(["module {", *lines, "}", ""])


def _function(function: Function, functions: Mapping[str, str]) -> list[str]:
    lines = _Body(functions)
    visible = {each.name: lines.named(each.type) for each in function.parameters}
    given = [f"{each.name}: {written(each.type)}" for each in map(_flat, visible.values()) for each in each]
    results = lines.block(function.body, visible)
    types = ", ".join(written(each.type) for each in results)
    name = functions[function.name]
    access = "public" if name == MAIN else "private"
    head = f"  func.func {access} @{name}({', '.join(given)}) -> ({types}) {{"
    return [head, *(f"    {each}" for each in lines.text), f"    return {', '.join(each.name for each in results)} : {types}", "  }"]


def _flat(value: Any) -> list[Ssa]:
    return [value] if isinstance(value, Ssa) else [part for each in value for part in _flat(each)]


class _Body(Lines):
    """The operations of one function.

    Args:
        functions: The names of the program's functions in the text.
    """

    def __init__(self, functions: Mapping[str, str]) -> None:
        super().__init__()
        self._functions = functions

    def named(self, kind: Type) -> Any:
        """A new value of *kind*, a tuple as the tuple of its parts."""
        if isinstance(kind, TupleType):
            return tuple(self.named(each) for each in kind.fields)
        return Ssa(self.fresh(), kind)

    def block(self, block: Block, outer: Mapping[str, Any]) -> list[Ssa]:
        """Writes the bindings of a block; returns the parts of its result."""
        visible = dict(outer)
        for each in block.bindings:
            visible[each.name] = self._value(each, visible)
        return _flat(visible[block.result])

    def _value(self, binding: Binding, visible: Mapping[str, Any]) -> Any:
        match binding.value:
            case Call(operator, arguments, attributes):
                if operator not in WRITE:
                    raise Unwritable(f"StableHLO has no operator {operator!r}")
                return WRITE[operator](self, [visible[each] for each in arguments], attributes)
            case Constant(tensor):
                return self.constant(to_array(tensor), TensorType(tensor.shape, tensor.dtype))
            case Tuple(parts):
                return tuple(visible[each] for each in parts)
            case Projection(source, index):
                return visible[source][index]
            case If(condition, then, otherwise):
                return self._if(visible[condition], then, otherwise, binding.type, visible)
            case Invoke(function, arguments):
                given = [part for each in arguments for part in _flat(visible[each])]
                return self._results(
                    f"func.call @{self._functions[function]}({', '.join(each.name for each in given)})", given, binding.type
                )
        raise Unwritable(f"an expression of kind {type(binding.value).__name__}")

    def _if(self, condition: Ssa, then: Block, otherwise: Block, kind: Type, visible: Mapping[str, Any]) -> Any:
        regions: list[str] = []
        for each in (then, otherwise):
            outer, self.text = self.text, []
            results = self.block(each, visible)
            types = ", ".join(written(part.type) for part in results)
            inner = [*self.text, f"stablehlo.return {', '.join(part.name for part in results)} : {types}"]
            self.text = outer
            regions.append("{\n      " + "\n      ".join(inner) + "\n    }")
        return self._results(f'"stablehlo.if"({condition.name}) ({", ".join(regions)})', [condition], kind)

    def _results(self, text: str, operands: Sequence[Ssa], kind: Type) -> Any:
        """Writes an operation whose results are the parts of a value of *kind*."""
        parts = list(tensors_in(kind))
        types = f"({', '.join(written(each.type) for each in operands)}) -> ({', '.join(map(written, parts))})"
        head = self.fresh()
        left = f"{head}:{len(parts)} = " if len(parts) > 1 else f"{head} = "
        self.text.append(f"{left}{text} : {types}")
        names = iter([f"{head}#{index}" for index in range(len(parts))] if len(parts) > 1 else [head])

        def shaped(each: Type) -> Any:
            return tuple(map(shaped, each.fields)) if isinstance(each, TupleType) else Ssa(next(names), each)

        return shaped(kind)
