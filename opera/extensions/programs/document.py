"""`program/1`: programs as JSON, independent of any compiler, parser or text form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from opera.bounded_json import JsonObject, JsonValue
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    Expression,
    Function,
    If,
    Invoke,
    Parameter,
    Program,
    Projection,
    Symbol,
    Tuple,
    bindings,
)
from opera.extensions.programs.types import Attribute, TensorType, TupleType, Type, elements, tensors_in
from opera.extensions.programs.values import ProgramValue, to_array, to_tensor
from opera.instance import Tensor, decode_value, encode_value

SCHEMA = "program/1"
_DEEPEST = 64
_MOST_ELEMENTS = 2**26
"""Most elements of a tensor, and of all values of a program together: what has more would take gigabytes to evaluate."""


class BadProgram(ValueError):
    """A document that is no program. The message says where, and what is wrong."""


def encode(generated: Generated) -> JsonObject:
    """The document of a program and its inputs."""
    marked: JsonObject = {"ill_typed": True} if generated.ill_typed else {}
    return {**encode_program(generated.program), "inputs": [_value(each) for each in generated.inputs], **marked}


def encode_program(program: Program) -> JsonObject:
    """The document of a program, without inputs."""
    return {"schema": SCHEMA, "functions": [_function(each) for each in program.functions]}


def _function(function: Function) -> JsonObject:
    parameters = [{"name": each.name, "type": _type(each.type)} for each in function.parameters]
    symbols = [{"name": each.name, "places": [[name, axis] for name, axis in each.places]} for each in function.symbols]
    return {
        "name": function.name,
        "parameters": parameters,
        "body": _block(function.body),
        "result": _type(function.result),
        **({"symbols": cast("JsonValue", symbols)} if symbols else {}),
    }


def _type(kind: Type) -> JsonObject:
    if isinstance(kind, TensorType):
        return {"shape": list(kind.shape), "dtype": kind.dtype}
    return {"tuple": [_type(each) for each in kind.fields]}


def _block(block: Block) -> JsonObject:
    bindings = [{"name": each.name, "type": _type(each.type), "value": _expression(each.value)} for each in block.bindings]
    return {"bindings": bindings, "result": block.result, **({"dataflow": True} if block.dataflow else {})}


def _expression(value: Expression) -> JsonObject:
    match value:
        case Call(operator, arguments, attributes):
            found = {name: list(each) if isinstance(each, tuple) else each for name, each in attributes.items()}
            return {"call": operator, "arguments": list(arguments), **({"attributes": cast("JsonObject", found)} if found else {})}
        case Constant(literal):
            return {"constant": cast("JsonValue", encode_value(literal))}
        case Tuple(parts):
            return {"parts": list(parts)}
        case Projection(source, index):
            return {"part": index, "of": source}
        case If(condition, then, otherwise):
            return {"if": condition, "then": _block(then), "else": _block(otherwise)}
        case Invoke(function, arguments):
            return {"invoke": function, "arguments": list(arguments)}


def _value(value: ProgramValue) -> JsonValue:
    if isinstance(value, tuple):
        return {"parts": [_value(each) for each in value]}
    return cast("JsonValue", encode_value(to_tensor(value)))


def decode(document: object) -> Generated:
    """The program of a document, and its inputs. Types are read, not checked; `opera.extensions.programs.check` does that.

    Raises:
        BadProgram: it is no `program/1`.
    """
    reader = _Part(document, "the document")
    program = _read_program(reader, "inputs", "ill_typed")
    inputs = tuple(_read_value(each, 0) for each in reader.parts("inputs"))
    return Generated(program, inputs, ill_typed=reader.get("ill_typed") is True)


def decode_program(document: object) -> Program:
    """The program of a document without inputs. Types are read, not checked.

    Raises:
        BadProgram: it is no `program/1`.
    """
    return _read_program(_Part(document, "the document"))


def _read_program(reader: _Part, *others: str) -> Program:
    if reader.get("schema") != SCHEMA:
        raise BadProgram(f"expected schema {SCHEMA!r}, found {str(reader.get('schema'))[:40]!r}")
    reader.only("schema", "functions", *others)
    program = Program(tuple(_read_function(each) for each in reader.parts("functions")))
    held = sum(elements(kind.shape) for binding in bindings(program) for kind in tensors_in(binding.type))
    if held > _MOST_ELEMENTS:
        raise BadProgram(f"{reader.place}: its values have {held:,} elements together, more than {_MOST_ELEMENTS:,}")
    return program


@dataclass(frozen=True)
class _Part:
    """A part of a document, and where it stands."""

    content: object
    place: str

    def get(self, key: str) -> object:
        if not isinstance(self.content, Mapping):
            raise BadProgram(f"{self.place}: expected a table, found {str(self.content)[:40]!r}")
        return cast("Mapping[str, object]", self.content).get(key)

    def part(self, key: str) -> _Part:
        return _Part(self.get(key), f"{self.place}.{key}")

    def parts(self, key: str) -> list[_Part]:
        return self.part(key).items()

    def items(self) -> list[_Part]:
        if not isinstance(self.content, list):
            raise BadProgram(f"{self.place}: expected a list, found {str(self.content)[:40]!r}")
        return [_Part(each, f"{self.place}[{index}]") for index, each in enumerate(cast("list[object]", self.content))]

    def text(self, key: str) -> str:
        found = self.get(key)
        if not isinstance(found, str) or not found:
            raise BadProgram(f"{self.place}.{key}: expected a name, found {str(found)[:40]!r}")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.parts(key)
        if not all(isinstance(each.content, str) for each in found):
            raise BadProgram(f"{self.place}.{key}: expected names")
        return tuple(str(each.content) for each in found)

    def integer(self) -> int:
        if type(self.content) is not int:
            raise BadProgram(f"{self.place}: expected an integer, found {str(self.content)[:40]!r}")
        return self.content

    def only(self, *keys: str) -> None:
        self.get("")
        unknown = sorted(cast("Mapping[str, object]", self.content).keys() - set(keys))
        if unknown:
            raise BadProgram(f"{self.place}: unknown key {unknown[0][:40]!r}")

    def has(self, key: str) -> bool:
        return isinstance(self.content, Mapping) and key in cast("Mapping[str, object]", self.content)


def _read_function(part: _Part) -> Function:
    part.only("name", "parameters", "body", "result", "symbols")
    parameters = tuple(Parameter(each.text("name"), _read_type(each.part("type"), 0)) for each in part.parts("parameters"))
    symbols = tuple(_read_symbol(each) for each in part.parts("symbols")) if part.has("symbols") else ()
    return Function(part.text("name"), parameters, _read_block(part.part("body"), 0), _read_type(part.part("result"), 0), symbols)


def _read_symbol(part: _Part) -> Symbol:
    part.only("name", "places")
    places: list[tuple[str, int]] = []
    for each in part.parts("places"):
        place = each.items()
        if len(place) != 2 or not isinstance(place[0].content, str):
            raise BadProgram(f"{each.place}: expected the name of a parameter, and an axis")
        places.append((place[0].content, place[1].integer()))
    if not places:
        raise BadProgram(f"{part.place}.places: expected a dimension")
    return Symbol(part.text("name"), tuple(places))


def _read_type(part: _Part, depth: int) -> Type:
    if depth > _DEEPEST:
        raise BadProgram(f"{part.place}: nested deeper than {_DEEPEST} levels")
    if part.has("tuple"):
        part.only("tuple")
        return TupleType(tuple(_read_type(each, depth + 1) for each in part.parts("tuple")))
    part.only("shape", "dtype")
    shape = tuple(each.integer() for each in part.parts("shape"))
    if min(shape, default=0) < 0:
        raise BadProgram(f"{part.place}.shape: a size is negative")
    if elements(shape) > _MOST_ELEMENTS:
        raise BadProgram(f"{part.place}.shape: a tensor of {elements(shape):,} elements; a program has at most {_MOST_ELEMENTS:,}")
    return TensorType(shape, part.text("dtype"))


def _read_block(part: _Part, depth: int) -> Block:
    if depth > _DEEPEST:
        raise BadProgram(f"{part.place}: nested deeper than {_DEEPEST} levels")
    part.only("bindings", "result", "dataflow")
    bindings = tuple(
        Binding(each.text("name"), _read_type(each.part("type"), 0), _read_expression(each.part("value"), depth))
        for each in part.parts("bindings")
    )
    return Block(bindings, part.text("result"), dataflow=part.get("dataflow") is True)


def _read_expression(part: _Part, depth: int) -> Expression:
    if part.has("call"):
        part.only("call", "arguments", "attributes")
        return Call(part.text("call"), part.texts("arguments"), _read_attributes(part.part("attributes")) if part.has("attributes") else {})
    if part.has("constant"):
        part.only("constant")
        return Constant(_read_tensor(part.part("constant")))
    if part.has("parts"):
        part.only("parts")
        return Tuple(part.texts("parts"))
    if part.has("of"):
        part.only("part", "of")
        return Projection(part.text("of"), part.part("part").integer())
    if part.has("if"):
        part.only("if", "then", "else")
        return If(part.text("if"), _read_block(part.part("then"), depth + 1), _read_block(part.part("else"), depth + 1))
    if part.has("invoke"):
        part.only("invoke", "arguments")
        return Invoke(part.text("invoke"), part.texts("arguments"))
    raise BadProgram(f"{part.place}: expected one of 'call', 'constant', 'parts', 'of', 'if' and 'invoke'")


def _read_attributes(part: _Part) -> dict[str, Attribute]:
    part.get("")
    return {name: _read_attribute(part.part(name)) for name in cast("Mapping[str, object]", part.content)}


def _read_attribute(part: _Part) -> Attribute:
    if isinstance(part.content, list):
        return tuple(each.integer() for each in part.items())
    if isinstance(part.content, (bool, int, float, str)):
        return part.content
    raise BadProgram(f"{part.place}: expected a number, a text, true, false, or integers")


def _read_tensor(part: _Part) -> Tensor:
    try:
        found = decode_value(part.content)
    except ValueError as error:
        raise BadProgram(f"{part.place}: {error}") from error
    if not isinstance(found, Tensor) or found.data is None or found.strides is not None or found.layout != "strided":
        raise BadProgram(f"{part.place}: expected a tensor with its elements")
    return found


def _read_value(part: _Part, depth: int) -> ProgramValue:
    if depth > _DEEPEST:
        raise BadProgram(f"{part.place}: nested deeper than {_DEEPEST} levels")
    if part.has("parts"):
        part.only("parts")
        return tuple(_read_value(each, depth + 1) for each in part.parts("parts"))
    return to_array(_read_tensor(part))
