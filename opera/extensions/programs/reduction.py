"""Smaller versions of a program: fewer bindings, plainer blocks, smaller sizes, plainer literals.

A binding that goes is replaced by something of its type: a parameter with the value that it had, one of its own operands, or a literal.
Each candidate is typed and evaluated again. The module knows no operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opera.arrays import Array
from opera.extensions.programs.check import Evaluation, check, evaluate
from opera.extensions.programs.document import BadProgram
from opera.extensions.programs.faults import faulty_call, type_fault
from opera.extensions.programs.instances import ILL_TYPED, called_features, program_of, with_program
from opera.extensions.programs.languages import registry
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
    blocks,
    canonical,
    read_by,
    used,
    with_names,
    without_dead_bindings,
    without_dead_functions,
)
from opera.extensions.programs.program import bindings as bindings_of
from opera.extensions.programs.retype import retyped
from opera.extensions.programs.types import NO_ATTRIBUTES, Attribute, IllTyped, TensorType, TupleType, Type
from opera.extensions.programs.values import ProgramValue, to_array, to_tensor, type_of
from opera.instance import Argument, Instance, Tensor
from opera.instance.kinds import Steps
from opera.triage.reduction.candidates import simpler_values

_SIZES = (1, 2, 3)


@dataclass(frozen=True)
class _Opened:
    """A program with the values that its variables have.

    Attributes:
        instance: What holds it.
        program: With names by place.
        values: Values of the parameters and bindings of `main`.
    """

    instance: Instance
    program: Program
    values: Mapping[str, ProgramValue]

    @property
    def body(self) -> Block:
        return self.program.main.body

    def closed(self, body: Block, inputs: Mapping[str, ProgramValue] | None = None) -> Iterator[Instance]:
        """The instance with *body* in `main`, without what that does not need; nothing where it is ill-typed, or not defined.

        Args:
            body: Its free variables are parameters, old or new.
            inputs: The values of new parameters, and other ones of old ones.
        """
        yield from _closed(self.instance, self.program.functions[:-1], body, {**self.values, **(inputs or {})}, self.program.main.symbols)


def _opened(instance: Instance) -> _Opened | None:
    """The program of *instance*; None for one that is malformed, ill-typed, or not defined on its inputs."""
    try:
        program = canonical(program_of(instance))
        check(program, registry())
        given = [to_array(each.value) for each in instance.call if isinstance(each.value, Tensor)]
        values: dict[str, ProgramValue] = {each.name: value for each, value in zip(program.main.parameters, given, strict=True)}
        evaluation = Evaluation(program, registry())
        with np.errstate(all="ignore"):
            for binding in program.main.body.bindings:
                values[binding.name] = evaluation.expression(binding.value, values)
    except ValueError:
        return None
    return _Opened(instance, program, values)


def _closed(
    instance: Instance, functions: Sequence[Function], body: Block, values: Mapping[str, ProgramValue], symbols: Sequence[Symbol] = ()
) -> Iterator[Instance]:
    tidy = _tidied(body)
    bound = {each.name for each in tidy.bindings}
    free = [name for name in dict.fromkeys(_reads(tidy)) if name not in bound]
    try:
        inputs = [(name, value) for name in free if not isinstance(value := values[name], tuple)]
        parameters = tuple(Parameter(name, type_of(value)) for name, value in inputs)
        known = {each.name: each for each in functions}
        typed, kind = retyped(tidy, {each.name: each.type for each in parameters}, known, registry())
        main = Function("main", parameters, typed, kind, _left(symbols, parameters))
        program = canonical(Program(without_dead_functions((*functions, main))))
        check(program, registry())
        evaluate(program, [value for _, value in inputs], registry())
        call = tuple(Argument(each.name, to_tensor(value)) for each, (_, value) in zip(program.main.parameters, inputs, strict=True))
    except (ValueError, KeyError, IndexError):
        return
    yield with_program(replace(instance, call=call), program)


def _left(symbols: Sequence[Symbol], parameters: Sequence[Parameter]) -> tuple[Symbol, ...]:
    """The symbols, with the dimensions of *parameters*: those that still have one size."""
    types = {each.name: each.type for each in parameters}
    found: list[Symbol] = []
    for each in symbols:
        places = [(name, axis) for name, axis in each.places if isinstance(kind := types.get(name), TensorType) and axis < len(kind.shape)]
        sizes = {kind.shape[axis] for name, axis in places if isinstance(kind := types[name], TensorType)}
        if len(sizes) == 1:
            found.append(replace(each, places=tuple(places)))
    return tuple(found)


def _reads(block: Block) -> Iterator[str]:
    """The variables that *block* reads, in order; those of inner blocks included."""
    for binding in block.bindings:
        match binding.value:
            case If(condition, then, otherwise):
                yield condition
                for inner in (then, otherwise):
                    own = {each.name for each in inner.bindings}
                    yield from (name for name in _reads(inner) if name not in own)
            case value:
                yield from used(value)
    yield block.result


def _tidied(block: Block) -> Block:
    """*block*, and all blocks inside it, without bindings that no result depends on."""

    def inner(value: Expression) -> Expression:
        return If(value.condition, _tidied(value.then), _tidied(value.otherwise)) if isinstance(value, If) else value

    return without_dead_bindings(replace(block, bindings=tuple(replace(each, value=inner(each.value)) for each in block.bindings)))


def without_symbols(instance: Instance) -> Iterator[Instance]:
    """The program with known sizes only."""
    opened = _opened(instance)
    if opened is not None and opened.program.main.symbols:
        yield from _closed(instance, opened.program.functions[:-1], opened.body, opened.values)


def faulty_call_alone(instance: Instance) -> Iterator[Instance]:
    """The call that makes a program ill-typed, of parameters with the values that its arguments had."""
    try:
        program = canonical(program_of(instance))
        fault = type_fault(program, registry())
        if fault is None:
            return
        alone = faulty_call(program)
        given = [to_array(each.value) for each in instance.call if isinstance(each.value, Tensor)]
        values: dict[str, ProgramValue] = {each.name: value for each, value in zip(program.main.parameters, given, strict=True)}
        evaluation = Evaluation(program, registry())
        with np.errstate(all="ignore"):
            for binding in program.main.body.bindings[: fault.place]:
                values[binding.name] = evaluation.expression(binding.value, values)
    except ValueError:
        return
    inputs = [(each.name, value) for each in alone.main.parameters if not isinstance(value := values[each.name], tuple)]
    if len(inputs) == len(alone.main.parameters):
        named = canonical(alone).main.parameters
        call = tuple(Argument(each.name, to_tensor(value)) for each, (_, value) in zip(named, inputs, strict=True))
        yield with_program(replace(instance, call=call), canonical(alone))


# Fewer bindings.


def fewer_results(instance: Instance) -> Iterator[Instance]:
    """One part of the tuple that `main` gives."""
    opened = _opened(instance)
    for binding in () if opened is None else opened.body.bindings:
        if opened is not None and binding.name == opened.body.result and isinstance(binding.value, Tuple):
            for part in binding.value.parts:
                yield from opened.closed(replace(opened.body, result=part))


def fewer_bindings(instance: Instance) -> Iterator[Instance]:
    """Some of the bindings of `main`: halves, quarters, ..., single ones, and the rest without each; others become parameters."""
    opened = _opened(instance)
    if opened is None:
        return
    units = [each.name for each in opened.body.bindings if isinstance(each.value, (Call, If, Invoke))]
    size = (len(units) + 1) // 2
    while size and len(units) > 1:
        parts = [units[start : start + size] for start in range(0, len(units), size)]
        for kept in parts:
            yield from _with_only(opened, set(kept))
        if len(parts) > 2:
            for gone in parts:
                yield from _with_only(opened, set(units) - set(gone))
        size = 0 if size == 1 else (size + 1) // 2


def _with_only(opened: _Opened, kept: set[str]) -> Iterator[Instance]:
    """The program with the calls, conditions and invocations *kept*; what these read of others are parameters with the values they had."""
    bindings: list[Binding] = []
    there = {each.name for each in opened.program.main.parameters} | kept
    inputs: dict[str, ProgramValue] = {}
    for binding in opened.body.bindings:
        if isinstance(binding.value, (Constant, Tuple)) or (isinstance(binding.value, Projection) and binding.value.source in there):
            bindings.append(binding)
            there.add(binding.name)
        elif binding.name in kept:
            bindings.append(binding)
        else:
            made, values = _given(binding.name, opened.values[binding.name])
            bindings += made
            inputs.update(values)
    yield from opened.closed(_with_sinks(bindings, kept, opened.body), inputs)


def _given(name: str, value: ProgramValue) -> tuple[list[Binding], dict[str, ProgramValue]]:
    """Bindings that make *value* of new parameters, and these with their values; a tensor is a parameter of that very name."""
    if not isinstance(value, tuple):
        return [], {name: value}
    bindings: list[Binding] = []
    inputs: dict[str, ProgramValue] = {}
    parts = [f"{name}.{index}" for index in range(len(value))]
    for part, inner in zip(parts, value, strict=True):
        made, values = _given(part, inner)
        bindings += made
        inputs.update(values)
    return [*bindings, Binding(name, type_of(value), Tuple(tuple(parts)))], inputs


def _with_sinks(bindings: Sequence[Binding], kept: set[str], body: Block) -> Block:
    """A block whose result is what no other of the *kept* bindings reads: one value, or a tuple."""
    needed = {body.result} if body.result in {each.name for each in bindings} else set[str]()
    last = tuple(each.name for each in bindings if each.name in kept and not _is_read(each.name, bindings, kept | needed))
    if body.result in needed and _depends(body.result, bindings, set(last)):
        return Block(tuple(bindings), body.result, body.dataflow)
    if len(last) == 1:
        return Block(tuple(bindings), last[0], body.dataflow)
    whole = Binding("result", TupleType(()), Tuple(last))
    return Block((*bindings, whole), whole.name, body.dataflow)


def _is_read(name: str, bindings: Sequence[Binding], readers: set[str]) -> bool:
    """Whether one of *readers* depends on *name*, through tuples and their parts."""
    reached = {name}
    for each in bindings:
        if not reached.isdisjoint(used(each.value)):
            if each.name in readers and isinstance(each.value, (Call, If, Invoke)):
                return True
            reached.add(each.name)
    return False


def _depends(result: str, bindings: Sequence[Binding], names: set[str]) -> bool:
    """Whether *result* depends on all of *names*."""
    reached = {result}
    for each in reversed(bindings):
        if each.name in reached:
            reached.update(used(each.value))
    return names <= reached


def bypassed(instance: Instance) -> Iterator[Instance]:
    """Bindings replaced by an operand, and parts of tuples by what they are.

    First all of which an operand has the same type, then halves, ..., single ones; last each call by each operand of another type, so that
    what follows gets other sizes, or another dtype.
    """
    opened = _opened(instance)
    if opened is None:
        return
    types: dict[str, Type] = {each.name: each.type for function in opened.program.functions for each in function.parameters}
    types.update((each.name, each.type) for each in bindings_of(opened.program))
    tuples = {each.name: each.value.parts for each in bindings_of(opened.program) if isinstance(each.value, Tuple)}
    same: dict[str, str] = {}
    others: list[dict[str, str]] = []
    for binding in bindings_of(opened.program):
        value = binding.value
        if isinstance(value, Projection) and value.source in tuples:
            same[binding.name] = tuples[value.source][value.index]
        elif isinstance(value, (Call, Invoke)):
            for each in dict.fromkeys(used(value)):
                if types[each] == binding.type:
                    same.setdefault(binding.name, each)
                else:
                    others.append({binding.name: each})
    for names in [*({name: same[name] for name in chunk} for chunk in _chunks(list(same))), *others]:
        functions = [replace(each, body=_tidied(with_names(each.body, names))) for each in opened.program.functions]
        yield from _closed(instance, functions[:-1], functions[-1].body, opened.values, functions[-1].symbols)


def _chunks(items: Sequence[str]) -> Iterator[Sequence[str]]:
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            yield items[start : start + size]
        size = 0 if size == 1 else (size + 1) // 2


# Plainer blocks.


def inlined(instance: Instance) -> Iterator[Instance]:
    """A function's body in place of its call; one of two blocks in place of an `if`."""
    opened = _opened(instance)
    if opened is None:
        return
    functions = {each.name: each for each in opened.program.functions}
    for index, binding in enumerate(opened.body.bindings):
        bodies: list[Block] = []
        if isinstance(binding.value, If):
            bodies = [binding.value.then, binding.value.otherwise]
        elif isinstance(binding.value, Invoke):
            function = functions[binding.value.function]
            names = {each.name: name for each, name in zip(function.parameters, binding.value.arguments, strict=True)}
            bodies = [with_names(function.body, names)]
        for body in bodies:
            before, after = opened.body.bindings[:index], opened.body.bindings[index + 1 :]
            rest = with_names(Block(after, opened.body.result), {binding.name: body.result})
            yield from opened.closed(Block((*before, *body.bindings, *rest.bindings), rest.result, dataflow=False))


