"""Generates programs from the type of the result backwards.

Each method is a visitor in reverse: it is given a type, and gives a variable of this type, for which it adds bindings. A policy says how
often each kind of expression is chosen; a subclass may choose differently. Values are computed while a program grows, so an operator is
applied only where it is defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from opera.extensions.programs.check import Evaluation, NotDefined
from opera.extensions.programs.faults import type_fault
from opera.extensions.programs.inserted import by_type
from opera.extensions.programs.languages import registry
from opera.extensions.programs.operators import DTYPE_LIST, DTYPES, Operator
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import (
    MAIN,
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
    Tuple,
    bindings,
    call_feature,
    canonical,
    read_by,
    renamed,
    with_names,
    without_dead_bindings,
    without_dead_functions,
)
from opera.extensions.programs.symbols import with_symbols
from opera.extensions.programs.types import IllTyped, TensorType, TupleType, Type, elements, tensors_in
from opera.extensions.programs.values import ANY, Bounds, ProgramValue, clear_of_zero, drawn, plain, to_tensor, type_of, within

_CONDITION = TensorType((), "bool")
INSERTED = "(inserted)"
"""Stands for the policy's blocks in counts."""
_SPOILING_TRIES = 60
"""Seeds that are tried for an ill-typed program."""
_TRIES = 3
"""Operators that are tried for one value, before it becomes a parameter or a literal."""


@dataclass
class GeneratorCounts:
    """What a generator did, by operator.

    Attributes:
        asked: How often an operator was chosen.
        solved: How often it became a call.
        too_large: How often its arguments would have been too large.
        undefined: How often its result was not finite.
        known: How often its call was one of those that the policy leaves out.
        broken: What solvers did wrong, with type and seed; each was switched off for the rest of that program.
        covered: How many programs have the operators that the policy's `cover` chose for them.
    """

    asked: Counter[str] = field(default_factory=Counter[str])
    solved: Counter[str] = field(default_factory=Counter[str])
    too_large: Counter[str] = field(default_factory=Counter[str])
    undefined: Counter[str] = field(default_factory=Counter[str])
    known: Counter[str] = field(default_factory=Counter[str])
    broken: dict[str, str] = field(default_factory=dict[str, str])
    covered: int = 0


@dataclass(frozen=True)
class Generated:
    """A program, with values for its parameters.

    Attributes:
        program: The program.
        inputs: A value for each parameter of `main`.
        ill_typed: Whether a call of `main` has an argument of a type that its operator does not take.
    """

    program: Program
    inputs: tuple[ProgramValue, ...]
    ill_typed: bool = False


def _bytes(kind: Type) -> int:
    """Memory of a value, estimated."""
    return sum(8 * elements(each.shape) for each in tensors_in(kind))


class Scope:
    """The variables that an expression may use, by type; an inner scope sees those of the outer one."""

    def __init__(self, outer: Scope | None = None) -> None:
        self._outer = outer
        self._names: dict[Type, list[str]] = {}
        self.bindings: list[Binding] = []

    def add(self, name: str, kind: Type) -> None:
        """Makes a variable visible."""
        self._names.setdefault(kind, []).append(name)

    def take(self, other: Scope) -> None:
        """Adds the variables and bindings of *other*."""
        for kind, names in other._names.items():
            self._names.setdefault(kind, []).extend(names)
        self.bindings += other.bindings

    def visible(self, kind: Type) -> list[str]:
        """The variables of type *kind*."""
        inner = self._names.get(kind, [])
        return inner if self._outer is None else [*self._outer.visible(kind), *inner]


