"""Writes instances of PyTorch as suites.

Each instance takes the plainest form in which it comes back with its identity: an `aten::` operator or a module; a call of the companion;
a call of the companion with the defaults of its parameters. That is checked by reading what was written.
"""

from __future__ import annotations

import enum
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from opera.arrays import Array, tensor_array
from opera.instance import Argument, Call, Distribution, Instance, Kind, Opaque, Tensor, Value, digest, encode_value
from opera.instance.values import walk
from opera.instrumentation.wire import Unrecordable
from opera.models.sampling import sample
from opera.opidiff.companion import CALL, NAME, TENSOR, call_document, content
from opera.opidiff.fields import class_of, refused
from opera.opidiff.instances import Scalars, classes_of, instance_of
from opera.opidiff.problems import InvalidSuite
from opera.opidiff.signatures import Signature, is_function, of_function
from opera.opidiff.suite import load_suite

MOST_WRITTEN = 512
"""Elements of a tensor whose values stand in the suite."""
_DTYPES = frozenset(["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
_PREFIXES = ("linalg", "fft", "special")
_TAGGED = ("type", "ref", "var")
_CHUNK = 500
_MOST_VALUES = 900_000
"""Of one file, so that OPERA reads it."""
_MOST_BYTES = 15 * 2**20
_SHARED = 2
"""Uses from which a node becomes a preset."""
_NAMES = {"normal": ("mean", "std"), "uniform": ("low", "high"), "randint": ("low", "high"), "bernoulli": ("p",)}


class Form(enum.Enum):
    """How an instance is written."""

    PLAIN = "plain"
    COMPANION = "companion"
    DEFAULTS = "companion-with-defaults"


class _NotWritten(Exception):
    """The form cannot say the instance; the message is the reason."""


@dataclass(frozen=True)
class _Shared:
    """A node that may become a preset."""

    text: str


_Part = None | bool | int | float | str | _Shared | Sequence["_Part"] | Mapping[str, "_Part"]


@dataclass
class Exported:
    """What was written.

    Attributes:
        texts: The suites, each with its own presets.
        forms: Number of instances by form.
        left_out: Number of instances by reason.
    """

    texts: list[str] = field(default_factory=list[str])
    forms: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])


def export(instances: Iterable[Instance], *, companion: bool = True) -> Exported:
    """Suites with those of *instances* that come back with their identity; without *companion*, in the plain form alone."""
    forms = list(Form) if companion else [Form.PLAIN]
    found = Exported()
    written: list[Mapping[str, _Part]] = []
    for chunk in _chunks(instances):
        kept, forms_of, reasons = _kept(chunk, forms)
        written += kept
        found.forms.update(forms_of)
        found.left_out.update(reasons)
    found.texts += _files(written)
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


def _kept(chunk: Mapping[str, Instance], forms: Sequence[Form]) -> tuple[list[Mapping[str, _Part]], Counter[str], Counter[str]]:
    """The tests of those instances that come back, how many have each form, and how many were left out for each reason."""
    kept: dict[str, Mapping[str, _Part]] = {}
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    pending = dict(chunk)
    for form in forms:
        tests: dict[str, Mapping[str, _Part]] = {}
        for key, instance in pending.items():
            try:
                tests[key] = _test(instance, key, form)
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
    return [kept[key] for key in chunk if key in kept], counts, Counter(reasons[key] for key in pending)


def _identities(tests: Mapping[str, Mapping[str, _Part]]) -> dict[str, str]:
    """The identity with which each test comes back, or why it does not."""
    answers: dict[str, str] = {}
    left: dict[str, Mapping[str, _Part]] = dict(tests)
    with tempfile.TemporaryDirectory(prefix="opera-export-") as folder:
        (Path(folder) / NAME).write_bytes(content())
        path = Path(folder) / "suite.yaml"
        while left:
            path.write_text("".join(_lines(list(left.values()))), encoding="utf-8")
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


def _test(instance: Instance, key: str, form: Form) -> Mapping[str, _Part]:
    if instance.library != "pytorch" or instance.kind not in (Kind.FUNCTION, Kind.MODULE):
        raise _NotWritten("no call of PyTorch")
    if any(isinstance(part, Opaque) for argument in instance.arguments() for part in walk(argument.value)):
        raise _NotWritten("a value that was not recorded")
    name = f"{instance.operator.strip('_') or 'call'}_{key[:12]}"
    if form is not Form.PLAIN:
        return {"id": name, **_by_companion(instance, key, defaults=form is Form.DEFAULTS)}
    writer = _Arguments(key)
    inputs, kwargs = writer.split(instance.call, writer.node)
    called: dict[str, _Part] = {"in": inputs, **({"kwargs": kwargs} if kwargs else {})}
    if instance.kind is Kind.FUNCTION:
        if instance.context:
            raise _NotWritten("facts outside of the arguments")
        operator, impl = _operator(instance)
        return {"id": name, "op": operator, **({} if impl is None else {"impl": impl}), **called}
    if instance.context != (("training", False),):
        raise _NotWritten("a module in training mode or of another dtype")
    args, keywords = writer.split(instance.init, writer.argument)
    module: dict[str, _Part] = {"type": "module", "path": instance.api}
    return {"id": name, "op": {**module, **({"args": args} if args else {}), **({"kwargs": keywords} if keywords else {})}, **called}


