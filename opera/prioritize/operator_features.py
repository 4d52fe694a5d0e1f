"""The features of all instances of one operator, and the families of operators: enough to rank without the instances."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from opera.instance import Argument, Instance, Kind
from opera.instance.values import Value
from opera.prioritize.coverage import FeatureTable, feature_table
from opera.prioritize.encoding import (
    Codes,
    Encoded,
    Encoder,
    Feature,
    Features,
    Pair,
    choose_pairs,
    count_splits,
    distinct_columns,
    encode,
    merge_rows,
)
from opera.prioritize.familiarity import Vocabulary, aspect
from opera.prioritize.features import FeatureReader
from opera.prioritize.relations import RelationReader
from opera.prioritize.schemas import Schema, schema_of
from opera.prioritize.strategy import Candidate


def defaults_of(instances: Sequence[Instance]) -> list[tuple[str, Value]]:
    """The known defaults of an operator; those of the instance met first where they disagree."""
    found: dict[str, Value] = {}
    last: tuple[tuple[str, Value], ...] = ()
    for instance in instances:
        if instance.defaults is not last:
            last = instance.defaults
            for name, value in last:
                found.setdefault(name, value)
    return list(found.items())


@dataclass(frozen=True)
class Signature:
    """The signature of an operator, as its instances show it.

    Attributes:
        library: Library of the operator.
        kind: Kind of its instances.
        parameters: By name; whether each can be left out, and whether it repeats.
        slots: The same of the inputs of a graph's node, by place: their names are documentation, only attributes are read by name.
        outputs: Largest number of outputs.
    """

    library: str
    kind: Kind
    parameters: tuple[tuple[str, bool, bool], ...]
    slots: tuple[tuple[bool, bool], ...]
    outputs: int

    @property
    def size(self) -> int:
        """Number of parameters, inputs and outputs."""
        return len(self.parameters) + len(self.slots) + self.outputs


def signature(instances: Sequence[Instance], defaults: Sequence[tuple[str, Value]]) -> Signature:
    """The signature of the operator of *instances*."""
    given = Counter(tuple(argument.name for argument in instance.arguments()) for instance in instances)
    omitted = {argument.name for instance in instances for argument in instance.call if argument.value is None}
    present: Counter[str] = Counter()
    repeated: set[str] = set()
    for names, count in given.items():
        for name, times in Counter(names).items():
            present[name] += count
            if times > 1:
                repeated.add(name)
    known = {name for name, _ in defaults}
    slots: tuple[str, ...] = ()
    if instances[0].kind is Kind.NODE:
        attributes = {argument.name for instance in instances for argument in instance.init} | known
        slots = tuple(
            dict.fromkeys(argument.name for instance in instances for argument in instance.call if argument.name not in attributes)
        )

    def flags(name: str) -> tuple[bool, bool]:
        return name in known or name in omitted or present[name] < len(instances), name in repeated

    parameters = tuple((name, *flags(name)) for name in sorted({*present, *known} - set(slots)))
    outputs = max(len(instance.expected or ()) for instance in instances)
    return Signature(instances[0].library, instances[0].kind, parameters, tuple(flags(name) for name in slots), outputs)


_SAMPLE = 8
"""Instances of an operator that are read to tell how many aspects its tests have."""
_ANY: Features = (("", "operator"),)
"""A feature of every instance: the first instance of an operator is always new."""


class OperatorFeatures:
    """The instances of one operator, by their ids; features are read when they are asked for, and only once."""

    def __init__(self) -> None:
        self._unread: list[Candidate] = []
        self._rows: list[str] = []
        self._encoder = Encoder()
        self._outlines: dict[Hashable, tuple[int, Instance]] = {}
        self._outline_of: dict[str, int] = {}
        self.ids: list[str] = []
        """The ids of the instances, sorted."""
        self._table: tuple[int, FeatureTable, list[list[int]]] | None = None
        self._recency: npt.NDArray[np.float64] = np.ones(0)
        self._pairs: list[Pair] = []
        self._labels: tuple[tuple[str, ...], tuple[tuple[str, ...], ...], Codes] = (), (), np.zeros((0, 0), np.int32)

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Adds instances; what was read of the others is kept."""
        for each in candidates:
            key = _outline_key(each.instance)
            found = self._outlines.get(key)
            if found is None:
                found = self._outlines[key] = len(self._outlines), _outline(each.instance)
            self._outline_of[each.id] = found[0]
        self._unread.extend(candidates)
        self.ids = sorted([*self.ids, *(each.id for each in candidates)])
        self._table = None
        for name in ("family", "aspects", "size", "_signature", "_defaults", "_first_of_each"):
            self.__dict__.pop(name, None)

    @property
    def api(self) -> str:
        """The API of the instances."""
        return self._first_of_each[0].api

    @cached_property
    def _first_of_each(self) -> list[Instance]:
        """The outlines in the order of the instances."""
        outlines = [outline for _, outline in self._outlines.values()]
        return [outlines[number] for number in dict.fromkeys(self._outline_of[each] for each in self.ids)]

    @cached_property
    def _defaults(self) -> list[tuple[str, Value]]:
        return defaults_of(self._first_of_each)

    @cached_property
    def _signature(self) -> Signature:
        return signature(self._first_of_each, self._defaults)

    @cached_property
    def _schema(self) -> Schema | None:
        return schema_of(self._first_of_each[0].library, self.api)

    @cached_property
    def family(self) -> Hashable:
        """The same for operators that usually share their conversion: by what they declare, or else by what their instances show."""
        schema = self._schema
        return self._signature if schema is None else (self._signature.library, self._signature.kind, schema.family)

    @cached_property
    def size(self) -> int:
        """Number of parameters, inputs and outputs; at least 1."""
        declared = None if self._schema is None else self._schema.size
        return max(1, self._signature.size if declared is None else declared)

    @property
    def weight(self) -> float:
        """How many different tests the operator is worth: the geometric mean of `aspects` and `size`."""
        return math.sqrt(self.aspects * self.size)

    @cached_property
    def aspects(self) -> int:
        """How many keys the features of the first instances have that tell them apart in different ways."""
        first = self.ids[:_SAMPLE]
        unread = {each.id: each for each in self._unread}
        if unread.keys() >= set(first):
            return count_splits(encode(_read([unread[each] for each in first])))
        self._read_all()
        places = {name: row for row, name in enumerate(self._rows)}
        return count_splits(self._encoder.encoded(np.array([places[each] for each in first], np.intp)))

    def weigh(self) -> None:
        """Finds out what decides its turns; after this, `family` and `weight` cost nothing."""
        _ = self.family, self.weight

    def table(self, vocabulary: Vocabulary, most_pairs: int) -> tuple[FeatureTable, list[list[int]]]:
        """The features of the distinct rows, and the positions in `ids` that have each."""
        if self._table is None or self._table[0] != most_pairs:
            self._read_all()
            order = np.array(sorted(range(len(self._rows)), key=self._rows.__getitem__), np.intp)
            reader = FeatureReader()
            covered = [tuple(reader.defaults(self._defaults, given)) for given in ("absent", "default")]
            everything = self._encoder.encoded(order, covered)
            encoded = distinct_columns(everything)
            rows, copies = merge_rows(encoded.codes)
            self._recency = _recency(everything, self._schema)[rows]
            codes = encoded.codes[rows]
            self._pairs = choose_pairs(encoded, most_pairs)
            self._labels = encoded.keys, encoded.classes, codes
            table = feature_table(codes, encoded.covered, self._pairs, _classes(encoded, codes, vocabulary))
            self._table = most_pairs, table, copies
        return self._table[1], self._table[2]

    @property
    def recency(self) -> npt.NDArray[np.float64]:
        """By row of `table`, 1 plus the version of the newest part that it uses, by the newest version; 1 where versions are not known."""
        return self._recency

    @property
    def most_recent(self) -> float:
        """The largest `recency` that a row may have."""
        return 2.0 if self._schema is not None and self._schema.newest else 1.0

    def _read_all(self) -> None:
        self._encoder.add(_read(self._unread))
        self._rows.extend(each.id for each in self._unread)
        self._unread = []

    def news(self, row: int, flags: npt.NDArray[np.float64]) -> tuple[list[Feature], list[tuple[Feature, Feature]]]:
        """The features of *row*, and the pairs of them, whose columns of the table *flags* names; one that is absent has the class "-"."""
        keys, classes, codes = self._labels
        row_codes: list[int] = codes[row].tolist()
        fresh: list[float] = flags.tolist()
        features: list[Feature] = []
        for key, names, code in zip(keys, classes, row_codes, strict=True):
            features.append((key, names[code - 2] if code > 1 else "-"))
        pairs = [(features[first], features[second]) for (first, second), new in zip(self._pairs, fresh, strict=False) if new]
        return [feature for feature, new in zip(features, fresh[len(self._pairs) :], strict=True) if new], pairs


