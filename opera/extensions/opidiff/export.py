"""Writes instances of PyTorch as suites.

Each instance takes the plainest form in which it comes back with its identity: an `aten::` operator or a module. A call of the companion.
A call of the companion with the defaults of its parameters. That is checked by reading what was written.
"""

from __future__ import annotations

import enum
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from opera.arrays import Array, tensor_array
from opera.extensions.opidiff.companion import CALL, NAME, call_document, content
from opera.extensions.opidiff.fields import class_of, limits_of
from opera.extensions.opidiff.instances import Scalars, classes_of, instance_of
from opera.extensions.opidiff.native import native_call
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.suite import MOST_ID, load_suite
from opera.extensions.opidiff.text import Part, Shared, flow, lines_of, texts_of
from opera.instance import Argument, Call, Constraint, Distribution, Instance, Kind, Opaque, Tensor, Value, digest, encode_value
from opera.instance.values import walk
from opera.instrumentation.wire import Unrecordable
from opera.models.sampling import sample
from opera.untrusted import JsonObject

MOST_WRITTEN = 512
"""Elements of a tensor whose values stand in the suite."""
_DTYPES = frozenset(["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
_TAGGED = ("type", "ref", "var")
_CHUNK = 500
_CARRIERS = {
    "bfloat16": "float32",
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), "float32"),
    "complex64": "float32",
    "complex128": "float64",
    **dict.fromkeys(("uint16", "uint32", "uint64"), "int64"),
}
"""The dtype of the input that carries the values of a tensor whose dtype the format lacks; complex numbers are pairs."""
_NAMES = {"normal": ("mean", "std"), "uniform": ("low", "high"), "randint": ("low", "high"), "bernoulli": ("p",)}


class Form(enum.Enum):
    """How an instance is written."""

    PLAIN = "plain"
    COMPANION = "companion"
    DEFAULTS = "companion-with-defaults"


class _NotWritten(Exception):
    """The form cannot say the instance; the message is the reason."""


@dataclass
class Exported:
    """What was written.

    Attributes:
        texts: The suites, each with its own presets.
        is_one: Whether one suite can include all of them.
        forms: Number of instances by form.
        left_out: Number of instances by reason.
    """

    texts: list[str] = field(default_factory=list[str])
    is_one: bool = True
    forms: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])


def export(instances: Iterable[Instance], *, companion: bool = True, ids: Mapping[str, Sequence[str]] = {}) -> Exported:
    """Suites with those of *instances* that come back with their identity.

    Args:
        instances: To write.
        companion: Whether calls of the companion are written; else the plain form alone.
        ids: By the identity of an instance, the ids that it has in other suites; an instance with several of them is written as often.
    """
    forms = list(Form) if companion else [Form.PLAIN]
    found = Exported()
    written: list[Mapping[str, Part]] = []
    taken: set[str] = set()
    for chunk in _chunks(instances):
        names = {key: _names(instance, key, ids.get(key, ()), taken) for key, instance in chunk.items()}
        kept, forms_of, reasons = _kept(chunk, forms, names)
        written += kept
        found.forms.update(forms_of)
        found.left_out.update(reasons)
    found.texts, found.is_one = texts_of(written)
    return found


def _chunks(instances: Iterable[Instance]) -> Iterator[dict[str, Instance]]:
    chunk: dict[str, Instance] = {}
    for each in instances:
        chunk[digest(each)] = each
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = {}
    if chunk:
        yield chunk


def _names(instance: Instance, key: str, ids: Sequence[str], taken: set[str]) -> list[str]:
    """The ids of the tests of *instance*, which no other test has: those of *ids* that a suite may have, else one of its own."""
    names = [each for each in dict.fromkeys(ids) if each not in taken and each.strip() and len(each) <= MOST_ID and each.isprintable()]
    names = names or [f"{instance.operator.strip('_') or 'call'}_{key[:12]}"]
    taken.update(names)
    return names


