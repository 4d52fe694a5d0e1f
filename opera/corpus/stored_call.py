"""The calls of the instances of a corpus, as a person reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from opera import bundle
from opera.calls import WIDTH, call_text, value_text
from opera.console import one_line
from opera.instance import Instance, decode_instance
from opera.instrumentation.wire import Json
from opera.store import Corpus


@dataclass(frozen=True)
class CallText:
    """A readable call.

    Attributes:
        api: What is called; empty when the instance is gone.
        text: The call, on one line or one argument a line.
        notes: What the text cannot say: context, absent data.
    """

    api: str
    text: str
    notes: tuple[str, ...] = ()


def stored_call(corpus: Corpus, blobs: Path, key: str, width: float = WIDTH) -> CallText:
    """The call of the instance *key* of a corpus; where it or its data are gone, the text or the notes say so.

    Args:
        corpus: The corpus.
        blobs: Folder of the tensors that are kept apart; they are not read.
        key: Hash of the instance.
        width: Most characters of a call on one line.
    """
    names: list[str] = []

    def apart(document: dict[str, Json]) -> dict[str, Json]:
        if "blob" in document and ("dtype" in document or "format" in document):
            names.append(str(document["blob"]))
            return {name: value for name, value in document.items() if name != "blob"}
        return document

    try:
        instance = decode_instance(json.loads(corpus.document(key), object_hook=apart))
    except KeyError:
        return CallText("", f"instance {key[:12]} is not in the corpus of this workspace")
    except ValueError as error:
        return CallText("", f"instance {key[:12]} cannot be read: {one_line(str(error))}")
    gone = sorted({name for name in names if not bundle.path_of(blobs, name).exists()})
    lost = tuple(f"data {name[:12]} is no longer in the workspace; extract again to restore it" for name in gone)
    return CallText(instance.api, call_text(instance, width), (*_context(instance), *lost))


def full_text(instance: Instance, width: float = WIDTH) -> str:
    """The call of *instance*, and the lines that its kind adds."""
    return "\n".join((call_text(instance, width), *instance.kind.behaviour.lines(instance)))


def _context(instance: Instance) -> tuple[str, ...]:
    lines = instance.kind.behaviour.lines(instance)
    if lines:
        return lines
    shown = tuple(f"{name}: {value_text(value)}" for name, value in instance.context if name != "outputs")
    return tuple(text for text in shown if len(text) < 400)