def plainer_blocks(instance: Instance) -> Iterator[Instance]:
    """Bindings of functions, and of blocks of an `if`, replaced by a literal of ones: all of a block, halves, ..., single ones."""
    opened = _opened(instance)
    if opened is None:
        return
    for name, block in _inner(opened.program):
        plain = [each.name for each in block.bindings if isinstance(each.type, TensorType) and not isinstance(each.value, Constant)]
        for chunk in _chunks(plain):
            change = _with_ones(set(chunk))
            functions = [
                replace(each, body=_tidied(_in_blocks(each.body, block, change))) if each.name == name else each
                for each in opened.program.functions
            ]
            yield from _closed(instance, functions[:-1], functions[-1].body, opened.values, functions[-1].symbols)


def _inner(program: Program) -> Iterator[tuple[str, Block]]:
    """The blocks of functions other than `main`, and those of every `if`, each with the name of its function."""
    for function in program.functions:
        for block in blocks(function.body):
            if block is not program.main.body:
                yield function.name, block


def _with_ones(names: set[str]) -> Callable[[Block], Block]:
    def change(block: Block) -> Block:
        bindings = tuple(
            Binding(each.name, each.type, Constant(to_tensor(_ones(each.type))))
            if each.name in names and isinstance(each.type, TensorType)
            else each
            for each in block.bindings
        )
        return replace(block, bindings=bindings)

    return change


