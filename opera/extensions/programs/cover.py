"""Programs that cover all pairs or triples of operators, one of them in each program.

Every ordered choice of operators has a number, and the program of seed N has the N-th, in an order that is fixed and mixes them. The
result of each operator is an argument of the one before it. After the pairs come the same pairs with a literal that optimisers look for
as an operand of one of the two. The idea is that of covering arrays (Kuhn, Wallace, Gallo, "Software fault interactions and implications
for software testing", IEEE TSE 2004): most faults need few parts, so all small combinations find them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from opera.arrays import numpy_dtype
from opera.extensions.programs.generate import ProgramGenerator, Scope
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Binding, Call, Constant, Projection
from opera.extensions.programs.relations import Elementwise
from opera.extensions.programs.types import TensorType, TupleType, Type
from opera.extensions.programs.values import ANY, PLAIN, Bounds, to_tensor

TRIES = 20
"""Types of the result that are tried for each choice of operators."""
_UNCHANGED = ("identity", "astype", "reshape")
"""Operators that may give their argument: optimisers take such a call away while they look at its neighbours."""
_TRANSPOSES = "permute_dims"
_GOLDEN = 0.6180339887
"""Share of all choices between one seed and the next: the golden section spreads any number of seeds evenly."""


@dataclass(frozen=True)
class Choice:
    """What one program has.

    Attributes:
        operators: Each takes the result of the next.
        depth: Place in *operators* of the one that has a literal operand; -1 for none.
        place: Place of that operand.
        number: Each element of the literal.
        unchanged: The operator that gives the other operands of the first one, with parameters that change nothing; empty for any.
        shape: The class of the result's shape; empty for any shape and dtype.
        dtype: The dtype of the result, where there is a shape.
    """

    operators: tuple[Operator, ...]
    depth: int = -1
    place: int = 0
    number: float = 0
    unchanged: str = ""
    shape: str = ""
    dtype: str = ""


class CoveringGenerator(ProgramGenerator):
    """Draws programs in which given operators take each other's results."""

    def __init__(self, policy: Policy, operators: Sequence[Operator]) -> None:
        """Prepares a generator; see `ProgramGenerator`."""
        super().__init__(policy, operators)
        self._every = sorted(self._operators, key=lambda each: each.name)
        self._chains = len(self._every) ** policy.cover
        self._literals = list(_with_literals(self._every)) if policy.cover == 2 else []
        self.choices: int = self._chains + len(PLAIN) * len(self._literals)
        """How many choices there are; a program of a later seed has the choice of an earlier one, with other types and values."""
        self._choice = Choice(())
        self._depth = 0

    def chosen(self, seed: int) -> Choice:
        """What the program of *seed* has."""
        number = seed % self.choices
        if number >= self._chains:
            group, place = divmod(number - self._chains, len(self._literals))
            return replace(self._literals[_mixed(place, len(self._literals))], number=PLAIN[group])
        place = _mixed(number, self._chains)
        found: list[Operator] = []
        for _ in range(self.policy.cover):
            place, one = divmod(place, len(self._every))
            found.append(self._every[one])
        shapes, dtypes, turn = self.policy.shapes, self.policy.dtypes, number + seed // self.choices
        return Choice(tuple(found), shape=shapes[turn % len(shapes)], dtype=dtypes[turn % len(dtypes)]) if shapes else Choice(tuple(found))

    def results(self, scope: Scope) -> tuple[str, Type]:
        """A result that the chosen operators compute; any other, if no type was found on which they are defined."""
        self._choice = self.chosen(self._seed)
        self._literal_share = self.policy.literal if self._choice.depth < 0 else 0.0
        for number in range(TRIES):
            found = self.result_type()
            if self._choice.shape and isinstance(found, TensorType):
                found = self._of_class(found, same_dtype=2 * number < TRIES)
            kind = next((each for each in _with_tuples(found) if self._choice.operators[0].recognises(each)), None)
            if kind is None:
                continue
            inner = Scope()
            before = self._number, len(self._parameters), len(self._functions), self._work, self._memory
            self._depth = 0
            name = self._called(self._choice.operators[0], kind, ANY, self.policy.operators, inner)
            if name is not None:
                scope.take(inner)
                self.counts.covered += 1
                return name, kind
            self._calls = 0
            self._number, parameters, functions, self._work, self._memory = before
            del self._parameters[parameters:], self._functions[functions:]
        self._depth = len(self._choice.operators)
        return super().results(scope)

    def _of_class(self, kind: TensorType, *, same_dtype: bool) -> TensorType:
        """*kind* with a shape of the choice's class, and with its dtype."""
        shape = list(kind.shape) or [self.random.choice(self.policy.sizes)]
        match self._choice.shape:
            case "scalar":
                shape = []
            case "ones":
                shape = [1] * len(shape)
            case "empty":
                shape[self.random.randrange(len(shape))] = 0
            case "transposed":
                shape += [self.random.choice(self.policy.sizes)] * (len(shape) < 2)
            case _:
                shape = list(kind.shape)
        return TensorType(tuple(shape), self._choice.dtype if same_dtype else kind.dtype)

    def operands(
        self, operator: Operator, arguments: Sequence[TensorType], needs: Sequence[Bounds], fuel: int, scope: Scope
    ) -> list[str] | None:
        """One argument is a call of the next chosen operator, one perhaps a literal; others are drawn."""
        depth, choice = self._depth, self._choice
        if depth >= len(choice.operators):
            return super().operands(operator, arguments, needs, fuel, scope)
        self._depth += 1
        literal = choice.place if choice.depth == depth else -1
        chained = -1, arguments[0]
        if depth + 1 < len(choice.operators):
            free = [(place, each) for place, each in enumerate(arguments) if place != literal]
            following = choice.operators[depth + 1]
            there = [(place, kind) for place, each in free for kind in _with_tuples(each) if following.recognises(kind)]
            if not there:
                return None
            chained = self.random.choice(there)
        names: dict[int, str] = {}
        places = list(range(len(arguments)))
        if choice.unchanged:  # what is taken away comes before its neighbours, as optimisers go from the inputs on
            places.sort(key=lambda place: place == chained[0])
        for place in places:
            each, need = arguments[place], needs[place]
            if place == literal:
                name = self._literal(operator, list(arguments), need, scope)
            elif place == chained[0]:
                name = self._chained(choice.operators[depth + 1], chained[1], each, need, fuel, scope)
            else:
                name = self._other(each, need, fuel, scope, is_outer=depth == 0)
            if name is None:
                return None
            names[place] = name
        return [names[place] for place in range(len(arguments))]

    def _chained(self, operator: Operator, kind: Type, wanted: TensorType, need: Bounds, fuel: int, scope: Scope) -> str | None:
        """A call of *operator* of type *kind*, or the first part of its result; None if it is not defined."""
        name = self._called(operator, kind, need, max(0, fuel - 1), scope)
        if name is None or not isinstance(kind, TupleType):
            return name
        value = self._values[name]
        assert isinstance(value, tuple)
        return self.bind(Projection(name, 0), wanted, value[0], scope)

    def _other(self, kind: TensorType, need: Bounds, fuel: int, scope: Scope, *, is_outer: bool) -> str:
        """An operand that is neither the literal nor the next operator's result."""
        has_literal = self._choice.depth >= 0
        name = self._unchanged(kind, need, scope) if self._choice.unchanged and is_outer else None
        if self._choice.shape == "transposed" and len(kind.shape) > 1:
            name = self._transposed(kind, need, scope)
        share = 1 if has_literal else self.random.randint(0, max(0, fuel - 2))
        depth, self._depth = self._depth, len(self._choice.operators)  # its calls are not those that were chosen
        name = name or self.expression(kind, need, share, scope, fresh=has_literal and is_outer)
        self._depth = depth
        return name

    def _transposed(self, kind: TensorType, need: Bounds, scope: Scope) -> str | None:
        """A transposition that gives *kind*; None where the language has none."""
        operator = next((each for each in self._every if each.name == _TRANSPOSES), None)
        depth, self._depth = self._depth, len(self._choice.operators)
        name = None if operator is None else self._called(operator, kind, need, 0, scope)
        self._depth = depth
        return name

    def _unchanged(self, kind: TensorType, need: Bounds, scope: Scope) -> str | None:
        """A call of the choice's operator that gives its argument, such as a cast to the same dtype; None if no such call was drawn."""
        operator = next((each for each in self._every if each.name == self._choice.unchanged), None)
        if operator is None or not operator.recognises(kind):
            return None
        for _ in range(TRIES):
            arguments, attributes = operator.solve(kind, self.random)
            if arguments == (kind,):
                name = self.leaf(kind, operator.need(0, arguments, attributes, finite=self.policy.finite), scope)
                value = operator.compute([self.array(name)], attributes)
                if np.array_equal(value, self.array(name)) and self._fits(value, need):
                    self._calls += 1
                    return self.bind(Call(operator.name, (name,), attributes), kind, value, scope)
        return None

    def _literal(self, operator: Operator, arguments: list[TensorType], need: Bounds, scope: Scope) -> str | None:
        """The literal of the choice, as one element where the other arguments still give the same type; None if it is not allowed."""
        number, place = self._choice.number, self._choice.place
        whole = arguments[place]
        if not need.low <= number <= need.high or not (number or need.zero) or not _holds(whole.dtype, number):
            return None
        result = operator.infer(arguments, {})
        for shape in self.random.sample([(), (1,) * min(1, len(whole.shape))], 2):
            arguments[place] = TensorType(shape, whole.dtype)
            if operator.infer(arguments, {}) == result:
                break
        else:
            arguments[place] = whole
        value = np.full(arguments[place].shape, number, numpy_dtype(whole.dtype))
        name = self.bind(Constant(to_tensor(value)), arguments[place], value, Scope(scope))
        scope.bindings.append(Binding(name, arguments[place], Constant(to_tensor(value))))  # no other operand is this literal
        return name


