"""Takes failing models of many operators apart: which of their nodes fail as they do? Used by compare_nnsmith.py."""

from __future__ import annotations

import importlib
import signal
import warnings
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from opera.instance import Instance, Occurrence, Tensor, decode_instance, digest
from opera.models.sampling import sample
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace

REPRESENTATIVES = 5
"""Models that are taken apart of each fingerprint of an exception or a dead process; of wrong results all are."""
LONGEST_EVALUATION = 20.0
"""Seconds for the values of all nodes of one model: ONNX's evaluator is in Python, and NNSmith may ask it for a convolution of millions."""


def take_apart(graphs: Path, nodes: Path, notes: dict[str, int]) -> dict[str, set[str]]:
    """Puts the nodes of failing models into the workspace *nodes*. Returns the models that each came from, by instance."""
    parts: defaultdict[str, set[str]] = defaultdict(set)
    with open_workspace(graphs, write=False) as space, open_workspace(nodes, write=True) as other:
        corpus, target = Corpus(space), Corpus(other)
        for key in chosen(Campaigns(space).results(failures=True)):
            try:
                with at_most(LONGEST_EVALUATION):
                    inner = list(nodes_of(corpus.get(key), key))
            except Exception as error:
                name = f"not taken apart: {type(error).__name__}"
                notes[name] = notes.get(name, 0) + 1
                continue
            target.add(inner)
            for instance, _ in inner:
                parts[digest(instance)].add(key)
    return dict(parts)


@contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Raises TimeoutError in what takes longer, as soon as that is back in Python."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def chosen(failures: Iterable[StoredResult]) -> list[str]:
    """The models to take apart."""
    seen: Counter[str] = Counter()
    keys: dict[str, None] = {}
    for test in sorted(failures, key=lambda each: each.test):
        seen[str(test.fingerprint)] += 1
        if test.verdict is Verdict.INCONSISTENT or seen[str(test.fingerprint)] <= REPRESENTATIVES:
            keys[test.instance] = None
    return list(keys)


def nodes_of(instance: Instance, key: str) -> Iterator[tuple[Instance, Occurrence]]:
    """The nodes of a model, with the values that ONNX's reference evaluator finds for them."""
    onnx = importlib.import_module("onnx")
    recorder = importlib.import_module("opera.instrumentation.onnx")
    inner = importlib.import_module("opera.instrumentation.onnx_inner")
    model = onnx.load_model_from_string(instance.context_value("graph").data)
    values = [sample(argument.value, "", 0) for argument in instance.call if isinstance(argument.value, Tensor)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inner.inner_models(model, values)
    for number, (single, inputs, outputs) in enumerate(found):
        if single.graph.node[0].op_type != "Constant":
            yield decode_instance(recorder.node_document(single, inputs, outputs)), Occurrence("nnsmith", f"{key}::{number}")


def results_by_model(nodes: Path, parts: Mapping[str, Iterable[str]]) -> dict[str, list[StoredResult]]:
    """The results of the nodes of each model."""
    found: defaultdict[str, list[StoredResult]] = defaultdict(list)
    with open_workspace(nodes, write=False) as space:
        for result in Campaigns(space).results():
            for key in parts.get(result.instance, ()):
                found[key].append(result)
    return dict(found)


def explains(node: StoredResult, model: StoredResult) -> bool:
    """Whether a node fails as its model does: both wrong, or both stopped at the same stage with the same exception."""
    if node.fingerprint is None or node.verdict is not model.verdict or model.exporter is not None:
        return False
    if node.verdict is Verdict.INCONSISTENT:
        return True
    return node.stage is model.stage and failure_of(node) == failure_of(model)


def failure_of(result: StoredResult) -> str:
    """The exception's type; empty for a process that died."""
    return str(result.detail.get("failure", {}).get("type", ""))


def is_excused(model: StoredResult, nodes: Iterable[StoredResult]) -> bool:
    """Whether a wrong result may follow from a node whose own is excused."""
    return model.verdict is Verdict.INCONSISTENT and any(node.verdict is Verdict.UNDEFINED for node in nodes)