def _ones(kind: TensorType) -> Array:
    return np.ones(kind.shape, kind.dtype)


def _in_blocks(block: Block, wanted: Block, change: Callable[[Block], Block]) -> Block:
    """*block* with *wanted*, itself or one inside it, changed."""

    def inner(value: Expression) -> Expression:
        if isinstance(value, If):
            return If(value.condition, *(_in_blocks(each, wanted, change) for each in (value.then, value.otherwise)))
        return value

    if block is wanted:
        return change(block)
    return replace(block, bindings=tuple(replace(each, value=inner(each.value)) for each in block.bindings))


_PLAIN = ("negative", "logical_not", "abs")
"""Operators of one argument that stand for any other: the first that takes a dtype does."""
_FRESH = ".plain"


def plainer_operators(instance: Instance) -> Iterator[Instance]:
    """A call replaced by a plain one, of an operand that has the type of its result, or of a new parameter."""
    opened = _opened(instance)
    if opened is not None:
        for binding in bindings_of(opened.program):
            if isinstance(binding.value, Call) and binding.value.operator not in _PLAIN:
                yield from _with_plain(opened, [binding])


def with_other_operators(instance: Instance) -> Iterator[tuple[str, Instance]]:
    """What the calls of a program exercise, each with the program whose calls of this are replaced by plain ones."""
    opened = _opened(instance)
    if opened is not None:
        groups: dict[str, list[Binding]] = {}
        for binding, feature in called_features(opened.program):
            groups.setdefault(feature, []).append(binding)
        for feature, calls in groups.items():
            for other in _with_plain(opened, calls):
                yield feature, other