def _kept(
    chunk: Mapping[str, Instance], forms: Sequence[Form], names: Mapping[str, Sequence[str]]
) -> tuple[list[Mapping[str, Part]], Counter[str], Counter[str]]:
    """The tests of those instances that come back, how many have each form, and how many were left out for each reason."""
    kept: dict[str, Mapping[str, Part]] = {}
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    pending = dict(chunk)
    for form in forms:
        tests: dict[str, Mapping[str, Part]] = {}
        for key, instance in pending.items():
            try:
                tests[key] = {"id": names[key][0], **_test(instance, key, form)}
            except _NotWritten as error:
                reasons.setdefault(key, str(error))
        back = _identities(tests)
        for key, found in back.items():
            if found == key:
                kept[key] = tests[key]
                counts[form.value] += 1
                del pending[key]
            else:
                reasons.setdefault(key, found if found.startswith("refused") else "another identity")
    written: list[Mapping[str, Part]] = [{**kept[key], "id": name} for key in chunk if key in kept for name in names[key]]
    return written, counts, Counter(reasons[key] for key in pending)


def _identities(tests: Mapping[str, Mapping[str, Part]]) -> dict[str, str]:
    """The identity with which each test comes back, or why it does not."""
    answers: dict[str, str] = {}
    left: dict[str, Mapping[str, Part]] = dict(tests)
    with tempfile.TemporaryDirectory(prefix="opera-export-") as folder:
        (Path(folder) / NAME).write_bytes(content())
        path = Path(folder) / "suite.yaml"
        while left:
            path.write_text("".join(lines_of(list(left.values()))), encoding="utf-8")
            try:
                suite = load_suite([path])
            except InvalidSuite as error:
                keys = {str(test["id"]): key for key, test in left.items()}
                wrong = {keys[each.test]: each.message for each in error.problems if each.test in keys and not each.warning}
                if not wrong:
                    raise
                answers |= {key: f"refused by the format: {_general(message)}" for key, message in wrong.items()}
                left = {key: test for key, test in left.items() if key not in wrong}
                continue
            classes = classes_of(suite)
            for key, test in zip(left, suite.tests, strict=True):
                try:
                    answers[key] = digest(instance_of(test, scalars=Scalars.PYTHON, classes=classes))
                except ValueError:
                    answers[key] = "refused by the companion"
            break
    return answers


def _general(message: str) -> str:
    """*message* without names and numbers, so that equal reasons are counted together."""
    return " ".join("…" if any(each.isdigit() for each in word) or "." in word else word for word in message.split())[:80]


# Tests.


def _test(instance: Instance, key: str, form: Form) -> Mapping[str, Part]:
    """The fields of a test but its id."""
    if instance.library != "pytorch" or instance.kind not in (Kind.FUNCTION, Kind.MODULE):
        raise _NotWritten("no call of PyTorch")
    if any(isinstance(part, Opaque) for argument in instance.arguments() for part in walk(argument.value)):
        raise _NotWritten("a value that was not recorded")
    if form is not Form.PLAIN:
        return by_companion(instance, key, defaults=form is Form.DEFAULTS)
    writer = _Arguments(key)
    native = None
    if instance.kind is Kind.FUNCTION:
        if instance.context:
            raise _NotWritten("facts outside of the arguments")
        native = native_call(instance)
        if native is None:
            raise _NotWritten("no ATen operator of that name takes the arguments")
    inputs, kwargs = writer.split(instance.call if native is None else native.call, writer.node)
    called: dict[str, Part] = {"in": inputs, **({"kwargs": kwargs} if kwargs else {})}
    if native is not None:
        impl: dict[str, Part] = {} if native.impl is None else {"impl": native.impl}
        return {"op": native.operator, **impl, **called}
    if instance.context != (("training", False),):
        raise _NotWritten("a module in training mode or of another dtype")
    args, keywords = writer.split(instance.init, writer.argument)
    module: dict[str, Part] = {"type": "module", "path": instance.api}
    return {"op": {**module, **({"args": args} if args else {}), **({"kwargs": keywords} if keywords else {})}, **called}