def _operator(instance: Instance) -> tuple[str, str | None]:
    """The operator that an instance calls, and the name of the API where that is another."""
    api = instance.api
    if api.startswith("torch.ops.aten."):
        return f"aten::{api.removeprefix('torch.ops.aten.')}", None
    parts = api.split(".")
    names = [parts[-1], *(f"{prefix}_{parts[-1]}" for prefix in _PREFIXES if prefix in parts)]
    for name in reversed(names):
        path = f"torch.ops.aten.{name}"
        if is_function(path) and _takes(of_function(path), instance.call) and refused(api) is None:
            return f"aten::{name}", api
    raise _NotWritten("no ATen operator of that name takes the arguments")


def _takes(signature: Signature, arguments: Sequence[Argument]) -> bool:
    positional = sum(not each.keyword for each in arguments)
    fits = signature.rest is not None or positional <= len(signature.names)
    return fits and all(each.name in signature.names for each in arguments if each.keyword)


def _by_companion(instance: Instance, key: str, *, defaults: bool) -> Mapping[str, _Part]:
    """The fields of a test that calls the companion."""
    writer = _Arguments(key)
    inputs: list[_Part] = []

    def place(tensor: Tensor) -> int:
        plain = Tensor(tensor.shape, tensor.dtype, tensor.data, None, tensor.layout, tensor.constraint, tensor.distribution)
        try:
            inputs.append(writer.tensor(plain))
        except _NotWritten:
            document = cast("dict[str, _Part]", encode_value(plain))["tensor"]
            inputs.append({"type": "construct", "path": TENSOR, "args": [{"type": "const", "value": document}]})
        return len(inputs) - 1

    try:
        document = cast(_Part, call_document(instance, place, defaults=defaults))
    except Unrecordable as error:
        raise _NotWritten("a value that no document can have") from error
    return {"op": {"type": "module", "path": CALL, "args": [{"type": "const", "value": document}]}, "in": inputs}


class _Arguments:
    """Writes the arguments of one instance."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._count = 0

    def split(self, arguments: Iterable[Argument], write: Callable[[Value], _Part]) -> tuple[list[_Part], dict[str, _Part]]:
        """Positional and keyword arguments."""
        positional: list[_Part] = []
        keywords: dict[str, _Part] = {}
        for each in arguments:
            if each.keyword:
                if not (each.name.isascii() and each.name.isidentifier()) or each.name in keywords:
                    raise _NotWritten("a keyword that is no name")
                keywords[each.name] = write(each.value)
            else:
                positional.append(write(each.value))
        return positional, keywords

    def node(self, value: Value) -> _Part:
        """An input."""
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)) and any(isinstance(part, (Tensor, Call)) for part in walk(value)):
            return {"type": "tuple", "elems": [self.node(each) for each in cast("Sequence[Value]", value)]}
        return self._call(value) if isinstance(value, Call) else {"type": "const", "value": _literal(value)}

    def argument(self, value: Value) -> _Part:
        """An argument of a constructor."""
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, Call):
            return self._call(value)
        if isinstance(value, (list, tuple)):
            return [self.argument(each) for each in cast("Sequence[Value]", value)]
        if isinstance(value, dict) and not any(name in value for name in _TAGGED) and all(isinstance(name, str) for name in value):
            return {str(name): self.argument(each) for name, each in cast("dict[str, Value]", value).items()}
        literal = _literal(value)
        return {"type": "const", "value": literal} if isinstance(literal, dict) else literal

    def _call(self, call: Call) -> _Part:
        args: list[_Part] = [self.argument(value) for name, value in call.arguments if name is None]
        kwargs: dict[str, _Part] = {name: self.argument(value) for name, value in call.arguments if name is not None}
        return {"type": "construct", "path": call.api, "args": args, **({"kwargs": kwargs} if kwargs else {})}

    def tensor(self, tensor: Tensor) -> _Shared:
        """A node that gives the tensor."""
        if tensor.strides is not None or tensor.layout != "strided":
            raise _NotWritten("a tensor with strides or of a sparse layout")
        head = {"shape": list(tensor.shape), "dtype": tensor.dtype} if tensor.shape else {"dtype": tensor.dtype}
        if tensor.distribution is not None and tensor.data is None:
            found: dict[str, _Part] = {"type": "tensor" if tensor.shape else "scalar_tensor", **head, **_distribution(tensor.distribution)}
            return _Shared(_flow(found))
        if tensor.dtype not in _DTYPES:
            raise _NotWritten(f"a tensor of dtype {tensor.dtype}")
        if tensor.size > MOST_WRITTEN:
            raise _NotWritten(f"a tensor of more than {MOST_WRITTEN} elements")
        self._count += 1
        array = tensor_array(tensor) if tensor.data is not None else sample(tensor, f"{self._key}:{self._count}", 0)
        found = {"type": "const_tensor" if tensor.shape else "scalar_tensor", **head, "value": _elements(array)}
        return _Shared(_flow(found))


def _distribution(distribution: Distribution) -> dict[str, _Part]:
    return {"init": distribution.name, **dict(zip(_NAMES.get(distribution.name, ()), distribution.parameters, strict=True))}


def _elements(array: Array) -> _Part:
    """The values as nested lists, with as few digits as tell them in their own dtype."""
    if array.ndim:
        return [_elements(each) for each in array]
    return float(str(array)) if class_of(str(array.dtype)) == "float" else cast(_Part, array.item())


def _literal(value: Value) -> _Part:
    """*value* as JSON has it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_literal(each) for each in cast("Sequence[Value]", value)]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {str(name): _literal(each) for name, each in cast("dict[str, Value]", value).items()}
    raise _NotWritten(f"an argument of type {type(value).__name__}")