def _with_plain(opened: _Opened, calls: Sequence[Binding]) -> Iterator[Instance]:
    """The program with *calls* replaced by calls of a plain operator; nothing where it has none, or they are outside of `main`."""
    if not {each.name for each in calls} <= {each.name for block in blocks(opened.body) for each in block.bindings}:
        return
    own = {each.name: name for each in calls if (name := _operand(opened.program, each)) is not None}
    fresh = {each.name: f"{each.name}{_FRESH}" for each in calls}
    if own:
        yield from _with_plain_of(opened, calls, {**fresh, **own})
    yield from _with_plain_of(opened, calls, fresh)


def _operand(program: Program, call: Binding) -> str | None:
    """The first operand of *call* that has its type."""
    types: dict[str, Type] = {each.name: each.type for function in program.functions for each in function.parameters}
    types.update((each.name, each.type) for each in bindings_of(program))
    return next((each for each in used(call.value) if types[each] == call.type), None)


def _with_plain_of(opened: _Opened, calls: Sequence[Binding], names: Mapping[str, str]) -> Iterator[Instance]:
    """The program whose *calls* are calls of a plain operator on *names*, which may be those of new parameters."""
    inputs: dict[str, ProgramValue] = {}
    operators: dict[str, str] = {}
    for each in calls:
        found = _plain_for(each)
        if found is None or not isinstance(each.type, TensorType):
            return
        value = opened.values.get(each.name)
        array = _ones(each.type) if value is None or isinstance(value, tuple) else value
        operators[each.name] = found
        if names[each.name].endswith(_FRESH):
            inputs[names[each.name]] = {"negative": np.negative, "logical_not": np.logical_not}.get(found, np.asarray)(array)

    def changed(block: Block) -> Block:
        def inner(each: Binding) -> Binding:
            if isinstance(each.value, If):
                return replace(each, value=If(each.value.condition, changed(each.value.then), changed(each.value.otherwise)))
            return replace(each, value=Call(operators[each.name], (names[each.name],), NO_ATTRIBUTES)) if each.name in names else each

        return replace(block, bindings=tuple(map(inner, block.bindings)))

    yield from opened.closed(changed(opened.body), inputs)