def by_companion(instance: Instance, key: str, *, defaults: bool) -> Mapping[str, Part]:
    """The fields of a test that calls the companion."""
    writer = _Arguments(key)
    inputs: list[Part] = []

    def place(tensor: Tensor) -> JsonObject:
        """What stands for *tensor* in the call: an input, or the tensor itself where no input can carry it."""
        node, plain = writer.carried(tensor)
        if node is None:
            return cast(JsonObject, encode_value(tensor))
        inputs.append(node)
        described = cast(JsonObject, encode_value(replace(tensor, data=None)))["tensor"]
        return {"input": len(inputs) - 1, **({} if plain else {"as": described})}

    try:
        document = cast(Part, call_document(instance, place, defaults=defaults))
    except Unrecordable as error:
        raise _NotWritten("a value that no document can have") from error
    return {"op": {"type": "module", "path": CALL, "args": [document]}, "in": inputs}


class _Arguments:
    """Writes the arguments of one instance."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._count = 0

    def split(self, arguments: Iterable[Argument], write: Callable[[Value], Part]) -> tuple[list[Part], dict[str, Part]]:
        """Positional and keyword arguments."""
        positional: list[Part] = []
        keywords: dict[str, Part] = {}
        for each in arguments:
            if each.keyword:
                if not (each.name.isascii() and each.name.isidentifier()) or each.name in keywords:
                    raise _NotWritten("a keyword that is no name")
                keywords[each.name] = write(each.value)
            else:
                positional.append(write(each.value))
        return positional, keywords

    def node(self, value: Value) -> Part:
        """A value as a node of an OpiDiff input."""
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)) and any(isinstance(part, (Tensor, Call)) for part in walk(value)):
            nodes = [self.node(each) for each in cast("Sequence[Value]", value)]
            if any(each != nodes[0] for each in nodes):
                raise _NotWritten("a list of different tensors")
            return {"type": "list", "len": len(nodes), "elem": nodes[0]}
        if isinstance(value, Call):
            raise _NotWritten("a constructed object among the inputs")
        return {"type": "const", "value": _literal(value)}

    def argument(self, value: Value) -> Part:
        """An argument of a constructor. OpiDiff constructs objects there, and takes every other node for a literal."""
        if isinstance(value, Tensor):
            raise _NotWritten("a tensor among the arguments of a constructor")
        if isinstance(value, Call):
            return self._call(value)
        if isinstance(value, (list, tuple)):
            return [self.argument(each) for each in cast("Sequence[Value]", value)]
        if isinstance(value, dict) and not any(name in value for name in _TAGGED) and all(isinstance(name, str) for name in value):
            return {str(name): self.argument(each) for name, each in cast("dict[str, Value]", value).items()}
        if isinstance(value, dict):
            raise _NotWritten("a mapping whose keys look like a node's")
        return _literal(value)

    def _call(self, call: Call) -> Part:
        args: list[Part] = [self.argument(value) for name, value in call.arguments if name is None]
        kwargs: dict[str, Part] = {name: self.argument(value) for name, value in call.arguments if name is not None}
        return {"type": "construct", "path": call.api, "args": args, **({"kwargs": kwargs} if kwargs else {})}

    def tensor(self, tensor: Tensor) -> Shared:
        """A node that gives the tensor."""
        if tensor.strides is not None or tensor.layout != "strided":
            raise _NotWritten("a tensor with strides or of a sparse layout")
        head = {"shape": list(tensor.shape), "dtype": tensor.dtype} if tensor.shape else {"dtype": tensor.dtype}
        if tensor.distribution is not None and tensor.data is None:
            found: dict[str, Part] = {"type": "tensor" if tensor.shape else "scalar_tensor", **head, **_distribution(tensor.distribution)}
            return Shared(flow(found))
        if tensor.dtype not in _DTYPES:
            raise _NotWritten(f"a tensor of dtype {tensor.dtype}")
        if tensor.size > MOST_WRITTEN:
            raise _NotWritten(f"a tensor of more than {MOST_WRITTEN} elements")
        self._count += 1
        array = tensor_array(tensor) if tensor.data is not None else sample(tensor, f"{self._key}:{self._count}", 0)
        return _constant(array, tensor.dtype)

    def carried(self, tensor: Tensor) -> tuple[Shared | None, bool]:
        """An input with the values of *tensor*, and whether it is the tensor itself; None where none has them."""
        if tensor.layout != "strided":
            raise _NotWritten("a tensor of a sparse layout")
        if tensor.dtype == "complex32":
            return None, False
        carrier = _CARRIERS.get(tensor.dtype, tensor.dtype)
        if tensor.distribution is not None:
            return (None, False) if carrier != tensor.dtype else (self.tensor(replace(tensor, strides=None)), tensor.strides is None)
        if tensor.data is None or (tensor.size > MOST_WRITTEN and tensor.constraint is not None):
            return _drawn(tensor, carrier), False
        array = tensor_array(tensor)
        if tensor.size > MOST_WRITTEN or (tensor.dtype == "uint64" and tensor.size and int(array.max()) >= 2**63):
            return None, False
        if carrier == tensor.dtype:
            return _constant(array, carrier), tensor.strides is None
        pairs = np.stack([np.real(array), np.imag(array)], -1) if class_of(tensor.dtype) == "complex" else array
        return _constant(pairs.astype(carrier), carrier), False


def _constant(array: Array, dtype: str) -> Shared:
    head: dict[str, Part] = {"type": "const_tensor", "shape": list(array.shape)} if array.ndim else {"type": "scalar_tensor"}
    return Shared(flow({**head, "dtype": dtype, "value": _elements(array)}))


def _drawn(tensor: Tensor, carrier: str) -> Shared:
    """An input with values in the bounds of *tensor*, whose values are not known or too many."""
    shape = [*tensor.shape, 2] if class_of(tensor.dtype) == "complex" else list(tensor.shape)
    head: dict[str, Part] = {"type": "tensor", "shape": shape} if shape else {"type": "scalar_tensor"}
    kind, known = class_of(carrier), tensor.constraint or Constraint(None, None)
    low, high = (default if given is None else given for given, default in ((known.low, -1.0), (known.high, 1.0)))
    if kind == "bool":
        drawn: dict[str, Part] = {"init": "bernoulli"}
    elif kind == "int":
        least, most = limits_of(carrier)
        drawn = {
            "init": "randint",
            "low": max(least, min(int(low), most - 1)),
            "high": max(least + 1, min(max(int(high), int(low) + 1), most)),
        }
    else:
        drawn = {"init": "uniform", "low": float(low), "high": float(high)}
    return Shared(flow({**head, "dtype": carrier, **drawn}))


def _distribution(distribution: Distribution) -> dict[str, Part]:
    return {"init": distribution.name, **dict(zip(_NAMES.get(distribution.name, ()), distribution.parameters, strict=True))}


def _elements(array: Array) -> Part:
    """The values as nested lists, with as few digits as tell them in their own dtype."""
    if array.ndim:
        return [_elements(each) for each in array]
    return float(str(array)) if class_of(str(array.dtype)) == "float" else cast(Part, array.item())


def _literal(value: Value) -> Part:
    """*value* as JSON has it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_literal(each) for each in cast("Sequence[Value]", value)]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {str(name): _literal(each) for name, each in cast("dict[str, Value]", value).items()}
    raise _NotWritten(f"an argument of type {type(value).__name__}")
