"""A failure is excused where most of Keras' other backends contradict the reference. numpy is asked, in a real process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import pytest

from opera.arrays import to_bytes
from opera.difftest.messages import Review
from opera.extensions.keras_backends import opinion as opinions
from opera.extensions.keras_backends.opinion import DISAGREE, NO_LABEL, REFUSE, opinion, stands
from opera.instance import Argument, Instance, Kind, Tensor
from opera.models.template import Invalid
from opera.oracles.review import Case, Excuse
from opera.templates.keras.model import KerasTemplate

X = np.linspace(-2, 2, 12, dtype="float32").reshape(2, 3, 2)
REQUEST = Review("", "key", 0, None, None, "0" * 64, None, {})


def tensor(array: Any) -> Tensor:
    return Tensor(array.shape, array.dtype.name, to_bytes(array))


def function(name: str, *values: Any) -> Instance:
    return Instance("keras", f"keras.ops.{name}", Kind.FUNCTION, call=tuple(Argument(f"a{at}", each) for at, each in enumerate(values)))


def asked(instance: Instance, *, crashes: bool = False) -> Excuse | None:
    """The opinion on a compiler that adds 1 to what Keras gives on PyTorch, or crashes."""
    model = KerasTemplate().build(instance, "key", 0)
    expected = model.reference().outputs
    actual = None if crashes else [np.asarray(each) + np.ones((), np.asarray(each).dtype) for each in expected]
    return opinion(model, Case(instance, [each for _, each in model.inputs], expected, actual, model.nearby), REQUEST, lambda _: None)


@pytest.fixture(autouse=True)
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "BACKENDS", ("torch", "numpy"))


LAYER = Instance("keras", "keras.layers.LSTM", Kind.MODULE, (Argument("units", 3),), (Argument("inputs", tensor(X)),))


@pytest.mark.parametrize("instance", [function("average", tensor(X), 0), LAYER], ids=["function", "weights of the reference"])
def test_a_bug_stays_one_where_another_backend_stands_by_the_reference(instance: Instance) -> None:
    assert asked(instance) is None
    assert asked(instance, crashes=True) is None


def test_a_reference_that_stands_alone_shows_no_bug_but_a_crash_stays_one() -> None:
    """Keras on PyTorch pairs the leading axes in `dot`; its page and numpy do not."""
    dot = function("dot", tensor(X), tensor(X.reshape(2, 2, 3)))
    found = asked(dot)
    assert found is not None
    assert (found.reason, found.why) == (DISAGREE, "Keras on numpy gives another result than on torch")
    assert asked(dot, crashes=True) is None


def test_a_dtype_of_64_bits_is_no_bug_where_one_backend_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"numpy": X, "jax": X, "tensorflow": X.astype("float64")}
    monkeypatch.setattr(opinions, "BACKENDS", tuple(answers))
    monkeypatch.setattr(opinions, "_backend", lambda name, _: Answering(answers[name]))
    instance = function("abs", tensor(X))
    model = KerasTemplate().build(instance, "key", 0)
    wide, other = (Case(instance, [X], [X], [X.astype(dtype)], model.nearby) for dtype in ("float64", "int32"))
    assert opinion(model, wide, REQUEST, lambda _: None) is not None
    assert opinion(model, other, REQUEST, lambda _: None) is None


class Answering:
    """A backend that always gives the same."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def ask(self, question: object, wait: object) -> dict[str, Any]:
        return {"outputs": [self._output]}


@pytest.mark.parametrize(("labels", "excused"), [([1, 2, 1], True), ([2, 0, 2], False)])
def test_no_path_of_ctc_spells_the_blank(labels: list[int], excused: bool) -> None:
    times, length = np.full((1, 3, 3), 0.5, "float32"), np.array([3], "int32")
    loss = function("ctc_loss", tensor(np.array([labels], "int32")), tensor(times), tensor(length), tensor(length))
    found = asked(replace(loss, call=(*loss.call, Argument("mask_index", 1))))
    assert (None if found is None else found.reason) == (NO_LABEL if excused else None)


def test_a_call_that_the_other_backends_refuse_is_invalid() -> None:
    ids = np.array([0, 1], "float16")
    with pytest.raises(Invalid, match=REFUSE) as found:
        asked(function("segment_prod", tensor(X[:, 0, 0]), tensor(ids)), crashes=True)
    assert "numpy says TypeError" in str(found.value.__cause__)


def test_a_backend_that_dies_or_is_not_installed_has_no_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "BACKENDS", ("torch", "no_such_backend", "numpy"))
    asked(function("average", tensor(X), 0))
    opinions._backend("numpy", os.getpid())._process.kill()
    assert asked(function("dot", tensor(X), tensor(X.reshape(2, 2, 3)))) is None


_ANSWERS = "import sys, time; from opera.extensions.keras_backends.answer import send"
_WAITS, _COMPUTES = "time.sleep(1)", "started = time.process_time()\nwhile time.process_time() < started + 20: pass"


@pytest.mark.parametrize(("busy", "answers"), [(_WAITS, True), (_COMPUTES, False)], ids=["waits", "computes"])
def test_a_backend_is_late_by_what_it_computes_not_by_what_it_waits(monkeypatch: pytest.MonkeyPatch, busy: str, answers: bool) -> None:
    monkeypatch.setattr(opinions, "_LOOK_SECONDS", 0.1)
    looks = list[None]()
    code = f"{_ANSWERS}\nsend(sys.stdout.buffer, True)\n{busy}\nsend(sys.stdout.buffer, {{'outputs': []}})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        opinions._said(process, 1000.0, lambda: None)
        said = opinions._said(process, opinions._computed(process.pid) + 0.5, lambda: looks.append(None))
        process.kill()
    assert (said is not None) is answers
    assert looks, "its stage is entered again while it computes"


F32, I32 = np.array([1, 2], "float32"), np.array([1, 2], "int32")


@pytest.mark.parametrize(
    ("expected", "actual", "other", "agrees"),
    [
        (F32, F32 + 1, F32, True),
        (F32, F32 + 1, F32.astype("float64"), True),
        (F32, F32 + 1, F32 + 2, False),
        (F32, np.array([1, 5], "float32"), np.array([7, 2], "float32"), True),
        (F32, np.array([1, 5], "float32"), np.array([1, 7], "float32"), False),
        (F32, I32, F32 + 1, True),
        (F32, I32, I32, False),
        (F32, F32[:1], F32 + 1, True),
        (F32, F32[:1], F32[:1], False),
        (I32, I32 + 9, F32 + 0.4, True),
    ],
)
def test_what_the_compiler_got_wrong_is_what_counts(expected: Any, actual: Any, other: Any, agrees: bool) -> None:
    def outputs(value: Any) -> Sequence[Any]:
        return [value]

    case = Case(function("abs", tensor(F32)), [F32], outputs(expected), outputs(actual), lambda *_: None)
    assert stands(case, outputs(other)) is agrees
