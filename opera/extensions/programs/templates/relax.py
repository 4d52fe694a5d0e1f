"""Prints `program/1` as a module of Relax, TVM's language of graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
import tvm.relax
import tvm.tirx

from opera.extensions.programs.languages import own_printer
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, If, Invoke, Parameter, Program, Projection, Tuple
from opera.extensions.programs.templates.relax_operators import BUILD
from opera.extensions.programs.types import TensorType, Type, tensor
from opera.extensions.programs.values import to_array

relax: Any = tvm.relax
tirx: Any = tvm.tirx


def module_of(program: Program) -> tvm.IRModule:
    """The module of *program*; its functions have the names of the program's."""
    builder = relax.BlockBuilder()
    known: dict[str, Any] = {}
    for function in program.functions:
        known[function.name] = _Printer(builder, known).function(function)
    return builder.finalize()


def _type(kind: Type) -> Any:
    if isinstance(kind, TensorType):
        return relax.TensorType(kind.shape, kind.dtype)
    return relax.TupleType([_type(each) for each in kind.fields])


def _symbolic(parameter: Parameter, symbols: Mapping[tuple[str, int], Any]) -> Any:
    """The type of a parameter, with its symbolic dimensions."""
    kind = parameter.type
    if not isinstance(kind, TensorType):
        return _type(kind)
    return relax.TensorType([symbols.get((parameter.name, axis), size) for axis, size in enumerate(kind.shape)], kind.dtype)


class _Printer:
    """Prints a function as one of Relax."""

    def __init__(self, builder: Any, known: Mapping[str, Any]) -> None:
        self._builder = builder
        self._known = known

    def function(self, function: Function) -> Any:
        """Adds *function* to the module; what calls it names."""
        sizes = [(each, tirx.Var(each.name, "int64")) for each in function.symbols]
        named = {place: size for each, size in sizes for place in each.places}
        parameters = [relax.Var(each.name, _symbolic(each, named)) for each in function.parameters]
        variables = {each.name: variable for each, variable in zip(function.parameters, parameters, strict=True)}
        with self._builder.function(function.name, parameters):
            if function.body.dataflow:
                with self._builder.dataflow():
                    result = self._builder.emit_output(self._block(function.body, variables))
            else:
                result = self._block(function.body, variables)
            self._builder.emit_func_output(result)
        return next(each for each in self._builder.get().get_global_vars() if each.name_hint == function.name)

    def _block(self, block: Block, outer: Mapping[str, Any]) -> Any:
        variables = dict(outer)
        for binding in block.bindings:
            variables[binding.name] = self._binding(binding, variables)
        return variables[block.result]

    def _binding(self, binding: Binding, variables: Mapping[str, Any]) -> Any:
        match binding.value:
            case Call(operator, arguments, attributes):
                given = [variables[each] for each in arguments]
                build = BUILD.get(operator)
                made = own_printer(operator, "relax")(given, attributes) if build is None else build(relax.op, given, attributes)
                return self._builder.emit(made)
            case Constant(literal):
                return relax.const(to_array(literal), tensor(binding.type).dtype)
            case Tuple(parts):
                return self._builder.emit(relax.Tuple([variables[each] for each in parts]))
            case Projection(source, index):
                return self._builder.emit(relax.TupleGetItem(variables[source], index))
            case If(condition, then, otherwise):
                branches = [self._branch(each, variables) for each in (then, otherwise)]
                return self._builder.emit(relax.If(variables[condition], *branches))
            case Invoke(function, arguments):
                return self._builder.emit(relax.Call(self._known[function], [variables[each] for each in arguments]))

    def _branch(self, block: Block, variables: Mapping[str, Any]) -> Any:
        self._builder._begin_binding_block()
        self._builder.begin_scope()
        result = self._block(block, variables)
        made = self._builder._end_block()
        self._builder.end_scope()
        return self._builder.normalize(relax.SeqExpr([made], result))
