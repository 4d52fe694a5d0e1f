"""What Keras gives on its other backends, asked where a compiler fails: a reference that stands alone shows no bug of the compiler."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import opera
from opera.arrays import Array, as_array
from opera.difftest.messages import Review
from opera.extensions.keras_backends.answer import received, send
from opera.instance import encode_instance
from opera.models.template import Invalid
from opera.oracles.compare import Difference, Policy, compare
from opera.oracles.review import Case, Excuse
from opera.oracles.tolerance import differ
from opera.templates.keras.backend import keras
from opera.templates.keras.model import KerasModel

DISAGREE: Final = "backends-disagree"
"""Reason of a failure where most of Keras' other backends give another result."""
NO_LABEL: Final = "blank-as-label"
"""Reason of a loss of CTC for labels of which one is the blank."""
REFUSE: Final = "other-backends-raise"
"""Reason of a call that most of Keras' other backends refuse."""
BACKENDS = ("numpy", "jax", "tensorflow", "torch")
"""The backends that are asked, the quickest to start first."""
_ENVIRONMENT: Mapping[str, str] = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
_SECONDS = 45.0
"""How long a process may compute for an answer, its start with it: on a busy machine it waits for longer."""
_MOST_SECONDS = 300.0
"""How long an answer may take in all."""
_LOOK_SECONDS = 5.0
_MOST_STARTS = 20
"""How often a process is started for one backend; one that cannot start is left alone."""


class OnlyHere(Exception):
    """The other backends refuse the call; the message says how."""


def opinion(model: Any, case: Case, request: Review, enter: Callable[[str], None]) -> Excuse | None:
    """The excuse of a compiler where more backends contradict the reference than stand by it; else None, also if none can say.

    Args:
        model: The model that gave the reference.
        case: What the compiler failed on.
        request: How the model was made.
        enter: Says a stage before it is entered: each backend has the time of a stage.

    Raises:
        Invalid: they contradict by refusing the call.
    """
    if not isinstance(model, KerasModel):
        return None
    if _is_of_blanks(case):
        return Excuse(NO_LABEL, "no path of CTC spells a label that is the blank: its loss is infinite, or what the formula gives")
    own = str(keras.config.backend())
    question = {"instance": json.dumps(encode_instance(case.instance)), "key": request.key, "seed": request.seed}
    question |= {"inputs": list(case.inputs), "weights": _weights(model)}
    supporters, weight = 0, 0 if _is_of_width(case) else 1
    differs, refuses = list[str](), list[str]()
    left = [name for name in BACKENDS if name != own]
    while left and -len(left) <= supporters - len(differs) - len(refuses) < len(left):
        name = left.pop(0)
        said = _backend(name, os.getpid()).ask(question, partial(enter, f"opinion of {name}"))
        if "refused" in said:
            refuses.append(f"{name} says {said['refused']}")
        elif "outputs" in said and stands(case, said["outputs"]):
            supporters += weight
        elif "outputs" in said:
            differs.append(name)
    if len(differs) + len(refuses) <= supporters:
        return None
    if differs:
        return Excuse(DISAGREE, f"Keras on {' and '.join(differs)} gives another result than on {own}")
    raise Invalid(REFUSE) from OnlyHere(f"Keras on other backends refuses what it takes on {own}: {'; '.join(refuses)}")


def _is_of_blanks(case: Case) -> bool:
    """Whether a loss of CTC has the blank among its labels; where the blank is 0, labels that are filled up have it as well."""
    given = {each.name: each.value for each in case.instance.call}
    blank = given.get("mask_index", 0)
    return case.instance.operator == "ctc_loss" and isinstance(blank, int) and blank > 0 and bool((as_array(case.inputs[0]) == blank).any())


def _wrong(case: Case) -> Difference | None:
    return None if case.actual is None else compare(case.expected, None, case.actual, Policy(dict(case.computes_as)))


