"""Samples that are the same in every run and in every shard."""

from __future__ import annotations

import importlib
import random
import warnings
import zlib
from typing import Any, Callable, Iterable, Iterator

from ..stream import Stream

torch: Any = importlib.import_module("torch")


def quieten() -> None:
    """One thread, no warnings, and seeds for the CPU only.

    `torch.manual_seed` also notes the seed for each kind of accelerator, with the text of the call stack. That takes 400 times as long, and
    the operator database seeds for each sample.
    """
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed = torch.random.manual_seed = _seed


def _seed(seed: Any) -> Any:
    """`torch.manual_seed` of the CPU's generator."""
    return torch.default_generator.manual_seed(int(seed))


def reset(seed: int, entry: str) -> None:
    """Seeds every generator for *entry*, independently of the entries that ran before, and undoes what those may have left set."""
    number = zlib.crc32(f"{seed}:{entry}".encode())
    random.seed(number)
    torch.manual_seed(number)
    torch.set_default_dtype(torch.float32)
    try:
        importlib.import_module("numpy").random.seed(number)
    except ImportError:
        return


def drawn(draw: Callable[[], Iterable[Any]], stream: Stream, entry: str) -> Iterator[Any]:
    """The samples that *draw* makes; one that cannot be made ends them and is counted."""
    try:
        yield from draw()
    except Exception as error:
        print(f"{entry}: no more samples: {type(error).__name__}: {error}", flush=True)
        stream.drop(f"no-sample:{type(error).__name__}", entry)