def _mixed(number: int, count: int) -> int:
    """The place of *number* in an order of *count* things that is fixed and mixes them."""
    return number * _step(count) % count


@cache
def _step(count: int) -> int:
    """The first number from the golden section of *count* on that has no factor in common with it."""
    least = max(1, int(count * _GOLDEN))
    return next(each for each in range(least, least + count + 1) if math.gcd(each, count) == 1)


def _with_literals(operators: Sequence[Operator]) -> Iterator[Choice]:
    """Pairs in which an operand of an elementwise operator is a literal."""
    arity = {each.name: each.relation.arity if isinstance(each.relation, Elementwise) else 0 for each in operators}
    for outer in operators:
        for inner in operators:
            for depth, each in enumerate((outer, inner)):
                ways = ("", *_UNCHANGED) if depth == 1 and arity[outer.name] > 1 else ("",)
                if arity[each.name] > 1:
                    places = range(arity[each.name])
                    yield from (Choice((outer, inner), depth, place, unchanged=way) for place in places for way in ways)


def _with_tuples(kind: Type) -> list[Type]:
    """*kind*, and the tuples whose first part it is that operators give: equal parts, or values and their places."""
    if not isinstance(kind, TensorType):
        return [kind]
    return [kind, TupleType((kind, kind)), TupleType((kind, TensorType(kind.shape, "int64")))]


def _holds(dtype: str, number: float) -> bool:
    """Whether a tensor of *dtype* can have *number* as an element."""
    return bool(np.asarray(number).astype(numpy_dtype(dtype)) == number)


def generator_of(policy: Policy, operators: Sequence[Operator]) -> ProgramGenerator:
    """The generator that *policy* asks for."""
    return CoveringGenerator(policy, operators) if policy.cover else ProgramGenerator(policy, operators)
