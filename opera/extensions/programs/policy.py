"""Policies: the numbers and lists that steer a generator, read from TOML or JSON."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from opera.extensions.programs.check import MOST_WORK
from opera.extensions.programs.operators import DTYPES
from opera.extensions.programs.program import Program


class BadPolicy(ValueError):
    """A policy that cannot be used. The message says why, without the place."""


@dataclass(frozen=True)
class Policy:
    """How programs are drawn.

    Attributes:
        operators: How many calls of operators a program has, about.
        cover: How many operators in a row are chosen for each program, in turn: 2 for all ordered pairs, 3 for all triples; 0 draws
            them as the weights say.
        language: `onnx`, `pytorch` or `relax`: only operators and dtypes that this language has are drawn.
        dtypes: Dtypes of the result and of parameters, each as often as it stands here.
        sizes: Sizes of dimensions, each as often as it stands here.
        rank: The largest number of dimensions of a result.
        shapes: Where `cover` chooses operators, the shape of their result and the dtype, in turn: `any`; `scalar`; `ones`, all sizes 1;
            `empty`, a size 0; `transposed`, which other operands come through a transposition. Empty draws both.
        reuse: The probability that an argument is a value that is there, if one has the type.
        literal: The probability that an argument without an operator is a literal and not a parameter.
        plain: The probability that a literal is one number that optimisers look for: 0, 1, -1, 2, or one half.
        conditional: The probability that a value is chosen by an `if`.
        tuple: The probability that a value goes through a tuple.
        function: The probability that a value comes from a function of its own.
        symbolic: The probability that a program has symbolic dimensions: all that its operators allow.
        ill_typed: The probability that an operand of a program is replaced by one of a type that its operator does not take.
        finite: Whether every value of the program is finite for the recorded inputs, and every operator defined on it.
        weights: How often an operator is drawn, where others are drawn with weight 1; 0 leaves it out.
        implementations: Which implementation of an operator is drawn, where that is not `default`.
        only: The operators to draw from; all of the language when empty.
        without: Calls that are not drawn, each an operator with the dtypes of its arguments: `equal(bool, bool)`.
        insert: A file with programs whose bodies are inserted as a whole.
        inserted: The probability that a value of a type that one of them gives comes from it, and that a result is of such a type.
        blocks: The programs in that file.
        most_elements: Most elements that a tensor may have.
        most_work: Floating-point operations of a program, estimated.
        most_memory: Bytes of all values of a program.
    """

    operators: int = 10
    cover: int = 0
    language: str = "onnx"
    dtypes: tuple[str, ...] = ("float32", "float32", "float32", "float64", "int64", "int32", "bool")
    sizes: tuple[int, ...] = (1, 1, 2, 2, 3, 4, 5, 8)
    rank: int = 4
    shapes: tuple[str, ...] = ()
    reuse: float = 0.35
    literal: float = 0.2
    plain: float = 0.3
    conditional: float = 0.0
    tuples: float = 0.05
    function: float = 0.0
    symbolic: float = 0.0
    ill_typed: float = 0.0
    finite: bool = True
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    implementations: Mapping[str, str] = field(default_factory=dict[str, str])
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    insert: str = ""
    inserted: float = 0.3
    blocks: tuple[Program, ...] = ()
    most_elements: int = 4096
    most_work: float = 1e8
    most_memory: int = 2**24


LAYOUT = ("reshape", "broadcast_to", "tile", "permute_dims", "expand_dims", "squeeze", "concat", "split", "strided_slice", "pad", "take")
"""Operators that move elements."""
SHAPES = ("any", "scalar", "ones", "empty", "transposed")
"""Classes of shapes that a policy names."""
SHIPPED: Mapping[str, Policy] = {
    "general": Policy(),
    "fusion": Policy(
        reuse=0.5,
        dtypes=("float32",),
        rank=4,
        sizes=(1, 2, 4, 8),
        implementations={"conv1d": "same", "conv2d": "same"},
        weights={"conv1d": 20.0, "conv2d": 30.0, "matmul": 20.0, "reshape": 0.3, "take": 0.2, "split": 0.2},
    ),
    "shapes": Policy(
        sizes=(1, 1, 2, 3, 4, 6),
        weights=dict.fromkeys(
            (
                "reshape",
                "broadcast_to",
                "tile",
                "permute_dims",
                "expand_dims",
                "squeeze",
                "concat",
                "split",
                "strided_slice",
                "pad",
                "take",
            ),
            6.0,
        ),
    ),
    "pairs": Policy(operators=4, cover=2, literal=0.4, plain=0.6, sizes=(1, 1, 2, 2, 3, 4), tuples=0.0),
    "corners": Policy(
        operators=4,
        cover=2,
        literal=0.4,
        plain=0.6,
        sizes=(1, 2, 2, 3, 4),
        tuples=0.0,
        dtypes=("float32", "int64", "bool", "float64", "float16", "int32", "int8"),
        shapes=("scalar", "ones", "empty", "transposed"),
    ),
    "special-values": Policy(finite=False, dtypes=("float32", "float32", "float16", "float64")),
}
"""The policies that come with OPERA."""
_LARGEST = 10**15
"""Largest number: sums of such numbers stay finite."""
_LONGEST = 2**14
"""Longest dimension: numpy refuses the shape of an empty tensor whose other sizes have too large a product."""
_LIMITS = {"most_elements": 2**24, "most_work": MOST_WORK, "most_memory": 2**28}
_SHARES = ("reuse", "literal", "plain", "conditional", "tuples", "function", "symbolic", "ill_typed", "inserted")


def policy_from(document: Mapping[str, object], operators: Sequence[str], languages: Sequence[str]) -> Policy:
    """The policy that *document* describes: keys of `Policy`, and `base`, a shipped policy that gives the others.

    Args:
        document: From a file.
        operators: The names that `only` and `weights` may hold.
        languages: The names that `language` may be.

    Raises:
        BadPolicy: a key or a name is unknown, or a value impossible.
    """
    names = [each.name for each in fields(Policy) if each.name != "blocks"]
    base = document.get("base", "general")
    if not isinstance(base, str) or base not in SHIPPED:
        raise BadPolicy(f"unknown policy {base!r}{hint(str(base), list(SHIPPED))}")
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key == "base":
            continue
        if key not in names:
            raise BadPolicy(f"unknown key {key!r}{hint(key, [*names, 'base'])}")
        values[key] = _value(key, value, getattr(SHIPPED["general"], key))
    if values.get("only") == ():
        raise BadPolicy("'only' names no operator; leave it out to draw from all")
    policy = replace(SHIPPED[base], **values)
    _check(policy, operators, languages)
    return policy


def _value(key: str, value: object, like: object) -> object:
    if isinstance(like, tuple):
        kind = int if key == "sizes" else str
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        if not all(type(each) is kind for each in items):
            raise BadPolicy(f"{key!r} is a list of {'integers' if kind is int else 'texts'}, not {value!r}")
        return tuple(items)
    if key == "implementations":
        texts = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"": None}
        if not all(isinstance(each, str) for each in texts.values()):
            raise BadPolicy(f"{key!r} is a table of names, not {value!r}")
        return dict(texts)
    if isinstance(like, Mapping):
        table = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"": None}
        if not all(type(each) in (int, float) for each in table.values()):
            raise BadPolicy(f"{key!r} is a table of numbers, not {value!r}")
        return {name: _number(key, cast("float", weight)) for name, weight in table.items()}
    if isinstance(like, float) and type(value) in (int, float):
        return _number(key, cast("float", value))
    if type(value) is not type(like):
        raise BadPolicy(f"{key!r} is {_WORDS[type(like).__name__]}, not {value!r}")
    return value


def _number(key: str, value: float) -> float:
    if not abs(value) <= _LARGEST:  # so NaN is refused as well
        raise BadPolicy(f"a number of {key!r} is at most {_LARGEST:,}")
    return float(value)


_WORDS = {"bool": "true or false", "int": "an integer", "float": "a number", "str": "a text"}


def _check(policy: Policy, operators: Sequence[str], languages: Sequence[str]) -> None:
    if policy.language not in languages:
        raise BadPolicy(f"unknown language {policy.language!r}{hint(policy.language, languages)}")
    for key in ("only", "weights", "implementations"):
        for name in getattr(policy, key):
            if name not in operators:
                raise BadPolicy(f"{key!r} names {name!r}, which is no operator of {policy.language}{hint(name, operators)}")
    for call in policy.without:
        name = call.partition("(")[0]
        if name not in operators or not call.endswith(")"):
            nearest = "" if name in operators else hint(name, operators)
            raise BadPolicy(f"'without' names {call!r}, which is no call of {policy.language}; write it as 'add(int8, int8)'{nearest}")
    for name in policy.dtypes:
        if name not in DTYPES:
            raise BadPolicy(f"'dtypes' names {name!r}, which no operator has{hint(name, DTYPES)}")
    for key in _SHARES:
        if not 0 <= getattr(policy, key) <= 1:
            raise BadPolicy(f"{key!r} is a probability from 0 to 1, not {getattr(policy, key)}")
    if not policy.dtypes or not policy.sizes:
        raise BadPolicy("'dtypes' and 'sizes' hold at least one value each")
    if wrong := [each for each in policy.shapes if each not in SHAPES]:
        raise BadPolicy(f"'shapes' names {wrong[0]!r}; there are {', '.join(SHAPES)}")
    if policy.shapes and not policy.cover:
        raise BadPolicy("'shapes' are of operators that 'cover' chooses; set it to 2")
    if not all(0 <= size <= _LONGEST for size in policy.sizes):
        raise BadPolicy(f"each of 'sizes' is from 0 to {_LONGEST:,}")
    for key, most in _LIMITS.items():
        if not 1 <= getattr(policy, key) <= most:
            raise BadPolicy(f"{key!r} is from 1 to {most:,.0f}")
    if not 1 <= policy.operators <= 10_000:
        raise BadPolicy(f"'operators' is from 1 to 10,000, not {policy.operators}")
    if not 0 <= policy.cover <= min(3, policy.operators):
        raise BadPolicy(f"'cover' is from 0 to 3, and at most 'operators', not {policy.cover}")
    if not 0 <= policy.rank <= 5:
        raise BadPolicy(f"'rank' is from 0 to 5, not {policy.rank}")
    if min(policy.weights.values(), default=0) < 0:
        raise BadPolicy("'weights' are not negative")
    drawn = [name for name in (policy.only or operators) if policy.weights.get(name, 1) > 0]
    if not drawn:
        raise BadPolicy("'only' and 'weights' leave no operator")
    if min(policy.sizes) > policy.most_elements:
        raise BadPolicy(f"every size is larger than 'most_elements', {policy.most_elements}")


def hint(name: str, known: Sequence[str]) -> str:
    """What to write in place of the unknown *name*."""
    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else f"; choose one of: {', '.join(known)}" if len(known) < 20 else ""
