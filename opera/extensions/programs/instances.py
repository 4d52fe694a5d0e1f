"""Programs as instances, so that corpora, campaigns and findings hold them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from opera.bounded_json import Malformed, parsed_json
from opera.extensions.programs.document import SCHEMA, BadProgram, decode_program, encode_program
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.program import Binding, Call, If, Invoke, Program, Tuple, bindings, call_feature, canonical, operators_of
from opera.extensions.programs.types import Type
from opera.extensions.programs.values import to_tensor
from opera.instance import Argument, Graph, Instance, Kind, Tensor

PROGRAM = Kind("program")
SOURCE = "typed"
"""The source of programs that OPERA generates, as provenance names it."""
FACT = "program"
"""The fact of an instance's context that holds its program."""
FORMAT = f"opera.{SCHEMA}"
API = "opera.program"
"""The API of all programs: a program has many operators, and no name."""
ILL_TYPED = "opera.ill_typed"
"""The API of programs that a compiler has to reject."""


def instance_of(generated: Generated, language: str) -> Instance:
    """The instance of a program and its inputs.

    Its identity covers the program up to names, and its inputs as that of other instances does.

    Args:
        generated: A program that `opera.extensions.programs.check` accepts, or an ill-typed one; the parameters of its `main` are tensors.
        language: The language that it is printed in, which is the library of the instance.

    Raises:
        BadProgram: a parameter of `main` is a tuple.
    """
    program = canonical(generated.program)
    call: list[Argument] = []
    for parameter, value in zip(program.main.parameters, generated.inputs, strict=True):
        if isinstance(value, tuple):
            raise BadProgram(f"parameter {parameter.name!r} of 'main' is a tuple; instances take tensors")
        call.append(Argument(parameter.name, to_tensor(value)))
    return with_program(Instance(language, ILL_TYPED if generated.ill_typed else API, PROGRAM, call=tuple(call)), program)


def with_program(instance: Instance, program: Program) -> Instance:
    """*instance* with another program, whose parameters are those in its `call`."""
    data = json.dumps(encode_program(program), separators=(",", ":"), sort_keys=True).encode()
    context = tuple(pair for pair in instance.context if pair[0] != FACT)
    return Instance(instance.library, instance.api, instance.kind, call=instance.call, context=(*context, (FACT, Graph(FORMAT, data))))


def program_of(instance: Instance) -> Program:
    """The program of *instance*, with names by place. Its types are read, not checked.

    Raises:
        BadProgram: it has none, or a malformed one, or its inputs are not those of the program.
    """
    graph = instance.context_value(FACT)
    if instance.kind is not PROGRAM or not isinstance(graph, Graph) or graph.format != FORMAT:
        raise BadProgram("the instance holds no program")
    try:
        document = parsed_json(graph.data)
    except Malformed as error:
        raise BadProgram(f"the program of the instance: {error}") from error
    program = decode_program(document)
    if not program.functions or len(instance.call) != len(program.main.parameters):
        raise BadProgram("the inputs of the instance are not the parameters of its program")
    if not all(isinstance(each.value, Tensor) for each in instance.call):
        raise BadProgram("an input of the instance is no tensor")
    return program


def operators_in_instance(instance: Instance) -> tuple[str, ...]:
    """The distinct operators of *instance*: those of a program in order of first use, of any other instance its one operator."""
    if instance.kind is not PROGRAM:
        return (instance.operator,)
    try:
        return operators_of(program_of(instance))
    except BadProgram:
        return ()


def features_of(instance: Instance) -> tuple[str, ...]:
    """What the program of *instance* exercises: its operators with the dtypes of their arguments, and what else it is made of."""
    try:
        program = program_of(instance)
    except BadProgram:
        return ()
    return tuple(sorted(set(_features(program))))


def _features(program: Program) -> Iterator[str]:
    yield from (feature for _, feature in called_features(program))
    for binding in bindings(program):
        if isinstance(binding.value, If):
            yield "if"
        elif isinstance(binding.value, Invoke):
            yield "function"
        elif isinstance(binding.value, Tuple) and binding.name != program.main.body.result:
            yield "tuple"


def called_features(program: Program) -> Iterator[tuple[Binding, str]]:
    """The calls of *program*, each with what it exercises: its operator and the dtypes of its arguments, `add(float32, float32)`.

    A call that is the third one of its kind comes with `add(float32, float32) twice` and `add(float32, float32) 3 times`, too.
    """
    seen: dict[str, int] = {}
    types: dict[str, Type] = {each.name: each.type for function in program.functions for each in function.parameters}
    types.update((each.name, each.type) for each in bindings(program))
    for binding in bindings(program):
        if isinstance(binding.value, Call):
            feature = call_feature(binding.value.operator, (types[name] for name in binding.value.arguments))
            seen[feature] = seen.get(feature, 0) + 1
            yield binding, feature
            for number in range(2, seen[feature] + 1):
                yield binding, f"{feature} {'twice' if number == 2 else f'{number} times'}"