# Text.


def _files(tests: Sequence[Mapping[str, _Part]]) -> list[str]:
    """The texts of suites, each of which OPERA can read."""
    texts: list[str] = []
    start = values = size = 0
    for number, test in enumerate(tests):
        text = _flow(test)
        more = text.count(",") + text.count(":") + text.count("[") + text.count("{")
        if number > start and (values + more > _MOST_VALUES or size + len(text) > _MOST_BYTES):
            texts.append("".join(_lines(tests[start:number])))
            start, values, size = number, 0, 0
        values, size = values + more, size + len(text)
    return [*texts, "".join(_lines(tests[start:]))]


def _lines(tests: Sequence[Mapping[str, _Part]]) -> Iterator[str]:
    """The lines of a suite; nodes that occur more than once become presets."""
    uses: Counter[str] = Counter(each.text for test in tests for each in _shared(test))
    names = {text: f"x{number}" for number, text in enumerate((text for text, count in uses.items() if count >= _SHARED), 1)}
    if names:
        yield "presets:\n"
        yield from (f"  {name}: {text}\n" for text, name in names.items())
    yield "tests:\n" if tests else "tests: []\n"
    for test in tests:
        start = "  - "
        for key, part in test.items():
            if key == "in" and isinstance(part, list) and part:
                yield f"{start}in:\n"
                yield from (f"      - {_flow(each, names)}\n" for each in part)
            else:
                yield f"{start}{key}: {_flow(part, names)}\n"
            start = "    "


def _shared(part: _Part) -> Iterator[_Shared]:
    if isinstance(part, _Shared):
        yield part
    elif isinstance(part, Mapping):
        for each in cast("Mapping[str, _Part]", part).values():
            yield from _shared(each)
    elif isinstance(part, Sequence) and not isinstance(part, str):
        for each in cast("Sequence[_Part]", part):
            yield from _shared(each)


def _flow(part: _Part, names: Mapping[str, str] = {}) -> str:
    """*part* in flow style; *names* has the presets by the text of their nodes. YAML 1.1 reads the same values as YAML 1.2."""
    if isinstance(part, _Shared):
        return f"{{ref: {names[part.text]}}}" if part.text in names else part.text
    if isinstance(part, str):
        return part if _is_plain(part) else json.dumps(part, ensure_ascii=False).replace("\x7f", "\\x7f")
    if isinstance(part, float):
        return _number(part)
    if part is None or isinstance(part, (bool, int)):
        return json.dumps(part)
    if isinstance(part, Mapping):
        pairs = (f"{_flow(name)}: {_flow(each, names)}" for name, each in cast("Mapping[str, _Part]", part).items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join([_flow(each, names) for each in part])}]"


_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])


def _is_plain(text: str) -> bool:
    """Whether *text* reads as itself without quotes, in every version of YAML."""
    return (
        text.isascii()
        and text[:1].isalpha()
        and text.replace("_", "").replace(".", "").replace("::", "").isalnum()
        and text.lower() not in _WORDS
    )


def _number(value: float) -> str:
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not exponent else '.0'}{exponent}{power}"
