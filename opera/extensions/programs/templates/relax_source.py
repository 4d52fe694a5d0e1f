"""`program/1` as the Python source that builds the same module of Relax. The module does not import TVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from opera.arrays import Array, Outputs
from opera.extensions.programs.languages import own_printer, registry
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, If, Invoke, Program, Projection, Tuple
from opera.extensions.programs.templates.relax_operators import BUILD
from opera.extensions.programs.types import TensorType, Type, tensor
from opera.extensions.programs.values import to_array
from opera.models.template import PythonSource
from opera.templates.python_text import array_text, imports_of, listed, number_text, quoted, value_text

_INDENT = "    "


def python_source(program: Program, inputs: Mapping[str, Array], outputs: Outputs) -> PythonSource:
    """A program with canonical names, its inputs, and the outputs to expect of it."""
    writer = _Writer()
    lines = ["builder = relax.BlockBuilder()"]
    for function in program.functions:
        lines += writer.function(function)
    lines.append("model = builder.finalize()")
    given = [f"{quoted(name)}: {array_text(value)}" for name, value in inputs.items()]
    text = "\n".join([*lines, listed("inputs", given, "{}")])
    expected = listed("expected", [value_text(each) for each in outputs])
    return PythonSource((*imports_of(text + expected), "from tvm import relax", *writer.imports), text, expected)


@dataclass(frozen=True)
class _Text:
    """An expression as source, with as much of its type as writers of operators ask for."""

    text: str
    shape: tuple[int, ...] = ()

    @property
    def ty(self) -> SimpleNamespace:
        return SimpleNamespace(shape=self.shape)


class _Namespace:
    """Writes the calls of what stands at a dotted path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> _Namespace:
        return _Namespace(f"{self._path}.{name}")

    def __call__(self, *positional: object, **keywords: object) -> _Text:
        arguments = [*map(_argument, positional), *(f"{name}={_argument(value)}" for name, value in keywords.items())]
        return _Text(f"{self._path}({', '.join(arguments)})")


def _argument(value: object) -> str:
    if isinstance(value, _Text):
        return value.text
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_argument, cast("Sequence[object]", value))) + "]"
    return number_text(cast("float | int | bool", value))


def _type(kind: Type) -> str:
    if isinstance(kind, TensorType):
        return f"relax.TensorType({kind.shape}, {quoted(kind.dtype)})"
    return f"relax.TupleType([{', '.join(map(_type, kind.fields))}])"


class _Writer:
    """Writes functions one after another; collects the imports that operators of plug-ins need."""

    def __init__(self) -> None:
        self.imports: list[str] = []

    def function(self, function: Function) -> Iterator[str]:
        """The lines that add *function* to the builder's module."""
        types = {each.name: each.type for each in function.parameters}
        for each in function.parameters:
            yield f"{each.name} = relax.Var({quoted(each.name)}, {_type(each.type)})"
        yield f"with builder.function({quoted(function.name)}, [{', '.join(types)}]):"
        result = function.body.result
        if function.body.dataflow:
            yield f"{_INDENT}with builder.dataflow():"
            for line in self._block(function.body, types):
                yield 2 * _INDENT + line
            yield f"{2 * _INDENT}result = builder.emit_output({result})"
            result = "result"
        else:
            for line in self._block(function.body, types):
                yield _INDENT + line
        yield f"{_INDENT}builder.emit_func_output({result})"
        if function.name != "main":
            yield f"{function.name} = builder.get().get_global_var({quoted(function.name)})"

    def _block(self, block: Block, outer: Mapping[str, Type]) -> Iterator[str]:
        types = dict(outer)
        for binding in block.bindings:
            yield from self._binding(binding, types)
            types[binding.name] = binding.type

    def _binding(self, binding: Binding, types: Mapping[str, Type]) -> Iterator[str]:
        match binding.value:
            case Call(operator, arguments, attributes):
                given = [_Text(each, tensor(types[each]).shape) for each in arguments]
                value = self._call(operator, given, attributes)
            case Constant(literal):
                yield f"{binding.name} = relax.const({array_text(to_array(literal))}, {quoted(literal.dtype)})"
                return
            case Tuple(parts):
                value = f"relax.Tuple([{', '.join(parts)}])"
            case Projection(source, index):
                value = f"relax.TupleGetItem({source}, {index})"
            case If(condition, then, otherwise):
                for name, block in (("then", then), ("otherwise", otherwise)):
                    yield from self._branch(f"{name}_{binding.name}", block, types)
                value = f"relax.If({condition}, then_{binding.name}, otherwise_{binding.name})"
            case Invoke(function, arguments):
                value = f"relax.Call({function}, [{', '.join(arguments)}])"
        yield f"{binding.name} = builder.emit({value})"

    def _branch(self, name: str, block: Block, types: Mapping[str, Type]) -> Iterator[str]:
        yield "builder._begin_binding_block()"
        yield "builder.begin_scope()"
        yield from self._block(block, types)
        yield "made = builder._end_block()"
        yield "builder.end_scope()"
        yield f"{name} = builder.normalize(relax.SeqExpr([made], {block.result}))"

    def _call(self, operator: str, given: Sequence[_Text], attributes: Mapping[str, Any]) -> str:
        build = BUILD.get(operator)
        if build is not None:
            return build(_Namespace("relax.op"), given, attributes).text
        own_printer(operator, "relax")
        module, _, name = registry().get(operator).printers["relax"].partition(":")
        self.imports.append(f"import {module}")
        settings = ", ".join(f"{quoted(key)}: {_argument(value)}" for key, value in attributes.items())
        return f"{module}.{name}([{', '.join(each.text for each in given)}], {{{settings}}})"
