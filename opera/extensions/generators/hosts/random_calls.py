"""Random calls of PyTorch, TensorFlow and Keras, each with what holds for its numbers; recorded calls of PyTorch inside larger graphs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from opera.extensions.generators.deeprel.instances import InstanceFile
from opera.extensions.generators.draws.calls import calls
from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.limits import LATE, Late, alarm
from opera.instrumentation.stream import Stream

_RANDOM = "random"
_RECORDED = ("quantised", "channels", "branch", "loop")
Document = dict[str, Any]


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("random")
    parser.add_argument("--library", default="pytorch", choices=("pytorch", "tensorflow", "keras"))
    parser.add_argument("--instances", default="", help='JSON Lines file of recorded instances, {"id": ..., "instance": {...}}')
    parser.add_argument("--calls", type=int, default=2, help="embed at most this number of calls of an operator")
    parser.add_argument("--kinds", default="", help="kinds of graphs, by commas; by default all of the library")
    options = parser.parse_args(argv)
    known = (_RANDOM, *(_RECORDED if options.library == "pytorch" else ()))
    kinds = [each for each in options.kinds.split(",") if each] or known
    if unknown := sorted({*kinds} - {*known}):
        parser.error(f"unknown kind {unknown[0]!r}; known: {', '.join(known)}")
    filters = arguments.filters(options)
    library: Any = importlib.import_module({"pytorch": "torch"}.get(options.library, options.library))
    random: dict[str, list[Document]] = {}
    for each in calls(options.library) if _RANDOM in kinds else ():
        random.setdefault(each.api, []).append(each.document())
    file = InstanceFile(options.instances, options.library, options.calls) if options.instances and {*kinds} & {*_RECORDED} else None
    with Stream(options.recording, options.library, library.__version__, options.source) as stream:
        recorded = () if file is None else (api for api, found in file.apis.items() if found.offsets)
        for index, operator in arguments.select(sorted({*random, *recorded}), options):
            if not filters.selected(operator):
                continue
            stream.enter(index, operator)
            for number, document in enumerate(random.get(operator, ())):
                stream.begin(f"{options.source}::{operator}::{number}")
                stream.record(document)
            for document in file.documents(operator) if file is not None and operator in file.apis else ():
                for kind, made in _embedded(document, kinds):
                    stream.begin(f"{options.source}::{operator}::{kind}")
                    if made is None:
                        stream.drop("not-valid", operator)
                    else:
                        stream.record(made)


def _embedded(document: Document, kinds: Sequence[str]) -> Iterator[tuple[str, Document | None]]:
    """*document* inside each graph of *kinds*; None for one that cannot be made."""
    model: Any = importlib.import_module("opera.extensions.generators.embedded.torch_model")
    template: Any = importlib.import_module("opera.templates.pytorch.model").PyTorchTemplate()
    instance: Any = importlib.import_module("opera.instance")
    if document["kind"] != "function":
        return
    for kind in (each for each in kinds if each in _RECORDED):
        for settings in model.SETTINGS[kind]:
            context = [*document.get("context", ()), [model.EMBEDDING, [kind, *settings]]]
            made = {**document, "kind": "embedded", "context": context}
            try:
                with alarm(LATE):
                    template.build(instance.decode_instance(made), document["api"], 0)
            except (Exception, Late):
                yield kind, None
            else:
                yield kind, made