def _is_of_width(case: Case) -> bool:
    """Whether a dtype is wrong only in that it has 64 bits, or has not: some backends of Keras narrow such dtypes, and others keep them."""
    wrong = _wrong(case)
    if wrong is None or wrong.kind != "dtype" or case.actual is None:
        return False
    mine, actual = (as_array(each[wrong.output]).dtype for each in (case.expected, case.actual))
    return mine.kind == actual.kind and 8 in (mine.itemsize, actual.itemsize)


def stands(case: Case, other: Sequence[Any]) -> bool:
    """Whether the outputs *other* of another backend are the reference's in what the compiler got wrong."""
    wrong = _wrong(case)
    if wrong is None or wrong.kind == "structure":
        return True
    if len(other) != len(case.expected):
        return False
    return wrong.kind == "count" or _agrees(wrong, case, as_array(other[wrong.output]))


def _agrees(wrong: Difference, case: Case, theirs: Array) -> bool:
    assert case.actual is not None
    mine, actual = as_array(case.expected[wrong.output]), as_array(case.actual[wrong.output])
    if wrong.kind == "dtype":
        return theirs.dtype == mine.dtype
    if wrong.kind == "shape" or theirs.shape != mine.shape:
        return theirs.shape == mine.shape
    if {mine.dtype.kind, theirs.dtype.kind} & set("OSU"):
        return True
    at = differ(mine, actual)
    if mine.dtype.kind == theirs.dtype.kind:
        others = differ(mine, theirs)
    else:  # it has these numbers in another kind of dtype, perhaps not rounded
        others = np.abs(mine.astype(np.complex128) - theirs.astype(np.complex128)) >= 1
    return not at.any() or bool(np.mean(others[at]) < 0.5)


def _weights(model: KerasModel) -> list[Array]:
    program = model.program()
    program.restore()
    return [] if program.layer is None else [np.asarray(each) for each in program.layer.get_weights()]


@cache
def _backend(name: str, process: int) -> _Backend:
    """The backend as *process* asks it: a copy of a process must not share its pipes."""
    return _Backend(name)


class _Backend:
    """A process that runs Keras on another backend, started when it is first asked. One that dies or is late is started again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._starts = 0 if importlib.util.find_spec(name) is not None else _MOST_STARTS
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Any], wait: Callable[[], None]) -> Mapping[str, Any]:
        """What the backend gives; nothing where it is not installed, dies, or takes too long. *wait* is called while it computes."""
        wait()
        process = self._process or self._started()
        if process is None:
            return {}
        late = threading.Timer(_MOST_SECONDS, process.kill)
        late.start()
        self._process = None
        limit = _computed(process.pid) + _SECONDS
        try:
            if process.stdin is not None and (self._ready or _said(process, limit, wait) is not None):
                self._ready = True
                send(process.stdin, dict(question))
                if (answer := _said(process, limit, wait)) is not None:
                    self._process = process
                    return answer
        except Exception:  # its pipes end within a message, or the question has a value that no message has
            return {}
        finally:
            late.cancel()
            if self._process is None:
                process.kill()
                if process.wait() != -signal.SIGKILL and not self._ready:  # it cannot start
                    self._starts = _MOST_STARTS
        return {}

    def _started(self) -> subprocess.Popen[bytes] | None:
        if self._starts >= _MOST_STARTS:
            return None
        self._starts += 1
        self._ready = False
        path = [*filter(None, sys.path), str(Path(opera.__file__).parents[1])]
        environment = {**os.environ, **_ENVIRONMENT, "KERAS_BACKEND": self._name, "PYTHONPATH": os.pathsep.join(path)}
        command = [sys.executable, "-W", "ignore", "-m", f"{__package__}.answer"]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _said(process: subprocess.Popen[bytes], limit: float, wait: Callable[[], None]) -> Any:
    """What *process* says next; None where it is gone, or has computed for *limit* seconds."""
    if process.stdout is None:
        return None
    while not select.select([process.stdout], [], [], _LOOK_SECONDS)[0]:
        if _computed(process.pid) > limit:
            return None
        wait()
    return received(process.stdout)


def _computed(pid: int) -> float:
    """Seconds of a processor that the process *pid* has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