def _read(candidates: Sequence[Candidate]) -> Iterator[Iterator[Features]]:
    """The features of each of *candidates*."""
    arguments, relations = FeatureReader(), RelationReader()
    for each in candidates:
        yield chain((_ANY,), arguments.arguments(each.instance), (relations.relations(each.instance),))


def _classes(encoded: Encoded, codes: npt.NDArray[np.int32], vocabulary: Vocabulary) -> npt.NDArray[np.int32]:
    """The classes of rows as numbers of *vocabulary*."""
    numbers = np.empty(codes.shape, np.int32)
    for column, key in enumerate(encoded.keys):
        about = aspect(key)
        known = [vocabulary.number(about, value) for value in (None, *encoded.classes[column])]
        numbers[:, column] = np.array(known, np.int32)[codes[:, column] - 1]
    return numbers


def _recency(encoded: Encoded, schema: Schema | None) -> npt.NDArray[np.float64]:
    """`OperatorFeatures.recency` of each row of *encoded*."""
    if schema is None or not schema.newest:
        return np.ones(len(encoded.codes))
    newest = np.full(len(encoded.codes), schema.since)
    for key, classes, codes in zip(encoded.keys, encoded.classes, encoded.codes.T, strict=True):
        versions = np.array([0, 0, *(_since(schema, key, value) for value in classes)])
        newest = np.maximum(newest, versions[codes])
    return 1 + newest / schema.newest


def _since(schema: Schema, key: str, value: str) -> int:
    """The version that an instance with the class *value* of *key* needs; 0 where that does not matter."""
    if key.endswith(":dtype"):
        return schema.later.get(f":{value}", 0)
    if key in schema.inputs and value == "tensor":
        return schema.later.get(key, 0)
    name = key.removesuffix(":given")
    return schema.later.get(name, 0) if name != key and name in schema.attributes and value != "absent" else 0


def _outline_key(instance: Instance) -> Hashable:
    """The same for instances of an operator whose signatures are the same."""
    call = tuple([(argument.name, argument.value is None) for argument in instance.call])
    init = tuple([argument.name for argument in instance.init])
    return instance.kind, init, call, len(instance.expected or ()), repr(instance.defaults)


def _outline(instance: Instance) -> Instance:
    """*instance* without its values: defaults, names, and which inputs are left out."""
    init = tuple(Argument(argument.name, True) for argument in instance.init)
    call = tuple(Argument(argument.name, None if argument.value is None else True) for argument in instance.call)
    expected = (True,) * len(instance.expected or ())
    return replace(instance, init=init, call=call, context=(), expected=expected)