class ProgramGenerator:
    """Draws programs as a policy says."""

    def __init__(self, policy: Policy, operators: Sequence[Operator]) -> None:
        """Prepares a generator.

        Args:
            policy: How programs are drawn.
            operators: Those to draw from, with the dtypes that the language has.
        """
        self.policy = policy
        self.counts = GeneratorCounts()
        self._operators = list(operators)
        self._without = frozenset(policy.without)
        self._fitting: dict[Type, tuple[list[Operator], list[float]]] = {}
        self._blocks = by_type(policy.blocks)
        self._block_types = list(self._blocks)

    def generate(self, seed: int) -> Generated:
        """The program of *seed*; the same for the same policy and seed."""
        self._begin(seed)
        scope = Scope()
        with np.errstate(all="ignore"):
            result, kind = self.results(scope)
        made = self._whole(scope, result, kind)
        if self.policy.ill_typed and self.random.random() < self.policy.ill_typed:
            known = Generated(canonical(made.program), made.inputs)
            tries = (self.spoil(known, seed + number) for number in range(_SPOILING_TRIES))
            return next((each for each in tries if each is not None), made)
        return made

    def mutate(self, given: Generated, seed: int) -> Generated | None:
        """*given* with another expression of the same type in place of one binding of `main`; the same for the same *seed*.

        Args:
            given: A program with canonical names that is defined on its inputs.
            seed: Chooses the binding, and draws the expression.

        Returns:
            None if no program came out that is defined, and keeps the policy's limits.
        """
        scope = self._begin_with(given, seed)
        program = given.program
        body = program.main.body
        computed = [index for index, each in enumerate(body.bindings) if not isinstance(each.value, (Tuple, Constant))]
        if not computed:
            return None
        chosen = self.random.choice(computed)
        evaluation = Evaluation(program, registry())
        try:
            with np.errstate(all="ignore"):
                for each in body.bindings[:chosen]:
                    self._read(each, evaluation.expression(each.value, self._values), scope)
                old = body.bindings[chosen]
                new = self.expression(old.type, ANY, self.policy.operators, scope, fresh=True)
                rest = with_names(Block(body.bindings[chosen + 1 :], body.result), {old.name: new})
                for each in rest.bindings:
                    self._read(each, evaluation.expression(each.value, self._values), scope)
        except NotDefined:
            return None
        if self._work > self.policy.most_work or self._memory > self.policy.most_memory:
            return None
        made = self._whole(scope, rest.result, program.main.result)
        defined = not self.policy.finite or all(within(self._values[each.name], ANY) for each in made.program.main.body.bindings)
        return made if defined and made.program != program else None

    def spoil(self, given: Generated, seed: int) -> Generated | None:
        """*given* with an expression of another type in place of one argument of a call of `main`; the same for the same *seed*.

        Args:
            given: A program with canonical names that is defined on its inputs.
            seed: Chooses the argument, and draws the expression.

        Returns:
            A program of which no types make that call well typed, and nothing comes after it: no value is computed from it. None if none
            came out.
        """
        scope = self._begin_with(given, seed)
        program, body = given.program, given.program.main.body
        called = [place for place, each in enumerate(body.bindings) if isinstance(each.value, Call) and each.value.arguments]
        if not called:
            return None
        chosen = self.random.choice(called)
        evaluation = Evaluation(program, registry())
        with np.errstate(all="ignore"):
            for each in body.bindings[:chosen]:
                self._read(each, evaluation.expression(each.value, self._values), scope)
            old = body.bindings[chosen]
            assert isinstance(old.value, Call)
            place = self.random.randrange(len(old.value.arguments))
            kind = self._other_type(type_of(self._values[old.value.arguments[place]]))
            new = self.expression(kind, ANY, self.random.randint(0, 2), scope)
        arguments = (*old.value.arguments[:place], new, *old.value.arguments[place + 1 :])
        scope.bindings.append(Binding(old.name, old.type, Call(old.value.operator, arguments, old.value.attributes)))
        made = replace(self._whole(scope, old.name, old.type), ill_typed=True)
        try:
            fault = type_fault(made.program, registry())
        except (IllTyped, LookupError, ValueError):
            return None
        return None if fault is None or DTYPE_LIST in fault.why else made

    def _other_type(self, kind: Type) -> Type:
        """A type that differs from *kind* in its dtype, in one size, or in the number of dimensions."""
        old = next(tensors_in(kind))
        match self.random.randrange(3):
            case 0:
                return TensorType(old.shape, self.random.choice([each for each in DTYPES if each != old.dtype]))
            case 1 if old.shape:
                axis = self.random.randrange(len(old.shape))
                return TensorType((*old.shape[:axis], old.shape[axis] + self.random.randint(1, 3), *old.shape[axis + 1 :]), old.dtype)
            case _:
                shape = old.shape[1:] if old.shape and self.random.random() < 0.5 else (2, *old.shape)
                return TensorType(shape, old.dtype)

    def _begin_with(self, given: Generated, seed: int) -> Scope:
        """A scope that has the parameters and functions of *given*."""
        self._begin(seed)
        program = given.program
        self._number = len(list(bindings(program))) + sum(len(each.parameters) + 1 for each in program.functions)
        self._functions = list(program.functions[:-1])
        scope = Scope()
        for parameter, value in zip(program.main.parameters, given.inputs, strict=True):
            self._parameters.append(parameter)
            self._keep(parameter.name, parameter.type, value)
            scope.add(parameter.name, parameter.type)
        return scope

    def _begin(self, seed: int) -> None:
        self.random = Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._seed = seed
        self._off: set[str] = set()
        self._values: dict[str, ProgramValue] = {}
        self._functions: list[Function] = []
        self._parameters: list[Parameter] = []
        self._calls = self._number = self._memory = 0
        self._work = 0.0
        self._leaves_are_parameters = True
        self._literal_share = self.policy.literal

    def _read(self, binding: Binding, value: ProgramValue, scope: Scope) -> None:
        """Adds a binding of another program."""
        scope.bindings.append(binding)
        self._keep(binding.name, binding.type, value)
        scope.add(binding.name, binding.type)

    def _whole(self, scope: Scope, result: str, kind: Type) -> Generated:
        """The program of the bindings of *scope* that *result* depends on."""
        body = without_dead_bindings(Block(tuple(scope.bindings), result))
        plain = not any(isinstance(each.value, (If, Invoke)) for each in body.bindings)
        read = read_by(body)
        parameters = tuple(each for each in self._parameters if each.name in read)
        main = Function(MAIN, parameters, Block(body.bindings, body.result, dataflow=plain), kind)
        inputs = tuple(self._values[each.name] for each in parameters)
        program = Program(without_dead_functions((*self._functions, main)))
        if self.policy.symbolic and not self.policy.ill_typed and self.random.random() < self.policy.symbolic:
            program = with_symbols(program, registry())
        return Generated(program, inputs)

    def results(self, scope: Scope) -> tuple[str, Type]:
        """The result of `main`: as many values as it takes to use all operators."""
        found: list[tuple[str, Type]] = []
        while self._calls < self.policy.operators and len(found) < self.policy.operators:
            kind = self.result_type()
            before = self._calls
            name = self.expression(kind, ANY, self.policy.operators - self._calls, scope, fresh=True)
            if self._calls == before and found:
                break
            found.append((name, kind))
        if len(found) == 1:
            return found[0]
        kind = TupleType(tuple(each for _, each in found))
        return self.bind(Tuple(tuple(name for name, _ in found)), kind, tuple(self._values[name] for name, _ in found), scope), kind

    def result_type(self) -> Type:
        """The type of a result."""
        if self._block_types and self.random.random() < self.policy.inserted:
            return self.random.choice(self._block_types)
        rank = self.random.randint(0, self.policy.rank)
        shape: list[int] = []
        for _ in range(rank):
            fitting = [size for size in self.policy.sizes if elements((*shape, size)) <= self.policy.most_elements]
            shape.append(self.random.choice(fitting or [1]))
        return TensorType(tuple(shape), self.random.choice(self.policy.dtypes))

    def expression(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope, *, fresh: bool = False) -> str:
        """A variable of type *kind*, within *bounds*.

        Args:
            kind: The type.
            bounds: What the value has to be.
            fuel: About as many operators as the value may cost.
            scope: The variables that there are; bindings are added to it.
            fresh: Whether it has to be a new value.
        """
        if not fresh and (fuel <= 0 or self.random.random() < self.policy.reuse):
            name = self.variable(kind, bounds, scope)
            if name is not None:
                return name
        if fuel <= 0 or self._work > self.policy.most_work or self._memory > self.policy.most_memory:
            return self.leaf(kind, bounds, scope)
        if kind in self._blocks and self.random.random() < self.policy.inserted:
            name = self.insertion(kind, bounds, fuel, scope)
            if name is not None:
                return name
        chance = self.random.random()
        for share, visit in (
            (self.policy.tuples, self.projection),
            (self.policy.conditional, self.conditional),
            (self.policy.function, self.invocation),
        ):
            if chance < share:
                name = visit(kind, bounds, fuel, scope)
                return self.leaf(kind, bounds, scope) if name is None else name
            chance -= share
        name = self.call(kind, bounds, fuel, scope)
        return self.leaf(kind, bounds, scope) if name is None else name

    def variable(self, kind: Type, bounds: Bounds, scope: Scope) -> str | None:
        """A variable that is there, if one fits."""
        names = scope.visible(kind)
        if not names:
            return None
        name = self.random.choice(names)
        if self._fits(self._values[name], bounds):
            return name
        return next((each for each in names if self._fits(self._values[each], bounds)), None)

    def leaf(self, kind: Type, bounds: Bounds, scope: Scope) -> str:
        """A parameter, a literal, or a tuple of these; a parameter if it has no elements: a bug of empty literals would hide all others."""
        if isinstance(kind, TupleType):
            parts = tuple(self.leaf(each, bounds, scope) for each in kind.fields)
            return self.bind(Tuple(parts), kind, tuple(self._values[each] for each in parts), scope)
        value = drawn(kind, bounds, self._numbers)
        if not self.policy.finite and bounds is ANY:
            value = self.special(value)
        if self._leaves_are_parameters and (not elements(kind.shape) or self.random.random() >= self._literal_share):
            name = self._name("x")
            self._parameters.append(Parameter(name, kind))
            self._keep(name, kind, value)
            scope.add(name, kind)
            return name
        assert not isinstance(value, tuple)
        if self.random.random() < self.policy.plain:
            value = value if (number := plain(kind, bounds, self._numbers)) is None else number
        return self.bind(Constant(to_tensor(value)), kind, value, scope)

    def special(self, value: ProgramValue) -> ProgramValue:
        """*value*, in which some floating-point elements are NaN, infinite, a zero of either sign, very large, or very small.

        None is subnormal, nor is the product of two: processors and compilers may take such a number for zero anywhere in a program.
        """
        if isinstance(value, tuple) or value.dtype.kind != "f" or value.size == 0 or self.random.random() < 0.5:
            return value
        info = np.finfo(value.dtype)
        small = np.sqrt(info.tiny)
        chosen = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, info.max, small, -small], value.dtype)
        places = self._numbers.random(value.shape) < 0.3
        return np.where(places, self._numbers.choice(chosen, value.shape), value).astype(value.dtype)

    def call(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        """A call of an operator; None where all that were tried do not fit."""
        operators, weights = self.recognising(kind)
        if not operators:
            return None
        for operator in self.random.choices(operators, weights, k=_TRIES):
            if operator.name in self._off:
                continue
            self.counts.asked[operator.name] += 1
            name = self._called(operator, kind, bounds, fuel, scope)
            if name is not None:
                self.counts.solved[operator.name] += 1
                return name
        return None

    def _called(self, operator: Operator, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        try:
            arguments, attributes = operator.solve(kind, self.random)
            if operator.infer(arguments, attributes) != kind:
                raise ValueError(f"its call has the type {operator.infer(arguments, attributes)}")
            needs = [operator.need(index, arguments, attributes, finite=self.policy.finite) for index in range(len(arguments))]
            work = operator.cost(arguments, kind, attributes)
        except Exception as error:
            return self._switched_off(operator, f"solving {kind}", error)
        memory = [_bytes(each) for each in (*arguments, kind)]
        large = any(elements(each.shape) > self.policy.most_elements for each in arguments)
        if large or self._work + work > self.policy.most_work or self._memory + sum(memory) > self.policy.most_memory:
            self.counts.too_large[operator.name] += 1
            return None
        if self._without and (call := call_feature(operator.name, arguments)) in self._without:
            self.counts.known[call] += 1
            return None
        self._calls += 1
        self._work += work
        self._memory += sum(memory)  # kept free for the arguments and the result, until they are there
        names = self.operands(operator, arguments, needs, fuel - 1, scope)
        self._memory -= sum(memory)
        if names is None:
            self._calls -= 1
            return None
        try:
            value = operator.compute([self.array(name) for name in names], attributes)
            if type_of(value) != kind:
                raise ValueError(f"it gives a value of the type {type_of(value)}")
        except Exception as error:
            self._calls -= 1
            return self._switched_off(operator, f"computing {kind}", error)
        if not self._fits(value, bounds):
            self._calls -= 1
            self.counts.undefined[operator.name] += 1
            return None
        return self.bind(Call(operator.name, tuple(names), attributes), kind, value, scope)

    def operands(
        self, operator: Operator, arguments: Sequence[TensorType], needs: Sequence[Bounds], fuel: int, scope: Scope
    ) -> list[str] | None:
        """A variable for each of the *arguments* of *operator*, within *needs*; None if one cannot be drawn."""
        drawn_ones = zip(arguments, self.shares(fuel, len(arguments)), needs, strict=True)
        return [self.expression(each, need, share, scope) for each, share, need in drawn_ones]

    def _switched_off(self, operator: Operator, what: str, error: Exception) -> None:
        """Leaves *operator* out of the rest of the program, and keeps what it did wrong."""
        self._off.add(operator.name)
        self.counts.broken[operator.name] = f"{what} with seed {self._seed}: {type(error).__name__}: {error}"

    def recognising(self, kind: Type) -> tuple[list[Operator], list[float]]:
        """The operators whose calls can have type *kind*, and their weights."""
        found = self._fitting.get(kind)
        if found is None:
            if len(self._fitting) > 20_000:
                self._fitting.clear()
            weighed = [(each, self.policy.weights.get(each.name, 1.0)) for each in self._operators if each.recognises(kind)]
            kept = [(each, weight) for each, weight in weighed if weight > 0]
            found = self._fitting[kind] = [each for each, _ in kept], [weight for _, weight in kept]
        return found

    def shares(self, fuel: int, number: int) -> list[int]:
        """*fuel*, divided at random."""
        found = [0] * number
        for _ in range(fuel if number else 0):
            found[self.random.randrange(number)] += 1
        return found

    def insertion(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        """A value of one of the policy's blocks, whose bindings are added; its parameters are drawn as any other value."""
        block = self.random.choice(self._blocks[kind])
        parameters = block.main.parameters
        self._calls += block.calls
        self.counts.asked[INSERTED] += 1
        shares = self.shares(max(0, fuel - block.calls), len(parameters))
        names: dict[str, str] = {}
        for each, share in zip(parameters, shares, strict=True):
            names[each.name] = self.expression(each.type, block.needs.get(each.name, ANY), share, scope)
        values = block.values({name: self._values[known] for name, known in names.items()})
        wanted = block.results[kind]
        if values is None or not self._fits(values[wanted], bounds):
            self._calls -= block.calls
            self.counts.undefined[INSERTED] += 1
            return None
        self.counts.solved[INSERTED] += 1
        for each in block.main.body.bindings:
            names[each.name] = self.bind(renamed(each.value, names), each.type, values[each.name], scope)
        return names[wanted]

    def projection(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        """A part of a tuple."""
        if not isinstance(kind, TensorType):
            return None
        other = TensorType(kind.shape, "int64") if self.random.random() < 0.3 else kind
        whole = TupleType((kind, other))
        source = self.expression(whole, ANY, fuel, scope)
        value = self._values[source]
        assert isinstance(value, tuple)
        if not self._fits(value[0], bounds):
            return None
        return self.bind(Projection(source, 0), kind, value[0], scope)

    def conditional(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        """One of two values."""
        condition = self.expression(_CONDITION, ANY, fuel // 3, scope)
        blocks: list[Block] = []
        values: list[ProgramValue] = []
        for _ in range(2):
            inner = Scope(scope)
            leaves, self._leaves_are_parameters = self._leaves_are_parameters, False
            name = self.expression(kind, bounds, fuel // 3, inner)
            self._leaves_are_parameters = leaves
            blocks.append(without_dead_bindings(Block(tuple(inner.bindings), name)))
            values.append(self._values[name])
        chosen = values[0] if bool(self.array(condition)) else values[1]
        return self.bind(If(condition, *blocks), kind, chosen, scope)

    def invocation(self, kind: Type, bounds: Bounds, fuel: int, scope: Scope) -> str | None:
        """The result of a function of its own."""
        kinds = [self.result_type() for _ in range(self.random.randint(1, 3))]
        shares = self.shares(fuel // 2, len(kinds))
        names = [self.expression(each, ANY, share, scope) for each, share in zip(kinds, shares, strict=True)]
        inner = Scope()
        parameters = [Parameter(self._name("p"), each) for each in kinds]
        for parameter, name in zip(parameters, names, strict=True):
            self._values[parameter.name] = self._values[name]
            inner.add(parameter.name, parameter.type)
        leaves, self._leaves_are_parameters = self._leaves_are_parameters, False
        result = self.expression(kind, bounds, max(1, fuel - fuel // 2), inner, fresh=True)
        self._leaves_are_parameters = leaves
        function = Function(self._name("f"), tuple(parameters), without_dead_bindings(Block(tuple(inner.bindings), result)), kind)
        self._functions.append(function)
        return self.bind(Invoke(function.name, tuple(names)), kind, self._values[result], scope)

    def bind(self, expression: Expression, kind: Type, value: ProgramValue, scope: Scope) -> str:
        """Adds a binding; its variable."""
        name = self._name("v")
        scope.bindings.append(Binding(name, kind, expression))
        self._keep(name, kind, value)
        scope.add(name, kind)
        return name

    def _fits(self, value: ProgramValue, bounds: Bounds) -> bool:
        """Whether *value* may be used where *bounds* are asked for; without `finite`, any value will do where nothing is."""
        if bounds is ANY and not self.policy.finite:
            return True
        return within(value, bounds) and (bounds.zero or clear_of_zero(value))

    def _keep(self, name: str, kind: Type, value: ProgramValue) -> None:
        self._values[name] = value
        self._memory += _bytes(kind)

    def array(self, name: str) -> np.ndarray:
        """The value of a variable that holds a tensor."""
        value = self._values[name]
        assert not isinstance(value, tuple)
        return value

    def _name(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"
