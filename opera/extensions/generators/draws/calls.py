"""The random calls of PyTorch, TensorFlow and Keras, each with its law."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opera.extensions.generators.draws import laws
from opera.extensions.generators.draws.laws import LAW, Law

KIND = "drawn"
_DRAWS = 4000
_FUNCTIONAL = "torch.nn.functional"
_LIBRARIES = {"torch": "pytorch", "tf": "tensorflow", "keras": "keras"}


@dataclass(frozen=True)
class Drawn:
    """A call of an *api* with its law; arguments are pairs of a name and a value: in order, by name, and those that build a layer."""

    api: str
    law: Law
    call: Sequence[tuple[str, Any]]
    keywords: Sequence[tuple[str, Any]] = ()
    init: Sequence[tuple[str, Any]] = ()

    def document(self) -> dict[str, Any]:
        """The call as instance/1."""
        given = [{"name": name, "value": _value(value)} for name, value in self.call]
        named = [{"name": name, "value": _value(value), "keyword": True} for name, value in self.keywords]
        return {
            "schema": "instance/1",
            "library": _LIBRARIES[self.api.partition(".")[0]],
            "api": self.api,
            "kind": KIND,
            "init": [{"name": name, "value": _value(value), "keyword": True} for name, value in self.init],
            "call": [*given, *named],
            "context": [[LAW, _value(self.law.fact())], *([["training", True]] if self.init else ())],
            "outcome": "returned",
        }


def calls(library: str) -> Iterator[Drawn]:
    """All calls of *library*."""
    if library != "pytorch":
        yield from _of_tensorflow() if library == "tensorflow" else _of_keras()
        return
    yield from _of_sizes()
    yield from _of_nothing()
    yield from _of_tensors()
    yield from _in_place()
    yield from _choices()
    yield from _dropouts()
    yield from _activations()


def _of_sizes() -> Iterator[Drawn]:
    """Calls that take a shape, and those that take a tensor of that shape."""
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        like = _full(0, dtype)
        yield Drawn("torch.rand", laws.uniform(0, 1), [("size", [_DRAWS])], [("dtype", _DType(dtype))])
        yield Drawn("torch.rand_like", laws.uniform(0, 1), [("input", like)])
        yield Drawn("torch.randn", laws.normal(0, 1), [("size", [_DRAWS])], [("dtype", _DType(dtype))])
        yield Drawn("torch.randn_like", laws.normal(0, 1), [("input", like)])
    for low, high in ((0, 2), (3, 9), (-3, 2), (0, 1), (-100, 100), (2**22, 2**22 + 2), (0, 2**31)):
        yield Drawn("torch.randint", laws.integers(low, high), [("low", low), ("high", high), ("size", [_DRAWS])])
        yield Drawn("torch.randint_like", laws.integers(low, high), [("input", _full(0, "int64")), ("low", low), ("high", high)])
    for dtype in ("float32", "float64", "int32", "int8", "uint8"):
        law = laws.integers(0, 5)
        yield Drawn("torch.randint", law, [("high", 5), ("size", [_DRAWS])], [("dtype", _DType(dtype))])
        yield Drawn("torch.randint_like", law, [("input", _full(0, dtype)), ("high", 5)])
        yield Drawn("torch.randint", laws.integers(2, 7), [("low", 2), ("high", 7), ("size", [_DRAWS])], [("dtype", _DType(dtype))])
    for count in (2, _DRAWS):
        yield Drawn("torch.randperm", Law(0, count - 1, whole=True, apart=count, distinct=count), [("n", count)])


def _of_nothing() -> Iterator[Drawn]:
    """One number, of which nothing is known but where it lies."""
    yield Drawn("torch.rand", Law(0, 1), [("size", [])])
    yield Drawn("torch.rand_like", Law(0, 1), [("input", np.zeros((), "float32"))])
    yield Drawn("torch.randint", Law(3, 8, whole=True), [("low", 3), ("high", 9), ("size", [])])
    yield Drawn("torch.bernoulli", laws.certain(1.0), [("input", np.ones((), "float32"))])
    weights = np.array([0.25, 0.0, 0.75], "float32")
    yield Drawn("torch.multinomial", Law(0, 2, values=(0.0, 2.0), whole=True), [("input", weights), ("num_samples", 1)])


def _of_tensors() -> Iterator[Drawn]:
    """Calls whose parameters are tensors."""
    for chance in (0.3, 0.5, 0.9, 0.0, 1.0):
        law = laws.discrete({0.0: 1 - chance, 1.0: chance})
        for dtype in ("float32", "float64"):
            yield Drawn("torch.bernoulli", law, [("input", _full(chance, dtype))])
        yield Drawn("torch.bernoulli", law, [("input", _full(0.25, "float32")), ("p", chance)])
    for mean, deviation in ((0.0, 1.0), (5.0, 2.0), (-1.0, 0.125), (3.0, 0.0)):
        law = laws.normal(mean, deviation)
        means, deviations = _full(mean, "float32"), _full(deviation, "float32")
        yield Drawn("torch.normal", law, [("mean", mean), ("std", deviation), ("size", [_DRAWS])])
        yield Drawn("torch.normal", law, [("mean", means), ("std", deviation)])
        yield Drawn("torch.normal", law, [("mean", mean), ("std", deviations)])
        yield Drawn("torch.normal", law, [("mean", means), ("std", deviations)])
        yield Drawn("torch.normal", law, [("mean", means[:, :1]), ("std", deviations)])
        yield Drawn("torch.normal", law, [("mean", means), ("std", np.full((), deviation, "float32"))])
        for dtype in ("float64", "float16"):
            yield Drawn("torch.normal", law, [("mean", mean), ("std", deviation), ("size", [_DRAWS])], [("dtype", _DType(dtype))])
            yield Drawn("torch.normal", law, [("mean", _full(mean, dtype)), ("std", _full(deviation, dtype))])
    for rate in (0.5, 3.0, 12.0):
        yield Drawn("torch.poisson", laws.poisson(rate), [("input", _full(rate, "float32"))])
    yield Drawn("torch.poisson", laws.certain(0.0), [("input", _full(0.0, "float32"))])


def _in_place() -> Iterator[Drawn]:
    """Methods that fill a tensor."""
    for dtype in ("float32", "float64"):
        own = ("self", _full(0, dtype))
        for low, high in ((0.0, 1.0), (2.0, 5.0)):
            yield Drawn("torch.Tensor.uniform_", laws.uniform(low, high), [own, ("from", low), ("to", high)])
        for mean, deviation in ((0.0, 1.0), (2.0, 5.0)):
            yield Drawn("torch.Tensor.normal_", laws.normal(mean, deviation), [own, ("mean", mean), ("std", deviation)])
            yield Drawn("torch.Tensor.cauchy_", laws.cauchy(mean, deviation), [own, ("median", mean), ("sigma", deviation)])
        for rate in (1.0, 2.5, 0.25):
            yield Drawn("torch.Tensor.exponential_", laws.exponential(rate), [own, ("lambd", rate)])
        for mean, deviation in ((1.0, 2.0), (0.0, 0.5)):
            yield Drawn("torch.Tensor.log_normal_", laws.log_normal(mean, deviation), [own, ("mean", mean), ("std", deviation)])
        for chance in (0.3, 0.8):
            yield Drawn("torch.Tensor.geometric_", laws.geometric(chance), [own, ("p", chance)])
            yield Drawn("torch.Tensor.bernoulli_", laws.discrete({0.0: 1 - chance, 1.0: chance}), [own, ("p", chance)])
    for dtype in ("float32", "int64", "int32"):
        yield Drawn("torch.Tensor.random_", laws.integers(2, 7), [("self", _full(0, dtype)), ("from", 2), ("to", 7)])


def _choices() -> Iterator[Drawn]:
    """Calls that choose one of several."""
    for weights in ((0.1, 0.0, 0.9), (1.0, 0.0, 3.0, 4.0), (1.0,)):
        law = laws.discrete({float(place): weight / sum(weights) for place, weight in enumerate(weights)})
        for dtype in ("float32", "float64"):
            given = [("input", np.array(weights, dtype)), ("num_samples", _DRAWS), ("replacement", True)]
            yield Drawn("torch.multinomial", law, given)
    rows = np.resize(np.array([1, 1, 2, 0, 4], "float32"), (1000, 5))
    law = laws.discrete({0.0: 0.125, 1.0: 0.125, 2.0: 0.25, 4.0: 0.5})
    yield Drawn("torch.multinomial", replace(law, apart=3, distinct=3), [("input", rows), ("num_samples", 3)])
    yield Drawn("torch.multinomial", law, [("input", np.resize(rows, (_DRAWS, 5))), ("num_samples", 1)])
    law = replace(laws.discrete({0.0: 0.75, 1.0: 0.25}), apart=4)
    for dtype in ("float32", "float64"):
        logits = np.zeros((1000, 4), dtype)
        yield Drawn(f"{_FUNCTIONAL}.gumbel_softmax", law, [("logits", logits)], [("hard", True)])


def _dropouts() -> Iterator[Drawn]:
    for share in (0.3, 0.5, 0.9, 0.0, 1.0):
        kept = 0.0 if share == 1 else 1 / (1 - share)
        law = laws.discrete({0.0: share, kept: 1 - share} if kept else {0.0: 1.0}, whole=False)
        for dtype in ("float32", "float64"):
            ones = _full(1, dtype)
            yield Drawn("torch.dropout", law, [("input", ones), ("p", share), ("train", True)])
            yield Drawn(f"{_FUNCTIONAL}.dropout", law, [("input", ones), ("p", share), ("training", True)])
        yield Drawn("torch.native_dropout", law, [("input", _full(1, "float32")), ("p", share), ("train", True)])
        for rank in (1, 2, 3):
            group = replace(law, apart=2**rank, alike=True)
            given = np.ones((20, _DRAWS // 20, *[2] * rank), "float32")
            yield Drawn(f"{_FUNCTIONAL}.dropout{rank}d", group, [("input", given), ("p", share), ("training", True)])
        if 0 < share < 1:
            low, high = _alpha(share)
            alpha = laws.discrete({low: share, high: 1 - share}, whole=False)
            yield Drawn(f"{_FUNCTIONAL}.alpha_dropout", alpha, [("input", _full(1, "float32")), ("p", share), ("training", True)])
            group = replace(alpha, apart=4, alike=True)
            given = np.ones((20, _DRAWS // 20, 2, 2), "float32")
            yield Drawn(f"{_FUNCTIONAL}.feature_alpha_dropout", group, [("input", given), ("p", share), ("training", True)])
        if share < 1:
            one, key = np.ones((1, 2, _DRAWS // 2, 1), "float32"), np.ones((1, 2, 1, 1), "float32")
            attention = [("query", one), ("key", key), ("value", key)]
            yield Drawn(f"{_FUNCTIONAL}.scaled_dot_product_attention", law, attention, [("dropout_p", share)])


def _activations() -> Iterator[Drawn]:
    for lower, upper in ((0.1, 0.3), (0.125, 1 / 3)):
        for dtype in ("float32", "float64"):
            given = [("input", _full(-1, dtype)), ("lower", lower), ("upper", upper), ("training", True)]
            yield Drawn(f"{_FUNCTIONAL}.rrelu", laws.uniform(-upper, -lower), given)


def _of_tensorflow() -> Iterator[Drawn]:
    size = ("shape", [_DRAWS])
    for dtype in ("float32", "float64", "float16"):
        own = ("dtype", _DType(dtype))
        for low, high in ((0.0, 1.0), (-1.0, 3.0)):
            yield Drawn("tf.random.uniform", laws.uniform(low, high), [size], [("minval", low), ("maxval", high), own])
        for mean, deviation in ((0.0, 1.0), (5.0, 2.0)):
            given = [("mean", mean), ("stddev", deviation), own]
            yield Drawn("tf.random.normal", laws.normal(mean, deviation), [size], given)
            yield Drawn("tf.random.truncated_normal", laws.truncated_normal(mean, deviation), [size], given)
        for rate in (1.0, 2.5):
            yield Drawn("tf.random.gamma", laws.exponential(rate), [size, ("alpha", 1.0)], [("beta", rate), own])
        for rate in (0.5, 12.0):
            yield Drawn("tf.random.poisson", laws.poisson(rate), [size, ("lam", rate)], [own])
        for share in (0.3, 0.5, 0.9, 0.0):
            law = laws.discrete({0.0: share, 1 / (1 - share): 1 - share}, whole=False)
            yield Drawn("tf.nn.dropout", law, [("x", _full(1, dtype)), ("rate", share)])
    for dtype in ("int32", "int64"):
        own = ("dtype", _DType(dtype))
        for low, high in ((0, 2), (3, 9), (-3, 2), (-100, 100), (0, 2**31 - 1)):
            yield Drawn("tf.random.uniform", laws.integers(low, high), [size], [("minval", low), ("maxval", high), own])
        for weights in ((1.0, 3.0), (1.0, 1.0, 2.0, 4.0)):
            law = laws.discrete({float(place): weight / sum(weights) for place, weight in enumerate(weights)})
            logits = np.log(np.array([weights], "float32"))
            yield Drawn("tf.random.categorical", law, [("logits", logits), ("num_samples", _DRAWS)], [own])
        given = np.arange(_DRAWS, dtype=dtype)
        yield Drawn("tf.random.shuffle", Law(0, _DRAWS - 1, whole=True, apart=_DRAWS, distinct=_DRAWS), [("value", given)])
    yield from _with_a_seed()


def _with_a_seed() -> Iterator[Drawn]:
    """Calls of TensorFlow that draw the same numbers whenever they get the same seed: a tensor, or two numbers in the call."""
    size, given, fixed = ("shape", [_DRAWS]), ("seed", np.array([3, 7], "int32")), ("seed", [3, 7])
    for dtype in ("float32", "float64", "float16"):
        own = ("dtype", _DType(dtype))
        ends, moments = [("minval", -1.0), ("maxval", 3.0), own], [("mean", 5.0), ("stddev", 2.0), own]
        for name, law, settings in (
            ("uniform", laws.uniform(-1, 3), ends),
            ("normal", laws.normal(5, 2), moments),
            ("truncated_normal", laws.truncated_normal(5, 2), moments),
            ("gamma", laws.exponential(2.5), [("alpha", 1.0), ("beta", 2.5), own]),
        ):
            yield Drawn(f"tf.random.stateless_{name}", replace(law, seed=laws.GIVEN), [size, given], settings)
            yield Drawn(f"tf.random.stateless_{name}", replace(law, seed=laws.FIXED), [size, fixed], settings)
        law = replace(laws.discrete({0.0: 0.25, 4 / 3: 0.75}, whole=False), seed=laws.FIXED)
        yield Drawn("tf.nn.experimental.stateless_dropout", law, [("x", _full(1, dtype)), ("rate", 0.25), fixed])
    for dtype in ("int32", "int64"):
        whole = [("minval", 3), ("maxval", 9), ("dtype", _DType(dtype))]
        yield Drawn("tf.random.stateless_uniform", replace(laws.integers(3, 9), seed=laws.GIVEN), [size, given], whole)
    law = replace(laws.discrete({0.0: 0.25, 1.0: 0.75}), seed=laws.FIXED)
    logits = ("logits", np.log(np.array([[1, 3]], "float32")))
    yield Drawn("tf.random.stateless_categorical", law, [logits, ("num_samples", _DRAWS), fixed])


def _of_keras() -> Iterator[Drawn]:
    """Functions, which draw from Keras' own generator or with a number as seed, and layers in training."""
    size = ("shape", [_DRAWS])
    for dtype in ("float32", "float16", "bfloat16"):
        own = ("dtype", dtype)
        for low, high in ((0.0, 1.0), (-1.0, 3.0)):
            yield Drawn("keras.random.uniform", laws.uniform(low, high), [size, ("minval", low), ("maxval", high)], [own])
        for mean, deviation in ((0.0, 1.0), (5.0, 2.0)):
            given = [size, ("mean", mean), ("stddev", deviation)]
            yield Drawn("keras.random.normal", laws.normal(mean, deviation), given, [own])
            yield Drawn("keras.random.truncated_normal", laws.truncated_normal(mean, deviation), given, [own])
    for dtype in ("int32", "int64", "uint8"):
        for low, high in ((0, 2), (3, 9), (0, 100)):
            given = [size, ("minval", low), ("maxval", high)]
            yield Drawn("keras.random.randint", laws.integers(low, high), given, [("dtype", dtype)])
    for low, high in ((-3, 2), (-100, 100), (0, 2**31 - 1)):
        yield Drawn("keras.random.randint", laws.integers(low, high), [size, ("minval", low), ("maxval", high)])
    for weights in ((1.0, 3.0), (1.0, 1.0, 2.0, 4.0)):
        law = laws.discrete({float(place): weight / sum(weights) for place, weight in enumerate(weights)})
        logits = np.log(np.array([weights], "float32"))
        yield Drawn("keras.random.categorical", law, [("logits", logits), ("num_samples", _DRAWS)])
    yield Drawn("keras.random.gamma", laws.exponential(1.0), [size, ("alpha", 1.0)])
    for one, other, ends in ((1.0, 1.0, laws.uniform(0, 1)), (2.0, 1.0, laws.powers(2)), (0.25, 1.0, laws.powers(0.25))):
        yield Drawn("keras.random.beta", ends, [size, ("alpha", one), ("beta", other)])
    for count, chance in ((1, 0.3), (4, 0.5)):
        law = laws.discrete({float(k): math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)})
        given = [size, ("counts", _full(count, "float32").ravel()), ("probabilities", _full(chance, "float32").ravel())]
        yield Drawn("keras.random.binomial", law, given)
    for dtype in ("float32", "int32"):
        law = Law(0, _DRAWS - 1, whole=True, apart=_DRAWS, distinct=_DRAWS)
        yield Drawn("keras.random.shuffle", law, [("x", np.arange(_DRAWS, dtype=dtype))])
    law, seed = laws.discrete({0.0: 0.25, 4 / 3: 0.75}, whole=False), ("seed", 7)
    yield Drawn("keras.random.dropout", replace(law, seed=laws.FIXED), [("inputs", _full(1, "float32")), ("rate", 0.25)], [seed])
    for name, law in (("uniform", laws.uniform(0, 1)), ("normal", laws.normal(0, 1)), ("truncated_normal", laws.truncated_normal(0, 1))):
        yield Drawn(f"keras.random.{name}", replace(law, seed=laws.FIXED), [size], [seed])
    yield Drawn("keras.random.randint", replace(laws.integers(3, 9), seed=laws.FIXED), [size, ("minval", 3), ("maxval", 9)], [seed])
    yield from _dropouts_of_keras()