def _plain_for(binding: Binding) -> str | None:
    """A plain operator that gives the type of a call, and is another one."""
    assert isinstance(binding.value, Call)
    for name in _PLAIN:
        try:
            if name != binding.value.operator and registry().get(name).infer([binding.type], NO_ATTRIBUTES) == binding.type:
                return name
        except IllTyped:
            continue
    return None


# Smaller sizes, plainer literals.


def smaller_sizes(instance: Instance) -> Iterator[Instance]:
    """One size replaced by a smaller one wherever it stands, or in one dimension of one parameter; the rest follows from the types."""
    opened = _opened(instance)
    if opened is None:
        return
    inputs = {each.name: value for each in opened.program.main.parameters if not isinstance(value := opened.values[each.name], tuple)}
    literals = [to_array(each.value.value) for each in opened.body.bindings if isinstance(each.value, Constant)]
    sizes = sorted({size for value in (*inputs.values(), *literals) for size in value.shape if size > 1}, reverse=True)
    for old in sizes:
        for new in _smaller(old):
            shorter = {
                name: _cut(value, [axis for axis, size in enumerate(value.shape) if size == old], new) for name, value in inputs.items()
            }
            for parameters_too in (True, False):
                yield from opened.closed(_with_sizes(opened.body, old, new, attributes=parameters_too), shorter)
    for name, value in inputs.items():
        for axis, old in enumerate(value.shape):
            for new in _smaller(old):
                yield from opened.closed(opened.body, {name: _cut(value, [axis], new)})


def _smaller(size: int) -> list[int]:
    return [each for each in dict.fromkeys((*_SIZES, size // 2, size - 1)) if 0 < each < size]


def _axes_of(value: Array, size: int) -> list[int]:
    return [axis for axis, each in enumerate(value.shape) if each == size]


def _cut(value: Array, axes: Sequence[int], size: int) -> Array:
    index = tuple(slice(0, size) if axis in axes else slice(None) for axis in range(value.ndim))
    return np.ascontiguousarray(value[index]).reshape([size if axis in axes else each for axis, each in enumerate(value.shape)])


def _with_sizes(block: Block, old: int, new: int, *, attributes: bool) -> Block:
    """*block* with the size *old* replaced in its literals, and in the lists of integers among parameters where *attributes* says so."""

    def attribute(value: Attribute) -> Attribute:
        return tuple(new if each == old else each for each in value) if isinstance(value, tuple) else value

    def changed(value: Expression) -> Expression:
        match value:
            case Call(operator, arguments, given) if attributes:
                return Call(operator, arguments, {name: attribute(each) for name, each in given.items()})
            case Constant(literal):
                array = to_array(literal)
                return Constant(to_tensor(_cut(array, _axes_of(array, old), new)))
            case If(condition, then, otherwise):
                return If(condition, *(_with_sizes(each, old, new, attributes=attributes) for each in (then, otherwise)))
            case _:
                return value

    return replace(block, bindings=tuple(replace(each, value=changed(each.value)) for each in block.bindings))


def plainer_literals(instance: Instance) -> Iterator[Instance]:
    """A literal of `main` as a parameter, or of ones."""
    opened = _opened(instance)
    if opened is None:
        return
    for binding in opened.body.bindings:
        if isinstance(binding.value, Constant):
            rest = replace(opened.body, bindings=tuple(each for each in opened.body.bindings if each is not binding))
            yield from opened.closed(rest)
            if isinstance(binding.type, TensorType):
                yield from opened.closed(_with_ones({binding.name})(opened.body))


# Complexity.

_OPERATOR = 400.0
_UNUSUAL = 200.0
_STRUCTURE = 60.0
_LITERAL = 40.0


def program_cost(instance: Instance) -> float:
    """The complexity of the program of *instance*, without its parameters."""
    try:
        program = program_of(instance)
    except BadProgram:
        return 0.0
    functions = sum(_block_cost(each.body) + (_OPERATOR if each is not program.main else 0.0) for each in program.functions)
    return functions + _STRUCTURE * len(program.main.symbols)


def _block_cost(block: Block) -> float:
    return sum(_cost(each) for each in block.bindings) + len(read_by(block))


def _cost(binding: Binding) -> float:
    match binding.value:
        case Call(operator, arguments, attributes):
            numbers = sum(abs(one) for each in attributes.values() for one in (each if isinstance(each, tuple) else ()))
            plain = 0.0 if operator in _PLAIN else _UNUSUAL
            return _OPERATOR + plain + len(arguments) + 2.0 * math.log2(1 + numbers)
        case If(_, then, otherwise):
            return _OPERATOR + _block_cost(then) + _block_cost(otherwise)
        case Invoke():
            return _OPERATOR
        case Tuple() | Projection():
            return _STRUCTURE
        case Constant(literal):
            array = to_array(literal)
            return _LITERAL + 3.0 * sum(math.log2(1 + size) for size in array.shape) + (10.0 if len(np.unique(array)) > 1 else 0.0)


def steps_for(instance: Instance) -> Steps:
    """The steps of a reduction of a program, the coarsest first."""
    return (faulty_call_alone,) if instance.api == ILL_TYPED else STEPS


STEPS: Steps = (
    fewer_bindings,
    without_symbols,
    fewer_results,
    inlined,
    bypassed,
    plainer_blocks,
    plainer_operators,
    smaller_sizes,
    plainer_literals,
    simpler_values,
)