def _dropouts_of_keras() -> Iterator[Drawn]:
    ones = ("inputs", _full(1, "float32"))
    for share in (0.3, 0.5, 0.9, 0.0):
        law = laws.discrete({0.0: share, 1 / (1 - share): 1 - share}, whole=False)
        yield Drawn("keras.random.dropout", law, [ones, ("rate", share)])
        yield Drawn("keras.layers.Dropout", law, [ones], init=[("rate", share)])
        for rank in (1, 2, 3):
            given = np.ones((20, *[2] * rank, _DRAWS // 20), "float32")
            group = replace(law, apart=_DRAWS // 20 * 2**rank)
            yield Drawn(f"keras.layers.SpatialDropout{rank}D", group, [("inputs", given)], init=[("rate", share)])
        if share:
            noise = laws.normal(1, math.sqrt(share / (1 - share)))
            yield Drawn("keras.layers.GaussianDropout", noise, [ones], init=[("rate", share)])
            yield Drawn("keras.layers.GaussianNoise", laws.normal(1, share), [ones], init=[("stddev", share)])
            low, high = _alpha(share)
            alpha = laws.discrete({low: share, high: 1 - share}, whole=False)
            yield Drawn("keras.layers.AlphaDropout", alpha, [ones], init=[("rate", share)])


def _alpha(share: float) -> tuple[float, float]:
    """What alpha dropout makes of 1: dropped, and kept; Klambauer et al., Self-Normalizing Neural Networks (2017), section 2."""
    saturation = -1.7580993408473766
    kept = 1 - share
    slope = 1 / math.sqrt(kept * (1 + share * saturation**2))
    shift = -slope * share * saturation
    return slope * saturation + shift, slope + shift


@dataclass(frozen=True)
class _DType:
    name: str


def _full(value: float, dtype: str) -> Any:
    """A matrix of equal numbers, of *dtype*."""
    if dtype != "bfloat16":
        return np.full((40, _DRAWS // 40), value, dtype)
    return _Half(np.full((40, _DRAWS // 40), value, "float32"))


@dataclass(frozen=True)
class _Half:
    """A tensor of bfloat16 with these numbers."""

    array: Any


def _value(value: Any) -> Any:
    """A value as the instance format writes it."""
    if isinstance(value, _DType):
        return {"dtype": value.name}
    if isinstance(value, _Half):
        data = (value.array.view("uint32") >> 16).astype("uint16")
        return _tensor(value.array.shape, "bfloat16", data.tobytes())
    if isinstance(value, np.ndarray):
        return _tensor(value.shape, str(value.dtype), np.ascontiguousarray(value).tobytes())
    if isinstance(value, (list, tuple)):
        return [_value(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "inf" if value > 0 else "-inf"}
    return value


def _tensor(shape: tuple[int, ...], dtype: str, data: bytes) -> dict[str, Any]:
    return {"tensor": {"shape": list(shape), "dtype": dtype, "data": base64.b64encode(data).decode()}}
